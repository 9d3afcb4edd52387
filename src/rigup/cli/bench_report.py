"""The answer of `rigup bench` as a person reads it: each device, its figures with a bar, and what they are set beside."""

import click

from rigup.bench.steadiness import judged, unsteady
from rigup.bench.telling import FINE, failure, figure, name_of, percent
from rigup.cli.guard import style
from rigup.cli.layout import columns, padded, width, wrapped
from rigup.language import _
from rigup.schemas.bench import Bench, Compared, ComparedFigure, Drop, Figure, MeasuredDevice, Watched

_BAR, _LEAST_BAR = 20, 6  # columns
_SURE = 10  # times, above which figures are told less finely
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def text(told: Bench, color: bool = False) -> str:
    """The whole report."""
    parts = [_device(device) for device in told.devices]
    failed = [line for one in told.failed for line in wrapped(failure(one))]
    parts += [failed, wrapped(_busy(told)), _drops(told), _compared(told), wrapped(_end(told))]
    said = "\n\n".join("\n".join(part) for part in parts if part)
    return said if color else click.unstyle(said)


def _device(device: MeasuredDevice) -> list[str]:
    lines = [style(device.name or device.vendor or "", bold=True)]
    rows = [(name_of(one.name, one.type or ""), figure(one.median, one.unit), one) for one in device.results]
    wide = [max(map(columns, column), default=0) for column in ([row[0] for row in rows], [row[1] for row in rows])]
    most = {unit: max(one.median for _n, _f, one in rows if one.unit == unit) for unit in {row[2].unit for row in rows}}
    bar = _room(wide, rows)
    for name, value, one in rows:
        head = f"  {padded(name, wide[0])}  {' ' * (wide[1] - columns(value))}{value}  "
        lines += _row(head + _bar(one, most, bar), _aside(one))
    lines += [line for one in device.failed or () for line in wrapped(failure(one), "  - ", "    ")]
    lines += wrapped(_cut(device.cut), "  - ", "    ") if device.cut else []
    return lines + wrapped(_watched(device.watched), "  ", "  ") if device.watched else lines


def _row(head: str, aside: str) -> list[str]:
    """One figure; what stands beside it goes below where the terminal has no room."""
    if columns(head) + columns(aside) > width():
        return [head.rstrip(), *wrapped(aside, "    ")]
    return [head + aside]


def _room(wide: list[int], rows: list[tuple[str, str, Figure]]) -> int:
    """Columns of the bars: what a terminal has left beside the texts; none rather than a stump."""
    aside = max((columns(_aside(one)) for _n, _f, one in rows), default=0)
    left = width() - sum(wide) - aside - 8  # 8: the blanks between
    return min(_BAR, left) if left >= _LEAST_BAR else 0


def _bar(one: Figure, most: dict[str, float], room: int) -> str:
    """How much of the peak, where it is known; else of the best figure of its kind here."""
    share = min(1.0, one.share_of_peak or (one.median / most[one.unit] if most[one.unit] else 0.0))
    eighths = round(share * room * 8) if one.unit != "s" else 0
    full, rest = divmod(eighths, 8)
    return padded("█" * full + (_EIGHTHS[rest] if rest else ""), room) + "  " if room else ""


def _aside(one: Figure) -> str:
    """Spread, size, the share of the sheet, and what others measured."""
    told = [spread_told(one)]
    if one.size and one.name.startswith("matmul"):
        told.append(f"{one.size}²")
    if one.share_of_peak:
        told.append(_share(one.share_of_peak, bool(one.implausible)))
    if one.others:
        told.append(_("others measured {rate}").format(rate=figure(max(other.rate for other in one.others), one.unit)))
    return ", ".join(told)


def _share(share: float, implausible: bool = False) -> str:
    """A part of the data sheet's peak."""
    told = _("{share} of the data sheet, which cannot be") if implausible else _("{share} of the data sheet")
    return told.format(share=percent(share))


def spread_told(one: Figure) -> str:
    """How far half of the samples lie from the median; of what is unsteady all that was seen, of too few how many."""
    if not judged(one):
        return _("samples: {count}").format(count=one.samples)
    reasons = unsteady(one)
    if not reasons:
        return "±" + percent((one.spread or 0.0) / 2)
    drift = one.drift or 0.0
    if reasons == ["drift"]:
        told = _("unsteady: slower by {share} in the end") if drift < 0 else _("unsteady: faster by {share} in the end")
        return told.format(share=percent(abs(drift)))
    ends = sorted((one.worst or one.median, one.best))
    return _("unsteady: {least} to {most}").format(least=figure(ends[0], one.unit), most=figure(ends[1], one.unit))


