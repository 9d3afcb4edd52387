"""Well-known models: their sizes, and what people call them ("Llama-3 8B Q4", "qwen3 30b a3b", a file's name)."""

import re
from typing import NamedTuple

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.patterns import lazy_regex

USUAL = "Q4_K_M"
_END = lazy_regex(r"(?:-\d{5}-of-\d{5})?\.gguf\Z", re.IGNORECASE)
_TYPE = lazy_regex(
    r"(?<![a-z0-9])(?:ud[-_ ])?(?:iq ?([1-4])[-_ ]?(xxs|xs|s|m|nl)|q ?([2-8])(?:[-_ ]?([01k])(?:[-_ ]?(xxl|xl|xs|s|m|l)(?![a-z]))?)?"
    r"|(mxfp4|nvfp4|tq[12]_0|bf16|fp16|f16|fp32|f32)|([48])[- ]?bits?|int([48])|(awq|gptq))(?:_moe)?(?![a-z0-9])"
)
_SIZE = lazy_regex(r"\d{1,3}(?:\.\d{1,2})?[bm]|\d{1,2}x\d{1,3}b")
_WORDS = lazy_regex(
    r"e\d{1,2}b(?![a-z0-9])|\d{1,2}x\d{1,3}b(?![a-z0-9])|a\d{1,3}(?:\.\d)?b(?![a-z0-9])|\d{1,4}(?:\.\d{1,3})?[bm](?![a-z0-9])|\d{1,2}[ac-ln-z](?![a-z0-9])|[a-z]+|\d+(?:\.\d+)*"
)
_VERSION = lazy_regex(r"\d{1,2}(?:\.\d{1,3})*[a-z]?")
_BY_NUMBER = {"2": "Q2_K", "3": "Q3_K_M", "4": USUAL, "5": "Q5_K_M", "6": "Q6_K", "8": "Q8_0"}
_SAME = {"FP16": "F16", "FP32": "F32", "MXFP4": "MXFP4_MOE", "XL": "M", "XXL": "M"}
_MOST = 200


class Meant(NamedTuple):
    """A shape, the type of weights that is named or "", and whether the shape is beyond doubt."""

    shape: "Shape"
    type: str
    sure: bool


class FileType(msgspec.Struct, frozen=True):
    """A mixture as people name it (Q4_K_M): its number in files, and bits a weight in a large dense model."""

    number: int
    name: str
    bits: float
    perplexity: float | None = None
    """Points above the unquantised model's perplexity, where somebody measured it."""
    source: str = ""


class State(msgspec.Struct, frozen=True):
    """A recurrent layer's sizes."""

    conv: int
    inner: int
    size: int
    rank: int
    groups: int = 0


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """A model's sizes in the table."""

    name: str
    architecture: str
    size: str
    names: list[str]
    width: int
    layers: int
    heads: int
    shared: int
    inner: int
    words: int
    length: int
    context: int
    usual: bool = False
    published: str = ""
    """The type in which its maker publishes it, where that is a quantised one."""
    tied: bool = False
    factors: bool = False
    window: int = 0
    experts: int = 0
    used: int = 0
    narrow: int = 0
    common: int = 0
    beside: int = 0
    dense: int = 0
    asked: int = 0
    rank: int = 0
    turned: int = 0
    plain: int = 0
    value: int = 0
    corrected: bool = False
    state: State | None = None
    every: int = 0
    before: int = 0
    attends: list[int] = []
    uses: tuple[str, ...] = ("chat",)
    """What it is for: chat, code, vision, embedding."""


def file_types() -> tuple[FileType, ...]:
    """All mixtures, the finest first."""
    return tuple(sorted(tables.rows("gguf_types", "file_type", FileType), key=lambda row: -row.bits))


def shapes() -> tuple[Shape, ...]:
    """All well-known shapes."""
    return tables.rows("model_shapes", "shape", Shape)


def model_meant(text: str) -> Meant | None:
    """The well-known model that a name means; None where it means none.

    Raises:
        KnowledgeError: a table is malformed.

    """
    kind, rest = file_type(_END.sub("", text[:_MOST].lower()))
    words = words_of(rest)
    sizes = [word for word in words if _SIZE.fullmatch(word)]
    best = _best([word for word in words if word not in sizes], words, sizes)
    return Meant(best[0], kind, best[1]) if best else None


def words_of(name: str) -> list[str]:
    """The words of a name in small letters."""
    return _WORDS.findall(name)


def file_type(text: str) -> tuple[str, str]:
    """The type in a name, the last of several, and the rest of the name; "" for no type."""
    hits = list(_TYPE.finditer(text))
    kind = _kind(hits[-1]) if hits else ""
    return kind, _TYPE.sub(" ", text)


def _kind(hit: "re.Match[str]") -> str:
    fine, fine_end, digit, form, end, whole, bits, integer, _four = hit.groups()
    known = {row.name for row in file_types()}
    if fine:
        name = f"IQ{fine}_{fine_end.upper()}"
    elif digit and form in ("0", "1"):
        name = f"Q{digit}_{form}"
    elif digit:
        name = f"Q{digit}_K_{_SAME.get((end or '').upper(), (end or '').upper())}" if end else _BY_NUMBER.get(digit, "")
    elif whole:
        name = _SAME.get(whole.upper(), whole.upper())
    else:
        name = _BY_NUMBER["8" if "8" in (bits, integer) else "4"]
    if name in known:
        return name
    return _BY_NUMBER.get(digit or "", "") if digit else ""


def _best(family: list[str], words: list[str], sizes: list[str]) -> tuple[Shape, bool] | None:
    """The shape whose family's words stand there, the longest such name; whether that is beyond doubt."""
    entries: list[tuple[int, int, Shape]] = []
    for number, shape in enumerate(shapes()):
        if shape.size not in sizes and not (shape.usual and not sizes) and not _says_size(shape, words):
            continue
        length = max((len(name.split()) for name in shape.names if _names(words, name)), default=0)
        if length:
            entries.append((-length, number, shape))
    entries.sort(key=lambda entry: entry[:2])
    if not entries:
        return None
    shape = entries[0][2]
    rivals = [entry for entry in entries[1:] if entry[0] == entries[0][0]]
    exact = not rivals and (shape.size in sizes or _says_size(shape, words) or len(family) > 0)
    return shape, exact


def _names(words: list[str], name: str) -> bool:
    """The words have this name in them; one without a number is another family's where a version follows it."""
    wanted = name.split()
    if any(word[0].isdigit() for word in wanted):
        return holds(words, wanted)
    places = [at for at in range(len(words) - len(wanted) + 1) if words[at : at + len(wanted)] == wanted]
    after = next(iter(words[places[-1] + len(wanted) :]), "") if places else ""
    return bool(places) and (bool(_SIZE.fullmatch(after)) or not _VERSION.fullmatch(after))


def _says_size(shape: Shape, words: list[str]) -> bool:
    """The family's own name says the size (command-r7b)."""
    return any(name.split()[-1] == "b" and holds(words, name.split()) for name in shape.names)


def holds(words: list[str], wanted: list[str]) -> bool:
    """Whether the words of a name have these among them, one behind the other."""
    count = len(wanted)
    joined = [word for compound in words for word in _split(compound)] if wanted[-1] == "b" else words
    return any(joined[start : start + count] == wanted for start in range(len(joined) - count + 1))


def _split(word: str) -> list[str]:
    return re.findall(r"\d+|[a-z]+", word)
