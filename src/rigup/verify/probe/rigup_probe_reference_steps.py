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


def sgd(momentum: float = 0.0, decay: float = 0.0, dampening: float = 0.0, nesterov: bool = False, up: bool = False) -> Step:
    """Down the slope; with a momentum, whose first value is the slope itself."""

    def step(value: float, slope: float, count: int, state: State) -> float:
        slope = (-slope if up else slope) + decay * value
        state["m"] = slope if count == 1 else momentum * state["m"] + (1 - dampening) * slope
        return value - RATE * (slope + momentum * state["m"] if nesterov else state["m"] if momentum else slope)

    return step


def adam(decay: float = 0.0, decoupled: bool = False, greatest: bool = False, up: bool = False) -> Step:
    """By the means of the slope and of its square. `decoupled`: the decay is no part of the slope; `greatest`: of all means."""

    def step(value: float, slope: float, count: int, state: State) -> float:
        slope = -slope if up else slope
        slope, value = (slope, value * (1 - RATE * decay)) if decoupled else (slope + decay * value, value)
        _means(state, slope)
        state["most"] = max(state.get("most", 0.0), state["v"])
        first, second = state["m"] / (1 - BETAS[0] ** count), (state["most"] if greatest else state["v"]) / (1 - BETAS[1] ** count)
        return value - RATE * first / (math.sqrt(second) + EPS)

    return step


def _means(state: State, slope: float) -> None:
    state["m"] = BETAS[0] * state.get("m", 0.0) + (1 - BETAS[0]) * slope
    state["v"] = BETAS[1] * state.get("v", 0.0) + (1 - BETAS[1]) * slope**2


def adamax(decay: float = 0.0, up: bool = False) -> Step:
    """By the greatest slope, which fades."""

    def step(value: float, slope: float, count: int, state: State) -> float:
        slope = (-slope if up else slope) + decay * value
        state["m"] = BETAS[0] * state.get("m", 0.0) + (1 - BETAS[0]) * slope
        state["u"] = max(BETAS[1] * state.get("u", 0.0), abs(slope) + EPS)
        return value - RATE / (1 - BETAS[0] ** count) * state["m"] / state["u"]

    return step


def radam(decay: float = 0.0, decoupled: bool = False, up: bool = False) -> Step:
    """By the mean square only where enough of them were seen."""

    def step(value: float, slope: float, count: int, state: State) -> float:
        slope = -slope if up else slope
        slope, value = (slope, value * (1 - RATE * decay)) if decoupled else (slope + decay * value, value)
        _means(state, slope)
        first = state["m"] / (1 - BETAS[0] ** count)
        most = 2 / (1 - BETAS[1]) - 1
        seen = most - 2 * count * BETAS[1] ** count / (1 - BETAS[1] ** count)
        if seen <= 5:
            return value - RATE * first
        share = (seen - 4) * (seen - 2) * most / ((most - 4) * (most - 2) * seen)
        return value - RATE * first * math.sqrt(share) * math.sqrt(1 - BETAS[1] ** count) / (math.sqrt(state["v"]) + EPS)

    return step


def nadam(decay: float = 0.0, decoupled: bool = False, fading: float = 0.004, up: bool = False) -> Step:
    """With Nesterov's momentum, which grows (Dozat 2016)."""

    def step(value: float, slope: float, count: int, state: State) -> float:
        slope = -slope if up else slope
        slope, value = (slope, value * (1 - RATE * decay)) if decoupled else (slope + decay * value, value)
        _means(state, slope)
        now, later = (BETAS[0] * (1 - 0.5 * 0.96 ** (step_count * fading)) for step_count in (count, count + 1))
        state["p"] = state.get("p", 1.0) * now
        below = math.sqrt(state["v"] / (1 - BETAS[1] ** count)) + EPS
        first = RATE * (1 - now) / (1 - state["p"]) * slope + RATE * later / (1 - state["p"] * later) * state["m"]
        return value - first / below

    return step


def rprop(etas: tuple[float, float] = (0.5, 1.2), sizes: tuple[float, float] = (1e-6, 50.0), up: bool = False) -> Step:
    """By the sign of the slope alone, longer where it stays (Riedmiller and Braun 1993)."""

    def step(value: float, slope: float, _count: int, state: State) -> float:
        slope = -slope if up else slope
        both = slope * state.get("g", 0.0)
        size = state.get("s", RATE) * (etas[1] if both > 0 else etas[0] if both < 0 else 1.0)
        state["s"] = min(max(size, sizes[0]), sizes[1])
        state["g"] = 0.0 if both < 0 else slope
        return value - ((state["g"] > 0) - (state["g"] < 0)) * state["s"]

    return step


def asgd(decay: float = 0.0, shrink: float = 1e-4, power: float = 0.75, up: bool = False) -> Step:
    """Down the slope by a rate that fades."""

    def step(value: float, slope: float, count: int, state: State) -> float:
        slope = (-slope if up else slope) + decay * value
        rate = state.get("r", RATE)
        state["r"] = RATE / (1 + shrink * RATE * count) ** power
        return value * (1 - shrink * rate) - rate * slope

    return step


