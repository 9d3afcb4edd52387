"""The header of a safetensors file: its tensors with their types and places. Written by strangers, so everything is bounded."""

import re
from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path
from typing import NamedTuple

import msgspec

from rigup.fit.errors import HeaderError
from rigup.fit.source import Local, Source
from rigup.language import _

MOST_BYTES = 16 << 20  # of a header; those of the largest models take a hundredth of it
_MOST_TENSORS = 1 << 17
_MOST_SIZE = 1 << 50
_MOST_DIMENSIONS = 16
_MOST_SHARDS = 1000
_SHARD = re.compile(r"[^/\\\0]{1,200}\.safetensors")
_VARIANT = re.compile(r"\.(?:fp16|bf16|fp32|fp8|non_ema|ema)(?=[.-])")
_BITS = {
    "BOOL": 8,
    "U8": 8,
    "I8": 8,
    "F8_E5M2": 8,
    "F8_E4M3": 8,
    "F8_E8M0": 8,
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "C64": 64,
    "F64": 64,
    "I64": 64,
    "U64": 64,
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8,
}


class _Entry(msgspec.Struct):
    dtype: str | None = None
    shape: list[int] | None = None
    data_offsets: tuple[int, int] | None = None


class _Index(msgspec.Struct):
    weight_map: dict[str, str]


class Weight(NamedTuple):
    """A tensor: its sizes, the outermost first, and the bytes that it takes."""

    name: str
    kind: str
    sizes: tuple[int, ...]
    bytes: int


class Weights(NamedTuple):
    """What a file has before its data."""

    tensors: tuple[Weight, ...]
    size: int
    missing: int = 0

    @property
    def bytes(self) -> int:
        """All tensors together."""
        return sum(tensor.bytes for tensor in self.tensors)


def read_weights(source: Source) -> Weights:
    """The header at the beginning of a file.

    Raises:
        HeaderError: it is none, it is broken, or it asks for more than any model has.

    """
    source.need(8)
    length = int.from_bytes(source.buffer[:8], "little")
    if not 2 <= length <= MOST_BYTES:
        template = _("{name} is no safetensors file: its header would have {count} bytes, and no model's has more than {most}.")
        raise HeaderError(template.format(name=source.name, count=length, most=MOST_BYTES))
    source.need(8 + length)
    try:
        entries = msgspec.json.decode(bytes(source.buffer[8 : 8 + length]), type=dict[str, _Entry])
    except (ValueError, RecursionError) as error:
        raise _broken(source, str(error)[:200]) from error
    entries.pop("__metadata__", None)
    if len(entries) > _MOST_TENSORS:
        raise _broken(source, _("it tells of {count} tensors").format(count=len(entries)))
    spans = sorted(_span(source, name, entry) for name, entry in entries.items())
    end = 0
    for begin, stop, weight in spans:
        if begin < end:
            raise _broken(source, _("the tensor {name} lies over another").format(name=weight.name[:100]))
        end = max(end, stop)
    present = source.size - 8 - length if source.size else end
    return Weights(tuple(weight for _begin, _stop, weight in spans), source.size, max(0, end - present))


def _broken(source: Source, problem: str) -> HeaderError:
    template = _("{name} is no whole safetensors file: {what}. Load it anew, or from another place.")
    return HeaderError(template.format(name=source.name, what=problem))


def _span(source: Source, name: str, entry: _Entry) -> tuple[int, int, Weight]:
    """Where a tensor lies, and what it is; its sizes and its place have to agree."""
    if entry.dtype is None or entry.shape is None or entry.data_offsets is None:
        raise _broken(source, _("of the tensor {name} it does not tell type, sizes and place").format(name=name[:100]))
    begin, stop = entry.data_offsets
    bits = _BITS.get(entry.dtype)
    if bits is None:
        raise _broken(source, _("{name} has the unknown type {kind}").format(name=name[:100], kind=entry.dtype[:40]))
    if len(entry.shape) > _MOST_DIMENSIONS or any(size < 0 for size in entry.shape) or prod(entry.shape) > _MOST_SIZE:
        raise _broken(source, _("{name} has the sizes {sizes}").format(name=name[:100], sizes=str(entry.shape)[:100]))
    if not 0 <= begin <= stop < _MOST_SIZE or (stop - begin) * 8 != prod(entry.shape) * bits:
        raise _broken(source, _("{name} does not lie as its type asks").format(name=name[:100]))
    return begin, stop, Weight(name, entry.dtype, tuple(entry.shape), stop - begin)


def shards_of(text: bytes, name: str) -> tuple[str, ...]:
    """The files that an index (model.safetensors.index.json) names. Raises HeaderError for one that is none."""
    try:
        index = msgspec.json.decode(text, type=_Index)
    except (ValueError, RecursionError) as error:
        raise HeaderError(_("{name} is no index of safetensors: {why}.").format(name=name[:200], why=str(error)[:200])) from error
    files = sorted(set(index.weight_map.values()))
    odd = [file for file in files if not _SHARD.fullmatch(file) or file.startswith(".")]
    if odd or not files or len(files) > _MOST_SHARDS:
        template = _("{name} names {file}, which is no file beside it.")
        raise HeaderError(template.format(name=name[:200], file=(odd or files or ["-"])[0][:100] or '""'))
    return tuple(files)


def plain_files(names: Iterable[str]) -> list[str]:
    """Of files that hold the same weights in several forms (`model.fp16.safetensors`) those that are loaded where nobody names one."""
    by_form: dict[str, list[str]] = {}
    for name in sorted(names):
        form = _VARIANT.search(name)
        by_form.setdefault(form[0] if form else "", []).append(name)
    return by_form.get("") or next(iter(by_form.values()), [])


def weights_of_folder(folder: Path) -> tuple[Weight, ...]:
    """The tensors of a folder's safetensors: those that its index names, else all.

    Raises:
        HeaderError: one of them cannot be read, or is not there.

    """
    indices = plain_files(path.name for path in folder.glob("*.safetensors.index.json"))
    if indices:
        with (folder / indices[0]).open("rb") as file:
            names: Iterable[str] = shards_of(file.read(MOST_BYTES), indices[0])
    else:
        names = plain_files(path.name for path in folder.glob("*.safetensors"))
    return tuple(weight for name in names for weight in read_weights(Local(folder / name)).tensors)


def by_kind(tensors: Iterable[Weight]) -> Mapping[str, int]:
    """Bytes by type, most first."""
    sizes: dict[str, int] = {}
    for tensor in tensors:
        sizes[tensor.kind] = sizes.get(tensor.kind, 0) + tensor.bytes
    return dict(sorted(sizes.items(), key=lambda pair: -pair[1]))
