"""What is told of a model that a question is about, on the cards that the text shows: its weights, its cache, its speed."""

import math
import re
from collections.abc import Callable
from typing import Any

import msgspec

from rigup.diagnosis.looking import Look
from rigup.knowledge import tables
from rigup.knowledge.model_shapes import Shape, file_type, file_types, model_meant
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.questions import spaced
from rigup.knowledge.speeds import Decode, data_sheet
from rigup.sizes import gibibytes

PARAMETERS = lazy_regex(r"(?<![A-Za-z0-9.])(\d{1,4}(?:[.,]\d{1,2})?) ?[bBБ](?![A-Za-z])")
_SIZE = lazy_regex(r"(\d{1,4}(?:\.\d{1,2})?)b")
_ACTIVE = lazy_regex(r"-a(\d{1,3}(?:\.\d{1,2})?)b")
_ACTIVE_OF = lazy_regex(r"(?<![\d.])(\d{1,4}(?:\.\d{1,2})?)B[-.:]A(\d{1,3}(?:\.\d{1,2})?)B", re.IGNORECASE)
_GIGABYTES = lazy_regex(r"(?<![A-Za-z0-9.])(\d{1,3}) ?(?:GB|GiB|G|ГБ|Гб)(?![A-Za-z])")
_TOKENS = lazy_regex(
    r"(?<![\w.])(\d{1,4}) ?[kK](?![A-Za-z])|(?<![\w.])(\d{1,3}[ ,.]?\d{3})(?![\w.])[^\n.?!]{0,20}(?:tokens?|ctx|context|токен|контекст|上下文|コンテキスト)"
    r"|(?:ctx|context|num_ctx|контекст\w*|上下文|コンテキスト|(?<![\w-])-c|--max-model-len)[^\n\d.?!]{0,20}(\d{4,6})(?!\d)",
    re.IGNORECASE,
)
_ROOM = 0.1  # share of a card's memory that has to be left beside the weights, for the context and the buffers
RUNTIME = 1 << 30  # bytes that an engine takes beside weights and cache, at most, for contexts of usual length
_NUMBER = 2  # bytes of each of a cache's numbers, unless told otherwise
_PAGE = 256  # tokens, of which lengths are multiples where they are no thousands
_STEP = 1000  # tokens to which a length is rounded
_THOUSAND = 1024  # tokens of "16k"
_LEAST_CONTEXT = 2000
_GIB = 1 << 30
_USUAL_SHARE = 1 / 3  # of the peak, that training reaches
_OPERATIONS = 6  # of training, for each weight and token
_LOW = 0.75  # share of the least usual rate below which one is told to be low
_OF_A_PC = 60e9  # bytes a second of two channels of main memory
_BACKENDS = {"apple": "metal", "intel": "sycl"}  # by whose cards: those that have rows of their own
_PLAUSIBLE = (0.3, 1.0)  # shares of a peak in 16 bits that a large matrix product reaches
_CHANNEL = 8  # bytes wide
_WIDER = 1.6  # times the memory of a PC, from which a memory is one of its own
_LAYERS = 48  # of a model of experts whose shape is not known
_SMALL_MAC = 36  # GB up to which the GPU gets two thirds


class _Precision(msgspec.Struct, frozen=True):
    """How people name a type of weights, and its row in the table of types; `usual`: "coarse" or "fine" where it is told of unasked."""

    said: str
    type: str
    usual: str = ""


def shown_memory(seen: Look) -> int:
    """Bytes of memory that a model has: those of all cards, or those that the question names."""
    if seen.card and seen.card.vram:
        return seen.card.vram * seen.card.number
    found = _GIGABYTES.search(spaced(seen.asked.near))
    return told_by_metal(seen) or (int(found[1]) * _GIB if found else 0)


def told_by_metal(seen: Look) -> int:
    """Bytes that the GPU of a Mac may take, as Metal printed them; 0 where it did not."""
    said = {name: float(seen.asked.said.get(name, "0")) for name in ("working", "lent_gib", "lent_bytes")}
    return int(said["working"] * 1e6 or said["lent_gib"] * _GIB or said["lent_bytes"])


def lent_memory(seen: Look) -> int:
    """Bytes of a Mac's memory that its GPU may take: as Metal printed them, or the usual share; 0 of other cards."""
    is_mac = seen.card and seen.card.vendor == "apple"
    whole = shown_memory(seen) if is_mac else 0
    return told_by_metal(seen) or int(whole * (2 / 3 if whole <= _SMALL_MAC * _GIB else 3 / 4))


def usable_memory(seen: Look) -> int:
    """Bytes of memory that a model may take: what Metal lends, or all of the cards."""
    return lent_memory(seen) or shown_memory(seen)


