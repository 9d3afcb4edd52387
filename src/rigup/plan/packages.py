"""What a plan installs, by where it lies: what steps and all forms share."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from packaging.utils import canonicalize_name

from rigup.knowledge.mirrors import mirrored
from rigup.stack.choice import Choice
from rigup.stack.choose import pins
from rigup.stack.frameworks.addons import build_of
from rigup.stack.weigh import Judged


class Group(NamedTuple):
    """Packages that come from the same places.

    Attributes:
        wanted: as pip takes them: "torch==2.9.1+cu126".
        only: the index in place of the default one, "" for that.
        extra_indexes, find_links: asked beside.
        offline: only the folders are asked: there is no network.
        conda: what conda is asked for in place of pip; empty for wheels.
        flags: what the installer is told beside the places.
        build: what was chosen; None for what was asked for beside.

    """

    wanted: tuple[str, ...]
    only: str = ""
    extra_indexes: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    build: Judged | None = None
    offline: bool = False
    conda: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

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
        offline = ["--no-index"] if self.offline else []
        return [*self.flags, *offline, *(word for pair in self.places for word in pair)]


def groups(choice: Choice) -> list[Group]:
    """One for each framework of the choice, and one for what was asked for beside.

    A person's own places are kept: an index of theirs is asked beside a vendor's one. Addresses with a password
    in them are left to pip's own configuration, which has them, and not told in a plan.
    """
    found = [_of_build(choice, one) for one in choice.chosen]
    return [group for group in (*found, *_beside(choice)) if group.wanted or group.conda]


def _beside(choice: Choice) -> Iterator[Group]:
    """What was asked for beside; what is built here comes last, after what its build needs."""
    built = {told: row for told in choice.requirements if (row := build_of(_name(told))) and row.options}
    before = (one for row in built.values() for one in row.before)
    plain = (*(told for told in choice.requirements if told not in built), *before)
    if plain:
        yield _placed(choice, tuple(dict.fromkeys(plain)), "", (), (), None)
    for told, row in built.items():
        yield _placed(choice, (told,), "", (), (), None)._replace(flags=tuple(row.options))


def _name(requirement: str) -> str:
    return str(canonicalize_name(re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]))


def channel(choice: Choice) -> str:
    """The channel that conda takes builds from: the mirror's where one was asked for."""
    own = next((one.build.channel for one in choice.chosen if one.build.channel), "conda-forge")
    return (mirrored(choice.wish.mirror, "conda") if choice.wish.mirror else "") or own


def _of_build(choice: Choice, one: Judged) -> Group:
    names = {plain(name) for name in (*one.build.packages, *pins(one, choice.site))}
    wanted = tuple(pinned(name, version) for name, version in choice.packages.items() if plain(name) in names)
    return _placed(choice, wanted, one.build.index, one.build.extra_indexes, one.build.links, one)


def _placed(
    choice: Choice, wanted: tuple[str, ...], index: str, extra: tuple[str, ...], links: tuple[str, ...], one: Judged | None
) -> Group:  # fmt: skip
    sources, asked = choice.site.sources, choice.wish.mirror
    own = (mirrored(asked, "pypi") if asked else "") or plain_address(sources.index)
    beside = own if index and index != own else ""
    kept = (url for url in (*extra, beside, *map(plain_address, sources.extra_indexes)) if url)
    return Group(
        wanted, index or own, tuple(dict.fromkeys(kept)), tuple(dict.fromkeys((*links, *sources.find_links))), one,
        choice.site.network is False and bool(sources.find_links), one.build.conda if one else (),
    )  # fmt: skip


def plain_address(url: str) -> str:
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
