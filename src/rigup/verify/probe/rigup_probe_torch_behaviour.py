"""Behaviour beyond pure functions: copies, dropout, mixed precision, retained gradients."""

from __future__ import annotations

import gc
import math
from typing import Any, Callable, Iterator

import torch
from rigup_probe import Skip
from rigup_probe_grid import Grid
from rigup_probe_torch_cases import FLOATS, LAYOUTS
from rigup_probe_torch_compare import elsewhere
from torch import nn
from torch.nn import functional

_KINDS = (*FLOATS, "int8", "int16", "int32", "int64", "uint8", "bool")
_COUNTS = (1, 7, 1031, 40_009)
_MANY = 600_002  # numbers
_NAMES = {"copy_": "copy_ did nothing", "clone": "clone", "to": "to another type"}


def copies(device: dict[str, Any]) -> dict[str, Any]:
    """A copy has the source's values and does not share its memory."""
    wrong = []
    for kind in [dtype_name for dtype_name in _KINDS if not (dtype_name == "float64" and device["type"] == "mps")]:
        for count in _COUNTS:
            wrong += [name + " of " + str(count) + " " + kind for name, right in _copied(device, kind, count) if not right]
        wrong += [name + " of a " + way + " " + kind for name, way, right in _copied_layouts(device, kind) if not right]
    wrong += [name + " of 2 MB and more" for name, right in _copied_whole(device) if not right]
    return {"wrong": list(dict.fromkeys(wrong)), "copies": True}


def _values(kind: str, count: int, start: int) -> list[Any]:
    return [bool((at + start) % 3) if kind == "bool" else (at * 7 + start) % 61 + 1 for at in range(count)]


def _copied(device: dict[str, Any], kind: str, count: int) -> Iterator[tuple[str, bool]]:
    dtype, place = getattr(torch, kind), device["id"]
    values, other = _values(kind, count, 1), _values(kind, count, 2)
    source = torch.tensor(values, dtype=dtype).to(place)
    yield "to the device and back", source.cpu().tolist() == values
    target = torch.tensor(other, dtype=dtype).to(place)
    again = torch.clone(target)
    yield "clone", again.cpu().tolist() == other
    target.copy_(source)
    yield "copy_", target.cpu().tolist() == values
    yield "clone, which is the same memory,", again.cpu().tolist() == other
    again.fill_(other[0])
    yield "fill_", again.cpu().tolist() == [other[0]] * count
    again[:] = source
    yield "assignment to a slice", again.cpu().tolist() == values
    again.zero_()
    yield "zero_", not any(again.cpu().tolist())
    yield ("contiguous", source.view(-1, 1).expand(count, 2).contiguous().view(-1).cpu().tolist() == [x for x in values for _ in "ab"])
    yield from _forced(source, values)


def _forced(source: Any, values: list[Any]) -> Iterator[tuple[str, bool]]:
    """`copy=True` returns another tensor."""
    copied = source.to(source.dtype, copy=True)
    copied.zero_()
    yield "to (copy=True)", source.cpu().tolist() == values and not any(copied.cpu().tolist())
    if source.dtype != torch.bool:
        source.add_(1)
        yield "add_", source.cpu().tolist() == [x + 1 for x in values]
        source.mul_(2)
        yield "mul_", source.cpu().tolist() == [x * 2 + 2 for x in values]


