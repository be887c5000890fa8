"""The figure of splitting/ladder: completions over the number of jobs, and the ratio."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from experiments.captions import write_table
from experiments.declaration import Context
from experiments.drawing import plain_style, save_figure
from experiments.splitting.ladder import LADDER, predicted
from experiments.splitting.looks import LOOKS
from experiments.splitting.page import caption, panels, plain_axis, seconds_axis

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]

LINES = (("greedy", "greedy"), ("nfs", "NFS"), ("shared", "fast rungs shared"), ("opt", "OPT"))


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure to `destination` (.svg or .png) and its rows beside it."""
    write_table(rows, destination)
    table = rows.sort_values("jobs")
    open_ones = table[table["opt"].notna() & (table["opt_lower"] < table["opt"] * (1 - 1e-8))]
    how = (
        "The ladder of J jobs: job k may take links r_1..r_{k-1} with a total service of 1 s, or "
        "its own slow link r_k with 2^(k-1) (1 - eps) s; all else is free; eps = "
        f"{table['epsilon'].iloc[0]:g}. In the fictitious system. The greedy sends every job over "
        "its own link, since that ends a little earlier than behind all jobs before it. OPT: best "
        f"value found, for J up to {int(table[table['opt'].notna()]['jobs'].max()):d}, "
        f"{len(open_ones)} of them cut off after {table['time_limit'].max():g} s."
    )
    with plain_style():
        text = caption(rows, context, how, LADDER.claims)
        figure, axes = panels(2, "The ladder: where the greedy is exponentially bad", text)
        for look, (column, name) in zip(LOOKS, LINES, strict=True):
            shown = table[table[column].notna()]
            axes[0].plot(
                shown["jobs"], shown[column], label=name, markersize=4, linewidth=1.1, **look
            )
        seconds_axis(axes[0], "largest completion [s]")
        ratio = {"markersize": 4, **LOOKS[0], "linestyle": "none"}
        axes[1].plot(table["jobs"], table["ratio"], label="greedy over best known", **ratio)
        axes[1].plot(
            table["jobs"],
            [predicted(j, e) for j, e in zip(table["jobs"], table["epsilon"], strict=True)],
            color=LOOKS[2]["color"],
            linestyle=":",
            label="2^(J-1) (1 - eps) / J",
        )
        seconds_axis(axes[1], "ratio")
        for place in axes:
            plain_axis(place, table["jobs"].tolist(), "jobs J")
            place.legend(frameon=False, fontsize=6.5)
    save_figure(figure, destination)
