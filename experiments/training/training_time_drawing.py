"""Draws training/training-time: medians, and beside them how many jobs are not finished at all."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from experiments.captions import line_style, put_caption, write_table
from experiments.declaration import Context
from experiments.drawing import plain_style, save_figure
from experiments.intervals import mean_interval
from experiments.policy_names import label
from experiments.training.policy_caption import caption
from experiments.training.training_time import CLAIMS

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure and, beside it, its rows as CSV."""
    write_table(rows, destination)
    note = "Impossible jobs are left out; an unfinished job counts T slots. Small dots: seeds."
    with plain_style():
        figure = Figure(figsize=(7.5, 2.9))
        foot = put_caption(figure, caption(rows, context, CLAIMS, note))
        height = float(figure.get_size_inches()[1])
        left, right = figure.subplots(1, 2, sharey=True)
        figure.subplots_adjust(
            left=0.1, right=0.98, bottom=foot + 0.45 / height, top=1 - 0.4 / height, wspace=0.08
        )
        names = list(dict.fromkeys(rows["policy"]))
        _intervals(left, rows, names, "median_time", 1.0)
        _intervals(right, rows, names, "unfinished_share", 100.0)
        left.set_yticks(range(len(names)), [label(name) for name in names])
        left.set_ylim(len(names) - 0.45, -0.65)
        left.set_xlim(0, float(rows["slots"].max()) * 1.02)
        right.set_xlim(0, 100)
        left.set_xlabel("median of completion - arrival [slots]")
        right.set_xlabel("unfinished possible jobs [%]")
        figure.text(
            0.1,
            1 - 0.08 / height,
            "Actual training time, and the jobs that are not finished",
            fontsize=10,
            fontweight="bold",
            va="top",
        )
    save_figure(figure, destination)


def _intervals(
    axes: Any, rows: pandas.DataFrame, names: list[str], column: str, unit: float
) -> None:
    for place, name in enumerate(names):
        values = [unit * float(v) for v in rows[rows["policy"] == name][column].dropna()]
        if not values:
            continue
        mean, low, high = mean_interval(values)
        axes.plot(values, [place + 0.22] * len(values), ".", color="#999999", markersize=2.5)
        style = {**line_style(name), "linestyle": "", "markersize": 5}
        reach = None if math.isnan(low) else [[mean - low], [high - mean]]
        axes.errorbar([mean], [place], xerr=reach, capsize=2.5, elinewidth=1.2, **style)
        axes.text(mean, place - 0.18, f"{mean:.3g}", ha="center", va="bottom", fontsize=6.5)
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.5)
    axes.set_axisbelow(True)