def _copied_whole(device: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """To the last number of a tensor that several threads copy."""
    wanted = [float(at) for at in range(_MANY)]
    source = torch.arange(_MANY, dtype=torch.float32).to(device["id"])
    target = torch.full_like(source, -1.0)
    target.copy_(source)
    yield "copy_", target.cpu().tolist() == wanted
    yield "clone", torch.clone(source).cpu().tolist() == wanted
    yield "contiguous", source.view(2, -1).t().contiguous().cpu().t().reshape(-1).tolist() == wanted
    for name, call in (
        ("to another type", lambda x: x.to(torch.int32)),
        ("to the host", lambda x: x.to("cpu", copy=True)),
        ("clone", torch.clone),
    ):
        first = call(source)
        source.add_(1)
        later = call(source).cpu().tolist()
        source.sub_(1)
        yield name + ", where an old copy is given again,", later[-3:] == [number + 1 for number in wanted[-3:]]
        yield name + ", which is the same memory,", first.cpu().tolist() == wanted


def _copied_layouts(device: dict[str, Any], kind: str) -> Iterator[tuple[str, str, bool]]:
    """From each layout into each."""
    for shape in ((2, 3, 5, 4), (11, 11), (7, 12)):
        yield from _copied_shape(device, kind, shape)


def _copied_shape(device: dict[str, Any], kind: str, shape: tuple[int, ...]) -> Iterator[tuple[str, str, bool]]:
    dtype, count = getattr(torch, kind), math.prod(shape)
    grid, other = Grid(shape, _values(kind, count, 1)), Grid(shape, _values(kind, count, 2))
    for layout in LAYOUTS:
        source = layout.lay(grid, dtype, device["id"])
        target = layout.lay(other, dtype, device["id"])
        again = torch.clone(source)
        yield "clone", layout.name, again.reshape(-1).cpu().tolist() == grid.flat
        again.copy_(LAYOUTS[0].lay(other, dtype, device["id"]))
        yield "clone, which is the same memory,", layout.name, _read(source) == grid.flat
        plain = LAYOUTS[0].lay(other, dtype, device["id"])
        plain.copy_(source)
        yield "copy_", layout.name, plain.view(-1).cpu().tolist() == grid.flat
        target.copy_(LAYOUTS[0].lay(grid, dtype, device["id"]))
        yield "copy_ into", layout.name, _read(target) == grid.flat
        target.fill_(1)
        yield "fill_", layout.name, _read(target) == [1] * count


def _read(array: Any) -> list[Any]:
    """The numbers by `tolist()`, without a contiguous copy on the device."""
    listed = array.cpu().tolist()
    for _dimension in range(array.dim() - 1):
        listed = [number for part in listed for number in part]
    return list(listed)


def dropout(device: dict[str, Any]) -> dict[str, Any]:
    """How much is left out, how the rest is scaled, that gradients follow it, and that nothing is left out in eval."""
    wrong = []
    for kind in FLOATS:
        if kind == "float64" and device["type"] == "mps":
            continue
        for share in (0.25, 0.5):
            for name, call in (("dropout", functional.dropout), ("Dropout", lambda x, p, training: nn.Dropout(p).train(training)(x))):
                prefix = name + " " + str(share) + " in " + kind + ": "
                wrong += [prefix + problem for problem in _dropped(device, kind, share, call)]
    return {"wrong": wrong + list(_channels_dropped(device))}


def _dropped(device: dict[str, Any], kind: str, share: float, call: Any) -> Iterator[str]:
    """Faults of dropout. The rate deviates by six standard deviations once in 10^9 runs."""
    count = 20_001
    x = torch.tensor([1.0] * count, dtype=getattr(torch, kind)).to(device["id"]).requires_grad_()
    y = call(x, share, training=True)
    values = y.detach().cpu().tolist()
    kept = sum(map(bool, values)) / count
    if abs(kept - (1 - share)) > 6 * math.sqrt(share * (1 - share) / count):
        yield "the share that is kept is " + str(round(kept, 4))
    if any(number and abs(number * (1 - share) - 1) > 0.01 for number in values):
        yield "what is kept is not scaled by 1 / (1 - p)"
    weights = torch.tensor([2.0] * count, dtype=x.dtype).to(device["id"])
    slopes = torch.autograd.grad(y, x, weights)[0].cpu().tolist()
    if any(abs(slope - 2 * number) > 0.03 for slope, number in zip(slopes, values)):
        yield "backward does not follow forward"
    if call(x, share, training=False).cpu().tolist() != [1.0] * count:
        yield "numbers are changed in eval"
    if call(x, share, training=True).cpu().tolist() == values:
        yield "the same numbers are left out each time"


def _channels_dropped(device: dict[str, Any]) -> Iterator[str]:
    """Dropout of whole channels by the given rate; `alpha` keeps mean and deviation."""
    share, count = 0.25, 4_001
    for rank in (1, 2, 3):
        x = torch.tensor([1.0] * (count * 2**rank), dtype=torch.float32).to(device["id"]).view(1, count, *(2,) * rank)
        for name, call in (
            ("dropout" + str(rank) + "d", getattr(functional, "dropout" + str(rank) + "d", None)),
            ("Dropout" + str(rank) + "d", lambda x, p, training, n=rank: getattr(nn, "Dropout" + str(n) + "d")(p).train(training)(x)),
        ):
            if call is None or not hasattr(nn, "Dropout" + str(rank) + "d"):
                continue
            rows = call(x, share, training=True).view(count, -1).cpu().tolist()
            kept = sum(bool(row[0]) for row in rows) / count
            if any(len(set(row)) > 1 for row in rows):
                yield name + ": parts of channels are left out"
            if abs(kept - (1 - share)) > 6 * math.sqrt(share * (1 - share) / count):
                yield name + ": the share that is kept is " + str(round(kept, 4))
            if any(row[0] and abs(row[0] * (1 - share) - 1) > 0.01 for row in rows):
                yield name + ": what is kept is not scaled by 1 / (1 - p)"
            if set(call(x, share, training=False).reshape(-1).cpu().tolist()) != {1.0}:
                yield name + ": numbers are changed in eval"
    yield from _alpha(device)


def _alpha(device: dict[str, Any]) -> Iterator[str]:
    """Dropout for networks that normalize themselves (arXiv:1706.02515); and shares of nothing and of all."""
    x = torch.tensor([math.sin(at * 12.9898) * math.sqrt(2) for at in range(20_000)], dtype=torch.float32).to(device["id"])
    y = functional.alpha_dropout(x, 0.25, training=True).cpu().tolist()
    middle = math.fsum(y) / len(y)
    spread = math.sqrt(math.fsum((number - middle) ** 2 for number in y) / len(y))
    if abs(middle) > 0.06 or abs(spread - 1) > 0.06:
        yield "alpha_dropout: the mean is " + str(round(middle, 3)) + ", the deviation " + str(round(spread, 3))
    if functional.dropout(x, 0.0, training=True).cpu().tolist() != x.cpu().tolist():
        yield "dropout 0.0: numbers are changed"
    if any(functional.dropout(x, 1.0, training=True).cpu().tolist()):
        yield "dropout 1.0: something is kept"


def mixed_precision(device: dict[str, Any]) -> dict[str, Any]:
    """Autocast takes the short type where it promises to; a scaler scales, unscales, and skips steps with infinities."""
    if device["type"] not in ("cpu", "cuda", "xpu", "mps") or not hasattr(torch, "autocast"):
        raise Skip("there is no autocast for this device")
    wrong = []
    matrix = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float32).to(device["id"])
    short = torch.bfloat16 if device["type"] == "cpu" else torch.float16
    with torch.autocast(device["type"], dtype=short):
        product, linear_output = matrix @ matrix, functional.linear(matrix, matrix)
        inside = torch.is_autocast_enabled() if device["type"] == "cuda" else True
        loss = functional.cross_entropy(product, torch.tensor([0, 1]).to(device["id"]))
    wrong += [] if product.dtype == short and linear_output.dtype == short and inside else ["autocast does not take " + str(short)]
    wrong += [] if product.cpu().tolist() == [[7.0, 10.0], [15.0, 22.0]] else ["the product under autocast"]
    wrong += [] if loss.dtype == torch.float32 else ["autocast keeps no loss in float32"]
    wrong += [] if (matrix @ matrix).dtype == torch.float32 else ["autocast does not end"]
    return {"wrong": wrong + _scaled(device), "elsewhere": elsewhere(device, product=product)}


