"""`rigup watch --record`, `--replay`, `report` and `-- PROGRAM`: recordings made, shown again and summed up."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import click
from msgspec import UNSET, structs

from rigup.cli.failing import WrongRequest
from rigup.cli.lasting import lasts
from rigup.cli.layout import columns, padded, wrapped
from rigup.language import _
from rigup.schemas.watch import Watch
from rigup.schemas.watch_report import WatchReport
from rigup.sizes import duration
from rigup.visible import visible
from rigup.watch.recording import NoRecording, Recorder, Recording


@contextlib.contextmanager
def recording_errors() -> Iterator[None]:
    """What is no recording is an error of the command line."""
    try:
        yield
    except NoRecording as error:
        raise click.ClickException(_("{why}.").format(why=error)) from error


def recorded(samples: Generator[Watch, None, None], path: str) -> Generator[Watch]:
    """The samples, each written into a file as it passes; what keeps one from being written is said once."""
    with recording_errors():
        recorder = Recorder(path)
    trouble = ""
    try:
        for sample in samples:
            recorder.add(sample)
            if recorder.trouble != trouble:
                trouble = recorder.trouble
                _say(_waiting(trouble) if trouble else _("The samples that waited are written."))
            yield sample
    finally:
        waiting = len(recorder.waiting)
        recorder.close()
        if recorder.waiting:
            _say(
                _("{count} samples of {waiting} could not be written: {why}.").format(
                    count=len(recorder.waiting), waiting=waiting, why=trouble
                )
            )


def _waiting(why: str) -> str:
    return _("The recording cannot be written: {why}. Samples wait in memory, an hour of them, until there is room.").format(why=why)


def _say(sentence: str) -> None:
    click.echo("\n".join(wrapped(sentence)), err=True)


def replayed(path: str) -> Generator[Watch, None, None]:
    """The samples of a recording, with what was wrong then."""
    from rigup.watch.findings import findings
    from rigup.watch.history import History

    history = History()
    with recording_errors():
        recording = Recording(path)
        with contextlib.closing(recording):
            for sample in recording.samples():
                history.add(sample)
                yield structs.replace(sample, findings=findings(history))


def report_text(report: WatchReport) -> str:
    """The summary for a person."""
    from rigup.watch.plots import cells, figures, heads

    time_watched = duration(report.end - report.begin)
    lines = wrapped(_("{samples} samples over {time}.").format(samples=report.samples, time=time_watched))
    gpus = [["GPU", *heads()[5:9]], *([str(gpu.index), *figures(gpu)] for gpu in report.gpus)]
    lines += ["", *_columns(gpus)]
    for rows in (report.jobs, report.processes[:40]):
        if rows:
            lines += ["", *_columns([heads(), *([visible(cell)[:60] for cell in cells(row)] for row in rows)])]
    lines += [""] if report.findings else []
    for finding in report.findings[:40]:
        lines += wrapped(f"{visible(finding.title)}. [{visible(finding.cause)}]", "- ")
        lines += wrapped(visible(finding.way), "    ", "    ") if finding.way is not UNSET else []
    return "\n".join(lines)


def _columns(rows: list[list[str]]) -> list[str]:
    """Cells below each other; a column without any word is left out."""
    kept = [number for number in range(len(rows[0])) if any(row[number] for row in rows[1:])]
    widths = [max(columns(row[number]) for row in rows) for number in kept]
    return ["  ".join(padded(row[number], wide) for number, wide in zip(kept, widths, strict=True)).rstrip() for row in rows]


def run_recorded(words: tuple[str, ...], path: str, interval: float) -> int:
    """Run a program, record until it ends, and say what it used; its exit status.

    The program has the terminal: Ctrl-C is for it, and what follows here waits for its end.
    """
    from rigup.watch.around import Recording as Around
    from rigup.watch.reporting import read

    lasts()
    with recording_errors():
        around = Around(path, interval)
    before, began = signal.signal(signal.SIGINT, signal.SIG_IGN), time.time()
    try:
        with around:
            try:
                process = subprocess.Popen(words, preexec_fn=_own_signals if os.name == "posix" else None)  # noqa: PLW1509  # one call
            except OSError as error:
                raise click.ClickException(_("{program} cannot be started: {why}.").format(program=words[0], why=error.strerror)) from error
            status = process.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    if around.trouble:
        _say(_waiting(around.trouble))
    with recording_errors():
        whole = read(path).report
    own = [process for process in whole.processes if process.start is not UNSET and process.start >= began - 1]
    click.echo(report_text(structs.replace(whole, processes=own)), err=True)
    if not own and whole.gpus:
        _say(_("No process of the program was seen on a GPU."))
    _say(_("Recorded in {path}; `rigup watch report {path}` draws it.").format(path=path))
    return 128 - status if status < 0 else status


def _own_signals() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def report(path: str, page: str, png: str, as_json: bool) -> int:
    """Sum a recording up; write its page and its picture."""
    from rigup.cli.data import data_text
    from rigup.watch.plots import page as html_page
    from rigup.watch.plots import picture
    from rigup.watch.reporting import read

    with recording_errors():
        recording = read(path)
    if page:
        Path(page).write_text(html_page(recording), encoding="utf-8")
    if png:
        try:
            picture(recording, png)
        except ImportError as error:
            raise WrongRequest(_("A picture needs matplotlib: pip install 'rigup[plot]'.")) from error
    click.echo(data_text(recording.report) if as_json else report_text(recording.report))
    for written in filter(None, (page, png)):
        click.echo(_("Written: {path}").format(path=written), err=True)
    sys.stdout.flush()
    return 0
