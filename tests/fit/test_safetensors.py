"""Headers of safetensors files: whole ones, broken ones, and those that strangers made."""

import json
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.fit.errors import HeaderError
from rigup.fit.safetensors import by_kind, read_weights, shards_of, weights_of_folder
from rigup.fit.source import Held


def header(entries: object) -> bytes:
    body = json.dumps(entries).encode() if not isinstance(entries, bytes) else entries
    return struct.pack("<Q", len(body)) + body


def entry(begin: int, *sizes: int, kind: str = "F16", each: int = 2) -> dict:
    count = 1
    for size in sizes:
        count *= size
    return {"dtype": kind, "shape": list(sizes), "data_offsets": [begin, begin + count * each]}


def _read(entries: object, size: int | None = None):
    head = header(entries)
    return read_weights(Held(head, "model.safetensors", len(head) + size if size is not None else 1 << 50))


def test_tensors_are_read_with_their_types_and_sizes() -> None:
    found = _read({"__metadata__": {"format": "pt"}, "a": entry(0, 4, 8), "b": entry(64, 3, kind="F32", each=4)}, 76)
    assert [(one.name, one.kind, one.sizes, one.bytes) for one in found.tensors] == [("a", "F16", (4, 8), 64), ("b", "F32", (3,), 12)]
    assert found.missing == 0
    assert by_kind(found.tensors) == {"F16": 64, "F32": 12}


def test_a_file_that_broke_off_tells_what_is_missing() -> None:
    assert _read({"a": entry(0, 1024)}, 1000).missing == 1048


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"a": entry(0, 4), "b": entry(4, 4)}, "lies over another"),
        ({"a": {"dtype": "F16", "shape": [4]}}, "does not tell"),
        ({"a": {"dtype": "F99", "shape": [4], "data_offsets": [0, 8]}}, "unknown type"),
        ({"a": entry(0, 4, kind="F32")}, "as its type asks"),
        ({"a": {"dtype": "F16", "shape": [-4], "data_offsets": [0, 8]}}, "has the sizes"),
        ({"a": entry(2**61, 4)}, "safetensors"),
        ({"a": {"dtype": "F16", "shape": [2**63], "data_offsets": [0, 8]}}, "sizes"),
        ({"a": {"dtype": "U8", "shape": [2**62, 2**62], "data_offsets": [0, 8]}}, "sizes"),
        ({"a": {"dtype": "F16", "shape": [4], "data_offsets": [8, 0]}}, "as its type asks"),
        (b"[1, 2]", "safetensors"),
        (b"{", "safetensors"),
        (b"[" * 100_000, "safetensors"),
        ({"a": {"dtype": "F16", "shape": [1] * 99, "data_offsets": [0, 2]}}, "sizes"),
    ],
)
def test_what_no_model_has_is_a_clear_error(entries: object, said: str) -> None:
    with pytest.raises(HeaderError, match=said):
        _read(entries)


@pytest.mark.parametrize(
    "start", [b"", b"\x01", struct.pack("<Q", 2**63) + b"{}", struct.pack("<Q", 2**64 - 1), struct.pack("<Q", 0), b"GGUF\x03\0\0\0" * 4]
)
def test_what_is_no_header_is_told(start: bytes) -> None:
    with pytest.raises(HeaderError):
        read_weights(Held(start, "model.safetensors"))


@given(st.binary(max_size=400))
def test_any_bytes_are_a_header_or_a_clear_error(raw: bytes) -> None:
    for head in (raw, header(raw or b"{}")):
        try:
            assert read_weights(Held(head, "x", len(head))).bytes >= 0
        except HeaderError as error:
            assert str(error)  # noqa: PT017  (whatever it is, it is told)


_numbers = st.one_of(st.integers(-8, 8), st.sampled_from([2**31, 2**53, 2**62, 2**63 - 1, -(2**63), 2**64]))
_entries = st.fixed_dictionaries(
    {},
    optional={
        "dtype": st.sampled_from(["F16", "F32", "U8", "F4", "?"]),
        "shape": st.lists(_numbers, max_size=4),
        "data_offsets": st.tuples(_numbers, _numbers).map(list),
    },
)


@given(st.dictionaries(st.text(max_size=8), _entries, max_size=6))
def test_any_numbers_are_tensors_that_do_not_overlap_or_a_clear_error(entries: dict) -> None:
    try:
        found = _read(entries)
    except HeaderError as error:
        assert str(error)  # noqa: PT017
        return
    assert all(one.bytes >= 0 for one in found.tensors)


def test_an_index_names_files_beside_it_and_no_others(tmp_path: Path) -> None:
    assert shards_of(b'{"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}', "i") == (
        "model-1.safetensors",
        "model-2.safetensors",
    )
    for name in ("../secret.safetensors", "/etc/passwd", "a\\0.safetensors", ".safetensors", "x.bin", ""):
        with pytest.raises(HeaderError):
            shards_of(json.dumps({"weight_map": {"a": name}}).encode(), "i")
    for number, sizes in ((1, (4,)), (2, (8,))):
        head = header({f"t{number}": entry(0, *sizes)})
        (tmp_path / f"model-{number}.safetensors").write_bytes(head + bytes(2 * sizes[0]))
    (tmp_path / "other.safetensors").write_bytes(b"no header")
    index = {"weight_map": {"t1": "model-1.safetensors", "t2": "model-2.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert [one.name for one in weights_of_folder(tmp_path)] == ["t1", "t2"]
    (tmp_path / "model-2.safetensors").unlink()
    with pytest.raises(HeaderError, match="cannot be read"):
        weights_of_folder(tmp_path)