def rmsprop(momentum: float = 0.0, centered: bool = False, decay: float = 0.0, up: bool = False) -> Step:
    """By the root of the mean square; `centered`: of the deviation."""

    def step(value: float, slope: float, _count: int, state: State) -> float:
        slope = (-slope if up else slope) + decay * value
        state["v"] = 0.875 * state.get("v", 0.0) + 0.125 * slope**2
        state["g"] = 0.875 * state.get("g", 0.0) + 0.125 * slope
        size = math.sqrt(max(state["v"] - state["g"] ** 2, 0.0) if centered else state["v"]) + EPS
        state["m"] = momentum * state.get("m", 0.0) + slope / size
        return value - RATE * state["m"]

    return step


def adagrad(fading: float = 0.0, decay: float = 0.0, begun: float = 0.0, up: bool = False) -> Step:
    """By the root of all squares; the rate fades."""

    def step(value: float, slope: float, count: int, state: State) -> float:
        slope = (-slope if up else slope) + decay * value
        state["v"] = state.get("v", begun) + slope**2
        return value - RATE / (1 + (count - 1) * fading) * slope / (math.sqrt(state["v"]) + EPS)

    return step


def adadelta(decay: float = 0.0, up: bool = False) -> Step:
    """By the ratio of two roots."""

    def step(value: float, slope: float, _count: int, state: State) -> float:
        slope = (-slope if up else slope) + decay * value
        state["v"] = 0.75 * state.get("v", 0.0) + 0.25 * slope**2
        change = math.sqrt(state.get("d", 0.0) + EPS) / math.sqrt(state["v"] + EPS) * slope
        state["d"] = 0.75 * state.get("d", 0.0) + 0.25 * change**2
        return value - RATE * change

    return step


_ADAM: dict[str, Any] = {"betas": BETAS, "eps": EPS}
_DELTA: dict[str, Any] = {"rho": 0.75, "eps": EPS}
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
    ("Adamax", "Adamax", _ADAM, adamax()),
    ("RAdam", "RAdam", _ADAM, radam()),
    ("RMSprop", "RMSprop", _RMS, rmsprop()),
    ("RMSprop with momentum", "RMSprop", {**_RMS, "momentum": 0.5, "weight_decay": DECAY}, rmsprop(0.5, decay=DECAY)),
    ("RMSprop (centered)", "RMSprop", {**_RMS, "centered": True}, rmsprop(centered=True)),
    ("Adagrad", "Adagrad", {"eps": EPS}, adagrad()),
    ("Adagrad (lr_decay)", "Adagrad", {"eps": EPS, "lr_decay": 0.5, "weight_decay": DECAY}, adagrad(0.5, DECAY)),
    ("Adagrad (initial_accumulator_value)", "Adagrad", {"eps": EPS, "initial_accumulator_value": 0.5}, adagrad(begun=0.5)),
    ("Adadelta", "Adadelta", _DELTA, adadelta()),
    ("SGD (maximize)", "SGD", {"momentum": 0.5, "maximize": True}, sgd(0.5, up=True)),
    ("AdamW (maximize)", "AdamW", {**_ADAM, "weight_decay": DECAY, "maximize": True}, adam(DECAY, True, up=True)),
    ("Adamax with decay", "Adamax", {**_ADAM, "weight_decay": DECAY}, adamax(DECAY)),
    ("Adamax (maximize)", "Adamax", {**_ADAM, "maximize": True}, adamax(up=True)),
    ("RAdam with decay", "RAdam", {**_ADAM, "weight_decay": DECAY}, radam(DECAY)),
    ("RAdam (decoupled)", "RAdam", {**_ADAM, "weight_decay": DECAY, "decoupled_weight_decay": True}, radam(DECAY, True)),
    ("RAdam (maximize)", "RAdam", {**_ADAM, "maximize": True}, radam(up=True)),
    ("NAdam", "NAdam", _ADAM, nadam()),
    ("NAdam (momentum_decay)", "NAdam", {**_ADAM, "momentum_decay": 0.5, "weight_decay": DECAY}, nadam(DECAY, fading=0.5)),
    ("NAdam (decoupled)", "NAdam", {**_ADAM, "weight_decay": DECAY, "decoupled_weight_decay": True}, nadam(DECAY, True)),
    ("NAdam (maximize)", "NAdam", {**_ADAM, "maximize": True}, nadam(up=True)),
    ("Rprop", "Rprop", {}, rprop()),
    ("Rprop (etas, step_sizes)", "Rprop", {"etas": (0.25, 1.5), "step_sizes": (0.0625, 0.25)}, rprop((0.25, 1.5), (0.0625, 0.25))),
    ("Rprop (maximize)", "Rprop", {"maximize": True}, rprop(up=True)),
    ("ASGD", "ASGD", {}, asgd()),
    ("ASGD (lambd, alpha)", "ASGD", {"lambd": 0.5, "alpha": 0.25, "weight_decay": DECAY}, asgd(DECAY, 0.5, 0.25)),
    ("ASGD (maximize)", "ASGD", {"maximize": True}, asgd(up=True)),
    ("RMSprop (maximize)", "RMSprop", {**_RMS, "maximize": True}, rmsprop(up=True)),
    ("Adagrad (maximize)", "Adagrad", {"eps": EPS, "maximize": True}, adagrad(up=True)),
    ("Adadelta with decay", "Adadelta", {**_DELTA, "weight_decay": DECAY}, adadelta(DECAY)),
    ("Adadelta (maximize)", "Adadelta", {**_DELTA, "maximize": True}, adadelta(up=True)),
)
