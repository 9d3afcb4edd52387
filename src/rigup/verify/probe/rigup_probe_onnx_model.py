"""Models of ONNX, written byte by byte as protobuf has them: the package `onnx` need not be there.

Source of the numbers of fields and types: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

TYPES = {
    "float32": 1,
    "uint8": 2,
    "int8": 3,
    "uint16": 4,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "bool": 9,
    "float16": 10,
    "float64": 11,
    "uint32": 12,
    "uint64": 13,
}
_FLOAT, _INT, _STRING, _TENSOR, _FLOATS, _INTS = 1, 2, 3, 4, 6, 7  # kinds of attributes


class Node(NamedTuple):
    """One operator with the names of its inputs and outputs."""

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...] = ("y",)
    attributes: Any = None
    domain: str = ""


def model(nodes: list[Node], inputs: dict[str, Any], outputs: dict[str, str], held: dict[str, Any], opset: int) -> bytes:
    """The bytes of a model.

    Args:
        nodes: in the order in which they are computed.
        inputs: arrays, whose types and shapes are declared.
        outputs: the type of each.
        held: arrays that are part of the model.
        opset: the release of the operators' set.

    """
    graph = b"".join(_field(1, _node(number, node)) for number, node in enumerate(nodes)) + _field(2, b"g")
    graph += b"".join(_field(5, _tensor(name, value)) for name, value in held.items())
    graph += b"".join(_field(11, _value(name, str(array.dtype), array.shape)) for name, array in inputs.items())
    graph += b"".join(_field(12, _value(name, kind, None)) for name, kind in outputs.items())
    domains = {node.domain for node in nodes} - {""}
    sets = _field(8, _number(2, opset)) + b"".join(_field(8, _field(1, name_.encode()) + _number(2, 1)) for name_ in domains)
    return _number(1, 8) + _field(7, graph) + sets


def _node(number: int, node: Node) -> bytes:
    body = b"".join(_field(1, input_name.encode()) for input_name in node.inputs) + b"".join(
        _field(2, output_name.encode()) for output_name in node.outputs
    )
    body += _field(3, ("n" + str(number)).encode()) + _field(4, node.operator.encode())
    body += b"".join(_field(5, _attribute(name, value)) for name, value in (node.attributes or {}).items())
    return body + (_field(7, node.domain.encode()) if node.domain else b"")


def _attribute(name: str, value: Any) -> bytes:
    start = _field(1, name.encode())
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], float):
        return start + b"".join(_varint(7 << 3 | 5) + struct.pack("<f", v) for v in value) + _number(20, _FLOATS)
    if isinstance(value, str):
        return start + _field(4, value.encode()) + _number(20, _STRING)
    if isinstance(value, np.ndarray):
        return start + _field(5, _tensor("", value)) + _number(20, _TENSOR)
    if isinstance(value, (list, tuple)):
        return start + b"".join(_number(8, number) for number in value) + _number(20, _INTS)
    if isinstance(value, float):
        return start + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, _FLOAT)
    return start + _number(3, value) + _number(20, _INT)


def _tensor(name: str, value: Any) -> bytes:
    sizes = b"".join(_number(1, size) for size in value.shape)
    return sizes + _number(2, TYPES[str(value.dtype)]) + _field(8, name.encode()) + _field(9, np.ascontiguousarray(value).tobytes())


def _value(name: str, kind: str, shape: Any) -> bytes:
    """The declaration of an input or output; with a shape of None the session infers it."""
    sizes = b"".join(_field(1, _number(1, size)) for size in shape or ())
    tensor = _number(1, TYPES[kind]) + (_field(2, sizes) if shape is not None else b"")
    return _field(1, name.encode()) + _field(2, _field(1, tensor))


def _field(number: int, body: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(body)) + body


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    """Protobuf's varint: seven bits a byte, lowest first, the eighth set if more follow. Negative numbers as 64 bits."""
    value &= (1 << 64) - 1
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])
