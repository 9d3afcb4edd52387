"""What a device should reach by its data sheet, and what others measured on such a one."""

import re
from typing import Any

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.names import Key, key_of

_TERA, _GIGA = 10**12, 10**9
_SCALES = {"FLOP/s": _TERA, "B/s": _GIGA, "token/s": 1}  # the unit of a row's rate
# The matrix product's type → the columns that tell its peak, the first that is there.
_COLUMNS = {
    "float32": ("fp32_matrix_tflops", "fp32_tflops"),
    "tf32": ("tf32_tensor_tflops", "tf32_matrix_tflops"),
    "float16": ("fp16_tensor_tflops", "fp16_matrix_tflops", "fp16_vector_tflops"),
    "bfloat16": ("bf16_tensor_tflops", "bf16_matrix_tflops"),
    "float8": ("fp8_tensor_tflops", "fp8_matrix_tflops"),
    "float64": ("fp64_tensor_tflops", "fp64_matrix_tflops", "fp64_tflops"),
}
_ADDED = re.compile(r"@.{0,40}|\b\d{1,2}(?:st|nd|rd|th) gen\b|\b\d{1,3}-cores?\b|\b(?:cpu|processor|core)\b|\bw/ radeon.{0,20}")
_TABLES = (("gpus_nvidia", "gpu"), ("gpus_amd", "gpu"), ("gpus_intel", "gpu"), ("apple", "chip"))


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """A data sheet: operations a second by type, bytes a second of its memory, and watts of the board; what nobody says is left out."""

    rates: dict[str, float] = {}
    bandwidth: float | None = None
    watts: float | None = None
    source: str = ""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody measured: `rate` in operations, bytes or tokens a second, as `unit` tells; `kind` is gpu or cpu.

    `above_sheet` tells why it is more than the data sheet, where it is.
    """

    device: str
    kind: str = "gpu"
    name: str
    type: str = ""
    rate: float
    unit: str = "FLOP/s"
    conditions: str = ""
    above_sheet: str = ""
    source: str = ""
    how: str = ""


class Decode(msgspec.Struct, frozen=True, kw_only=True):
    """How fast an engine makes tokens, of a `kind` of model ("dense", "experts") on a backend.

    Attributes:
        fixed, layer: seconds of each token, and of each layer of it.
        share, low, high: how much of the memory's rate is reached, and its bounds.
        most_rate: tokens a second at the most; 0 where there is no bound.

    """

    kind: str
    fixed: float
    share: float
    low: float
    high: float
    most_rate: float = 0.0
    backend: str = ""
    layer: float = 0.0


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    variants: list[dict[str, Any]] = []
    memory_gib: Any = None
    bandwidth_gb_s: float | None = None
    tdp_w: float | None = None
    fp32_tflops: float | None = None
    fp32_matrix_tflops: float | None = None
    dies: int = 1
    tf32_tensor_tflops: float | None = None
    fp16_vector_tflops: float | None = None
    fp16_matrix_tflops: float | None = None
    bf16_matrix_tflops: float | None = None
    fp8_matrix_tflops: float | None = None
    fp64_tflops: float | None = None
    source: str = ""


def data_sheet(name: str, memory: int | None = None) -> Sheet | None:
    """The sheet of a product by the name that its driver gives; of several sizes the one whose memory is nearest, in bytes.

    Raises:
        KnowledgeError: a table is malformed.

    """
    wanted = key_of(name)
    for table, array in _TABLES:
        row = next((row for row in tables.rows(table, array, _Row) if key_of(row.name) == wanted), None)
        if row is not None:
            return _sheet(row, memory, table != "gpus_intel")
    return None


def _sheet(row: _Row, memory: int | None, by_vectors: bool) -> Sheet:
    """`by_vectors`: whether a chip of which only the vectors' rate is known has nothing that is faster."""
    sheet = _nearest(row.variants, memory) if row.variants else msgspec.structs.asdict(row)
    sheet = sheet if by_vectors else {**sheet, "fp16_vector_tflops": None}
    rates = {kind: next((sheet[name] for name in names if sheet.get(name)), None) for kind, names in _COLUMNS.items()}
    bandwidth, part = sheet.get("bandwidth_gb_s"), _part(sheet, memory)
    return Sheet(
        rates={kind: float(value) * _TERA / part for kind, value in rates.items() if value},
        bandwidth=float(bandwidth) * _GIGA / part if bandwidth else None,
        watts=sheet.get("tdp_w"),
        source=str(sheet.get("source") or row.source),
    )


def _part(sheet: dict[str, Any], memory: int | None) -> int:
    """Of a card with several dies each is a device of its own, with its part of the memory and of the sheet."""
    dies = int(sheet.get("dies") or 1)
    return dies if dies > 1 and memory and memory / 2**30 < 0.75 * float(sheet["memory_gib"]) else 1


def _nearest(variants: list[dict[str, Any]], memory: int | None) -> dict[str, Any]:
    size = (memory or 0) / 2**30
    return min(variants, key=lambda row: abs(float(row.get("memory_gib") or 0) - size)) if memory else variants[0]


def results(device: str, kind: str = "gpu") -> tuple[Result, ...]:
    """What others measured on a device of this name; a chip of Apple's is both kinds, gpu and cpu.

    Raises:
        KnowledgeError: the table is malformed.

    """
    wanted = _key(device, kind)
    found = (row for row in _results() if row.kind == kind and _key(row.device, kind) == wanted)
    return tuple(msgspec.structs.replace(row, rate=row.rate * _SCALES[row.unit]) for row in found)


def _key(name: str, kind: str) -> Key:
    """Systems add to a processor's name how many cores it has, its generation and its clock; graphics within it too."""
    return key_of(_ADDED.sub(" ", name.lower()) if kind == "cpu" else name)


def _results() -> tuple[Result, ...]:
    return tables.rows("bench_results", "result", Result)


def measured_names() -> list[str]:
    """Devices on which somebody measured, by name.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return sorted({row.device for row in _results()})


def kinds_of(name: str) -> list[str]:
    """Which kinds of device of this name somebody measured: gpu, cpu, both, or none.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return sorted({row.kind for row in _results() if _key(row.device, row.kind) == _key(name, row.kind)}, reverse=True)


def named(word: str) -> list[str]:
    """Devices that a person may mean: the one of that name, else those whose names end in its words, else that hold them.

    Raises:
        KnowledgeError: a table is malformed.

    """
    wanted = key_of(word)
    sheets = [row.name for table, array in _TABLES for row in tables.rows(table, array, _Row)]
    keys = {key_of(name): name for name in reversed([*measured_names(), *sheets])}
    if wanted in keys and wanted:
        return [keys[wanted]]
    found = {key: name for key, name in keys.items() if wanted and _holds(key, wanted)}
    return sorted(name for key, name in found.items() if key[-len(wanted) :] == wanted) or sorted(found.values())


def _holds(key: Key, wanted: Key) -> bool:
    return any(key[start : start + len(wanted)] == wanted for start in range(len(key) - len(wanted) + 1))
