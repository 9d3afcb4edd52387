"""A program through `torch.compile`, forward and backward, against the same in plain Python."""

from __future__ import annotations

from typing import Any, Callable

import rigup_probe_reference as right
import rigup_probe_reference_networks as networks
import torch
from rigup_probe import Skip
from rigup_probe_grid import Grid, along, each, lanes
from rigup_probe_torch_cases import LAYOUTS, Case, deviation, expected, real
from torch.nn import functional

# Where there is no time for the compiler: traced, taken apart and split into forward and backward as for the compiler.
_TRACED = ("aot_eager_decomp_partition", "aot_eager", "eager")
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


def compiled(full: bool) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """In any case traced and taken apart; by the compiler, which takes ten seconds of a processor, where there is time."""

    def compile_(device: dict[str, Any]) -> dict[str, Any]:
        if not hasattr(torch, "compile"):
            raise Skip("this torch has no compile")
        backend = "inductor" if full else _traced()
        try:
            results, slopes = _compiled(device, backend)
        except Exception as why:
            if any(word in str(why) + type(why).__name__ for word in _NO_COMPILER):
                raise Skip((str(why).strip().splitlines() or ["torch.compile does not work here"])[0][:200]) from why
            raise
        wanted = expected(_PROGRAM)
        pairs = [("forward", results, wanted.results[0])]
        pairs += [("backward", gradient, slope) for gradient, slope in zip(slopes, wanted.gradients)]
        cases = [[backend, "float32", way, deviation(got, wanted_grid.flat), "", 8.0] for way, got, wanted_grid in pairs]
        return {"cases": cases, "raised": [], "without": [], "elsewhere": [], "compiler": backend}

    compile_.__name__ = "compile"
    return compile_


def _traced() -> str:
    """The fullest way without a compiler that this torch knows."""
    try:
        known = torch._dynamo.list_backends(exclude_tags=())
    except (AttributeError, RuntimeError, ImportError, TypeError):
        return _TRACED[-1]
    return next((name for name in _TRACED if name in known), _TRACED[-1])


def _program(x: Any, weight: Any) -> Any:
    scores = functional.layer_norm(functional.gelu(x @ weight), weight.shape[1:], eps=right.EPSILON)
    return functional.softmax(scores * 2 + torch.tanh(x[:, : weight.shape[1]]), 1)


def _reference(x: Grid, weight: Grid) -> Grid:
    inner, wide = weight.shape
    hidden = each(right.gelu)(networks.matmul(x, weight))
    normal = lanes(hidden, lambda at: at[:-1], right.normal)
    firsts = Grid((x.shape[0], wide), [number for at, number in enumerate(x.flat) if at % inner < wide])
    return along(1, right.softmax)(each(lambda number, other: number * 2.0 + right.tanh(other))(normal, firsts))


_PROGRAM = Case("compiled program", (_program,), _reference, (real(7, 9), real(9, 5, seed=2, low=-1, high=1)))


def _compiled(device: dict[str, Any], backend: str) -> tuple[Any, Any]:
    """What comes of it, and its gradients."""
    inputs = [LAYOUTS[0].lay(input_.grid, torch.float32, device["id"]).requires_grad_() for input_ in _PROGRAM.inputs]
    y = torch.compile(_program, backend=backend)(*inputs)
    weights = LAYOUTS[0].lay(expected(_PROGRAM).weights[0], torch.float32, device["id"])
    slopes = torch.autograd.grad(y, inputs, weights)
    return y.detach().cpu().reshape(-1).tolist(), [gradient.cpu().reshape(-1).tolist() for gradient in slopes]
