"""Pythons that a text lists as installed, and how each is started."""

import re

from rigup.machine.kinds import Symptom

_BY = {
    "launcher-lists-pythons": (r"(?<![\d.])(?:-V:|-)?(3\.\d{1,2})(?![\d.])", "py -{}"),
    "pyenv-lists-pythons": (r"^[* ]{1,3}(3\.\d{1,2}\.\d{1,2})(?![\w/])", "env PYENV_VERSION={} python"),
    "files-of-pythons-listed": (r"/usr/bin/python(3\.\d{1,2})(?![\w.-])", "/usr/bin/python{}"),
}  # how a line names one, and how that one is started


def pythons_there(listed: Symptom | None) -> dict[str, str]:
    """The releases ("3.11") that are listed, each with the words that start it."""
    pattern, starter = _BY.get(str(listed.id) if listed is not None else "", ("", ""))
    found = re.findall(pattern, str(listed.listed), re.MULTILINE) if listed is not None and pattern else []
    return {".".join(version.split(".")[:2]): starter.format(version) for version in found}
