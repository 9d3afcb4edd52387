"""What a resolver is asked: every package of a choice at once, each bound to its index, for the Python and platform it is for."""

import msgspec

from rigup.knowledge.cuda import version_key
from rigup.knowledge.dependents import without_wheels
from rigup.plan.packages import ALONE, Group, groups, mirror, name_of
from rigup.stack.choice import Choice
from rigup.stack.site import NONE, Site
from rigup.stack.soft_bounds import bounds
from rigup.stack.terms import Terms

_BOUND_ALONE = ("cuda", "cpu", "mps")  # what these builds need beside themselves lies in the default index
# The C libraries that uv has a platform for; a system counts as the newest of them that is not newer than its own.
_GLIBCS = ("2.17", "2.28", "2.31", "2.32", "2.33", "2.34", "2.35", "2.36", "2.37", "2.38", "2.39", "2.40")
_USUAL_GLIBC = "2.28"  # where nobody knows: what wheels of frameworks are made for


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """All that a resolver has to know.

    Attributes:
        wanted: requirements as pip takes them: the chosen builds pinned, what was asked for beside as it was asked.
        bound: the index of each package that must come from one, by canonical name.
        further: indexes that are asked beside for what those packages need.
        bounds: what may not be taken of packages that may come along ("transformers<5").
        built: requirements of packages that are built where they are installed, so that nobody can be asked what they
            need.
        opaque: packages of `wanted` that are asked for their releases alone, and not for what they need.
        sources: packages whose releases have come without wheels, so that a release with one would be an old one.
        index: in place of the default one; "" for that.
        extra_indexes, find_links: the person's own further places.
        offline: the folders alone are asked.
        python: "3.12"; platform: as uv names it, "" for this machine's own.
        macos: the lowest macOS, "" where that is no matter.
        kept: what stands in the environment already, and is renewed only where it must be.
        terms: options and bounds from files of requirements.

    """

    wanted: tuple[str, ...]
    bound: dict[str, str] = {}
    further: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    built: tuple[str, ...] = ()
    opaque: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    index: str = ""
    extra_indexes: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    offline: bool = False
    python: str = ""
    platform: str = ""
    macos: str = ""
    kept: dict[str, str] = {}
    terms: Terms = Terms()

    @property
    def indexes(self) -> tuple[str, ...]:
        """All that are asked, but for a default one that nobody named."""
        urls = (*self.bound.values(), *self.further, self.index, *self.extra_indexes)
        return tuple(dict.fromkeys(url for url in urls if url))


def question(choice: Choice) -> Question:
    """The question that a choice comes to. Raises KnowledgeError for a malformed table."""
    every = groups(msgspec.structs.replace(choice, resolution=None))
    all_groups = [group for group in every if not group.conda and ALONE not in group.flags]
    built = [word for group in all_groups if group.flags for word in group.wanted[: group.named or None]]
    built_names = {name_of(word) for word in built}
    site = choice.site
    requirements = choice.wish.asked()
    return Question(
        wanted=tuple(dict.fromkeys(_with_name(word) for group in all_groups for word in group.wanted if name_of(word) not in built_names)),
        bound={name_of(word): group.only for group in every if _is_bound(group) for word in group.wanted},
        further=tuple(dict.fromkeys(url for group in all_groups for url in _further(group, site))),
        bounds=(*bounds(requirements, choice.packages), *choice.wish.terms.constraints, *choice.held),
        terms=choice.wish.terms,
        sources=tuple(sorted(without_wheels() - built_names)),
        built=tuple(built),
        index=mirror(choice) or site.sources.index,
        extra_indexes=site.sources.extra_indexes,
        find_links=tuple(dict.fromkeys(place for group in all_groups if not group.flags for place in group.find_links)),
        offline=any(group.offline for group in all_groups),
        python=choice.python,
        platform=platform(site),
        macos=site.macos if site.system == "macos" else "",
        kept=_installed(choice),
    )


def _with_name(word: str) -> str:
    """A requirement as PEP 508 has it: installers take a bare address of a wheel, and a project wants its name before it."""
    if "://" not in word or "@" in word.partition("://")[0]:
        return word
    return f"{name_of(word.rpartition('/')[2].partition('-')[0])} @ {word}"


def _is_bound(group: Group) -> bool:
    """The packages of a build that has an index of its own, and those that a file binds to one."""
    return group.bound or (group.build is not None and bool(group.build.build.index))


def _further(group: Group, site: Site) -> tuple[str, ...]:
    """Indexes of a build's makers, for what it needs that lies there alone: AMD's and Intel's runtimes do."""
    if group.build is None:
        return ()
    build = group.build.build
    own = (group.only,) if _is_bound(group) and build.kind not in _BOUND_ALONE else ()
    return (*own, *(url for url in build.extra_indexes if url not in site.sources.extra_indexes))


def _installed(choice: Choice) -> dict[str, str]:
    """The environment's packages, where the plan goes on with it."""
    site = choice.site
    return site.installed if site.environment and site.python == choice.python else {}


# -- the platform ------------------------------------------------------------------------------------


def platform(site: Site) -> str:
    """The platform as uv names it."""
    if site.system == "windows":
        return f"{'aarch64' if site.machine in ('aarch64', 'arm64') else 'x86_64'}-pc-windows-msvc"
    if site.system == "macos":
        return f"{'aarch64' if site.machine in ('aarch64', 'arm64') else 'x86_64'}-apple-darwin"
    machine = "aarch64" if site.machine in ("aarch64", "arm64") else site.machine
    if site.glibc == NONE:
        return f"{machine}-unknown-linux-musl"
    return f"{machine}-manylinux_{_glibc(site.glibc or _USUAL_GLIBC).replace('.', '_')}"


def _glibc(version: str) -> str:
    """The newest that uv knows and the system has."""
    release = version_key(version)[:2]
    return next((known for known in reversed(_GLIBCS) if version_key(known) <= release), _GLIBCS[0])
