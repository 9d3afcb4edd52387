"""All models that lie on this machine's disks, whoever put them there."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from rigup.fit.errors import FitError
from rigup.fit.hub import chosen
from rigup.language import _
from rigup.llm.hub import folders, hf_cache, ollama_store
from rigup.llm.hub.entry import WHOLE, Entry
from rigup.llm.hub.errors import WrongNameError
from rigup.llm.hub.places import FOLDER, HUGGINGFACE, OLLAMA, Place, places
from rigup.llm.hub.wanted import HUB, address_of

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


def runnable(word: str, entries: Iterable[Entry]) -> Entry | None:
    """The model on disk that an engine is to be given for a word; None without one.

    A name of the list, a path, a tag of ollama (`llama3.2` is `llama3.2:latest`), or a repository (`user/name:Q4_K_M`) of
    which the usual type is taken where none is named.

    Raises:
        WrongNameError: several models are meant.

    """
    held = [entry for entry in entries if entry.model is not None and entry.state == WHOLE]
    found = named(word, held) or named(f"{word}:latest", held) or _of_repository(word, held)
    if len({entry.model for entry in found}) > 1:
        template = _("{name} means several: {names}.")
        raise WrongNameError(template.format(name=word, names=", ".join(f"{entry.store}:{entry.name}" for entry in found[:20])))
    return found[0] if found else None


def _of_repository(word: str, entries: Iterable[Entry]) -> list[Entry]:
    address = address_of(word, HUB) if not word.startswith(("/", ".")) else None
    if address is None or address.file:
        return []
    models = {entry.name.removeprefix(address.repo + "/"): entry for entry in entries if entry.name.startswith(address.repo + "/")}
    plain = sorted(name for name in models if "@" not in name)
    try:
        return [models[chosen(plain, address.quant, address.repo)[0]]] if plain else []
    except FitError:
        return []


def named(word: str, entries: Iterable[Entry]) -> list[Entry]:
    """The entries that a word means: a name, `store:name`, or the path of one of its files; all of that name."""
    held = list(entries)
    exact = [entry for entry in held if word in (entry.name, f"{entry.store}:{entry.name}")]
    if exact:
        return exact
    low = word.lower()
    alike = [entry for entry in held if low in (entry.name.lower(), f"{entry.store}:{entry.name}".lower())]
    return alike or [entry for entry in held if any(word in (str(file.path), str(file.real)) for file in entry.files)]