def size_of(count: float) -> str:
    """So many bytes in words; "" for none."""
    return gibibytes(int(count)) if count else ""


def shape_meant(seen: Look) -> Shape | None:
    """The well-known model that the question names, or that an output of the text does."""
    for said in (spaced(seen.asked.near), seen.asked.said.get("model", "")):
        for line in said.splitlines()[::-1]:
            if _SIZE.search(line.lower()) and (meant := model_meant(line)):
                return meant.shape
    return None


def _model(seen: Look) -> str:
    shape = shape_meant(seen)
    return shape.name if shape else ""


def parameters(seen: Look) -> float:
    """Of the model that is asked about, in thousand millions; 0 where none is named."""
    found = (
        PARAMETERS.search(spaced(seen.asked.sentence))
        or PARAMETERS.search(spaced(seen.asked.near))
        or _SIZE.fullmatch(shape.size if (shape := shape_meant(seen)) else "")
    )
    return float(found[1].replace(",", ".")) if found else 0.0


def _type(seen: Look) -> str:
    rows = tables.rows("questions", "precision", _Precision)
    near = spaced(seen.asked.near)
    said = (row.type for row in rows if re.search(row.said, near, re.IGNORECASE))
    return file_type(near.lower())[0] or next(said, "")


def _usual(which: str) -> str:
    """The type that is told of where none is named: the coarse one, or the fine one."""
    return next(row.type for row in tables.rows("questions", "precision", _Precision) if row.usual == which)


def _likely_type(seen: Look) -> str:
    shape = shape_meant(seen)
    return _type(seen) or (shape.published if shape and shape.published and _bytes_each(shape.published) else _usual("coarse"))


def _bytes_each(of: str) -> float:
    """Bytes of a weight of a type."""
    return next((row.bits for row in file_types() if row.name == of), 0.0) / 8


def _weights(seen: Look, of: str) -> int:
    """Bytes of the model's weights in a type; 0 where model or type is not named."""
    return int(parameters(seen) * 1e9 * _bytes_each(of))


def likely_bytes(seen: Look, size: float) -> float:
    """Bytes of the weights of so many thousand million parameters, in the type that is named or usual."""
    return size * 1e9 * _bytes_each(_likely_type(seen))


def _left(seen: Look, low: float, high: float) -> int:
    """Bytes of memory that the weights leave, where that is so much of all memory; 0 where it is not."""
    weights, have = _weights(seen, _likely_type(seen)), usable_memory(seen)
    left = have - weights
    return left if weights and have and low * have <= left < high * have else 0


def _largest(of: str) -> Callable[[Look], str]:
    """The parameters, in thousand millions, of the largest model that the memory holds in a type with room for a context."""

    def count(seen: Look) -> str:
        most = usable_memory(seen) * (1 - 2 * _ROOM) / _bytes_each(_usual(of)) / 1e9
        return f"{most:.0f}" if most >= 1 else ""

    return count


def _token(seen: Look) -> int:
    """Bytes of the cache for one token, of models all of whose layers keep all that went before; 0 for others."""
    shape = shape_meant(seen)
    plain = shape and not (shape.window or shape.rank or shape.state or shape.every or shape.attends)
    return 2 * _NUMBER * shape.layers * shape.shared * shape.length if shape and plain else 0


def asked_tokens(seen: Look) -> int:
    """The length of context that the question names."""
    found = _TOKENS.search(spaced(seen.asked.sentence)) or _TOKENS.search(spaced(seen.asked.near))
    if not found:
        return 0
    thousands, written, behind = found.groups()
    tokens = int(thousands) * _THOUSAND if thousands else int(re.sub(r"\D", "", written or behind))
    return tokens if not tokens % _STEP or not tokens % _PAGE else 0  # else it is a card's number


