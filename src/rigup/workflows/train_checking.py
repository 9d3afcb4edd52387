"""`rigup train check`: files are read, judged, and mended where that was agreed to."""

import functools
import itertools
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
from rigup.train.check.pinned import FILES
from rigup.train.check.python.modules import UnreadableError
from rigup.train.check.shell.reading import NoShellParserError
from rigup.workflows.errors import CannotBeDoneError, RequestError
from rigup.workflows.scripts import MOST_BYTES, script_bytes

_MOST_FOLDERS = 2000
_MOST_PINNING = 40  # files that fix releases
_HIGHEST = 3  # folders above the batch script's from which it may have been submitted
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
        return self.after_fixes(0)

    def after_fixes(self, fixed: int) -> TrainCheck:
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
        for name, changes in by_file.items():
            path = Path(self._path(name))
            text = _text(path)
            if name == self.files.batch or _is_plain(path, text):
                found[path] = (text, mended(text, changes), len(changes))
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
    return _judged(_files(script_path, batch_path), partitions, script_path, batch_path)


def _judged(files: Files, partitions: Partitions, script: Path, batch: Path | None) -> Checked:
    try:
        return Checked(found=judged(files, partitions), files=files, script=script, batch=batch)
    except UnreadableError as error:
        where = f"{script}:{error.line}" if error.line else script
        raise RequestError(_("{path}: this is not Python that can be read: {why}.").format(path=where, why=error.why)) from error
    except NoShellParserError as error:
        raise CannotBeDoneError(
            _('To read batch scripts, install rigup with its extra "train": {command}.').format(command="pip install 'rigup[train]'")
        ) from error


def checked_text(script: str, batch: str, text: str, partitions: Partitions) -> Checked:
    """Judge a script under a batch script that is not written yet.

    Args:
        script: the path of the training script.
        batch: where the batch script will lie; "" for none.
        text: of the batch script.
        partitions: of the cluster.

    Raises:
        RequestError: the script is not there, or cannot be parsed.
        CannotBeDoneError: what reads shell scripts is not installed.

    """
    path = Path(script)
    files = _files(path, None)
    if batch:
        files = msgspec.structs.replace(files, batch=os.path.basename(batch), batch_text=text)
    return _judged(files, partitions, path, Path(batch) if batch else None)


def _files(script: Path, batch: Path | None) -> Files:
    return Files(
        script=script.name,
        text=_text(script),
        beside=_reader(script.parent),
        batch=batch.name if batch else "",
        batch_text=_text(batch) if batch else "",
        beside_batch=_reader(batch.parent) if batch else (lambda _path: None),
        folders=_folders(batch.parent) if batch else frozenset(),
        above=functools.partial(_folders_above, script, batch) if batch else (lambda _path: frozenset()),
        pins=functools.partial(_pins, script),
    )


def _pins(script: Path) -> str:
    """What fixes releases, beside the script and in the folders above it as far as its repository goes."""
    folders = Path(os.path.realpath(script)).parents[: _HIGHEST + 1]
    last = next((number for number, folder in enumerate(folders) if (folder / ".git").exists()), 0)
    paths = ((folder, path) for folder in folders[: last + 1] for form in FILES for path in sorted(folder.glob(form)))
    texts = (_reader(folder)(str(path.relative_to(folder))) for folder, path in itertools.islice(paths, _MOST_PINNING))
    return "\n".join(text for text in texts if text)


def _text(path: Path) -> str:
    """A file whose bytes are text. Raises RequestError."""
    return script_bytes(path).decode("utf-8", errors="replace").removeprefix("\ufeff")


def _is_plain(path: Path, text: str) -> bool:
    """Whether a file is UTF-8 with lines that end in a line feed, so that writing it anew changes nothing else."""
    return "\r" not in text and path.read_bytes() == text.encode()


def _reader(folder: Path) -> Callable[[str], str | None]:
    """Reads files below a folder, and no others."""
    root = os.path.realpath(folder)

    def read(name: str) -> str | None:
        clean = posixpath.normpath(name.replace("\\", "/"))
        if clean.startswith(("..", "/")) or "\0" in clean:
            return None
        path = Path(root, clean)
        try:
            if not Path(os.path.realpath(path)).is_relative_to(root) or not path.is_file() or path.stat().st_size > MOST_BYTES:
                return None
            return path.read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            return None

    return read


def _folders_above(script: Path, batch: Path, path: str) -> frozenset[str]:
    """Folders of where the job is submitted, if that is not beside the batch script: its command finds the script from there."""
    if os.path.isabs(path) or "\0" in path:
        return frozenset()
    wanted = os.path.realpath(script)
    parents = Path(os.path.realpath(batch)).parent.parents[:_HIGHEST]
    return next((_folders(folder) for folder in parents if os.path.realpath(folder / path) == wanted), frozenset())


def _folders(folder: Path) -> frozenset[str]:
    """Folders below one, two levels deep, by their paths from it."""
    found: set[str] = set()
    try:
        for entry in list(os.scandir(folder))[:_MOST_FOLDERS]:
            if entry.is_dir():
                found.add(entry.name)
                found |= {f"{entry.name}/{inner.name}" for inner in list(os.scandir(entry.path))[:_MOST_FOLDERS] if inner.is_dir()}
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


def partitions_here() -> Partitions:
    """The partitions of this machine's Slurm; none where it does not answer, or in words that are not understood."""
    try:
        return partitions_of(_asked_here())
    except (CannotBeDoneError, ClusterError):
        return {}


def _asked_here() -> str:
    """What Slurm of this machine tells of its partitions and nodes."""
    from rigup.machine.local import Local

    host = Local()
    texts = []
    for kind in ("partition", "node"):
        listing = host.run(("scontrol", "-o", "show", kind), _SECONDS)
        if listing.body is None or listing.exit != 0:
            raise CannotBeDoneError(_("Slurm's scontrol does not answer here; name a file that describes the cluster."))
        texts.append(listing.body)
    return "\n".join(texts)
