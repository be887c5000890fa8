"""The figure of training/ratio: every ratio, per number of jobs, with the paper's band."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from experiments.declaration import Context
from experiments.drawing import INK, plain_style, save_figure
from experiments.training.ratio import BAND
from experiments.training.ratio_verdict import judge
from experiments.versions import versions
from models.files import write_atomic
from models.training.arrivals import WINDOW

if TYPE_CHECKING:
    import pandas

__all__ = ["COLUMNS", "draw"]

COLUMNS = (
    "jobs",
    "seed",
    "kind",
    "online",
    "lower",
    "upper",
    "ratio_low",
    "ratio_high",
    "theory",
    "dual",
    "possible",
    "impossible",
    "redraws",
    "completed",
    "rejected_price",
    "rejected_capacity",
    "rejected_rounding",
    "lps_solved",
)
BLUE, ORANGE, RED = "#0072B2", "#E69F00", "#D55E00"
JITTER = 0.28
LINE = 136  # characters of the caption


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure and, beside it, the table of its rows as CSV.

    Parameters
    ----------
    rows : pandas.DataFrame
        One row per instance, columns as in `experiments.training.ratio.RATIO`.
    destination : Path
        Ends in .svg or .png.
    context : Context
    """
    table = rows[list(COLUMNS)].sort_values(["jobs", "seed"])
    write_atomic(destination.with_suffix(".csv"), table.to_csv(index=False, float_format="%.9g"))
    with plain_style():
        figure = Figure(figsize=(7.5, 5.6))
        grid = figure.add_gridspec(
            2,
            2,
            height_ratios=(4.2, 1),
            width_ratios=(3.4, 1),
            top=0.88,
            bottom=0.25,
            left=0.08,
            right=0.985,
            hspace=0.09,
            wspace=0.3,
        )
        main = figure.add_subplot(grid[0, 0])
        counts = figure.add_subplot(grid[1, 0], sharex=main)
        theory = figure.add_subplot(grid[:, 1])
        _ratios(main, rows)
        _counts(counts, rows)
        _theory(theory, rows)
        figure.suptitle(
            "PD-ORS against the offline optimum, arrivals of the Google cluster trace",
            x=0.08,
            ha="left",
            fontsize=10,
            fontweight="bold",
        )
        figure.text(0.08, 0.012, _caption(rows, context), fontsize=6.6, va="bottom", wrap=False)
    save_figure(figure, destination)


def _ratios(axes: Any, rows: pandas.DataFrame) -> None:
    """Every ratio as a mark; medians; what is off the scale or not finite at the upper edge."""
    finite = rows[np.isfinite(rows["ratio_high"]) & (rows["kind"] != "empty")]
    # The scale shows nine ratios in ten; the others are drawn at its edge and said to be there.
    top = max(2.0, float(finite["ratio_high"].quantile(0.9)) * 1.15 if len(finite) else 2.0)
    axes.axhspan(*BAND, color="#DDDDDD", zorder=0, label="the paper's band 1.0-1.4")
    axes.axhline(1.0, color=INK, linewidth=0.6, zorder=1)
    above = 0
    for number, group in rows.groupby("jobs"):
        places = number + JITTER * _spread(len(group))
        for x, (_, row) in zip(places, group.sort_values("seed").iterrows(), strict=True):
            if row["kind"] == "empty":
                axes.plot(x, 1.0, marker="o", color="white", markeredgecolor=INK, markersize=3.5)
            elif not math.isfinite(row["ratio_low"]):
                axes.plot(x, top * 1.06, marker="^", color=RED, markersize=5, clip_on=False)
            elif row["ratio_low"] > top:
                axes.plot(x, top, marker="^", color=BLUE, markersize=3.5, fillstyle="none")
                above += 1
            elif row["kind"] == "proven":
                axes.plot(x, row["ratio_low"], marker="o", color=BLUE, markersize=3, alpha=0.75)
            else:
                axes.plot(
                    [x, x],
                    [row["ratio_low"], min(row["ratio_high"], top)],
                    color=ORANGE,
                    linewidth=2.0,
                    solid_capstyle="butt",
                )
        defined = group[group["kind"] != "empty"]
        if len(defined):
            median = float(defined["ratio_low"].median())
            axes.plot(
                [number - 0.36, number + 0.36],
                [min(median, top * 1.03)] * 2,
                color=INK,
                linewidth=1.8,
            )
    axes.set_ylim(0.95, top * 1.1)
    axes.set_ylabel("offline optimum / PD-ORS  (1 = optimal)")
    axes.tick_params(labelbottom=False)
    _legend(axes, above, top)


