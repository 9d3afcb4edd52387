"""One plan in many forms: a script, an image's recipe, a project's table. Pure functions from values to text."""

import importlib
from collections.abc import Mapping

from rigup.stack.choice import Choice

_MODULES = {
    "script": "script", "dockerfile": "image", "apptainer": "image", "conda": "project", "pyproject": "project",
    "poetry": "project",
}  # fmt: skip
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
    return text
