"""`%rigup` and `%%rigup`: what IPython calls, and how it is shown."""

from __future__ import annotations

import html
import shlex
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

from .cell import Report, compiled, run_measured
from .holders import Holder, holders
from .meters import devices, resident

_COMMANDS = ("doctor", "fit", "plan")
_USAGE = "%rigup doctor | fit MODEL | plan WISH | memory | bar [off];  %%rigup at the head of a cell measures it"
_ROWS = 20
_PAUSE = 1.0


def size(count: float) -> str:
    """Bytes as people read them."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.2f} TB"


class Shown:
    """A table: rich in a notebook, text elsewhere."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        self.rows = rows

    def __repr__(self) -> str:
        """Columns, filled with blanks."""
        widths = [max(len(row[column]) for row in self.rows) for column in range(len(self.rows[0]))] if self.rows else []
        return "\n".join("  ".join(cell.ljust(wide) for cell, wide in zip(row, widths)).rstrip() for row in self.rows)

    def _repr_html_(self) -> str:
        """A table; names of variables and lines of code are text in it, whatever they hold."""
        cells = ("".join(f"<td style='text-align:left'>{html.escape(cell)}</td>" for cell in row) for row in self.rows)
        return "<table>" + "".join(f"<tr>{row}</tr>" for row in cells) + "</table>"


def report_rows(report: Report) -> list[tuple[str, str]]:
    """What a cell used, a row each."""
    rows = [("time", f"{report.seconds:.3f} s, processor {report.processor_seconds:.3f} s")]
    for device, peak in report.peaks.items():
        text = f"{size(peak)} at most, {size(report.grew.get(device, 0))} more than before"
        if line := report.lines.get(device):
            text += f"; most by line {line.number} (+{size(line.grew)}): {line.text}"
        rows.append((f"memory {device}", text))
    rows += [(f"energy {name}", f"{joules:.1f} J") for name, joules in report.joules.items()]
    if not report.cut:
        rows.append(("lines", "only the first were looked at: the cell ran many"))
    return rows


def holder_rows(rows: Sequence[Holder]) -> list[tuple[str, str, str, str]]:
    """The largest, and the sum of the others."""
    shown = [(row.name, size(row.size), row.device, row.what) for row in rows[:_ROWS]]
    if len(rows) > _ROWS:
        shown.append((f"{len(rows) - _ROWS} others", size(sum(row.size for row in rows[_ROWS:])), "", ""))
    return shown or [("no tensor and no array", "", "", "")]


# -- the bar ---------------------------------------------------------------------------------------------


class Bar:
    """Memory as bars that are renewed while cells run, until it is ended."""

    def __init__(self) -> None:
        self._ended = threading.Event()

    def begin(self) -> None:
        """Show it here, and renew it."""
        from IPython.display import HTML, display

        handle: Any = display(HTML(self.html()), display_id=True)  # type: ignore[no-untyped-call]
        if handle is not None:
            threading.Thread(target=self._renew, args=(handle,), daemon=True, name="rigup bar").start()

    def _renew(self, handle: Any) -> None:
        from IPython.display import HTML

        while not self._ended.wait(_PAUSE):
            handle.update(HTML(self.html()))  # type: ignore[no-untyped-call]

    def end(self) -> None:
        """Leave it as it is."""
        self._ended.set()

    def html(self) -> str:
        """A bar for each memory."""
        return "".join(_bar(name, used, total) for name, used, total in memories())


def memories() -> list[tuple[str, int, int]]:
    """Name, bytes in use and total bytes; 0 where nothing tells the total."""
    from .meters import text_of

    total = next((int(line.split()[1]) * 1024 for line in text_of("/proc/meminfo").splitlines() if line.startswith("MemTotal:")), 0)
    rows = [("this kernel", resident(), total)]
    for device in devices():
        from rigup.torch import memory

        usage = memory(device)
        if usage.total:
            rows.append((str(device), usage.total - (usage.free or 0), usage.total))
    return rows


def _bar(name: str, used: int, total: int) -> str:
    share = min(100.0, 100.0 * used / total) if total else 0.0
    words = f"{html.escape(name)}: {size(used)}" + (f" of {size(total)}" if total else "")
    return (
        f"<div style='font:12px sans-serif'>{words}<div style='background:#8884;height:8px;width:24em'>"
        f"<div style='background:#2a7de1;height:8px;width:{share:.1f}%'></div></div></div>"
    )


# -- IPython -----------------------------------------------------------------------------------------------


class Magics:
    """What one shell has of it.

    Args:
        shell: IPython's.

    """

    def __init__(self, shell: Any) -> None:
        self._shell, self._bar = shell, Bar()

    def line(self, words: str) -> Any:
        """`%rigup …`."""
        command, _blank, rest = words.strip().partition(" ")
        if command == "doctor" and not rest:
            import rigup

            return rigup.doctor()
        if command == "memory":
            return Shown(holder_rows(holders(self._shell.user_ns)))
        if command == "bar":
            self._bar.end()
            self._bar = Bar()
            if rest.strip() != "off":
                self._bar.begin()
            return None
        if command in _COMMANDS:
            self._run([command, *shlex.split(rest)])
        else:
            print(_USAGE)
        return None

    def _run(self, words: list[str]) -> None:
        """A command of rigup's in a process of its own; what it says is printed here."""
        done = subprocess.run(
            [sys.executable, "-m", "rigup", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        print(done.stdout.decode("utf-8", "replace"), end="")

    def cell(self, words: str, cell: str | None = None) -> Any:
        """`%rigup …`, or `%%rigup` over a cell, which is executed and measured."""
        if cell is None:
            return self.line(words)
        source = self._shell.transform_cell(cell)
        name = self._shell.compile.cache(source, self._shell.execution_count, raw_code=cell)
        report = run_measured(source, compiled(source, name), self._shell.user_ns, name)
        from IPython.display import display

        display(Shown(report_rows(report)))  # type: ignore[no-untyped-call]
        return None


def load(shell: Any) -> None:
    """Give a shell of IPython's the commands."""
    shell.register_magic_function(Magics(shell).cell, "line_cell", "rigup")
