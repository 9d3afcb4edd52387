"""One cell, executed and measured: time, memory by device, energy, and the line that took most."""

from __future__ import annotations

import ast
import sys
import time
from types import CodeType, FrameType
from typing import Any, NamedTuple

from .meters import Energy, Meter, wait_for_devices

_MOST_EVENTS = 20_000  # lines that are looked at; a loop with more would be held up


class Line(NamedTuple):
    """A line of a cell: its number from 1, its text, and by how many bytes the most in use grew while it ran."""

    number: int
    text: str
    grew: int


class Report(NamedTuple):
    """What a cell used.

    Attributes:
        seconds: until all devices were done.
        processor_seconds: of all threads of the process.
        peaks: most bytes in use by device; `cpu` is the process.
        grew: by how many bytes more are in use than before, by device.
        joules: by who used them; empty where nothing counts them.
        lines: that took most, by device.
        cut: whether lines were looked at to the end of the cell.

    """

    seconds: float
    processor_seconds: float
    peaks: dict[str, int]
    grew: dict[str, int]
    joules: dict[str, float]
    lines: dict[str, Line]
    cut: bool


class _Lines:
    """Follows the lines of one file, and keeps for each by how much the most in use grew."""

    def __init__(self, meter: Meter, energy: Energy, name: str) -> None:
        self._meter, self._energy, self._name = meter, energy, name
        self.before = self.began = meter.take()
        self.peaks = {device: used.now for device, used in self.before.items()}
        self.most: dict[str, dict[int, int]] = {}
        self._line, self.events = 0, 0

    def trace(self, frame: FrameType, event: str, _value: Any) -> Any:
        """What `sys.settrace` calls: other files are not followed."""
        if frame.f_code.co_filename != self._name or self.events >= _MOST_EVENTS:
            return None
        if event in ("line", "return"):
            self.take()
            self._line = frame.f_lineno
            self.events += 1
        return self.trace

    def take(self) -> None:
        """What came since the last event is the last line's."""
        used = self._meter.take()
        self._energy.look(time.perf_counter())
        for device, (_now, peak) in used.items():
            self.peaks[device] = max(self.peaks.get(device, 0), peak)
            before = self.before.get(device)
            most = self.most.setdefault(device, {})
            if self._line:
                most[self._line] = max(most.get(self._line, 0), peak - (before.now if before else 0))
        self.before = used


def run_measured(source: str, code: list[CodeType], variables: dict[str, Any], name: str) -> Report:
    """Execute a cell and measure it.

    Args:
        source: as it is shown, for the text of lines.
        code: its parts, as `compiled` gives them.
        variables: of the notebook, in which it runs.
        name: of its file.

    Raises:
        BaseException: whatever the cell raises.

    """
    wait_for_devices()
    energy, started = Energy(), time.perf_counter()
    with Meter() as meter:
        lines = _Lines(meter, energy, name)
        energy.begin(started)
        processor, former = time.process_time(), sys.gettrace()
        sys.settrace(lines.trace)
        try:
            for part in code:
                exec(part, variables)  # noqa: S102  (it is the person's own cell)
        finally:
            sys.settrace(former)
        wait_for_devices()
        ended = time.perf_counter()
        lines.take()
    return _report(source, lines, ended - started, time.process_time() - processor, energy.end(ended))


def _report(source: str, lines: _Lines, seconds: float, processor_seconds: float, joules: dict[str, float]) -> Report:
    texts = source.splitlines()
    most = {}
    for device, grown in lines.most.items():
        number = max(grown, key=grown.__getitem__, default=0)
        if number and grown[number] > 0:
            text = texts[number - 1].strip()[:80] if number <= len(texts) else ""
            most[device] = Line(number, text, grown[number])
    grew = {device: used.now - lines.began[device].now for device, used in lines.before.items() if device in lines.began}
    return Report(seconds, processor_seconds, lines.peaks, grew, joules, most, lines.events < _MOST_EVENTS)


def compiled(source: str, name: str) -> list[CodeType]:
    """The parts of a cell: all but a last expression, and that, whose value the notebook shows. Raises SyntaxError."""
    tree = ast.parse(source, name)
    last = tree.body[-1:] if tree.body and isinstance(tree.body[-1], ast.Expr) else []
    shown = last and not source.rstrip().endswith(";")
    body = tree.body[:-1] if shown else tree.body
    parts = [compile(ast.Module(body=body, type_ignores=[]), name, "exec")]
    return [*parts, compile(ast.Interactive(body=list(last)), name, "single")] if shown else parts
