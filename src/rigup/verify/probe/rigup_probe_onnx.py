"""What is measured of onnxruntime: each execution provider, against Python, and where its nodes really ran.

A provider that cannot be used is replaced by the CPU's without an error, so the profile is asked. An operator that a
provider has no code for may run on the CPU by design; the product and the convolution may not.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator

import onnxruntime
import rigup_probe_expected as reference
from rigup_probe_compare import LARGE, SHAPES, Found, product_error
from rigup_probe_expected import normal, rounded
from rigup_probe_onnx_cases import composed, fused, normalisation, unusual
from rigup_probe_onnx_integers import integers, quantized
from rigup_probe_onnx_model import Node
from rigup_probe_onnx_rows import rows_check
from rigup_probe_onnx_run import CPU, array, host, ran, session_of
from rigup_probe_onnx_session import numbers, repeated, sessions
from rigup_probe_tables.onnx_bytes import quantised
from rigup_probe_tables.onnx_elements import elements, rows
from rigup_probe_tables.onnx_moves import pictures, places, turns
from rigup_probe_tables.onnx_networks import TABLES as NETWORKS

_KINDS = {  # providers: what they are called here, and whose chips they serve
    "CUDAExecutionProvider": ("cuda", "nvidia"),
    "TensorrtExecutionProvider": ("tensorrt", "nvidia"),
    "NvTensorRTRTXExecutionProvider": ("tensorrt-rtx", "nvidia"),
    "ROCMExecutionProvider": ("rocm", "amd"),
    "MIGraphXExecutionProvider": ("migraphx", "amd"),
    "DmlExecutionProvider": ("directml", ""),
    "CoreMLExecutionProvider": ("coreml", "apple"),
    "OpenVINOExecutionProvider": ("openvino", "intel"),
    "QNNExecutionProvider": ("qnn", "qualcomm"),
    "WebGpuExecutionProvider": ("webgpu", ""),
}


def about() -> dict[str, Any]:
    """The build."""
    return {"version": onnxruntime.__version__, "build": {"providers": onnxruntime.get_available_providers()}}


def devices() -> list[Any]:
    """A device for each provider that the build has, the CPU's last."""
    found = [name for name in onnxruntime.get_available_providers() if name in _KINDS]
    gpus = [
        {"id": _KINDS[name][0] + ":0", "type": _KINDS[name][0], "index": 0, "vendor": _KINDS[name][1], "provider": name} for name in found
    ]
    return [*gpus, {"id": "cpu", "type": "cpu", "vendor": "", "provider": CPU}]


def checks(device: dict[str, Any], full: bool) -> Iterator[tuple[str, Callable[[dict[str, Any]], Any]]]:
    """What is measured with a provider."""
    device["full"] = full
    yield "matmul-float32", _product("float32")
    yield "matmul-float16", _product("float16")
    if device["type"] == "cpu":
        yield "matmul-float64", _product("float64")
    yield "convolution", convolution
    for tables in (elements, *NETWORKS, quantised, rows, turns, places, pictures):
        yield tables.__name__, rows_check(tables)
    for check in (fused, composed, normalisation, unusual, integers, quantized, repeated, sessions, numbers):
        yield check.__name__.replace("_", "-"), check


