"""Packages of which the tables know nothing: an environment holds them, and no framework comes with them."""

from collections.abc import Iterator, Mapping

from packaging.requirements import Requirement

from rigup.knowledge.meant import programs
from rigup.knowledge.notebooks import tools
from rigup.language import _
from rigup.stack.candidate import Candidate
from rigup.stack.programs import is_library
from rigup.stack.site import Site

_MOST = 5


def candidates(wishes: Mapping[str, Requirement], _site: Site) -> Iterator[Candidate]:
    """One build that asks for nothing: what it holds is left to the installer; none where no package is asked for."""
    known = programs()
    unheard = [name for name, requirement in wishes.items() if name not in known or is_library(known[name], requirement)]
    if not unheard:
        return
    unheard = [name for name in unheard if name not in known]
    strange = [name for name in unheard if name not in tools()]
    names = ", ".join(unheard[:_MOST]) + (" …" if len(unheard) > _MOST else "")
    yield Candidate(
        package=names or next(iter(wishes), ""), version="", kind="unknown", packages={}, mind=_mind(strange, unheard), source="wheels"
    )


def _mind(strange: list[str], unheard: list[str]) -> str:
    """What to bear in mind of packages that the tables do not know, and of tools that use no GPU themselves."""
    if strange:
        names = ", ".join(strange[:_MOST]) + (" …" if len(strange) > _MOST else "")
        template = _("The tables do not know {names}: whether it uses a GPU, and which, nobody can say.")
        return template.format(names=names)
    if unheard:
        template = _("{names} uses no GPU by itself: what runs in it does, by the frameworks that its environment holds.")
        return template.format(names=", ".join(unheard[:_MOST]))
    return ""
