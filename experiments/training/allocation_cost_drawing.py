"""Draws training/allocation-cost: the relationship along runs, with the places where it fails."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from algorithms.training.theory.allocation_cost import share_at_equality
from experiments.captions import LINE, put_caption, write_table
from experiments.declaration import Context
from experiments.drawing import INK, plain_style, save_figure
from experiments.training.theory_lines import line_of
from experiments.training.theory_names import RELATION_LINES
from experiments.versions import versions

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]

FLOOR = 1e-6
GREEN, RED = "#009E73", "#D55E00"


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure and, beside it, its rows as CSV."""
    runs = rows[rows["part"] == "run"]
    kept = runs.drop(columns=[name for name in runs if str(name).startswith("slots_")])
    write_table(kept, destination)
    largest = runs[runs["machines"] == runs["machines"].max()].sort_values("seed")
    steps = {int(r["seed"]): json.loads(r["along"]) for _, r in largest.iterrows()}
    with plain_style():
        figure = Figure(figsize=(8.2, 3.7))
        foot = put_caption(figure, _caption(rows, largest, context))
        height = float(figure.get_size_inches()[1])
        axes = figure.subplots(1, 3)
        figure.subplots_adjust(
            left=0.085, right=0.985, wspace=0.4, bottom=foot + 0.45 / height, top=1 - 0.62 / height
        )
        shown = max(steps, key=lambda seed: len(steps[seed])) if steps else None
        if shown is not None:
            _along(axes[0], steps[shown], shown)
        _by_share(
            axes[1], steps, float(largest["epsilon"].median()), float(largest["delta"].iloc[0])
        )
        _jobs(axes[2], steps)
        figure.text(
            0.02,
            1 - 0.07 / height,
            "The allocation-cost relationship of the proof, along PD-ORS runs",
            fontsize=10,
            fontweight="bold",
            va="top",
        )
    save_figure(figure, destination)


def _clip(value: float) -> float:
    return max(value, FLOOR)


def _limit(axes: Any) -> None:
    axes.axhline(1.0, color=INK, linewidth=0.9)
    axes.set_yscale("log")
    axes.set_ylim(FLOOR * 0.5, 100)
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.grid(color="#E4E4E4", linewidth=0.5)


def _along(axes: Any, steps: list[list[float]], seed: int) -> None:
    """One run: the range from worst to median cell of each admitted job."""
    for order, cells, failing, worst, median, _, _ in steps:
        low, middle = _clip(worst), _clip(median)
        axes.plot([order, order], [low, middle], color="#888888", linewidth=1.2)
        axes.plot(order, middle, marker="_", color=INK, markersize=8)
        broken = failing > 0
        axes.plot(
            order, low, marker="X" if broken else "o", color=RED if broken else GREEN, markersize=5
        )
        axes.annotate(
            f"{int(failing)}/{int(cells)}",
            (order, middle),
            textcoords="offset points",
            xytext=(0, 4),
            fontsize=5.2,
            ha="center",
        )
    _limit(axes)
    axes.set_xlabel(f"decision of the run (seed {seed})")
    axes.set_ylabel("left / right side, median to worst")
    axes.set_title("one run; failing cells / cells", fontsize=8)


def _by_share(axes: Any, steps: dict[int, list[list[float]]], epsilon: float, delta: float) -> None:
    """Worst cell of every admitted job against the share of a machine that it takes."""
    taken = [(s[5], _clip(s[3])) for run in steps.values() for s in run]
    for x, y in taken:
        axes.plot(x, y, "X" if y < 1 else "o", color=RED if y < 1 else GREEN, markersize=3.5)
    z = np.geomspace(0.003, 1.0, 200)
    factor = delta / 3
    exact = epsilon * z / (factor * np.expm1(epsilon * z))
    axes.plot(z, np.maximum(exact, FLOOR), color=INK, linewidth=1.2, label="k z / (f (e^kz - 1))")
    axes.axvline(share_at_equality(epsilon, factor), color=INK, linewidth=0.8, linestyle="--")
    _limit(axes)
    axes.set_xlim(0, 1.03)
    axes.set_xlabel("largest share z of a capacity taken at once")
    axes.set_ylabel("left / right side, worst cell")
    axes.set_title("all runs; line: r of largest ln U/L", fontsize=8)
    axes.legend(frameon=False, fontsize=6, loc="upper right")


def _jobs(axes: Any, steps: dict[int, list[list[float]]]) -> None:
    """Increase of P over the promised part of the increase of D, sorted."""
    ratios = np.sort([max(s[6], 1e-3) for run in steps.values() for s in run])
    place = np.arange(1, len(ratios) + 1) / max(len(ratios), 1)
    fails = ratios < 1
    axes.plot(place[fails], ratios[fails], "X", color=RED, markersize=3.5, label="fails")
    axes.plot(place[~fails], ratios[~fails], "o", color=GREEN, markersize=3, label="holds")
    _limit(axes)
    axes.set_ylim(1e-3, 1e4)
    axes.set_xlabel("part of the admitted jobs, sorted")
    axes.set_ylabel("dP / (delta/(3G eps) dD)")
    axes.set_title("step of P against step of D", fontsize=8)
    axes.legend(frameon=False, fontsize=6.5, loc="lower right")


def _caption(rows: pandas.DataFrame, largest: pandas.DataFrame, context: Context) -> str:
    used = versions()
    first = largest.iloc[0]
    text = (
        f"{'Quick grid. ' if context.quick else ''}PD-ORS, G = 1, delta = {first['delta']:g}, "
        f"preset {first['preset']}, arrivals of the Google trace, I = {first['jobs']:g}, T = "
        f"{first['slots']:g}, H = {first['machines']:g}, {largest['seed'].nunique()} seeds, "
        f"{int(largest['impossible'].sum())} impossible jobs. Below 1 the relationship fails; "
        f"values below {FLOOR:g} are drawn there. Left of the dashed line a step is small enough "
        f"(median ln U/L = {largest['epsilon'].median():.0f}). schedlab {used['schedlab']}, HiGHS "
        f"{used['highspy']}."
    )
    lines = textwrap.wrap(text, LINE)
    for name in RELATION_LINES:
        line = line_of(name, rows)
        lines += textwrap.wrap(f"{line.promise} {line.verdict.upper()}: {line.observed}.", LINE)
    return "\n".join(lines)
