"""Which Python an environment gets, and who brings it where it is not there."""

from rigup.knowledge.cuda import version_key
from rigup.knowledge.system_pythons import further_pythons, takes_uv
from rigup.knowledge.torch_builds import builds
from rigup.language import _, sentences
from rigup.stack.candidate import Candidate, Change
from rigup.stack.programs import asked_for
from rigup.stack.site import Site
from rigup.stack.wish import Wish

_KEPT = 4  # of the newest lines of releases: a Python that none of them serves is left behind


def python_for(build: Candidate, site: Site, wish: Wish) -> str:
    """The Python of the environment: the one asked for, else one that is there, else one that is long tried.

    Raises:
        KnowledgeError: a table is malformed.

    """
    if wish.python:
        return wish.python
    present = [python for python in (site.python, *site.pythons) if python]
    fitting = [python for python in present if not build.python or python in build.python]
    if fitting:
        return fitting[0]
    if present and not build.python:
        return present[0]
    return _in_repositories(build, site) or _next_newest(build) or (present[0] if present else "")


def _next_newest(build: Candidate) -> str:
    """The newest but one: compiled companions follow the newest late."""
    plain = sorted((python for python in build.python or builds()[0].python if not python.endswith("t")), key=version_key)
    return plain[-2:][0] if plain else ""


def _in_repositories(build: Candidate, site: Site) -> str:
    """One of the distribution's packages, where its own Python is too old to bring uv along; "" where there is none."""
    fitting = [python for python in repository_pythons(site) if not build.python or python in build.python]
    return max(fitting, key=version_key, default="")


def repository_pythons(site: Site) -> tuple[str, ...]:
    """Pythons that the distribution's packages bring, where nothing that asks for less does: uv needs no root.

    Raises:
        KnowledgeError: the table is malformed.

    """
    least_privileged = site.uv or site.root is False or not site.python or takes_uv(site.python)
    if least_privileged or site.system != "linux" or site.holder != "venv":
        return ()
    return further_pythons(site.distribution, site.release)


def is_there(site: Site, python: str) -> bool:
    """A Python of the machine, as far as anybody knows."""
    return bool(python) and python in (site.python, *site.pythons)


def python_change(build: Candidate, site: Site, wish: Wish) -> Change | None:
    """Another Python than the one that is there. Conda and images bring their own.

    Raises:
        KnowledgeError: a table is malformed.

    """
    if wish.manager != "venv":
        return None
    chosen = python_for(build, site, wish)
    if not site.python or is_there(site, chosen):
        return None
    template = (
        _("{build} has no wheel for Python {have}.")
        if site.python not in (build.python or (site.python,))
        else _("Python {python} was asked for, and {have} is there.")
    )
    choosy = next((row.title for row in asked_for(wish.asked()) if row.pythons and site.python not in row.pythons), "")
    template = _("{build} does not run on Python {have}.") if choosy else template
    named = choosy or build.narrowed_by or build.label
    why = sentences(template.format(build=named, have=site.python, python=chosen))
    packaged = chosen in repository_pythons(site)
    return Change(change="python", have=site.python, to=chosen, why=why, root=packaged, weight=_weight(site))


def _weight(site: Site) -> int:
    """A Python that was only taken for granted, and that is left behind, holds nobody at old releases."""
    return 0 if site.own_python and _left_behind(site.python or "") else 3


def _left_behind(python: str) -> bool:
    lines: dict[tuple[int, ...], set[str]] = {}
    for row in builds():
        lines.setdefault(version_key(row.torch)[:2], set()).update(row.python)
    newest = sorted(lines, reverse=True)[:_KEPT]
    return bool(newest) and not any(python in lines[line] for line in newest)
