"""Which of the doctor's findings the steps of a plan mend."""

from collections.abc import Iterable

from rigup.schemas.plan import Mended
from rigup.schemas.shared import Step
from rigup.stack.choice import Choice
from rigup.stack.troubles import Asked, Trouble

_PACKAGES = ("install-into-environment", "install-with-uv", "install-with-conda")
_DRIVERS = ("install-driver-packages", "install-driver", "install-windows-driver", "write-configuration")
# What a finding asks for in its words, and the steps by which a plan does it.
_SAME = {
    "install-torch": _PACKAGES,
    "install-torch-with-audio": _PACKAGES,
    "choose-build": _PACKAGES,
    "install-in-two-steps": _PACKAGES,
    "get-jetson-torch": _PACKAGES,
    "get-jetson-file": _PACKAGES,
    "get-build-for-this-gpu": _PACKAGES,
    "get-jetson-torch-of-jetpack": _PACKAGES,
    "install-packages": _PACKAGES,
    "install-driver": _DRIVERS,
    "install-driver-branch": _DRIVERS,
    "install-module-flavour": _DRIVERS,
    "install-rocm": ("install-rocm-release",),
    "install-toolkit": ("install-cuda-toolkit",),
    "install-container-toolkit": ("set-up-container-toolkit",),
    "set-variable": ("set-environment-variable",),
    "join-group": ("join-group-yourself",),
}


def mends(choice: Choice, steps: Iterable[Step]) -> list[Mended]:
    """The findings that the steps mend, in the doctor's order.

    Packages mend a finding only in the environment that it is about: a new one beside it leaves that as it is.
    """
    left = [step for step in steps if step.state != "satisfied"]
    pairs = ((trouble, _ids(trouble, left, choice)) for trouble in choice.site.troubles if trouble.severity != "note")
    return [Mended(cause=trouble.cause, title=trouble.title, steps=ids) for trouble, ids in pairs if ids]


def _ids(trouble: Trouble, left: list[Step], choice: Choice) -> list[str]:
    """Steps by which the whole of a finding's fix is done; none where a part of it is missing."""
    by_ask = [[step.id for step in left if _does(request, step, choice)] for request in trouble.asks]
    return list(dict.fromkeys(ident for ids in by_ask for ident in ids)) if all(by_ask) else []


def _does(request: Asked, step: Step, choice: Choice) -> bool:
    if step.kind in _PACKAGES and not (choice.site.has_environment and choice.site.environment):
        return False
    if step.kind == request.kind:
        return all(step.params.get(name) == value for name, value in request.params.items())
    if step.kind not in _SAME.get(request.kind, ()):
        return False
    return _same_word("name", request, step) and _same_word("group", request, step)


def _same_word(name: str, request: Asked, step: Step) -> bool:
    """A variable or a group has to be the one that is asked for."""
    return name not in step.params or request.params.get(name) in (None, step.params[name])
