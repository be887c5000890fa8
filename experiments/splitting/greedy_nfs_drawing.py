"""The figure of splitting/greedy-nfs: three axes, one panel each."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from experiments.captions import LINE, put_caption, write_table
from experiments.declaration import Context
from experiments.drawing import INK, plain_style, save_figure
from experiments.line_drawing import plot_means
from experiments.splitting.greedy_nfs import AXES, GREEDY_NFS, along
from models.splitting.generator import generate

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]

LABELS = {"gamma": "gamma (factor on link rates)", "nodes": "nodes N", "jobs": "jobs J"}


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure to `destination` (.svg or .png) and its rows beside it."""
    write_table(rows, destination)
    with plain_style():
        figure = Figure(figsize=(7.5, 3.0))
        foot = put_caption(figure, _caption(rows, context))
        height = float(figure.get_size_inches()[1])
        panels = figure.subplots(1, len(AXES), sharey=True)
        figure.subplots_adjust(
            left=0.085, right=0.985, bottom=foot + 0.45 / height, top=1 - 0.4 / height, wspace=0.1
        )
        for axes, axis in zip(panels, AXES, strict=True):
            table = along(rows, axis)
            plot_means(axes, list(table), [table[v] for v in table], "default")
            axes.set_xticks(list(table), [f"{v:g}" for v in table])
            axes.axhline(0, color=INK, linewidth=0.7)
            axes.set_xlabel(LABELS[axis])
            axes.grid(axis="y", color="#DDDDDD", linewidth=0.5)
        panels[0].set_ylabel("NFS later than the greedy [%]")
        title = "Node-first selection (NFS) against the greedy: largest completion"
        figure.text(0.085, 1 - 0.08 / height, title, fontsize=10, fontweight="bold", va="top")
    save_figure(figure, destination)


def _caption(rows: pandas.DataFrame, context: Context) -> str:
    base = {name: rows[name].mode().iloc[0] for name in AXES}
    assumed = generate(2, 1).report.assumptions
    text = (
        f"{'Quick grid. ' if context.quick else ''}One axis varies at a time around "
        f"N = {base['nodes']:g}, J = {base['jobs']:g}, gamma = {base['gamma']:g}; "
        f"{rows['seed'].nunique()} seeds, the same instance for both; means with 95 % t "
        "intervals. Completion in the fictitious system (an upper bound of the real one). Our "
        f"defaults where the paper is silent (at gamma = 1): {'; '.join(assumed)}."
    )
    lines = textwrap.wrap(text, LINE)
    for claim in GREEDY_NFS.claims:
        verdict = claim.verdict(rows)
        lines += textwrap.wrap(f"{claim.statement} {verdict.status.upper()}: {verdict.text}", LINE)
    return "\n".join(lines)
