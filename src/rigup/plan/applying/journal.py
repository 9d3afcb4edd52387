"""What rigup did and meant to do, kept so that a killed run can be gone on with or taken back.

A record is a folder with a number. `plan.json` says what was meant; `events.jsonl` says line by line what was begun
and what came of it, each line on the disk before the next act. Numbers, not times, order the records: a clock may jump.
"""

import contextlib
import datetime as dt
import os
import secrets
import shutil
import sys
from pathlib import Path
from typing import Any

import msgspec

from rigup.language import _
from rigup.machine.outward import outward_text
from rigup.machine.readable import readable
from rigup.schemas.shared import Step
from rigup.version import __version__

SCHEMA = "rigup.journal/1"
_MOST_BYTES = 8_000_000  # of a record's files, when they are read again
_MOST_RECORDS = 100_000
_GONE = ".gone-"


class JournalError(Exception):
    """The journal cannot be written or read; the text says what to do. Nothing is done without it."""


class BusyError(JournalError):
    """Another rigup of this person's is at work: there is nothing wrong with what was asked for."""


class Planned(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What an environment is to be, for its own record and for the look at it when it is made.

    Attributes:
        wish: what was asked for, as requirements.
        packages: versions by name, as pip takes them.
        indexes: addresses that are asked.
        variables: that its programs need.
        python: its version, major and minor; "" where nothing tells.
        facts: the machine that it is made for, as `made_for` gives it.
        resolved: exact versions that it has to hold, by name.
        whole: whether these are all that come.
        before: names of what was there already.
        sizes: bytes to load and bytes on the disk, by name.

    """

    wish: list[str] = []
    packages: dict[str, str] = {}
    indexes: list[str] = []
    variables: dict[str, str] = {}
    python: str = ""
    facts: dict[str, Any] = {}
    resolved: dict[str, str] = {}
    whole: bool = False
    before: list[str] = []
    sizes: dict[str, tuple[int, int]] = {}


class Intent(msgspec.Struct, kw_only=True):
    """What a record meant to do.

    Attributes:
        title: in words, for `rigup history`.
        asked: the command line's own words, by which a run that was broken off is planned again.
        environment: absolute path of the environment that the steps make or change; "" for none.
        steps: as `rigup.schemas.shared.Step` shapes them.
        told: what the environment is to be.
        made_at: by this machine's clock, in UTC.
        token: tells this run from one with the same number in another journal, or in this one before it was emptied.
        announced: it was asked for, and nothing is planned yet.

    """

    title: str
    asked: dict[str, Any] = {}
    environment: str = ""
    steps: list[Step] = []
    told: Planned = Planned()
    made_at: str = ""
    token: str = ""
    announced: bool = False
    schema: str = SCHEMA
    rigup: str = __version__


class Event(msgspec.Struct, omit_defaults=True, kw_only=True):
    """One line.

    Attributes:
        what: begin, traces, wrote, done, failed, skipped, left, child, stage, swap, swapped, barrier, broken-off, finished;
            settled, where a later run ended what this one had left half; and undo-begin, undone, put-aside, cannot-undo,
            undo-failed, swapped-back, taken-back.
        step: its number in the plan from 0; -1 for the whole record.
        status: how a command ended.
        told: what the reader of the record needs: a path, a process, a boot.

    """

    what: str
    step: int = -1
    status: int | None = None
    told: dict[str, str] = {}
    at: str = ""


class Record:
    """One run of apply or fix, with its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def number(self) -> int:
        """Its place among all."""
        return int(self.folder.name)

    @property
    def ident(self) -> str:
        """What an environment that it made, or replaced, carries: its number, and what no other run has."""
        with contextlib.suppress(JournalError):
            if (token := self.intent().token).isalnum():
                return f"{self.folder.name}-{token[:20]}"
        return self.folder.name

    def intent(self) -> Intent:
        """What it meant to do. Raises JournalError for a file that cannot be understood."""
        if not (self.folder / "plan.json").exists():  # it was killed before it could say
            return Intent(title=_("it had no plan yet"), announced=True)
        plan = _decoded(self.folder / "plan.json")
        return msgspec.structs.replace(plan, title=outward_text(plan.title))  # it is there to be shown

    def events(self) -> list[Event]:
        """What happened, in order; a line that a power cut left half is not counted."""
        decoded: list[Event] = []
        for line in _bytes(self.folder / "events.jsonl").splitlines():
            with contextlib.suppress(msgspec.DecodeError):
                decoded.append(msgspec.json.decode(line, type=Event))
        return decoded

    def write(self, kind: str, step: int = -1, status: int | None = None, **details: str) -> None:
        """Add a line and wait until it is on the disk. Raises JournalError."""
        event = Event(what=kind, step=step, status=status, told=details, at=_now())
        try:
            _append(self.folder / "events.jsonl", msgspec.json.encode(event))
        except OSError as error:
            raise _unwritable(self.folder, error) from error

    def log(self, step: int) -> Path:
        """Where the output of a step's commands is kept."""
        return self.folder / f"step-{step + 1}.log"

    def kept(self, step: int) -> Path:
        """Where what a step overwrites is kept."""
        return self.folder / "kept" / str(step + 1)

    def held(self, step: int) -> Path:
        """Where it is written down what the folders held that a step has made."""
        return self.folder / f"step-{step + 1}.held"

    def of(self, kind: str, step: int | None = None) -> list[Event]:
        """The events of one kind."""
        return [event for event in self.events() if event.what == kind and step in (None, event.step)]


def folder() -> Path:
    """Where the records lie."""
    return state() / "journal"


def state() -> Path:
    """rigup's state folder, which platformdirs names; on Linux without its import."""
    if sys.platform == "linux":
        state_home = os.environ.get("XDG_STATE_HOME", "").strip()
        return Path(state_home if os.path.isabs(state_home) else os.path.expanduser("~/.local/state"), "rigup")
    import platformdirs

    return platformdirs.user_state_path("rigup")


def records() -> list[Record]:
    """All records, oldest first."""
    with contextlib.suppress(OSError):
        names = sorted(int(name) for name in os.listdir(folder()) if name.isdecimal())[-_MOST_RECORDS:]
        return [Record(folder() / f"{number:06d}") for number in names if (folder() / f"{number:06d}").is_dir()]
    return []


def begun(intent: Intent, record: Record | None = None) -> Record:
    """A record whose intent is on the disk: a new one, or that of a run that was announced. Raises JournalError."""
    announced = msgspec.structs.replace(intent, made_at=_now(), token=secrets.token_hex(4))
    try:
        body = msgspec.json.format(msgspec.json.encode(announced), indent=1)
    except UnicodeEncodeError as error:  # a name that cannot be written down could not be taken back
        template = _("The plan names {path}, which is no UTF-8: give the folder another name, or name another one with --env.")
        odd = next((path for path in (announced.environment, *map(str, announced.asked.values())) if not _writable(path)), "")
        raise JournalError(template.format(path=readable(odd)[:300])) from error
    try:
        found = record or Record(_new_folder())
        put(found.folder / "plan.json", body)
    except OSError as error:
        raise _unwritable(folder(), error) from error
    return found


def withdrawn(record: Record) -> None:
    """Forget a run that has not begun; it is no record any more from one moment to the next."""
    gone = folder() / f"{_GONE}{record.folder.name}-{secrets.token_hex(4)}"
    with contextlib.suppress(OSError):
        os.rename(record.folder, gone)
        shutil.rmtree(gone)


def _writable(text: str) -> bool:
    return readable(text) == text


def _new_folder() -> Path:
    """The next number that nobody else takes at the same moment. With it a run is on record, if it is killed at once too."""
    folder().mkdir(parents=True, exist_ok=True, mode=0o700)
    last = max((int(name) for name in os.listdir(folder()) if name.isdecimal()), default=0)
    for number in range(last + 1, last + 100):
        with contextlib.suppress(FileExistsError):
            created = folder() / f"{number:06d}"
            created.mkdir(mode=0o700)
            return created
    raise FileExistsError(17, "no free number", str(folder()))


def put(path: Path, content: bytes) -> None:
    """Write the whole file or none of it. Raises OSError."""
    temporary = path.with_name(path.name + ".new")
    with open(temporary, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    sync_folder(path.parent)


def _append(path: Path, line: bytes) -> None:
    """A line of its own, also behind one that was cut in the middle."""
    with open(path, "ab+") as file:
        whole = file.tell() == 0 or _last_byte(file) == b"\n"
        file.write((b"" if whole else b"\n") + line + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _last_byte(file: Any) -> bytes:
    file.seek(-1, os.SEEK_END)
    byte: bytes = file.read(1)
    return byte


def sync_folder(path: Path) -> None:
    """Names in a folder are on the disk too; where the system cannot say so, nothing is done."""
    with contextlib.suppress(OSError):
        opened = os.open(path, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _bytes(path: Path) -> bytes:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return file.read(_MOST_BYTES)
    return b""


def _decoded(path: Path) -> Intent:
    try:
        return msgspec.convert(_completed(msgspec.json.decode(_bytes(path))), Intent)
    except (msgspec.DecodeError, RecursionError) as error:
        template = _("The record {path} cannot be understood ({error}). Nothing is taken back from it.")
        raise JournalError(template.format(path=path, error=error)) from error


def _completed(intent: Any) -> Any:
    """Steps of a record that an earlier rigup wrote lack what has come since."""
    steps = intent.get("steps") if isinstance(intent, dict) else None
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, dict):
            step.setdefault("undo_because", "")
            step.setdefault("writes", [])
    return intent


def _unwritable(path: Path, error: OSError) -> JournalError:
    template = _(
        "The journal in {path} cannot be written: {error}. Nothing is done without it; make room there, or name another folder with XDG_STATE_HOME."
    )
    return JournalError(template.format(path=path, error=error.strerror or type(error).__name__))


def _now() -> str:
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
