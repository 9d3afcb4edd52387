"""The products that a question itself names."""

import re

from rigup.diagnosis.looking import Card
from rigup.knowledge.gpu_words import gpu_in_words
from rigup.knowledge.gpus import GIB
from rigup.knowledge.gpus import Gpu as Product
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.questions import spaced

_CARD = lazy_regex(
    r"(?<![A-Za-z0-9.])(?:(?:nvidia|geforce|rtx|gtx|tesla|quadro|amd|radeon|rx|instinct|intel|arc|apple|titan|pro)[ -]?){0,3}"
    r"(?:[a-z]{1,2})?\d{1,4}[a-z]?(?: ?(?:ti|super|xtx|xt|gre|pro|max|ultra|ada))?(?: super)?(?![A-Za-z0-9.])",
    re.IGNORECASE,
)
_SIZE = lazy_regex(r"[ ,(-]{0,2}(\d{1,3}) ?(?:GB?|GiB|ГБ|Гб|Go)(?![A-Za-z])")
_SERIES = ("RTX", "GTX")
_BARE = 4  # digits of a product whose series people leave out
_MOST_NAMES = 12  # of one question, that are looked up


def _product(words: str) -> Product | None:
    """The product that words of a question name; people leave the maker's word out."""
    known = gpu_in_words(words)
    if known and words[:_BARE].isdigit() and known[0].isa and len(words) >= _BARE:
        series = (gpu_in_words(f"{series} {words}") for series in _SERIES)
        return next((found[0] for found in series if found and found[0].source), known[0])
    is_one = known and (known[0].isa or known[0].source) and len(words) > 1 and not words.isdigit()
    return known[0] if known and is_one else None


def named_cards(near: str) -> list[Card]:
    """The products that a question itself names, as far as the tables know them."""
    said = spaced(near)
    found = [(match, gpu) for match in list(_CARD.finditer(said))[:_MOST_NAMES] if (gpu := _product(match[0]))]
    cards = [Card(gpu.name, gpu.vendor, gpu.isa or "", gpu.memory_bytes or _size_behind(said, match)) for match, gpu in found]
    return list({card.name: card for card in cards}.values())


def _size_behind(said: str, match: re.Match[str]) -> int:
    """Bytes that are told behind the name of a card that is sold with several sizes."""
    size = _SIZE.match(said, match.end())
    return int(size[1]) * GIB if size else 0
