"""Cards of which people write that are no part of the machine that they ask about: rows `elsewhere` of `gpu_words.toml`."""

import re
from typing import Literal

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.patterns import lazy_regex

Kind = Literal["another", "wish", "aside"]
_LONGEST = 60_000  # characters: people write short texts of what others have, and a log tells of none
# "4090", "RTX 4070 Ti SUPER", "A100 80GB", "7900 XTX", "M3 Max", "two 3090s".
_CARD = (
    r"((?:(?:nvidia|geforce|rtx|gtx|rx|radeon|tesla|quadro|apple|arc|instinct|amd|intel)[ -]?){0,3}"
    r"(?<![A-Za-z0-9_.])(?:[a-z]{0,2}\d{3,4}[a-z]{0,3}|m[1-9]|[alpt][24]0?)(?:[ -]?(?:ti|super|xtx?|gre|pro|max|ultra|laptop)\b){0,3}"
    r"(?:[ -](?:\d{1,3} ?gb?|sxm\d?|pcie)\b){0,2}s?(?![A-Za-z0-9_]|\.\d))"
)
_SHOWN = lazy_regex(
    r"NVIDIA-SMI|\bnvidia-smi -L|System Management Interface|\bfound device:|\bggml_\w+: Found|\binference compute|Marketing Name:|\(UUID: "
    r"|\bDevice: (?:cuda|xpu|mps)|get_device_name|\bCreated device|Chipset Model:|\bLevel[- ]Zero\b"
)


class Elsewhere(msgspec.Struct, frozen=True, kw_only=True):
    """How people say in one language that a card is not the one they ask about.

    Attributes:
        kind: "another" of somebody else's, or one that is compared with; "wish" of one that is not bought yet; "aside" of one that may
            be asked about, unless programs show another.
        regex: its CARD stands for a card; tried on sentences, whatever the case of letters.
        example: a sentence that it knows.
        near_miss: a sentence that it does not.

    """

    language: str
    kind: Kind
    regex: str
    example: str = ""
    near_miss: str = ""


@tables.remembered
def _forms() -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    return tuple((row.kind, form_of(row)) for row in tables.rows("gpu_words", "elsewhere", Elsewhere))


def form_of(row: Elsewhere) -> re.Pattern[str]:
    """A row's pattern, whose only groups are the cards."""
    return re.compile(row.regex.replace("CARD", _CARD), re.IGNORECASE | re.MULTILINE)


def without_others(text: str, *kinds: Kind) -> str:
    """The text with blanks in the place of cards that are said to be elsewhere; without `kinds` of all that the text itself tells apart.

    Raises:
        KnowledgeError: the table is malformed.

    """
    if len(text) > _LONGEST:
        return text
    wanted = kinds or (("another", "wish", "aside") if _SHOWN.search(text) else ("another", "wish"))
    for kind, form in _forms():
        if kind in wanted:
            text = form.sub(_blanked, text)
    return text


def _blanked(match: re.Match[str]) -> str:
    start, end = (at - match.start() for at in match.span(match.lastindex or 0))
    return match[0][:start] + " " * (end - start) + match[0][end:]
