"""What rigup writes into an environment that it makes: `rigup.json`, so that the environment tells what it is.

A record is data of unknown origin when it is read: somebody may have sent the environment. It is bounded, every field
is checked, and of variables those are taken from it that the table of them allows (`lock_variables`).
"""

import datetime as dt
import os
import re
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from rigup.knowledge.lock_variables import allowed
from rigup.language import _
from rigup.plan.environments.exchange import settle_names
from rigup.version import __version__

SCHEMA = "rigup.environment/1"
NAME = "rigup.json"
_MOST_BYTES = 1_000_000
_MOST_ENTRIES = 5_000
_LONGEST = 4_096  # letters of a text; a variable's value may be eight times as long
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
# Each makes a program run or load what somebody else chose, or find other programs.
_POWERFUL = re.compile(
    r"(?:LD|DYLD)_(?!LIBRARY_PATH\Z)\w{1,60}|PYTHON(?!UNBUFFERED|HASHSEED)\w{1,40}|PERL\w{1,20}|RUBY\w{1,20}|NODE_(?:OPTIONS|PATH)|"
    r"PATH|BASH_ENV|ENV|IFS|SHELL|HOME|PROMPT_COMMAND|PS[0-9]|GIT_\w{1,40}|SSH_\w{1,40}|SUDO_\w{1,40}|GCONV_PATH|EDITOR|PAGER|VISUAL"
)


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """An environment as it was made.

    Attributes:
        wish: what was asked for, as requirements.
        packages: exact versions by name as pip takes them.
        indexes: addresses that were asked, without names and passwords.
        variables: what its programs need.
        python: "3.11".
        manager: "venv" or "conda".
        made_at: when, in UTC: "2026-11-21T17:00:00Z".
        plan: id of the journal's entry that made it, "" for none.
        facts: the machine that it was made for, as `made_for` gives it.

    """

    schema: str = SCHEMA
    rigup: str = __version__
    wish: tuple[str, ...] = ()
    packages: dict[str, str] = {}
    indexes: tuple[str, ...] = ()
    variables: dict[str, str] = {}
    python: str = ""
    manager: str = "venv"
    made_at: str = ""
    plan: str = ""
    facts: dict[str, Any] = {}


def now() -> str:
    """The time as a record has it."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def write(folder: Path, record: Record) -> None:
    """Write the record of an environment, whole or not at all; `made_at` is set where it is empty.

    Raises:
        OSError: the folder is not there or may not be written.
        ValueError: a variable is none that a record may hold, or the record would be too long to be read.

    """
    stamped = record if record.made_at else msgspec.structs.replace(record, made_at=now())
    if refused := refused_variables(stamped.variables):
        raise ValueError(_("A record may not set the variable {name}.").format(name=refused[0][:60]))
    body = msgspec.json.format(msgspec.json.encode(stamped, order="deterministic"), indent=1) + b"\n"
    if len(body) > _MOST_BYTES:
        raise ValueError(_("The record of {path} would be too long to be read again.").format(path=folder))
    handle, draft = tempfile.mkstemp(dir=folder, prefix=".rigup-draft-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(draft, 0o644)
        os.replace(draft, folder / NAME)
    finally:
        with suppress(OSError):
            os.unlink(draft)
    settle_names(folder)


def read(folder: Path) -> Record | None:
    """The record of an environment; None where there is none, or none that can be believed. Never raises."""
    return looked_at(folder)[0]


def looked_at(folder: Path) -> tuple[Record | None, str]:
    """The record, and what is wrong with it as a sentence, "" for nothing. Never raises.

    A record with variables that may not be there is read without them, and named.
    """
    path = folder / NAME
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            kind = os.fstat(file.fileno())
            body = file.read(_MOST_BYTES + 1) if stat.S_ISREG(kind.st_mode) else b""
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        return None, _("{path} cannot be read: {error}.").format(path=path, error=error.strerror)
    if os.name != "nt" and kind.st_mode & stat.S_IWOTH:
        return None, _("{path} is not believed: everybody may write it.").format(path=path)
    return _decoded(body, path)


def _decoded(body: bytes, path: Path) -> tuple[Record | None, str]:
    wrong = _("{path} is no record of an environment, and is passed by.").format(path=path)
    if len(body) > _MOST_BYTES:
        return None, wrong
    try:
        record = msgspec.json.decode(body, type=Record)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None, wrong
    if record.schema != SCHEMA or not _bounded(record):
        return None, wrong
    refused = refused_variables(record.variables)
    if not refused:
        return record, ""
    permitted = {name: value for name, value in record.variables.items() if name not in refused}
    named = _("{path} sets variables that a record may not set; they are passed by: {names}.")
    names = ", ".join(name[:60] for name in refused[:5])
    return msgspec.structs.replace(record, variables=permitted), named.format(path=path, names=names)


def _bounded(record: Record) -> bool:
    many = (record.wish, record.packages, record.indexes, record.variables, record.facts)
    texts = (
        *record.wish,
        *record.packages,
        *record.packages.values(),
        *record.indexes,
        record.python,
        record.plan,
        record.made_at,
        record.manager,
    )
    return all(len(entries) <= _MOST_ENTRIES for entries in many) and all(len(text) <= _LONGEST and text.isprintable() for text in texts)


def refused_variables(variables: dict[str, str]) -> list[str]:
    """Names of variables that a record, a lock or a bundle may not set, sorted: the table does not allow name or value."""
    return sorted(name for name, value in variables.items() if not _plain(name, value) or allowed(name, value) != value)


def allowed_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """What of a person's own variables goes into a record or a lock; of a list of folders those of the system."""
    permitted = {name: allowed(name, value) for name, value in variables.items() if _plain(name, value)}
    return {name: value for name, value in permitted.items() if value is not None}


def too_powerful(variables: Mapping[str, str]) -> list[str]:
    """Names of variables that even conda's own file of an environment may not set here, sorted."""
    return sorted(name for name, value in variables.items() if not _plain(name, value) or _POWERFUL.fullmatch(name.upper()))


def _plain(name: str, value: str) -> bool:
    plain = all(letter.isprintable() or letter == "\t" for letter in value) and len(value) <= 8 * _LONGEST
    return bool(_VARIABLE.fullmatch(name)) and plain
