"""The header of a GGUF file: what the model is, and which tensors it has. Written by strangers, so everything is bounded."""

import struct
from typing import Any, NamedTuple

from rigup.fit.errors import HeaderError
from rigup.fit.quants import block
from rigup.fit.source import Source
from rigup.fit.texts import ends_of_texts
from rigup.language import _

MAGIC = b"GGUF"
MOST_BYTES = 64 << 20  # of a header: the largest vocabularies take a quarter of it
_MOST_KEYS, _MOST_TENSORS = 1 << 16, 1 << 18
_MOST_NAME = 1 << 16
_MOST_TEXT = 8 << 20
_MOST_DEPTH = 2  # a list of lists; the format knows no reason for more
_KEPT = 1 << 12  # items of a list that are kept; of longer ones only the count
_MOST_DIMENSIONS = 4
_MOST_SIZE = 1 << 62
_TEXT, _LIST = 8, 9
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_ALIGNMENT = 32

Value = Any


class Tensor(NamedTuple):
    """A tensor of the header: its sizes, the innermost first, its type's number, and where its bytes begin."""

    name: str
    sizes: tuple[int, ...]
    kind: int
    offset: int
    bytes: int

    @property
    def numbers(self) -> int:
        """How many numbers it holds."""
        count = 1
        for size in self.sizes:
            count *= size
        return count


class Listed(NamedTuple):
    """A list that was too long to keep."""

    length: int


class Header(NamedTuple):
    """What a GGUF file has before its data.

    Attributes:
        keys: the model's metadata, by name; long lists as `Listed`.
        start: where the data begins.
        size: of the whole file.
        missing: bytes that the tensors need and the file has not.

    """

    version: int
    keys: dict[str, Value]
    tensors: tuple[Tensor, ...]
    start: int
    size: int
    missing: int = 0


