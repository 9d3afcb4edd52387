"""Environments that are made beside the one that is there, and take its place at one moment.

Names beside an environment NAME, in the same folder:

    .NAME.rigup-new         one that is being made; whoever finds it may remove it or go on with it
    .NAME.rigup-old-<id>    one that was replaced, kept for undo
    .NAME.rigup-old-<id>.was   the same, for a moment, where the file system cannot let two names change places

A swap leaves a mark inside the new environment until it is done, so that `recover` can tell whether a swap that was
cut off has happened. Where two names can change places (Linux, macOS with APFS) there is an environment under the
path at every moment; elsewhere (NFS, Windows) a process that is killed between two renames leaves none until
`recover` puts the old one back. In a container a folder of the image's own cannot be renamed at all: there the old one
is copied before it goes, and `recover` knows that too. All functions raise OSError for what the file system refuses.
"""

import errno
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rigup.language import _
from rigup.plan.environments.cloning import copied_tree
from rigup.plan.environments.exchange import exchange, settle, settle_names
from rigup.plan.environments.relocating import relocate

NEW = ".rigup-new"
OLD = ".rigup-old-"
_WAS = ".was"
_GONE = "gone-"
_MARK = ".rigup-swapping"
_MARK_DRAFT = ".rigup-swapping-draft"
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}")
_LEFT = re.compile(r"\..{1,240}\.rigup-(?:new|old-[A-Za-z0-9_.-]{1,84})", re.DOTALL)
_MOST_MARK = 2000


def real(path: Path) -> Path:
    """Where an environment lies: a link leads to it, and what is made is made beside the folder itself."""
    return Path(os.path.realpath(path))


def staging(path: Path) -> Path:
    """Where the environment that is to lie at `path` is made: `.NAME.rigup-new` beside it. Nothing is touched."""
    where = real(path)
    return where.with_name(f".{where.name}{NEW}")


def aside(path: Path, ident: str) -> Path:
    """Where the environment of `path` lies once it is replaced: `.NAME.rigup-old-<ident>`. Nothing is touched.

    Raises:
        ValueError: `ident` holds anything but letters, digits, `_`, `.` and `-`, or is longer than 80 signs.

    """
    if not _ID.fullmatch(ident) or ident.endswith(_WAS):
        template = _("{name} cannot be part of a file's name here.")
        raise ValueError(template.format(name=repr(ident[:60])))
    where = real(path)
    return where.with_name(f".{where.name}{OLD}{ident}")


def new_id() -> str:
    """An id that nothing else has: time in UTC and some letters."""
    return time.strftime("%Y%m%dT%H%M%S", time.gmtime()) + "-" + secrets.token_hex(3)


def clone(source: Path, target: Path, copy: bool = False) -> None:
    """Make `target` a working copy of the environment at `source`; it must not be there, its folder must.

    Files share their room on the disk where they can: by the file system's own copies, else by hard links; small files
    that programs write in place, and all in which the path stands, are copied. `copy`: all are. What is killed half-way
    leaves a part of `target`: so it is made under `staging(…)`.

    Raises:
        ValueError: one lies inside the other.
        OSError: `target` is there, or there is no room.

    """
    old, new = real(source), Path(os.path.abspath(target))
    if new.is_relative_to(old) or old.is_relative_to(new):
        template = _("{target} and {source} lie inside one another: an environment is not cloned into itself.")
        raise ValueError(template.format(target=new, source=old))
    copied_tree(old, new, copy=copy, without=(_MARK, _MARK_DRAFT))
    for name in dict.fromkeys((old, Path(os.path.abspath(source)))):
        relocate(new, name, new)


# -- taking a place ----------------------------------------------------------------------------------


def swap(built: Path, path: Path, ident: str = "") -> Path | None:
    """Put the environment `built` (as a rule `staging(path)`, relocated already) under `path`, at one moment.

    Args:
        built: a folder on the same file system; it is gone from there afterwards.
        path: where it is to lie; what lies there is kept.
        ident: names where the old one is kept; by default a new one is made.

    Returns:
        Where the old environment lies now, `aside(path, ident)`; None where there was none.

    Raises:
        ValueError: the ident cannot be part of a name.
        OSError: `built` is not there, or `aside(path, ident)` is there already; nothing has changed.

    """
    where, held = real(path), aside(path, ident or new_id())
    settle(built)
    if not os.path.lexists(where):
        os.rename(built, where)
        settle_names(where.parent)
        return None
    if os.path.lexists(held) and held != built:
        raise FileExistsError(17, os.strerror(17), str(held))
    _mark(built, held.name, built.name if built.parent == where.parent else "")
    if held != built:
        os.rename(built, held)
    _change_places(held, where)
    _unmark(where)
    return held


def swap_back(path: Path, old: Path | None, ident: str = "") -> Path | None:
    """Take a swap back: `old`, which `swap` returned, lies under `path` again; for None nothing does.

    Returns:
        Where the newer environment lies now, to be kept or given to `discard`: under the name that `old` had, for None
        `aside(path, ident)`. None where nothing lay under `path`.

    """
    if old is not None:
        return swap(old, path, ident or old.name.rpartition(OLD)[2])
    where, held = real(path), aside(path, ident or new_id())
    if not os.path.lexists(where):
        return None
    os.rename(where, held)
    settle_names(held.parent)
    return held


