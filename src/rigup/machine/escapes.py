"""Sequences that programs write for terminals, taken out of what they print: colours, links, titles, pictures.

A string for the terminal (OSC, DCS, SOS, PM, APC) ends at BEL or at ST. One that never ends swallows nothing: its
introducer alone is taken out. No part of a pattern can begin where another one goes on, so time is linear in the text.
"""

import re

from rigup.knowledge.patterns import lazy_regex

_LINK = r"[^\x07\x1b\x9c\n]*"  # of one line: a stray BEL further down ends nothing
_LONG = r"[^\x07\x1b\x9c]*"  # pictures and answers have many lines
_BARE = r"[^\x07\x1b\x90\x98\x9c-\x9f\n]*"
_ST = r"(?:\x1b\\|\x9c)"
_ENDS = rf"(?:\x07|{_ST})"
# Introducers of one byte stand in text that was decoded wrongly, too, where no letter of ASCII is before them.
_ONE_BYTE = r"(?<![^\x00-\x7f])"
_SEQUENCE = lazy_regex(
    rf"\x1b\]{_LINK}{_ENDS}|\x1b[PX^_](?:{_LINK}{_ENDS}|{_LONG}{_ST})|{_ONE_BYTE}[\x90\x98\x9d-\x9f]{_BARE}{_ENDS}"
    rf"|\x1b\[[0-?]*[ -/]*[@-~]|{_ONE_BYTE}\x9b[0-?]*[ -/]*[@-~]|\x1b[ -/]+[0-~]|\x1b[0-~]?"
)


def without_escapes(text: str) -> str:
    """The text as a terminal would show it, without colours; lines keep their numbers."""
    if "\x1b" not in text and text.isascii():
        return text
    return _SEQUENCE.sub(_lines_of, text)


def _lines_of(match: "re.Match[str]") -> str:
    return "\n" * match[0].count("\n")
