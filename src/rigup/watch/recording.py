"""Samples in a file (SQLite): small whole numbers, a row a GPU and second; processes every ten, at first more often, and when one came or went.

A day of eight GPUs and 64 processes takes 45 MB. Each sample is a transaction, so that whoever ends the recorder loses
none; while the disk is full samples wait in memory, an hour of them, and are written when there is room.
"""

import contextlib
import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import UNSET, structs

from rigup.schemas.shared import Finding
from rigup.schemas.watch import ProcessGpu, ProcessMemory, ProcessUtilisation, Took, Watch, WatchedProcess
from rigup.schemas.watch_gpu import Clock, GpuMemories, GpuMemory, GpuState, Pcie, Power, Temperature, Throttle, Utilisation, WatchedGpu
from rigup.watch.history import History, key_of, mark_of, memory_used
from rigup.watch.ways import first_way

FORM = 1
_PROCESSES_EVERY = 10.0  # seconds
_OF_TIME = 0.1  # of a recording that is shorter than a hundred seconds
_NOBODY = 0  # stands as the process of a sample in which none was on a GPU
_MOST_WAITING = 3600  # samples that wait for room on the disk
_MIB = 1024**2
_MOST = 2**53
_STATES: tuple[GpuState, ...] = ("active", "asleep", "lost", "error")
_REASONS: tuple[Throttle, ...] = ("power", "temperature", "current", "hardware", "external", "reliability", "sync", "other")
_BEGINNING = """
BEGIN;
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE gpu (id INTEGER PRIMARY KEY, key TEXT, vendor TEXT, name TEXT, total_mib INTEGER, uuid TEXT);
CREATE TABLE sample (id INTEGER PRIMARY KEY, time REAL, interval_ms INTEGER);
CREATE TABLE reading (
  sample INTEGER, gpu INTEGER, state INTEGER, busy_permille INTEGER, controller_permille INTEGER, memory_mib INTEGER,
  edge_decidegree INTEGER, junction_decidegree INTEGER, power_deciwatt INTEGER, clock_mhz INTEGER, rx_kib INTEGER, tx_kib INTEGER,
  throttle INTEGER, PRIMARY KEY (sample, gpu)) WITHOUT ROWID;
CREATE TABLE process (id INTEGER PRIMARY KEY, pid INTEGER, start REAL, name TEXT, user TEXT, command TEXT, job TEXT);
CREATE TABLE use (
  sample INTEGER, process INTEGER, gpu INTEGER, memory_mib INTEGER, busy_permille INTEGER, cpu_percent INTEGER,
  PRIMARY KEY (sample, process, gpu)) WITHOUT ROWID;
CREATE TABLE finding (sample INTEGER, cause TEXT, subject TEXT, severity TEXT, title TEXT, way TEXT);
INSERT INTO meta VALUES ('form', 1);
COMMIT;
"""
_USE = "INSERT OR REPLACE INTO use VALUES (?, ?, ?, ?, ?, ?)"
_READING = "INSERT INTO reading VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class NoRecording(Exception):
    """A file that holds no recording, or one that cannot be written; the text says why."""


