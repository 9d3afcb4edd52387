"""What stands around an environment: proxies, container engines, kernels and their arguments."""

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.driver_recipes import Commands
from rigup.knowledge.package_managers import package_manager


class Proxy(msgspec.Struct, frozen=True, kw_only=True):
    """How one program gets a proxy, where it does not read the variables of a shell.

    Attributes:
        what: why it has to be set.
        commands, undo: with the hole {proxy}.
        writes: files that are written.

    """

    program: str
    what: str
    commands: Commands
    undo: Commands
    writes: list[str] = []
    root: bool = False
    source: str = ""


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """Commands, what takes them back, and the files that they write."""

    commands: Commands
    undo: Commands = []
    writes: list[str] = []
    source: str = ""
    family: str = ""
    ids: list[str] = []


class _Engine(msgspec.Struct, frozen=True, kw_only=True):
    engine: str
    family: str
    package: str


class Loader(msgspec.Struct, frozen=True, kw_only=True):
    """What a system's configuration must say before programs that were made elsewhere start.

    Attributes:
        lines: of the configuration. commands: put it in force.
        variable: set where that is done.
        driver_libraries: the folder of the GPU driver's libraries, which no loader looks into.

    """

    distribution: str
    lines: list[str]
    commands: Commands
    variable: str
    driver_libraries: str
    source: str = ""


def loader(distribution: str) -> Loader | None:
    """What programs that were made elsewhere need there; None where they just start. Raises KnowledgeError."""
    return next((row for row in tables.rows("surroundings", "loader", Loader) if row.distribution == distribution), None)


class _Configured(msgspec.Struct, frozen=True, kw_only=True):
    distribution: str
    kind: str
    line: str = ""
    step: str = ""
    source: str = ""


def instead(distribution: str, kind: str) -> str:
    """The kind of step that does there what another does elsewhere; "" where it is the same. Raises KnowledgeError."""
    rows = tables.rows("surroundings", "configured", _Configured)
    return next((row.step for row in rows if (row.distribution, row.kind) == (distribution, kind)), "")


def configured(distribution: str, kind: str) -> str:
    """The line of the system's configuration that is a kind of step there, with its holes; "" where it has none. Raises KnowledgeError."""
    rows = tables.rows("surroundings", "configured", _Configured)
    return next((row.line for row in rows if (row.distribution, row.kind) == (distribution, kind)), "")


def is_configured(distribution: str) -> bool:
    """Whether a system is made of its configuration. Raises KnowledgeError."""
    return any(row.distribution == distribution for row in tables.rows("surroundings", "configured", _Configured))


def proxy(program: str) -> Proxy | None:
    """How a program gets a proxy; None where it reads the variables. Raises KnowledgeError."""
    return next((row for row in tables.rows("surroundings", "proxy", Proxy) if row.program == program), None)


def engine_package(engine: str, distribution: str) -> str:
    """The package that brings a container engine; "" where the tables name none. Raises KnowledgeError."""
    family = _family(distribution)
    rows = tables.rows("surroundings", "engine", _Engine)
    found = (row.package for row in rows if row.engine == engine and family and row.family in (family, ""))
    return next(found, "")


def container_toolkit(distribution: str) -> Recipe | None:
    """How NVIDIA's container toolkit is installed there. Raises KnowledgeError for a malformed table."""
    return _by_family("toolkit_of_containers", distribution)


def kernel_argument(distribution: str) -> Recipe | None:
    """How a word is added to the kernel's command line, with the holes {argument} and {name}. Raises KnowledgeError."""
    return _by_family("kernel_argument", distribution)


def newer_kernel(distribution: str) -> Recipe | None:
    """How the newest kernel that a distribution offers is installed, with the hole {release}. Raises KnowledgeError."""
    return next((row for row in tables.rows("surroundings", "kernel", Recipe) if distribution in row.ids), None)


class _Kernels(msgspec.Struct, frozen=True):
    ids: list[str]
    of_any_release: list[list[str]] = []
    next_release: list[list[str]] = []
    offers: dict[str, str] = {}
    series: dict[str, str] = {}


def offered_kernel(distribution: str, release: str) -> str:
    """The newest kernel that a release of a distribution offers ("6.8"); "" where it is not known. Raises KnowledgeError."""
    rows = tables.rows("surroundings", "kernel", _Kernels)
    return next((row.offers.get(release, "") for row in rows if distribution in row.ids), "")


def release_of_kernel(distribution: str, kernel: str) -> str:
    """The newest release of a distribution that started with a kernel of such a series ("24.04"); "" where nobody knows. Raises KnowledgeError."""
    rows = tables.rows("surroundings", "kernel", _Kernels)
    return next((row.series.get(_series(kernel), "") for row in rows if distribution in row.ids), "")


def kernel_of_any_release(distribution: str, kernel: str) -> list[list[str]]:
    """How the newest kernel is installed where the running one is of two releases: that with which one began, and the last for the one before.

    Empty where its series tells the release. Raises KnowledgeError.
    """
    rows = (row for row in tables.rows("surroundings", "kernel", _Kernels) if distribution in row.ids)
    return next((row.of_any_release for row in rows if any(_is_last_of(row, release, kernel) for release in row.offers)), [])


def next_release(distribution: str) -> list[list[str]]:
    """How a distribution is upgraded to its next release; empty where nobody knows. Raises KnowledgeError."""
    return next((row.next_release for row in tables.rows("surroundings", "kernel", _Kernels) if distribution in row.ids), [])


def _is_last_of(row: _Kernels, release: str, kernel: str) -> bool:
    """Whether the kernel is the newest of a release, and the first of a later one."""
    return row.offers[release] == _series(kernel) and row.series.get(_series(kernel), release) != release


def _series(kernel: str) -> str:
    return ".".join(kernel.split(".")[:2])


def _by_family(array: str, distribution: str) -> Recipe | None:
    family = _family(distribution)
    return next((row for row in tables.rows("surroundings", array, Recipe) if family and row.family == family), None)


def _family(distribution: str) -> str:
    manager = package_manager(distribution)
    return manager.family if manager else ""
