"""AMD's targets and ROCm: overrides, who ships kernels for a target, until when."""

import re
from datetime import date

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.chips import gfx_base
from rigup.knowledge.cuda import version_key
from rigup.knowledge.patterns import lazy_regex

_VERSION = lazy_regex(r"\d+\.\d+")


class Alternative(msgspec.Struct, frozen=True):
    """Another value that was seen to work."""

    value: str
    sibling: str


class Override(msgspec.Struct, frozen=True, kw_only=True):
    """What HSA_OVERRIDE_GFX_VERSION may do for a chip.

    Attributes:
        isa: the chip.
        value: what to set ("10.3.0"); None where none helps or none is needed.
        sibling: the target whose code then runs ("gfx1030").
        safe: no failure is known under it. shun: the chip is better hidden than overridden.
        bad_values: values that are known to break.
        last_rocm: last ROCm whose libraries still have the sibling, "" if all have.
        tried_rocm: last ROCm under which it was seen to work, where nobody has tried newer ones.
        native_torch, native_rocm: first release that needs no override, "" if none has.
        confidence: "A" (maintainer, or two threads), "B" (one thread), "C" (inferred).

    """

    isa: str
    decimal: str
    value: str | None = None
    sibling: str | None = None
    safe: bool = False
    shun: bool = False
    alternatives: list[Alternative] = []
    bad_values: list[str] = []
    last_rocm: str = ""
    tried_rocm: str = ""
    native_torch: str = ""
    native_rocm: str = ""
    status: str = ""
    scope: str = ""
    confidence: str = ""
    note: str = ""
    source: str = ""
    checked: str = ""
    how: str = ""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """One AMD instruction set.

    Attributes:
        decimal: the form of HSA_OVERRIDE_GFX_VERSION.
        target_version: what KFD reports.
        generic: the LLVM family whose generic code it runs, "" if none.
        integrated: no card has it, only graphics inside processors.

    """

    isa: str
    decimal: str
    target_version: int
    integrated: bool = False
    architecture: str = ""
    generic: str = ""
    wavefront: int = 0
    codenames: list[str] = []
    examples: list[str] = []
    rocm_official: str = ""
    note: str = ""
    source: str = ""
    how: str = ""


class _Blas(msgspec.Struct, frozen=True):
    rocm: str
    isas: list[str]


class _Only(msgspec.Struct, frozen=True):
    """Drivers that are accepted for some targets alone."""

    isas: list[str]
    drivers: list[str]


class _Release(msgspec.Struct, frozen=True):
    version: str
    isas_official: list[str] = []
    driver_accepted: list[str] = []
    driver_accepted_for: _Only | None = None
    released: str = ""


class _Driver(msgspec.Struct, frozen=True):
    driver: str
    ships_with: str


def override_facts(gfx: str) -> Override | None:
    """Tell all that is known of overrides for a chip, also that none helps.

    Raises:
        KnowledgeError: the table is malformed.

    """
    base = gfx_base(gfx)
    rows = tables.rows("gfx_overrides", "override", Override)
    return next((row for row in rows if row.isa == base), None)


def override_for(gfx: str) -> Override | None:
    """Tell the override that helps a chip; None where none helps, is needed, or is known.

    Raises:
        KnowledgeError: the table is malformed.

    """
    row = override_facts(gfx)
    return row if row and row.value else None


def gfx_family(gfx: str) -> Target | None:
    """Tell what a target is ("gfx1103" is RDNA3, of gfx11-generic); None if it is unknown.

    Raises:
        KnowledgeError: the table is malformed.

    """
    base = gfx_base(gfx)
    rows = tables.rows("gfx_targets", "target", Target)
    return next((row for row in rows if row.isa == base), None)


_STEPPING = lazy_regex(r"(?<=[a-z])\d$| ?(?:xtx?h?|xle?|xm|gl(?:-?x[lt])?|pro-?xla?)$")


def target_of_codename(name: str) -> Target | None:
    """Tell the target of a chip's code name, as lspci and drivers put it before the product.

    Args:
        name: "Renoir", "AMD Cezanne", "Phoenix1 [Radeon 780M]", "Navi 23 [Radeon RX 6600]".

    Returns:
        None where the name is none, or is that of chips of several targets.

    Raises:
        KnowledgeError: the table is malformed.

    """
    head = re.sub(r"^(?:advanced micro devices, inc\. )?(?:\[amd/ati\] |amd )?", "", name.lower().strip())
    head = head.partition("[")[0].partition("(")[0].strip()
    targets = _codenames().get(_STEPPING.sub("", head).replace(" ", ""), ())
    return targets[0] if len(targets) == 1 else None


