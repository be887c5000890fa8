"""The figures of dispatch/hybrid-prb and dispatch/cap."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from experiments.captions import LINE, put_caption, write_table
from experiments.declaration import Context, Experiment
from experiments.dispatch.plans import CAP, HYBRID_PRB, POLICIES, by_cap, by_jobs
from experiments.drawing import plain_style, save_figure
from experiments.line_drawing import plot_means

if TYPE_CHECKING:
    import pandas

__all__ = ["caption", "draw_caps", "draw_jobs"]


def draw_jobs(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Queue time over the length of the queue: hours, and above the bound."""
    shown = by_jobs(rows)
    _draw(
        rows,
        destination,
        context,
        HYBRID_PRB,
        (
            lambda axes: _lines(axes, shown, "jobs", "hours", (*POLICIES, "lower-bound")),
            lambda axes: _above_bound(axes, shown),
        ),
        ("weighted queue time [h per job]", "above the lower bound [%]"),
        "jobs in the queue",
        "Plans of a queue that is there at the start",
    )


def draw_caps(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Queue time, makespan, cores in use and peak power over the cap."""
    shown = by_cap(rows)

    def panel(metric: str, names: Sequence[str] = POLICIES) -> Callable[[Any], None]:
        return lambda axes: _lines(axes, shown, "cap", metric, names)

    _draw(
        rows,
        destination,
        context,
        CAP,
        (
            panel("hours", (*POLICIES, "lower-bound")),
            panel("makespan_hours"),
            panel("cores"),
            panel("peak_share"),
        ),
        (
            "weighted queue time [h per job]",
            "last end [h]",
            "cores in use [%]",
            "peak power [% of the cap]",
        ),
        "cap [% of busy power above idle]",
        "The cap from tight to loose",
    )


def _lines(axes: Any, rows: pandas.DataFrame, axis: str, metric: str, names: Sequence[str]) -> None:
    table = rows.pivot_table(index="seed", columns=["policy", axis], values=metric)
    values = sorted(rows[axis].unique())
    for name in names:
        there = [v for v in values if (name, v) in table]
        plot_means(axes, there, [table[name, v] for v in there], name)
    axes.set_xticks(values, [f"{v:g}" for v in values])
    if metric == "hours":
        _logarithmic(axes)
    else:
        axes.set_ylim(bottom=0)


def _logarithmic(axes: Any) -> None:
    """FCFS waits a hundred times longer than the others."""
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_formatter(lambda value, _: "")


def _above_bound(axes: Any, rows: pandas.DataFrame) -> None:
    table = rows.pivot_table(index="seed", columns=["policy", "jobs"], values="hours")
    values = sorted(rows["jobs"].unique())
    for name in POLICIES:
        above = [100 * (table[name, v] / table["lower-bound", v] - 1) for v in values]
        plot_means(axes, values, above, name)
    _logarithmic(axes)
    axes.set_xticks(values, [f"{v:g}" for v in values])


def _draw(
    rows: pandas.DataFrame,
    destination: Path,
    context: Context,
    experiment: Experiment,
    panels: Sequence[Callable[[Any], None]],
    ylabels: Sequence[str],
    xlabel: str,
    title: str,
) -> None:
    write_table(rows, destination)
    deep = (len(panels) + 1) // 2
    with plain_style():
        figure = Figure(figsize=(7.5, 0.9 + 2.3 * deep))
        foot = put_caption(figure, caption(rows, context, experiment))
        height = float(figure.get_size_inches()[1])
        places = figure.subplots(deep, 2, squeeze=False)
        figure.subplots_adjust(
            left=0.085, right=0.985, bottom=foot + 0.45 / height, top=1 - 0.6 / height,
            wspace=0.24, hspace=0.3,
        )  # fmt: skip
        for axes, panel, ylabel in zip(places.flat, panels, ylabels, strict=True):
            panel(axes)
            axes.set_xlabel(xlabel)
            axes.set_ylabel(ylabel)
            axes.grid(axis="y", color="#DDDDDD", linewidth=0.5)
            axes.set_axisbelow(True)
        handles, labels = places[0][0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="upper left", bbox_to_anchor=(0.075, 1 - 0.27 / height),
            ncols=len(labels), frameon=False, fontsize=7, handlelength=3.4, borderaxespad=0,
        )  # fmt: skip
        figure.text(0.085, 1 - 0.08 / height, title, fontsize=10, fontweight="bold", va="top")
    save_figure(figure, destination)


def caption(rows: pandas.DataFrame, context: Context, experiment: Experiment) -> str:
    """How the rows were made, and the verdicts."""
    orders = rows["polish"].max()
    text = (
        f"{'Quick grid. ' if context.quick else ''}Generated Eurora-like systems "
        f"(jobs, power and caps are our models), {rows['nodes'].iloc[0]:g} nodes, "
        f"cap {_listed(rows['cap'])}, {_listed(rows['jobs'])} jobs; "
        f"{rows['seed'].nunique()} seeds, the same queue for all; means with 95 % t intervals. "
        f"Hybrid: default parameters with {orders:g} orders in the polish. Bound: LP relaxation "
        "of the pooled time-indexed model in coarse, optimistic time; no schedule is below it."
    )
    lines = textwrap.wrap(text, LINE)
    for claim in experiment.claims:
        verdict = claim.verdict(rows)
        lines += textwrap.wrap(f"{claim.statement} {verdict.status.upper()}: {verdict.text}", LINE)
    return "\n".join(lines)


def _listed(values: pandas.Series) -> str:
    return ", ".join(str(value) for value in sorted(values.unique()))
