"""Wheels that bear the names of real ones and hold what the doctor reads of them."""

import zipfile
from pathlib import Path

IPYKERNEL = """import json, os, sys
name = sys.argv[sys.argv.index("--name") + 1]
folder = os.path.expanduser("~/.local/share/jupyter/kernels/" + name)
os.makedirs(folder, exist_ok=True)
argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
with open(folder + "/kernel.json", "w") as file:
    json.dump({"argv": argv, "display_name": name, "language": "python"}, file)
open(folder + "/logo-svg.svg", "w").write("<svg/>")
"""


def wheel(folder: Path, name: str, version: str, **files: str) -> Path:
    """A wheel of a few files; `version` stands in the package, too."""
    plain = name.replace("-", "_")
    path = folder / f"{plain}-{version}-py3-none-any.whl"
    about = f"{plain}-{version}.dist-info"
    held = {f"{plain}/__init__.py": f"__version__ = {version!r}\n", **files}
    held[f"{about}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    held[f"{about}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    held[f"{about}/RECORD"] = "".join(f"{one},,\n" for one in [*held, f"{about}/RECORD"])
    with zipfile.ZipFile(path, "w") as archive:
        for one, body in held.items():
            archive.writestr(one, body)
    return path


def torch(folder: Path, version: str, cuda: str | None = None, hip: str | None = None) -> Path:
    """A torch that says which toolkit it was built for."""
    told = f"__version__ = {version!r}\ndebug = False\ncuda = {cuda!r}\ngit_version = ''\nhip = {hip!r}\n"
    return wheel(folder, "torch", version, **{"torch/version.py": told})


def ipykernel(folder: Path) -> Path:
    """What registers the Python that it runs in as a notebook's kernel."""
    return wheel(folder, "ipykernel", "6.29.5", **{"ipykernel/__main__.py": IPYKERNEL})
