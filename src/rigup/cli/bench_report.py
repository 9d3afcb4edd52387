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


def text(answer: Bench, color: bool = False) -> str:
    """The whole report."""
    parts = [_device(device) for device in answer.devices]
    failed = [line for measurement in answer.failed for line in wrapped(failure(measurement))]
    parts += [failed, wrapped(_busy(answer)), _drops(answer), _compared(answer), wrapped(_end(answer))]
    report = "\n\n".join("\n".join(part) for part in parts if part)
    return report if color else click.unstyle(report)


def _device(device: MeasuredDevice) -> list[str]:
    lines = [style(device.name or device.vendor or "", bold=True)]
    rows = [(name_of(result.name, result.type or ""), figure(result.median, result.unit), result) for result in device.results]
    wide = [max(map(columns, column), default=0) for column in ([row[0] for row in rows], [row[1] for row in rows])]
    most = {unit: max(result.median for _n, _f, result in rows if result.unit == unit) for unit in {row[2].unit for row in rows}}
    bar = _room(wide, rows)
    for name, value, result in rows:
        head = f"  {padded(name, wide[0])}  {' ' * (wide[1] - columns(value))}{value}  "
        lines += _row(head + _bar(result, most, bar), _aside(result))
    lines += [line for measurement in device.failed or () for line in wrapped(failure(measurement), "  - ", "    ")]
    lines += wrapped(_cut(device.cut), "  - ", "    ") if device.cut else []
    return lines + wrapped(_watched(device.watched), "  ", "  ") if device.watched else lines


def _row(head: str, aside: str) -> list[str]:
    """One figure; what stands beside it goes below where the terminal has no room."""
    if columns(head) + columns(aside) > width():
        return [head.rstrip(), *wrapped(aside, "    ")]
    return [head + aside]


def _room(wide: list[int], rows: list[tuple[str, str, Figure]]) -> int:
    """Columns of the bars: what a terminal has left beside the texts; none rather than a stump."""
    aside = max((columns(_aside(result)) for _n, _f, result in rows), default=0)
    left = width() - sum(wide) - aside - 8  # 8: the blanks between
    return min(_BAR, left) if left >= _LEAST_BAR else 0


def _bar(result: Figure, most: dict[str, float], room: int) -> str:
    """How much of the peak, where it is known; else of the best figure of its kind here."""
    share = min(1.0, result.share_of_peak or (result.median / most[result.unit] if most[result.unit] else 0.0))
    eighths = round(share * room * 8) if result.unit != "s" else 0
    full, rest = divmod(eighths, 8)
    return padded("█" * full + (_EIGHTHS[rest] if rest else ""), room) + "  " if room else ""


def _aside(result: Figure) -> str:
    """Spread, size, the share of the sheet, and what others measured."""
    parts = [spread_text(result)]
    if result.size and result.name.startswith("matmul"):
        parts.append(f"{result.size}²")
    if result.share_of_peak:
        parts.append(_share(result.share_of_peak, bool(result.implausible)))
    if result.others:
        parts.append(_("others measured {rate}").format(rate=figure(max(other.rate for other in result.others), result.unit)))
    return ", ".join(parts)


def _share(share: float, implausible: bool = False) -> str:
    """A part of the data sheet's peak."""
    template = _("{share} of the data sheet, which cannot be") if implausible else _("{share} of the data sheet")
    return template.format(share=percent(share))


def spread_text(result: Figure) -> str:
    """How far half of the samples lie from the median; of what is unsteady all that was seen, of too few how many."""
    if not judged(result):
        return _("samples: {count}").format(count=result.samples)
    reasons = unsteady(result)
    if not reasons:
        return "±" + percent((result.spread or 0.0) / 2)
    drift = result.drift or 0.0
    if reasons == ["drift"]:
        template = _("unsteady: slower by {share} in the end") if drift < 0 else _("unsteady: faster by {share} in the end")
        return template.format(share=percent(abs(drift)))
    ends = sorted((result.worst or result.median, result.best))
    return _("unsteady: {least} to {most}").format(least=figure(ends[0], result.unit), most=figure(ends[1], result.unit))


