"""Steps of optimizers on one number, as their papers and torch's documentation define them, with arguments off the default.

Sources: arXiv:1412.6980 (Adam, Adamax), arXiv:1711.05101 (AdamW), arXiv:1908.03265 (RAdam), arXiv:1212.5701 (Adadelta),
pytorch.org/docs (`torch.optim`).
"""

from __future__ import annotations

import math
from typing import Any, Callable, Dict

RATE, DECAY, EPS, BETAS = 0.125, 0.25, 0.01, (0.75, 0.875)
State = Dict[str, float]
Step = Callable[[float, float, int, State], float]


def sgd(momentum: float = 0.0, decay: float = 0.0, dampening: float = 0.0, nesterov: bool = False) -> Step:
    """Down the slope; with a momentum, whose first value is the slope itself."""

    def step(value: float, slope: float, count: int, state: State) -> float:
        slope += decay * value
        state["m"] = slope if count == 1 else momentum * state["m"] + (1 - dampening) * slope
        return value - RATE * (slope + momentum * state["m"] if nesterov else state["m"] if momentum else slope)

    return step


def adam(decay: float = 0.0, apart: bool = False, greatest: bool = False, up: bool = False) -> Step:
    """By the means of the slope and of its square. `apart`: the decay is no part of the slope; `greatest`: of all means."""

    def step(value: float, slope: float, count: int, state: State) -> float:
        slope = -slope if up else slope
        slope, value = (slope, value * (1 - RATE * decay)) if apart else (slope + decay * value, value)
        _means(state, slope)
        state["most"] = max(state.get("most", 0.0), state["v"])
        first, second = state["m"] / (1 - BETAS[0] ** count), (state["most"] if greatest else state["v"]) / (1 - BETAS[1] ** count)  # fmt: skip
        return value - RATE * first / (math.sqrt(second) + EPS)

    return step


def _means(state: State, slope: float) -> None:
    state["m"] = BETAS[0] * state.get("m", 0.0) + (1 - BETAS[0]) * slope
    state["v"] = BETAS[1] * state.get("v", 0.0) + (1 - BETAS[1]) * slope**2


def adamax(value: float, slope: float, count: int, state: State) -> float:
    """By the greatest slope, which fades."""
    state["m"] = BETAS[0] * state.get("m", 0.0) + (1 - BETAS[0]) * slope
    state["u"] = max(BETAS[1] * state.get("u", 0.0), abs(slope) + EPS)
    return value - RATE / (1 - BETAS[0] ** count) * state["m"] / state["u"]


def radam(value: float, slope: float, count: int, state: State) -> float:
    """By the mean square only where enough of them were seen."""
    _means(state, slope)
    first = state["m"] / (1 - BETAS[0] ** count)
    most = 2 / (1 - BETAS[1]) - 1
    seen = most - 2 * count * BETAS[1] ** count / (1 - BETAS[1] ** count)
    if seen <= 5:
        return value - RATE * first
    share = (seen - 4) * (seen - 2) * most / ((most - 4) * (most - 2) * seen)
    return value - RATE * first * math.sqrt(share) * math.sqrt(1 - BETAS[1] ** count) / (math.sqrt(state["v"]) + EPS)


def rmsprop(momentum: float = 0.0, centered: bool = False, decay: float = 0.0) -> Step:
    """By the root of the mean square; `centered`: of the deviation."""

    def step(value: float, slope: float, _count: int, state: State) -> float:
        slope += decay * value
        state["v"] = 0.875 * state.get("v", 0.0) + 0.125 * slope**2
        state["g"] = 0.875 * state.get("g", 0.0) + 0.125 * slope
        size = math.sqrt(max(state["v"] - state["g"] ** 2, 0.0) if centered else state["v"]) + EPS
        state["m"] = momentum * state.get("m", 0.0) + slope / size
        return value - RATE * state["m"]

    return step


def adagrad(fading: float = 0.0, decay: float = 0.0, begun: float = 0.0) -> Step:
    """By the root of all squares; the rate fades."""

    def step(value: float, slope: float, count: int, state: State) -> float:
        slope += decay * value
        state["v"] = state.get("v", begun) + slope**2
        return value - RATE / (1 + (count - 1) * fading) * slope / (math.sqrt(state["v"]) + EPS)

    return step


def adadelta(value: float, slope: float, _count: int, state: State) -> float:
    """By the ratio of two roots."""
    state["v"] = 0.75 * state.get("v", 0.0) + 0.25 * slope**2
    change = math.sqrt(state.get("d", 0.0) + EPS) / math.sqrt(state["v"] + EPS) * slope
    state["d"] = 0.75 * state.get("d", 0.0) + 0.25 * change**2
    return value - RATE * change


_ADAM: dict[str, Any] = {"betas": BETAS, "eps": EPS}
_RMS: dict[str, Any] = {"alpha": 0.875, "eps": EPS}
# name, class in torch.optim, arguments, reference
OPTIMIZERS: tuple[tuple[str, str, dict[str, Any], Step], ...] = (
    ("SGD", "SGD", {}, sgd()),
    ("SGD with momentum", "SGD", {"momentum": 0.5, "weight_decay": DECAY}, sgd(0.5, DECAY)),
    ("SGD (Nesterov)", "SGD", {"momentum": 0.5, "nesterov": True}, sgd(0.5, nesterov=True)),
    ("SGD (dampening)", "SGD", {"momentum": 0.5, "dampening": 0.25}, sgd(0.5, dampening=0.25)),
    ("SGD with decay", "SGD", {"weight_decay": DECAY}, sgd(decay=DECAY)),
    ("Adam", "Adam", _ADAM, adam()),
    ("Adam with decay", "Adam", {**_ADAM, "weight_decay": DECAY}, adam(DECAY)),
    ("Adam (amsgrad)", "Adam", {**_ADAM, "amsgrad": True}, adam(greatest=True)),
    ("Adam (maximize)", "Adam", {**_ADAM, "maximize": True}, adam(up=True)),
    ("AdamW", "AdamW", {**_ADAM, "weight_decay": DECAY}, adam(DECAY, True)),
    ("AdamW (amsgrad)", "AdamW", {**_ADAM, "weight_decay": DECAY, "amsgrad": True}, adam(DECAY, True, True)),
    ("Adamax", "Adamax", _ADAM, adamax),
    ("RAdam", "RAdam", _ADAM, radam),
    ("RMSprop", "RMSprop", _RMS, rmsprop()),
    ("RMSprop with momentum", "RMSprop", {**_RMS, "momentum": 0.5, "weight_decay": DECAY}, rmsprop(0.5, decay=DECAY)),
    ("RMSprop (centered)", "RMSprop", {**_RMS, "centered": True}, rmsprop(centered=True)),
    ("Adagrad", "Adagrad", {"eps": EPS}, adagrad()),
    ("Adagrad (lr_decay)", "Adagrad", {"eps": EPS, "lr_decay": 0.5, "weight_decay": DECAY}, adagrad(0.5, DECAY)),
    (
        "Adagrad (initial_accumulator_value)",
        "Adagrad",
        {"eps": EPS, "initial_accumulator_value": 0.5},
        adagrad(begun=0.5),
    ),
    ("Adadelta", "Adadelta", {"rho": 0.75, "eps": EPS}, adadelta),
)
