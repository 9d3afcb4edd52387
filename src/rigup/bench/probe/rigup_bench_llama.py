"""Tokens a second of llama.cpp on each device: by the environment's own llama.cpp, else by `llama-bench` on the path.

Without a model of the person's one is made here, of random weights: how fast it is depends on sizes and types alone.
"""

from __future__ import annotations

import functools
import os
import random
import struct
import tempfile
import time
from typing import Any, Callable, Dict, Iterator

from rigup_bench_llama_tool import OutOfTime, Tool
from rigup_bench_spread import of_rates
from rigup_bench_time import cut, given, left, names, planned
from rigup_probe import Skip
from rigup_probe_gguf import F32, Q4_0, Part, Shape, matrices, write
from rigup_probe_llama_engines import Server, engine

Device = Dict[str, Any]
_SMALL = Shape(width=1024, heads=16, layers=12, inner=2816, vocabulary=8192, context=1024)
_LARGE = Shape(width=2048, heads=32, layers=22, inner=5632, vocabulary=32000, context=1024)
_BLOCK = 32  # weights that share a scale in Q4_0, in 18 bytes
_PATTERN = 4096  # blocks of random numbers, repeated
_PROMPT, _WRITTEN = 512, 64  # tokens that are read, and written, in one go
_TRIED = (64, 8)  # the same, to see how long a go takes
_FEWEST = (32, 8)
_MOST = 50  # goes


@functools.lru_cache(maxsize=None)
def _engine() -> Any:
    """The engine of the benchmark.

    Raises:
        ImportError: the environment has no llama.cpp, and the path has none either.

    """
    try:
        return engine()
    except ImportError:
        tool = Tool.found()
        if tool is None:
            raise
        return tool


def about() -> dict[str, Any]:
    """The build."""
    return dict(_engine().about())


def devices() -> list[Device]:
    """All that llama.cpp lists, the CPU last."""
    return [dict(device, planned=names([_WISH])) for device in _engine().devices()]


def checks(_device: Device, full: bool) -> Iterator[tuple[str, Callable[[Device], Any]]]:
    """The checks of a device."""
    planned_checks = planned(len(devices()), [(*_WISH[:2], functools.partial(tokens, full=full))])  # type: Any
    return iter(planned_checks)


def tokens(device: Device, full: bool = False, part: float = 1.0) -> Any:
    """Tokens per second of prefill and of decode."""
    seconds = (20.0 if full else 4.0) * part
    own = given("model")
    if own:
        return _measured(str(own), "", device, seconds)
    shape = _LARGE if full else _SMALL
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.gguf")
        try:
            with open(path, "wb") as file:
                write(file, shape, [_part(name, *sizes) for name, sizes in matrices(shape).items()])
        except OSError as error:
            raise Skip("no model could be made in " + folder + ": " + str(error))  # noqa: B904
        return _measured(path, _named(shape), device, seconds)


_WISH = ("tokens", 12.0, tokens)


def _named(shape: Shape) -> str:
    count = sum(rows * columns for rows, columns in matrices(shape).values())
    return (f"{count / 1e9:.1f}B" if count > 5e8 else f"{count / 1e6:.0f}M") + " Q4_0"


def _part(name: str, rows: int, columns: int) -> Part:
    """A vector in float32; a matrix in blocks of four bits."""
    if rows == 1:
        return Part(name, [columns], F32, 4 * columns, lambda: struct.pack(f"<{columns}f", *[1.0] * columns))
    count = rows * columns // _BLOCK
    return Part(name, [columns, rows], Q4_0, 18 * count, lambda: _blocks(count))


@functools.lru_cache(maxsize=1)
def _pattern() -> bytes:
    draw = random.Random(5)  # noqa: S311  (weights)
    return b"".join(struct.pack("<e", 0.01) + bytes(draw.getrandbits(8) for _byte in range(16)) for _n in range(_PATTERN))


def _blocks(count: int) -> bytes:
    whole, rest = divmod(count, _PATTERN)
    return _pattern() * whole + _pattern()[: 18 * rest]


def _measured(path: str, name: str, device: Device, seconds: float) -> Any:
    """Goes until the time is over, at least one."""
    runs, runner = [], _engine()  # type: list[tuple[float, float]], Any
    if isinstance(runner, Tool):
        try:
            return _by_tool(runner, path, name, device, seconds)
        except OutOfTime:
            return cut(device)
    with _Runner(runner, path, device) as go:
        go(*_TRIED)
        sizes, end = _sizes(go(*_TRIED), seconds), time.perf_counter() + seconds
        while not runs or (time.perf_counter() < end and left() > 0):
            runs.append(go(*sizes))
        name = name or go.described() or os.path.basename(path)
    return _as_results(name, ([run[0] for run in runs], [run[1] for run in runs]), sizes)


def _by_tool(tool: Tool, path: str, name: str, device: Device, seconds: float) -> Any:
    """The same by a program that counts its goes itself, and warms up for each."""
    trial = tool.measured(path, device, _TRIED, 1)
    rates = (trial["prefill"][0], trial["decode"][0])
    sizes = _sizes(rates, seconds)
    once = sum(size / rate for size, rate in zip(sizes, rates))
    measured = tool.measured(path, device, sizes, max(2, min(_MOST, int(seconds / once))))
    return _as_results(name or measured["model"], (measured["prefill"], measured["decode"]), sizes)


def _as_results(name: str, rates: tuple[list[float], list[float]], sizes: tuple[int, int]) -> Any:
    kinds = zip(("prefill", "decode"), rates, sizes)
    return {"results": [_figure(kind, name, found, size) for kind, found, size in kinds]}


def _sizes(rates: tuple[float, float], seconds: float) -> tuple[int, int]:
    """Tokens that are read and written in one go: fewer where a go would take all the time."""
    sizes = (_PROMPT, _WRITTEN)
    while sum(size / rate for size, rate in zip(sizes, rates)) > seconds / 2 and sizes[0] > _FEWEST[0]:
        sizes = (sizes[0] // 2, max(sizes[1] // 2, _FEWEST[1]))
    return sizes


def _figure(kind: str, name: str, rates: list[float], size: int) -> Any:
    """The results of some rates, under the model's name."""
    return dict(of_rates(rates), name=kind, type=name, unit="token/s", size=size)


class _Runner:
    """One go of a model: tokens a second that are read, and that are written."""

    def __init__(self, runner: Any, path: str, device: Device) -> None:
        self.engine, self.served = runner, isinstance(runner, Server)
        self.model = (runner.serving if self.served else runner.model)(path, device, _PROMPT + _WRITTEN + 32)

    def __enter__(self) -> _Runner:
        return self

    def __exit__(self, *_what: Any) -> None:
        if not self.served:
            self.model.close()
        self.model = None

    def described(self) -> str:
        """The model's name, if the engine reports it."""
        return "" if self.served else str(self.model.described())

    def __call__(self, count: int, written: int) -> tuple[float, float]:
        """Tokens a second, read and written."""
        prompt = [1, *(3 + token % 250 for token in range(count - 1))]
        if self.served:
            timings = self.engine.complete(self.model, prompt, written)["timings"]
            return float(timings["prompt_per_second"]), float(timings["predicted_per_second"])
        self.model.forget()
        began = time.perf_counter()
        self.model.read(prompt)
        between = time.perf_counter()
        for token in range(written):
            self.model.read([3 + token])
        return count / (between - began), written / (time.perf_counter() - between)
