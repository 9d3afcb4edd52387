"""A folder in which everything lies that would be asked of a cluster: the work, the rates, Slurm's own dumps."""

import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, tzinfo
from pathlib import PurePosixPath
from typing import TypeVar
from zoneinfo import ZoneInfo

import msgspec

from rigup.language import _
from rigup.machine.host import Host
from rigup.machine.slurm.reading import read_answer
from rigup.machine.slurm.values import Dump
from rigup.machine.slurm.words import moment
from rigup.train.advise.inputs import Allocation, Device, InputError, Question, Rate, Second, Work, allocation
from rigup.train.advise.state import cluster

LIMIT = 400_000_000
"""Characters of a dump that are read."""
_DUMPS = ("nodes.json", "squeue.json", "scontrol_partitions.txt", "reservations.json", "reservations.txt", "sacct.json", "sacct.txt")
_NEEDED = ("scenario.toml", "rates.toml", "nodes.json", "squeue.json", "scontrol_partitions.txt")
_START = re.compile(r"Job \d+ to start at (?P<moment>\S+)")
_GPU = re.compile(r"(?:gres[:/])?(?:gpu:)?(?P<device>[^:=,\s]+)[:=](?P<count>\d{1,4})")
Value = TypeVar("Value")


class _Rates(msgspec.Struct):
    rate: list[Rate] = []


class _Scenario(msgspec.Struct):
    now: float
    candidates: list[str]
    job: Work
    device: list[Device] = []
    timezone: str = "UTC"
    slurm: str = ""
    name: str = ""


class _Trial(msgspec.Struct):
    argv: list[str]
    exit: int = 0
    stdout: str = ""
    stderr: str = ""


def scenario(host: Host, folder: str) -> Question:
    """Read a folder. Raises InputError, which names the file."""
    texts = {name: host.read(str(PurePosixPath(folder, name)), LIMIT).body for name in (*_NEEDED, *_DUMPS, "test_only.json")}
    missing = [name for name in _NEEDED if texts[name] is None]
    if missing:
        raise InputError(_("{folder} has no {files}.").format(folder=folder, files=", ".join(missing)))
    asked = _toml(texts["scenario.toml"] or "", "scenario.toml", _Scenario)
    zone = _zone(asked.timezone)
    dump = Dump()
    for name in _DUMPS:
        if (body := texts[name]) is not None:
            read_answer(body, dump, zone)
    dump.version = asked.slurm or dump.version
    return Question(
        work=work(asked.job),
        candidates=[allocation(text) for text in asked.candidates],
        devices={device.name: device for device in asked.device},
        rates=rates(texts["rates.toml"] or "", "rates.toml"),
        cluster=cluster(dump, asked.now),
        second=_trials(texts["test_only.json"], zone),
    )


def work(job: Work) -> Work:
    """The work of a scenario, whose time limit is in minutes, checked. Raises InputError."""
    numbers = [job.epochs, job.startup, job.checkpoint, job.checkpoint_every or 0.0, job.time_limit or 0.0]
    if not all(math.isfinite(number) and 0 <= number < 1e12 for number in numbers) or not job.epochs:
        raise InputError(_("scenario.toml: epochs must be above 0, and no time may be below 0."))
    limit = job.time_limit * 60 if job.time_limit else None
    return msgspec.structs.replace(job, time_limit=limit, cpus_per_gpu=max(1, job.cpus_per_gpu))


def rates(text: str, name: str) -> list[Rate]:
    """A table of rates. Raises InputError."""
    rows = _toml(text, name, _Rates).rate
    for row in rows:
        if row.nodes < 1 or row.gpus < 1 or not all(math.isfinite(value) and value > 0 for value in row.seconds):
            raise InputError(_("{file}: nodes, gpus and seconds of {device} must be above 0.").format(file=name, device=row.device))
    return [row for row in rows if row.seconds]


def _toml(text: str, name: str, form: type[Value]) -> Value:
    try:
        return msgspec.convert(tomllib.loads(text), form)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, RecursionError) as error:
        raise InputError(_("{file}: {why}.").format(file=name, why=str(error)[:300])) from error


def _zone(name: str) -> tzinfo:
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except (OSError, ValueError) as error:
        raise InputError(_("{name} is no time zone.").format(name=repr(name)[:80])) from error


def _trials(text: str | None, zone: tzinfo) -> list[Second]:
    """What `sbatch --test-only` answered, for each command that names an allocation."""
    if text is None:
        return []
    try:
        rows = msgspec.convert(json.loads(text), list[_Trial])
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise InputError(_("{file}: {why}.").format(file="test_only.json", why=str(error)[:300])) from error
    return [second(asked, row.exit, row.stdout + row.stderr, zone) for row in rows if (asked := asked_for(row.argv))]


def second(asked: Allocation, status: int, output: str, zone: tzinfo) -> Second:
    """What one call said."""
    found = _START.search(output)
    start = moment(found["moment"], zone) if found and not status else None
    words = next((line.removeprefix("sbatch: ") for line in output.splitlines() if line.strip()), "")
    return Second(str(asked), None if start is None else float(start), words[:300])


def asked_for(argv: Sequence[str]) -> Allocation | None:
    """The allocation that the words of a call of sbatch ask for; None where they name none."""
    given = _options(argv)
    found = next((hit for name in ("--gres", "--gpus-per-node") if (hit := _GPU.search(given.get(name, "").removeprefix("gpu:")))), None)
    partition, nodes = given.get("-p") or given.get("--partition", ""), given.get("-N") or given.get("--nodes", "1")
    if not found or not partition or "," in partition or not nodes.isdecimal() or not int(nodes) or not int(found["count"]):
        return None
    return Allocation(partition, found["device"], int(nodes), int(found["count"]))


def _options(argv: Sequence[str]) -> Mapping[str, str]:
    """`-p rocm`, `-procm`, `--partition=rocm` and `--partition rocm` by name."""
    given: dict[str, str] = {}
    for place, word in enumerate(argv):
        following = argv[place + 1] if place + 1 < len(argv) else ""
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            given[name] = value if equals else following
        elif word[:2] in ("-p", "-N"):
            given[word[:2]] = word[2:] or following
    return given
