"""What a command line asks for, with the files that it names: a wish, and the machine as those files have it."""

from collections.abc import Iterable
from typing import Any

import msgspec
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from rigup.knowledge.meant import programs
from rigup.language import _
from rigup.stack.site import Site
from rigup.stack.terms import Asked, Terms, WishError, bounded, together
from rigup.stack.wish import Wish, marker_environment, read_wishes


def asked_in(words: Iterable[str], paths: Iterable[str]) -> Asked:
    """Words of a command line and files of wishes, as one.

    Raises:
        WishError: a file cannot be read, or says what cannot be kept.

    """
    every = [of_file(path) for path in paths]
    if every and not any(file.words for file in every):
        raise WishError(_("{paths}: no package is named there.").format(paths=", ".join(file.terms.files[0] for file in every)))
    return together([Asked(tuple(words)), *every])


def of_file(path: str) -> Asked:
    """A requirements.txt or a pyproject.toml, the latter also as `pyproject.toml[extra]`. Raises WishError."""
    from rigup.stack import projects, requirement_files

    plain, parts = projects.split(path)
    a_project = plain.endswith(".toml")
    asked = projects.of_project(plain, parts) if a_project else requirement_files.of_requirements(path)
    return asked._replace(words=tuple(map(_as_package, asked.words)))


def _as_package(word: str) -> str:
    """A file of requirements names packages, also where a program has the same name: any release says so."""
    try:
        requirement = Requirement(word)
    except InvalidRequirement:
        return word
    row = programs().get(canonicalize_name(requirement.name))
    if row and row.library and not requirement.specifier and not requirement.extras:
        requirement.specifier = SpecifierSet(">=0")
    return str(requirement) if requirement.specifier else word


def wished(asked: Asked, site: Site, *, mirror: str = "", usual_mirror: str = "", **options: Any) -> tuple[Wish, Site]:
    """The wish, and the machine with the places of its files.

    Args:
        asked: what was asked for.
        site: the machine.
        mirror: one that was asked for by name.
        usual_mirror: one of the settings, which a file's own index goes before.
        options: further fields of a wish.

    Raises:
        WishError: it cannot be understood, or the mirror contradicts a file.
        KnowledgeError: a table is malformed.

    """
    terms = asked.terms
    if terms.index and mirror:
        template = _("{file} names the index {url}, and the mirror {mirror} was asked for too. Keep one of them.")
        raise WishError(template.format(file=", ".join(terms.files), url=terms.index, mirror=mirror))
    words = read_wishes(asked.words, site)
    words = tuple(bounded(words, terms, {**_here(), **marker_environment(site)})) if terms.constraints else words
    usual = "" if terms.index else usual_mirror
    return Wish(packages=words, terms=terms, mirror=mirror or usual, **options), terms.on(site)


def _here() -> dict[str, str]:
    from packaging.markers import default_environment

    return {name: str(value) for name, value in default_environment().items()}


def fits_python(wish: Wish, python: str) -> None:
    """Raise WishError where a project is not for the Python that was chosen."""
    wanted = wish.terms.python
    if wanted and python and not SpecifierSet(wanted).contains(_release(python), prereleases=True):
        template = _("{file} is for Python {wanted}, and {python} was chosen. Name one that fits with --python.")
        raise WishError(template.format(file=", ".join(wish.terms.files), wanted=wanted, python=python))


def _release(python: str) -> str:
    """A minor release counts as its last patch: projects ask for a lowest one."""
    plain = python.removesuffix("t")
    return plain + ".99" if plain.count(".") == 1 else plain


def kept_terms(fields: Any) -> Terms:
    """Terms as a journal has kept them."""
    return msgspec.convert(fields, Terms)
