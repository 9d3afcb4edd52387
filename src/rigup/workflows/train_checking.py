"""`rigup train check`: files are read, judged, and mended where that was agreed to."""

import os
import posixpath
from collections.abc import Callable
from pathlib import Path

import msgspec

from rigup.language import _
from rigup.schemas.train_check import TrainCheck
from rigup.train.check.answer import answer, mended
from rigup.train.check.check import Files, Judged, judged
from rigup.train.check.cluster import MOST_LETTERS, ClusterError, Partitions, partitions_of
from rigup.train.check.found import Change
from rigup.train.check.python.modules import UnreadableError
from rigup.train.check.shell.reading import NoShellParserError
from rigup.workflows.errors import CannotBeDoneError, RequestError

_MOST_BYTES = 2_000_000
_MOST_FOLDERS = 2000
_SECONDS = 20.0


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, with what is needed to mend it."""

    found: Judged
    files: Files
    script: Path
    batch: Path | None

    @property
    def answer(self) -> TrainCheck:
        """What was found, as data."""
        return self.told(0)

    def told(self, fixed: int) -> TrainCheck:
        """The same after some of it was mended."""
        return answer(self.found, self.files, self._path, fixed)

    def _path(self, name: str) -> str:
        if name == self.files.script:
            return str(self.script)
        if self.batch is not None and name == self.files.batch:
            return str(self.batch)
        return str(self.script.parent / name)

    @property
    def changes(self) -> dict[Path, tuple[str, str, int]]:
        """By file: its text as it is and as it would be, and how many findings that mends."""
        by_file: dict[str, list[Change]] = {}
        for each in self.found.findings:
            if each.change is not None:
                by_file.setdefault(each.change.file, []).append(each.change)
        found: dict[Path, tuple[str, str, int]] = {}
        if self.batch is not None and (own := by_file.get(self.files.batch)):
            found[self.batch] = (self.files.batch_text, mended(self.files.batch_text, own), len(own))
        return found


def checked(script: str, batch: str | None, cluster: str | None) -> Checked:
    """Judge a script under its batch script.

    Args:
        script: the path of the training script.
        batch: the path of the batch script.
        cluster: a file that describes the cluster, or `here`.

    Raises:
        RequestError: a file is not there, or is not what it is taken for.
        CannotBeDoneError: what reads shell scripts is not installed.

    """
    script_path, batch_path = Path(script), Path(batch) if batch else None
    partitions = _partitions(cluster) if cluster else {}
    files = _files(script_path, batch_path)
    try:
        return Checked(found=judged(files, partitions), files=files, script=script_path, batch=batch_path)
    except UnreadableError as error:
        where = f"{script}:{error.line}" if error.line else script
        raise RequestError(
            _("{path}: this is not Python that can be read: {why}.").format(path=where, why=error.why)
        ) from error
    except NoShellParserError as error:
        raise CannotBeDoneError(
            _('To read batch scripts, install rigup with its extra "train": {command}.').format(
                command="pip install 'rigup[train]'"
            )
        ) from error


def _files(script: Path, batch: Path | None) -> Files:
    return Files(
        script=script.name, text=_text(script), beside=_reader(script.parent), batch=batch.name if batch else "",
        batch_text=_text(batch) if batch else "", beside_batch=_reader(batch.parent) if batch else (lambda _path: None),
        folders=_folders(batch.parent) if batch else frozenset(),
    )  # fmt: skip


def _text(path: Path) -> str:
    """A file whose bytes are text. Raises RequestError."""
    try:
        if not path.is_file():
            raise RequestError(_("{path}: there is no such file.").format(path=path))
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise RequestError(
            _("{path}: {why}.").format(path=path, why=getattr(error, "strerror", None) or error)
        ) from error
    if len(data) > _MOST_BYTES:
        raise RequestError(_("{path}: it is too large for a script.").format(path=path))
    return data.decode("utf-8", errors="replace").removeprefix("\ufeff")


def _reader(folder: Path) -> Callable[[str], str | None]:
    """Reads files below a folder, and no others."""
    root = os.path.realpath(folder)

    def read(name: str) -> str | None:
        clean = posixpath.normpath(name.replace("\\", "/"))
        if clean.startswith(("..", "/")) or "\0" in clean:
            return None
        path = Path(root, clean)
        try:
            if (
                not Path(os.path.realpath(path)).is_relative_to(root)
                or not path.is_file()
                or path.stat().st_size > _MOST_BYTES
            ):
                return None
            return path.read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            return None

    return read


def _folders(folder: Path) -> frozenset[str]:
    """Folders below one, two levels deep, by their paths from it."""
    found: set[str] = set()
    try:
        for entry in list(os.scandir(folder))[:_MOST_FOLDERS]:
            if entry.is_dir():
                found.add(entry.name)
                found |= {
                    f"{entry.name}/{inner.name}"
                    for inner in list(os.scandir(entry.path))[:_MOST_FOLDERS]
                    if inner.is_dir()
                }
    except OSError:
        return frozenset(found)
    return frozenset(found)


def _partitions(cluster: str) -> Partitions:
    """The cluster of a file, or of this machine's Slurm. Raises RequestError, CannotBeDoneError."""
    if cluster == "here":
        text = _asked_here()
    else:
        with _as_request(cluster):
            path = Path(cluster)
            if not path.is_file():
                raise RequestError(_("{path}: there is no such file.").format(path=cluster))
            with path.open(encoding="utf-8", errors="replace") as file:
                text = file.read(MOST_LETTERS)
    try:
        return partitions_of(text)
    except ClusterError as error:
        sentence = _(
            "{path} does not tell of a cluster: {why}. It may be what `sinfo --json` or `scontrol -o show partition` and `scontrol -o show node` print."
        )
        raise RequestError(sentence.format(path=cluster, why=error)) from error


class _as_request:  # noqa: N801
    """Errors of the system about a path as errors of the request."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, OSError | ValueError) and not isinstance(error, RequestError):
            why = getattr(error, "strerror", None) or error
            raise RequestError(_("{path}: {why}.").format(path=self.path, why=why)) from error


def _asked_here() -> str:
    """What Slurm of this machine tells of its partitions and nodes."""
    from rigup.machine.local import Local

    host = Local()
    texts = []
    for what in ("partition", "node"):
        told = host.run(("scontrol", "-o", "show", what), _SECONDS)
        if told.body is None or told.exit != 0:
            raise CannotBeDoneError(_("Slurm's scontrol does not answer here; name a file that describes the cluster."))
        texts.append(told.body)
    return "\n".join(texts)
