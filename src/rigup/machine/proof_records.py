"""The proofs that `rigup verify` keeps: one record for each node and environment, readable by its owner alone.

Nothing here ever fails: a folder that cannot be written leaves no record.
"""

import contextlib
import datetime as dt
import os
from pathlib import Path

import msgspec

from rigup.machine.baseline import file_name, state_folder
from rigup.machine.proofs import SCHEMA
from rigup.version import __version__


class Proven(msgspec.Struct, kw_only=True):
    """One device that passed, with the facts under which it did; "" where one was not known.

    Attributes:
        build: the framework's version, as it gives it itself.
        kernel: the running kernel's release.
        override: variables that make a chip pass for another, as `NAME=VALUE`.
        checks: how many were passed.
        failed: the names of those that were not; "" where all were. A record without a device is of the environment.
        prefix: the environment as it was named; `env` is the folder that this really is.
        packages: NAME==VERSION of what it stands on.

    """

    env: str
    framework: str
    build: str
    kernel: str
    override: str
    checks: int
    failed: str = ""
    prefix: str = ""
    packages: list[str] = []
    name: str = ""
    isa: str = ""
    pci_address: str = ""
    uuid: str = ""
    driver: str = ""


class Record(msgspec.Struct, kw_only=True):
    """The proof of an environment."""

    environment: str
    recorded_at: str
    devices: list[Proven]
    mode: str = "quick"
    schema: str = SCHEMA
    rigup: str = __version__


def record(environment: str, devices: list[Proven], mode: str) -> str | None:
    """Keep a proof in the place of an earlier one of the same environment; its path, None where none was written."""
    now = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    proof_record = Record(environment=environment, recorded_at=now, devices=devices, mode=mode)
    path = _path(environment)
    with contextlib.suppress(OSError, ValueError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f".draft-{os.getpid()}")
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(proof_record), indent=1))
        os.replace(draft, path)
        return str(path)
    return None


def withdraw(environment: str) -> None:
    """Remove the proof of an environment that has failed since."""
    with contextlib.suppress(OSError):
        _path(environment).unlink()


def _path(environment: str) -> Path:
    return state_folder("proofs") / (file_name(environment) + ".json")
