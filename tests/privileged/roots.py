"""The root of a machine from the distribution's own packages, and rigup with its Python beside it."""

import os
import platform
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
from pathlib import Path

PACKAGES = (
    "systemd",
    "systemd-sysv",
    "dbus",
    "sudo",
    "kmod",
    "dkms",
    "initramfs-tools",
    "python3",
    "python3-venv",
    "ca-certificates",
    "curl",
    "gnupg",
    "gnupg2",
    "debconf",
)
RUNTIME = "/rt"  # where rigup lies in a container; nothing of the doctor's looks there
_READY = "RIGUP_TEST_ROOT"  # a root that was made before, for whoever runs these tests again and again
_RELEASE = re.compile(r'^VERSION_CODENAME="?([a-z]+)"?$', re.MULTILINE)


def kernel() -> str:
    """The release of the kernel that runs, which is every container's too."""
    return platform.release()


def run(*argv, **options):
    """A command that must succeed; what it said stands in the failure."""
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=False, timeout=600, **options)
    if done.returncode:
        raise RuntimeError(f"{argv[:4]} ended with {done.returncode}: {(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def source() -> tuple[str, str]:
    """Suite and address from which this machine's own apt takes its packages."""
    suite = _RELEASE.search(Path("/etc/os-release").read_text())[1]
    told = run("apt-get", "indextargets", "--format", "$(RELEASE) $(COMPONENT) $(REPO_URI)", "Identifier: Packages")
    rows = [line.split() for line in told.splitlines()]
    return suite, next(row[2] for row in rows if row[:2] == [suite, "main"])


def root(folder: Path, kept: Path) -> Path:
    """A small installation of this machine's own release: a copy of the one that is `kept`, which the first call makes."""
    folder.mkdir()
    ready = os.environ.get(_READY) or (kept if kept.exists() else _installed(kept))
    run("cp", "--archive", f"{ready}/.", folder)
    return folder


def _installed(folder: Path) -> Path:
    suite, address = source()
    run("debootstrap", "--variant=minbase", "--include=" + ",".join(PACKAGES), suite, folder, address)
    for name in ("proc", "sys"):  # some releases leave them mounted
        if os.path.ismount(folder / name):
            run("umount", folder / name)
    for name in ("var/cache/apt/archives", "var/lib/apt/lists"):
        shutil.rmtree(folder / name, ignore_errors=True)
    return folder


def runtime(folder: Path) -> list[str]:
    """This interpreter and rigup as they are here, as volumes: a container's own Python need not be the same."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    bin_, libraries, site = folder / "bin", folder / "libraries", folder / "site"
    for one in (bin_, libraries, site):
        one.mkdir(parents=True)
    program = os.path.realpath(sys.executable)
    shutil.copy(program, bin_ / "python.real")
    for path in _libraries([program, *_extensions()]):
        shutil.copy(path, libraries / os.path.basename(path))
    loader = next(one.name for one in libraries.iterdir() if one.name.startswith("ld-linux"))
    script(
        bin_ / "python3",
        f"#!/bin/sh\nexec {RUNTIME}/libraries/{loader} --argv0 {RUNTIME}/bin/python3 --library-path {RUNTIME}/libraries "
        f'{RUNTIME}/bin/python.real "$@"\n',
    )
    script(bin_ / "rigup", f'#!/bin/sh\nexec {RUNTIME}/bin/python3 -m rigup "$@"\n')
    (site / "rigup.pth").write_text(f"{RUNTIME}/packages\n{RUNTIME}/src\n")
    src = Path(__file__).parents[2] / "src"
    volumes = {
        bin_: "bin",
        libraries: "libraries",
        src: "src",
        Path(sysconfig.get_path("purelib")): "packages",
        Path(sysconfig.get_path("stdlib")): f"lib/{version}",
    }
    # Debian's own Python has no such folder, and none can be made in one that is mounted.
    if Path(sysconfig.get_path("stdlib"), "site-packages").is_dir():
        volumes[site] = f"lib/{version}/site-packages"
    debians = f"{site}:{RUNTIME}/lib/python3/dist-packages:ro"  # where its own Python looks, and no other does
    return [*(f"{mine}:{RUNTIME}/{theirs}:ro" for mine, theirs in volumes.items()), debians]


def script(path: Path, text: str) -> None:
    """A program of a few lines."""
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


def _extensions():
    """What is compiled of the packages that rigup stands on, and of Python itself."""
    library = Path(sysconfig.get_path("stdlib"))
    mine = [Path(sysconfig.get_path("platlib"), name) for name in ("msgspec", "ahocorasick_rs")]
    return [str(path) for folder in (library / "lib-dynload", *mine) for path in folder.glob("*.so")]


def _libraries(programs):
    told = subprocess.run(["ldd", *programs], capture_output=True, text=True, timeout=60, check=False).stdout
    return sorted({os.path.realpath(path) if "ld-linux" in path else path for path in re.findall(r"(/\S{1,300}) \(0x", told)})
