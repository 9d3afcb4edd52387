"""A picture of a run: every figure of every device with its spread, versions and day. Needs matplotlib, an extra."""

import contextlib
import logging
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import structs

from rigup.bench import picture_panels as panels
from rigup.bench.answer import BUSY
from rigup.bench.picture_fonts import families, without
from rigup.bench.telling import failure
from rigup.language import _, choose, current
from rigup.schemas.bench import Bench, MeasuredDevice

_WIDE = 11.0  # inches
_LINE, _BARE = 0.17, 1.0  # inches of a line of text, and of what stands around the panels of a device
_DOTS = 160  # an inch, of a form that is made of dots
_LETTERS = 185  # of the small text in one line
_INK, _FAINT = "#1a1a1a", "#555555"


class PictureError(Exception):
    """No picture can be drawn; the text says what is missing."""


def drawn(answer: Bench, path: Path) -> None:
    """Draw the answer; the format follows the file name (.png, .svg, .pdf).

    Raises:
        PictureError: matplotlib is not there, or the form is none that it knows.
        OSError: the file cannot be written.

    """
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PictureError(_("A picture needs matplotlib: install rigup with its extra `plot`.")) from error
    fonts, missing = families(_all_text(answer))
    with _readable(missing), rc_context({"font.family": fonts, "font.size": 9, "svg.fonttype": "none", "pdf.fonttype": 42}):
        figure = Figure(figsize=(_WIDE, 4), layout="constrained")
        FigureCanvasAgg(figure)
        _page(figure, answer, missing)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from")  # the rarest: told above as a mark
            try:
                figure.savefig(path, dpi=_DOTS)
            except ValueError as error:
                raise PictureError(_("{path} has no form that can be drawn: end it in .png, .svg or .pdf.").format(path=path)) from error


@contextlib.contextmanager
def _readable(missing: set[str]) -> Iterator[None]:
    """Where no font has the letters of the person's language, the labels are English."""
    before, logger = current(), logging.getLogger("matplotlib.font_manager")
    level = logger.level
    logger.setLevel(logging.ERROR)  # it tells of fonts that have no bold letters
    if set(panels.words()) & missing:
        choose("en")
    try:
        yield
    finally:
        choose(before)
        logger.setLevel(level)


def _all_text(answer: Bench) -> list[str]:
    """All that the picture may say."""
    return [
        panels.words(),
        _head(answer),
        *_foot(answer),
        *(device.name or "" for device in answer.devices),
        *(str(structs.astuple(figure)) for device in answer.devices for figure in device.results),
        *(line for device in answer.devices for line in _left_out(device)),
    ]


def _page(figure: Any, answer: Bench, missing: set[str]) -> None:
    """Device under device, each as high as what it has; the run's own facts above and below."""
    devices = answer.devices or [MeasuredDevice(results=[])]
    foot = [without(line, missing) for line in _foot(answer)]
    high = [panels.height(device) + _BARE + _LINE * len(_left_out(device)) for device in devices]
    head_high, foot_high = 0.45, _LINE * len(foot) + 0.1
    figure.set_size_inches(_WIDE, sum(high) + head_high + foot_high)
    rows = figure.subfigures(len(devices) + 2, 1, height_ratios=[head_high, *high, foot_high])
    rows[0].text(0.01, 0.5, without(_head(answer), missing), fontsize=13, fontweight="bold", color=_INK, va="center")
    for row, device in zip(rows[1:-1], devices, strict=True):
        _device(row, device, missing)
    rows[-1].text(0.01, 0.95, "\n".join(foot), fontsize=7.5, color=_FAINT, va="top", linespacing=1.4)


def _device(row: Any, device: MeasuredDevice, missing: set[str]) -> None:
    name = without(device.name or device.vendor or "", missing)
    row.suptitle(textwrap.shorten(name, 100, placeholder=" …"), x=0.01, ha="left", fontsize=11, fontweight="bold", color=_INK)
    panels.device(row, device, missing)
    lines = [without(line, missing) for line in _left_out(device)]
    if lines:
        row.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=7.5, color=_FAINT)


def _left_out(device: MeasuredDevice) -> list[str]:
    """What was not measured of a device, and why."""
    lines = [failure(measurement) for measurement in device.failed or ()]
    if device.cut:
        lines.append(_("No time was left for: {names}.").format(names=", ".join(device.cut)))
    return [line for part in lines for line in textwrap.wrap(part, _LETTERS)[:3]]


def _head(answer: Bench) -> str:
    """What this is, of which day."""
    day = answer.recorded_at.replace("T", " ")[: len("2026-01-01 00:00")]
    return _("Speed of each device, measured {day} UTC").format(day=day) if day else _("Speed of each device")


def _foot(answer: Bench) -> list[str]:
    """Versions, and how the marks are to be read."""
    versions = {"rigup": answer.rigup, "Python": answer.environment.python, **answer.packages}
    parts = [f"{name} {version}" for name, version in versions.items() if version]
    parts += [f"{driver.get('name')} {driver['version']}" for driver in answer.machine.get("drivers", ()) if driver.get("version")]
    parts += [str(distribution["name"]) for distribution in answer.machine.get("distributions", ()) if distribution.get("name")]
    parts.append("--full" if answer.mode == "full" else "--quick")
    failed = [failure(measurement) for measurement in answer.failed]
    if (answer.busy_cores or 0) > BUSY:
        template = _("Other programs kept {cores} cores busy when it began.")
        failed.append(template.format(cores=answer.busy_cores))
    legend = _(
        "Dots are medians; bars reach over the middle half of the samples, of what is unsteady (hollow) over all of them. Lines join the quickest product of each size."
    )
    return [line for part in (*failed, ", ".join(parts), legend) for line in textwrap.wrap(part, _LETTERS)]