def _product(kind: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def measured(device: dict[str, Any]) -> dict[str, Any]:
        found, away = Found(), []  # type: Found, list[str]
        left, right = (rounded(kind, normal(seed, *shape)) for seed, shape in ((1, (9, 33)), (2, (33, 7))))
        plain = reference.matmul(left, right)
        given = {"a": array(left, kind), "b": array(right, kind)}
        bias = rounded(kind, normal(3, 7))
        gemm = Node("Gemm", ("a", "b", "c"), ("y",), {"alpha": 0.5, "beta": 2.0})
        (got,), places = ran(device, [Node("MatMul", ("a", "b"))], given, {"y": kind})
        found.near("MatMul " + kind, got, plain)
        away += places
        (got,), _places = ran(device, [gemm], dict(given, c=array(bias, kind)), {"y": kind})
        found.near("Gemm " + kind, got, [[0.5 * x + 2 * y for x, y in zip(row, bias)] for row in plain])
        turned = {"a": array(reference.turned(left), kind), "b": array(reference.turned(right), kind)}
        (got,), _places = ran(device, [Node("Gemm", ("a", "b"), ("y",), {"transA": 1, "transB": 1})], turned, {"y": kind})
        found.near("Gemm of transposes " + kind, got, plain)
        batch = {"a": array([left, [[-x for x in row] for row in left]], kind), "b": array(right, kind)}
        (got,), _places = ran(device, [Node("MatMul", ("a", "b"))], batch, {"y": kind})
        found.near("MatMul of a batch " + kind, got, [plain, [[-x for x in row] for row in plain]])
        (got,), _places = ran(device, [Node("MatMul", ("a", "w"))], {"a": given["a"]}, {"y": kind}, {"w": given["b"]})
        found.near("MatMul with weights " + kind, got, plain)
        for shape in (*SHAPES, *(LARGE if device["full"] or kind == "float32" else ())):
            left, right = (rounded(kind, normal(seed, *shape[seed : seed + 2])) for seed in (0, 1))
            (got,), places = ran(device, [Node("MatMul", ("a", "b"))], {"a": array(left, kind), "b": array(right, kind)}, {"y": kind})
            found.errors["MatMul " + str(shape) + " " + kind] = product_error(got, left, right)
            away += places
        return dict(found.measured(), elsewhere=list(dict.fromkeys(away)))

    return measured


def convolution(device: dict[str, Any]) -> dict[str, Any]:
    """Forward, in several forms: onnxruntime computes no gradients. Transposed and pooled beside."""
    found, away = Found(), []  # type: Found, list[str]
    kind = "float32"
    pictures, kernels, grouped = (rounded(kind, normal(*shape)) for shape in ((1, 2, 4, 9, 11), (2, 6, 4, 3, 3), (3, 8, 2, 3, 3)))
    bias = rounded(kind, normal(4, 6))
    forms = {
        "Conv": (kernels, {}, {}),
        "Conv with padding": (kernels, {"padding": 1}, {"pads": [1] * 4}),
        "Conv with strides": (kernels, {"stride": 2}, {"strides": [2, 2]}),
        "Conv with dilation": (kernels, {"dilation": 2}, {"dilations": [2, 2]}),
        "Conv of groups": (grouped, {"groups": 2}, {"group": 2}),
    }  # type: dict[str, Any]
    for name, (kernel, how, attributes) in forms.items():
        given = {"a": array(pictures, kind), "b": array(kernel, kind)}
        (got,), places = ran(device, [Node("Conv", ("a", "b"), ("y",), attributes)], given, {"y": kind})
        found.near(name + " " + kind, got, reference.conv2d(pictures, kernel, **how))
        away += places if name == "Conv" else []
    plain = reference.conv2d(pictures, kernels)
    given = {"a": array(pictures, kind)}
    nodes = [Node("Conv", ("a", "w", "c"), ("t",)), Node("Relu", ("t",))]
    (got,), _places = ran(device, nodes, given, {"y": kind}, {"w": array(kernels, kind), "c": array(bias, kind)})
    wanted = [[reference.each(lambda x, b=b: max(x + b, 0.0), channel) for channel, b in zip(picture, bias)] for picture in plain]
    found.near("Conv with bias and Relu " + kind, got, wanted)
    flipped = [[[row[::-1] for row in kernels[o][c][::-1]] for o in range(6)] for c in range(4)]
    (got,), _places = ran(device, [Node("ConvTranspose", ("a", "b"))], {"a": array(plain, kind), "b": array(kernels, kind)}, {"y": kind})
    found.near("ConvTranspose " + kind, got, reference.conv2d(plain, flipped, padding=2))
    for operator, function in (("MaxPool", max), ("AveragePool", reference.mean)):
        (got,), _places = ran(device, [Node(operator, ("a",), ("y",), {"kernel_shape": [2, 2], "strides": [2, 2]})], given, {"y": kind})
        found.near(operator + " " + kind, got, reference.pooled(pictures, function))
    (got,), _places = ran(device, [Node("GlobalAveragePool", ("a",))], given, {"y": kind})
    found.near(
        "GlobalAveragePool " + kind, got, [[[[reference.mean(reference.flat(channel))]] for channel in picture] for picture in pictures]
    )
    return dict(found.measured(), elsewhere=list(dict.fromkeys(away)))


__all__ = ["about", "checks", "devices", "host", "session_of"]
