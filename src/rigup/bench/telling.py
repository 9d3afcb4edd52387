"""Format figures for the report and the picture."""

from rigup.language import _
from rigup.schemas.bench import Failed

FINE = 0.1
"""A share, below which tenths of a percent are told."""

_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))


def name_of(name: str, kind: str = "") -> str:
    """What was measured, by the name and the type of its figure in words."""
    words = {
        "launch": _("launch of one operation"),
        "matmul": _("matrix product"),
        "matmul-by-hand": _("matrix product, large"),
        "memory-copy": _("memory: copy"),
        "memory-triad": _("memory: a + s·b"),
        "memory-read": _("memory: sum"),
        "convolution-step": _("training step, convolutions"),
        "transformer-step": _("training step, transformer"),
        "copy-to-device-pinned": _("to the device, pinned"),
        "copy-to-device-pageable": _("to the device, pageable"),
        "prefill": _("tokens read, {model}"),
        "decode": _("tokens written, {model}"),
        "copy-to-host-pinned": _("to the host, pinned"),
        "copy-to-host-pageable": _("to the host, pageable"),
    }
    named = words.get(name) or _other(name)
    return named.format(model=kind) if "{model}" in named else " ".join(filter(None, (named, kind)))


def _other(name: str) -> str:
    """A copy to a device that is named, and whatever else."""
    device = name.removeprefix("copy-to-")
    return _("to {device}").format(device=device) if device != name else name


def failure(failed: Failed) -> str:
    """What could not be measured, and why."""
    return _("{check} could not be measured: {because}").format(check=failed.check, because=failed.because)


def figure(value: float, unit: str) -> str:
    """A value with a prefix: 12.3 TFLOP/s."""
    if not unit.isascii() or ("/" not in unit and unit != "s"):
        return f"{value:.3g} {unit}"
    if unit in ("image/s", "token/s"):
        return f"{value:,.0f} {unit}" if value >= 10 else f"{value:.2f} {unit}"
    shown = float(f"{value:.3g}")  # 999.9 G is 1 T
    scale, prefix = next(((scale, prefix) for scale, prefix in _PREFIXES if shown >= scale), _PREFIXES[-1])
    return f"{value / scale:.3g} {prefix}{unit}"


def percent(share: float) -> str:
    """A share in whole percent, in tenths where it is small."""
    return f"{share:.0%}" if round(share, 3) >= FINE or not share else f"{share:.1%}"
