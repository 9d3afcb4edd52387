"""Names of GPUs, as different tools print them, in one comparable form."""

from functools import lru_cache

from rigup.knowledge.patterns import lazy_regex

_NOISE = frozenset(
    [
        "nvidia",
        "amd",
        "ati",
        "intel",
        "apple",
        "corporation",
        "corp",
        "inc",
        "advanced",
        "micro",
        "devices",
        "co",
        "ltd",
        "tm",
        "r",
        "gpu",
        "graphics",
        "geforce",
        "radeon",
        "instinct",
        "controller",
        "vga",
        "compatible",
        "display",
        "3d",
        "adapter",
        "gen",
        "generation",
        "with",
    ]
)
_MAKERS = {
    "nvidia": ("nvidia", "geforce", "quadro", "tesla", "jetson"),
    "amd": ("amd", "ati", "radeon", "instinct", "firepro", "advanced"),
    "intel": ("intel", "iris", "arc"),
    "apple": ("apple",),
}
_LAPTOP = frozenset(("laptop", "mobile", "notebook"))
_DESIGN = lazy_regex(r"max[- ]?q(?: design)?")
_MODEL_SUFFIX = frozenset(
    [
        "ti",
        "super",
        "xt",
        "xtx",
        "gre",
        "le",
        "d",
        "se",
        "max",
        "ultra",
        "pro",
        "s",
        "xl",
        "m",
        "ada",
        "blackwell",
        "boost",
        "oem",
        "nano",
        "x2",
        "duo",
        "v2",
        "a",
        "sxm2",
        "sxm3",
        "sxm4",
        "sxm5",
        "nvl",
    ]
)
_WORD = lazy_regex(r"[a-z0-9]+(?:\.[0-9]+)?")
_BRACKETS = lazy_regex(r"\[([^\[\]]{3,})\]")
_TAIL = lazy_regex(r"\((?:rev|prog-if|radeonsi|llvm)[^)]*\)?|/pcie.*|\(tm\)|\(r\)|w/")

_MODEL_NUMBER = 3  # digits

MAX_LENGTH = 300
"""Longer names are cut: no maker prints them."""

Key = tuple[str, ...]


@lru_cache(maxsize=4096)
def key_of(name: str) -> Key:
    """The words of a name that tell products apart, in order.

    Makers' names, trade marks, "Graphics" and the chip before lspci's brackets are left out;
    "Mobile" and "Max-Q" count as "laptop".
    """
    text = name[:MAX_LENGTH].lower()
    inside = [found for found in _BRACKETS.findall(text) if found != "amd/ati"]
    text = _DESIGN.sub("mobile", _TAIL.sub(" ", inside[-1] if inside else text))
    words: list[str] = []
    for word in _WORD.findall(text):
        plain = "laptop" if word in _LAPTOP else word
        if plain not in _NOISE and not (plain == "laptop" and plain in words):
            words.append(plain)
    return tuple(words)


def parts(key: Key) -> list[Key]:
    """All runs of words in a key that may name a product, the longest first.

    A run that a model suffix follows ("3090" before "ti") is another product's name.
    """
    count = len(key)
    runs = [(start, end) for start in range(count) for end in range(start + 1, count + 1)]
    runs.sort(key=lambda run: run[0] - run[1])
    return [key[a:b] for a, b in runs if _whole(key, b) and has_number(key[a:b])]


def has_number(key: Key) -> bool:
    """Whether any word holds a digit: without one a name tells no product."""
    return any(letter.isdigit() for word in key for letter in word)


def _whole(key: Key, end: int) -> bool:
    """Not the head of another product's name: no suffix follows, and no number where none has been yet ("r7" of "r7 370")."""
    if end == len(key):
        return True
    headless = len(key[end]) >= _MODEL_NUMBER and key[end].isdigit() and len(key[end - 1]) < _MODEL_NUMBER
    return key[end] not in _MODEL_SUFFIX and not headless


def maker_of(name: str) -> str:
    """Tell the maker that a name names ("GeForce 840M" is not "Radeon 840M"), "" if none or two."""
    words = set(_WORD.findall(name[:MAX_LENGTH].lower()))
    makers = [maker for maker, signs in _MAKERS.items() if words.intersection(signs)]
    return makers[0] if len(makers) == 1 else ""
