"""Figures of small panels: lines of means with intervals, described before they are drawn."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.captions import LINE, line_style, put_caption, write_table
from experiments.declaration import Claim
from experiments.drawing import INK, plain_style, save_figure
from experiments.policy_names import label

if TYPE_CHECKING:
    import pandas

__all__ = ["Line", "Panel", "caption", "draw_panels"]


@dataclass(frozen=True)
class Line:
    """A line of means over samples, or a plain curve where each sample is one number.

    Attributes
    ----------
    name : str
        Its style and label are looked up by it.
    places : sequence of float
    samples : sequence of series
        One per place.
    """

    name: str
    places: Sequence[float]
    samples: Sequence[pandas.Series]


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes
    ----------
    title, xlabel, ylabel : str
    lines : sequence of Line
    ticks : mapping of place to text, optional
        Of the horizontal axis.
    logx, logy : bool
    level : float, optional
        Where a thin horizontal line goes.
    joined : bool
        Whether a line goes from place to place; not where places are kinds.
    wide : bool
        The vertical axis is linear up to 1 and logarithmic beyond, on both sides of 0.
    """

    title: str
    xlabel: str
    ylabel: str
    lines: Sequence[Line]
    ticks: dict[float, str] = field(default_factory=dict)
    logx: bool = False
    logy: bool = False
    level: float | None = None
    joined: bool = True
    wide: bool = False


def caption(text: str, claims: Iterable[Claim], rows: pandas.DataFrame) -> str:
    """Return a caption in lines: how the rows were made, then what the claims came to."""
    lines = textwrap.wrap(text, LINE)
    for claim in claims:
        verdict = claim.verdict(rows)
        lines += textwrap.wrap(f"{claim.statement} {verdict.status.upper()}: {verdict.text}", LINE)
    return "\n".join(lines)


def draw_panels(
    title: str,
    panels: Sequence[Panel],
    text: str,
    rows: pandas.DataFrame,
    destination: Path,
    *,
    columns: int = 0,
    sharey: bool = False,
) -> None:
    """Write a figure of panels, `columns` in a row, and the rows beside it."""
    from matplotlib.figure import Figure

    write_table(rows, destination)
    columns = columns or len(panels)
    grid = -(-len(panels) // columns)
    with plain_style():
        figure = Figure(figsize=(7.5, 0.75 + 2.4 * grid))
        foot = put_caption(figure, text)
        height = float(figure.get_size_inches()[1])
        places = figure.subplots(grid, columns, squeeze=False, sharey=sharey).ravel()
        figure.subplots_adjust(
            left=0.085,
            right=0.985,
            bottom=foot + 0.45 / height,
            top=1 - 0.8 / height,
            wspace=0.12 if sharey else 0.36,
            hspace=0.5,
        )
        shown: dict[str, Any] = {}
        alike = len({panel.ylabel for panel in panels}) == 1
        for place, (axes, panel) in enumerate(zip(places, panels, strict=False)):
            _panel(axes, panel, first=place % columns == 0 or not alike)
            for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
                shown.setdefault(name, handle)
        for axes in places[len(panels) :]:
            axes.set_visible(False)
        figure.legend(
            shown.values(),
            shown.keys(),
            loc="upper left",
            bbox_to_anchor=(0.075, 1 - 0.27 / height),
            ncols=min(len(shown), 6),
            frameon=False,
            fontsize=7,
            handlelength=3.2,
            borderaxespad=0,
        )
        figure.text(0.02, 1 - 0.08 / height, title, fontsize=10, fontweight="bold", va="top")
    save_figure(figure, destination)


def _panel(axes: Any, panel: Panel, first: bool) -> None:
    from matplotlib.ticker import NullLocator

    from experiments.line_drawing import plot_means

    for line in panel.lines:
        if all(len(sample) <= 1 for sample in line.samples):
            values = [float(sample.iloc[0]) for sample in line.samples]
            style = {**line_style(line.name), "marker": ""}
            axes.plot(line.places, values, label=label(line.name), **style)
        else:
            plot_means(axes, list(line.places), list(line.samples), line.name)
    if panel.logx:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(_power)
        axes.xaxis.set_minor_formatter("")
    if panel.logy:
        axes.set_yscale("log", nonpositive="clip")
        axes.yaxis.set_major_formatter(_power)
        axes.yaxis.set_minor_formatter("")
    if panel.wide:
        axes.set_yscale("symlog", linthresh=1.0, linscale=1.5)
        axes.set_yticks(_wide_ticks(*axes.get_ylim()))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.yaxis.set_minor_locator(NullLocator())
    if not panel.joined:
        for container in axes.containers:
            container[0].set_linestyle("")
    if panel.ticks:
        axes.set_xticks(list(panel.ticks), list(panel.ticks.values()))
        axes.minorticks_off()
    if panel.level is not None:
        axes.axhline(panel.level, color=INK, linewidth=0.7)
    axes.set_title(panel.title, loc="left", fontsize=8)
    axes.set_xlabel(panel.xlabel)
    if first:
        axes.set_ylabel(panel.ylabel)
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.5)
    axes.set_axisbelow(True)


def _power(value: float, _: int | None = None) -> str:
    """100, 1e4: powers of ten are short, and no formula."""
    return f"{value:g}" if 1e-3 <= value < 1e4 else f"{value:.0e}".replace("e+0", "e")


def _wide_ticks(low: float, high: float) -> list[float]:
    ticks = [0.0, 0.5, 1.0]
    power = 1.0
    while power < max(-low, high):
        ticks += [3 * power, 10 * power, -power, -3 * power, -10 * power]
        power *= 10
    return [tick for tick in sorted(set(ticks)) if low <= tick <= high]
