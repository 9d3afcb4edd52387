"""What a plan installs, by where it lies: what steps and all forms share."""

from typing import NamedTuple

from rigup.knowledge.mirrors import mirrored
from rigup.stack.choice import Choice
from rigup.stack.weigh import Judged


class Group(NamedTuple):
    """Packages that come from the same places.

    Attributes:
        wanted: as pip takes them: "torch==2.9.1+cu126".
        only: the index in place of the default one, "" for that.
        extra_indexes, find_links: asked beside.
        offline: only the folders are asked: there is no network.
        build: what was chosen; None for what was asked for beside.

    """

    wanted: tuple[str, ...]
    only: str = ""
    extra_indexes: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    build: Judged | None = None
    offline: bool = False

    @property
    def places(self) -> list[tuple[str, str]]:
        """Options with their values, which say where packages lie."""
        told = [("--index-url", self.only)] if self.only else []
        told += [("--extra-index-url", url) for url in self.extra_indexes]
        told = [] if self.offline else told
        return told + [("--find-links", place) for place in self.find_links]

    @property
    def options(self) -> list[str]:
        """What pip and uv are told of the places."""
        return (["--no-index"] if self.offline else []) + [word for pair in self.places for word in pair]


def groups(choice: Choice) -> list[Group]:
    """One for each framework of the choice, and one for what was asked for beside.

    A person's own places are kept: an index of theirs is asked beside a vendor's one. Addresses with a password
    in them are left to pip's own configuration, which has them, and not told in a plan.
    """
    found = [_of_build(choice, one) for one in choice.chosen]
    if choice.requirements:
        found.append(_placed(choice, tuple(choice.requirements), "", (), (), None))
    return found


def _of_build(choice: Choice, one: Judged) -> Group:
    names = {plain(name) for name in one.build.packages}
    wanted = tuple(pinned(name, version) for name, version in choice.packages.items() if plain(name) in names)
    return _placed(choice, wanted, one.build.index, one.build.extra_indexes, one.build.links, one)


def _placed(
    choice: Choice, wanted: tuple[str, ...], index: str, extra: tuple[str, ...], links: tuple[str, ...], one: Judged | None
) -> Group:  # fmt: skip
    sources, asked = choice.site.sources, choice.wish.mirror
    own = (mirrored(asked, "pypi") if asked else "") or _plain_address(sources.index)
    beside = own if index and index != own else ""
    kept = (url for url in (*extra, beside, *map(_plain_address, sources.extra_indexes)) if url)
    return Group(
        wanted, index or own, tuple(dict.fromkeys(kept)), tuple(dict.fromkeys((*links, *sources.find_links))), one
    )


def _plain_address(url: str) -> str:
    """An address that may be shown; "" for one that holds a name or a password."""
    return "" if "@" in url.partition("://")[2].partition("/")[0] else url


def plain(name: str) -> str:
    """A package's name without its extras."""
    return name.partition("[")[0]


def pinned(name: str, version: str) -> str:
    """A range, as triton's is, stands as it is."""
    if not version:
        return name
    return name + version if not version[0].isdigit() else name + "==" + version
