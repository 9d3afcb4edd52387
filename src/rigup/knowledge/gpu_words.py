"""GPUs as people write them: "GTX1080Ti", "H100 SXM5", "Steam Deck", "UHD 630"."""

import re
from collections.abc import Iterator

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.gpus import VENDORS, Gpu, gpu_by_pci, one_gpu
from rigup.knowledge.names import MAX_LENGTH, key_of, maker_of
from rigup.knowledge.patterns import compiled, lazy_regex

_PCI = lazy_regex(r"(?P<vendor>[0-9a-f]{4}):(?P<device>[0-9a-f]{4})", re.IGNORECASE)
_GLUED = lazy_regex(r"(?<![a-z0-9])(rtx|gtx|gt|rx|arc|quadro|tesla|vega)(?=\d)", re.IGNORECASE)
_TAIL = lazy_regex(r"(?<=\d)(ti|super|xtx|xt|gre)(?=super\b|\b)", re.IGNORECASE)
_MAKERS = (
    ("amd", lazy_regex(r"\b(?:amd|radeon|instinct|rx|vega|firepro)\b", re.IGNORECASE)),
    ("intel", lazy_regex(r"\b(?:intel|arc|iris|u?hd graphics)\b", re.IGNORECASE)),
    ("apple", lazy_regex(r"\bapple m\d", re.IGNORECASE)),
    ("nvidia", lazy_regex(r"\b(?:nvidia|geforce|rtx|gtx|quadro|tesla|titan|jetson|gpu)\b", re.IGNORECASE)),
)


_ISA = lazy_regex(r"\b(?P<isa>sm_\d{2,3}|gfx[0-9a-f]{3,4})\b", re.IGNORECASE)
_NEAR = 0.75  # how alike two names are before one is taken for a slip of the other
_MOST_NEAR = 3


class _Named(msgspec.Struct, frozen=True):
    name: str


class _Laptop(msgspec.Struct, frozen=True, kw_only=True):
    pattern: str
    source: str = ""


def is_of_laptops(name: str) -> bool:
    """Whether a product of this name is built into laptops alone: its lanes and its power are the machine's maker's.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return any(compiled(row.pattern).search(name) for row in tables.rows("gpu_words", "laptop", _Laptop))


class _Word(msgspec.Struct, frozen=True, kw_only=True):
    said: str
    gpu: str = ""
    vendor: str = ""
    isa: str | None = None
    architecture: str = ""
    integrated: bool | None = None
    source: str = ""


class _Dropped(msgspec.Struct, frozen=True):
    pattern: str


def gpu_in_words(name: str) -> tuple[Gpu, str] | None:
    """The product that a person means, and its PCI id where that was written.

    A name that only tells its maker gives a product without an ISA; words that name none give None.

    Raises:
        KnowledgeError: a table is malformed.

    """
    name = name.strip()[:MAX_LENGTH]
    if known := _by_isa(name):
        return known, ""
    if match := _PCI.fullmatch(name):
        vendor = VENDORS.get(match["vendor"].lower(), match["vendor"].lower())
        return gpu_by_pci(match["vendor"], match["device"]) or Gpu(vendor=vendor, name=name), name.lower()
    for spelt in _spellings(name):
        if known := _by_word(spelt, name) or one_gpu(spelt):
            return _with_written_name(known, name), ""
    maker = next((maker for maker, pattern in _MAKERS if pattern.search(name)), "")
    return (Gpu(vendor=maker, name=name), "") if maker else None


def is_known(gpu: Gpu, pci_id: str = "") -> bool:
    """Whether the tables know the product, and not its maker alone.

    A name without any number ("nvidia gpu") asks for no product; one with a number, or an id, that no table has does.
    """
    names_one = bool(pci_id) or any(letter.isdigit() for letter in gpu.name)
    return bool(gpu.isa or gpu.architecture or gpu.source) or not names_one


def near(name: str) -> tuple[str, ...]:
    """Products whose names are nearly what a person wrote, the nearest first.

    Raises:
        KnowledgeError: a table is malformed.

    """
    tables_of = (("gpus_nvidia", "gpu"), ("gpus_amd", "gpu"), ("gpus_intel", "gpu"))
    rows = (row.name for table, array in tables_of for row in tables.rows(table, array, _Named))
    plain = {_without_maker(product): product for product in rows}
    from difflib import get_close_matches

    matches = get_close_matches(_without_maker(name), plain, _MOST_NEAR, _NEAR)
    return tuple(plain[match] for match in matches)


def _without_maker(name: str) -> str:
    return re.sub(r"^(?:nvidia|amd|intel|geforce|radeon|\s)+", "", name.lower())


def _by_isa(name: str) -> Gpu | None:
    """A product that is named by its target, as one newer than the tables can be: "RTX 9090 sm_130", "gfx1250"."""
    match = _ISA.search(name)
    if match is None:
        return None
    vendor = "nvidia" if match["isa"].lower().startswith("sm_") else "amd"
    return Gpu(vendor=vendor, name=name, isa=match["isa"].lower())


def _spellings(name: str) -> Iterator[str]:
    """As it was written, with blanks where people leave them out, then without what tells no chips apart."""
    yield name
    spaced = _TAIL.sub(r" \1", _GLUED.sub(r"\1 ", name))
    yield spaced
    for row in tables.rows("gpu_words", "dropped", _Dropped):
        shorter = re.sub(row.pattern, " ", spaced, flags=re.IGNORECASE)
        spaced = " ".join(shorter.split())
        yield spaced


def _by_word(spelt: str, name: str) -> Gpu | None:
    plain = re.sub(r"^(?:nvidia|amd|intel|geforce)(?:\(r\))? +", "", spelt.lower())
    for row in tables.rows("gpu_words", "word", _Word):
        if re.fullmatch(row.said, plain) and maker_of(spelt) in ("", row.vendor, _vendor_of(row)):
            known = one_gpu(row.gpu) if row.gpu else None
            return known or Gpu(
                vendor=row.vendor, name=name, isa=row.isa, architecture=row.architecture, integrated=row.integrated, source=row.source
            )
    return None


def _vendor_of(row: _Word) -> str:
    known = one_gpu(row.gpu) if row.gpu else None
    return known.vendor if known else row.vendor


def _with_written_name(known: Gpu, written: str) -> Gpu:
    """What the person wrote stays in its name."""
    words = {word for word in key_of(written) if not re.fullmatch(r"\d{1,3}gi?b", word)}
    if words <= set(key_of(known.name)) or "".join(key_of(written)) in "".join(key_of(known.name)):
        return known
    if key_of(written) == key_of(known.chip):  # of one chip several models are sold: which it is, nobody said
        return msgspec.structs.replace(known, name=written)
    return msgspec.structs.replace(known, name=f"{written} ({known.name})")
