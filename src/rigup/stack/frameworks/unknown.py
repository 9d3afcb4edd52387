"""Packages of which the tables know nothing: an environment holds them, and no framework comes with them."""

from collections.abc import Iterator, Mapping

from packaging.requirements import Requirement

from rigup.language import _
from rigup.stack.candidate import Candidate
from rigup.stack.site import Site

_MOST = 5


def candidates(asked: Mapping[str, Requirement], _site: Site) -> Iterator[Candidate]:
    """One build that asks for nothing: what it holds is left to the installer."""
    names = ", ".join([*asked][:_MOST]) + (" …" if len(asked) > _MOST else "")
    told = _(
        "The tables do not know {names}: whether it uses a GPU, and which, nobody can say. It is left to the installer."
    )
    yield Candidate(
        package=names, version="", kind="unknown", packages={}, mind=told.format(names=names), source="wheels"
    )
