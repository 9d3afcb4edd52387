"""A small root with this machine's Python in it, and packages made for tests: no registry is asked."""

import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

_CERTIFICATES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")
_LEFT_OUT = (  # not needed to install a wheel
    "/test/",
    "/tests/",
    "/idlelib/",
    "/tkinter/",
    "/site-packages/",
    "/dist-packages/",
    "/lib2to3/",
    "/turtledemo/",
    "/pydoc_data/",
    "/config-",
    "/ensurepip/_bundled/",
)


def loaded(*programs):
    """What the loader brings in for them, itself included."""
    told = subprocess.run(["ldd", *programs], capture_output=True, text=True, timeout=60, check=False).stdout
    return sorted(set(re.findall(r"(/\S{1,300}) \(0x", told)))


def python_root(path: Path) -> Path:
    """A tar of a root with Python, pip and a shell, for `podman import`."""
    program = os.path.realpath(Path(sys.base_prefix) / "bin" / "python3")
    library = Path(sysconfig.get_path("stdlib"))
    pip = Path(importlib.util.find_spec("pip").origin).parent
    shell = os.path.realpath("/bin/sh")
    extensions = [str(one) for one in (library / "lib-dynload").glob("*.so")]

    def kept(member):
        name = "/" + member.name
        return None if any(part in name + "/" for part in _LEFT_OUT) or name.endswith("EXTERNALLY-MANAGED") else member

    with tarfile.open(path, "w") as tar:
        tar.add(program, program)
        tar.add(library, str(library), filter=kept)
        tar.add(pip, "/opt/pip/pip")
        tar.add(shell, "/bin/sh")
        for one in _CERTIFICATES:  # a distribution's pip wants them even where it asks nobody
            if os.path.isfile(one):
                tar.add(os.path.realpath(one), one)
        for one in loaded(program, shell, *extensions):
            tar.add(os.path.realpath(one), one)
        link = tarfile.TarInfo("/usr/bin/python")
        link.type, link.linkname = tarfile.SYMTYPE, program
        tar.addfile(link)
        folder = tarfile.TarInfo("/tmp")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
        tar.addfile(folder)
    return path


def wheel(folder: Path, name: str, version: str) -> Path:
    """A wheel that says its version, and nothing else."""
    plain = name.replace("-", "_")
    path = folder / f"{plain}-{version}-py3-none-any.whl"
    about = f"{plain}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{plain}/__init__.py", f"__version__ = {version!r}\n")
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return path


def wheels_of(choice, folder: Path) -> Path:
    """Wheels for all that a choice installs."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, version in choice.packages.items():
        wheel(folder, name.partition("[")[0], version)
    for asked in choice.requirements:
        wheel(folder, re.split(r"[<>=!~]", asked)[0], "1.26.4")
    return folder
