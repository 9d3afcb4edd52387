"""The folder of a run: what was asked, the script, the log, the pre-flight's scripts and reports, and the starts."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from rigup.language import _
from rigup.machine import private_file
from rigup.schemas.launch import Attempt, Preflight, State
from rigup.schemas.train_check import TrainFinding
from rigup.train import preflight
from rigup.train.launch.job import Job
from rigup.train.launch.script import ATTEMPTS, LOG, RECORD, SCRIPT, batch_script
from rigup.train.launch.shape import LaunchError

RUNS = "rigup-runs"  # below the folder in which a program is launched
MOST_RECORD, MOST_REPORT, MOST_LOG, MOST_STARTS = 8_000_000, 20_000_000, 20_000_000, 10_000
_REPORT = re.compile(r"preflight-(?P<attempt>\d{1,9})(?:-rank-\d{1,9})?\.json", re.ASCII)


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a run.

    Attributes:
        launcher: "slurm", "torchrun" (this machine) or "ssh".
        jobs: numbers that Slurm gave it; the last one counts.
        kind: of the environment, for people.
        last: the state that was seen at its end, for when Slurm has forgotten the job.
        exit: its exit status then.
        findings: of the check before it was launched; `checked` says whether there was one.

    """

    job: Job
    launcher: str = "slurm"
    jobs: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()
    kind: str = "none"
    last: State | None = None
    exit: int | None = None
    checked: bool = False
    findings: tuple[TrainFinding, ...] = ()

    @property
    def folder(self) -> Path:
        """All of the run is in it."""
        return Path(self.job.run_folder)


def write_folder(run: Run) -> Run:
    """Make the folder with the script, the pre-flight and the record; the run, whose folder has a number where it was there. Raises OSError."""
    wanted, tried = run.job.run_folder, count(2)
    while True:
        try:
            run.folder.mkdir(parents=True, mode=0o700)
            break
        except FileExistsError:  # a loop of a shell launches several in a second
            run = _moved(run, f"{wanted}-{next(tried)}")
    folder = run.folder
    for number in range(len(run.job.rows)):
        (folder / str(number)).mkdir()
    shutil.copytree(os.path.dirname(preflight.__file__), folder / "preflight", ignore=shutil.ignore_patterns("__*__*"))
    (folder / SCRIPT).write_text(batch_script(run.job), encoding="utf-8", newline="\n")
    (folder / SCRIPT).chmod(0o700)
    save(run)
    return run


def _moved(run: Run, folder: str) -> Run:
    """The run with another folder, in which what was found of its script lies too."""
    old, new = f"{run.job.run_folder}/{SCRIPT}", f"{folder}/{SCRIPT}"
    findings = [msgspec.structs.replace(each, file=new if each.file == old else each.file) for each in run.findings]
    return msgspec.structs.replace(run, job=msgspec.structs.replace(run.job, run_folder=folder), findings=tuple(findings))


def save(run: Run) -> None:
    """Write the record anew. Raises OSError."""
    private_file.write(str(run.folder / RECORD), lambda file: file.write(msgspec.json.encode(run)), replace=True)


def load(folder: Path) -> Run:
    """The record of a run, at the folder where it lies now. Raises LaunchError for what is none."""
    try:
        with open(folder / RECORD, "rb") as file:
            run = msgspec.json.decode(file.read(MOST_RECORD), type=Run)
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        raise LaunchError(_("{folder} is no run of `rigup launch`: {error}.").format(folder=folder, error=error)) from None
    return msgspec.structs.replace(run, job=msgspec.structs.replace(run.job, run_folder=str(folder.resolve())))


def runs(here: Path) -> Iterator[Path]:
    """Folders of runs that were launched from a folder, the newest first."""
    found = []
    with suppress(OSError):
        found = [path for path in (here / RUNS).iterdir() if (path / RECORD).is_file()]
    yield from sorted(found, key=lambda path: (path / RECORD).stat().st_mtime, reverse=True)


def run_named(word: str, here: Path) -> Run:
    """The run that a word means: a folder, a name, or the number of a job; "" the newest. Raises LaunchError."""
    folders = list(runs(here))
    if not word and folders:
        return load(folders[0])
    for path in (Path(word), here / RUNS / word) if word and "\0" not in word else ():
        if (path / RECORD).is_file():
            return load(path)
    for path in folders if word.isdigit() else ():
        with suppress(LaunchError):
            if int(word) in load(path).jobs:
                return load(path)
    template = _("There is no run {word} here. Runs are kept in {runs}: {names}.") if word else _("No run was launched from this folder.")
    raise LaunchError(template.format(word=repr(word)[:120], runs=RUNS, names=", ".join(path.name for path in folders[:8]) or _("none")))


def place(run: Run, number: int = -1) -> Path:
    """Where a run, or one of an array, keeps its log and its starts."""
    return run.folder / str(number) if number >= 0 else run.folder


def attempts(folder: Path) -> list[Attempt]:
    """Starts of a run, as its script wrote them; a line that is none is passed by."""
    found: dict[int, Attempt] = {}
    for line in _text(folder / ATTEMPTS, MOST_REPORT).splitlines()[:MOST_STARTS]:
        words = line.split("\t")
        numbers = [int(word) if word.isdigit() and len(word) < 16 else -1 for word in words[1:4]]
        if len(words) == 5 and words[0] == "start" and min(numbers) >= 0:
            found[numbers[0]] = Attempt(number=numbers[0], start=numbers[1], end=None, exit=None, nodes=words[4])
        elif len(words) == 4 and words[0] == "end" and min(numbers) >= 0 and numbers[0] in found:
            found[numbers[0]] = msgspec.structs.replace(found[numbers[0]], end=numbers[1], exit=numbers[2])
    return [found[number] for number in sorted(found)]


def preflights(folder: Path) -> list[Preflight]:
    """Checks of the last attempt; those that failed first, and what all agreed on before what one rank saw. What is no report is passed by."""
    names: dict[int, list[Path]] = {}
    with suppress(OSError):
        for path in folder.iterdir():
            if match := _REPORT.fullmatch(path.name):
                names.setdefault(int(match["attempt"]), []).append(path)
    last = sorted(names.get(max(names, default=0), []), key=lambda path: ("-rank-" in path.name, path.name))
    checks = [(check.passed, "-rank-" in path.name, check.rank, check) for path in last for check in _report(path)]
    return [check for *_order, check in sorted(checks, key=lambda entry: entry[:3])]


def _report(path: Path) -> list[Preflight]:
    try:
        report: Any = json.loads(_text(path, MOST_REPORT) or "{}")
        return msgspec.convert(report.get("checks", []), list[Preflight])
    except (ValueError, RecursionError, AttributeError, msgspec.ValidationError):
        return []


def log_text(folder: Path) -> str:
    """The end of a run's output."""
    return _text(folder / LOG, MOST_LOG)


def _text(path: Path, limit: int) -> str:
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - limit))
            return file.read(limit).decode("utf-8", "replace")
    except OSError:
        return ""
