"""One plan in many forms: a script, an image's recipe, a project's table. Pure functions from values to text."""

import importlib
from collections.abc import Mapping

from rigup.stack.choice import Choice

_MODULES = {
    "script": "script",
    "dockerfile": "image",
    "apptainer": "image",
    "conda": "project",
    "pyproject": "project",
    "poetry": "project",
}
FORMS = tuple(_MODULES)


def rendered(choice: Choice, form: str, images: Mapping[str, str] | None = None) -> str:
    """The plan as the text of a file.

    Args:
        choice: one that is possible.
        form: one of FORMS.
        images: a site's own, that recipes of images are built upon, by the package that they are for.

    Raises:
        KeyError: there is no such form.

    """
    module = importlib.import_module("rigup.plan.render." + _MODULES[form])
    make = getattr(module, form)
    text: str = make(choice, images or {}) if _MODULES[form] == "image" else make(choice)
    return _with_notes(text, form, choice)


def _with_notes(text: str, form: str, choice: Choice) -> str:
    """What was asked for and not resolved stands at the beginning, as a comment or in the help of an image."""
    resolution = choice.resolution
    notes = [_line(sentence) for sentence in resolution.because] if resolution and resolution.by else []
    lines = text.split("\n")
    if form == "apptainer":
        place = lines.index("%help") + 1
        return "\n".join([*lines[:place], *("    " + note for note in notes), *lines[place:]])
    place = next(number for number, line in enumerate(lines) if not line.startswith("#"))
    return "\n".join([*lines[:place], *("# " + note for note in notes), *lines[place:]])


def _line(sentence: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in sentence)
