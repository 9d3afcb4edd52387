"""A training step of two small networks of our own: one of convolutions, one of attention. The same on every device."""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator

import torch
from rigup_bench_clock import rate, timed
from torch import nn
from torch.nn import functional

Device = Dict[str, Any]
_WIDTHS = (64, 128, 256, 512)
_IMAGE, _CLASSES = 224, 1000
_VOCABULARY, _CONTEXT, _WIDTH, _LAYERS, _HEADS = 8192, 256, 384, 6, 6


class Block(nn.Module):  # type: ignore[misc]
    """Two convolutions with a way around them."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU())
        self.second = nn.Sequential(nn.Conv2d(after, after, 3, 1, 1, bias=False), nn.BatchNorm2d(after))
        same = before == after and stride == 1
        self.around = nn.Identity() if same else nn.Conv2d(before, after, 1, stride, bias=False)

    def forward(self, x: Any) -> Any:
        """The block's output."""
        return functional.relu(self.second(self.first(x)) + self.around(x))


def convolutions() -> nn.Module:
    """Eighteen layers, as the first residual networks had."""
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]  # type: list[nn.Module]
    before = 64
    for number, after in enumerate(_WIDTHS):
        layers += [Block(before, after, 1 if number == 0 else 2), Block(after, after, 1)]
        before = after
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, _CLASSES))


class Language(nn.Module):  # type: ignore[misc]
    """A small decoder: tokens in, the next token out."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(_VOCABULARY, _WIDTH)
        self.places = nn.Embedding(_CONTEXT, _WIDTH)
        layer = nn.TransformerEncoderLayer(_WIDTH, _HEADS, 4 * _WIDTH, 0.0, "gelu", batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, _LAYERS, enable_nested_tensor=False)
        self.out = nn.Linear(_WIDTH, _VOCABULARY, bias=False)

    def forward(self, tokens: Any, mask: Any) -> Any:
        """Scores of each next token."""
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.out(self.layers(self.words(tokens) + self.places(places), mask=mask, is_causal=True))


def convolution_step(seconds: float) -> Callable[..., Any]:
    """Images a second."""

    def measured(device: Device, part: float = 1.0) -> Any:
        batch = 4 if device["type"] == "cpu" else 64
        model = convolutions().to(device["id"]).train()
        images = torch.randn(batch, 3, _IMAGE, _IMAGE, device=device["id"])
        wanted = torch.randint(_CLASSES, (batch,), device=device["id"])
        loss = lambda: functional.cross_entropy(model(images), wanted)  # noqa: E731
        return {"results": list(_steps(device, model, loss, "convolution-step", "image/s", batch, seconds * part))}

    return measured


def transformer_step(seconds: float) -> Callable[..., Any]:
    """Tokens a second."""

    def measured(device: Device, part: float = 1.0) -> Any:
        batch = 2 if device["type"] == "cpu" else 32
        model = Language().to(device["id"]).train()
        tokens = torch.randint(_VOCABULARY, (batch, _CONTEXT), device=device["id"])
        mask = nn.Transformer.generate_square_subsequent_mask(_CONTEXT).to(device["id"])
        loss = lambda: functional.cross_entropy(model(tokens, mask).flatten(0, 1), tokens.flatten())  # noqa: E731
        return {"results": list(_steps(device, model, loss, "transformer-step", "token/s", batch * _CONTEXT, seconds * part))}

    return measured


def _steps(device: Device, model: nn.Module, loss: Callable[[], Any], name: str, unit: str, amount: int, seconds: float) -> Iterator[Any]:
    """The step in float32, and on a GPU with the short type where that can be."""
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for kind, short in _ways(device):

        def step(short: Any = short) -> None:
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(device["type"], dtype=short, enabled=short is not None):
                loss_value = loss()
            loss_value.backward()
            optimizer.step()

        yield dict(rate(timed(device, step, seconds), amount), name=name, type=kind, unit=unit)


def _ways(device: Device) -> Iterator[tuple[str, Any]]:
    yield "float32", None
    if device["type"] in ("cuda", "xpu"):
        yield "bfloat16", torch.bfloat16
