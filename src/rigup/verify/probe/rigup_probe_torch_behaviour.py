"""What is no function of its inputs alone: copies, dropout, optimizers, mixed precision, compiled programs, what is kept."""

from __future__ import annotations

import gc
import math
from typing import Any, Callable, Iterator

import torch
from rigup_probe import Skip
from rigup_probe_grid import Grid
from rigup_probe_torch_cases import FLOATS, LAYOUTS, deviation
from rigup_probe_torch_compare import elsewhere, unsupported
from torch import nn
from torch.nn import functional

_KINDS = (*FLOATS, "int8", "int16", "int32", "int64", "uint8", "bool")
_COUNTS = (1, 7, 1031, 40_009)
_MANY = 600_002  # numbers
_NAMES = {"copy_": "copy_ did nothing", "clone": "clone", "to": "to another type"}


def copies(device: dict[str, Any]) -> dict[str, Any]:
    """What is copied must be there, and what it was copied from must not change with it."""
    wrong = []
    for kind in [one for one in _KINDS if not (one == "float64" and device["type"] == "mps")]:
        for count in _COUNTS:
            wrong += [
                name + " of " + str(count) + " " + kind for name, right in _copied(device, kind, count) if not right
            ]
        wrong += [name + " of a " + way + " " + kind for name, way, right in _copied_layouts(device, kind) if not right]
    wrong += [name + " of 2 MB and more" for name, right in _copied_whole(device) if not right]
    return {"wrong": list(dict.fromkeys(wrong)), "copies": True}


def _values(kind: str, count: int, start: int) -> list[Any]:
    return [bool((at + start) % 3) if kind == "bool" else (at * 7 + start) % 61 + 1 for at in range(count)]


def _copied(device: dict[str, Any], kind: str, count: int) -> Iterator[tuple[str, bool]]:
    dtype, there = getattr(torch, kind), device["id"]
    one, other = _values(kind, count, 1), _values(kind, count, 2)
    source = torch.tensor(one, dtype=dtype).to(there)
    yield "to the device and back", source.cpu().tolist() == one
    target = torch.tensor(other, dtype=dtype).to(there)
    again = torch.clone(target)
    yield "clone", again.cpu().tolist() == other
    target.copy_(source)
    yield "copy_", target.cpu().tolist() == one
    yield "clone, which is the same memory,", again.cpu().tolist() == other
    again.fill_(other[0])
    yield "fill_", again.cpu().tolist() == [other[0]] * count
    again[:] = source
    yield "assignment to a slice", again.cpu().tolist() == one
    again.zero_()
    yield "zero_", not any(again.cpu().tolist())
    yield (
        "contiguous",
        source.view(-1, 1).expand(count, 2).contiguous().view(-1).cpu().tolist() == [x for x in one for _ in "ab"],
    )
    yield from _forced(source, one)


def _forced(source: Any, one: list[Any]) -> Iterator[tuple[str, bool]]:
    """A copy that was asked for is another tensor."""
    made = source.to(source.dtype, copy=True)
    made.zero_()
    yield "to (copy=True)", source.cpu().tolist() == one and not any(made.cpu().tolist())
    if source.dtype != torch.bool:
        source.add_(1)
        yield "add_", source.cpu().tolist() == [x + 1 for x in one]
        source.mul_(2)
        yield "mul_", source.cpu().tolist() == [x * 2 + 2 for x in one]


