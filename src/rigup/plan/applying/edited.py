"""Files of packages that a person edited since they were installed, as the packages' own records tell.

Package managers remove or replace them without a question when a run is taken back.
"""

import hashlib
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from rigup.machine.host import Host

_PATIENCE = 60.0  # seconds for one question
_MOST = 2000  # packages of one question
_MOST_BYTES = 8_000_000  # of a file of settings
_OF_PACMAN = re.compile(r"(/\S[^\n]{0,4000}?)[ \t]+\[modified\]")
_OF_PYTHON = """
import base64, hashlib, importlib.metadata as m, os, sys
for name in sys.argv[1:]:
    try:
        files = m.distribution(name).files or ()
    except m.PackageNotFoundError:
        continue
    for one in files:
        path = os.path.abspath(os.fspath(one.locate()))
        try:
            told = open(path, "rb").read() if one.hash and one.hash.mode == "sha256" else None
        except OSError:
            continue
        digest = told is not None and base64.urlsafe_b64encode(hashlib.sha256(told).digest()).rstrip(b"=").decode()
        if digest and digest != one.hash.value and path.isprintable():
            print(path)
"""


def of_python(python: str, names: Iterable[str], host: Host) -> list[str]:
    """Files of a Python's packages that are not as they were installed. Never raises."""
    if not (chosen := sorted(names)[:_MOST]):
        return []
    answer = host.run((python, "-c", _OF_PYTHON, *chosen), _PATIENCE)
    return _paths((answer.body or "").splitlines()) if answer.state == "known" and answer.exit == 0 else []


def of_system(names: Iterable[str], host: Host) -> list[str]:
    """Settings of the system's packages that are not as they were installed; rpm keeps them by itself. Never raises."""
    if not (chosen := sorted(names)[:_MOST]):
        return []
    answer = host.run(("dpkg-query", "-W", "-f", "${Conffiles}\n", *chosen), _PATIENCE)
    if answer.state == "known" and answer.body:
        rows = (line.split() for line in answer.body.splitlines())
        return _paths(row[0] for row in rows if len(row) >= 2 and _differs(row[0], row[1]))
    answer = host.run(("pacman", "-Qii", *chosen), _PATIENCE)
    return _paths(_OF_PACMAN.findall(answer.body or "")) if answer.state == "known" else []


def _differs(path: str, digest: str) -> bool:
    """From dpkg's own sum; one that may not be read is taken for edited."""
    if not re.fullmatch("[0-9a-f]{32}", digest):
        return False
    try:
        with open(path, "rb") as file:
            return hashlib.md5(file.read(_MOST_BYTES), usedforsecurity=False).hexdigest() != digest
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _paths(names: Iterable[str]) -> list[str]:
    existing = []
    for path in dict.fromkeys(names):
        with suppress(OSError, ValueError):
            if os.path.isabs(path) and Path(path).is_file():
                existing.append(path)
    return existing
