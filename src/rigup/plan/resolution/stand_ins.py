"""Wheels that stand for builds whose index nobody answers at: with them the rest of a set is resolved all the same."""

import re
import zipfile
from pathlib import Path

_WHEEL = "Wheel-Version: 1.0\nGenerator: rigup\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
_FITS = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
_VERSION = re.compile(r"[A-Za-z0-9.+!]{1,80}")


def stand_in(folder: Path, name: str, version: str) -> Path:
    """A wheel of a name and a version with nothing in it: what the real one needs is not known.

    Raises:
        ValueError: the name or the version cannot be one.
        OSError: the folder cannot be written.

    """
    if not _FITS.fullmatch(name) or not _VERSION.fullmatch(version):
        raise ValueError(f"{name} {version}")
    plain = name.replace("-", "_")
    path, info = folder / f"{plain}-{version}-py3-none-any.whl", f"{plain}-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        file.writestr(f"{info}/WHEEL", _WHEEL)
        file.writestr(f"{info}/RECORD", "")
    return path