def _cut(names: list[str]) -> str:
    told = _("A minute was over before these could be measured: {names}. `--full` takes the time that it needs; `--devices` and `--only` measure less.")  # fmt: skip
    return told.format(names=", ".join(names))


def _watched(told: Watched) -> str:
    """Clock, temperature and power while it was measured, and what held it back."""
    parts = []
    for one, unit in ((told.clock_mhz, "MHz"), (told.temperature_c, "°C"), (told.power_w, "W")):
        if one:
            parts.append("-".join(dict.fromkeys((f"{one.least:.0f}", f"{one.most:.0f}"))) + " " + unit)
    said = _("Meanwhile: {readings}.").format(readings=", ".join(parts)) if parts else ""
    held = ", ".join(f"{name} {share:.0%}" for name, share in (told.held_back or {}).items())
    return (said + " " + _("Held back by: {reasons}.").format(reasons=held)).strip() if held else said


def _drops(told: Bench) -> list[str]:
    lines = [style(_("Slower than before"), fg="yellow", bold=True)] if told.drops else []
    return lines + [line for one in told.drops for line in wrapped(_drop(one), "  - ", "    ")]


def _drop(one: Drop) -> str:
    told = _("{name} of {device} is {percent} % lower than it was on this machine before.")
    return told.format(name=name_of(one.name, one.type or ""), device=one.device, percent=round(one.lost * 100))


def _busy(told: Bench) -> str:
    """That others were at work, where they were."""
    from rigup.bench.answer import BUSY

    if (told.busy_cores or 0) <= BUSY:
        return ""
    said = _("Other programs kept {cores} cores busy when it began: the processor's figures are lower than they could be, and are not compared with earlier ones.")  # fmt: skip
    return said.format(cores=told.busy_cores)


def _compared(told: Bench) -> list[str]:
    if not told.compared:
        return []
    lines = [style(_("Compared with {other}").format(other=_named(told.compared)), bold=True)]
    if not told.compared.figures:
        return [*lines, *wrapped(_("They have no figure in common."), "  ", "  ")]
    several = len({(one.device, one.other) for one in told.compared.figures}) > 1
    return lines + [line for one in told.compared.figures for line in _pair(one, several)]


def _named(compared: Compared) -> str:
    """The card in full where a part of its name was given, else what was given."""
    names = {one.other if one.of else compared.with_ for one in compared.figures}
    return str(names.pop() if len(names) == 1 else compared.with_)


def _pair(one: ComparedFigure, several: bool) -> list[str]:
    """A figure beside another, with where that is from; of a sheet the share, as the device's own row tells it."""
    words = {
        "measured": _("{times} times as fast as others measured ({here} here, {there} there)"),
        "data-sheet": _("{share} ({here} here, {there} there)"),
    }.get(one.of or "", _("{times} times as fast ({here} here, {there} there)"))
    named = name_of(one.name, one.type or "") + (f", {one.device} / {one.other}" if several else "")
    here, there = figure(one.here, one.unit), figure(one.there, one.unit)
    value = words.format(times=times_told(one.times), share=_share(one.times), here=here, there=there)
    value += ", " + _("unsteady") if one.steady is False else ""
    return wrapped(_("{name}: {value}").format(name=named, value=value), "  ", "    ")


def times_told(times: float) -> str:
    """As finely as a share in percent: 0.0012, 0.47, 1.04, 12."""
    return f"{times:.2f}" if FINE <= times < _SURE else f"{times:.2g}" if times < FINE else f"{times:,.0f}"


def seconds_told(seconds: float) -> str:
    """Whole seconds, tenths below ten."""
    return f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.1f}"


def _end(told: Bench) -> str:
    """What ± means, how long it took, and whether it is kept."""
    took = _("It took {seconds} s.").format(seconds=seconds_told(told.seconds))
    kept = _("It is kept, and later runs are compared with it.") if told.record else ""
    spread = _("± is how far half of the samples lie from the median.") if "±" in _spreads(told) else ""
    return " ".join(filter(None, (spread, took, kept)))


def _spreads(told: Bench) -> str:
    return "".join(spread_told(one) for device in told.devices for one in device.results)
