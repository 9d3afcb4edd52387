"""One small call of each known package, with its expected result."""

from __future__ import annotations

import importlib
import math
import os
import tempfile
from typing import Any, Callable, Iterator

import rigup_probe_expected as reference
from rigup_probe import Skip
from rigup_probe_compare import Found, error
from rigup_probe_expected import normal, rounded

_EIGHT_BITS = 0.06  # of a result's size, that weights in eight bits may move it by
Device = Any
Call = Callable[[Any], Any]


def calls_of(package: str, device: Device) -> Iterator[tuple[str, Call]]:
    """The calls of a package that are for this device, each with a name."""
    for name, places, call in _CALLS.get(package, ()):
        if places == "any" or (places == "cpu") == (device["type"] == "cpu"):
            yield name, call


def _tensor(device: Device, values: Any, kind: str = "float32") -> Any:
    import torch

    return torch.tensor(values, dtype=getattr(torch, kind), device=device["id"])


def _of(name: str) -> Any:
    return importlib.import_module(name)


def nms(device: Device) -> dict[str, Any]:
    """Boxes that overlap a better one by more than half are dropped; and boxes cut out of a slope have its means."""
    found = Found()
    boxes = [
        [float(x), float(y), float(x + 8 + n % 3), float(y + 8)]
        for n, (x, y) in enumerate((a, b) for a in range(0, 24, 3) for b in range(0, 24, 3))
    ]
    scores = [(37 * n % 101) / 101 for n in range(len(boxes))]
    kept = []  # type: list[int]
    for n in sorted(range(len(boxes)), key=lambda n: -scores[n]):
        if all(_overlap(boxes[n], boxes[m]) <= 0.5 for m in kept):
            kept.append(n)
    ops = _of("torchvision.ops")
    got = ops.nms(_tensor(device, boxes), _tensor(device, scores), 0.5)
    found.exact("nms", got.tolist(), kept)
    slope = _tensor(device, [[[[float(j) for j in range(12)] for _i in range(12)]]])
    cut = ops.roi_align(slope, [_tensor(device, [[0.0, 0.0, 4.0, 4.0]])], output_size=2, sampling_ratio=2)
    found.near("roi_align float32", cut.cpu().tolist(), [[[[1.0, 3.0], [1.0, 3.0]]]])
    return dict(found.measured())


def _overlap(first: list[float], other: list[float]) -> float:
    wide = max(0.0, min(first[2], other[2]) - max(first[0], other[0]))
    both = wide * max(0.0, min(first[3], other[3]) - max(first[1], other[1]))
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (first, other)]
    return both / (sum(areas) - both)


def lfilter(device: Device) -> dict[str, Any]:
    """A filter that halves the previous value."""
    found = Found()
    functional = _of("torchaudio.functional")
    pulse = _tensor(device, [1.0] + [0.0] * 7)
    got = functional.lfilter(pulse, _tensor(device, [1.0, -0.5]), _tensor(device, [1.0, 0.0]), clamp=False)
    found.near("lfilter float32", got.cpu().tolist(), [0.5**n for n in range(8)])
    return dict(found.measured())


def attention_of(module: str, name: str, causal: dict[str, Any]) -> Call:
    """Fused attention in half precision, on tensors of (batch, position, head, width)."""

    def measured(device: Device) -> dict[str, Any]:
        found = Found()
        query, key, value = (rounded("float16", normal(seed, 32, 64)) for seed in (1, 2, 3))
        given = [_tensor(device, matrix, "float16")[None, :, None].contiguous() for matrix in (query, key, value)]
        function = getattr(_of(module), name)
        for label, how, seen in (("", {}, None), (" causal", causal, lambda i, j: j <= i)):
            more = {word: make() if callable(make) else make for word, make in how.items()}
            got = function(*given, **more)[0, :, 0]
            found.near(name + label + " float16", got.float().cpu().tolist(), reference.attention(query, key, value, seen))
        return dict(found.measured())

    return measured


def _lower_triangle() -> Any:
    return _of("xformers.ops").LowerTriangularMask()


