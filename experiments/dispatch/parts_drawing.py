"""The figures of dispatch/feedback and dispatch/anytime."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from experiments.captions import LINE, put_caption, write_table
from experiments.declaration import Context, Experiment
from experiments.dispatch.parts import ANYTIME, CAPS, ENGINES, FEEDBACK, PARTS, ROUNDS, TRACE
from experiments.drawing import INK, plain_style, save_figure
from experiments.intervals import mean_interval
from experiments.line_drawing import plot_means

if TYPE_CHECKING:
    import pandas

__all__ = ["draw_anytime", "draw_feedback"]

POLISHED = "#CC79A7"


def draw_feedback(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Gain over PRB by part, a panel per cap."""
    write_table(rows, destination)
    with plain_style():
        figure = Figure(figsize=(7.5, 3.2))
        foot = put_caption(figure, _caption(rows, context, FEEDBACK))
        height = float(figure.get_size_inches()[1])
        panels = figure.subplots(1, len(CAPS), sharey=True)
        figure.subplots_adjust(
            left=0.185, right=0.985, bottom=foot + 0.45 / height, top=1 - 0.55 / height, wspace=0.06
        )
        for axes, cap in zip(panels, CAPS, strict=True):
            _bars(axes, rows[rows["cap"] == cap])
            axes.set_title(f"cap {cap}", fontsize=8)
        title = "What each part of the hybrid brings"
        figure.text(0.02, 1 - 0.08 / height, title, fontsize=10, fontweight="bold", va="top")
    save_figure(figure, destination)


def _bars(axes: Any, rows: pandas.DataFrame) -> None:
    names = list(PARTS)
    for place, name in enumerate(names):
        gains = rows.loc[rows["part"] == name, "gain"].tolist()
        if not gains:
            continue
        mean, low, high = mean_interval(gains)
        colour = POLISHED if "polish" in name else "#56B4E9"
        axes.barh(place, mean, color=colour, height=0.7)
        axes.errorbar(
            mean, place, xerr=[[mean - low], [high - mean]], color=INK, elinewidth=0.8, capsize=2
        )
        axes.text(high, place, f" {mean:.1f}", va="center", fontsize=6.5)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("gain over PRB [%]")
    axes.grid(axis="x", color="#DDDDDD", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.margins(x=0.12)


def draw_anytime(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Gain over PRB against orders tried; before the first, that of the rounds."""
    write_table(rows, destination)
    with plain_style():
        figure = Figure(figsize=(7.5, 3.4))
        foot = put_caption(figure, _caption(rows, context, ANYTIME))
        height = float(figure.get_size_inches()[1])
        axes = figure.add_axes((0.085, foot + 0.45 / height, 0.9, 1 - foot - (0.45 + 0.6) / height))
        for engine in ("none", *ENGINES):
            own = rows[rows["engine"] == engine]
            samples = [own[f"gain_{orders}"] for orders in TRACE]
            plot_means(axes, list(TRACE), samples, f"engine-{engine}")
        axes.set_xscale("log")
        axes.set_xticks(TRACE, [f"{orders:,}" for orders in TRACE])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.set_xlabel("orders tried by the polish")
        axes.set_ylabel("gain over PRB [%]")
        axes.grid(axis="y", color="#DDDDDD", linewidth=0.5)
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="upper left", bbox_to_anchor=(0.075, 1 - 0.27 / height),
            ncols=len(labels), frameon=False, fontsize=7, handlelength=3.4, borderaxespad=0,
        )  # fmt: skip
        title = "How soon the hybrid is good, after each engine"
        figure.text(0.085, 1 - 0.08 / height, title, fontsize=10, fontweight="bold", va="top")
    save_figure(figure, destination)


def _caption(rows: pandas.DataFrame, context: Context, experiment: Experiment) -> str:
    text = (
        f"{'Quick grid. ' if context.quick else ''}Generated Eurora-like systems (jobs, power and "
        f"caps are our models), {rows['nodes'].iloc[0]:g} nodes, {rows['jobs'].iloc[0]:g} jobs, "
        f"all there at the start; {rows['seed'].nunique()} seeds; means with 95 % t intervals. "
        f"Up to {ROUNDS['rounds']} rounds (fewer if an engine finds nothing below the best plan), "
        f"{ROUNDS['draws']} lists each, or {ROUNDS['work']} s of CP-SAT's deterministic time."
    )
    lines = textwrap.wrap(text, LINE)
    for claim in experiment.claims:
        verdict = claim.verdict(rows)
        lines += textwrap.wrap(f"{claim.statement} {verdict.status.upper()}: {verdict.text}", LINE)
    return "\n".join(lines)
