"""What is measured of onnxruntime: each execution provider, against NumPy, and where its nodes really ran.

A provider that cannot be used is replaced by the CPU's without an error, so the profile is asked. The models are
written here, byte by byte: the package `onnx` need not be there.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Callable, Iterator

import numpy as np
import onnxruntime
from rigup_probe_numpy import convolved, error, normal, product

_KINDS = {  # providers: what they are called here, and whose chips they serve
    "CUDAExecutionProvider": ("cuda", "nvidia"), "TensorrtExecutionProvider": ("tensorrt", "nvidia"),
    "NvTensorRTRTXExecutionProvider": ("tensorrt-rtx", "nvidia"), "ROCMExecutionProvider": ("rocm", "amd"),
    "MIGraphXExecutionProvider": ("migraphx", "amd"), "DmlExecutionProvider": ("directml", ""),
    "CoreMLExecutionProvider": ("coreml", "apple"), "OpenVINOExecutionProvider": ("openvino", "intel"),
    "QNNExecutionProvider": ("qnn", "qualcomm"), "WebGpuExecutionProvider": ("webgpu", ""),
}  # fmt: skip
_CPU = "CPUExecutionProvider"
_FLOAT, _HALF = 1, 10  # ONNX's numbers of types
_ELEMENTS = {_FLOAT: np.float32, _HALF: np.float16}


def about() -> dict[str, Any]:
    """The build."""
    return {"version": onnxruntime.__version__, "build": {"providers": onnxruntime.get_available_providers()}}


def devices() -> list[Any]:
    """A device for each provider that the build has, the CPU's last."""
    found = [name for name in onnxruntime.get_available_providers() if name in _KINDS]
    told = [{"id": _KINDS[name][0] + ":0", "type": _KINDS[name][0], "index": 0, "vendor": _KINDS[name][1], "provider": name}
            for name in found]  # fmt: skip
    return [*told, {"id": "cpu", "type": "cpu", "vendor": "", "provider": _CPU}]


def checks(device: dict[str, Any], full: bool) -> Iterator[tuple[str, Callable[[dict[str, Any]], Any]]]:  # noqa: ARG001
    """What is measured with a provider."""
    yield "matmul-float32", _product(_FLOAT)
    yield "matmul-float16", _product(_HALF)
    yield "convolution", convolution


def _product(kind: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def measured(device: dict[str, Any]) -> dict[str, Any]:
        away = []  # type: list[str]

        def multiplied(left: Any, right: Any) -> Any:
            given = {name: one.astype(_ELEMENTS[kind]) for name, one in (("a", left), ("b", right))}
            got, places = _ran(device, "MatMul", given, kind)
            away.extend(places)
            return got

        told = product(lambda one: one.astype(_ELEMENTS[kind]).astype(np.float64), multiplied)
        return dict(told, elsewhere=list(dict.fromkeys(away)))

    return measured


def convolution(device: dict[str, Any]) -> dict[str, Any]:
    """Forward: onnxruntime computes no gradients."""
    pictures, kernels = (normal(*one).astype(np.float32) for one in ((1, 2, 8, 17, 23), (2, 12, 8, 3, 3)))
    got, places = _ran(device, "Conv", {"a": pictures, "b": kernels}, _FLOAT)
    return {
        "errors": {"result": error(got, convolved(pictures.astype(np.float64), kernels.astype(np.float64)))},
        "elsewhere": places,
    }


def _ran(device: dict[str, Any], operator: str, given: dict[str, Any], kind: int) -> tuple[Any, list[Any]]:
    """The result of one operator, and nodes that ran with another provider than the one that was asked."""
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    options.log_severity_level = 2
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = os.path.join(folder, "profile")
        settings = {} if device["type"] in ("cpu", "coreml", "openvino") else {"device_id": "0"}
        session = onnxruntime.InferenceSession(_model(operator, given, kind), options, [(device["provider"], settings)])
        got = session.run(None, given)[0]
        with open(session.end_profiling(), encoding="utf-8") as file:
            events = json.load(file)
    used = [
        (one["args"].get("op_name", "?"), one["args"]["provider"])
        for one in events
        if one.get("args", {}).get("provider")
    ]
    away = [name + " with " + where for name, where in used if where != device["provider"]]
    missing = device["provider"] not in session.get_providers()
    return got, list(dict.fromkeys([*away, *([operator + " with " + session.get_providers()[0]] if missing else [])]))


# -- a model as protobuf writes it: fields of a number and a kind, each with its length


def _model(operator: str, given: dict[str, Any], kind: int) -> bytes:
    """One node with inputs a and b and the output y."""
    inputs = b"".join(_field(11, _value(name, kind, one.shape)) for name, one in given.items())
    node = _field(1, b"a") + _field(1, b"b") + _field(2, b"y") + _field(3, b"n") + _field(4, operator.encode())
    graph = _field(1, node) + _field(2, b"g") + inputs + _field(12, _value("y", kind, ()))
    return _number(1, 8) + _field(7, graph) + _field(8, _number(2, 13))


def _value(name: str, kind: int, shape: tuple[int, ...]) -> bytes:
    sizes = b"".join(_field(1, _number(1, size)) for size in shape)
    tensor = _number(1, kind) + (_field(2, sizes) if shape else b"")
    return _field(1, name.encode()) + _field(2, _field(1, tensor))


def _field(number: int, body: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(body)) + body


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; the eighth tells that more follow."""
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])
