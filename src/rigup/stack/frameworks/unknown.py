"""Packages of which the tables know nothing: an environment holds them, and no framework comes with them."""

from collections.abc import Iterator, Mapping

from packaging.requirements import Requirement

from rigup.knowledge.meant import programs
from rigup.language import _
from rigup.stack.candidate import Candidate
from rigup.stack.programs import is_library
from rigup.stack.site import Site

_MOST = 5


def candidates(wishes: Mapping[str, Requirement], _site: Site) -> Iterator[Candidate]:
    """One build that asks for nothing: what it holds is left to the installer; none where no package is asked for."""
    known = programs()
    unheard = [
        name for name, requirement in wishes.items() if name not in known or is_library(known[name], requirement)
    ]
    if not unheard:
        return
    unheard = [name for name in unheard if name not in known]
    names = ", ".join(unheard[:_MOST]) + (" …" if len(unheard) > _MOST else "")
    template = _("The tables do not know {names}: whether it uses a GPU, and which, nobody can say.")
    yield Candidate(
        package=names or next(iter(wishes), ""),
        version="",
        kind="unknown",
        packages={},
        mind=template.format(names=names) if names else "",
        source="wheels",
    )
