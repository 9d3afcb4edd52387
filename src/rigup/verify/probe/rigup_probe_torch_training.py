"""Training: one step with its gradients, and a small network to an accuracy that chance does not reach."""

from __future__ import annotations

import copy
from typing import Any

import torch
from rigup_probe_torch_compare import elsewhere, error, pseudo
from torch import nn

_CLASSES, _TRAIN, _TEST, _EPOCHS, _BATCH = 10, 2000, 1000, 4, 50


def training_step(device: dict[str, Any]) -> dict[str, Any]:
    """One step of a network with all usual parts, against the same in float64 on the CPU."""
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(24, 48), nn.LayerNorm(48), nn.GELU(), nn.Linear(48, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 5)
    )
    here, on_device = copy.deepcopy(model).double(), copy.deepcopy(model).float().to(device["id"])
    inputs, goals = pseudo(1, 64, 24), torch.arange(64) % 5
    wanted, right = _step(here, inputs, goals)
    got, mine = _step(on_device, inputs.float().to(device["id"]), goals.to(device["id"]))
    errors = {name: error(mine[name], right[name]) for name in right}
    return {"errors": dict(errors, loss=error(got, wanted)), "elsewhere": elsewhere(device, loss=got, **mine)}


def _step(model: Any, inputs: Any, goals: Any) -> tuple[Any, dict[str, Any]]:
    """The loss before a step, and the parameters after it; an optimizer of torch's takes seconds to import."""
    loss = nn.functional.cross_entropy(model(inputs), goals)
    loss.backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.sub_(0.1 * parameter.grad)
    return loss.detach(), {name.replace(".", " "): parameter.detach() for name, parameter in model.named_parameters()}


def training(device: dict[str, Any]) -> dict[str, Any]:
    """A small convolution network learns pictures that are made here: shapes, moved and under noise."""
    torch.manual_seed(0)
    pictures, labels = (tensor.to(device["id"]) for tensor in _pictures(_TRAIN + _TEST))
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 16, 64),
        nn.ReLU(),
        nn.Linear(64, _CLASSES),
    ).to(device["id"])
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    before = _accuracy(model, pictures, labels)
    losses = [_epoch(model, optimizer, pictures[:_TRAIN], labels[:_TRAIN]) for _ in range(_EPOCHS)]
    return {"accuracy": _accuracy(model, pictures, labels), "before": before, "losses": losses}


def _pictures(count: int) -> tuple[Any, Any]:
    """Pictures of 16 by 16: one of ten patterns, somewhere, under noise."""
    draw = torch.Generator().manual_seed(11)
    patterns = (torch.rand(_CLASSES, 12, 12, generator=draw) > 0.5).float() * 2 - 1
    labels = torch.randint(0, _CLASSES, (count,), generator=draw)
    pictures = 0.5 * torch.randn(count, 1, 16, 16, generator=draw)
    moves = torch.randint(0, 4, (count, 2), generator=draw).tolist()
    for number, (down, right) in enumerate(moves):
        pictures[number, 0, down : down + 12, right : right + 12] += patterns[labels[number]]
    return pictures, labels


def _epoch(model: Any, optimizer: Any, pictures: Any, labels: Any) -> float:
    model.train()
    total = 0.0
    for batch in torch.randperm(len(labels)).split(_BATCH):
        chosen = batch.to(labels.device)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(pictures[chosen]), labels[chosen])
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total * _BATCH / len(labels)


def _accuracy(model: Any, pictures: Any, labels: Any) -> float:
    """The share of pictures that it has not learnt from and tells right."""
    model.eval()
    with torch.no_grad():
        return float((model(pictures[_TRAIN:]).argmax(1) == labels[_TRAIN:]).float().mean().item())
