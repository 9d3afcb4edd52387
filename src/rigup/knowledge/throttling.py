"""Throttle reasons of each maker in the words of rigup.watch/1."""

_NVML: tuple[tuple[int, str], ...] = (
    (0x4, "power"),
    (0x8, "hardware"),
    (0x10, "sync"),
    (0x20, "temperature"),
    (0x40, "temperature"),
    (0x80, "external"),
)
_NVML_NONE = 0x1 | 0x2 | 0x100  # idle, a clock that somebody asked for, a clock of the display
_AMD: tuple[tuple[int, int, str], ...] = (
    (0, 15, "power"),
    (16, 31, "current"),
    (32, 45, "temperature"),
    (46, 47, "external"),
    (56, 56, "other"),
    (57, 57, "reliability"),
)
_I915: dict[str, str] = {
    "pl1": "power",
    "pl2": "power",
    "pl4": "power",
    "power": "power",
    "ratl": "temperature",
    "thermal": "temperature",
    "soc_thermal": "temperature",
    "mem_thermal": "temperature",
    "vr_thermal": "temperature",
    "psys_pl1": "power",
    "psys_pl2": "power",
    "prochot": "external",
    "vr_tdc": "current",
    "iccmax": "current",
    "psys_crit": "current",
    "fastvmode": "current",
    "p0_freq": "other",
}


def nvml_reasons(bits: int) -> list[str]:
    """Of nvmlClocksEventReasons (nvml.h)."""
    found = {word for bit, word in _NVML if bits & bit}
    if bits & ~(sum(bit for bit, _word in _NVML) | _NVML_NONE):
        found.add("other")
    return sorted(found)


def amd_reasons(bits: int) -> list[str]:
    """Of indep_throttle_status (drivers/gpu/drm/amd/pm/swsmu/inc/amdgpu_smu.h)."""
    return sorted({word for first, last, word in _AMD if bits >> first & (2 ** (last - first + 1) - 1)})


def intel_reason(name: str) -> str:
    """Of a file `throttle_reason_NAME` (i915) or `throttle/reason_NAME` (xe)."""
    return _I915.get(name, "other")
