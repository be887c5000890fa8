"""The figure of splitting/greedy-optimal: gaps and run times over J, a line per N."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.captions import write_table
from experiments.declaration import Context
from experiments.drawing import INK, plain_style, save_figure
from experiments.splitting.greedy_optimal import GREEDY_OPTIMAL, MOST
from experiments.splitting.looks import line_of_means
from experiments.splitting.page import assumed, caption, panels, plain_axis, seconds_axis

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]

PROVED: dict[str, Any] = {"markerfacecolor": "white", "linewidth": 0.6}


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure to `destination` (.svg or .png) and its rows beside it."""
    write_table(rows, destination)
    how = (
        f"OPT starts from the better of the greedy and NFS and is cut off after "
        f"{rows['time_limit'].max():g} s: the gap lies between that to the best value it found "
        "(full lines) and that to the bound it proved (thin lines, open markers); means with "
        "95 % t intervals. Completions of the fictitious system. Times: geometric means over "
        "the instances whose program could be built in that time, building included, machine "
        f"shared with other work. {rows['seed'].nunique()} seeds. "
        f"{assumed()}."
    )
    with plain_style():
        text = caption(rows, context, how, GREEDY_OPTIMAL.claims)
        figure, axes = panels(2, "The greedy against OPT: largest completion and run time", text)
        jobs = sorted(set(rows["jobs"].tolist()))
        for look, (nodes, table) in enumerate(rows.groupby("nodes")):
            cells = [table[table["jobs"] == j] for j in jobs]
            shift = 0.08 * (look - 0.5)
            places = [j + shift for j in jobs]
            for panel, column, name, style in (
                (0, "gap", f"N = {nodes}, found", {}),
                (0, "gap_high", f"N = {nodes}, proved", PROVED),
                (1, "opt_seconds", f"OPT, N = {nodes}", {}),
                (1, "greedy_seconds", f"greedy, N = {nodes}", PROVED),
            ):
                samples = [cell[column] for cell in cells]
                geometric = panel == 1
                line_of_means(
                    axes[panel],
                    places,
                    samples,
                    look=look,
                    name=name,
                    geometric=geometric,
                    **style,
                )
        axes[0].axhline(MOST, color=INK, linewidth=0.7, linestyle=":")
        axes[0].annotate(
            "7 % (paper)", (jobs[0], MOST), xytext=(0, 2), textcoords="offset points", fontsize=6.5
        )
        axes[0].set_ylabel("greedy later than OPT [%]")
        axes[0].set_ylim(bottom=0)
        seconds_axis(axes[1], "run time [s]")
        for place in axes:
            plain_axis(place, jobs, "jobs J")
            place.legend(frameon=False, fontsize=6.5)
    save_figure(figure, destination)
