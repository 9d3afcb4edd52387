"""What a plan installs, by where it lies: what all forms share."""

from typing import NamedTuple

from rigup.stack.choice import Choice


class Group(NamedTuple):
    """Packages that come from the same places.

    Attributes:
        wanted: as pip takes them: "torch==2.9.1+cu126".
        only: the index in place of the default one, "" for that.
        extra_indexes, find_links: asked beside.

    """

    wanted: tuple[str, ...]
    only: str = ""
    extra_indexes: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()

    @property
    def options(self) -> list[str]:
        """What pip is told of the places."""
        told = ["--index-url", self.only] if self.only else []
        for url in self.extra_indexes:
            told += ["--extra-index-url", url]
        for place in self.find_links:
            told += ["--find-links", place]
        return told


def groups(choice: Choice) -> list[Group]:
    """One for each framework of the choice, and one for what was asked for beside."""
    sources = choice.site.sources
    found = [
        Group(
            tuple(_pinned(name, version) for name, version in choice.packages.items() if _plain(name) in _names(one.build.packages)),
            one.build.index, (*one.build.extra_indexes, *sources.extra_indexes), sources.find_links,
        )
        for one in choice.chosen
    ]  # fmt: skip
    if choice.requirements:
        found.append(Group(choice.requirements, "", sources.extra_indexes, sources.find_links))
    return found


def _names(packages: dict[str, str]) -> set[str]:
    return {_plain(name) for name in packages}


def _plain(name: str) -> str:
    """A package's name without its extras."""
    return name.partition("[")[0]


def _pinned(name: str, version: str) -> str:
    """A range, as triton's is, stands as it is."""
    if not version:
        return name
    return name + version if not version[0].isdigit() else name + "==" + version
