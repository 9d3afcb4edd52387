"""Wheels of our own making: a wheel is a zip with a few files of names."""

import zipfile
from pathlib import Path

_WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def wheel(folder: Path, name: str, version: str, size: int = 0, body: str = "") -> Path:
    """A wheel of one module, with as many random bytes beside it as are asked for."""
    import os

    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{name}/__init__.py", body or f"__version__ = {version!r}\n")
        file.writestr(f"{name}/version.py", f"__version__ = {version!r}\ncuda = None\nhip = None\ndebug = False\n")
        if size:
            file.writestr(f"{name}/data.bin", os.urandom(size))
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        file.writestr(f"{info}/WHEEL", _WHEEL)
        names = [*file.namelist(), f"{info}/RECORD"]
        file.writestr(f"{info}/RECORD", "".join(f"{one},,\n" for one in names))
    return path
