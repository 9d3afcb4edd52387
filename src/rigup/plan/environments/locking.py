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
    all_groups = groups(choice)
    if built := choice.wish.terms.no_binary:
        template = _("A lock holds wheels alone, and {files} want these built from their sources: {packages}.")
        raise LockError(template.format(files=", ".join(choice.wish.terms.files), packages=", ".join(built)))
    interpreter = choice.site.interpreters.get(choice.python, "")
    locked = resolved(resolver_for(choice.python, environment, interpreter), all_groups)
    _all_by_hash(locked, choice.wish.terms)
    variables = record.allowed_variables({name: value for name, (value, _why) in network.variables(choice).items()})
    return Lock(
        packages=tuple(locked),
        requires_python=_range(choice.python),
        wish=choice.wish.packages,
        python=choice.python,
        environments=_markers(choice.python),
        manager=choice.wish.manager if choice.wish.manager == "conda" else "venv",
        indexes=_indexes(all_groups),
        find_links=_links(all_groups),
        variables=variables,
        facts=made_for(choice.site),
        reasons=_reasons_of_choice(choice, locked),
        made_at=_now(),
    )


def _all_by_hash(locked: Iterable[Locked], terms: Terms) -> None:
    """Raise LockError where a file of requirements gives hashes, and a file of the lock has none of them."""
    for package in locked if terms.hashed else ():
        if not any("sha256:" + wheel.sha256 in terms.hashes.get(package.name, ()) for wheel in package.wheels):
            template = _("{package} is {url}, and that file has none of the hashes that {files} give for it.")
            pin, files = f"{package.name}=={package.version}", ", ".join(terms.files)
            raise LockError(template.format(package=pin, url=package.wheels[0].url or package.wheels[0].name, files=files))


def of_environment(environment: Environment, site: Site) -> Lock:
    """The lock of what an environment holds, at these very versions.

    Raises:
        LockError: a package came from a repository or a folder, or is at no place that is asked.

    """
    installed = [package for package in packages(environment) if package.name not in _OF_THE_MAKER]
    _all_from_indexes(installed)
    own_record = record.read(environment.path)
    group = _group(installed, own_record.indexes if own_record else (), site)
    python = ".".join(environment.python.split(".")[:2])
    locked = resolved(resolver_for(python, environment.path), [group], whole=True) if installed else []
    if not locked:
        raise LockError(_("{path} holds no packages to lock.").format(path=environment.path))
    _all_the_same(installed, locked)
    return Lock(
        packages=tuple(locked),
        requires_python=_range(python),
        environments=_markers(python),
        python=python,
        wish=own_record.wish if own_record else (),
        manager=environment.kind,
        indexes=tuple(group.extra_indexes),
        find_links=group.find_links,
        variables=own_record.variables if own_record else {},
        facts=made_for(site),
        reasons=_reasons(locked, own_record.wish if own_record else ()),
        made_at=_now(),
    )


def _all_from_indexes(installed: Iterable[Installed]) -> None:
    for package in installed:
        if package.by == "conda":
            template = _("{name} is a package of conda, which a lock does not hold: `rigup env export --as conda` names it.")
            raise LockError(template.format(name=package.name))
        if package.origin and not package.origin.endswith(".whl"):
            template = _("{name} was installed from {origin}: a lock holds what an index gives.")
            raise LockError(template.format(name=package.name, origin=package.origin))


def _all_the_same(installed: Iterable[Installed], locked: Iterable[Locked]) -> None:
    """To an installer 1.0 is 1.0.0; here that would be another file than the one that is installed."""
    have = {package.name: package.version for package in installed}
    for package in locked:
        if have.get(package.name) != package.version:
            template = _("{name} {version} is at none of the places that are asked: they have {other}.")
            raise LockError(template.format(name=package.name, version=have.get(package.name, "–"), other=package.version))


def _group(installed: Iterable[Installed], indexes: Iterable[str], site: Site) -> Group:
    """Everything that is there, from the person's places, those of the environment's record, and where files lay."""
    installed = list(installed)
    own = plain_address(site.sources.index)
    extra = [plain_address(url) for url in (*indexes, *site.sources.extra_indexes)]
    wanted = tuple(f"{package.name}=={package.version}" for package in installed)
    addresses = [url for url in dict.fromkeys(extra) if url and url != own]
    links = (*(url for url in addresses if _is_page(url)), *site.sources.find_links, *_folders(installed))
    return Group(wanted, own, tuple(url for url in addresses if not _is_page(url)), tuple(dict.fromkeys(links)))


def _folders(installed: Iterable[Installed]) -> Iterator[str]:
    """Where wheels of this machine lie that no index gave; rigup's own part is made where nobody has kept it."""
    for package in installed:
        address = urlsplit(package.origin)
        path = Path(unquote(address.path))
        if address.scheme == "file" and not address.netloc and path.is_file():
            yield str(path.parent)
        elif package.name == rigup_torch.NAME and package.version == __version__:
            yield str(rigup_torch.wheel_folder())


def _is_page(url: str) -> bool:
    """A page of files, or a folder: no index."""
    return url.endswith((".html", ".htm")) or "://" not in url


def _indexes(all_groups: Iterable[Group]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(url for group in all_groups for url in (group.only, *group.extra_indexes) if url))


def _links(all_groups: Iterable[Group]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(place for group in all_groups for place in group.find_links))


def _range(python: str) -> str:
    return f"=={python.rstrip('t')}.*" if python else ""


def _markers(python: str) -> tuple[str, ...]:
    """Where the files of the lock run: on systems and processors such as this one's."""
    here = default_environment()
    marker = f"sys_platform == '{here['sys_platform']}' and platform_machine == '{here['platform_machine']}'"
    return (marker + (f" and python_version == '{python.rstrip('t')}'" if python else ""),)


def _now() -> str:
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# -- reasons -----------------------------------------------------------------------------------------


def _reasons_of_choice(choice: Choice, locked: list[Locked]) -> dict[str, str]:
    reasons = _reasons(locked, choice.wish.packages)
    for judged in choice.chosen:
        because = [served.because for served in judged.served if served.served] or [_("It runs on the CPU.")]
        reasons |= {canonicalize_name(name.partition("[")[0]): because[0] for name in judged.build.packages}
    if choice.python:
        reasons["python"] = _("{python} is the Python that was chosen for it.").format(python=choice.python)
    return reasons | {name: why for name, (_value, why) in network.variables(choice).items()}


def _reasons(locked: list[Locked], wish: Iterable[str]) -> dict[str, str]:
    """Each package: asked for, or needed by others."""
    wishes = {_name(word): word for word in wish}
    needs = needed_by(locked)
    reasons: dict[str, str] = {}
    for package in locked:
        if package.name in wishes:
            reasons[package.name] = _("It was asked for: {wish}.").format(wish=wishes[package.name])
        elif package.name in needs:
            reasons[package.name] = _("It is needed by {names}.").format(names=", ".join(sorted(needs[package.name])))
        else:
            reasons[package.name] = _("It was there.")
    return reasons


def _name(requirement: str) -> str:
    """A package's name; "" for what is no requirement, which a record from elsewhere may hold."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return canonicalize_name(Requirement(requirement).name)
    except InvalidRequirement:
        return ""
