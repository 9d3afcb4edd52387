"""A model goes from its store: what else needs its files is told before, and nothing outside the store is touched."""

import os
import re
import shutil
import stat
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from rigup.language import _
from rigup.llm.hub.entry import Entry, File
from rigup.llm.hub.errors import ModelError

_MOST_MAPS = 4 << 20
_DIGEST = re.compile(r"[0-9a-f]{64}|[0-9a-f]{40}")


class Kept(NamedTuple):
    """A file that stays, and why in a sentence."""

    path: Path
    because: str


class Removal(NamedTuple):
    """What would go.

    Attributes:
        paths: links and files, in the order in which they go: what names a file before the file.
        folder: removed whole after them, since no other model lies there.
        frees: bytes that the disk has afterwards.
        used_by: other models that use some of the files.
        running: programs that have one of them open, by number and name.

    """

    entry: Entry
    paths: tuple[Path, ...]
    kept: tuple[Kept, ...]
    folder: Path | None
    frees: int
    used_by: tuple[str, ...]
    running: tuple[str, ...]


def foreseen(entry: Entry, others: Iterable[Entry]) -> Removal:
    """What would go with a model, what stays and why.

    Args:
        entry: the model.
        others: all other models of all stores.

    """
    others = [other for other in others if other is not entry]
    by_path, by_bytes = _users(others, lambda file: file.real), _users(others, lambda file: file.identity)
    taken = {_place(file.path) for other in others for file in other.files}
    root = _real(entry.root)
    names = [path for path in entry.extra if _inside(path.parent, root) and not {_place(path), _real(path)} & {*taken, *by_path}]
    files: list[Path] = []
    kept: list[Kept] = []
    frees = 0
    for own in {file.path: file for file in entry.files}.values():
        if _place(own.path) != own.real and _place(own.path) not in taken:
            names.append(own.path)
        elsewhere = own.links - len({same.real for same in entry.files if same.identity == own.identity})
        if not _inside(own.real, root):
            kept.append(Kept(own.real, _("It lies outside {store}, and only the link to it goes.").format(store=entry.root)))
        elif by := by_path.get(own.real):
            kept.append(Kept(own.real, _("{models} use it too.").format(models=", ".join(sorted(by)))))
        else:
            files.append(own.real)
            if elsewhere > 0:
                kept.append(Kept(own.real, _("It has another name elsewhere (a hard link): its bytes stay.")))
            else:
                frees += own.bytes
    paths = tuple(dict.fromkeys([*names, *files]))
    used_by = sorted({name for file in entry.files for name in by_bytes.get(file.identity, ())})
    return Removal(entry, paths, tuple(kept), _folder(entry, others), frees, tuple(used_by), _running(entry.files))


def _users(entries: Iterable[Entry], key: Callable[[File], Hashable]) -> dict[Hashable, set[str]]:
    """Models by what they use."""
    found: dict[Hashable, set[str]] = {}
    for entry in entries:
        for file in entry.files:
            found.setdefault(key(file), set()).add(f"{entry.store}:{entry.name}")
    return found


def _folder(entry: Entry, others: Iterable[Entry]) -> Path | None:
    """The folder of a repository in which nothing of any other model lies."""
    folder = entry.folder
    if folder is None:
        return None
    inside = _real(folder)
    shared = any(entry.folder == folder or any(file.real.is_relative_to(inside) for file in entry.files) for entry in others)
    return None if shared else folder


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _place(path: Path) -> Path:
    """Where a name stands, whatever links lead to its folder."""
    return _real(path.parent) / path.name


def _inside(path: Path, root: Path) -> bool:
    return _real(path).is_relative_to(root)


def carried_out(removal: Removal) -> int:
    """Remove it; how many bytes the disk has more.

    Raises:
        ModelError: something may not be removed, or is another file by now; what went before is gone.

    """
    entry, root = removal.entry, _real(removal.entry.root)
    known = {str(file.real): file.identity for file in entry.files}
    _not_at_work(entry)
    for path in removal.paths:
        try:
            _unlink(path, root, known.get(str(path)))
        except OSError as error:
            template = _("{path} cannot be removed: {why}. It is {owner}'s: remove it as that account.")
            why = error.strerror or type(error).__name__
            raise ModelError(template.format(path=path, why=why, owner=_owner(path))) from error
    _tidied(removal, root)
    return removal.frees


def _unlink(path: Path, root: Path, identity: tuple[int, int] | None) -> None:
    """Take one name away, by a folder that lies within the store and is held open meanwhile."""
    folder = _real(path.parent)
    if not folder.is_relative_to(root):
        raise ModelError(_("{path} lies outside {store}: it was not removed.").format(path=path, store=root))
    if os.unlink not in os.supports_dir_fd:
        path.unlink(missing_ok=True)
        return
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        status = os.stat(path.name, dir_fd=held, follow_symlinks=False)
        if identity and not stat.S_ISLNK(status.st_mode) and (status.st_dev, status.st_ino) != identity:
            raise ModelError(_("{path} is another file by now: it was not removed.").format(path=path))
        os.unlink(path.name, dir_fd=held)
    except FileNotFoundError:
        return
    finally:
        os.close(held)


def _tidied(removal: Removal, root: Path) -> None:
    """Folders that are empty now; of a repository without any model left all that is in it."""
    folder = removal.folder
    if folder and not folder.is_symlink() and _inside(folder, root) and _real(folder) != root:
        shutil.rmtree(folder, ignore_errors=True)
        return
    for path in removal.paths:
        for above in path.parents:
            if above == removal.entry.root or not above.is_relative_to(removal.entry.root) or above.is_symlink():
                break
            if above.name in ("blobs", "manifests", "refs", "snapshots"):
                break
            with suppress(OSError):
                above.rmdir()
                continue
            break


def _not_at_work(entry: Entry) -> None:
    """Raise ModelError where somebody loads one of its files at this moment."""
    from filelock import FileLock, Timeout

    for file in entry.files:
        digest = _DIGEST.search(file.real.name)
        folder = entry.root / ".locks" / entry.folder.name if entry.folder else entry.root / ".rigup-locks"
        lock = folder / f"{digest[0]}.lock" if digest else folder
        if not lock.is_file():
            continue
        try:
            with FileLock(lock, timeout=0):
                pass
        except Timeout as error:
            template = _("{name} is being loaded at this moment: stop that first.")
            raise ModelError(template.format(name=entry.name)) from error
        except OSError:
            continue


def _owner(path: Path) -> str:
    try:
        return path.parent.owner()
    except (OSError, KeyError, NotImplementedError):
        return _("somebody else")


def _running(files: Iterable[File]) -> tuple[str, ...]:
    """Programs of this machine that have one of the files mapped, as far as this account may see."""
    wanted = {str(file.real) for file in files if file.bytes}
    found = []
    for folder in Path("/proc").glob("[0-9]*") if wanted else ():
        with suppress(OSError):
            with (folder / "maps").open("rb") as file:
                text = file.read(_MOST_MAPS).decode("utf-8", "replace")
            if any(line.partition("/")[2] and "/" + line.partition("/")[2] in wanted for line in text.splitlines()):
                found.append(f"{folder.name} {(folder / 'comm').read_text('utf-8', 'replace').strip()}")
    return tuple(sorted(found))