def _copied_whole(device: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """To the last number of a tensor that several threads copy."""
    wanted = [float(at) for at in range(_MANY)]
    source = torch.arange(_MANY, dtype=torch.float32).to(device["id"])
    target = torch.full_like(source, -1.0)
    target.copy_(source)
    yield "copy_", target.cpu().tolist() == wanted
    yield "clone", torch.clone(source).cpu().tolist() == wanted
    yield "contiguous", source.view(2, -1).t().contiguous().cpu().t().reshape(-1).tolist() == wanted
    yield "to another type", source.double().cpu().tolist() == wanted if device["type"] != "mps" else True


def _copied_layouts(device: dict[str, Any], kind: str) -> Iterator[tuple[str, str, bool]]:
    """From each layout into each."""
    for shape in ((2, 3, 5, 4), (11, 11), (7, 12)):
        yield from _copied_shape(device, kind, shape)


def _copied_shape(device: dict[str, Any], kind: str, shape: tuple[int, ...]) -> Iterator[tuple[str, str, bool]]:
    dtype, count = getattr(torch, kind), math.prod(shape)
    one, other = Grid(shape, _values(kind, count, 1)), Grid(shape, _values(kind, count, 2))
    for layout in LAYOUTS:
        source = layout.lay(one, dtype, device["id"])
        target = layout.lay(other, dtype, device["id"])
        yield "clone", layout.name, torch.clone(source).reshape(-1).cpu().tolist() == one.flat
        plain = LAYOUTS[0].lay(other, dtype, device["id"])
        plain.copy_(source)
        yield "copy_", layout.name, plain.view(-1).cpu().tolist() == one.flat
        target.copy_(LAYOUTS[0].lay(one, dtype, device["id"]))
        yield "copy_ into", layout.name, _read(target) == one.flat
        target.fill_(1)
        yield "fill_", layout.name, _read(target) == [1] * count


def _read(one: Any) -> list[Any]:
    """Number by number as Python reads a nested list: no copy of the device's is asked for."""
    listed = one.cpu().tolist()
    for _dimension in range(one.dim() - 1):
        listed = [number for part in listed for number in part]
    return list(listed)


def dropout(device: dict[str, Any]) -> dict[str, Any]:
    """How much is left out, how the rest is scaled, that gradients follow it, and that nothing is left out in eval."""
    wrong = []
    for kind in FLOATS:
        if kind == "float64" and device["type"] == "mps":
            continue
        for share in (0.25, 0.5):
            for name, call in (
                ("dropout", functional.dropout),
                ("Dropout", lambda x, p, training: nn.Dropout(p).train(training)(x)),
            ):
                said = name + " " + str(share) + " in " + kind + ": "
                wrong += [said + one for one in _dropped(device, kind, share, call)]
    return {"wrong": wrong}


def _dropped(device: dict[str, Any], kind: str, share: float, call: Any) -> Iterator[str]:
    """What is not as promised. The rate is off by six standard deviations once in 10^9 runs."""
    count = 20_001
    x = torch.tensor([1.0] * count, dtype=getattr(torch, kind)).to(device["id"]).requires_grad_()
    y = call(x, share, training=True)
    values = y.detach().cpu().tolist()
    kept = sum(map(bool, values)) / count
    if abs(kept - (1 - share)) > 6 * math.sqrt(share * (1 - share) / count):
        yield "the share that is kept is " + str(round(kept, 4))
    if any(one and abs(one * (1 - share) - 1) > 0.01 for one in values):
        yield "what is kept is not scaled by 1 / (1 - p)"
    weights = torch.tensor([2.0] * count, dtype=x.dtype).to(device["id"])
    slopes = torch.autograd.grad(y, x, weights)[0].cpu().tolist()
    if any(abs(slope - 2 * one) > 0.03 for slope, one in zip(slopes, values)):
        yield "backward does not follow forward"
    if call(x, share, training=False).cpu().tolist() != [1.0] * count:
        yield "numbers are changed in eval"
    if call(x, share, training=True).cpu().tolist() == values:
        yield "the same numbers are left out each time"


def optimizers(device: dict[str, Any]) -> dict[str, Any]:
    """Steps of optimizers against their formulas (arXiv:1412.6980, arXiv:1711.05101) in Python, in each way they are made."""
    cases: list[list[Any]] = []
    raised: list[list[str]] = []
    for kind in ("float64", "float32") if device["type"] != "mps" else ("float32",):
        for name, make, reference in _OPTIMIZERS:
            for way in ({}, {"foreach": False}, {"foreach": True}, {"fused": True}):
                if name in ("Adagrad", "RMSprop") and "fused" in way:
                    continue
                said = name + "".join(" " + key + "=" + str(value) for key, value in way.items())
                try:
                    got = _stepped(device, kind, make, way)
                except (RuntimeError, TypeError, NotImplementedError, ValueError) as why:
                    if not way and not unsupported(why):
                        raised.append([said, kind, "forward", str(why)[:200]])
                    continue
                cases.append([said, kind, "forward", deviation(got, _steps(reference)), "after 4 steps", 16.0])
    cases += [*_clipped(device)]
    return {"cases": cases, "raised": raised, "without": [], "elsewhere": []}


_START = [0.5 * at - 3 + 0.25 for at in range(13)]
_RATE, _DECAY, _EPS = 0.125, 0.25, 0.01


def _slope(step: int, at: int) -> float:
    return ((at * 5 + step * 3) % 11 - 5) / 4


def _stepped(device: dict[str, Any], kind: str, make: Callable[..., Any], way: dict[str, Any]) -> list[float]:
    dtype = getattr(torch, kind)
    parameters = [nn.Parameter(one) for one in _parts(_START, dtype, device)]
    optimizer = make(parameters, **way)
    for step in range(4):
        optimizer.zero_grad()
        for parameter, slope in zip(parameters, _parts([_slope(step, at) for at in range(13)], dtype, device)):
            parameter.grad = slope
        optimizer.step()
    return [one for parameter in parameters for one in parameter.detach().reshape(-1).cpu().tolist()]


def _parts(values: list[float], dtype: Any, device: dict[str, Any]) -> list[Any]:
    """Several tensors of several shapes, as a network has."""
    shapes = ((5,), (2, 3), (1, 1), (1,))
    made, at = [], 0
    for shape in shapes:
        count = math.prod(shape)
        made.append(torch.tensor(values[at : at + count], dtype=dtype).to(device["id"]).view(shape))
        at += count
    return made


def _steps(reference: Callable[..., float]) -> list[float]:
    """Each parameter by itself, through four steps."""
    values = []
    for at, start in enumerate(_START):
        state: dict[str, float] = {}
        value = start
        for step in range(4):
            value = reference(value, _slope(step, at), step + 1, state)
        values.append(value)
    return values


def _sgd(value: float, slope: float, step: int, state: dict[str, float]) -> float:
    slope += _DECAY * value
    state["m"] = slope if step == 1 else 0.5 * state["m"] + slope
    return value - _RATE * state["m"]


def _plain_sgd(value: float, slope: float, _step: int, _state: dict[str, float]) -> float:
    return value - _RATE * slope


def _nesterov(value: float, slope: float, step: int, state: dict[str, float]) -> float:
    state["m"] = slope if step == 1 else 0.5 * state["m"] + slope
    return value - _RATE * (slope + 0.5 * state["m"])


def _adam(value: float, slope: float, step: int, state: dict[str, float]) -> float:
    state["m"] = 0.75 * state.get("m", 0.0) + 0.25 * slope
    state["v"] = 0.875 * state.get("v", 0.0) + 0.125 * slope**2
    first, second = state["m"] / (1 - 0.75**step), state["v"] / (1 - 0.875**step)
    return value - _RATE * first / (math.sqrt(second) + _EPS)


def _adam_with_decay(value: float, slope: float, step: int, state: dict[str, float]) -> float:
    return _adam(value, slope + _DECAY * value, step, state)


def _adamw(value: float, slope: float, step: int, state: dict[str, float]) -> float:
    return _adam(value * (1 - _RATE * _DECAY), slope, step, state)


def _rmsprop(value: float, slope: float, _step: int, state: dict[str, float]) -> float:
    state["v"] = 0.875 * state.get("v", 0.0) + 0.125 * slope**2
    return value - _RATE * slope / (math.sqrt(state["v"]) + _EPS)


def _adagrad(value: float, slope: float, _step: int, state: dict[str, float]) -> float:
    state["v"] = state.get("v", 0.0) + slope**2
    return value - _RATE * slope / (math.sqrt(state["v"]) + _EPS)


_BETAS = (0.75, 0.875)
_OPTIMIZERS: tuple[tuple[str, Callable[..., Any], Callable[..., float]], ...] = (
    ("SGD", lambda p, **way: torch.optim.SGD(p, _RATE, **way), _plain_sgd),
    ("SGD with momentum", lambda p, **way: torch.optim.SGD(p, _RATE, momentum=0.5, weight_decay=_DECAY, **way), _sgd),
    ("SGD (Nesterov)", lambda p, **way: torch.optim.SGD(p, _RATE, momentum=0.5, nesterov=True, **way), _nesterov),
    ("Adam", lambda p, **way: torch.optim.Adam(p, _RATE, _BETAS, _EPS, **way), _adam),
    (
        "Adam with decay",
        lambda p, **way: torch.optim.Adam(p, _RATE, _BETAS, _EPS, weight_decay=_DECAY, **way),
        _adam_with_decay,
    ),
    ("AdamW", lambda p, **way: torch.optim.AdamW(p, _RATE, _BETAS, _EPS, weight_decay=_DECAY, **way), _adamw),
    ("RMSprop", lambda p, **way: torch.optim.RMSprop(p, _RATE, 0.875, _EPS, **way), _rmsprop),
    ("Adagrad", lambda p, **way: torch.optim.Adagrad(p, _RATE, eps=_EPS, **way), _adagrad),
)


def _clipped(device: dict[str, Any]) -> Iterator[list[Any]]:
    """Gradients that are made as short as is allowed, and those that are short enough."""
    for most in (2.0, 100.0):
        parameter = nn.Parameter(torch.tensor(_START, dtype=torch.float32).to(device["id"]))
        slopes = [_slope(0, at) for at in range(13)]
        parameter.grad = torch.tensor(slopes, dtype=torch.float32).to(device["id"])
        size = math.sqrt(math.fsum(one * one for one in slopes))
        told = float(torch.nn.utils.clip_grad_norm_([parameter], most))
        wanted = [one * min(1.0, most / (size + 1e-6)) for one in slopes]
        error = max(deviation(parameter.grad.cpu().tolist(), wanted), abs(told - size) / size)
        yield ["clip_grad_norm_ to " + str(most), "float32", "forward", error, "", 16.0]
    torch.nn.utils.clip_grad_value_([parameter], 0.5)
    wanted = [max(-0.5, min(0.5, one)) for one in slopes]
    yield ["clip_grad_value_", "float32", "forward", deviation(parameter.grad.cpu().tolist(), wanted), "", 16.0]


def mixed_precision(device: dict[str, Any]) -> dict[str, Any]:
    """Autocast takes the short type where it promises to; a scaler scales, unscales, and skips steps with infinities."""
    if device["type"] not in ("cpu", "cuda", "xpu", "mps") or not hasattr(torch, "autocast"):
        raise Skip("there is no autocast for this device")
    wrong = []
    one = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float32).to(device["id"])
    short = torch.bfloat16 if device["type"] == "cpu" else torch.float16
    with torch.autocast(device["type"], dtype=short):
        product, made = one @ one, functional.linear(one, one)
        inside = torch.is_autocast_enabled() if device["type"] == "cuda" else True
        loss = functional.cross_entropy(product, torch.tensor([0, 1]).to(device["id"]))
    wrong += (
        [] if product.dtype == short and made.dtype == short and inside else ["autocast does not take " + str(short)]
    )
    wrong += [] if product.cpu().tolist() == [[7.0, 10.0], [15.0, 22.0]] else ["the product under autocast"]
    wrong += [] if loss.dtype == torch.float32 else ["autocast keeps no loss in float32"]
    wrong += [] if (one @ one).dtype == torch.float32 else ["autocast does not end"]
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
    wrong = (
        [] if float(scaled) == 40.0 and parameter.grad.cpu().tolist() == [16.0, 32.0] else ["GradScaler does not scale"]
    )
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
        nn.Conv1d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(28, 16), nn.LayerNorm(16), nn.GELU(), nn.Dropout(0.25),
        nn.Linear(16, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, 4),
    ).to(device["id"])  # fmt: skip
    inputs = (
        torch.tensor([[float(at % 5)] * 16 for at in range(8)], dtype=torch.float32).to(device["id"]).view(8, 1, 16)
    )
    goals = torch.tensor([0, 1, 2, 3] * 2).to(device["id"])
    counts = []
    for _ in range(3):
        for _step in range(10):
            model.zero_grad()
            scores = model(inputs)
            (functional.cross_entropy(scores, goals) + functional.mse_loss(scores, scores.detach() * 0.5)).backward()
            del scores
        gc.collect()
        counts.append(sum(issubclass(type(one), torch.Tensor) for one in gc.get_objects()))
    return {"wrong": ["tensors that backward keeps in memory"] if counts[2] >= counts[1] + 10 else [], "counts": counts}