def _cut(names: list[str]) -> str:
    template = _(
        "A minute was over before these could be measured: {names}. `--full` takes the time that it needs; `--devices` and `--only` measure less."
    )
    return template.format(names=", ".join(names))


def _watched(watched: Watched) -> str:
    """Clock, temperature and power while it was measured, and what held it back."""
    parts = []
    for readings, unit in ((watched.clock_mhz, "MHz"), (watched.temperature_c, "°C"), (watched.power_w, "W")):
        if readings:
            parts.append("-".join(dict.fromkeys((f"{readings.least:.0f}", f"{readings.most:.0f}"))) + " " + unit)
    sentence = _("Meanwhile: {readings}.").format(readings=", ".join(parts)) if parts else ""
    held = ", ".join(f"{name} {share:.0%}" for name, share in (watched.held_back or {}).items())
    return (sentence + " " + _("Held back by: {reasons}.").format(reasons=held)).strip() if held else sentence


def _drops(answer: Bench) -> list[str]:
    lines = [style(_("Slower than before"), fg="yellow", bold=True)] if answer.drops else []
    return lines + [line for drop in answer.drops for line in wrapped(_drop(drop), "  - ", "    ")]


def _drop(drop: Drop) -> str:
    template = _("{name} of {device} is {percent} % lower than it was on this machine before.")
    return template.format(name=name_of(drop.name, drop.type or ""), device=drop.device, percent=round(drop.lost * 100))


def _busy(answer: Bench) -> str:
    """That others were at work, where they were."""
    from rigup.bench.answer import BUSY

    if (answer.busy_cores or 0) <= BUSY:
        return ""
    template = _(
        "Other programs kept {cores} cores busy when it began: the processor's figures are lower than they could be, and are not compared with earlier ones."
    )
    return template.format(cores=answer.busy_cores)


def _compared(answer: Bench) -> list[str]:
    if not answer.compared:
        return []
    lines = [style(_("Compared with {other}").format(other=_named(answer.compared)), bold=True)]
    if not answer.compared.figures:
        return [*lines, *wrapped(_("They have no figure in common."), "  ", "  ")]
    several = len({(pair.device, pair.other) for pair in answer.compared.figures}) > 1
    return lines + [line for pair in answer.compared.figures for line in _pair(pair, several)]


def _named(compared: Compared) -> str:
    """The card in full where a part of its name was given, else what was given."""
    names = {pair.other if pair.of else compared.with_ for pair in compared.figures}
    return str(names.pop() if len(names) == 1 else compared.with_)


def _pair(pair: ComparedFigure, several: bool) -> list[str]:
    """A figure beside another, with where that is from; of a sheet the share, as the device's own row tells it."""
    words = {
        "measured": _("{times} times as fast as others measured ({here} here, {there} there)"),
        "data-sheet": _("{share} ({here} here, {there} there)"),
    }.get(pair.of or "", _("{times} times as fast ({here} here, {there} there)"))
    named = name_of(pair.name, pair.type or "") + (f", {pair.device} / {pair.other}" if several else "")
    here, elsewhere = figure(pair.here, pair.unit), figure(pair.there, pair.unit)
    value = words.format(times=times_text(pair.times), share=_share(pair.times), here=here, there=elsewhere)
    value += ", " + _("unsteady") if pair.steady is False else ""
    return wrapped(_("{name}: {value}").format(name=named, value=value), "  ", "    ")


def times_text(times: float) -> str:
    """As finely as a share in percent: 0.0012, 0.47, 1.04, 12."""
    return f"{times:.2f}" if FINE <= times < _SURE else f"{times:.2g}" if times < FINE else f"{times:,.0f}"


def seconds_text(seconds: float) -> str:
    """Whole seconds, tenths below ten."""
    return f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.1f}"


def _end(answer: Bench) -> str:
    """What ± means, how long it took, and whether it is kept."""
    took = _("It took {seconds} s.").format(seconds=seconds_text(answer.seconds))
    kept = _("It is kept, and later runs are compared with it.") if answer.record else ""
    spread = _("± is how far half of the samples lie from the median.") if "±" in _spreads(answer) else ""
    return " ".join(filter(None, (spread, took, kept)))


def _spreads(answer: Bench) -> str:
    return "".join(spread_text(result) for device in answer.devices for result in device.results)
