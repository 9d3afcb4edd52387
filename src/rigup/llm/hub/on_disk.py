"""All models that lie on this machine's disks, whoever put them there."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from rigup.language import _
from rigup.llm.hub import folders, hf_cache, ollama_store
from rigup.llm.hub.entry import Entry
from rigup.llm.hub.errors import WrongNameError
from rigup.llm.hub.places import FOLDER, HUGGINGFACE, OLLAMA, Place, places

_READERS: dict[str, Callable[[Place], Iterator[Entry]]] = {HUGGINGFACE: hf_cache.entries, OLLAMA: ollama_store.entries}


class Disk(NamedTuple):
    """What was found, and where nobody could look.

    Attributes:
        looked: stores that are there.
        refused: stores that are there and cannot be read, each with why.

    """

    entries: list[Entry]
    looked: list[Place]
    refused: list[tuple[Place, str]]


def on_disk(environ: Mapping[str, str], named: Iterable[str] = ()) -> Disk:
    """All models of all stores.

    Args:
        environ: the account's variables.
        named: folders that a person names beside them.

    Raises:
        WrongNameError: one of those is not there.
        KnowledgeError: the table of stores is malformed.

    """
    found: Disk = Disk([], [], [])
    for place in places(environ, named):
        try:
            if not place.path.exists():
                if place.store == FOLDER:
                    raise WrongNameError(_("There is no folder {path}.").format(path=place.path))
                continue
            before = len(found.entries)
            found.entries.extend(_READERS.get(place.store, folders.entries)(place))
            if place.store == FOLDER or len(found.entries) > before or place.path.is_dir():
                found.looked.append(place)
        except (OSError, ValueError) as error:
            found.refused.append((place, getattr(error, "strerror", None) or str(error)))
    return found


def named(word: str, entries: Iterable[Entry]) -> list[Entry]:
    """The entries that a word means: a name, `store:name`, or the path of one of its files; all of that name."""
    held = list(entries)
    exact = [one for one in held if word in (one.name, f"{one.store}:{one.name}")]
    if exact:
        return exact
    low = word.lower()
    alike = [one for one in held if low in (one.name.lower(), f"{one.store}:{one.name}".lower())]
    return alike or [one for one in held if any(word in (str(file.path), str(file.real)) for file in one.files)]
