"""Models in plain folders: LM Studio's, Jan's, llama.cpp's, and those that a person names."""

from collections.abc import Iterator
from pathlib import Path

from rigup.llm.hub.entry import Entry, walked
from rigup.llm.hub.grouping import Group, groups
from rigup.llm.hub.places import JAN, Place

_PIPELINE = "model_index.json"
_BESIDE = (".etag", ".json")  # what llama.cpp notes of where a file came from


def entries(place: Place) -> Iterator[Entry]:
    """The models below a folder.

    Raises:
        OSError: the folder cannot be read.

    """
    for folder, paths in _by_model(place.path):
        for group in groups(folder, paths):
            yield _entry(place, group)


def _entry(place: Place, group: Group) -> Entry:
    """A model as its store calls it; Jan keeps each in a folder of its own, which goes with it."""
    own = place.store == JAN and group.first.parent != place.path and group.first.is_file()
    first = group.first.parent if own else group.first
    name = first.relative_to(place.path).as_posix() if first != place.path else place.path.name
    side_files = tuple(path for file in group.files for end in _BESIDE if (path := Path(f"{file.path}{end}")).is_file())
    return Entry(
        name=name,
        store=place.store,
        root=place.path,
        files=group.files,
        model=group.model,
        form=group.form,
        state=group.state,
        fault=group.fault,
        extra=side_files if group.files or group.first.is_dir() else (group.first,),
        folder=first if own else None,
    )


def _by_model(root: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Each folder with its files; a pipeline of diffusers has those of the folders below it too."""
    pipelines: dict[Path, list[Path]] = {}
    for folder, found in walked(root):
        paths = [Path(item.path) for item in found]
        above = next((parent for parent in (folder, *folder.parents) if parent in pipelines), None)
        if above:
            pipelines[above] += paths
        elif any(path.name == _PIPELINE for path in paths):
            pipelines[folder] = paths
        else:
            yield folder, paths
    yield from pipelines.items()
