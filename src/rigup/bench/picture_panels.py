"""The panels of a device in a picture: products by type and size, and all other figures, one panel for each unit."""

import textwrap
from typing import Any

from rigup.bench.picture_fonts import without
from rigup.bench.steadiness import unsteady
from rigup.bench.telling import figure, name_of
from rigup.language import _
from rigup.schemas.bench import Figure, MeasuredDevice

_FAR = 20  # times, from which on figures of one panel stand on a logarithmic axis
_ROW, _AROUND, _LEAST = 0.27, 0.62, 3.2  # inches: of a figure, around a panel, of the products
_NAME = 34  # letters of a figure's name in one line
_INK, _FAINT, _GRID = "#1a1a1a", "#888888", "#dddddd"
_SHEET = "#7a7a7a"
# Colours that the colour-blind tell apart (Okabe and Ito, 2008), and marks that tell them apart in grey.
_LOOK = {
    "float64": ("#000000", "s"),
    "float32": ("#0072b2", "o"),
    "tf32": ("#56b4e9", "^"),
    "float16": ("#d55e00", "D"),
    "bfloat16": ("#009e73", "v"),
    "float8": ("#cc79a7", "P"),
}
_OTHER = ("#e69f00", "X")
_UNITS, _PREFIXED = ("B/s", "image/s", "token/s", "s"), ("FLOP/s", "B/s", "s")


def words() -> str:
    """All words of the panels themselves, for whoever looks for a font."""
    names = ("launch", "matmul", "memory-copy", "memory-triad", "convolution-step", "transformer-step", "prefill", "decode")
    labels = list(map(name_of, names))
    return " ".join([*labels, _side(), _sheet(), _others(), _("unsteady"), _nothing()])


def _side() -> str:
    return _("side of the matrices")


def _sheet() -> str:
    return _("data sheet")


def _others() -> str:
    return _("others measured")


def _nothing() -> str:
    return _("Nothing was measured.")


def height(device: MeasuredDevice) -> float:
    """Inches that the panels of a device want."""
    products, groups = _parts(device)
    bars = sum(_high(rows) for rows in groups)
    return max(bars, _LEAST if products else 0.0)


def _high(rows: list[Figure]) -> float:
    lines = sum(len(_name(result)) for result in rows)
    return _AROUND + _ROW * max(len(rows), 0.6 * lines)


def _parts(device: MeasuredDevice) -> tuple[list[Figure], list[list[Figure]]]:
    """Products whose size is known, and the rest by unit; a unit that is none of ours stands last."""
    results = [result for result in device.results if result.median]
    products = [result for result in results if result.unit == "FLOP/s" and result.size]
    rest = [result for result in results if result not in products]
    units = dict.fromkeys([*_UNITS, *(result.unit for result in rest)])
    groups = [[result for result in rest if result.unit == unit] for unit in units]
    return products, [rows for rows in groups if rows]


def device(row: Any, measured: MeasuredDevice, missing: set[str]) -> None:
    """Draw the panels of one device into its part of the page; a sentence where nothing was measured."""
    products, groups = _parts(measured)
    if not products and not groups:
        row.text(0.01, 0.45, _nothing(), color=_INK)
        return
    parts = row.subfigures(1, 2, width_ratios=[1.0, 1.05]) if products and groups else [row, row]
    if products:
        _products(parts[0].subplots(), products)
    if groups:
        axes = parts[1].subplots(len(groups), 1, squeeze=False, height_ratios=[_high(rows) for rows in groups])
        for panel, rows in zip(axes[:, 0], groups, strict=True):
            _figures(panel, rows, missing)


# -- products -------------------------------------------------------------------------------------------


def _products(axes: Any, products: list[Figure]) -> None:
    """Rate over size for each type, both logarithmic; where it was measured for longer a mark with its spread."""
    for result in products:
        color, mark = _LOOK.get(result.type or "", _OTHER)
        sweep = result.sweep or []
        axes.plot([point.size for point in sweep], [point.rate for point in sweep], color=color, linewidth=1.3, alpha=0.8)
        label = None if result.name == "matmul-by-hand" else _label(result)
        _mark(axes, result.size or 0, result, color=color, marker=mark, label=label, upright=True)
        if result.peak and label:
            axes.axhline(result.peak, color=color, linestyle=(0, (1, 2)), linewidth=1)
    if any(result.peak for result in products):
        axes.plot([], [], color=_SHEET, linestyle=(0, (1, 2)), linewidth=1, label=_sheet())
    _side_of(axes, products)
    _logarithmic(axes, "y", "FLOP/s")
    shown = [value for result in products for value in (*_ends(result), *_swept(result), result.peak or result.median)]
    axes.set_ylim(min(shown) / 1.6, max(shown) * 1.6)
    _plain(axes)
    look = {"frameon": False, "fontsize": 7.5, "title_fontsize": 9, "borderaxespad": 0.2, "handletextpad": 0.3, "columnspacing": 1.0}
    axes.legend(title=name_of("matmul"), alignment="left", loc="lower left", bbox_to_anchor=(-0.08, 1), ncols=2, **look)


def _swept(result: Figure) -> list[float]:
    return [point.rate for point in result.sweep or () if point.rate > 0]


def _label(result: Figure) -> str:
    text = f"{result.type or result.name}: {figure(result.median, result.unit)}"
    return text + _steadiness(result)


