"""Where a word names a model that makes pictures: a single file as ComfyUI loads it, a folder of diffusers, or either elsewhere."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rigup.fit.errors import FitError
from rigup.fit.images import MOST_INDEX, Family, class_of, family_of, family_of_class, of_pipeline, part_of_folder, parts_of
from rigup.fit.remote import Remote, Web
from rigup.fit.safetensors import Weight, read_weights
from rigup.fit.source import Local
from rigup.language import _

_END = ".safetensors"
_MOST_FILES = 200  # of a pipeline


class Pictured(NamedTuple):
    """A model that makes pictures, with its tensors by part."""

    name: str
    family: Family | None
    parts: Mapping[str, Sequence[Weight]]


def pictured(word: str, web: Web | None = None) -> Pictured | None:
    """The model behind a word; None for a word that names another thing.

    Raises:
        FitError: it is broken, or it makes no pictures and its config.json is not beside it.

    """
    path = Path(word)
    if path.is_dir() and (path / "model_index.json").is_file():
        kind, parts = of_pipeline(path)
        return Pictured(path.resolve().name, family_of_class(kind, parts), parts)
    if web is not None and re.match(r"https?://", word, re.IGNORECASE) and word.partition("?")[0].endswith(_END):
        source = Remote(word, web)
        try:
            return _single(source.name, read_weights(source).tensors)
        finally:
            source.close()
    if path.is_file() and path.name.endswith(_END):
        return _single(path.name, read_weights(Local(path)).tensors, path)
    return None


def pictured_elsewhere(name: str, index: str, files: Sequence[tuple[str, str]], web: Web) -> Pictured:
    """A pipeline of diffusers that lies elsewhere: of its parts' files the headers alone come.

    Args:
        name: the repository.
        index: address of its model_index.json.
        files: folder and address of each file of its parts.
        web: who asks.

    Raises:
        FitError: something of it does not come, or is broken.

    """
    answer, _url = web.get(index)
    try:
        kind = class_of(answer.read(MOST_INDEX), index)
    finally:
        answer.close()
    parts: dict[str, list[Weight]] = {}
    for folder, url in files[:_MOST_FILES]:
        source = Remote(url, web)
        try:
            parts.setdefault(part_of_folder(folder), []).extend(read_weights(source).tensors)
        finally:
            source.close()
    return Pictured(name, family_of_class(kind, parts), parts)


def _single(name: str, tensors: tuple[Weight, ...], path: Path | None = None) -> Pictured | None:
    family = family_of(tensors)
    if family is not None:
        return Pictured(name, family, parts_of(tensors))
    if path is not None and (path.parent / "config.json").is_file():
        return None  # the folder's: what a language model is, its configuration tells
    template = _(
        "{name} holds {count} tensors of {size} bytes together; what model that is, the config.json beside it would tell: name its folder or its repository."
    )
    raise FitError(template.format(name=name, count=len(tensors), size=sum(tensor.bytes for tensor in tensors)))
