"""What a chip's instruction set is called, and which compiled code runs on it."""

import re
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.patterns import lazy_regex

_SM = lazy_regex(r"(sm|compute)_(\d{1,3})(\d)([af]?)")
_CAPABILITY = lazy_regex(r"(\d{1,3})\.(\d)([af]?)(\+PTX)?", re.IGNORECASE)
_GFX = lazy_regex(r"gfx(\d{1,3})([0-9a-f])([0-9a-f])")
_GENERIC = lazy_regex(r"gfx[0-9-]+-generic")


class WhyNot(msgspec.Struct, frozen=True, kw_only=True):
    """Why no code of a list runs on a chip.

    Attributes:
        kind: "older-chip" (all code is for newer chips), "newer-chip" (all code is for older
            ones), "not-compiled" (code on both sides of it), "other-vendor", "no-code" (the
            list is empty) or "unknown-chip".
        isa: the chip.
        oldest, newest: the ends of the list for the chip's vendor, "" where there is none.
        source: where the rule stands.

    """

    kind: str
    isa: str
    oldest: str = ""
    newest: str = ""
    source: str = "cuda_driver [[binary_rule]], gfx_targets [[generic]]"

    def __str__(self) -> str:
        from rigup.language import _

        texts = {
            "older-chip": _("{isa} is older than all that this was compiled for (from {oldest} on)"),
            "newer-chip": _("{isa} is newer than all that this was compiled for (up to {newest})"),
            "not-compiled": _("this was not compiled for {isa} (only for others, {oldest} to {newest})"),
            "other-vendor": _("this was not compiled for chips of the vendor of {isa}"),
            "no-code": _("this holds no code for a GPU"),
            "unknown-chip": _("{isa} is not a known kind of chip"),
        }
        return texts[self.kind].format(isa=self.isa, oldest=self.oldest, newest=self.newest)


class _Sm(NamedTuple):
    major: int
    minor: int
    suffix: str = ""
    ptx: bool = False


class _Tegra(msgspec.Struct, frozen=True):
    isa: str
    desktop_code_from_cuda: str = ""


class _Renamed(msgspec.Struct, frozen=True):
    isa: str
    now: str


class _Generic(msgspec.Struct, frozen=True):
    generic: str
    members: list[str]


def runs_on(isa: str, code: Iterable[str], cuda: str | None = None) -> bool:
    """Whether any of this compiled code runs on that chip.

    Args:
        isa: the chip: "sm_86", "gfx1103", also "gfx90a:sramecc+:xnack-".
        code: what was compiled in: "sm_86", "compute_90", "sm_90a", "gfx1100", "gfx11-generic";
            entries that are none of these run nowhere.
        cuda: the toolkit that made it, where known: from 13.2 on Tegra chips run desktop code.

    Returns:
        True where machine code fits, or the driver can compile PTX for the chip.

    Raises:
        KnowledgeError: a table is malformed.

    """
    chip = _sm(isa)
    if chip is not None:
        return any(_sm_runs(chip, isa, cuda) for isa in map(_sm, code) if isa)
    target = gfx_base(isa)
    return bool(target) and any(_gfx_runs(target, entry) for entry in code)


def why_not(isa: str, code: Iterable[str], cuda: str | None = None) -> WhyNot | None:
    """Why none of this code runs on that chip; None if it does run.

    Raises:
        KnowledgeError: a table is malformed.

    """
    listed = list(code)
    if runs_on(isa, listed, cuda):
        return None
    chip = isa_order(isa)
    if not chip:
        return WhyNot(kind="unknown-chip", isa=isa)
    ours = sorted((isa_order(entry), entry) for entry in listed if _same_vendor(isa, entry))
    if not ours:
        return WhyNot(kind="other-vendor" if listed else "no-code", isa=isa)
    kind = "not-compiled"
    if chip < ours[0][0]:
        kind = "older-chip"
    elif chip > ours[-1][0]:
        kind = "newer-chip"
    return WhyNot(kind=kind, isa=isa, oldest=ours[0][1], newest=ours[-1][1])


def relative_age(why: WhyNot | None, code: Iterable[str]) -> str | None:
    """Whether a chip is an "older-chip" or a "newer-chip", or what else stands in the way; None where nothing does.

    Amid a list, a chip is newer than what there is of its own generation, or else its generation was left out.
    """
    if why is None or why.kind != "not-compiled":
        return why.kind if why else None
    return "newer-chip" if any(isa_order(isa)[:1] == isa_order(why.isa)[:1] for isa in code) else "older-chip"


