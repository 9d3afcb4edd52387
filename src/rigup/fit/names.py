"""Models as people name them: "Llama-3 8B Q4", "qwen3 30b a3b", a file's name. Assumptions are listed."""

import re
from typing import NamedTuple

from rigup.fit.errors import FitError
from rigup.fit.quants import file_types
from rigup.fit.shapes import Shape, shapes
from rigup.language import _

USUAL = "Q4_K_M"
_END = re.compile(r"(?:-\d{5}-of-\d{5})?\.gguf\Z", re.IGNORECASE)
_TYPE = re.compile(
    r"(?<![a-z0-9])(?:ud[-_ ])?(?:iq ?([1-4])[-_ ]?(xxs|xs|s|m|nl)|q ?([2-8])(?:[-_ ]?([01k])(?:[-_ ]?(xxl|xl|xs|s|m|l)(?![a-z]))?)?"
    r"|(mxfp4|nvfp4|tq[12]_0|bf16|fp16|f16|fp32|f32)|([48])[- ]?bits?|int([48])|(awq|gptq))(?:_moe)?(?![a-z0-9])"
)
_SIZE = re.compile(r"\d{1,3}(?:\.\d{1,2})?[bm]|\d{1,2}x\d{1,3}b")
_WORDS = re.compile(
    r"e\d{1,2}b(?![a-z0-9])|\d{1,2}x\d{1,3}b(?![a-z0-9])|a\d{1,3}(?:\.\d)?b(?![a-z0-9])|\d{1,4}(?:\.\d{1,3})?[bm](?![a-z0-9])|\d{1,2}[ac-ln-z](?![a-z0-9])|[a-z]+|\d+(?:\.\d+)*"
)
_VERSION = re.compile(r"\d{1,2}(?:\.\d{1,3})*[a-z]?")
_BY_NUMBER = {"2": "Q2_K", "3": "Q3_K_M", "4": USUAL, "5": "Q5_K_M", "6": "Q6_K", "8": "Q8_0"}
_SAME = {"FP16": "F16", "FP32": "F32", "MXFP4": "MXFP4_MOE", "XL": "M", "XXL": "M"}
_MOST = 200
_NEAR = 5


class Named(NamedTuple):
    """A shape and a type, and what was taken for granted of either."""

    shape: Shape
    type: str
    notes: tuple[str, ...]


def named(text: str, usual: str = USUAL) -> Named:
    """The shape that a name means, and the type that it names or the usual one. Raises FitError where it means none, with the nearest."""
    plain = _END.sub("", text[:_MOST]).lower()
    kind, rest = file_type(plain)
    words = _WORDS.findall(rest)
    sizes = [word for word in words if _SIZE.fullmatch(word)]
    best = _best([word for word in words if word not in sizes], words, sizes)
    if best is None:
        raise FitError(_unknown(text, words))
    shape, sure = best
    taken = kind or shape.published or usual
    notes = [] if kind else [_("No type was named: {type} was taken.").format(type=taken)]
    if not sure:
        notes.append(_("It was taken to be {name}.").format(name=shape.name))
    notes.append(_("There is no file: the figures are those of the well-known shape {name}.").format(name=shape.name))
    return Named(shape, taken, tuple(notes))


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
        return _holds(words, wanted)
    places = [at for at in range(len(words) - len(wanted) + 1) if words[at : at + len(wanted)] == wanted]
    after = next(iter(words[places[-1] + len(wanted) :]), "") if places else ""
    return bool(places) and (bool(_SIZE.fullmatch(after)) or not _VERSION.fullmatch(after))


def _says_size(shape: Shape, words: list[str]) -> bool:
    """The family's own name says the size (command-r7b)."""
    return any(name.split()[-1] == "b" and _holds(words, name.split()) for name in shape.names)


def _holds(words: list[str], wanted: list[str]) -> bool:
    count = len(wanted)
    joined = [word for compound in words for word in _split(compound)] if wanted[-1] == "b" else words
    return any(joined[start : start + count] == wanted for start in range(len(joined) - count + 1))


def _split(word: str) -> list[str]:
    return re.findall(r"\d+|[a-z]+", word)


def _unknown(text: str, words: list[str]) -> str:
    import difflib

    by_name = {shape.name: shape for shape in shapes()}
    near = difflib.get_close_matches("-".join(words), by_name, _NEAR, 0.3)
    near += [name for name, shape in by_name.items() if name not in near and any(_holds(words, alias.split()) for alias in shape.names)]  # fmt: skip
    template = _("{name} is no model that is known here. Near it are: {near}. A file, an address or a repository (user/name) is read itself.")  # fmt: skip
    if not near:
        template = _(
            "{name} is no model that is known here. A file, an address or a repository (user/name) is read itself."
        )
    return template.format(name=text[:_MOST], near=", ".join(near[:_NEAR]))