def recover(path: Path) -> Path | None:
    """End a swap of `path` that was cut off; nothing is done where none was. To be called before `path` is judged.

    If the new environment had its place, the swap is finished, and the old one's place is returned. If not, the old one
    is under `path` as before, the new one lies under the name that it had, and None is returned.
    """
    where = real(path)
    if (where / _MARK).is_file():
        return _finished(where)
    for held in _marked(where):
        was = held.with_name(held.name + _WAS)
        if was.is_dir():  # it is whole; what is under the path is nothing, or half gone
            _remove(where)
            os.rename(was, where)
        _remove(staging(held))
        _named_as_before(held, where)
    if (staging(where) / _MARK).is_file():
        _unmark(staging(where))
    return None


def discard(folder: Path) -> None:
    """Remove an environment. It is gone from its place at one moment, however long the rest takes."""
    where = Path(os.path.abspath(folder))
    if not _LEFT.fullmatch(where.name):
        held = aside(where, _GONE + new_id())
        with _though_in_a_layer():
            os.rename(where, held)
            where = held
    _remove(where)


@contextmanager
def _though_in_a_layer() -> Iterator[None]:
    """A folder in a layer of an image cannot be renamed: that is no reason not to remove it."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise


def leftovers(folder: Path) -> list[Path]:
    """What `staging` and `swap` have left in a folder of environments: sorted, folders alone, links not followed."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if _LEFT.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return [folder / name for name in sorted(names)]


def sweep(path: Path) -> None:
    """Remove what nobody needs beside `path`: what was being made, what was being removed. Nobody may be at work there."""
    name = real(path).name
    for leftover in leftovers(real(path).parent):
        ours = leftover.name.startswith((f".{name}{NEW}", f".{name}{OLD}", f"..{name}{OLD}"))
        if ours and (leftover.name.endswith(NEW) or leftover.name.startswith(f".{name}{OLD}{_GONE}")):
            _remove(leftover)


# -- how it is done ----------------------------------------------------------------------------------


def _change_places(held: Path, where: Path) -> None:
    """At one moment where it can be, else by steps, each of which `recover` understands."""
    try:
        if not exchange(held, where):
            _by_renames(held, where)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _by_copy(held, where)
    settle_names(where.parent)


def _by_renames(held: Path, where: Path) -> None:
    was = held.with_name(held.name + _WAS)
    os.rename(where, was)
    os.rename(held, where)
    os.rename(was, held)


def _by_copy(held: Path, where: Path) -> None:
    """A folder in a layer of an image has no other name: what is under `.was` is whole before it goes."""
    was = held.with_name(held.name + _WAS)
    draft = staging(held)
    copied_tree(where, draft, copy=True)
    settle(draft)
    os.rename(draft, was)
    _remove(where)
    os.rename(held, where)
    os.rename(was, held)


def _finished(where: Path) -> Path | None:
    """The new environment is in its place: the old one gets its own, and the mark goes."""
    name, _before = _read_mark(where)
    held = where.with_name(name) if name else None
    if held is not None and not os.path.lexists(held) and (was := held.with_name(name + _WAS)).is_dir():
        os.rename(was, held)
    _unmark(where)
    return held if held is not None and held.is_dir() else None


def _marked(where: Path) -> Iterator[Path]:
    """New environments that were about to take the place."""
    start = f".{where.name}{OLD}"
    for folder in leftovers(where.parent):
        if folder.name.startswith(start) and (folder / _MARK).is_file():
            yield folder


def _named_as_before(held: Path, where: Path) -> None:
    """Give one that did not get its place the name back that it had; an empty mark names none, so nothing was renamed."""
    name, before = _read_mark(held)
    if not name:
        _unmark(held)
        return
    back = where.with_name(before or staging(where).name)
    if back != held and not os.path.lexists(back):
        os.rename(held, back)
        held = back
    _unmark(held)


def _mark(folder: Path, aside_name: str, name_before: str) -> None:
    """Write the mark as a whole or not at all: of one that is cut off nobody could tell which environment it is of."""
    draft = folder / _MARK_DRAFT
    draft.write_text(f"{aside_name}\n{name_before}\n", "utf-8")
    os.replace(draft, folder / _MARK)


def _read_mark(folder: Path) -> tuple[str, str]:
    """What the mark says: the name aside, and the name before; "" for one that no swap has written."""
    with open(folder / _MARK, encoding="utf-8", errors="replace") as file:
        lines = [*file.read(_MOST_MARK).split("\n"), "", ""]
    sound = [name if _LEFT.fullmatch(name) and "/" not in name and "\\" not in name else "" for name in lines[:2]]
    return sound[0], sound[1]


def _unmark(folder: Path) -> None:
    for name in (_MARK, _MARK_DRAFT):
        (folder / name).unlink(missing_ok=True)
    settle_names(folder)


def _remove(folder: Path) -> None:
    if folder.is_symlink() or folder.is_file():  # somebody's link: what it leads to is not ours
        folder.unlink()
    elif os.path.lexists(folder):
        _make_writable(folder)
        shutil.rmtree(folder)


def _make_writable(folder: Path) -> None:
    """A folder that may not be written would keep its files."""
    for above, names, _files in os.walk(folder):
        for path in (above, *(os.path.join(above, name) for name in names)):
            if not os.path.islink(path) and not os.access(path, os.W_OK | os.X_OK):
                os.chmod(path, 0o700)