def blockwise(device: Device) -> dict[str, Any]:
    """To eight bits by blocks and back: no number moves by more than a step of its block."""
    functional = _of("bitsandbytes.functional")
    values = rounded("float32", normal(1, 4096))
    try:
        packed, state = functional.quantize_blockwise(_tensor(device, values))
        back = functional.dequantize_blockwise(packed, state).cpu().tolist()
    except (NotImplementedError, AssertionError) as why:
        if device["type"] == "cpu":
            raise Skip("this release of bitsandbytes computes on GPUs alone") from why
        raise
    most = max(map(abs, values))
    wrong = [n for n, (before, other) in enumerate(zip(values, back)) if not abs(before - other) <= 0.02 * most]
    return {"wrong": ["quantize_blockwise"] if wrong or len(back) != len(values) else []}


def compiled(device: Device) -> dict[str, Any]:
    """A kernel that triton makes on the spot."""
    return dict(_of("rigup_probe_torch_kernels").compiled_kernel(device))


def scatter(device: Device) -> dict[str, Any]:
    """Sums and maxima of groups."""
    found = Found()
    module = _of("torch_scatter")
    values, at = normal(1, 40), [7 * n % 6 for n in range(40)]
    source, index = _tensor(device, values), _tensor(device, at, "int64")
    groups = [[value for value, n in zip(values, at) if n == group] for group in range(6)]
    found.near("scatter float32", module.scatter(source, index, dim=0, reduce="sum").cpu().tolist(), list(map(math.fsum, groups)))
    found.near("scatter_max float32", module.scatter_max(source, index, dim=0)[0].cpu().tolist(), list(map(max, groups)))
    return dict(found.measured())


def sparse(device: Device) -> dict[str, Any]:
    """A sparse matrix times a dense one."""
    found = Found()
    rows, columns, values = [0, 0, 1, 2], [0, 2, 1, 0], [1.0, 2.0, 3.0, -1.0]
    dense, right = [[0.0] * 3 for _ in range(3)], rounded("float32", normal(1, 3, 4))
    for row, column, value in zip(rows, columns, values):
        dense[row][column] = value
    module = _of("torch_sparse")
    matrix = module.SparseTensor(
        row=_tensor(device, rows, "int64"), col=_tensor(device, columns, "int64"), value=_tensor(device, values), sparse_sizes=(3, 3)
    )
    got = module.matmul(matrix, _tensor(device, right))
    found.near("matmul float32", got.cpu().tolist(), reference.matmul(dense, right))
    return dict(found.measured())


def nearest(module: str) -> Call:
    """The nearest of some points to some others."""

    def measured(device: Device) -> dict[str, Any]:
        found = Found()
        points, asked = normal(1, 30, 3), normal(2, 8, 3)
        wanted = [min(range(30), key=lambda n, point=target: math.dist(points[n], point)) for target in asked]  # type: ignore[misc]
        point_tensor, others = _tensor(device, points), _tensor(device, asked)
        if module == "torch_cluster":
            got = _of(module).knn(point_tensor, others, 1)[1].tolist()
        else:
            got = _of("pytorch3d.ops").knn_points(others[None], point_tensor[None], K=1).idx[0, :, 0].tolist()
        found.exact("nearest", got, wanted)
        return dict(found.measured())

    return measured


def eight_bits(device: Device) -> dict[str, Any]:
    """A layer with weights rounded to 8 bits gives the same within 2 %."""
    import torch

    quantization = _of("torchao.quantization")
    weights, given = rounded("float32", normal(1, 16, 64)), rounded("float32", normal(2, 5, 64))
    layer = torch.nn.Linear(64, 16, bias=False, device=device["id"])
    layer.weight.data.copy_(_tensor(device, weights))
    network = torch.nn.Sequential(layer)
    config = getattr(quantization, "Int8WeightOnlyConfig", None) or getattr(quantization, "int8_weight_only", None)
    if config is None:
        raise Skip("this release of torchao names its ways differently")
    quantization.quantize_(network, config())
    wanted = reference.matmul(given, reference.turned(weights))
    with torch.no_grad():
        got = network(_tensor(device, given)).float().cpu().tolist()
    return {"wrong": [] if error(got, wanted) < _EIGHT_BITS else ["int8 weights"]}


