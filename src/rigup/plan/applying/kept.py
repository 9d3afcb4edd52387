"""What files were before a step wrote them, so that they can be put back: content, mode, owner, or that there was none."""

import contextlib
import os
import shutil
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

import msgspec

from rigup.plan.applying.journal import sync_folder

Argv = tuple[str, ...]
_MANIFEST = "before.json"
_MOST_BYTES = 64_000_000  # of one file; nothing that a step writes is larger


class Before(msgspec.Struct, kw_only=True):
    """One path as it was.

    Attributes:
        kind: absent, file, link, other (a folder, or what could not be read).
        held: the file's copy in the record's folder.
        parents: folders above it that were absent too, the innermost first.

    """

    path: str
    kind: str
    mode: int = 0
    uid: int = 0
    gid: int = 0
    target: str = ""
    held: str = ""
    parents: list[str] = []


def keep(paths: Iterable[str], folder: Path) -> None:
    """Keep what stands at these paths; what is kept already, from the step's first try, stays. Raises OSError."""
    if (folder / _MANIFEST).exists():
        return
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    states = [_before(path, folder, number) for number, path in enumerate(paths)]
    temporary = folder / (_MANIFEST + ".new")
    with open(temporary, "wb") as file:
        file.write(msgspec.json.encode(states))
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, folder / _MANIFEST)
    sync_folder(folder)


def kept(folder: Path) -> list[Before]:
    """What was kept; empty where a step wrote no files, or nothing can be read."""
    with contextlib.suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode((folder / _MANIFEST).read_bytes(), type=list[Before])
    return []


def putting_back(folder: Path, only: Collection[str] | None = None) -> Iterator[Argv]:
    """Commands that put files back as they were; the same whether root runs them or the person. `only`: these alone."""
    for before in reversed(kept(folder)):
        if only is None or before.path in only:
            yield from _WAYS[before.kind](before, folder)


def same(folder: Path) -> bool:
    """Whether all that was kept stands there again as it was."""
    return all(_is_unchanged(before, folder) for before in kept(folder))


def is_as_before(path: str, folder: Path) -> bool:
    """Whether what was kept stands at this path; False where nothing was kept of it."""
    return any(before.path == path and before.kind != "other" and _is_unchanged(before, folder) for before in kept(folder))


def _before(path: str, folder: Path, number: int) -> Before:
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return Before(path=path, kind="absent", parents=list(_absent_parents(path)))
    except OSError:
        return Before(path=path, kind="other")
    before = Before(path=path, kind="other", mode=stat.S_IMODE(status.st_mode), uid=status.st_uid, gid=status.st_gid)
    if stat.S_ISLNK(status.st_mode):
        return msgspec.structs.replace(before, kind="link", target=os.readlink(path))
    if stat.S_ISREG(status.st_mode) and status.st_size <= _MOST_BYTES and _copied(path, folder / str(number)):
        return msgspec.structs.replace(before, kind="file", held=str(number))
    return before


def _copied(path: str, held: Path) -> bool:
    with contextlib.suppress(PermissionError):
        shutil.copyfile(path, held)
        os.chmod(held, 0o600)
        return True
    return False


def _absent_parents(path: str) -> Iterator[str]:
    above = os.path.dirname(path)
    while above and not os.path.lexists(above):
        yield above
        above = os.path.dirname(above)


def _remove(before: Before, _folder: Path) -> Iterator[Argv]:
    yield ("rm", "-f", "--", before.path)
    yield from (("rmdir", "--ignore-fail-on-non-empty", "--", above) for above in before.parents if os.path.isdir(above))


def _write(before: Before, folder: Path) -> Iterator[Argv]:
    owner = ("-o", str(before.uid), "-g", str(before.gid)) if hasattr(os, "geteuid") else ()
    yield ("install", "-m", f"{before.mode:o}", *owner, "-T", "--", str(folder / before.held), before.path)


def _link(before: Before, _folder: Path) -> Iterator[Argv]:
    """Made beside it and put in its place: `ln -f` would do so under a name by lot, which a kill leaves behind for ever."""
    temporary = before.path + ".rigup-new"
    yield ("rm", "-f", "--", temporary)
    yield ("ln", "-s", "-T", "--", before.target, temporary)
    yield ("mv", "-f", "-T", "--", temporary, before.path)


def _nothing(_one: Before, _folder: Path) -> Iterator[Argv]:
    yield from ()


_WAYS: dict[str, Callable[[Before, Path], Iterator[Argv]]] = {"absent": _remove, "file": _write, "link": _link, "other": _nothing}


def _is_unchanged(before: Before, folder: Path) -> bool:
    with contextlib.suppress(OSError):
        if before.kind == "absent":
            return not os.path.lexists(before.path)
        if before.kind == "link":
            return os.readlink(before.path) == before.target
        if before.kind == "file":
            return Path(before.path).read_bytes() == (folder / before.held).read_bytes()
    return before.kind == "other"
