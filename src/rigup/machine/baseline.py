"""What a machine was like when all was well: records that healthy runs of the doctor leave.

They lie under the state folder, one for each node and environment, with a few older ones behind it, readable by
their owner alone. One is written only when the facts have changed, and nothing here ever fails the doctor: a
folder that cannot be written leaves no record.
"""

import contextlib
import datetime as dt
import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from rigup.machine.fingerprint import Fingerprint, Row, environment, fingerprint
from rigup.machine.store import Facts
from rigup.version import __version__

SCHEMA = "rigup.baseline/1"
_MOST_BYTES = 1_000_000  # of one record
_OLDER = 3  # records behind the newest one
_MOST_PLACES = 32  # environments of a node that are remembered
_FREE = ("Variable", "FileVariable", "PackageSource", "Service", "KernelParameter")  # people write their values


class Baseline(msgspec.Struct, kw_only=True):
    """A healthy machine.

    Attributes:
        recorded_at: when these facts were first seen, in UTC.
        environment: the Python environment that was active.

    """

    machine: Fingerprint
    recorded_at: str
    schema: str = SCHEMA
    rigup: str = __version__
    environment: str = ""


def state_folder(kind: str) -> Path:
    """Where this node's records of a kind lie."""
    return Path(_state(), kind, file_name(_node() or "node"))


def folder() -> Path:
    """Where this node's records lie."""
    return state_folder("baseline")


def _state() -> Path:
    """The state folder that platformdirs names, on Linux without its import."""
    if sys.platform == "linux":
        configured = os.environ.get("XDG_STATE_HOME", "").strip()
        return Path(configured if os.path.isabs(configured) else os.path.expanduser("~/.local/state"), "rigup")
    import platformdirs

    return platformdirs.user_state_path("rigup")


def _node() -> str:
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


def file_name(text: str) -> str:
    """A text as a file name; a digest keeps apart texts that had to be changed for it."""
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in text)[:60].strip(".")
    return plain if plain == text else f"{plain}-{zlib.crc32(text.encode('utf-8', 'replace')):08x}"


def place_of(facts: Facts, world: str = "") -> str:
    """The name of the record for who asks: in which world, with which Python environment."""
    return file_name((world or _world(facts) or "host") + (" " + environment(facts)).rstrip())


def _world(facts: Facts) -> str:
    return next((fact.place.world for fact in facts.all() if fact.place.world), "")


# -- writing -----------------------------------------------------------------------------------------


def record(facts: Facts) -> bool:
    """Keep this healthy state, if it is another than the one kept; whether something was written. Never raises."""
    with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
        seen, path = fingerprint(facts), folder() / (place_of(facts) + ".json")
        baseline = _read(path)
        if (baseline and _same(baseline.machine, seen)) or not _ours(path):
            return False
        return _write(path, Baseline(machine=_safe(seen), recorded_at=_now(), environment=environment(facts)))
    return False


def _same(kept: Fingerprint, seen: Fingerprint) -> bool:
    """Whether nothing has changed; of a value that was left out nobody can tell."""
    if kept == seen:
        return True
    held = {kind: kept.facts[kind] for kind in _FREE if kind in kept.facts and kind in seen.facts}
    free = [(rows, seen.facts[kind]) for kind, rows in held.items()]
    rest = msgspec.structs.replace(seen, facts={**seen.facts, **held})
    return kept == rest and all(len(mine) == len(theirs) and all(map(_same_row, mine, theirs)) for mine, theirs in free)


def _same_row(kept: Row, seen: Row) -> bool:
    from rigup.machine.pseudonyms import LEFT_OUT

    known = [(kept[1].get(name), value) for name, value in seen[1].items()]
    return kept[0] == seen[0] and all(before in (LEFT_OUT, after) for before, after in known)


def _now() -> str:
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _ours(path: Path) -> bool:
    """Whether the nearest folder that is there is the account's own: root leaves nothing in another's home."""
    if not hasattr(os, "geteuid"):
        return True
    nearest = next(above for above in path.parents if above.exists())
    return nearest.stat().st_uid == os.geteuid()


def _write(path: Path, baseline: Baseline) -> bool:
    """Whole or not at all; the ones before it move back by one."""
    body = msgspec.json.encode(baseline, order="deterministic")
    if len(body) > _MOST_BYTES:
        return False
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".draft-{os.getpid()}-{os.urandom(6).hex()}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(body)
        for number in range(_OLDER, 0, -1):
            with contextlib.suppress(FileNotFoundError):
                os.replace(_older(path, number - 1), _older(path, number))
        os.replace(draft, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(draft)
    _forget(path.parent)
    return True


def _older(path: Path, number: int) -> Path:
    return path.with_suffix("." + str(number) + ".json") if number else path


def _forget(records: Path) -> None:
    """Remove what is oldest when too many environments have come and gone."""
    paths = sorted(records.glob("*.json"), key=lambda path: path.stat().st_mtime)
    for path in paths[: -_MOST_PLACES * (_OLDER + 1)]:
        path.unlink(missing_ok=True)


def _safe(seen: Fingerprint) -> Fingerprint:
    """The same without what would open a door; what is left out compares as unknown."""
    facts = dict(seen.facts)
    for kind in _FREE:
        if kind in facts:
            facts[kind] = [(place, {name: _clean(fields[name]) for name in fields}) for place, fields in facts[kind]]
    return msgspec.structs.replace(seen, facts=facts)


def _clean(value: Any) -> Any:
    from rigup.machine.pseudonyms import LEFT_OUT, Pseudonyms
    from rigup.machine.redaction_secrets import without_secrets

    words = value if isinstance(value, list) else [value]
    strings = [word for word in words if isinstance(word, str)]
    return LEFT_OUT if any(without_secrets(word, Pseudonyms()) != word for word in strings) else value


# -- reading -----------------------------------------------------------------------------------------


def _read(path: Path) -> Baseline | None:
    """A record; None where there is none that can be used."""
    try:
        with path.open("rb") as file:
            baseline = msgspec.json.decode(file.read(_MOST_BYTES + 1), type=Baseline)
    except (OSError, ValueError, RecursionError):
        return None
    return baseline if baseline.schema == SCHEMA else None


def records(facts: Facts) -> list[Baseline]:
    """What was kept of this node when all was well, the newest first: of this environment, else of any."""
    path = folder() / (place_of(facts) + ".json")
    mine = [baseline for number in range(_OLDER + 1) if (baseline := _read(_older(path, number)))]
    return mine or sorted(_others(), key=lambda baseline: baseline.recorded_at, reverse=True)


def _others() -> Iterator[Baseline]:
    with contextlib.suppress(OSError):
        yield from (baseline for path in folder().glob("*.json") if (baseline := _read(path)))
