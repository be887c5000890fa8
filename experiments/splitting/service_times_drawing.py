"""The figure of splitting/lp-ilp-time: times over J, and a job's paths on two networks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.captions import write_table
from experiments.declaration import Context
from experiments.drawing import plain_style, save_figure
from experiments.splitting.looks import line_of_means
from experiments.splitting.page import (
    assumed,
    caption,
    legend_above,
    panels,
    plain_axis,
    seconds_axis,
)
from experiments.splitting.service_times import METHODS, SERVICE_TIMES

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure to `destination` (.svg or .png) and its rows beside it."""
    write_table(rows, destination)
    how = (
        "Times: geometric means with 95 % t intervals over "
        f"{rows['seed'].nunique()} seeds, building the models included, machine shared with other "
        f"work; the ILPs are cut off after {rows['time_limit'].max():g} s of the solver, so their "
        "times are lower ends. Paths: of the better solution found, columns before arcs. "
        f"{assumed()}."
    )
    nodes = sorted(set(rows["nodes"].tolist()))
    jobs = sorted(set(rows["jobs"].tolist()))
    with plain_style():
        text = caption(rows, context, how, SERVICE_TIMES.claims)
        title = "(1)-(5): run times of the ILP and its LP, and how often paths come back"
        figure, axes = panels(len(nodes) + 1, title, text, legend=True)
        for place, n in zip(axes, nodes, strict=False):
            _times(place, rows[rows["nodes"] == n], jobs)
            place.set_title(f"N = {n}", fontsize=8)
        for look, n in enumerate(nodes):
            table = rows[rows["nodes"] == n]
            samples = [100 * table[table["jobs"] == j]["revisits"] / j for j in jobs]
            line_of_means(axes[-1], jobs, samples, look=look, name=f"N = {n}")
        low = min(place.get_ylim()[0] for place in axes[:-1])
        high = max(place.get_ylim()[1] for place in axes[:-1])
        for place in axes[:-1]:
            place.set_ylim(low, high)
        axes[0].set_ylabel("run time [s]")
        axes[-1].set_ylabel("jobs whose path comes back [%]")
        axes[-1].set_ylim(bottom=0)
        axes[-1].legend(frameon=False, fontsize=6.5)
        for place in axes:
            plain_axis(place, jobs, "jobs J")
        legend_above(figure, axes[0])
    save_figure(figure, destination)


def _times(axes: Any, rows: pandas.DataFrame, jobs: list[int]) -> None:
    for look, (method, name) in enumerate(METHODS.items()):
        samples = [rows[rows["jobs"] == j][f"{method}_seconds"] for j in jobs]
        line_of_means(axes, jobs, samples, look=look, name=name, geometric=True)
    seconds_axis(axes, "")