def isa_of_capability(capability: str) -> str | None:
    """The ISA of a CUDA compute capability ("8.6" -> "sm_86"); None if it is not one."""
    match = _CAPABILITY.fullmatch(capability.strip())
    return f"sm_{int(match[1])}{match[2]}" if match else None


def gfx_of_target_version(version: int) -> str | None:
    """The target that KFD's ``gfx_target_version`` means (110003 -> "gfx1103").

    Returns:
        None for 0 (a CPU node) and for what is no target.

    """
    major, rest = divmod(version, 10000)
    minor, step = divmod(rest, 100)
    return _gfx_name(major, minor, step)


def gfx_of_decimal(version: str) -> str | None:
    """The target of the form of HSA_OVERRIDE_GFX_VERSION ("10.3.0" -> "gfx1030")."""
    match = re.fullmatch(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})", version.strip())
    return _gfx_name(int(match[1]), int(match[2]), int(match[3])) if match else None


def gfx_base(isa: str) -> str:
    """A gfx target without its feature suffixes ("gfx90a:xnack-" -> "gfx90a"), or ""."""
    base = isa.strip().split(":", 1)[0].lower()
    return base if _GFX.fullmatch(base) else ""


def isa_order(isa: str) -> tuple[int, ...]:
    """A key that orders ISAs of one vendor by age; () for what is no ISA."""
    sm = _sm(isa)
    if sm is not None:
        return sm.major, sm.minor
    match = _GFX.fullmatch(gfx_base(isa))
    if match:
        return int(match[1]), int(match[2], 16), int(match[3], 16)
    digits = re.findall(r"\d+", isa) if _GENERIC.fullmatch(isa.strip()) else []
    return tuple(map(int, digits))


def vendor_of(isa: str) -> str:
    """Who makes chips of that ISA: "nvidia", "amd", or "" for what is no ISA."""
    if _sm(isa) is not None:
        return "nvidia"
    return "amd" if gfx_base(isa) or _GENERIC.fullmatch(isa.strip()) else ""


def _same_vendor(isa: str, entry: str) -> bool:
    return bool(isa_order(entry)) and vendor_of(isa) == vendor_of(entry)


def _gfx_name(major: int, minor: int, step: int) -> str | None:
    if major < 1 or max(minor, step) > 15:
        return None
    return f"gfx{major}{minor:x}{step:x}"


@tables.remembered
def _sm(isa: str) -> _Sm | None:
    text = isa.strip().lower()
    match = _SM.fullmatch(text)
    if not match:
        return None
    plain = f"sm_{match[2]}{match[3]}"
    now = _SM.fullmatch(_new_names().get(plain, plain)) or match
    return _Sm(int(now[2]), int(now[3]), match[4], match[1] == "compute")


def _sm_runs(chip: _Sm, code: _Sm, cuda: str | None) -> bool:
    newer = (chip.major, chip.minor) >= (code.major, code.minor)
    exact = (chip.major, chip.minor) == (code.major, code.minor)
    if code.suffix == "a":
        return exact
    if code.ptx and not code.suffix:
        return newer
    if chip.major != code.major or not newer:
        return False
    return exact or _desktop_pair(chip, code, cuda)


def _desktop_pair(chip: _Sm, code: _Sm, cuda: str | None) -> bool:
    """Whether a newer chip of the same major takes the code: Tegra chips and code stand apart."""
    tegra = _tegra()
    if f"sm_{code.major}{code.minor}" in tegra:
        return False
    since = tegra.get(f"sm_{chip.major}{chip.minor}")
    if since is None:
        return True
    return bool(since and cuda) and _numbers(cuda or "") >= _numbers(since)


def _gfx_runs(target: str, entry: str) -> bool:
    name = entry.strip().split(":", 1)[0].lower()
    return name == target or target in _generics().get(name, ())


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d{1,9}", version)[:3]))


def is_of_a_module(isa: str) -> bool:
    """Whether it is the chip of a Jetson or its like, for which others than PyTorch build torch."""
    return isa in _tegra()


@tables.remembered
def _tegra() -> dict[str, str]:
    rows = tables.rows("cuda_driver", "tegra", _Tegra)
    return {row.isa: row.desktop_code_from_cuda for row in rows}


@tables.remembered
def _new_names() -> dict[str, str]:
    return {row.isa: row.now for row in tables.rows("cuda_driver", "renamed", _Renamed)}


@tables.remembered
def _generics() -> dict[str, frozenset[str]]:
    rows = tables.rows("gfx_targets", "generic", _Generic)
    return {row.generic: frozenset(row.members) for row in rows}
