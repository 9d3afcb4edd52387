"""The model that a word of `rigup fit` means: a file, a folder, something elsewhere, or a well-known name."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rigup.language import _

if TYPE_CHECKING:
    from rigup.fit.judge import Asked
    from rigup.fit.pictures import Pictured
    from rigup.fit.remote import Web

_HUB, _OLLAMA = "https://huggingface.co", "https://registry.ollama.ai"


def asked_of(word: str, kind: str, usual: str) -> "Asked | Pictured":
    """The model that is meant, as a type of file; of a name that tells none as the usual one. Raises FitError where there is none."""
    from rigup.fit.judge import Asked, requantised_as
    from rigup.knowledge.model_shapes import file_types

    known = {file_type.name.lower(): file_type.name for file_type in file_types()}
    if kind and kind.lower() not in known:
        sentence = _("{type} is no type of file. There are: {types}.")
        raise click.UsageError(sentence.format(type=kind[:40], types=", ".join(known.values())))
    asked = _model_of(word, usual)
    return requantised_as(asked, known[kind.lower()]) if kind and isinstance(asked, Asked) else asked


def _model_of(word: str, usual: str) -> "Asked | Pictured":
    """A file, a folder, something elsewhere, or a well-known name; that last also where there is no network."""
    from rigup.fit.judge import of_file, of_folder, of_name

    path = Path(word)
    if path.is_file():
        return of_file(path)
    if path.is_dir():
        return of_folder(path)
    if word.lower().endswith((".gguf", ".safetensors")) and os.sep in word and not word.startswith("http"):
        text = _("There is no file {name}. Write the path of a GGUF file; a file of many parts is named by its first.")
        raise click.ClickException(text.format(name=word[:200]))
    from rigup.fit.remote import Unreachable

    try:
        asked = _elsewhere(word)
    except Unreachable as error:
        from rigup.fit.errors import FitError

        try:
            named = of_name(word, usual)
        except FitError:
            raise error from None
        named.notes.insert(0, str(error))
        return named
    return asked or of_name(word, usual)


def _elsewhere(word: str) -> "Asked | Pictured | None":
    """A model behind an address, in a repository of the hub, or of ollama's registry; None for another word."""
    from rigup.fit.hub import is_address, names_repository, names_tag, of_address, of_repository, of_tag
    from rigup.fit.judge import of_found

    web, home = web_of(), _home()
    if is_address(word):
        found = of_address(word, home, web)
    elif names_repository(word):
        found = of_repository(word, home, web)
    elif names_tag(word):
        found = of_tag(word, os.environ.get("RIGUP_OLLAMA_REGISTRY", _OLLAMA).rstrip("/"), web)
    else:
        return None
    if found.pipeline:
        from rigup.fit.pictures import pictured_elsewhere

        return pictured_elsewhere(word, found.pipeline, found.parts, web)
    asked = of_found(found, web, word)
    asked.remote = not is_address(word)
    return asked


def pictures_of(word: str) -> "Pictured | None":
    """A model that makes pictures; None for a word that cannot name one, without a look at more. Raises FitError for a broken one."""
    far = word.lower().startswith(("http://", "https://"))
    if not word.partition("?")[0].endswith(".safetensors") and (far or not Path(word, "model_index.json").is_file()):
        return None
    from rigup.fit.pictures import pictured

    return pictured(word, web_of() if far else None)


def _home() -> str:
    return os.environ.get("HF_ENDPOINT", _HUB).rstrip("/")


def web_of() -> "Web":
    """Requests as this account makes them: its token for the hub goes to the hub alone."""
    from rigup.fit.remote import Web

    return Web(os.environ.get("HF_TOKEN", ""), _home(), headers_cache())


def headers_cache() -> Path:
    """Where headers are kept that came before: a folder of the account's cache, on Linux without platformdirs' import."""
    configured = os.environ.get("XDG_CACHE_HOME", "").strip()
    if sys.platform == "linux" or os.path.isabs(configured):
        return Path(configured if os.path.isabs(configured) else os.path.expanduser("~/.cache"), "rigup", "headers")
    import platformdirs

    return platformdirs.user_cache_path("rigup") / "headers"
