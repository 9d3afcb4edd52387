"""Wishes for programs that no package of their name brings: what is meant, how it is had, what is planned meanwhile."""

from collections.abc import Iterator, Mapping

from packaging.requirements import Requirement

from rigup.knowledge.meant import Program, programs
from rigup.language import _


def asked_for(wishes: Mapping[str, Requirement]) -> list[Program]:
    """The programs among the names of a wish, each once; none where its library is meant. Raises KnowledgeError."""
    rows = ((programs().get(name), requirement) for name, requirement in wishes.items())
    return list({row.title: row for row, requirement in rows if row and not is_library(row, requirement)}.values())


def is_library(row: Program, requirement: Requirement) -> bool:
    """Who names a release, or has it in a file of requirements, means the package by which programs talk to it."""
    return bool(row.library and requirement.specifier)


def pythons_of(wishes: Mapping[str, Requirement]) -> tuple[str, ...]:
    """The Pythons on which all programs of a wish run; empty where none of them minds. Raises KnowledgeError."""
    versions = [row.pythons for row in asked_for(wishes) if row.pythons]
    return tuple(python for python in versions[0] if all(python in row for row in versions)) if versions else ()


def words_of(wishes: Mapping[str, Requirement]) -> Iterator[str]:
    """A sentence for each program. Raises KnowledgeError for a malformed table."""
    return (sentence(row) for row in asked_for(wishes))


def sentence(row: Program) -> str:
    """What is meant by its name, and how it is had."""
    return _sentence(row).format(**_fields(row))


def _fields(row: Program) -> dict[str, str]:
    return {"title": row.title, "url": row.url, "file": row.requirements, "package": row.package or row.library}


def _sentence(row: Program) -> str:
    if row.by == "git":
        return _(
            "{title} is a program and no package: its code comes by `git clone {url}`, and what it needs by "
            "`pip install -r {file}` in this environment."
        )
    if row.by == "image":
        return _("{title} is a program that its makers give as a container image, and no package: {url} tells how to start it.")
    if row.library:
        return _(
            "{title} is a program with an installer of its own: it is had at {url}, and nothing of it is planned here. The "
            "package {package} is the library by which Python programs talk to it: `rigup plan '{package}>=0'` plans that."
        )
    if row.package:
        return _("{title} is a program, which its makers give at {url}: planned is {package}, its library for Python.")
    return _("{title} is a program with an installer of its own, and no package: it is had at {url}. Nothing of it is planned here.")
