"""Where the values come from: Slurm's commands on this machine, or dumps of them in files."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from rigup.language import _
from rigup.machine.host import Host
from rigup.machine.slurm.asking import MOST, Slurm
from rigup.machine.slurm.reading import read_answer
from rigup.machine.slurm.values import Dump
from rigup.schemas.cluster import AskedCommand

MOST_FILES = 1000


class NoCluster(Exception):
    """There is no Slurm here, or it does not answer; the text says what to do."""


def asked_commands(slurm: Slurm) -> list[AskedCommand]:
    """What was asked, for the answer."""
    from msgspec import UNSET

    return [
        AskedCommand(command=" ".join(row.command), seconds=round(row.seconds, 3), whole=row.whole, said=row.said or UNSET)
        for row in slurm.asked
    ]


def live(user: str, host: Host | None = None, kept: str = "") -> tuple[Dump, list[AskedCommand], int]:
    """Slurm's answers now. Raises NoCluster."""
    slurm = Slurm(host, kept)
    if not slurm.is_installed:
        raise NoCluster(_("Slurm's programs are not on this machine. Ask on a login node, or read dumps with --from."))
    slurm.nodes()
    if slurm.dump.nodes is None:
        words = slurm.asked[-1].said.splitlines()
        template = _("Slurm does not answer: {said} Ask again later; `scontrol ping` tells whether its controller is up.")
        raise NoCluster(template.format(said=(words[-1] if words else "").rstrip(".") + "."))
    slurm.partitions()
    slurm.reservations()
    slurm.queue()
    if user:
        slurm.limits(user)
    return slurm.dump, asked_commands(slurm), int(time.time())


def from_files(
    paths: list[str], zone: tzinfo | None = None, read: Callable[[Path], str] | None = None
) -> tuple[Dump, list[AskedCommand], int]:
    """What files hold, or all files of folders, whichever of Slurm's commands wrote them. Raises NoCluster and OSError."""
    dump, sources, newest = _read_files(paths, zone, read)
    if dump.nodes is None:
        raise NoCluster(_("No answer of Slurm about nodes is among the files. `sinfo --json` or `scontrol -o -d show nodes` writes one."))
    return dump, sources, dump.now or _last_word(dump) or int(newest)


def records_from_files(paths: list[str], zone: tzinfo | None = None) -> tuple[Dump, list[AskedCommand]]:
    """What files hold of the accounting. Raises NoCluster and OSError."""
    dump, sources, _newest = _read_files(paths, zone, None)
    if dump.records is None:
        raise NoCluster(_("No answer of sacct is among the files. `sacct -a -P -o ALL` or `sacct -a --json` writes one."))
    return dump, sources


def _read_files(paths: list[str], zone: tzinfo | None, read: Callable[[Path], str] | None) -> tuple[Dump, list[AskedCommand], float]:
    """All that is known among the files, what was read, and when the newest was written."""
    dump, sources, newest = Dump(), [], 0.0
    for path in _files(paths):
        began = time.monotonic()
        body = read(path) if read else _text(path)
        found = read_answer(body, dump, zone or _local())
        newest = max(newest, path.stat().st_mtime)
        if found or str(path) in paths:
            sources.append(AskedCommand(command=path.name, seconds=round(time.monotonic() - began, 3), whole=found is not None))
    return dump, sources, newest


def _last_word(dump: Dump) -> int:
    """The latest moment that the dumps tell of the past: starts of jobs that run, reasons that were written."""
    starts = [job.start or 0 for job in dump.jobs or [] if job.running]
    reasons = [node.reason_since or 0 for node in dump.nodes or []]
    return max((*starts, *reasons), default=0)


def _local() -> tzinfo:
    return datetime.now().astimezone().tzinfo or UTC


def _files(paths: list[str]) -> list[Path]:
    files: list[Path] = []
    for path in map(Path, paths):
        files += sorted(inner for inner in path.iterdir() if inner.is_file()) if path.is_dir() else [path]
    return files[:MOST_FILES]


def _text(path: Path) -> str:
    with open(path, "rb") as file:
        return file.read(MOST).decode("utf-8", "replace")


def kept_folder() -> str:
    """Where answers wait for half a minute."""
    from platformdirs import user_cache_path

    return str(user_cache_path("rigup") / "slurm")
