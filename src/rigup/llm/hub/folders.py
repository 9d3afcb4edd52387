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
        for one in groups(folder, paths):
            yield _entry(place, one)


def _entry(place: Place, one: Group) -> Entry:
    """A model as its store calls it; Jan keeps each in a folder of its own, which goes with it."""
    own = place.store == JAN and one.first.parent != place.path and one.first.is_file()
    first = one.first.parent if own else one.first
    name = first.relative_to(place.path).as_posix() if first != place.path else place.path.name
    beside = tuple(path for file in one.files for end in _BESIDE if (path := Path(f"{file.path}{end}")).is_file())
    return Entry(
        name=name, store=place.store, root=place.path, files=one.files, model=one.model, form=one.form, state=one.state,
        fault=one.fault, extra=beside if one.files or one.first.is_dir() else (one.first,), folder=first if own else None,
    )  # fmt: skip


def _by_model(root: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Each folder with its files; a pipeline of diffusers has those of the folders below it too."""
    pipelines: dict[Path, list[Path]] = {}
    for folder, found in walked(root):
        paths = [Path(one.path) for one in found]
        above = next((one for one in (folder, *folder.parents) if one in pipelines), None)
        if above:
            pipelines[above] += paths
        elif any(one.name == _PIPELINE for one in paths):
            pipelines[folder] = paths
        else:
            yield folder, paths
    yield from pipelines.items()
