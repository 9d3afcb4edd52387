"""What a plan installs, by where it lies: what steps and all forms share."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from packaging.utils import canonicalize_name

from rigup.knowledge.mirrors import mirrored
from rigup.plan.applying.journal import state
from rigup.plan.environments import rigup_torch
from rigup.stack.choice import Choice
from rigup.stack.choose import pins
from rigup.stack.frameworks.addons import build_of
from rigup.stack.resolution import Resolution, Resolved
from rigup.stack.terms import Terms
from rigup.stack.weigh import Judged


class Group(NamedTuple):
    """Packages that come from the same places.

    Attributes:
        wanted: as pip takes them: "torch==2.9.1+cu126".
        only: the index in place of the default one, "" for that.
        extra_indexes, find_links: asked beside.
        offline: only the folders are asked: there is no network.
        conda: what conda is asked for in place of pip; empty for wheels.
        flags: further options of the installer.
        build: what was chosen; None for what was asked for beside.
        named: how many of `wanted`, at its beginning, were asked for or chosen; the others are what these need.
        terms: options with their values from files of requirements, "" for no value.
        bound: its packages come from its index alone, by the word of such a file.

    """

    wanted: tuple[str, ...]
    only: str = ""
    extra_indexes: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    build: Judged | None = None
    offline: bool = False
    conda: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    named: int = 0
    terms: tuple[tuple[str, str], ...] = ()
    bound: bool = False

    @property
    def places(self) -> list[tuple[str, str]]:
        """Options with their values that name the places of packages."""
        options = [("--index-url", self.only)] if self.only else []
        options += [("--extra-index-url", url) for url in self.extra_indexes]
        options = [] if self.offline else options
        return options + [("--find-links", place) for place in self.find_links]

    @property
    def options(self) -> list[str]:
        """The places as words of pip's and uv's command line."""
        offline = ["--no-index"] if self.offline else []
        terms = [word for pair in self.terms for word in pair if word]
        return [*self.flags, *offline, *terms, *(word for pair in self.places for word in pair)]


def groups(choice: Choice) -> list[Group]:
    """One for each framework of the choice, and one for what was asked for beside.

    A person's own places are kept: an index of theirs is asked beside a vendor's one. Addresses with a password
    in them are left to pip's own configuration, which has them, and not told in a plan.
    """
    all_groups = [group for group in (*_of_builds(choice), *_other_groups(choice), *_of_rigup(choice)) if group.wanted or group.conda]
    all_groups = [*_bound_groups(choice, all_groups), *all_groups]
    resolution = choice.resolution
    final = _exact(choice, all_groups, resolution) if resolution and resolution.packages else _carried(all_groups)
    terms = _terms(choice)
    own = (rigup_torch.pinned(),)
    return [group if group.conda or group.wanted == own else group._replace(terms=terms) for group in final]


def _terms(choice: Choice) -> tuple[tuple[str, str], ...]:
    """The terms of files of requirements as options; bounds go along where nobody has resolved the whole within them."""
    terms, resolution = choice.wish.terms, choice.resolution
    bounds = terms.constraints and not (resolution and resolution.whole)
    return (*terms.options, *((("--constraint", str(constraints_path(terms))),) if bounds else ()))


def constraints_path(terms: Terms) -> Path:
    """Where the file with the bounds of these terms lies: under a name made of them."""
    digest = hashlib.sha256("\n".join(terms.constraints).encode()).hexdigest()[:20]
    return state() / "terms" / f"bounds-{digest}.txt"


def _bound_groups(choice: Choice, all_groups: list[Group]) -> Iterator[Group]:
    """What a file takes from one index alone comes first, by itself, so that what comes later finds it there.

    A build that has an index of its own comes from that.
    """
    places = choice.wish.terms.bound
    open_groups = [group for group in all_groups if not (group.conda or group.flags or (group.build and group.build.build.index))]
    words = [word for group in open_groups for word in group.wanted if name_of(word) in places]
    for url in dict.fromkeys(places[name_of(word)] for word in words):
        mine = tuple(word for word in words if places[name_of(word)] == url)
        yield Group(mine, only=url, flags=(ALONE,), bound=True)


def _carried(all_groups: list[Group]) -> Iterator[Group]:
    """Where nothing is resolved, what comes later names what came before, so that nothing of that is replaced."""
    before: dict[str, str] = {}
    for group in all_groups:
        pins = {name_of(word): word for word in group.wanted if "==" in word}
        more = (
            () if group.build or group.conda or ALONE in group.flags else tuple(word for name, word in before.items() if name not in pins)
        )
        named = len(group.wanted)
        yield group._replace(wanted=(*group.wanted, *more), named=named) if more else group
        before |= pins if group.build and not group.conda and not group.build.build.image else {}


def _of_builds(choice: Choice) -> Iterator[Group]:
    return (_of_build(choice, judged) for judged in choice.chosen)


def _other_groups(choice: Choice) -> Iterator[Group]:
    """What was asked for beside; what is built here comes last, after what its build needs."""
    built = {word: row for word in choice.requirements if (row := build_of(name_of(word))) and row.options}
    plain = (*(word for word in choice.requirements if word not in built), *before_building(choice, built))
    if plain:
        yield _placed(choice, tuple(dict.fromkeys(plain)), "", (), (), None)
    for word, row in built.items():
        links = tuple(url for judged in choice.chosen for name, url in judged.build.folders.items() if name == row.package)
        yield _placed(choice, (word,), "", (), links, None)._replace(flags=tuple(row.options))


def before_building(choice: Choice, words: Iterable[str]) -> tuple[str, ...]:
    """What is installed before some requirements are built: their builds, and they themselves, need it."""
    cuda = next((judged.build.cuda for judged in choice.chosen if judged.build.cuda), "").partition(".")[0]
    rows = filter(None, (build_of(name_of(word)) for word in words))
    return tuple(dict.fromkeys(requirement.format(cuda=cuda) for row in rows for requirement in row.before))


def _of_rigup(choice: Choice) -> Iterator[Group]:
    """`rigup.torch`, from the wheel that this rigup makes of itself; it needs nothing else."""
    if choice.wish.with_rigup:
        yield Group((rigup_torch.pinned(),), find_links=(str(rigup_torch.usual_folder()),), offline=True, flags=(ALONE,))


def name_of(requirement: str) -> str:
    """The canonical name in a requirement, without extras."""
    return str(canonicalize_name(re.split(r"[^A-Za-z0-9._-]", requirement.strip(), maxsplit=1)[0]))


# -- as they were resolved ---------------------------------------------------------------------------

ALONE = "--no-deps"
"""What installers are told where everything is named: nothing is looked for beside."""


def _exact(choice: Choice, all_groups: list[Group], resolution: Resolution) -> Iterator[Group]:
    """The same groups with what a resolver made of them: every package by its exact version, each where it is bound.

    What a build needs and what was asked for beside come with the group that asks the default places. What is built
    where it is installed comes last, in its own way. Where something is not resolved, installers still look for what
    it needs, and every version that is known is told them, so that none of them changes.
    """
    names = {name_of(word): None for group in all_groups for word in group.wanted}
    built_names = {name_of(word) for group in all_groups if group.flags and not group.bound for word in group.wanted}
    places = dict.fromkeys(package.index for package in resolution.packages if package.index)
    for url in places:
        like = next(group for group in all_groups if group.only == url)
        yield _pinned_group(like, [package for package in resolution.packages if package.index == url], names, resolution)
    if default := [package for package in resolution.packages if not package.index and package.name not in built_names]:
        like = next((group for group in all_groups if _is_default(group)), None) or _placed(choice, (), "", (), (), None)
        fixed = () if resolution.whole else tuple(package.pin for package in resolution.packages if package.index)
        rest = _pinned_group(like, default, names, resolution)
        yield _reached(rest._replace(wanted=(*rest.wanted, *fixed)), resolution)
    yield from (group for group in all_groups if group.conda)
    yield from (_built_here(group, resolution) for group in all_groups if group.flags and not group.bound)


def _built_here(group: Group, resolution: Resolution) -> Group:
    """With the release that is the index's newest for it, where that is known; all that it needs has come before."""
    versions = {package.name: package.pin for package in resolution.packages}
    wanted = tuple(word if "://" in word else versions.get(name_of(word), word) for word in group.wanted)
    return group._replace(wanted=wanted, flags=tuple(dict.fromkeys((*group.flags, ALONE))))


