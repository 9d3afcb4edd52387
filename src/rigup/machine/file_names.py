"""File names that every system can hold: `0000:01:00.0` is no name on Windows, nor are `aux` and `a.`.

Where an archive is unpacked on such a system, each name is escaped as in a URL, and names.json says so; a
tree reads them back.
"""

import re

from rigup.knowledge.patterns import lazy_regex

MARK = "names.json"
ESCAPED = "percent"
_UNFIT = lazy_regex(r'[<>:"|?*\\%\x00-\x1f]|[. ]\Z')
_RESERVED = lazy_regex(r"(?i)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|\Z)")
_ESCAPE = lazy_regex(r"%([0-9A-F]{2})")


def escaped(name: str) -> str:
    """One part of a path in a form that any file system holds; `plain` gives it back."""
    if _RESERVED.match(name):
        return f"%{ord(name[0]):02X}" + _UNFIT.sub(_code, name[1:])
    return _UNFIT.sub(_code, name)


def plain(name: str) -> str:
    """The name that was escaped."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), name)


def _code(match: re.Match[str]) -> str:
    return f"%{ord(match[0]):02X}"