def layer_norm(device: Device) -> dict[str, Any]:
    """The fused layer norm."""
    found = Found()
    rows = rounded("float32", normal(1, 6, 32))
    got = _of("apex.normalization").FusedLayerNorm(32).to(device["id"])(_tensor(device, rows))
    found.near("FusedLayerNorm float32", got.detach().cpu().tolist(), list(map(reference.normalised, rows)))
    return dict(found.measured())


def gated(device: Device) -> dict[str, Any]:
    """A kernel of vLLM: silu of one half times the other."""
    import torch

    _of("vllm._C")
    rows = rounded("float16", normal(1, 6, 64))
    out = torch.empty(6, 32, dtype=torch.float16, device=device["id"])
    torch.ops._C.silu_and_mul(out, _tensor(device, rows, "float16"))
    silu = reference.ACTIVATIONS["silu"][0]
    found = Found()
    found.near("silu_and_mul float16", out.float().cpu().tolist(), [[silu(x) * y for x, y in zip(row[:32], row[32:])] for row in rows])
    return dict(found.measured())


def scan(device: Device) -> dict[str, Any]:
    """The selective scan: h = exp(dt·A)·h + dt·B·u, y = C·h, step after step."""
    found = Found()
    width, size, steps = 2, 4, 8
    u, b, c = normal(1, width, steps), normal(2, size, steps), normal(3, size, steps)
    dt = [[abs(number) / 2 for number in row] for row in normal(4, width, steps)]
    a = [[-abs(number) for number in row] for row in normal(5, width, size)]
    wanted = []
    for d in range(width):
        held, row = [0.0] * size, []
        for t in range(steps):
            held = [math.exp(dt[d][t] * a[d][n]) * held[n] + dt[d][t] * b[n][t] * u[d][t] for n in range(size)]
            row.append(math.fsum(held[n] * c[n][t] for n in range(size)))
        wanted.append(row)
    given = [_tensor(device, [u]), _tensor(device, [dt]), _tensor(device, a), _tensor(device, [b]), _tensor(device, [c])]
    got = _of("mamba_ssm.ops.selective_scan_interface").selective_scan_fn(*given)
    found.near("selective_scan float32", got[0].cpu().tolist(), wanted)
    return dict(found.measured())


def causal_convolution(device: Device) -> dict[str, Any]:
    """A convolution that looks back alone."""
    found = Found()
    x, w = rounded("float32", normal(1, 8, 16)), rounded("float32", normal(2, 8, 4))
    got = _of("causal_conv1d").causal_conv1d_fn(_tensor(device, [x]), _tensor(device, w))
    wanted = [[reference.dot(([0.0] * 3 + row)[n : n + 4], kernel) for n in range(16)] for row, kernel in zip(x, w)]
    found.near("causal_conv1d float32", got[0].cpu().tolist(), wanted)
    return dict(found.measured())


def turned_boxes(device: Device) -> dict[str, Any]:
    """Boxes that are turned by no angle are dropped as plain ones."""
    boxes = [[10.0, 10.0, 8.0, 8.0, 0.0], [11.0, 10.0, 8.0, 8.0, 0.0], [30.0, 10.0, 8.0, 8.0, 0.0]]
    got = _of("detectron2.layers").nms_rotated(_tensor(device, boxes), _tensor(device, [0.9, 0.8, 0.7]), 0.5)
    return {"wrong": [] if got.tolist() == [0, 2] else ["nms_rotated"]}


def onnx_with_torch(_device: Device) -> dict[str, Any]:
    """A product by each provider, in a process that has loaded torch before: both bring libraries of the same name."""
    _of("torch")
    probe, wrong = _of("rigup_probe_onnx"), []
    for provider in probe.devices():
        measured = next(check for name, check in probe.checks(provider, False) if name == "matmul-float32")(provider)
        wrong += [provider["id"] + " " + name for name, error in measured["errors"].items() if not error < 1e-4]
        wrong += measured["elsewhere"]
    return {"wrong": wrong}


