"""A picture of advice: when each allocation would begin and end, as intervals. Needs matplotlib, an extra."""

from pathlib import Path

from rigup.language import _
from rigup.schemas.advise import Advise

_HOUR = 3600.0
_MOST = 20


class PictureError(Exception):
    """No picture can be drawn; the text says what is missing."""


def drawn(answer: Advise, path: Path) -> None:
    """Write a picture; the form follows the name (.png, .svg, .pdf).

    Raises:
        PictureError: matplotlib is not there, there is nothing to draw, or the form is none that it knows.
        OSError: the file cannot be written.

    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PictureError(_("A picture needs matplotlib: install rigup with its extra `plot`.")) from error
    rows = answer.allocations[:_MOST]
    if not rows:
        raise PictureError(_("No allocation can run: there is nothing to draw."))
    figure = Figure(figsize=(9, 1.2 + 0.4 * len(rows)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for place, row in enumerate(rows):
        axes.barh(place, row.wait.likely / _HOUR, color="#dddddd", height=0.5)
        axes.barh(place, row.run.likely / _HOUR, left=row.wait.likely / _HOUR, color="#8ab4d8", height=0.5)
        axes.plot([row.finish.low / _HOUR, row.finish.high / _HOUR], [place, place], color="#1a1a1a", linewidth=2)
        axes.plot([row.finish.likely / _HOUR], [place], "o", color="#1a1a1a")
    axes.set_yticks(range(len(rows)), [row.allocation for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("hours from now: waiting, running, and 10 to 90 % of the end")
    try:
        figure.savefig(path, dpi=130)
    except ValueError as error:
        raise PictureError(_("{path} has no form that can be drawn: end it in .png, .svg or .pdf.").format(path=path)) from error
