"""What people write and mean by it: other names of packages, and programs that are no packages."""

from typing import Literal

import msgspec

from rigup.knowledge import tables


class _Name(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    package: str


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A program that no package of its name brings.

    Attributes:
        name: as a wish has it, in canonical form. title: as its makers write it.
        by: how it is had: from its repository, by its makers' installer, as an image.
        url: of the repository, or of the page from which it is had.
        requirements: the file in the repository that names its packages.
        package: what is planned for the wish meanwhile; "" for nothing of that name.
        library: the package by which Python programs talk to it, which has its name; "" where there is none.
        pythons: those on which it runs; empty for any.
        needs: what of torch's family it asks for.
        steps: the plan itself fetches it and installs what it requires.

    """

    name: str
    title: str
    by: Literal["git", "installer", "image"]
    url: str
    requirements: str = ""
    package: str = ""
    library: str = ""
    pythons: list[str] = []
    needs: list[str] = []
    steps: bool = False
    source: str = ""


@tables.remembered
def other_names() -> dict[str, str]:
    """Packages by other names that people and conda have for them. Raises KnowledgeError for a malformed table."""
    return {row.name: row.package for row in tables.rows("meant", "name", _Name)}


@tables.remembered
def programs() -> dict[str, Program]:
    """Programs by the canonical form of what a wish calls them. Raises KnowledgeError for a malformed table."""
    return {row.name: row for row in tables.rows("meant", "program", Program)}