def _reached(group: Group, resolution: Resolution) -> Group:
    """Without the default index, where nobody answered there and other places had it all."""
    if not resolution.without_default or group.only:
        return group
    first, *rest = group.extra_indexes or ("",)
    return group._replace(only=first, extra_indexes=tuple(rest), offline=group.offline or not first)


def _folder(url: str) -> str:
    """The folder of a file of this machine; "" of one that lies elsewhere."""
    address = urlsplit(url)
    return os.path.dirname(unquote(address.path)) if address.scheme == "file" else ""


def _is_default(group: Group) -> bool:
    """It asks the default places, and nothing in it is built where it is installed."""
    own = group.build is not None and bool(group.build.build.index)
    return not (own or group.flags or group.conda)


def _pinned_group(like: Group, packages: list[Resolved], names: Iterable[str], resolution: Resolution) -> Group:
    """A group of exact versions, those that were asked for first. A folder that has all of them is asked alone."""
    order = {name: place for place, name in enumerate(names)}
    mine = sorted(packages, key=lambda package: (order.get(package.name, len(order)), package.name))
    named = sum(package.name in order for package in mine)
    wanted = tuple(package.pin for package in mine)
    if not resolution.whole:
        return like._replace(wanted=wanted, named=named)
    in_folders = all(_folder(package.url) in like.find_links for package in mine)
    extra = () if like.build and like.build.build.index else like.extra_indexes
    return like._replace(wanted=wanted, named=named, flags=(ALONE,), offline=like.offline or in_folders, extra_indexes=extra)