def _scaled(device: dict[str, Any]) -> list[str]:
    """Four steps of a scaler; `GradScaler` took no device before 2.3."""
    scaler_of = getattr(torch.amp, "GradScaler", None)
    if scaler_of is None or device["type"] not in ("cpu", "cuda"):
        return []
    scaler = scaler_of(device["type"], init_scale=8.0, growth_interval=1000)
    parameter = nn.Parameter(torch.tensor([1.0, 2.0], dtype=torch.float32).to(device["id"]))
    optimizer = torch.optim.SGD([parameter], lr=0.5)
    scaled = scaler.scale((parameter * parameter).sum())
    scaled.backward()
    wrong = [] if float(scaled) == 40.0 and parameter.grad.cpu().tolist() == [16.0, 32.0] else ["GradScaler does not scale"]
    scaler.step(optimizer)
    scaler.update()
    wrong += [] if parameter.cpu().tolist() == [0.0, 0.0] else ["GradScaler's step, with the scale taken out again,"]
    parameter.grad = torch.tensor([math.inf, 1.0], dtype=torch.float32).to(device["id"])
    scaler.step(optimizer)
    scaler.update()
    wrong += [] if parameter.cpu().tolist() == [0.0, 0.0] else ["GradScaler takes a step with infinities"]
    return wrong + ([] if scaler.get_scale() == 4.0 else ["GradScaler does not halve its scale"])