def compiled(full: bool) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A program through `torch.compile`: traced in any case, and by its compiler where there is one and time for it."""

    def compile_(device: dict[str, Any]) -> dict[str, Any]:
        if not hasattr(torch, "compile"):
            raise Skip("this torch has no compile")
        backend = "inductor" if full else "eager"
        try:
            got = [one.cpu().tolist() for one in _compiled(device, backend)]
        except Exception as why:
            if any(word in str(why) + type(why).__name__ for word in _NO_COMPILER):
                raise Skip((str(why).strip().splitlines() or ["torch.compile does not work here"])[0][:200]) from why
            raise
        values = [(at % 13 - 6) / 4 for at in range(203)]
        wanted = [math.tanh(one) * 2 + (one if one > 0 else 0.0) for one in values]
        slopes = [2 * (1 - math.tanh(one) ** 2) + (1.0 if one > 0 else 0.0) for one in values]
        cases = [[backend, "float32", way, deviation(mine, right), "", 4.0]
                 for way, mine, right in (("forward", got[0], wanted), ("backward", got[1], slopes))]  # fmt: skip
        return {"cases": cases, "raised": [], "without": [], "elsewhere": [], "compiler": backend}

    compile_.__name__ = "compile"
    return compile_


_NO_COMPILER = (
    "compiler",
    "Python.h",
    "InvalidCxxCompiler",
    "TritonMissing",
    "not supported",
    "triton",
    "cl is not found",
    "No module named",
)


def _compiled(device: dict[str, Any], backend: str) -> tuple[Any, Any]:
    def program(x: Any) -> Any:
        return torch.tanh(x) * 2 + torch.relu(x)

    x = torch.tensor([(at % 13 - 6) / 4 for at in range(203)], dtype=torch.float32).to(device["id"]).requires_grad_()
    y = torch.compile(program, backend=backend)(x)
    return y.detach(), torch.autograd.grad(y, x, torch.ones_like(y))[0]
