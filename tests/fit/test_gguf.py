"""Headers of GGUF files: what they say, and that strangers' ones do no harm."""

import struct
import tracemalloc
from pathlib import Path

import ggufs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.fit.errors import HeaderError
from rigup.fit.gguf import Listed, read_header
from rigup.fit.source import Held, Local

_SMALL = ggufs.header(*ggufs.llama(64, 2, 4, 2, 160, 512, 128, 16))[0]
_MOST_MEMORY = 32 << 20


def _read(content):
    return read_header(Held(bytes(content), "model.gguf", 1 << 40))


def test_a_header_tells_its_keys_its_tensors_and_where_the_data_begins(tmp_path: Path) -> None:
    keys, tensors = ggufs.llama(64, 2, 4, 2, 160, 512, 128, 16)
    path = ggufs.write(tmp_path / "model.gguf", keys, tensors)
    header = read_header(Local(path))
    assert header.keys["general.architecture"] == "llama"
    assert header.keys["llama.attention.layer_norm_rms_epsilon"] == pytest.approx(1e-5)
    assert [(one.name, one.sizes) for one in header.tensors] == [(name, sizes) for name, sizes, _kind in tensors]
    assert header.start % 32 == 0
    assert header.start + max(one.offset + one.bytes for one in header.tensors) <= header.size
    assert header.missing == 0


def test_a_header_without_its_data_is_read_and_tells_what_is_missing() -> None:
    header = read_header(Held(_SMALL, "model.gguf"))
    assert header.missing == sum(-(-one.bytes // 32) * 32 for one in header.tensors[:-1]) + header.tensors[-1].bytes


def test_a_large_vocabulary_is_walked_and_counted() -> None:
    keys, tensors = ggufs.llama(64, 1, 4, 2, 160, 512, 128, 16)
    keys["tokenizer.ggml.tokens"] = [f"token{number}" for number in range(70_000)]
    keys["tokenizer.ggml.token_type"] = list(range(70_000))
    header = _read(ggufs.header(keys, tensors)[0])
    assert header.keys["tokenizer.ggml.tokens"] == Listed(70_000)
    assert header.keys["tokenizer.ggml.token_type"] == Listed(70_000)
    assert len(header.tensors) == len(tensors)


def test_a_file_of_a_hundred_gigabytes_costs_no_more_than_its_header(tmp_path: Path) -> None:
    path = ggufs.write(tmp_path / "model.gguf", *ggufs.llama(64, 2, 4, 2, 160, 512, 128, 16))
    try:
        with path.open("r+b") as file:
            file.truncate(100 << 30)
    except OSError:
        pytest.skip("this file system has no holes of that size")
    tracemalloc.start()
    header = read_header(Local(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert header.size == 100 << 30
    assert peak < 1 << 20


def test_files_of_the_other_byte_order_are_read() -> None:
    key = struct.pack(">Q", 20) + b"general.architecture" + struct.pack(">I", 8) + struct.pack(">Q", 5) + b"llama"
    header = _read(b"GGUF" + struct.pack(">IQQ", 3, 0, 1) + key)
    assert header.keys == {"general.architecture": "llama"}


@given(st.integers(0, len(_SMALL) - 1))
def test_a_header_that_is_cut_off_anywhere_is_told_as_such(end: int) -> None:
    aligned = len(_SMALL.rstrip(b"\0")) <= end  # what is cut then is what fills up to the data
    if not aligned:
        with pytest.raises(HeaderError):
            read_header(Held(_SMALL[:end], "model.gguf"))


@given(st.lists(st.tuples(st.integers(0, len(_SMALL) - 1), st.integers(0, 255)), min_size=1, max_size=8))
def test_a_spoilt_header_is_read_or_told_and_never_takes_much_memory(places: list[tuple[int, int]]) -> None:
    spoilt = bytearray(_SMALL)
    for place, byte in places:
        spoilt[place] = byte
    tracemalloc.start()
    try:
        _read(spoilt)
    except HeaderError as error:
        assert "model.gguf" in str(error)  # noqa: PT017  (it may as well be read)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < _MOST_MEMORY


@given(st.binary(max_size=400))
def test_any_bytes_after_the_magic_are_read_or_told(rest: bytes) -> None:
    try:
        _read(b"GGUF" + struct.pack("<I", 3) + rest)
    except HeaderError:
        return


def _with(keys=b"", count=0, tensors=b"", number=0):
    return b"GGUF" + struct.pack("<IQQ", 3, number, count) + keys + tensors + bytes(64)


_NAME = ggufs.text("a.key")
_HOSTILE = {
    "another magic": b"PK\x03\x04" + bytes(40),
    "a version of its own": b"GGUF" + struct.pack("<IQQ", 77, 0, 0),
    "more keys than there are bytes": _with(count=1 << 63),
    "more tensors than any model has": _with(number=(1 << 64) - 1),
    "a key of 2^63 bytes": _with(struct.pack("<Q", 1 << 63), 1),
    "a text of 2^62 bytes": _with(_NAME + struct.pack("<IQ", 8, 1 << 62), 1),
    "a list of 2^60 numbers": _with(_NAME + struct.pack("<IIQ", 9, 4, 1 << 60), 1),
    "a list of 2^60 texts": _with(_NAME + struct.pack("<IIQ", 9, 8, 1 << 60), 1),
    "a list of ten million texts of which there are none": _with(_NAME + struct.pack("<IIQ", 9, 8, 10_000_000), 1),
    "lists within lists without an end": _with(_NAME + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 900, 1),
    "a kind of value that nobody knows": _with(_NAME + struct.pack("<I", 99), 1),
    "one key twice": _with((_NAME + ggufs.value(1)) * 2, 2),
    "an alignment of nought": _with(ggufs.text("general.alignment") + ggufs.value(0), 1),
    "an alignment that is no power of two": _with(ggufs.text("general.alignment") + ggufs.value(48), 1),
    "no dimensions": _with(tensors=ggufs.text("t") + struct.pack("<IIQ", 0, 0, 0), number=1),
    "nine dimensions": _with(tensors=ggufs.info("t", (1,) * 9, 0, 0), number=1),
    "a dimension of nought": _with(tensors=ggufs.info("t", (0, 4), 0, 0), number=1),
    "more numbers than 64 bits count": _with(tensors=ggufs.info("t", (1 << 40, 1 << 40), 0, 0), number=1),
    "a type that nobody knows": _with(tensors=ggufs.info("t", (32,), 4000, 0), number=1),
    "rows that are no whole blocks": _with(tensors=ggufs.info("t", (100, 4), 12, 0), number=1),
    "an odd offset": _with(tensors=ggufs.info("t", (32,), 0, 7), number=1),
    "tensors over each other": _with(tensors=ggufs.info("t", (64,), 0, 0) + ggufs.info("u", (64,), 0, 32), number=2),
    "two tensors of one name": _with(tensors=ggufs.info("t", (8,), 0, 0) + ggufs.info("t", (8,), 0, 32), number=2),
}


@pytest.mark.parametrize("what", _HOSTILE)
def test_hostile_headers_are_told_in_bounded_memory(what: str) -> None:
    tracemalloc.start()
    with pytest.raises(HeaderError, match=r"model\.gguf"):
        _read(_HOSTILE[what])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < _MOST_MEMORY


def test_a_pointer_of_git_lfs_is_told_as_what_it_is() -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 4920000000\n"
    with pytest.raises(HeaderError, match="git lfs pull"):
        _read(pointer)
