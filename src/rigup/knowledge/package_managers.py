"""How a distribution installs and removes, by the family that it belongs to."""

import msgspec

from rigup.knowledge.tables import remembered, rows


class PackageManager(msgspec.Struct, frozen=True, kw_only=True):
    """Argument vectors of one family of distributions; package names follow them.

    Attributes:
        alone: remove the packages that follow and no others; empty where `remove` does that.
        headers: the package with a kernel's headers; {kernel} stands for its release.
        older: install packages at the versions that follow, also older ones.
        at: how a package is named at a version: {name}, or {bare} and {machine} apart; {version}, or {plain} without its epoch.
        refresh: read the sources anew before that; empty where the manager does so by itself.
        held: prints what is kept from updates, a name a line; empty where files of `settings` hold that.
        hold, unhold: the names follow.
        keeper: installs what `keep` needs. keep, let_go: hold all installed packages whose names hold {name}, and let them go again.
        keep_driver, let_go_driver: the same of NVIDIA's driver, with the kernel where its modules may come ready-made.
        compiler, python_headers: what compiles C++, and what a module of the system's Python is compiled against.
        python_venv: the package of venv where Python comes without it.
        settings: its files, and folders of files, for sources, keys, preferences and locks.

    """

    family: str
    ids: list[str]
    install: list[str]
    remove: list[str]
    upgrade: list[str]
    initramfs: list[str]
    headers: str
    alone: list[str] = []
    older: list[str] = []
    at: str = ""
    refresh: list[str] = []
    held: list[str] = []
    hold: list[str] = []
    unhold: list[str] = []
    keeper: list[str] = []
    keep: list[str] = []
    let_go: list[str] = []
    keep_driver: list[str] = []
    let_go_driver: list[str] = []
    settings: list[str] = []
    compiler: list[str] = []
    python_headers: str = ""
    python_venv: str = ""
    source: str = ""


class _Kernel(msgspec.Struct, frozen=True, kw_only=True):
    ends: str
    headers: str = ""
    extra_modules: str = ""
    follows: str = ""
    of_series: dict[str, str] = {}
    source: str = ""


class _Backport(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    release: str
    kernel: str
    suite: str
    source: str = ""
    checked: str = ""
    how: str = ""


def backports_of(distribution: str, release: str, kernel: str) -> str:
    """The suite of backports that a kernel is from, by the kernel's series; "" for the release's own. Raises KnowledgeError."""
    rows_ = (row for row in rows("package_managers", "backport", _Backport) if row.id == distribution)
    own = next((row for row in rows_ if row.release == release.partition(".")[0]), None)
    return own.suite if own and kernel and not kernel.startswith(own.kernel + ".") else ""


def headers_package(kernel: str, manager: PackageManager) -> str:
    """The package with a kernel's headers; where no kernel is named, with the hole {kernel} still in it.

    Raises:
        KnowledgeError: the table is malformed.

    """
    own = (row.headers for row in rows("package_managers", "kernel", _Kernel) if row.headers and kernel.endswith(row.ends))
    name = next(own, manager.headers)
    return name.replace("{kernel}", kernel) if kernel else name


def following_headers(kernel: str, release: str = "") -> str:
    """The package that brings the headers of each later kernel of this kind, in that release of its distribution; "" where nobody knows. Raises KnowledgeError."""
    kinds = rows("package_managers", "kernel", _Kernel)
    series = ".".join(kernel.split(".")[:2])
    own = next((row.of_series for row in kinds if row.of_series and kernel.endswith(row.ends)), {})
    if named := own.get(f"{release}:{series}") or own.get(series):
        return named
    return next((row.follows for row in kinds if row.follows and kernel.endswith(row.ends)), "")


def extra_modules_package(kernel: str) -> str:
    """The package with the drivers that a lean image of this kernel leaves out; "" where there is none. Raises KnowledgeError."""
    own = (row.extra_modules for row in rows("package_managers", "kernel", _Kernel) if kernel.endswith(row.ends))
    return next(filter(None, own), "").replace("{kernel}", kernel)


@remembered
def _by_id() -> dict[str, PackageManager]:
    found = rows("package_managers", "system", PackageManager)
    return {name: row for row in found for name in row.ids}


def initramfs_anywhere() -> tuple[str, ...]:
    """The initramfs rebuilt by whichever program the system has, where nobody knows which system it is."""
    known = dict.fromkeys(tuple(row.initramfs) for row in rows("package_managers", "system", PackageManager) if row.initramfs)
    choices = (f"if command -v {argv[0]}; then {' '.join(argv)}" for argv in known)
    return ("sh", "-c", "; el".join(choices) + "; else exit 1; fi")


def package_manager(distribution: str) -> PackageManager | None:
    """The package manager of a distribution, by the ID of its os-release; None if it is not known."""
    return _by_id().get(distribution.lower())
