"""Which build of torch takes the place of one that does not serve, with the smallest change."""

from collections.abc import Iterable

import msgspec

from rigup.knowledge.chips import runs_on
from rigup.knowledge.cuda import cuda_of_driver, driver_carries, driver_minimum, version_key
from rigup.knowledge.driver_choice import long_kept_branch
from rigup.knowledge.rocm import rocblas_has
from rigup.knowledge.torch_builds import TorchBuild, builds

_ORDER = 1_000_000  # above any number in a version
_RECENT = 8  # releases among which one for an older driver is better than a newer one
Key = tuple[int, ...]


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What a build has to fit.

    Attributes:
        isa: the chip; "" where nobody tells it.
        kind: "cuda", "rocm" or "xpu".
        have: the release that is there, "" where nobody tells it.
        driver: NVIDIA's, "" for any. carried: the CUDA that it is known to carry, where its version is not.
        python: "3.12", "" for any.

    """

    isa: str = ""
    kind: str = "cuda"
    have: str = ""
    driver: str = ""
    carried: str = ""
    python: str = ""
    system: str = "linux"
    machine: str = "x86_64"


def nearest_build(wish: Wish) -> TorchBuild | None:
    """Find the build that changes least: the release that is there, else the next newer one, else the next older one.

    Of one release the variant that the driver surely carries; where no driver is known, the newest of those that an old driver
    carries, or, where no card is known either, the one for the oldest driver.

    Raises:
        KnowledgeError: a table is malformed.

    """
    fitting = [row for row in _serving(wish) if not wish.python or wish.python in row.python]
    if wish.have or wish.driver or wish.carried or wish.kind != "cuda":
        return min(fitting, key=lambda row: (_distance(row, wish.have), _variant(row, wish)), default=None)
    recent = sorted({version_key(row.torch) for row in fitting})[-_RECENT:]
    last = [row for row in fitting if version_key(row.torch) in recent]
    return min(last, key=lambda row: (_variant(row, wish)[:3], _distance(row, ""), _variant(row, wish)), default=None)


def ever_built(isa: str, system: str = "linux", machine: str = "x86_64") -> bool:
    """Whether any build for a platform has code for a chip. Raises KnowledgeError for a malformed table."""
    return any(runs_on(isa, row.code, row.cuda or None) for row in builds(system, machine))


def variant_of_index(local: str, system: str = "linux", machine: str = "x86_64") -> str:
    """The variant of torch's own index that a local part of a version names ("rocm7.2.0.git7e1940d4" is of "rocm7.2"); "" where none.

    Raises:
        KnowledgeError: the table is malformed.

    """
    known = {row.variant for row in builds(system, machine)}
    fitting = (variant for variant in known if local == variant or local.startswith(variant + "."))
    return max(fitting, key=len, default="")


def _serving(wish: Wish) -> Iterable[TorchBuild]:
    rows = (row for row in builds(wish.system, wish.machine) if _of_kind(row, wish.kind) and _carries(row, wish))
    return (row for row in rows if not wish.isa or _has_code(row, wish.isa))


def _of_kind(row: TorchBuild, kind: str) -> bool:
    return row.variant == "xpu" if kind == "xpu" else bool(row.rocm if kind == "rocm" else row.cuda)


def _has_code(row: TorchBuild, isa: str) -> bool:
    """By machine code alone: what a driver may still compile for a later chip is no build for it, for the libraries beside have none."""
    code = [entry for entry in row.code if not entry.startswith("compute_")]
    return runs_on(isa, code, row.cuda or None) and not (row.rocm and rocblas_has(row.rocm, isa) is False)


def _carries(row: TorchBuild, wish: Wish) -> bool:
    if not row.cuda:
        return True
    if wish.driver:
        return driver_carries(wish.driver, row.cuda, wish.system) is True
    if not wish.carried:
        return True
    least, newest = driver_minimum(row.cuda, wish.system), driver_minimum(wish.carried, wish.system)
    return bool(least and newest) and version_key(least or "") <= version_key(newest or "")


def _distance(row: TorchBuild, have: str) -> Key:
    """How far a release is from the one that is there; where none is known, how far from the newest."""
    mine, theirs = (*version_key(row.torch), 0, 0)[:3], (*version_key(have), 0, 0)[:3]
    if not have:
        return (0, *(-number for number in mine))
    return (0, *mine) if mine == theirs else (1, *mine) if mine > theirs else (2, *(-number for number in mine))


def _variant(row: TorchBuild, wish: Wish) -> Key:
    cuda = version_key(row.cuda or row.rocm)
    major, minor = (*cuda, 0, 0)[:2]
    shown = wish.carried or (cuda_of_driver(wish.driver) if wish.driver else "") or ""
    newest = (not row.pypi, _ORDER - major, _ORDER - minor)
    if not shown or not row.cuda:
        least = version_key(driver_minimum(row.cuda, wish.system) or "0") if row.cuda else (0,)
        least = max(least, version_key(long_kept_branch())) if wish.isa else least  # older drivers are rare
        return (*(*least, 0, 0)[:3], *newest)
    above = cuda[:2] > version_key(shown)[:2]
    return (int(above), *((0, major, minor) if above else newest))
