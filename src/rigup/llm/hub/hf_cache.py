"""Models in the cache of Hugging Face: links in snapshots, which lead to blobs that snapshots share."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from rigup.language import _
from rigup.llm.hub.entry import LEFT, PARTIAL, Entry, file_at, walked
from rigup.llm.hub.grouping import Group, groups, is_partial
from rigup.llm.hub.places import Place

_REPO = re.compile(r"models--(?P<id>.+)")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_MOST_REF = 200
_SHORT = 8


def folder_of(cache: Path, repo: str) -> Path:
    """Where the cache keeps a repository of models."""
    return cache / ("models--" + repo.replace("/", "--"))


def entries(place: Place) -> Iterator[Entry]:
    """The models of a cache: each GGUF of a repository by itself, other weights by repository.

    Raises:
        OSError: the cache cannot be read.

    """
    for folder in sorted(place.path.iterdir()):
        match = _REPO.fullmatch(folder.name)
        if match and folder.is_dir() and not folder.is_symlink():
            yield from _of_repository(place, match["id"].replace("--", "/"), folder)


def current(folder: Path) -> str:
    """The commit that `main` names, else the one that came last; "" without any."""
    try:
        with (folder / "refs" / "main").open(encoding="ascii") as file:
            commit = file.read(_MOST_REF).strip()
    except (OSError, ValueError):
        commit = ""
    if _COMMIT.fullmatch(commit) and (folder / "snapshots" / commit).is_dir():
        return commit
    return max(_commits(folder), key=lambda path: path.stat().st_mtime).name if _commits(folder) else ""


def _commits(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in (folder / "snapshots").iterdir() if path.is_dir() and not path.is_symlink())
    except OSError:
        return []


def _of_repository(place: Place, repo: str, folder: Path) -> Iterator[Entry]:
    found: dict[tuple[str, frozenset[tuple[int, int]]], Entry] = {}
    names: set[str] = set()
    newest = current(folder)
    for snapshot in sorted(_commits(folder), key=lambda path: path.name != newest):
        paths = [Path(file.path) for _folder, files in _walked(snapshot) for file in files]
        for group in groups(snapshot, paths):
            below = group.first.relative_to(snapshot).as_posix()
            name = repo if below == "." else f"{repo}/{below}"
            key = (name, frozenset(file.identity for file in group.files))
            if key in found:
                found[key].extra += tuple(file.path for file in group.files)
                continue
            shown = f"{name}@{snapshot.name[:_SHORT]}" if name in names else name
            names.add(name)
            found[key] = _entry(place, shown, folder, group)
    yield from found.values()
    yield from _blobs(place, repo, folder, {identity for entry in found.values() for identity in entry.identities})


def _walked(snapshot: Path) -> Iterator[tuple[Path, list[os.DirEntry[str]]]]:
    try:
        yield from walked(snapshot)
    except OSError:
        return


def _entry(place: Place, name: str, folder: Path, group: Group) -> Entry:
    dangling = () if group.files else (group.first,)
    return Entry(
        name=name,
        store=place.store,
        root=place.path,
        files=group.files,
        model=group.model,
        form=group.form,
        state=group.state,
        fault=group.fault,
        folder=folder,
        extra=dangling if group.first.is_symlink() else (),
    )


def _blobs(place: Place, repo: str, folder: Path, named: set[tuple[int, int]]) -> Iterator[Entry]:
    """What broke off, and blobs that no snapshot names."""
    try:
        paths = sorted((folder / "blobs").iterdir())
    except OSError:
        return
    small = {file.identity for path in _links(folder) if (file := file_at(path))}
    for path in paths:
        partial = is_partial(path.name)
        file = file_at(path, partial)
        if file is None or file.identity in named or (file.identity in small and not partial):
            continue
        fault = _("The download broke off.") if partial else _("No snapshot names it any more.")
        yield Entry(
            name=f"{repo}/blobs/{path.name}",
            store=place.store,
            root=place.path,
            files=(file,),
            state=PARTIAL if partial else LEFT,
            fault=fault,
            folder=folder,
        )


def _links(folder: Path) -> Iterator[Path]:
    """All that snapshots hold, also what is of no model."""
    for snapshot in _commits(folder):
        yield from (Path(file.path) for _folder, files in _walked(snapshot) for file in files)