def gradients_held(device: dict[str, Any]) -> dict[str, Any]:
    """Tensors that live on after many steps of forward and backward whose results were dropped."""
    model = nn.Sequential(
        nn.Conv1d(1, 2, 3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(28, 16),
        nn.LayerNorm(16),
        nn.GELU(),
        nn.Dropout(0.25),
        nn.Linear(16, 16),
        nn.BatchNorm1d(16),
        nn.Tanh(),
        nn.Linear(16, 4),
    ).to(device["id"])
    inputs = torch.tensor([[float(at % 5)] * 16 for at in range(8)], dtype=torch.float32).to(device["id"]).view(8, 1, 16)
    goals = torch.tensor([0, 1, 2, 3] * 2).to(device["id"])
    counts, further = [], _further(device)
    for _ in range(3):
        for _step in range(10):
            model.zero_grad()
            scores = model(inputs)
            (functional.cross_entropy(scores, goals) + functional.mse_loss(scores, scores.detach() * 0.5)).backward()
            del scores
            further()
        gc.collect()
        counts.append(sum(issubclass(type(item), torch.Tensor) for item in gc.get_objects()))
    return {"wrong": ["tensors that backward keeps in memory"] if counts[2] >= counts[1] + 10 else [], "counts": counts}


def _further(device: dict[str, Any]) -> Callable[[], None]:
    """Forward and backward through further operators in sequence; missing ones are left out."""
    x = torch.tensor([[float(at % 7) / 4 - 0.8] * 8 for at in range(6)], dtype=torch.float32).to(device["id"])
    rows = torch.tensor([0, 2, 2, 1]).to(device["id"])
    image = x.view(1, 2, 4, 6)
    layers = [kind(8, 4).to(device["id"]) for kind in (nn.LSTM, nn.GRU, nn.RNN)]
    heads = nn.MultiheadAttention(8, 2).to(device["id"])
    calls: list[Callable[[Any], Any]] = [
        *(
            lambda x, n=name: getattr(functional, n)(x)
            for name in ("silu", "sigmoid", "softplus", "elu", "leaky_relu", "hardswish", "mish", "logsigmoid", "relu6", "softsign")
        ),
        *(lambda x, n=name: getattr(torch, n)(x, 1) for name in ("softmax", "log_softmax", "cumsum", "sum", "mean", "var", "logsumexp")),
        *(lambda x, n=name: getattr(torch, n)(x) for name in ("exp", "sin", "abs", "square", "erf")),
        lambda x: x @ x.t(),
        lambda x: torch.bmm(x[None], x.t()[None]),
        lambda x: torch.cat([x, x * 2]),
        lambda x: x[rows],
        lambda x: x.sort(1)[0],
        lambda x: functional.embedding(rows, x),
        lambda x: functional.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None], is_causal=True),
        lambda x: functional.conv2d((image * x.sum()), image.view(2, 2, 3, 4)),
        lambda x: functional.conv_transpose1d(x[None, :2], x.view(2, 3, 8)),
        lambda x: functional.max_pool1d(x[None], 2),
        lambda x: functional.avg_pool1d(x[None], 2),
        lambda x: functional.interpolate(x[None], scale_factor=2.0),
        lambda x: functional.group_norm(x[None], 2),
        functional.glu,
        lambda x: functional.smooth_l1_loss(x, x.detach() * 2),
        *(lambda x, m=layer: m(x[None])[0] for layer in layers),
        lambda x: heads(x, x, x, need_weights=False)[0],
    ]
    done: set[int] = set()

    def called() -> None:
        for number, call in enumerate(calls):
            if number in done:
                continue
            try:
                call(x.detach().requires_grad_()).sum().backward()
            except (RuntimeError, TypeError, AttributeError, NotImplementedError):
                done.add(number)  # what is wrong with it other checks tell

    return called