class Recorder:
    """Writes samples into a file; one that exists is continued. Raises NoRecording."""

    def __init__(self, path: str) -> None:
        self.path, self.trouble = path, ""
        self.waiting: deque[Watch] = deque(maxlen=_MOST_WAITING)
        try:
            self._base = sqlite3.connect(path, isolation_level=None, timeout=2, check_same_thread=False)
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = NORMAL")
            if not self._base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                self._base.executescript(_BEGINNING)
            _check(self._base, path)
            if not _has_ways(self._base):
                self._base.execute("ALTER TABLE finding ADD COLUMN way TEXT")
        except sqlite3.Error as error:
            raise NoRecording(f"{path}: {error}") from error
        self._gpus: dict[str, int] = dict(self._base.execute("SELECT key, id FROM gpu"))
        self._processes = {(pid, start): number for number, pid, start in self._base.execute("SELECT id, pid, start FROM process")}
        self._findings: set[tuple[str, str]] = set()
        self._marks: set[tuple[int, float]] = set()
        self._at, self._written = 0.0, 0.0  # seconds: now, and when processes were written last

    def add(self, sample: Watch) -> None:
        """Write a sample, and those that wait. Where that fails they wait, and `trouble` says why; it is empty else."""
        self.waiting.append(sample)
        try:
            while self.waiting:
                self._write(self.waiting[0])
                self.waiting.popleft()
            self.trouble = ""
        except sqlite3.Error as error:
            self.trouble = str(error)

    def _write(self, sample: Watch) -> None:
        state = (dict(self._gpus), dict(self._processes), self._findings, self._marks, self._at, self._written)
        self._base.execute("BEGIN IMMEDIATE")
        try:
            self._rows(sample)
            self._base.execute("COMMIT")
        except sqlite3.Error:
            self._gpus, self._processes, self._findings, self._marks, self._at, self._written = state
            with contextlib.suppress(sqlite3.Error):
                self._base.execute("ROLLBACK")
            raise

    def _rows(self, sample: Watch) -> None:
        interval = None if sample.interval is UNSET else round(sample.interval * 1000)
        number = self._base.execute("INSERT INTO sample (time, interval_ms) VALUES (?, ?)", (sample.time, interval)).lastrowid
        for gpu in sample.gpus:
            self._base.execute(_READING, (number, self._gpu(gpu), *_reading(gpu)))
        self._at += 0.0 if sample.interval is UNSET else sample.interval
        marks = set(map(mark_of, sample.processes))
        if marks != self._marks or self._at - self._written >= min(_PROCESSES_EVERY, self._at * _OF_TIME):
            self._marks, self._written = marks, self._at
            keys = {gpu.index: self._gpus[key_of(gpu)] for gpu in sample.gpus}
            for process in sample.processes:
                self._process_rows(number, process, keys)
            if not marks:
                self._base.execute(_USE, (number, _NOBODY, 0, 0, None, None))
        holding = {(finding.cause, finding.subject) for finding in sample.findings}
        for finding in sample.findings:
            if (finding.cause, finding.subject) not in self._findings:
                row = (number, finding.cause, finding.subject, finding.severity, finding.title, _way(finding))
                self._base.execute("INSERT INTO finding VALUES (?, ?, ?, ?, ?, ?)", row)
        self._findings = holding

    def _gpu(self, gpu: WatchedGpu) -> int:
        key = key_of(gpu)
        if key not in self._gpus:
            total = memory_used(gpu)[1]
            words = (key, *(word if word is not UNSET else None for word in (gpu.vendor, gpu.name)), total and total // _MIB)
            uuid = gpu.uuid if gpu.uuid is not UNSET else None
            added = self._base.execute("INSERT INTO gpu (key, vendor, name, total_mib, uuid) VALUES (?, ?, ?, ?, ?)", (*words, uuid))
            self._gpus[key] = added.lastrowid or 0
        return self._gpus[key]

    def _process_rows(self, sample: int | None, process: WatchedProcess, gpus: dict[int, int]) -> None:
        mark = mark_of(process)
        if mark not in self._processes:
            words = [word if word is not UNSET else None for word in (process.name, process.user, process.command, process.slurm_job)]
            insert = "INSERT INTO process (pid, start, name, user, command, job) VALUES (?, ?, ?, ?, ?, ?)"
            self._processes[mark] = self._base.execute(insert, (*mark, *_without_secrets(words))).lastrowid or 0
        for part in process.gpus:
            held = sum(count for count in (part.memory.vram, part.memory.gtt) if count is not UNSET)
            row = (
                sample,
                self._processes[mark],
                gpus[part.index],
                held // _MIB,
                _scaled(part.utilisation.gpu, 1000),
                _scaled(process.cpu, 100),
            )
            self._base.execute(_USE, row)

    def close(self) -> None:
        """Write what waits, as far as there is room, and let the file go."""
        with contextlib.suppress(sqlite3.Error):
            while self.waiting:
                self._write(self.waiting[0])
                self.waiting.popleft()
        with contextlib.suppress(sqlite3.Error):
            self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._base.close()


def _without_secrets(words: list[str | None]) -> list[str | None]:
    """Words of a command may hold keys, and a recording is given to others."""
    from rigup.machine.outward import outward_text

    return [word and outward_text(word) for word in words]


def _reading(gpu: WatchedGpu) -> Iterator[int | None]:
    used = memory_used(gpu)[0]
    yield _STATES.index(gpu.state)
    yield _scaled(gpu.utilisation.gpu, 1000)
    yield _scaled(gpu.utilisation.memory, 1000)
    yield None if used is None else used // _MIB
    yield _scaled(gpu.temperature.edge, 10)
    yield _scaled(gpu.temperature.junction, 10)
    yield _scaled(gpu.power.draw, 10)
    yield _scaled(gpu.clock.graphics, 1e-6)
    yield _scaled(gpu.pcie.rx, 1 / 1024)
    yield _scaled(gpu.pcie.tx, 1 / 1024)
    yield None if gpu.throttle is UNSET else sum(1 << _REASONS.index(reason) for reason in gpu.throttle)


def _scaled(value: object, scale: float) -> int | None:
    return round(value * scale) if isinstance(value, int | float) else None


def _check(base: sqlite3.Connection, path: str) -> None:
    """Raises NoRecording for a base of another kind."""
    try:
        form = base.execute("SELECT value FROM meta WHERE name = 'form'").fetchone()
    except sqlite3.Error as error:
        raise NoRecording(f"{path}: {error}") from error
    if form is None or form[0] != FORM:
        raise NoRecording(f"{path}: not a recording of this form")


def _has_ways(base: sqlite3.Connection) -> bool:
    """Whether findings are kept with what mends them: recordings of before are without."""
    return any(column[1] == "way" for column in base.execute("PRAGMA table_info(finding)"))


def _way(finding: Finding) -> str:
    title, commands = first_way(finding)
    return " ".join([title, *(f"$ {command}" for command in commands)])


class Recording:
    """A recording that is read. Raises NoRecording."""

    def __init__(self, path: str) -> None:
        if not Path(path).is_file():
            raise NoRecording(f"{path}: no such file")
        try:
            self.base = sqlite3.connect(Path(path).absolute().as_uri() + "?mode=ro", uri=True)
            _check(self.base, path)
            rows = list(
                _check_words(self.base.execute("SELECT id, coalesce(total_mib, 0), key, vendor, name, uuid FROM gpu ORDER BY key"), 2)
            )
        except (sqlite3.Error, ValueError) as error:
            raise NoRecording(f"{path}: {error}") from error
        self.path, self.gpus = path, {row[0]: (index, row) for index, row in enumerate(rows)}

    def count(self) -> int:
        """How many samples it holds. Raises NoRecording."""
        try:
            return int(self.base.execute("SELECT count(*) FROM sample").fetchone()[0])
        except (sqlite3.Error, TypeError) as error:
            raise NoRecording(f"{self.path}: {error}") from error

    def findings(self) -> list[tuple[float, str, str, str, str | None]]:
        """Time, cause, severity, title and way of each, in the order of time. Raises sqlite3.Error."""
        way = "way" if _has_ways(self.base) else "NULL"
        query = f"SELECT time, cause, severity, title, {way} FROM finding JOIN sample ON sample.id = finding.sample ORDER BY time"  # noqa: S608  # words of ours
        return list(self.base.execute(query))

    def history_at(self, at: int, length: int) -> History:
        """The sample at a position with as many before it as graphs and findings look back on. Raises NoRecording."""
        history, begin = History(length), max(0, at - length)
        for sample in self.samples(begin, at - begin + 1):
            history.add(sample)
        if history.last is None:
            raise NoRecording(f"{self.path}: it holds no sample")
        return history

    def samples(self, first: int = 0, most: int = -1) -> Iterator[Watch]:
        """Each sample as it was, as far as it is kept: from a position on, so many (-1: all). Raises NoRecording where a row is none."""
        try:
            yield from self._samples(first, most)
        except (sqlite3.Error, TypeError, ValueError, LookupError, OverflowError) as error:
            raise NoRecording(f"{self.path}: {error}") from error

    def _samples(self, first: int, most: int) -> Iterator[Watch]:
        query = "SELECT id, time, interval_ms FROM sample ORDER BY id LIMIT ? OFFSET ?"
        begin = self.base.execute(query, (1, first)).fetchone()
        if begin is None:
            return
        held = self.base.execute("SELECT max(sample) FROM use WHERE sample <= ?", (begin[0],)).fetchone()[0]
        readings = _grouped(self.base, "reading", begin[0])
        uses = _grouped(self.base, "use", begin[0] if held is None else held)
        rows = self.base.execute("SELECT id, pid, start, name, user, command, job FROM process")
        programs = {row[0]: row for row in _check_words(rows, 3)}
        processes = self._processes_at(uses(held), programs) if held is not None and held < begin[0] else []
        for number, time, interval in self.base.execute(query, (most, first)):
            _check_numbers((round(time), interval))
            gpus = sorted((self._gpu_at(row) for row in readings(number)), key=lambda gpu: gpu.index)
            if used := uses(number):
                processes = self._processes_at(used, programs)
            yield Watch(
                time=time,
                interval=UNSET if interval is None else interval / 1000,
                took=Took(wall=0.0, cpu=0.0),
                gpus=gpus,
                processes=processes,
                findings=[],
                errors=[],
            )

    def _gpu_at(self, row: tuple[Any, ...]) -> WatchedGpu:
        _sample, gpu, state, busy, controller, memory, edge, junction, power, clock, rx, tx, throttle = row
        index, (_id, total, key, vendor, name, uuid) = self.gpus[gpu]
        vram = GpuMemory(used=_times(memory, _MIB), total=_times(total or None, _MIB))
        identity = {"pci_address": key if ":" in key else None, "vendor": vendor, "name": name, "uuid": uuid}
        answer = WatchedGpu(
            index=index,
            state=_STATES[state],
            source={},
            not_available=[],
            utilisation=Utilisation(gpu=_times(busy, 0.001), memory=_times(controller, 0.001)),
            memory=GpuMemories(vram=vram),
            temperature=Temperature(edge=_times(edge, 0.1), junction=_times(junction, 0.1)),
            power=Power(draw=_times(power, 0.1)),
            clock=Clock(graphics=_times(clock, 1e6)),
            pcie=Pcie(rx=_times(rx, 1024), tx=_times(tx, 1024)),
            throttle=UNSET if throttle is None else [reason for bit, reason in enumerate(_REASONS) if throttle >> bit & 1],
        )
        return structs.replace(answer, **{word: value for word, value in identity.items() if value is not None})

    def _processes_at(self, rows: list[tuple[Any, ...]], programs: dict[int, tuple[Any, ...]]) -> list[WatchedProcess]:
        found: dict[int, WatchedProcess] = {}
        for _sample, process, gpu, memory, busy, cpu in rows:
            if process == _NOBODY:
                continue
            part = ProcessGpu(
                index=self.gpus[gpu][0], memory=ProcessMemory(vram=memory * _MIB), utilisation=ProcessUtilisation(gpu=_times(busy, 0.001))
            )
            if process in found:
                found[process].gpus.append(part)
                continue
            _id, pid, start, name, user, command, job = programs[process]
            words = {"start": start or None, "name": name, "user": user, "command": command, "slurm_job": job, "cpu": cpu and cpu / 100}
            known = {word: value for word, value in words.items() if value is not None}
            found[process] = WatchedProcess(pid=pid, gpus=[part], **known)
        return list(found.values())

    def close(self) -> None:
        """Let the file go."""
        self.base.close()


def _times(value: int | None, scale: float) -> Any:
    return UNSET if value is None else value * scale


def _check_numbers(row: tuple[Any, ...]) -> None:
    """Raises ValueError where a row of whole numbers holds anything else."""
    if not all(value is None or (isinstance(value, int) and abs(value) < _MOST) for value in row):
        raise ValueError("a row holds what is no number")


def _check_words(rows: Iterable[tuple[Any, ...]], first: int) -> Iterator[tuple[Any, ...]]:
    """The rows; ValueError where a column from the `first` on is no text, or one before no number."""
    for row in rows:
        words = all(isinstance(word, str | None) for word in row[first:])
        if not words or not all(isinstance(number, int | float) for number in row[:first]):
            raise ValueError("a row holds what is no text")
        yield row


def _grouped(base: sqlite3.Connection, table: str, first: int) -> Any:
    """A function that gives the rows of each sample in turn from the `first` on, of a table in the order of samples."""
    rows = iter(base.execute(f"SELECT * FROM {table} WHERE sample >= ? ORDER BY sample", (first,)))  # noqa: S608  # a name of ours
    ahead: list[tuple[Any, ...]] = []

    def of_sample(number: int) -> list[tuple[Any, ...]]:
        if ahead and ahead[0][0] > number:
            return []
        found = [row for row in ahead if row[0] == number]
        ahead.clear()
        for row in rows:
            _check_numbers(row)
            if row[0] > number:
                ahead.append(row)
                break
            if row[0] == number:
                found.append(row)
        return found

    return of_sample
