"""The same call again and again with other numbers: nothing that was told before is told again or changed."""

from __future__ import annotations

from typing import Any, Callable

import rigup_probe_reference as right
import rigup_probe_reference_networks as networks
import rigup_probe_tape as tape
import torch
from rigup_probe_grid import Grid, along, each, reduced
from rigup_probe_torch_cases import Input, _plain, deviation, given, literal
from rigup_probe_torch_compare import unsupported
from torch.nn import functional

_ROUNDS = 5
_KINDS = ("float32", "float16", "bfloat16")
_CALLS: tuple[tuple[str, Callable[..., Any], Callable[..., Grid], tuple[tuple[int, ...], ...]], ...] = (
    ("mm", torch.mm, networks.matmul, ((5, 7), (7, 3))),
    ("bmm", torch.bmm, networks.matmul, ((2, 3, 5), (2, 5, 4))),
    ("linear", functional.linear, networks.linear, ((4, 6), (5, 6), (5,))),
    ("matmul", lambda x, y: x @ y, networks.matmul, ((2, 3, 5), (5, 4))),
    ("addmm", torch.addmm, lambda c, x, y: each(lambda number, other: number + other)(c, networks.matmul(x, y)), ((4, 5), (4, 6), (6, 5))),
    ("conv1d", functional.conv1d, networks.convolution(), ((1, 2, 7), (3, 2, 3), (3,))),
    ("conv2d", functional.conv2d, networks.convolution(), ((1, 2, 5, 4), (3, 2, 2, 2), (3,))),
    ("conv_transpose2d", functional.conv_transpose2d, networks.transposed_convolution(), ((1, 2, 3, 2), (2, 3, 2, 2))),
    ("attention", functional.scaled_dot_product_attention, networks.attention(), ((1, 2, 3, 4),) * 3),
    ("softmax", lambda x: functional.softmax(x, 1), along(1, right.softmax), ((3, 9),)),
    ("log_softmax", lambda x: functional.log_softmax(x, 1), along(1, right.log_softmax), ((3, 9),)),
    ("layer_norm", lambda x, w, b: functional.layer_norm(x, w.shape, w, b, right.EPSILON), right.layer_norm, ((3, 8), (8,), (8,))),
    ("group_norm", lambda x, w, b: functional.group_norm(x, 2, w, b, right.EPSILON), right.group_norm(2), ((2, 4, 3), (4,), (4,))),
    (
        "batch_norm",
        lambda x, w, b: functional.batch_norm(x, None, None, w, b, True, 0.1, right.EPSILON),
        right.batch_norm,
        ((5, 4), (4,), (4,)),
    ),
    ("gelu", functional.gelu, each(right.gelu), ((17,),)),
    ("silu", functional.silu, each(right.silu), ((17,),)),
    ("relu", functional.relu, each(right.relu), ((17,),)),
    ("tanh", torch.tanh, each(tape.tanh), ((17,),)),
    ("sigmoid", torch.sigmoid, each(tape.sigmoid), ((17,),)),
    ("exp", torch.exp, each(tape.exp), ((17,),)),
    ("add", torch.add, each(lambda x, y: x + y), ((17,), (17,))),
    ("mul", torch.mul, each(lambda x, y: x * y), ((17,), (17,))),
    ("where", lambda x, y: torch.where(x > 0, x, y), each(lambda x, y: x if x > 0 else y), ((17,), (17,))),
    ("sum", lambda x: torch.sum(x, 1), reduced((1,), tape.total), ((4, 9),)),
    ("mean", lambda x: torch.mean(x, 1), reduced((1,), right.mean), ((4, 9),)),
    ("max", lambda x: torch.max(x, 1)[0], reduced((1,), max), ((4, 9),)),
    ("sort", lambda x: torch.sort(x, 1)[0], along(1, sorted), ((3, 9),)),
    ("cumsum", lambda x: torch.cumsum(x, 1), along(1, right.running_sum), ((3, 9),)),
    ("cat", lambda x, y: torch.cat([x, y]), lambda x, y: Grid((9,), x.flat + y.flat), ((4,), (5,))),
    ("max_pool2d", lambda x: functional.max_pool2d(x, 2), networks.pool(2, 2, 0, right.largest, False), ((1, 2, 4, 6),)),
)
_ROWS = [[3, 1, 0, 3], [2, 2, 6, 1], [0, 5, 4, 4], [1, 1, 2, 3], [6, 0, 5, 2]]


def repeated(device: dict[str, Any]) -> dict[str, Any]:
    """Results are kept until all calls were made: what lies in memory that is used again is seen, too."""
    summary: dict[str, Any] = {"cases": [], "raised": [], "without": [], "elsewhere": []}
    for name, call, reference, shapes in _CALLS:
        rounds = [[given(*shape, seed=10 * at + place, low=-1, high=1) for place, shape in enumerate(shapes)] for at in range(_ROUNDS)]
        _again(summary, device, name, call, reference, rounds)
    tables = [[literal(rows, kind="int64"), given(7, 3, seed=at)] for at, rows in enumerate(_ROWS)]
    _again(summary, device, "embedding", functional.embedding, networks.embedding(), tables)
    return summary


def _again(summary: dict[str, Any], device: dict[str, Any], name: str, call: Any, reference: Any, rounds: list[list[Input]]) -> None:
    wanted = [reference(*(input_.grid for input_ in inputs)) for inputs in rounds]
    for kind in _KINDS:
        try:
            laid_rounds = [[_laid(input_, kind, device) for input_ in inputs] for inputs in rounds]
            with torch.no_grad():
                kept = [call(*inputs) for inputs in laid_rounds]
        except Exception as why:  # whatever a broken build makes of it
            lacks = unsupported(why) and kind != "float32"
            summary["without"] += [name + " " + kind] if lacks else []
            summary["raised"] += [] if lacks else [[name, kind, "forward", type(why).__name__ + ": " + str(why)[:200]]]
            continue
        for at, (result, grid) in enumerate(zip(kept, wanted), 1):
            error = deviation(result.cpu().reshape(-1).tolist(), grid.flat)
            summary["cases"].append([name, kind, "forward", error, "call " + str(at) + " of " + str(_ROUNDS), 6.0])


def _laid(input_: Input, kind: str, device: dict[str, Any]) -> Any:
    return _plain(input_.grid, getattr(torch, kind if input_.kind == "given" else input_.kind), device["id"])
