"""Tables of modules and of functions of layers: pools, paddings, sizes, samples, norms, activations; with all arguments."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import rigup_probe_reference as right
import rigup_probe_tape as tape
import torch
from rigup_probe_grid import Grid, along, each, fromfunction, lanes
from rigup_probe_torch_cases import FLOATS, Case, literal, real
from torch import nn
from torch.nn import functional

from rigup_probe_tables.torch_convolved import held
from rigup_probe_tables.torch_resampling import _TWO, Index

_EPS = right.EPSILON


def norms() -> Iterator[Case]:
    """Norms as modules with their arguments, lengths, likeness, dropouts that are off."""
    x, weight, bias = real(2, 6, 7), real(6, seed=2, low=0.25), real(6, seed=3)
    for count, (name, size) in enumerate((("BatchNorm1d", (2, 6, 7)), ("BatchNorm2d", (2, 6, 3, 2)), ("BatchNorm3d", (2, 6, 2, 2, 2)))):
        inputs = (real(*size), weight, bias)
        yield Case(name + " (eps)", (held(lambda n=name: getattr(nn, n)(6, eps=_EPS), "weight", "bias"),), right.batch_norm, inputs, factor=6.0, few=count > 0)
        yield Case(name + " (no affine, no statistics)", (lambda x, n=name: getattr(nn, n)(6, _EPS, affine=False, track_running_stats=False, dtype=x.dtype).eval()(x),), lambda x: lanes(x, lambda at: at[1], right.normal), inputs[:1], factor=6.0, few=True)
        still = lambda x, n=name: getattr(nn, n)(6, _EPS, affine=False, dtype=x.dtype).eval()(x)
        yield Case(name + " in eval", (still,), lambda x: Grid(x.shape, [v * (1 / math.sqrt(1 + _EPS)) for v in x.flat]), inputs[:1], factor=6.0, few=True)
        alone = name.replace("Batch", "Instance")
        sample = size if len(size) == 3 else (1, *size[1:])
        yield Case(alone + " (affine)", (held(lambda n=alone: getattr(nn, n)(6, eps=_EPS, affine=True), "weight", "bias"),), lambda x, w, b: right.affine(right.instance_norm(x), w, b, 1), (real(*sample), weight, bias), factor=6.0, few=True)
        yield Case(alone, (lambda x, n=alone: getattr(nn, n)(6, _EPS)(x),), right.instance_norm, (real(*sample),), factor=6.0, few=True)
    yield Case("GroupNorm (eps)", (held(lambda: nn.GroupNorm(2, 6, eps=_EPS), "weight", "bias"),), right.group_norm(2), (x, weight, bias), factor=6.0)
    yield Case("GroupNorm (no affine)", (lambda x: nn.GroupNorm(3, 6, _EPS, affine=False)(x),), lambda x: lanes(x, lambda at: (at[0], at[1] // 2), right.normal), (x,), factor=6.0)
    wide = (real(3, 8), real(8, seed=2, low=0.25), real(8, seed=3))
    yield Case("LayerNorm (eps)", (held(lambda: nn.LayerNorm(8, eps=_EPS), "weight", "bias"),), right.layer_norm, wide, factor=6.0)
    plain = lambda x: lanes(x, lambda at: at[:1], right.normal)
    yield Case("LayerNorm (elementwise_affine False)", (lambda x: nn.LayerNorm(8, _EPS, elementwise_affine=False)(x),), plain, wide[:1], factor=6.0)
    yield Case("LayerNorm (bias False)", (held(lambda: nn.LayerNorm(8, _EPS, bias=False), "weight"),), lambda x, w: right.layer_norm(x, w, Grid((8,), [0.0] * 8)), wide[:2], factor=6.0)
    if hasattr(nn, "RMSNorm"):
        yield Case("RMSNorm (eps)", (held(lambda: nn.RMSNorm(8, eps=_EPS), "weight"),), right.rms_norm, wide[:2], factor=6.0)
        yield Case("RMSNorm (elementwise_affine False)", (lambda x: nn.RMSNorm(8, _EPS, elementwise_affine=False)(x),), lambda x: right.rms_norm(x, Grid((8,), [1.0] * 8)), wide[:1], factor=6.0)
        exact = lambda row: [number / tape.sqrt(tape.dot(row, row) * 0.125) for number in row]
        yield Case("rms_norm without eps, RMSNorm", (lambda x: functional.rms_norm(x, (8,)), lambda x: nn.RMSNorm(8, dtype=x.dtype)(x)), along(1, exact), wide[:1], factor=6.0)
    yield Case("LocalResponseNorm", (lambda x: nn.LocalResponseNorm(3, 0.5, 0.75, 2.0)(x), lambda x: functional.local_response_norm(x, 3, 0.5, 0.75, 2.0)), _among, (real(2, 5, 4),), factor=6.0, few=True, spreads=False)
    for power, size in ((2.0, right.length), (1.0, lambda row: tape.total(map(tape.absolute, row)))):
        for dim in (0, 1):
            unit = lambda row, s=size: [number / s(row) for number in row]
            yield Case("normalize (" + str(power) + ") over dimension " + str(dim), (lambda x, p=power, d=dim: functional.normalize(x, p, d),), along(dim, unit), (real(4, 6),), factor=6.0)
    tiny = literal([1.0, 0, 0, 0, 3.0, 4.0], (3, 2), "given")
    yield Case("normalize (eps)", (lambda x: functional.normalize(x, eps=2.0),), lambda _x: Grid((3, 2), [0.5, 0, 0, 0, 0.6, 0.8]), (tiny,), backward=False)
    pair = (real(4, 6), real(4, 6, seed=2))
    for dim in (0, 1):
        like = lambda x, y, d=dim: _likeness(x, y, d)
        yield Case("cosine_similarity, CosineSimilarity over " + str(dim), (lambda x, y, d=dim: functional.cosine_similarity(x, y, d), lambda x, y, d=dim: nn.CosineSimilarity(d)(x, y)), like, pair, factor=8.0)
    yield Case("cosine_similarity (eps)", (lambda x, y: functional.cosine_similarity(x, y, 1, 50.0),), lambda x, y: Grid((4,), [tape.dot(x.flat[n : n + 6], y.flat[n : n + 6]) * (1 / 2500) for n in range(0, 24, 6)]), tuple(input_._replace(kind="given") for input_ in pair), _TWO, backward=False, factor=8.0)
    for name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout", "Identity", "RReLU"):
        if hasattr(nn, name) and name != "RReLU":
            yield Case(name + " in eval", (lambda x, n=name: getattr(nn, n)().eval()(x),), each(lambda x: x * 1.0), (real(2, 3, 4, 2, 2) if "3d" in name or "Feature" in name else real(2, 3, 4, 2) if "2d" in name else real(2, 3, 4),), few=True)
    yield Case("RReLU in eval", (lambda x: nn.RReLU(0.125, 0.375).eval()(x), lambda x: functional.rrelu(x, 0.125, 0.375), lambda x: torch.rrelu(x, 0.125, 0.375)), each(right.leaky_relu), (real(4, 6),))
    yield Case("weight_norm", (lambda v, g: torch._weight_norm(v, g, 0),), lambda v, g: fromfunction(v.shape, lambda i: v[i] * g.flat[i[0]] / right.length(v.flat[i[0] * 5 : i[0] * 5 + 5])), (real(3, 5), real(3, 1, seed=2)), _TWO, factor=6.0, optional=True, twice=False)
    yield Case("norm_except_dim", (lambda v: torch.norm_except_dim(v, 2, 0),), lambda v: fromfunction((3, 1), lambda i: right.length(v.flat[i[0] * 5 : i[0] * 5 + 5])), (real(3, 5),), _TWO, factor=6.0, optional=True)


def _likeness(x: Grid, y: Grid, dim: int) -> Grid:
    pick = (lambda g: [g.flat[n : n + 6] for n in range(0, 24, 6)]) if dim else (lambda g: [g.flat[n::6] for n in range(6)])
    pairs = list(zip(pick(x), pick(y)))
    return Grid((len(pairs),), [tape.dot(a, b) / (right.length(a) * right.length(b)) for a, b in pairs])


def _among(x: Grid) -> Grid:
    def element(i: Index) -> Any:
        near = [x[i[0], c, i[2]] for c in range(i[1] - 1, i[1] + 2) if 0 <= c < x.shape[1]]
        return x[i] / tape.exp(tape.log(tape.dot(near, near) * (0.5 / 3) + 2.0) * 0.75)

    return fromfunction(x.shape, element)


def activations() -> Iterator[Case]:
    """As modules with their arguments, and in place."""
    x = (literal([number + 1 / 64 for number in real(4, 6).grid.flat], (4, 6)),)  # no function has a bend there
    bound: Callable[..., Any] = right.clamped(-0.53, 1.28)
    rows: tuple[tuple[str, tuple[Any, ...], Any], ...] = (
        ("ELU (alpha)", (lambda x: nn.ELU(0.5)(x), lambda x: nn.ELU(0.5, inplace=True)(x * 1), lambda x: functional.elu_(x * 1, 0.5)), lambda x: x * 1.0 if x > 0 else tape.expm1(x) * 0.5),
        ("CELU (alpha)", (lambda x: nn.CELU(2.0)(x), lambda x: nn.CELU(2.0, True)(x * 1), lambda x: torch.celu_(x * 1, 2.0)), lambda x: x * 1.0 if x > 0 else tape.expm1(x * 0.5) * 2.0),
        ("SELU", (nn.SELU(), lambda x: nn.SELU(True)(x * 1), lambda x: torch.selu_(x * 1)), right.selu),
        ("GELU (tanh)", (nn.GELU("tanh"), nn.GELU(approximate="tanh")), right.gelu_by_tanh),
        ("GELU", (nn.GELU(),), right.gelu),
        ("SiLU", (nn.SiLU(), lambda x: nn.SiLU(True)(x * 1)), right.silu),
        ("Mish", (nn.Mish(), lambda x: nn.Mish(True)(x * 1)), right.mish),
        ("ReLU", (nn.ReLU(), lambda x: nn.ReLU(True)(x * 1), lambda x: functional.relu_(x * 1), lambda x: functional.relu(x * 1, inplace=True), torch.relu, torch.Tensor.relu), right.relu),
        ("ReLU6", (nn.ReLU6(), lambda x: nn.ReLU6(True)(x * 1), lambda x: functional.relu6(x * 1, True)), right.relu6),
        ("LeakyReLU (negative_slope)", (lambda x: nn.LeakyReLU(0.25)(x), lambda x: nn.LeakyReLU(0.25, True)(x * 1), lambda x: functional.leaky_relu_(x * 1, 0.25)), right.leaky_relu),
        ("LeakyReLU", (nn.LeakyReLU(), functional.leaky_relu), lambda x: x * 1.0 if x > 0 else x * 0.01),
        ("Hardtanh (bounds)", (lambda x: nn.Hardtanh(-0.53, 1.28)(x), lambda x: nn.Hardtanh(-0.53, 1.28, True)(x * 1), lambda x: functional.hardtanh_(x * 1, -0.53, 1.28)), bound),
        ("Hardswish", (nn.Hardswish(), lambda x: nn.Hardswish(True)(x * 1)), lambda x: x * right.clamped(0.0, 6.0)(x + 3.0) * (1 / 6)),
        ("Hardsigmoid", (nn.Hardsigmoid(), lambda x: nn.Hardsigmoid(True)(x * 1)), lambda x: right.clamped(0.0, 6.0)(x + 3.0) * (1 / 6)),
        ("Threshold", (nn.Threshold(0.53, 0.25), lambda x: nn.Threshold(0.53, 0.25, True)(x * 1), lambda x: functional.threshold_(x * 1, 0.53, 0.25)), lambda x: x * 1.0 if x > 0.53 else x * 0.0 + 0.25),
        ("Softplus (beta, threshold)", (lambda x: nn.Softplus(2, 3)(x), lambda x: functional.softplus(x, 2, 3)), lambda x: x * 1.0 if 2 * tape.plain(x) > 3 else tape.softplus(x * 2.0) * 0.5),
        ("Softshrink (lambd)", (lambda x: nn.Softshrink(1.03)(x), lambda x: functional.softshrink(x, 1.03)), lambda x: x - 1.03 if x > 1.03 else x + 1.03 if x < -1.03 else x * 0.0),
        ("Softshrink", (nn.Softshrink(0.53), lambda x: functional.softshrink(x, lambd=0.53)), lambda x: x - 0.53 if x > 0.53 else x + 0.53 if x < -0.53 else x * 0.0),
        ("Hardshrink (lambd)", (lambda x: nn.Hardshrink(1.03)(x), lambda x: functional.hardshrink(x, 1.03)), lambda x: x * 1.0 if abs(tape.plain(x)) > 1.03 else x * 0.0),
        ("Tanh", (nn.Tanh(), functional.tanh), tape.tanh),
        ("Sigmoid", (nn.Sigmoid(), functional.sigmoid), tape.sigmoid),
        ("LogSigmoid", (nn.LogSigmoid(),), right.logsigmoid),
        ("Softsign", (nn.Softsign(),), right.softsign),
        ("Tanhshrink", (nn.Tanhshrink(),), lambda x: x - tape.tanh(x)),
    )
    for name, calls, reference in rows:
        kinds = FLOATS[1:] if name == "Hardsigmoid" else FLOATS  # torch has its sixth with the digits of float32
        yield Case(name + " (module)", calls, each(reference), x, kinds, factor=4.0, spreads=name not in ("Threshold", "Hardshrink (lambd)", "Softshrink (lambd)", "Softshrink"), twice="(beta" not in name, elementwise=True)
    yield Case("PReLU", (held(lambda: nn.PReLU(3), "weight"), functional.prelu, torch.prelu), lambda x, w: fromfunction(x.shape, lambda i: x[i] if x[i] > 0 else x[i] * w.flat[i[1]]), (real(2, 3, 4), real(3, seed=2)), factor=2.0)
    yield Case("PReLU (one weight)", (held(lambda: nn.PReLU(), "weight"),), lambda x, w: fromfunction(x.shape, lambda i: x[i] if x[i] > 0 else x[i] * w.flat[0]), (real(2, 3, 4), real(1, seed=2)), factor=4.0)
    for dim in (0, 1):
        half = lambda x, d=dim: fromfunction([n // 2 if at == d else n for at, n in enumerate(x.shape)], lambda i: x[i] * tape.sigmoid(x[tuple(index + (x.shape[at] // 2 if at == d else 0) for at, index in enumerate(i))]))
        yield Case("GLU, glu over dimension " + str(dim), (lambda x, d=dim: nn.GLU(d)(x), lambda x, d=dim: functional.glu(x, d)), half, x, factor=4.0)
    yield Case("Softmax2d", (nn.Softmax2d(),), lambda x: lanes(x, lambda at: (at[0], *at[2:]), right.softmax), (real(2, 3, 2, 2),), factor=4.0)
    yield Case("Softmin", (nn.Softmin(1), lambda x: functional.softmin(x, 1)), along(1, lambda row: right.softmax([-v for v in row])), x, factor=4.0)
    yield Case("softmax of the last, as methods", (lambda x: x.softmax(-1), lambda x: torch.softmax(x, 1), lambda x: nn.Softmax(-1)(x), lambda x: torch.special.softmax(x, 1)), along(1, right.softmax), x, factor=4.0)
    yield Case("log_softmax of the last, as methods", (lambda x: x.log_softmax(-1), lambda x: torch.log_softmax(x, 1), lambda x: nn.LogSoftmax(-1)(x)), along(1, right.log_softmax), x, factor=4.0)
    yield Case("logsumexp (all names)", (lambda x: torch.logsumexp(x, 1), lambda x: x.logsumexp(1), lambda x: torch.special.logsumexp(x, 1)), lambda x: Grid((4,), [right.logsumexp(x.flat[n : n + 6]) for n in range(0, 24, 6)]), x, factor=4.0)