def _most_tokens(seen: Look) -> int:
    """How many tokens of context have room beside the weights."""
    each, shape = _token(seen), shape_meant(seen)
    room = _left(seen, 0, 1) - RUNTIME
    return min(room // each, shape.context) if each and shape and room > 0 else 0


def _context(seen: Look) -> str:
    most = _most_tokens(seen) // _STEP * _STEP
    return f"{most:,}".replace(",", " ") if most >= _LEAST_CONTEXT else ""


def _asked_context(seen: Look, fits: bool) -> str:
    """The named length in tokens, where it fits, or where it does not."""
    asked, most = asked_tokens(seen), _most_tokens(seen)
    known = asked and _token(seen) and shown_memory(seen)
    return f"{asked:,}".replace(",", " ") if known and (asked <= most) is fits else ""


def _active(shape: Shape) -> float:
    """Thousand millions of parameters that a token passes in a model of experts whose name does not tell; 0 for layers of other kinds."""
    if shape.rank or shape.state or shape.dense or shape.common or not shape.used:
        return 0.0
    attention = 2 * shape.width * shape.length * (shape.heads + shape.shared)
    experts = shape.used * 3 * shape.width * (shape.narrow or shape.inner)
    return (shape.layers * (attention + experts) + shape.words * shape.width) / 1e9


def _told_bytes(seen: Look) -> float:
    """Bytes of the weights as a program printed them; 0 where it did not."""
    return float(seen.asked.said.get("weights_gib", "0")) * _GIB


def _share_of_experts(seen: Look, shape: Shape | None) -> float:
    """The part of the weights that a token passes, of a model of experts; 0 where it is not known, 1 of any other."""
    if named := _ACTIVE_OF.search(seen.asked.said.get("model", "")):
        return float(named[2]) / float(named[1])
    if not (shape and shape.experts):
        return 1.0
    active = _ACTIVE.search(shape.name)
    whole = _SIZE.fullmatch(shape.size)
    return (float(active[1]) if active else _active(shape)) / float(whole[1]) if whole else 0.0


def _is_of_experts(seen: Look) -> bool:
    shape = shape_meant(seen)
    return bool((shape and shape.experts) or _ACTIVE_OF.search(seen.asked.said.get("model", "")))


def _read(seen: Look) -> float:
    """Bytes of weights that each token reads; 0 where nobody knows."""
    whole = _told_bytes(seen) or parameters(seen) * 1e9 * _bytes_each(_likely_type(seen))
    return whole * _share_of_experts(seen, shape_meant(seen))


def _of_main_memory(seen: Look) -> float:
    """Bytes a second of main memory by its type as the text names it (DDR5-5600), in two channels of 64 bits; 0 where it does not."""
    channels = 1 if "single" in seen.asked.said else 2
    return float(seen.asked.said.get("transfers", "0")) * 1e6 * _CHANNEL * channels


def _passes(seen: Look) -> float:
    """Bytes a second of the memory that the weights lie in: the card's, or main memory where processor or integrated graphics compute."""
    told, sheet = _of_main_memory(seen), _bandwidth(seen)
    if "on_cpu" in seen.asked.said or not seen.card:
        return told
    return told if told and sheet and sheet < _WIDER * told else sheet


def _rates(seen: Look) -> tuple[float, float, float]:
    """Tokens a second, the least and the most that are usual, and bytes a second of the memory; zeros where nobody knows."""
    bandwidth, read, shape = _passes(seen), _read(seen), shape_meant(seen)
    if not (bandwidth and read) or "split" in seen.asked.said:
        return 0.0, 0.0, 0.0
    backend = _BACKENDS.get(seen.card.vendor if seen.card else "", "")
    kind = "experts" if _is_of_experts(seen) else "cpu" if "on_cpu" in seen.asked.said else "dense"
    rows = [row for row in tables.rows("engine_speed", "decode", Decode) if row.kind == kind]
    row = next((row for row in rows if row.backend == backend), rows[0])
    layers = shape.layers if shape else _LAYERS
    time = row.fixed + row.layer * layers + read / (row.share * bandwidth)
    return row.low / time, row.high / time, bandwidth


def _rate(which: int) -> Callable[[Look], str]:
    return lambda seen: f"{rate:.0f}" if (rate := _rates(seen)[which]) >= 1 else ""


def _measured(seen: Look, low: float, high: float) -> str:
    """The rate that the text shows, where it is between these shares of what is usual."""
    least, most, _bandwidth = _rates(seen)
    said = seen.asked.said.get("rate", "").replace(",", ".")
    return said if said and least and low * least <= float(said) < high * most else ""


def _bandwidth(seen: Look) -> float:
    """Bytes a second of the card's memory, by its data sheet; 0 where it is not known."""
    sheet = seen.card and data_sheet(seen.card.name, seen.card.vram or None)
    return (sheet.bandwidth or 0.0) if sheet else 0.0


def _slower(share: float) -> Callable[[Look], str]:
    """How many times as long a token takes with so large a share of the weights in the memory of a usual PC."""

    def times(seen: Look) -> str:
        bandwidth = _bandwidth(seen)
        return f"{share * bandwidth / _OF_A_PC + 1 - share:.1f}" if bandwidth > _OF_A_PC else ""

    return times


def _peak(seen: Look) -> float:
    """Operations a second in 16 bits, by the data sheet; 0 where they are not known."""
    sheet = seen.card and data_sheet(seen.card.name, seen.card.vram or None)
    return (sheet.rates.get("bfloat16") or sheet.rates.get("float16") or 0.0) if sheet else 0.0


def _share_of_peak(seen: Look) -> str:
    """Per cent of the data sheet's rate in 16 bits that was measured; "" where it is so low or high that something else was measured."""
    measured, peak = float(seen.asked.said.get("tflops", "0")) * 1e12, _peak(seen)
    return f"{measured / peak * 100:.0f}" if peak and _PLAUSIBLE[0] <= measured / peak <= _PLAUSIBLE[1] else ""


def _tokens_an_hour(seen: Look) -> str:
    """Millions of tokens that are trained on in an hour, at the usual share of the peak."""
    weights = parameters(seen) * 1e9
    rate = _peak(seen) * _USUAL_SHARE / (_OPERATIONS * weights) * 3600 / 1e6 if weights else 0.0
    return f"{rate:.3g}" if rate else ""


def _cards_that_hold(seen: Look) -> str:
    """How many cards like those that are shown hold the weights with some room."""
    each = seen.card.vram if seen.card else 0
    return str(math.ceil(_weights(seen, _likely_type(seen)) / (each * (1 - _ROOM)))) if each else ""


def _of_a_mac(seen: Look) -> int:
    """Gigabytes that macOS lets the GPU hold of those that the question names."""
    whole = int(_named_memory(seen) or 0)
    return whole * 2 // 3 if whole <= _SMALL_MAC else whole * 3 // 4


def _named_memory(seen: Look) -> str:
    """Gigabytes of a Mac: as the question has them, or of which what Metal lends is the usual share."""
    found = _GIGABYTES.search(spaced(seen.asked.near))
    lent = told_by_metal(seen) / _GIB
    small = round(lent * 3 / 2)
    return found[1] if found and int(found[1]) >= lent else str((small if small <= _SMALL_MAC else round(lent * 4 / 3)) or "")


def _mac_limit(seen: Look) -> str:
    """MiB that may be lent to the GPU beside a system that works: all but an eighth, and but 8 GB at least."""
    whole = int(_named_memory(seen) or 0)
    left = whole - max(8, whole // 8)
    return str(left * 1024) if left > _of_a_mac(seen) else ""


OF_MODELS: dict[str, Callable[[Look], Any]] = {
    "model": _model,
    "parameters": lambda seen: f"{parameters(seen):g}" if parameters(seen) else "",
    "type": _type,
    "likely_type": _likely_type,
    "weights": lambda seen: size_of(_weights(seen, _type(seen))),
    "weights_likely": lambda seen: size_of(_weights(seen, _likely_type(seen))),
    "weights_coarse": lambda seen: "" if _type(seen) else size_of(_weights(seen, _usual("coarse"))),
    "weights_fine": lambda seen: "" if _type(seen) else size_of(_weights(seen, _usual("fine"))),
    "coarse": lambda _seen: _usual("coarse"),
    "fine": lambda _seen: _usual("fine"),
    "left": lambda seen: size_of(_left(seen, _ROOM, 1)),
    "hardly_left": lambda seen: size_of(_left(seen, 0, _ROOM)),
    "short_of": lambda seen: size_of(-_left(seen, -1e9, 0)),
    "largest_coarse": _largest("coarse"),
    "largest_fine": _largest("fine"),
    "cache_of_a_token": lambda seen: f"{_token(seen) / 1024:.0f}" if _token(seen) else "",
    "context": _context,
    "context_that_fits": lambda seen: _asked_context(seen, fits=True),
    "context_too_long": lambda seen: _asked_context(seen, fits=False),
    "context_bytes": lambda seen: size_of(asked_tokens(seen) * _token(seen)),
    "rate_low": _rate(0),
    "rate_high": _rate(1),
    "bandwidth": lambda seen: f"{_rates(seen)[2] / 1e9:.0f}" if _rates(seen)[2] else "",
    "reads": lambda seen: f"{_read(seen) / 1e9:.1f}" if _told_bytes(seen) and _rates(seen)[0] else "",
    "rate_that_fits": lambda seen: _measured(seen, _LOW, 1e9),
    "rate_too_low": lambda seen: _measured(seen, 0.0, _LOW),
    "bandwidth_of_card": lambda seen: f"{_bandwidth(seen) / 1e9:.0f}" if _bandwidth(seen) else "",
    "slower_by_a_tenth": _slower(1 / 10),
    "slower_by_a_third": _slower(1 / 3),
    "share_of_peak": _share_of_peak,
    "peak": lambda seen: f"{_peak(seen) / 1e12:.0f}" if _peak(seen) else "",
    "tokens_an_hour": _tokens_an_hour,
    "cards_that_hold": _cards_that_hold,
    "named_memory": _named_memory,
    "share_of_a_mac": lambda seen: str(_of_a_mac(seen) or ""),
    "mac_limit": _mac_limit,
    "limit_is_right": lambda seen: "" if _mac_limit(seen) else _named_memory(seen),
    "lent_memory": lambda seen: size_of(lent_memory(seen)),
    "own_memory": lambda seen: size_of(0 if lent_memory(seen) else shown_memory(seen)),
}
