"""The file that an engine is given for a word: a path, or a model that anybody has put on this machine."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rigup.language import _
from rigup.llm.engines.errors import EngineError

if TYPE_CHECKING:
    from rigup.llm.hub.entry import Entry

_MOST_NAMES = 20
_PROJECTOR = "mmproj"


class Found(NamedTuple):
    """What an engine is given, how the model is called, and the file by which it sees ("" for none that is known)."""

    model: str
    name: str
    projector: str = ""


def model_of(word: str, environ: Mapping[str, str]) -> Found:
    """A file or folder for a word; a word that means none on this machine stays as it is, for ollama or an endpoint.

    Raises:
        EngineError: the word is a path, and nothing is there.
        ModelError: it means several models.

    """
    if "\0" in word or not word:
        raise EngineError(_("There is no file {name}.").format(name=word[:300]))
    path = Path(word)
    if path.is_dir():
        files = sorted(path.glob("*.gguf"))
        firsts = [path for path in files if "-of-" not in path.name or "-00001-of-" in path.name]
        if firsts and not (path / "config.json").is_file():
            return _the_one(path, firsts)
        return Found(str(path.resolve()), path.resolve().name)
    if path.is_file():
        return Found(str(path.resolve()), path.stem)
    if word.endswith(".gguf") and "/" in word and word.startswith(("/", ".", "~")):
        raise EngineError(_("There is no file {name}.").format(name=word[:300]))
    from rigup.llm.hub.on_disk import on_disk, runnable

    entry = runnable(word, on_disk(environ).entries)
    if entry is None and word.endswith(".gguf"):
        raise EngineError(absent(word))
    if entry is None:
        return Found(word, word)
    return Found(str(entry.model), entry.name, _projector_of(entry))


def _projector_of(entry: "Entry") -> str:
    """What lies beside a model of a store and sees for it; of several none is guessed."""
    from rigup.llm.hub.judging import is_projector

    others = [file.path for file in entry.files if str(file.path) != str(entry.model)]
    sees = [path for path in others if _PROJECTOR in path.name.lower() or (not path.suffix and is_projector(path))]
    return str(sees[0]) if len(sees) == 1 else ""


def _the_one(folder: Path, files: Sequence[Path]) -> Found:
    """The model of a folder. Raises EngineError where it holds several."""
    if len(files) == 1:
        return Found(str(files[0].resolve()), files[0].stem)
    names = ", ".join(path.name for path in files[:_MOST_NAMES]) + (" …" if len(files) > _MOST_NAMES else "")
    raise EngineError(_("{folder} holds several models, name one of them: {names}.").format(folder=folder, names=names))


def absent(model: str) -> str:
    """That a model is nowhere here, and what to do."""
    text = _("There is no model {model} on this machine: `rigup models` lists those that are, `rigup pull` loads others.")
    return text.format(model=model[:100])
