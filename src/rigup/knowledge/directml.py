"""Which torch each release of torch-directml stands on, and which Pythons have it."""

from typing import NamedTuple

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key


class _Release(msgspec.Struct, frozen=True):
    torch_directml: str
    torch: str
    torchvision: str = ""
    python: str = ""


class _PlainForm(msgspec.Struct, frozen=True):
    """An option with which a program does without operators that begin so."""

    operator: str
    option: str
    whole: str = ""  # the release that has them all, where the plain form lacks operators, too


class Pinned(NamedTuple):
    """What is installed together, exact, and the newest Python that has it."""

    packages: str
    python: str
    oldest: str


def torch_of_directml(version: str = "") -> set[str]:
    """The releases of torch ("2.4.1") that a release of torch-directml pins, or all of its releases do; empty where nobody looked.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("directml", "release", _Release)
    return {row.torch for row in rows if not version or row.torch_directml == version}


def newest_directml(torch: str = "") -> Pinned | None:
    """The newest release of torch-directml with the torch and torchvision that it stands on: of those for a torch ("2.0.1") where there are such.

    A program that came with that torch is written for it and its companions.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("directml", "release", _Release)
    minor = version_key(torch.partition("+")[0])[:2]
    fitting = [row for row in rows if minor and version_key(row.torch)[:2] == minor] or rows
    newest = max(fitting, key=lambda row: (version_key(row.torch), row.torch_directml), default=None)
    return _pin(newest) if newest else None


def _pin(row: _Release) -> Pinned:
    first, _, last = row.python.partition("-")
    vision = f", torchvision=={row.torchvision}" if row.torchvision else ""
    return Pinned(f"torch-directml=={row.torch_directml}, torch=={row.torch}{vision}", last or first, first)


def has_directml(python: str) -> bool:
    """Whether a release of torch-directml has a wheel for a Python ("3.12").

    Raises:
        KnowledgeError: the table is malformed.

    """
    minor = version_key(python)[:2]
    spans = (row.python.partition("-") for row in tables.rows("directml", "release", _Release))
    return any(version_key(first)[:2] <= minor <= version_key(last or first)[:2] for first, _, last in spans)


def release_before(operator: str) -> Pinned | None:
    """The last release under which an optimizer does without an operator, where its plain form falls back as well; None for others.

    Raises:
        KnowledgeError: the table is malformed.

    """
    bare = operator.removeprefix("aten::")
    named = next(
        (row.whole for row in tables.rows("directml", "plain_form", _PlainForm) if bare.startswith(row.operator) and row.whole), ""
    )
    return next((_pin(row) for row in tables.rows("directml", "release", _Release) if row.torch_directml == named), None)


def plain_form(operator: str) -> str:
    """The option with which a program does without an operator; "" where the table has none.

    Raises:
        KnowledgeError: the table is malformed.

    """
    bare = operator.removeprefix("aten::")
    rows = tables.rows("directml", "plain_form", _PlainForm)
    return next((row.option for row in rows if bare.startswith(row.operator)), "")