def _legend(axes: Any, above: int, top: float) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Patch(color="#DDDDDD", label="the paper's band, 1.0 to 1.4"),
        Line2D([], [], color=INK, linewidth=1.8, label="median (infinite ones included)"),
        Line2D([], [], marker="o", linestyle="", color=BLUE, markersize=3, label="proven ratio"),
        Line2D([], [], color=ORANGE, linewidth=2, label="optimum known as an interval"),
        Line2D(
            [],
            [],
            marker="^",
            linestyle="",
            color=RED,
            markersize=5,
            label="infinite: nothing completed",
        ),
    ]
    if above:
        handles.append(
            Line2D(
                [],
                [],
                marker="^",
                linestyle="",
                color=BLUE,
                markersize=3.5,
                fillstyle="none",
                label=f"above {top:.1f} ({above})",
            )
        )
    axes.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=3,
        fontsize=6.4,
        frameon=False,
        borderaxespad=0.2,
        handlelength=1.4,
        columnspacing=1.2,
    )


def _spread(count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.zeros(1) if count == 1 else np.linspace(-1, 1, count)


def _counts(axes: Any, rows: pandas.DataFrame) -> None:
    """How many instances of each kind, as numbers under the number of jobs."""
    labels = ("proven", "interval", "infinite", "empty")
    jobs = sorted(rows["jobs"].unique())
    for line, kind in enumerate(labels):
        for number in jobs:
            count = int(((rows["jobs"] == number) & (rows["kind"] == kind)).sum())
            axes.text(
                number,
                -line,
                str(count),
                ha="center",
                va="center",
                fontsize=7,
                color=INK if count else "#999999",
            )
    axes.set_yticks([-line for line in range(len(labels))], labels, fontsize=7)
    axes.set_ylim(-len(labels) + 0.4, 0.6)
    axes.set_xlim(min(jobs) - 0.6, max(jobs) + 0.6)
    axes.set_xticks(jobs)
    axes.set_xlabel("jobs I (instances of each kind above)")
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def _theory(axes: Any, rows: pandas.DataFrame) -> None:
    """The bound of Theorem 5 beside the ratios it bounds, on a logarithmic scale."""
    jobs = sorted(rows["jobs"].unique())
    bound = rows.groupby("jobs")["theory"].median()
    finite = rows[np.isfinite(rows["ratio_high"])]
    worst = finite.groupby("jobs")["ratio_low"].max()
    axes.semilogy(
        jobs,
        bound.loc[jobs],
        color=INK,
        marker="s",
        markersize=3,
        linewidth=1,
        label="bound of Theorem 5, median",
    )
    axes.semilogy(
        worst.index,
        worst,
        color=BLUE,
        marker="o",
        markersize=3,
        linewidth=1,
        linestyle="--",
        label="largest finite ratio, at least",
    )
    axes.legend(loc="lower left", bbox_to_anchor=(-0.3, 1.0), fontsize=6.4, frameon=False)
    axes.set_ylim(bottom=0.8)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xticks(jobs[::2])
    axes.set_xlabel("jobs I")


def _caption(rows: pandas.DataFrame, context: Context) -> str:
    import textwrap

    first = rows.iloc[0]
    # What comes after the source's name (how many submissions, minutes) is of one instance.
    source = str(first["arrivals_source"]).rpartition(": ")
    used = versions()
    text = (
        f"{'Quick grid. ' if context.quick else ''}Preset {first['preset']}, "
        f"T = {first['slots']}, H = {first['machines']}, seeds 0-{int(rows['seed'].max())}; "
        f"arrivals and classes: {source[0] or source[2]}, I of at most {WINDOW} consecutive "
        f"submissions stretched over the slots; everything else drawn. "
        f"slot = 1 h, b_ext ~ U[0.1, 4] Gbit/s, b_int = 10 b_ext (D10). PD-ORS: G = 1, S = 10, "
        f"Q = max(20, 4(T - a)). Optimum: {first['time_limit']:g} s per instance at most, "
        f"so a slower machine leaves more intervals. "
        f"Bound of Theorem 5: 6G/delta max(1, ln U/L) with delta = 0.1. "
        f"schedlab {used.get('schedlab', '?')}, HiGHS {used.get('highspy', '?')}, "
        f"numpy {used.get('numpy', '?')}."
    )
    verdict = judge(rows)
    return "\n".join(
        [*textwrap.wrap(text, LINE), *textwrap.wrap(f"{verdict.status}: {verdict.text}", LINE)]
    )