def channel(choice: Choice) -> str:
    """The channel that conda takes builds from: the mirror's where one was asked for."""
    own = next((judged.build.channel for judged in choice.chosen if judged.build.channel), "conda-forge")
    return (mirrored(choice.wish.mirror, "conda") if choice.wish.mirror else "") or own


def _of_build(choice: Choice, judged: Judged) -> Group:
    names = {plain(name) for name in (*judged.build.packages, *pins(judged, choice.site))}
    versions = {name: version for name, version in choice.packages.items() if plain(name) in names}
    wanted = tuple(judged.build.files.get(plain(name)) or pinned(name, version) for name, version in versions.items())
    return _placed(choice, wanted, judged.build.index, judged.build.extra_indexes, judged.build.links, judged)


def _placed(
    choice: Choice, wanted: tuple[str, ...], index: str, extra: tuple[str, ...], links: tuple[str, ...], judged: Judged | None
) -> Group:
    sources = choice.site.sources
    own = mirror(choice) or plain_address(sources.index)
    default_index = own if index and index != own else ""
    urls = (url for url in (*extra, default_index, *map(plain_address, sources.extra_indexes)) if url)
    return Group(
        wanted,
        index or own,
        tuple(dict.fromkeys(urls)),
        tuple(dict.fromkeys((*links, *sources.find_links))),
        judged,
        (choice.site.network is False or sources.no_index) and bool(sources.find_links),
        judged.build.conda if judged else (),
    )


def mirror(choice: Choice) -> str:
    """The default index of the mirror that was asked for; "" where none was, or it has none."""
    return mirrored(choice.wish.mirror, "pypi") if choice.wish.mirror else ""


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
