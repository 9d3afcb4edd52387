"""A picture of a run: the products by type and size, and what the rest reached. Needs matplotlib, which is an extra."""

from pathlib import Path
from typing import Any

from rigup.language import _

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
    for one in device["results"]:
        if one["name"] == "matmul" and one.get("sweep"):
            sizes = [point["size"] for point in one["sweep"]]
            rates = [point["rate"] / 1e12 for point in one["sweep"]]
            (line,) = axes.plot(sizes, rates, marker="o", label=one["type"])
            if one.get("peak"):
                axes.axhline(one["peak"] / 1e12, color=line.get_color(), linestyle=":", linewidth=1)
    axes.set_xscale("log", base=2)
    axes.set_title(str(device.get("name") or ""))
    axes.set_xlabel(_("side of the matrices"))
    axes.set_ylabel(_("10¹² operations a second"))
    axes.grid(alpha=0.3)
    axes.legend()
