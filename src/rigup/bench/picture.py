"""A picture of a run: the products by type and size, and what the rest reached. Needs matplotlib, which is an extra."""

from pathlib import Path
from typing import Any

from rigup.language import N_, _, current

Answer = dict[str, Any]


class PictureError(Exception):
    """No picture can be drawn; the text says what is missing."""


def drawn(told: Answer, path: Path) -> None:
    """Write a picture of the answer; the form follows the name (.png, .svg, .pdf).

    Raises:
        PictureError: matplotlib is not there, or the form is none that it knows.
        OSError: the file cannot be written.

    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PictureError(_("A picture needs matplotlib: install rigup with its extra `plot`.")) from error
    devices = [device for device in told["devices"] if device["results"]]
    figure = Figure(figsize=(9, 4 * max(1, len(devices))), layout="constrained")
    FigureCanvasAgg(figure)
    for number, device in enumerate(devices):
        _device(figure.add_subplot(len(devices), 1, number + 1), device)
    try:
        figure.savefig(path, dpi=150)
    except ValueError as error:
        raise PictureError(
            _("{path} has no form that can be drawn: end it in .png, .svg or .pdf.").format(path=path)
        ) from error


def _device(axes: Any, device: Answer) -> None:
    """Rate over size for each type, with the sheet's peak as a line."""
    swept = [one for one in device["results"] if one["name"] == "matmul" and one.get("sweep")]
    most = max((point["rate"] for one in swept for point in one["sweep"]), default=1e12)
    scale, prefix = (1e12, "T") if most >= 1e12 else (1e9, "G")
    for one in swept:
        sizes = [point["size"] for point in one["sweep"]]
        (line,) = axes.plot(sizes, [point["rate"] / scale for point in one["sweep"]], marker="o", label=one["type"])
        if one.get("peak"):
            axes.axhline(one["peak"] / scale, color=line.get_color(), linestyle=":", linewidth=1)
    ticks = sorted({point["size"] for one in swept for point in one["sweep"] if point["size"].bit_count() == 1})
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.set_ylim(bottom=0)
    axes.set_title(str(device.get("name") or ""))
    axes.set_xlabel(_told(N_("side of the matrices")))
    axes.set_ylabel(prefix + "FLOP/s")
    axes.grid(alpha=0.3)
    axes.legend()


def _told(text: str) -> str:
    """A label in the person's language, where the picture's font has its letters."""
    return text if current().startswith("zh") else _(text)
