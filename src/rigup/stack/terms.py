"""The terms of files of requirements: places, bounds, hashes. Each is kept, or it is refused by its name."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from rigup.language import _
from rigup.stack.site import Site

_SECRET = re.compile(r"(?<=://)[^/@\s]{1,2000}@")
_PLACE = re.compile(r"(?:https?|file)://[^\s\x00-\x1f\x7f\"'`\\]{1,2000}", re.IGNORECASE)


class WishError(Exception):
    """A wish that cannot be understood or kept, with what to write instead."""


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What goes with packages.

    Attributes:
        index: asked in place of the default one, "" for that.
        extra_indexes, find_links: asked beside.
        no_index: the folders alone are asked.
        previews: early releases may be taken.
        wheels_first: an older release with a wheel goes before a newer one without; a resolver is asked that way anyway.
        no_binary, only_binary: packages that are built from their sources, or never are; `:all:` for every one.
        trusted_hosts: asked without a look at their certificates.
        constraints: bounds on what may come along; PEP 508 requirements, with their markers.
        hashes: by canonical name the hashes ("sha256:…") of files that may be installed.
        hashed: nothing is installed that has none of them.
        bound: the index of each package that comes from that one alone, by canonical name.
        python: Pythons that the project is for (">=3.10").
        told: what is left out on purpose, as sentences.
        files: names of the files that say it.

    """

    index: str = ""
    extra_indexes: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    no_index: bool = False
    previews: bool = False
    wheels_first: bool = False
    no_binary: tuple[str, ...] = ()
    only_binary: tuple[str, ...] = ()
    trusted_hosts: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    hashes: dict[str, tuple[str, ...]] = {}
    hashed: bool = False
    bound: dict[str, str] = {}
    python: str = ""
    told: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def places(self) -> frozenset[str]:
        """Addresses and folders that the files name: none of them is left out where nobody answers there."""
        named = (self.index, *self.extra_indexes, *self.find_links, *self.bound.values())
        return frozenset(place for place in named if place)

    @property
    def options(self) -> tuple[tuple[str, str], ...]:
        """Options of pip with their values, "" for none; without places, bounds and hashes."""
        pairs = [("--pre", "")] if self.previews else []
        pairs += [("--prefer-binary", "")] if self.wheels_first else []
        pairs += [("--no-binary", name) for name in self.no_binary]
        pairs += [("--only-binary", name) for name in self.only_binary]
        return (*pairs, *(("--trusted-host", host) for host in self.trusted_hosts))

    def on(self, site: Site) -> Site:
        """The machine with the files' places in place of, or beside, the person's own."""
        own = site.sources
        sources = msgspec.structs.replace(
            own,
            index=self.index or own.index,
            extra_indexes=_unique(*self.extra_indexes, *own.extra_indexes),
            find_links=_unique(*self.find_links, *own.find_links),
            no_index=self.no_index or own.no_index,
        )
        return site.but(sources=sources, assumed=_unique(*site.assumed, *self.told))


class Asked(NamedTuple):
    """Packages as they were written, with their markers, and what goes with them."""

    words: tuple[str, ...] = ()
    terms: Terms = Terms()


def together(every: Iterable[Asked]) -> Asked:
    """Several files as one.

    Raises:
        WishError: they contradict each other.

    """
    every = tuple(every)
    terms = [file.terms for file in every]
    hashes: dict[str, tuple[str, ...]] = {}
    for name, digests in ((name, digests) for term in terms for name, digests in term.hashes.items()):
        hashes[name] = _unique(*hashes.get(name, ()), *digests)
    lists = {name: _unique(*(value for term in terms for value in getattr(term, name))) for name in _LISTS}
    return Asked(
        tuple(word for file in every for word in file.words),
        Terms(
            index=_index(term.index for term in terms),
            no_index=any(term.no_index for term in terms),
            previews=any(term.previews for term in terms),
            wheels_first=any(term.wheels_first for term in terms),
            hashed=any(term.hashed for term in terms),
            hashes=hashes,
            bound=_merge_bound(terms),
            python=",".join(_unique(*(term.python for term in terms if term.python))),
            **lists,
        ),
    )


_LISTS = ("extra_indexes", "find_links", "no_binary", "only_binary", "trusted_hosts", "constraints", "told", "files")


def _unique(*values: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def _index(every: Iterable[str]) -> str:
    urls = _unique(*(url for url in every if url))
    if len(urls) > 1:
        template = _("Two indexes are named in place of the default one: {first} and {second}. Keep one of them.")
        raise WishError(template.format(first=urls[0], second=urls[1]))
    return urls[0] if urls else ""


def _merge_bound(terms: Iterable[Terms]) -> dict[str, str]:
    urls: dict[str, str] = {}
    for name, url in ((name, url) for term in terms for name, url in term.bound.items()):
        if urls.setdefault(name, url) != url:
            template = _("{package} is to come from {first} and from {second}. Keep one of them.")
            raise WishError(template.format(package=name, first=urls[name], second=url))
    return urls


# -- one at a time -----------------------------------------------------------------------------------


def place(where: str, address: str) -> str:
    """An address as it may stand in a plan.

    Args:
        where: the file and the line or field, for whoever has to mend it.
        address: the address.

    Raises:
        WishError: it is none, or it holds a password.

    """
    if _SECRET.search(address):
        template = _(
            "{where}: the address {url} holds a name or a password. Plans are shown and kept, so rigup takes none: "
            "put those into ~/.netrc or into pip's own configuration, and the address without them here."
        )
        raise WishError(template.format(where=where, url=masked(address)))
    if not _PLACE.fullmatch(address):
        raise WishError(_("{where}: {url} is no address of packages.").format(where=where, url=masked(address)[:200]))
    return address


def masked(text: str) -> str:
    """A text without the names and passwords that stand in its addresses."""
    return _SECRET.sub("…@", text)


def bounded(words: Iterable[str], terms: Terms, marked: dict[str, str]) -> Iterator[str]:
    """What was asked for, within the constraints that hold on a machine of these markers."""
    limits: dict[str, list[Requirement]] = {}
    for constraint in map(Requirement, terms.constraints):
        if constraint.marker is None or constraint.marker.evaluate(marked):
            limits.setdefault(canonicalize_name(constraint.name), []).append(constraint)
    for word in words:
        requirement = Requirement(word)
        for limit in limits.get(canonicalize_name(requirement.name), ()):
            requirement.specifier &= limit.specifier
        yield str(requirement)
