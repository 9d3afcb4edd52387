"""What training needs beside operators: checkpoints, saved files, views, gradients that are added up and taken away."""

from __future__ import annotations

import io
from functools import partial
from typing import Any, Callable, Iterator

import torch
from rigup_probe_torch_cases import FLOATS
from torch import nn

_KINDS = (*FLOATS, "int8", "int16", "int32", "int64", "uint8", "bool")


def training_tools(device: dict[str, Any]) -> dict[str, Any]:
    """All of these have one right answer."""
    checks: tuple[Callable[[dict[str, Any]], Iterator[tuple[str, bool]]], ...]
    checks = (_detached, _gradients_taken_away, _added_up, _recomputed, _saved, _states)
    wrong = [name for check in checks for name, right in check(device) if not right]
    return {"wrong": list(dict.fromkeys(wrong))}


def _numbers(device: dict[str, Any], *values: float, kind: str = "float32") -> Any:
    return torch.tensor(values, dtype=getattr(torch, kind)).to(device["id"])


def _detached(device: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """What is promised to be the same memory is; a view sees what is written through another."""
    x = _numbers(device, 1, 2, 3, 4, 5, 6)
    views = {
        "detach": x.detach(),
        "view": x.view(2, 3),
        "slice": x[:],
        "reshape": x.reshape(3, 2),
        "unsqueeze": x[None],
        "permute": x.view(2, 3).permute(1, 0),
    }
    x.fill_(7)
    yield from (
        (name + ", which is no view of the same memory,", set(view.reshape(-1).cpu().tolist()) == {7.0}) for name, view in views.items()
    )
    leaf = _numbers(device, 1, 2).requires_grad_()
    yield "detach keeps requires_grad", not (leaf * 2).detach().requires_grad


def _model(device: dict[str, Any]) -> Any:
    """Two layers with the same numbers each time."""
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1)).to(device["id"])
    with torch.no_grad():
        for count, parameter in enumerate(model.parameters(), 1):
            parameter.fill_(0.25 * count)
    return model


def _gradients_taken_away(device: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """By the optimizer, by the module; as None or as zeros."""
    for owner in ("optimizer", "module"):
        for to_none in (True, False):
            model = _model(device)
            model(_numbers(device, 1, 2)[None]).sum().backward()
            of = torch.optim.SGD(model.parameters(), lr=0.5) if owner == "optimizer" else model
            of.zero_grad(set_to_none=to_none)
            left = [parameter.grad for parameter in model.parameters()]
            right = [gradient is None if to_none else gradient is not None and not gradient.cpu().any().item() for gradient in left]
            yield "zero_grad of the " + owner, all(right)


def _added_up(device: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Two steps backward without that."""
    x = _numbers(device, 1, 2).requires_grad_()
    for _step in range(2):
        (x * x).sum().backward()
    yield "gradients that are accumulated", x.grad.cpu().tolist() == [4.0, 8.0]
    with torch.no_grad():
        yield "no_grad", not (x * 2).requires_grad
    y = (x * 3).sum()
    first, second = (torch.autograd.grad(y, x, retain_graph=True)[0].cpu().tolist() for _ in range(2))
    yield "a graph that is kept", first == second == [3.0, 3.0]
    gradients: list[Any] = []
    x.register_hook(lambda slope: gradients.append(slope.cpu().tolist()))
    (x * 5).sum().backward()
    yield "a hook of a tensor", gradients == [[5.0, 5.0]]


def _recomputed(device: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Gradient checkpoints: the same gradients, of the input and of the parameters."""
    from torch.utils.checkpoint import checkpoint

    wanted = _slopes(device, lambda model, x: model(x))
    for reentrant in (False, True):
        name = "checkpoint (recomputed gradients, use_reentrant=" + str(reentrant) + ")"
        try:
            got = _slopes(device, partial(checkpoint, use_reentrant=reentrant))
        except RuntimeError as why:  # where the graph was lost, autograd says no more than that
            yield name + ": " + (str(why).strip().splitlines() or [""])[0][:200], False
            continue
        yield name, None not in got and got == wanted


def _slopes(device: dict[str, Any], call: Callable[[Any, Any], Any]) -> list[Any]:
    model, x = _model(device), _numbers(device, 0.5, -1).view(1, 2).requires_grad_()
    call(model, x).sum().backward()
    return [None if tensor.grad is None else tensor.grad.cpu().tolist() for tensor in (x, *model.parameters())]


def _saved(device: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Each type, from the device and back to it, also views."""
    for kind in [dtype_name for dtype_name in _KINDS if not (dtype_name == "float64" and device["type"] == "mps")]:
        x = _numbers(device, 1, 0, 3, 1, 0, 5, kind=kind)
        for way, tensor in (("", x), (" of a slice", x[1:4]), (" of a transposed matrix", x.view(2, 3).t())):
            back = _through_file(tensor, device)
            right = back.dtype == tensor.dtype and back.device.type == tensor.device.type and back.cpu().tolist() == tensor.cpu().tolist()
            yield "save and load" + way + " in " + kind, right


def _through_file(content: Any, device: dict[str, Any]) -> Any:
    file = io.BytesIO()
    torch.save(content, file)
    file.seek(0)
    return torch.load(file, map_location=device["id"])


def _states(device: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """A module's and an optimizer's state, saved and loaded into others."""
    model, other = _model(device), nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1)).to(device["id"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.5)
    model(_numbers(device, 1, 2)[None]).sum().backward()
    optimizer.step()
    other.load_state_dict(_through_file(model.state_dict(), device))
    same = [a.cpu().tolist() == b.cpu().tolist() for a, b in zip(model.parameters(), other.parameters())]
    yield "state_dict saved and loaded", all(same) and len(same) == 4
    state = _through_file(optimizer.state_dict(), device)["state"]
    held = [slots["momentum_buffer"].cpu().tolist() for slots in state.values()]
    yield ("an optimizer's state saved and loaded", held == [parameter.grad.cpu().tolist() for parameter in model.parameters()])
