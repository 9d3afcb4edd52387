"""A stack for what was asked for, on this machine or on one that was described."""

import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import msgspec

from rigup.language import _
from rigup.workflows.environments import defaults, in_full
from rigup.workflows.errors import RequestError, UnclearMachineError, as_workflow_errors

if TYPE_CHECKING:
    from rigup.stack.choice import Choice
    from rigup.stack.site import Site
    from rigup.stack.terms import Terms
    from rigup.stack.wish import Wish

_PYTHON = re.compile(r"\d{1,2}(\.\d{1,3}){1,2}t?", re.ASCII)
_MOST_PROFILE = 1_000_000  # letters of a file that tells of a machine


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for, and of which machine.

    Attributes:
        wishes: packages with or without a version, or files of them.
        files: requirements.txt and pyproject.toml.
        profile: another machine: words, a TOML file, a report or a capture; None for this one.
        environment: where it is to be; "" for the usual place.
        python: the version of its Python; "" for whichever fits.
        manager: what holds it ("venv", "conda", "docker", "apptainer").
        prefer: what counts more ("least-change", "newest").
        no_root: whether nothing is planned that needs root.
        with_rigup: whether `rigup.torch` goes into it.
        mirror: the name of one in the tables; "" for the defaults'.

    """

    wishes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    profile: str | None = None
    environment: str = ""
    python: str = ""
    manager: str = "venv"
    prefer: str = "least-change"
    no_root: bool = False
    with_rigup: bool = False
    mirror: str = ""

    def options(self) -> dict[str, Any]:
        """All but what is asked for and where, as a journal keeps it to ask the same again."""
        return {name: getattr(self, name) for name in ("python", "manager", "prefer", "no_root", "with_rigup", "mirror")}


Waiting = Callable[[str], AbstractContextManager[object]]
"""What shows that something takes its time: it gets what that is, in words."""


def chosen(request: Request, *, resolve: bool = False, terms: "Terms | None" = None, waiting: Waiting = nullcontext) -> "Choice":
    """The stack for a request.

    Args:
        request: what is asked for.
        resolve: whether a real resolver is asked for every package that comes.
        terms: of files of wishes that were read before; they are not read again then.
        waiting: shows that a resolver is waited for.

    Raises:
        UnclearMachineError: the description of the machine lacks something.
        RequestError: the request cannot be understood, or a file cannot be read.

    """
    from rigup.plan.environments.rigup_torch import wheel_folder
    from rigup.plan.term_files import elsewhere, write_files
    from rigup.stack.asked import fits_python
    from rigup.stack.choose import choose

    _is_python(request.python)
    with as_workflow_errors():
        if request.with_rigup:
            wheel_folder()  # the file that the plan names is there for who types its commands
        wish, machine = _wish(request, terms)
        choice = choose(wish, machine)
        fits_python(wish, choice.python)
        choice = _resolved(choice, request.profile is None, waiting) if resolve else choice
        write_files(choice)
        return msgspec.structs.replace(choice, warnings=(*choice.warnings, *elsewhere(choice)))


def _wish(request: Request, terms: "Terms | None") -> "tuple[Wish, Site]":
    from rigup.stack.asked import asked_in, wished
    from rigup.stack.doubts import sorted_out

    typed, named = sorted_out(request.wishes)
    asked = asked_in(typed, (*request.files, *named))
    asked = asked if terms is None else asked._replace(terms=terms)
    usual = defaults().mirror if request.profile is None else ""
    return wished(asked, site(request.profile, request.environment), usual_mirror=usual, **request.options())


def _resolved(choice: "Choice", here: bool, waiting: Waiting) -> "Choice":
    from rigup.plan.resolution.resolve import resolved

    with waiting(_("Resolving …")):
        return resolved(choice, here=here)


def site(profile: str | None, environment: str = "") -> "Site":
    """The machine to plan for: this one, one in words, or one that was captured or reported.

    Raises:
        UnclearMachineError: words lack something.
        SourceError: a file cannot be read.

    """
    from rigup.stack.profile import ProfileError, read_profile, read_profile_table

    try:
        if profile is not None and profile.endswith(".toml") and os.path.isfile(profile):
            with open(profile, encoding="utf-8", errors="replace") as file:
                return read_profile_table(file.read(_MOST_PROFILE))
        if profile is not None and not os.path.exists(profile):
            return read_profile(profile)
    except ProfileError as error:
        raise UnclearMachineError(str(error)) from error
    return _site(profile, environment)


def _site(profile: str | None, environment: str) -> "Site":
    from rigup.plan.environments.settings import with_settings
    from rigup.stack.seen import look_at

    machine = look_at(profile, in_full(environment) if profile is None else environment, judge=True)
    return with_settings(machine, defaults()) if profile is None else machine


def _is_python(version: str) -> None:
    """Raise RequestError for a word that cannot be a version of Python."""
    if version and not _PYTHON.fullmatch(version):
        template = _("{version} is no version of Python: write for instance 3.12.")
        raise RequestError(template.format(version=version[:60]))
