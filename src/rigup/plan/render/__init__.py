"""One plan in many forms: a script, an image's recipe, a project's table. Pure functions from values to text."""

import importlib

from rigup.stack.choice import Choice

_MODULES = {
    "script": "script", "dockerfile": "image", "apptainer": "image", "conda": "project", "pyproject": "project",
    "poetry": "project",
}  # fmt: skip
FORMS = tuple(_MODULES)


def rendered(choice: Choice, form: str) -> str:
    """The plan as the text of a file.

    Args:
        choice: one that is possible.
        form: one of FORMS.

    Raises:
        KeyError: there is no such form.

    """
    module = importlib.import_module("rigup.plan.render." + _MODULES[form])
    text: str = getattr(module, form)(choice)
    return text