def _side_of(axes: Any, products: list[Figure]) -> None:
    """Sizes as powers of two, as many as there is room for; a size of its own where there is but one."""
    sizes = {point.size for result in products for point in result.sweep or ()}
    sizes |= {result.size for result in products if result.size}
    axes.set_xscale("log", base=2)
    powers = sorted(size for size in sizes if size & (size - 1) == 0) or sorted(sizes)
    axes.set_xticks(powers, [str(size) for size in powers])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(_side(), fontsize=8)
    axes.set_xlim(min(sizes) / 1.25, max(sizes) * 1.25)


# -- the rest -------------------------------------------------------------------------------------------


def _figures(axes: Any, rows: list[Figure], missing: set[str]) -> None:
    """A dot for each figure with its spread, its value at the edge, and what the sheet and others say of it."""
    places = range(len(rows))[::-1]
    for place, result in zip(places, rows, strict=True):
        color, mark = _LOOK.get(result.type or "", (_LOOK["float32"][0], "o"))
        _mark(axes, place, result, color=color, marker=mark, label=None, upright=False)
        if result.peak:
            axes.plot([result.peak], [place], color=_SHEET, marker="|", markersize=11, linestyle="none")
        if result.others:
            most = max(other.rate for other in result.others)
            axes.plot([most], [place], color=_SHEET, marker="x", markersize=5, linestyle="none")
        axes.annotate(_value(result), (1.01, place), xycoords=("axes fraction", "data"), va="center", fontsize=8, color=_INK)
    names = ["\n".join(without(line, missing) for line in _name(result)) for result in rows]
    axes.set_yticks(list(places), names)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    _range(axes, rows)
    _plain(axes)
    axes.tick_params(axis="y", length=0)
    _explained(axes, rows)


def _value(result: Figure) -> str:
    return figure(result.median, result.unit) + _steadiness(result)


def _steadiness(result: Figure) -> str:
    return " (" + _("unsteady") + ")" if unsteady(result) else ""


def _name(result: Figure) -> list[str]:
    return textwrap.wrap(name_of(result.name, result.type or ""), _NAME)[:3] or [result.name]


def _range(axes: Any, rows: list[Figure]) -> None:
    """From zero; where the figures lie far apart on a logarithmic axis."""
    shown = [value for result in rows for value in (*_ends(result), result.median, result.peak or result.median)]
    if max(shown) > _FAR * min(shown):
        _logarithmic(axes, "x", rows[0].unit)
        axes.set_xlim(min(shown) / 1.8, max(shown) * 1.8)
    else:
        from matplotlib.ticker import MaxNLocator

        axes.set_xlim(0, max(shown) * 1.06)
        axes.xaxis.set_major_locator(MaxNLocator(3))
        _unit_of(axes, "x", rows[0].unit)


def _explained(axes: Any, rows: list[Figure]) -> None:
    """What the grey marks are, where there are any."""
    marks = {_sheet(): ("|", 9, any(result.peak for result in rows)), _others(): ("x", 5, any(result.others for result in rows))}
    for label, (mark, size, is_shown) in marks.items():
        if is_shown:
            axes.plot([], [], color=_SHEET, marker=mark, markersize=size, linestyle="none", label=label)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=7.5, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0)


# -- what both have -------------------------------------------------------------------------------------


def _mark(axes: Any, place: float, result: Figure, *, color: str, marker: str, label: str | None, upright: bool) -> None:
    """The median with its spread; hollow where it is unsteady."""
    low, high = _ends(result)
    reach = [[max(result.median - low, 0.0)], [max(high - result.median, 0.0)]]
    where = ([place], [result.median]) if upright else ([result.median], [place])
    axes.errorbar(
        *where,
        **{"yerr" if upright else "xerr": reach},
        color=color,
        marker=marker,
        markersize=6,
        capsize=3,
        linewidth=1.2,
        linestyle="none",
        markerfacecolor="white" if unsteady(result) else color,
        label=label,
        zorder=3,
    )


def _ends(result: Figure) -> tuple[float, float]:
    """Between which samples lay: the middle half of them; of what is unsteady all."""
    median = result.median
    found = [median, *((result.worst or median, result.best or median) if unsteady(result) else result.quartiles or ())]
    return min(found), max(found)


def _logarithmic(axes: Any, way: str, unit: str) -> None:
    """A logarithmic axis with prefixes, and marks between where it spans little."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axis = axes.yaxis if way == "y" else axes.xaxis
    (axes.set_yscale if way == "y" else axes.set_xscale)("log")
    axis.set_major_locator(LogLocator(subs=(1.0, 3.0) if way == "y" else (1.0,), numticks=9))
    axis.set_minor_locator(LogLocator(subs=tuple(range(2, 10)), numticks=99))
    axis.set_minor_formatter(NullFormatter())
    _unit_of(axes, way, unit)


def _unit_of(axes: Any, way: str, unit: str) -> None:
    """Units that take a prefix stand at each mark, the others below the axis."""
    from matplotlib.ticker import EngFormatter, FuncFormatter

    axis, prefixed = (axes.yaxis if way == "y" else axes.xaxis), unit in _PREFIXED
    axis.set_major_formatter(EngFormatter(unit=unit) if prefixed else FuncFormatter(_plainly))
    if not prefixed:
        axis.set_label_text(unit, fontsize=8)


def _plainly(value: float, _place: int | None = None) -> str:
    """A number that stands before no unit: 0.5, 40, 1,500, 20 k, 1 M."""
    scale, prefix = (1e6, " M") if value >= 1e6 else (1e3, " k") if value >= 1e4 else (1.0, "")
    return f"{value / scale:,.4g}{prefix}"


def _plain(axes: Any) -> None:
    axes.grid(axis="both", color=_GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8, colors=_INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
