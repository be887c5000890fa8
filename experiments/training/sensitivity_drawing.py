"""Draws training/sensitivity."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from experiments.captions import LINE, put_caption, write_table
from experiments.declaration import Context
from experiments.drawing import plain_style, save_figure
from experiments.line_drawing import plot_means
from experiments.training.sensitivity import SWEEPS, Sweep, base, rows_of
from experiments.versions import versions

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]

COLUMNS = 3
DODGE = 0.09


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure and, beside it, its rows as CSV."""
    write_table(rows, destination)
    setting = base(context.quick)
    used = versions()
    text = (
        f"{'Quick grid. ' if context.quick else ''}Preset calibrated, I = {setting['jobs']}, "
        f"T = {setting['slots']}, H = {setting['machines']}, {rows['seed'].nunique()} seeds, the "
        "same jobs along each panel (drawn at the base, then changed), b_int = 10 b_ext, mix "
        "10/55/35 %, G = 1, S = 10, Q = max(20, 4(T - a)) unless the panel says otherwise. Means "
        "of the total utility with 95 % t intervals over seeds. Under each tick: impossible jobs "
        "per run (D5). Slot = 1 h, b_ext ~ U[0.1, 4] Gbit/s (D10); sample times are given in "
        "slots, so a slot k times as long is k times the bandwidth. ln(U/L) follows from the jobs, "
        f"or U stays and L is set by it. schedlab {used['schedlab']}, HiGHS {used['highspy']}, "
        f"numpy {used['numpy']}."
    )
    with plain_style():
        figure = Figure(figsize=(7.5, 8.6))
        foot = put_caption(figure, "\n".join(textwrap.wrap(text, LINE)))
        height = float(figure.get_size_inches()[1])
        grid = figure.subplots(-(-len(SWEEPS) // COLUMNS), COLUMNS, sharey="row")
        figure.subplots_adjust(
            left=0.08,
            right=0.985,
            bottom=foot + 0.5 / height,
            top=1 - 0.75 / height,
            wspace=0.08,
            hspace=0.55,
        )
        for axes in grid.flat[len(SWEEPS) :]:
            axes.set_axis_off()
        for axes, sweep in zip(grid.flat, SWEEPS, strict=False):
            _panel(axes, sweep, rows, context.quick)
        for axes in grid[:, 0]:
            axes.set_ylabel("total utility")
            axes.set_ylim(bottom=0)  # shared by the row, so only after all panels are drawn
        longest = max(SWEEPS, key=lambda sweep: len(sweep.policies))
        handles, texts = grid.flat[SWEEPS.index(longest)].get_legend_handles_labels()
        figure.legend(
            handles,
            texts,
            loc="upper left",
            bbox_to_anchor=(0.07, 1 - 0.27 / height),
            ncols=7,
            frameon=False,
            fontsize=7,
            handlelength=3.4,
            borderaxespad=0,
        )
        figure.text(
            0.08,
            1 - 0.08 / height,
            "Sensitivity of PD-ORS",
            fontsize=10,
            fontweight="bold",
            va="top",
        )
    save_figure(figure, destination)


def _panel(axes: Any, sweep: Sweep, rows: pandas.DataFrame, quick: bool) -> None:
    ticks = []
    for place, (value, text) in enumerate(sweep.values.items()):
        point = rows_of(rows, sweep.parameters("pdors", value, quick))
        ticks.append(f"{text}\n({point['impossible'].mean():.2g})" if len(point) else text)
        if value == sweep.default:
            axes.axvspan(place - 0.35, place + 0.35, color="#EEEEEE", zorder=0)
    for line, policy in enumerate(sweep.policies):
        found = [
            rows_of(rows, sweep.parameters(policy, value, quick))["utility"]
            for value in sweep.values
        ]
        shift = (line - (len(sweep.policies) - 1) / 2) * DODGE
        plot_means(axes, [place + shift for place in range(len(found))], found, policy)
    axes.set_title(sweep.title, fontsize=8)
    axes.set_xticks(range(len(ticks)), ticks, fontsize=7)
    axes.set_xlim(-0.6, len(ticks) - 0.4)
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.5)
    axes.set_axisbelow(True)