def read_header(source: Source) -> Header:
    """The header at the beginning of a file.

    Raises:
        HeaderError: it is none, it is broken, or it asks for more than any model has.

    """
    reader = _Reader(source)
    version, tensors, keys = reader.beginning()
    values, infos = _rest(reader, {}, keys, tensors)
    alignment = _alignment(reader, values)
    start = -(-reader.at // alignment) * alignment
    end = start + max((tensor.offset + tensor.bytes for tensor in infos), default=0)
    return Header(version, values, infos, start, source.size, max(0, end - source.size))


def _rest(reader: "_Reader", values: dict[str, Value], keys: int, tensors: int) -> tuple[dict[str, Value], tuple[Tensor, ...]]:
    """What follows: so many keys, and the tensors."""
    while len(values) < keys:
        name = reader.text(_MOST_NAME)
        if name in values:
            raise reader.broken(_("the key {name} is told twice").format(name=name[:100]))
        try:
            values[name] = reader.value(reader.number("I"), 0)
        except _Far as far:
            return _after(reader, {**values, name: Listed(far.count)}, keys, tensors)
    alignment = _alignment(reader, values)
    infos = tuple(reader.tensor(alignment) for _number in range(tensors))
    _check(reader, infos)
    return values, infos


def _after(reader: "_Reader", values: dict[str, Value], keys: int, tensors: int) -> tuple[dict[str, Value], tuple[Tensor, ...]]:
    """The same behind a list of texts that is too long to come: of the places where it may end the one that all else fits."""
    problem = reader.broken(_("a text beyond the end of every header"))
    for end in ends_of_texts(reader.source, reader.at, reader.order):
        reader.at = end
        reader.source.step_to(end)
        try:
            return _rest(reader, dict(values), keys, tensors)
        except HeaderError as error:
            problem = error
    raise problem


def _alignment(reader: "_Reader", values: dict[str, Value]) -> int:
    alignment = values.get("general.alignment", _ALIGNMENT)
    if type(alignment) is not int or not 8 <= alignment <= 1 << 16 or alignment & (alignment - 1):
        raise reader.broken(_("the alignment is {value}").format(value=str(alignment)[:40]))
    return alignment


def _check(reader: "_Reader", tensors: tuple[Tensor, ...]) -> None:
    """No name twice, no byte of two tensors."""
    if len({tensor.name for tensor in tensors}) != len(tensors):
        raise reader.broken(_("two tensors have one name"))
    end = 0
    for tensor in sorted(tensors, key=lambda tensor: tensor.offset):
        if tensor.offset < end:
            raise reader.broken(_("the tensor {name} lies over another").format(name=tensor.name[:100]))
        end = tensor.offset + tensor.bytes


class _Far(Exception):
    """A list of so many texts would have to come whole, which is more than a header is worth."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


class _Reader:
    """A place in a source, and the byte order of what is read there."""

    def __init__(self, source: Source) -> None:
        self.source, self.at, self.order = source, 0, "<"

    def broken(self, problem: str) -> HeaderError:
        template = _("{name} is no whole GGUF file: {what} (byte {place}). Load it anew, or from another place.")
        return HeaderError(template.format(name=self.source.name, what=problem, place=self.at))

    def need(self, count: int) -> None:
        """That many bytes from here on."""
        if self.at + count > MOST_BYTES:
            raise self.broken(_("the header is larger than {size} MiB").format(size=MOST_BYTES >> 20))
        if self.at + count > len(self.source.buffer):
            self.source.need(self.at + count)

    def beginning(self) -> tuple[int, int, int]:
        """Version, number of tensors, number of keys."""
        self.need(24)
        start = bytes(self.source.buffer[:24])
        if start[:4] != MAGIC:
            raise self.not_gguf(start)
        little, big = (struct.unpack_from(order + "I", start, 4)[0] for order in "<>")
        if little not in (2, 3) and big in (2, 3):
            self.order, little = ">", big
        if little not in (2, 3):
            template = _("{name} is a GGUF file of version {version}; versions 2 and 3 can be read.")
            raise HeaderError(template.format(name=self.source.name, version=little))
        tensors, keys = struct.unpack_from(self.order + "QQ", start, 8)
        self.at = 8
        if tensors > _MOST_TENSORS or keys > _MOST_KEYS:
            raise self.broken(_("it tells of {tensors} tensors and {keys} keys").format(tensors=tensors, keys=keys))
        self.at = 24
        return little, tensors, keys

    def not_gguf(self, start: bytes) -> HeaderError:
        template = _("{name} is no GGUF file: it begins with {bytes}.")
        if start.startswith(b"version https://git-lfs"):
            template = _("{name} is a pointer of Git LFS, not the model itself: fetch it with `git lfs pull`.")
        return HeaderError(template.format(name=self.source.name, bytes=start[:4].hex(" ")))

    def number(self, form: str) -> Any:
        size = struct.calcsize(form)
        self.need(size)
        result = struct.unpack_from(self.order + form, self.source.buffer, self.at)[0]
        self.at += size
        return result

    def text(self, most: int) -> str:
        length = self.number("Q")
        if length > most:
            raise self.broken(_("a text of {count} bytes").format(count=length))
        self.need(length)
        data = bytes(self.source.buffer[self.at : self.at + length])
        self.at += length
        return data.decode("utf-8", "replace")

    def value(self, kind: int, depth: int) -> Value:
        if kind in _NUMBERS:
            return self.number(_NUMBERS[kind])
        if kind == _TEXT:
            return self.text(_MOST_TEXT)
        if kind != _LIST:
            raise self.broken(_("a value of the unknown kind {kind}").format(kind=kind))
        if depth >= _MOST_DEPTH:
            raise self.broken(_("lists within lists within lists"))
        return self.items(self.number("I"), self.number("Q"), depth)

    def items(self, kind: int, count: int, depth: int) -> Value:
        """A list: short ones as they are, of long ones the count."""
        if count > MOST_BYTES:
            raise self.broken(_("a list of {count} items").format(count=count))
        if kind in _NUMBERS:
            return self.numbers(_NUMBERS[kind], count)
        if kind == _TEXT and count > _KEPT:
            self.step_over(count)
            return Listed(count)
        values = [self.value(kind, depth + 1) for _number in range(min(count, _KEPT))]
        for _number in range(count - len(values)):
            self.value(kind, depth + 1)
        return values if count <= _KEPT else Listed(count)

    def numbers(self, form: str, count: int) -> Value:
        """Numbers have one size: long lists are stepped over."""
        size = struct.calcsize(form) * count
        if count > _KEPT:
            if self.at + size > min(MOST_BYTES, self.source.size or MOST_BYTES):
                raise self.broken(_("a list of {count} items").format(count=count))
            self.at += size
            self.source.step_to(self.at)
            return Listed(count)
        self.need(size)
        here, self.at = self.at, self.at + size
        return list(struct.unpack_from(f"{self.order}{count}{form}", self.source.buffer, here))

    def step_over(self, count: int) -> None:
        """Texts, which have to be walked; a vocabulary has hundreds of thousands."""
        length_at, all_of_them = struct.Struct(self.order + "Q").unpack_from, count
        while count:
            if self.source.enough and self.at > self.source.enough:
                raise _Far(all_of_them)
            here, buffer = self.at, self.source.buffer
            end = min(len(buffer), MOST_BYTES) - 8
            while count and here <= end:
                here += 8 + length_at(buffer, here)[0]
                count -= 1
            if here > MOST_BYTES:
                raise self.broken(_("a text beyond the end of every header"))
            self.at = here
            self.need(8 if count else 0)

    def tensor(self, alignment: int) -> Tensor:
        name = self.text(_MOST_NAME)
        dimensions = self.number("I")
        if not 1 <= dimensions <= _MOST_DIMENSIONS:
            raise self.broken(_("{name} has {count} dimensions").format(name=name[:100], count=dimensions))
        sizes = tuple(self.number("Q") for _number in range(dimensions))
        kind, offset = self.number("I"), self.number("Q")
        result = Tensor(name, sizes, kind, offset, 0)
        if not 0 < result.numbers < _MOST_SIZE:
            raise self.broken(_("{name} has the sizes {sizes}").format(name=name[:100], sizes=sizes))
        row = block(kind)
        if row is None:
            raise self.broken(_("{name} has the unknown type {kind}").format(name=name[:100], kind=kind))
        if sizes[0] % row.weights or offset % alignment or offset > _MOST_SIZE:
            raise self.broken(_("{name} does not lie as its type asks").format(name=name[:100]))
        return result._replace(bytes=result.numbers // row.weights * row.bytes)