@tables.remembered
def _codenames() -> dict[str, tuple[Target, ...]]:
    """By name without spaces. "Vega 10" is the chip of one card, and what another maker of names calls graphics inside processors."""
    index: dict[str, tuple[Target, ...]] = {}
    for row in tables.rows("gfx_targets", "target", Target):
        for codename in {part.strip() for name in row.codenames for part in name.lower().split("/")}:
            if len(codename) > 3 and not codename.startswith(("vega", "(")):
                key = codename.replace(" ", "")
                index[key] = (*index.get(key, ()), row)
    return index


def rocblas_has(rocm: str, gfx: str) -> bool | None:
    """Tell whether the rocBLAS of a ROCm release ships kernels for a target.

    Returns:
        None where the table does not reach: before its first release, and after its last for
        targets that came later.

    Raises:
        KnowledgeError: the table is malformed.

    """
    base, asked = gfx_base(gfx), version_key(rocm)
    rows = sorted(tables.rows("gfx_targets", "rocblas", _Blas), key=lambda row: version_key(row.rocm))
    older = [row for row in rows if asked and version_key(row.rocm) <= asked]
    if not older or not base:
        return None
    if base in older[-1].isas:
        return True
    # A target that a release dropped does not come back; one that it never had may come.
    dropped = any(base in row.isas for row in older)
    exact = version_key(older[-1].rocm)[: len(asked)] == asked
    newer = rows[len(older) :]
    never = bool(newer) and not any(base in row.isas for row in newer)
    return False if dropped or exact or never else None


def last_rocm_with(gfx: str) -> str | None:
    """Tell the newest ROCm release whose official list has a target; None if none ever had.

    Raises:
        KnowledgeError: the table is malformed.

    """
    base = gfx_base(gfx)
    rows = tables.rows("rocm_releases", "release", _Release)
    having = [row.version for row in rows if base in row.isas_official]
    return max(having, key=version_key) if base and having else None


def driver_accepts(driver: str, rocm: str, isa: str = "") -> bool | None:
    """Tell whether AMD lists a kernel driver for a ROCm release.

    Args:
        driver: as AMD names its driver releases: "6.3", "30.10" (not the module's own version).
        rocm: the release of the libraries.
        isa: the target, where some drivers are listed for certain targets alone; "" for any of them.

    Returns:
        True where it is listed, False where it is older than all that are, None where it is
        newer. For a release without a list: whether the driver is at most a year older.

    Raises:
        KnowledgeError: the table is malformed.

    """
    have, asked = version_key(driver)[:2], version_key(rocm)[:2]
    rows = [row for row in tables.rows("rocm_releases", "release", _Release) if version_key(row.version)[:2] == asked]
    texts = [text for row in rows for text in row.driver_accepted]
    listed = sorted({version_key(match)[:2] for text in texts for match in _VERSION.findall(text)} - _drivers_for_others(rows, isa))
    if not have or not asked:
        return None
    if not listed:
        return _a_year_apart(_date(have), _date(asked))
    if have in listed or (any("..." in text for text in texts) and listed[0] <= have <= listed[-1]):
        return True
    return False if have < listed[0] else None


def _drivers_for_others(rows: list[_Release], isa: str) -> set[tuple[int, ...]]:
    """Drivers that the rows list for other targets alone."""
    others = [row.driver_accepted_for for row in rows if row.driver_accepted_for and isa]
    return {version_key(driver)[:2] for only in others if gfx_base(isa) not in only.isas for driver in only.drivers}


def _a_year_apart(driver: date | None, rocm: date | None) -> bool | None:
    """AMD's rule from 6.4 on, for releases without a list (rocm_releases [driver_compat])."""
    if driver is None or rocm is None or driver > rocm:
        return None
    return (rocm - driver).days <= 366


def _date(release: tuple[int, ...]) -> date | None:
    """Tell when a ROCm release, or the one that a driver release shipped with, was last renewed."""
    drivers = {version_key(row.driver)[:2]: row for row in tables.rows("rocm_releases", "driver", _Driver)}
    if release in drivers:
        release = version_key(drivers[release].ships_with)[:2]
    rows = tables.rows("rocm_releases", "release", _Release)
    # Of some releases only the month is known.
    dates = [date.fromisoformat(f"{row.released}-01"[:10]) for row in rows if version_key(row.version)[:2] == release]
    return max(dates, default=None)
