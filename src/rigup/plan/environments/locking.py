"""A lock is made: of a choice that is not installed yet, or of an environment as it is."""

import datetime as dt
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.markers import default_environment
from packaging.utils import canonicalize_name

from rigup.language import _
from rigup.plan import network
from rigup.plan.environments import record, rigup_torch
from rigup.plan.environments.folder import Environment, Installed, packages
from rigup.plan.environments.lock_fields import LockError
from rigup.plan.environments.lockfile import Lock, Locked, needed_by
from rigup.plan.environments.made_for import made_for
from rigup.plan.environments.resolver import resolved, resolver_for
from rigup.plan.packages import Group, groups, plain_address
from rigup.stack.choice import Choice
from rigup.stack.site import Site
from rigup.stack.terms import Terms
from rigup.version import __version__

_OF_THE_MAKER = ("pip", "setuptools", "wheel", "uv")  # they come with the environment itself


def of_choice(choice: Choice, environment: Path | None = None) -> Lock:
    """The lock of what was chosen; nothing is installed.

    Args:
        choice: one that is possible.
        environment: one whose own pip may be asked.

    Raises:
        LockError: it cannot be resolved, or there is no Python to resolve for.

    """
    told = groups(choice)
    if built := choice.wish.terms.no_binary:
        said = _("A lock holds wheels alone, and {files} want these built from their sources: {packages}.")
        raise LockError(said.format(files=", ".join(choice.wish.terms.files), packages=", ".join(built)))
    interpreter = choice.site.interpreters.get(choice.python, "")
    found = resolved(resolver_for(choice.python, environment, interpreter), told)
    _all_by_hash(found, choice.wish.terms)
    variables = record.allowed_variables({name: value for name, (value, _why) in network.variables(choice).items()})
    return Lock(
        packages=tuple(found), requires_python=_range(choice.python), wish=choice.wish.packages, python=choice.python,
        environments=_markers(choice.python), manager=choice.wish.manager if choice.wish.manager == "conda" else "venv",
        indexes=_indexes(told), find_links=_links(told), variables=variables, facts=made_for(choice.site),
        reasons=_reasons_of_choice(choice, found), made_at=_now(),
    )  # fmt: skip


def _all_by_hash(found: Iterable[Locked], terms: Terms) -> None:
    """Raise LockError where a file of requirements gives hashes, and a file of the lock has none of them."""
    for one in found if terms.hashed else ():
        if not any("sha256:" + wheel.sha256 in terms.hashes.get(one.name, ()) for wheel in one.wheels):
            said = _("{package} is {url}, and that file has none of the hashes that {files} give for it.")
            pin, files = f"{one.name}=={one.version}", ", ".join(terms.files)
            raise LockError(said.format(package=pin, url=one.wheels[0].url or one.wheels[0].name, files=files))


def of_environment(environment: Environment, site: Site) -> Lock:
    """The lock of what an environment holds, at these very versions.

    Raises:
        LockError: a package came from a repository or a folder, or is at no place that is asked.

    """
    there = [one for one in packages(environment) if one.name not in _OF_THE_MAKER]
    _all_from_indexes(there)
    kept = record.read(environment.path)
    group = _group(there, kept.indexes if kept else (), site)
    python = ".".join(environment.python.split(".")[:2])
    found = resolved(resolver_for(python, environment.path), [group], whole=True) if there else []
    if not found:
        raise LockError(_("{path} holds no packages to lock.").format(path=environment.path))
    _all_the_same(there, found)
    return Lock(
        packages=tuple(found), requires_python=_range(python), environments=_markers(python), python=python,
        wish=kept.wish if kept else (), manager=environment.kind, indexes=tuple(group.extra_indexes), find_links=group.find_links,
        variables=kept.variables if kept else {}, facts=made_for(site), reasons=_reasons(found, kept.wish if kept else ()),
        made_at=_now(),
    )  # fmt: skip


