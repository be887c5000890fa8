"""The figure of training/ratio-certified: an interval of the ratio for every policy and seed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.captions import put_caption, write_table
from experiments.declaration import Context
from experiments.drawing import INK, plain_style, save_figure
from experiments.policy_names import label
from experiments.training.points import COMPARED
from experiments.training.policy_caption import caption
from experiments.training.ratio_certified import BOUND, RATIO_CERTIFIED
from experiments.training.ratio_certified_verdict import BAND_END, intervals, ratios

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]

SEED, MEDIAN = "#9DB7CC", "#D55E00"
ROOM = 0.36  # of a row, above and below its middle, for the seeds


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure and, beside it, the table of its rows as CSV.

    Parameters
    ----------
    rows : pandas.DataFrame
    destination : Path
        Ends in .svg or .png.
    context : Context
    """
    table = rows.assign(lower=rows["utility"].where(rows["policy"] == BOUND))
    write_table(table, destination)
    sizes = sorted(set(rows["machines"]))
    names = list(COMPARED)[::-1]
    limit = rows[rows["policy"] == BOUND]["time_limit"].max()
    note = (
        "Ratio: what is known of the offline optimum over the policy's utility. Upper end: proved "
        f"by the optimum's search in {limit:g} s on one core (a slower machine leaves wider "
        "intervals); lower end: the best audited schedule of the seed, whoever found it. Thin: "
        "one seed; thick: median of the low ends to median of the high ends. An open triangle is "
        "a seed beyond the scale (the optimum known, the policy's utility near or at 0)."
    )
    runs = rows[rows["policy"] != BOUND]
    with plain_style():
        figure = Figure(figsize=(7.5, 3.9))
        text = caption(runs, context, (), note) + "\n" + _verdicts(rows)
        foot = put_caption(figure, text)
        axes = figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
        height = float(figure.get_size_inches()[1])
        figure.subplots_adjust(
            left=0.1, right=0.985, bottom=foot + 0.42 / height, top=1 - 0.85 / height, wspace=0.08
        )
        for place, machines in zip(axes, sizes, strict=True):
            _panel(place, rows, machines, names)
        axes[0].set_yticks(range(len(names)), [label(name) for name in names])
        figure.text(
            0.54,
            foot + 0.08 / height,
            "offline optimum / utility (1 = optimal), logarithmic",
            ha="center",
        )
        figure.text(
            0.02,
            1 - 0.08 / height,
            "Every policy against the certified optimum at full size",
            fontsize=10,
            fontweight="bold",
            va="top",
        )
        figure.legend(
            handles=[
                Line2D([], [], color=SEED, linewidth=1.2, label="one seed: interval of its ratio"),
                Line2D([], [], color=MEDIAN, linewidth=3.2, label="median low to median high end"),
                Line2D([], [], color=INK, linewidth=0.8, linestyle=":", label="the paper's 1.4"),
            ],
            loc="upper left",
            bbox_to_anchor=(0.01, 1 - 0.24 / height),
            ncols=3,
            fontsize=7,
            frameon=False,
        )
    save_figure(figure, destination)


def _panel(axes: Any, rows: pandas.DataFrame, machines: int, names: list[str]) -> None:
    """The ratios of all policies at one number of machines."""
    tables = {name: ratios(rows, machines, name) for name in names}
    ends = np.concatenate([table["low"].to_numpy() for table in tables.values()])
    finite = ends[np.isfinite(ends)]
    # Nine in ten of the intervals start within the scale, and every policy's median does.
    medians = [table["high"].median() for table in tables.values()]
    shown = [*(m for m in medians if np.isfinite(m)), float(np.quantile(finite, 0.9)), 1.5]
    top = max(shown) * 1.25
    for y, name in enumerate(names):
        table = tables[name].sort_values("low")
        heights = y + np.linspace(-ROOM, ROOM, max(len(table), 2))[: len(table)]
        for height, low, high in zip(heights, table["low"], table["high"], strict=True):
            if low >= top:
                axes.plot(top, height, marker=">", color=SEED, markersize=3, fillstyle="none")
                continue
            # A proved optimum is a point: half a thousandth is drawn for it to be seen.
            right = min(max(high, low * 1.004), top)
            axes.plot([low, right], [height, height], color=SEED, linewidth=1.2)
        low, high = float(table["low"].median()), float(table["high"].median())
        if low < top:
            right = min(max(high, low * 1.004), top)
            axes.plot([low, right], [y, y], color=MEDIAN, linewidth=3.2, solid_capstyle="butt")
        axes.annotate(
            f"{low:.2f}-{high:.2f}" if np.isfinite(low) else "infinite",
            (min(high, top), y),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=6.5,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.8},
        )
    axes.axvline(1, color=INK, linewidth=0.7)
    axes.axvline(BAND_END, color=INK, linewidth=0.8, linestyle=":")
    axes.set_xscale("log")
    axes.set_xlim(0.98, top * 1.28)
    marks = (1, 1.2, 1.5, 2, 3, 4, 6) if top < 8 else (1, 2, 3, 5, 10, 20, 50, 100)
    ticks = [v for v in marks if v <= top]
    axes.set_xticks(ticks, [f"{v:g}" for v in ticks])
    axes.minorticks_off()
    gap = intervals(rows, machines)["gap"]
    axes.set_title(
        f"H = {machines}\noptimum known within {100 * gap.median():.1f} % (median)", fontsize=8
    )
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.5)
    axes.set_axisbelow(True)


def _verdicts(rows: pandas.DataFrame) -> str:
    import textwrap

    from experiments.captions import LINE

    lines: list[str] = []
    for claim in RATIO_CERTIFIED.claims:
        verdict = claim.verdict(rows)
        lines += textwrap.wrap(f"{claim.statement} {verdict.status.upper()}: {verdict.text}", LINE)
    return "\n".join(lines)
