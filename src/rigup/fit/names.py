"""Models as people name them: "Llama-3 8B Q4", "qwen3 30b a3b", a file's name. Assumptions are listed."""

from typing import NamedTuple

from rigup.fit.errors import FitError
from rigup.knowledge.model_shapes import USUAL, Shape, file_type, holds, model_meant, shapes, words_of
from rigup.language import _

_MOST = 200
_NEAR = 5


class Named(NamedTuple):
    """A shape and a type, and what was taken for granted of either."""

    shape: Shape
    type: str
    notes: tuple[str, ...]


def named(text: str, usual: str = USUAL) -> Named:
    """The shape that a name means, and the type that it names or the usual one. Raises FitError where it means none, with the nearest."""
    meant = model_meant(text)
    if meant is None:
        raise FitError(_unknown(text, words_of(file_type(text[:_MOST].lower())[1])))
    shape, kind, sure = meant
    taken = kind or shape.published or usual
    notes = [] if kind else [_("No type was named: {type} was taken.").format(type=taken)]
    if not sure:
        notes.append(_("It was taken to be {name}.").format(name=shape.name))
    notes.append(_("There is no file: the figures are those of the well-known shape {name}.").format(name=shape.name))
    return Named(shape, taken, tuple(notes))


def _unknown(text: str, words: list[str]) -> str:
    import difflib

    by_name = {shape.name: shape for shape in shapes()}
    near = difflib.get_close_matches("-".join(words), by_name, _NEAR, 0.3)
    near += [name for name, shape in by_name.items() if name not in near and any(holds(words, alias.split()) for alias in shape.names)]
    template = _(
        "{name} is no model that is known here. Near it are: {near}. A file, an address or a repository (user/name) is read itself."
    )
    if not near:
        template = _("{name} is no model that is known here. A file, an address or a repository (user/name) is read itself.")
    return template.format(name=text[:_MOST], near=", ".join(near[:_NEAR]))