def _all_from_indexes(there: Iterable[Installed]) -> None:
    for one in there:
        if one.by == "conda":
            told = _(
                "{name} is a package of conda, which a lock does not hold: `rigup env export --as conda` names it."
            )
            raise LockError(told.format(name=one.name))
        if one.origin and not one.origin.endswith(".whl"):
            told = _("{name} was installed from {origin}: a lock holds what an index gives.")
            raise LockError(told.format(name=one.name, origin=one.origin))


def _all_the_same(there: Iterable[Installed], found: Iterable[Locked]) -> None:
    """To an installer 1.0 is 1.0.0; here that would be another file than the one that is installed."""
    have = {one.name: one.version for one in there}
    for one in found:
        if have.get(one.name) != one.version:
            told = _("{name} {version} is at none of the places that are asked: they have {other}.")
            raise LockError(told.format(name=one.name, version=have.get(one.name, "–"), other=one.version))


def _group(there: Iterable[Installed], indexes: Iterable[str], site: Site) -> Group:
    """Everything that is there, from the person's places, those of the environment's record, and where files lay."""
    there = list(there)
    own = plain_address(site.sources.index)
    extra = [plain_address(url) for url in (*indexes, *site.sources.extra_indexes)]
    wanted = tuple(f"{one.name}=={one.version}" for one in there)
    addresses = [url for url in dict.fromkeys(extra) if url and url != own]
    links = (*(url for url in addresses if _is_page(url)), *site.sources.find_links, *_folders(there))
    return Group(wanted, own, tuple(url for url in addresses if not _is_page(url)), tuple(dict.fromkeys(links)))


def _folders(there: Iterable[Installed]) -> Iterator[str]:
    """Where wheels of this machine lie that no index gave; rigup's own part is made where nobody has kept it."""
    for one in there:
        told = urlsplit(one.origin)
        path = Path(unquote(told.path))
        if told.scheme == "file" and not told.netloc and path.is_file():
            yield str(path.parent)
        elif one.name == rigup_torch.NAME and one.version == __version__:
            yield str(rigup_torch.wheel_folder())


def _is_page(url: str) -> bool:
    """A page of files, or a folder: no index."""
    return url.endswith((".html", ".htm")) or "://" not in url


def _indexes(told: Iterable[Group]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(url for group in told for url in (group.only, *group.extra_indexes) if url))


def _links(told: Iterable[Group]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(place for group in told for place in group.find_links))


def _range(python: str) -> str:
    return f"=={python.rstrip('t')}.*" if python else ""


def _markers(python: str) -> tuple[str, ...]:
    """Where the files of the lock run: on systems and processors such as this one's."""
    here = default_environment()
    told = f"sys_platform == '{here['sys_platform']}' and platform_machine == '{here['platform_machine']}'"
    return (told + (f" and python_version == '{python.rstrip('t')}'" if python else ""),)


def _now() -> str:
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# -- reasons -----------------------------------------------------------------------------------------


def _reasons_of_choice(choice: Choice, found: list[Locked]) -> dict[str, str]:
    told = _reasons(found, choice.wish.packages)
    for one in choice.chosen:
        because = [served.because for served in one.served if served.served] or [_("It runs on the CPU.")]
        told |= {canonicalize_name(name.partition("[")[0]): because[0] for name in one.build.packages}
    if choice.python:
        told["python"] = _("{python} is the Python that was chosen for it.").format(python=choice.python)
    return told | {name: why for name, (_value, why) in network.variables(choice).items()}


def _reasons(found: list[Locked], wish: Iterable[str]) -> dict[str, str]:
    """Each package: asked for, or needed by others."""
    asked = {_name(one): one for one in wish}
    needs = needed_by(found)
    told: dict[str, str] = {}
    for one in found:
        if one.name in asked:
            told[one.name] = _("It was asked for: {wish}.").format(wish=asked[one.name])
        elif one.name in needs:
            told[one.name] = _("It is needed by {names}.").format(names=", ".join(sorted(needs[one.name])))
        else:
            told[one.name] = _("It was there.")
    return told


def _name(requirement: str) -> str:
    """A package's name; "" for what is no requirement, which a record from elsewhere may hold."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return canonicalize_name(Requirement(requirement).name)
    except InvalidRequirement:
        return ""