def pieces(_device: Device) -> dict[str, Any]:
    """Train a small vocabulary; encoding and decoding return the same text."""
    import io

    module, text = _of("sentencepiece"), "the network learns what the network is shown"
    held = io.BytesIO()
    lines = iter([text, "what is shown is learnt", "networks are shown what they learn"] * 4)
    module.SentencePieceTrainer.train(sentence_iterator=lines, model_writer=held, vocab_size=40, hard_vocab_limit=False, minloglevel=2)
    processor = module.SentencePieceProcessor(model_proto=held.getvalue())
    cut = processor.encode(text)
    right = processor.decode(cut) == text and len(cut) > 3
    return {"wrong": [] if right else ["encode and decode"]}


def words(_device: Device) -> dict[str, Any]:
    """Words by a vocabulary of four."""
    module = _of("tokenizers")
    tokenizer = module.Tokenizer(module.models.WordLevel({"a": 0, "b": 1, "c": 2, "?": 3}, unk_token="?"))  # noqa: S106
    tokenizer.pre_tokenizer = module.pre_tokenizers.Whitespace()
    return {"wrong": [] if tokenizer.encode("b a d c").ids == [1, 0, 3, 2] else ["encode"]}


def kept(_device: Device) -> dict[str, Any]:
    """A file that was written is read back unchanged."""
    numpy = _of("safetensors.numpy")
    values = _of("numpy").array(normal(1, 5, 7), "float32")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.safetensors")
        numpy.save_file({"a": values}, path)
        right = numpy.load_file(path)["a"].tolist() == values.tolist()
    return {"wrong": [] if right else ["save_file and load_file"]}


def solved(_device: Device) -> dict[str, Any]:
    """A system, a decomposition, a transform, a special function."""
    found = Found()
    matrix = [[v / 4 + (4.0 if i == j else 0.0) for j, v in enumerate(row)] for i, row in enumerate(normal(1, 7, 7))]
    goals, line = normal(2, 7, 2), normal(3, 12)
    found.near("solve float64", reference.matmul(matrix, _of("scipy.linalg").solve(matrix, goals).tolist()), goals)
    found.near("fft complex128", _of("scipy.fft").fft(line).tolist(), reference.fourier(line))
    found.near("erf float64", _of("scipy.special").erf(line).tolist(), list(map(math.erf, line)))
    return dict(found.measured())


_CALLS = {
    "torchvision": [("nms", "any", nms)],
    "torchaudio": [("lfilter", "any", lfilter)],
    "xformers": [("attention", "gpu", attention_of("xformers.ops", "memory_efficient_attention", {"attn_bias": _lower_triangle}))],
    "flash-attn": [("attention", "gpu", attention_of("flash_attn", "flash_attn_func", {"causal": True}))],
    "bitsandbytes": [("blockwise", "any", blockwise)],
    "triton": [("kernel", "gpu", compiled)],
    "torch-scatter": [("scatter", "any", scatter)],
    "torch-sparse": [("matmul", "any", sparse)],
    "torch-cluster": [("knn", "any", nearest("torch_cluster"))],
    "pytorch3d": [("knn", "any", nearest("pytorch3d"))],
    "torchao": [("int8", "any", eight_bits)],
    "apex": [("layer-norm", "gpu", layer_norm)],
    "vllm": [("kernel", "gpu", gated)],
    "mamba-ssm": [("scan", "gpu", scan)],
    "causal-conv1d": [("convolution", "gpu", causal_convolution)],
    "detectron2": [("nms", "any", turned_boxes)],
    "sentencepiece": [("pieces", "cpu", pieces)],
    "tokenizers": [("words", "cpu", words)],
    "safetensors": [("file", "cpu", kept)],
    "scipy": [("functions", "cpu", solved)],
    "onnxruntime": [("beside-torch", "cpu", onnx_with_torch)],
    "onnxruntime-gpu": [("beside-torch", "cpu", onnx_with_torch)],
}  # type: dict[str, list[tuple[str, str, Call]]]
