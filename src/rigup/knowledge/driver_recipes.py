"""How a distribution installs NVIDIA's driver: who provides it there, and by which commands."""

import re
from collections.abc import Collection

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key
from rigup.knowledge.holes import Filled, filled

Commands = list[list[str]]
_ARCHITECTURES = {"x86_64": "x86_64", "aarch64": "sbsa", "arm64": "sbsa"}
_DEBIAN = {"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who offers the driver for a family of distributions.

    Attributes:
        name: as a person knows it. tool: what installs it ("apt", "dnf modules").
        repo_setup: commands that make its packages known; empty where they are known already.
        hold, unhold: keep the branch, and let it go again.
        purge: take away whatever driver is there.
        initramfs: rebuild the initial file system.
        signed: its modules start under Secure Boot without a key of one's own.
        key_row: name of the row that tells which key to enrol otherwise.
        immutable: the system is an image; packages are not installed into it as usual.

    """

    id: str
    name: str = ""
    tool: str = ""
    repo_setup: Commands = []
    hold: Commands = []
    unhold: Commands = []
    purge: Commands = []
    rollback: Commands = []
    initramfs: Commands = []
    apply: Commands = []
    signed: bool = False
    key_row: str = ""
    immutable: bool = False
    note: str = ""
    source: str = ""


class System(msgspec.Struct, frozen=True, kw_only=True):
    """A release of a distribution as far as drivers go.

    Attributes:
        ids: as os-release has it. releases: "22.04"; a major release stands for its minor ones; empty for any.
        providers: the one to prefer first.
        archive: branches that the first provider has there; empty where nobody looked.
        repo_setup: in place of the provider's.

    """

    id: str
    ids: list[str] = []
    releases: list[str] = []
    providers: list[str] = []
    archive: list[str] = []
    cuda_repo_dir: str = ""
    repo_setup: Commands = []
    status: str = ""
    source: str = ""


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """Commands that install a branch from a provider.

    Attributes:
        use: "desktop", "server" or "any".
        module: "open", "closed" or "any".
        first, last: the branches that it is for; "" is no limit.
        lines: what a person writes into the system's own configuration, where there are no commands.
        built_by_user: commands of an account that is not root, which build and install what no repository has.

    """

    provider: str
    use: str
    module: str
    first: str = ""
    last: str = ""
    commands: Commands = []
    lines: list[str] = []
    built_by_user: Commands = []
    note: str = ""
    source: str = ""


class _Prerequisite(msgspec.Struct, frozen=True, kw_only=True):
    ids: list[str]
    releases: list[str]
    commands: Commands


class _Fabric(msgspec.Struct, frozen=True, kw_only=True):
    providers: list[str] = []
    first: str = ""
    last: str = ""
    commands: Commands = []


class _Key(msgspec.Struct, frozen=True, kw_only=True):
    distro: str
    ids: list[str] = []
    key: str = ""
    dkms: str = ""
    newest: str = ""
    enroll: Commands = []


def system(distribution: str, release: str) -> System | None:
    """The row of a distribution's release, by the ID and VERSION_ID of its os-release; the nearest older one else.

    None for a release that is older than all rows: what they say of newer ones holds there no more.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = [row for row in tables.rows("distro_drivers", "distro", System) if distribution in row.ids]
    exact = [row for row in rows if not row.releases or _is_listed(release, row.releases)]
    older = [row for row in rows if row.releases and version_key(row.releases[0]) <= version_key(release)]
    return next(iter(exact or older[-1:] or ([] if version_key(release) else rows[-1:])), None)


def provider(name: str) -> Provider | None:
    """A provider by its id. Raises KnowledgeError for a malformed table."""
    return next((row for row in tables.rows("distro_drivers", "provider", Provider) if row.id == name), None)


def recipe(at: System, branch: str, module: str, use: str) -> Recipe | None:
    """How to install a branch there, from the provider to prefer; None where nobody offers it.

    Args:
        at: the system.
        branch: "580".
        module: "open" or "closed".
        use: "desktop" or "server".

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("distro_drivers", "recipe", Recipe)
    for name in at.providers:
        if name == at.providers[0] and at.archive and not _in_archive(at, branch):
            continue
        fitting = [row for row in rows if row.provider == name and _fits(row, branch, module)]
        for wanted in (use, "any", "desktop", "server"):
            for row in fitting:
                if row.use == wanted:
                    return row
    return None


def branch_in_archive(at: System, branch: str, least: str, isas: Collection[str]) -> str:
    """The branch, or the oldest of the system's own archive that is not older than a version and drives the cards; the branch where there is none."""
    from rigup.knowledge.driver_choice import drives  # which asks the cards' tables

    if _in_archive(at, branch):
        return branch
    plain = {name.removesuffix("-server") for name in at.archive}
    fitting = (name for name in plain if version_key(name)[:1] >= version_key(least)[:1] and drives(name, isas))
    return min(fitting, key=version_key, default=branch)


def spelt(commands: Commands | tuple[list[str], ...], at: System, branch: str, machine: str, kernel: str, release: str) -> Filled:
    """Commands of the tables for one machine.

    Args:
        commands: of a recipe or a provider.
        at: the system.
        branch: "580".
        machine: "x86_64" or "aarch64".
        kernel: release of the running one.
        release: VERSION_ID of the os-release.

    Raises:
        KeyError: a command wants what is not known.

    """
    values = {
        "branch": branch,
        "kernel": kernel,
        "line": line(at, branch),
        "repo_dir": at.cuda_repo_dir.partition(" ")[0],
        "arch_dir": _ARCHITECTURES.get(machine, machine),
        "debian_arch": _DEBIAN.get(machine, machine),
        "machine": machine,
        "file": "/run/rigup-download",
        "releasever": release.partition(".")[0],
    }
    return filled(commands, values)


def line(at: System, branch: str) -> str:
    """What the archive adds to a branch's name where it has that line alone: "-server" or ""."""
    return "-server" if at.archive and branch not in at.archive and f"{branch}-server" in at.archive else ""


def prerequisites(distribution: str, release: str) -> Commands:
    """Commands that switch on what a vendor's packages depend on; none where nothing is needed."""
    rows = tables.rows("distro_drivers", "prerequisite", _Prerequisite)
    return next((row.commands for row in rows if distribution in row.ids and _is_listed(release, row.releases)), [])


def fabric_manager(provider_id: str, branch: str) -> Commands:
    """Commands that install and start what an NVSwitch machine needs beside the driver."""
    rows = tables.rows("distro_drivers", "nvswitch", _Fabric)
    return next((row.commands for row in rows if provider_id in row.providers and _within(row, branch)), [])


def enrolment(at: Provider) -> Commands:
    """Commands that offer the key which signs the provider's modules to the firmware; none where it is known there."""
    rows = tables.rows("distro_drivers", "secure_boot", _Key)
    return next((row.enroll for row in rows if at.key_row and row.distro == at.key_row), [])


def module_key(distribution: str, by_dkms: bool = False) -> tuple[str, str]:
    """The public half of the key by which a distribution's tools sign modules built on the machine; "" where nobody knows.

    The second value holds patterns of files, of which the newest is the key: where each build has one of its own, or where the
    distribution is not known.

    Args:
        distribution: the ID of its os-release; "" where nobody tells it.
        by_dkms: DKMS built the module, beside which the distribution has tools of its own.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("distro_drivers", "secure_boot", _Key)
    row = next((row for row in rows if (distribution in row.ids if distribution else row.distro == "all")), _Key(distro=""))
    return (by_dkms and row.dkms) or row.key, row.newest


def _is_listed(release: str, releases: list[str]) -> bool:
    asked = version_key(release)
    return any(release == item or (asked and asked[: len(version_key(item))] == version_key(item)) for item in releases)


def _in_archive(at: System, branch: str) -> bool:
    return branch in at.archive or f"{branch}-server" in at.archive


def _fits(row: Recipe, branch: str, module: str) -> bool:
    return row.module in (module, "any") and _within(row, branch)


def _within(row: Recipe | _Fabric, branch: str) -> bool:
    asked = version_key(branch)[:1]
    return (not row.first or asked >= version_key(row.first)) and (not row.last or asked <= version_key(row.last))


class _Product(msgspec.Struct, frozen=True, rename={"group": "class"}):
    name: str
    group: str = ""


class _Branch(msgspec.Struct, frozen=True):
    branch: str
    default_module: str = "closed"


class _Flavour(msgspec.Struct, frozen=True, kw_only=True):
    tool: str
    installed: str
    open: str = ""
    closed: str = ""


def package_of_flavour(module: str, tool: str, installed: Collection[str]) -> str:
    """The package, or packages, that bring the other kernel module in the place of an installed one; "" where nobody knows.

    Args:
        module: "open" or "closed".
        tool: the package manager's program ("apt-get").
        installed: names of packages that are there.

    Raises:
        KnowledgeError: the table is malformed.

    """
    for row in tables.rows("distro_drivers", "flavour", _Flavour):
        wanted = row.open if module == "open" else row.closed
        found = (re.fullmatch(row.installed, name) for name in sorted(installed)) if row.tool == tool and wanted else ()
        if match := next(filter(None, found), None):
            return wanted.format_map({name: value or "" for name, value in match.groupdict().items()})
    return ""


def for_servers(name: str) -> bool:
    """Whether an NVIDIA product is made for data centres: nobody looks at a screen of it.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return name in _of_servers()


def default_module(branch: str) -> str:
    """The kernel module that a branch's makers install by themselves: "open" or "closed".

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = {row.branch: row.default_module for row in tables.rows("distro_drivers", "driver_branch", _Branch)}
    newest = max(rows, key=version_key, default="")
    return rows.get(branch) or ("open" if version_key(branch) > version_key(newest) else "closed")


@tables.remembered
def _of_servers() -> frozenset[str]:
    rows = tables.rows("gpus_nvidia", "gpu", _Product)
    return frozenset(row.name for row in rows if row.group == "datacenter")
