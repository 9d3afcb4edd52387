"""What a device should reach by its data sheet, and what others measured on such a one."""

from typing import Any

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.names import key_of

_TERA, _GIGA = 10**12, 10**9
# The matrix product's type → the columns that tell its peak, the first that is there.
_COLUMNS = {
    "float32": ("fp32_tflops",), "tf32": ("tf32_tensor_tflops", "tf32_matrix_tflops"),
    "float16": ("fp16_tensor_tflops", "fp16_matrix_tflops", "fp16_vector_tflops"),
    "bfloat16": ("bf16_tensor_tflops", "bf16_matrix_tflops"), "float8": ("fp8_tensor_tflops", "fp8_matrix_tflops"),
    "float64": ("fp64_tensor_tflops", "fp64_matrix_tflops", "fp64_tflops"),
}  # fmt: skip
_TABLES = (("gpus_nvidia", "gpu"), ("gpus_amd", "gpu"), ("gpus_intel", "gpu"), ("apple", "chip"))


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """A data sheet: operations a second by type, and bytes a second of its memory; what nobody says is left out."""

    rates: dict[str, float] = {}
    bandwidth: float | None = None
    source: str = ""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody measured: `rate` in operations (or bytes) a second."""

    device: str
    name: str
    type: str
    rate: float
    conditions: str = ""
    source: str = ""
    how: str = ""


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    variants: list[dict[str, Any]] = []
    memory_gib: Any = None
    bandwidth_gb_s: float | None = None
    fp32_tflops: float | None = None
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
            return _sheet(row, memory)
    return None


def _sheet(row: _Row, memory: int | None) -> Sheet:
    told = _nearest(row.variants, memory) if row.variants else msgspec.structs.asdict(row)
    rates = {kind: next((told[name] for name in names if told.get(name)), None) for kind, names in _COLUMNS.items()}
    bandwidth = told.get("bandwidth_gb_s")
    return Sheet(
        rates={kind: float(value) * _TERA for kind, value in rates.items() if value},
        bandwidth=float(bandwidth) * _GIGA if bandwidth else None, source=str(told.get("source") or row.source),
    )  # fmt: skip


def _nearest(variants: list[dict[str, Any]], memory: int | None) -> dict[str, Any]:
    size = (memory or 0) / 2**30
    return min(variants, key=lambda one: abs(float(one.get("memory_gib") or 0) - size)) if memory else variants[0]


def results(device: str) -> tuple[Result, ...]:
    """What others measured on a device of this name.

    Raises:
        KnowledgeError: the table is malformed.

    """
    wanted = key_of(device)
    found = (row for row in tables.rows("bench_results", "result", Result) if key_of(row.device) == wanted)
    return tuple(msgspec.structs.replace(row, rate=row.rate * _TERA) for row in found)
