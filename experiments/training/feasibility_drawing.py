"""Draws training/feasibility."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from experiments.captions import LINE, put_caption, write_table
from experiments.declaration import Context
from experiments.drawing import INK, plain_style, save_figure
from experiments.training.feasibility import CLAIMS, crossings
from experiments.versions import versions

if TYPE_CHECKING:
    import pandas

__all__ = ["draw"]


def draw(rows: pandas.DataFrame, destination: Path, context: Context) -> None:
    """Write the figure and, beside it, its rows as CSV."""
    write_table(rows, destination)
    at = crossings(rows)
    lines = textwrap.wrap(
        "W_b = 15, r = 401, m = 1 as in the paper, G_delta of Lemma 1; exact, nothing is drawn. "
        f"Below the dashed line the lemma's cover guarantee says something. schedlab "
        f"{versions()['schedlab']}.",
        LINE,
    )
    for claim in CLAIMS:
        verdict = claim.verdict(rows)
        lines += textwrap.wrap(f"{claim.statement} {verdict.status.upper()}: {verdict.text}", LINE)
    with plain_style():
        figure = Figure(figsize=(7.5, 3.6))
        foot = put_caption(figure, "\n".join(lines))
        height = float(figure.get_size_inches()[1])
        axes = figure.add_subplot()
        figure.subplots_adjust(
            left=0.09, right=0.87, bottom=foot + 0.45 / height, top=1 - 0.4 / height
        )
        for cover, curve in rows.sort_values("delta").groupby("cover"):
            axes.plot(curve["delta"], curve["right_side"], color="#0072B2", linewidth=1.2)
            last = curve.iloc[-1]
            axes.text(
                last["delta"] * 1.01, last["right_side"], f"W_a = {cover}", va="center", fontsize=7
            )
        axes.plot(
            list(at.values()), list(at.values()), "o", color=INK, markersize=4, label="crossings"
        )
        deltas = sorted(set(rows["delta"]))
        axes.plot(deltas, deltas, "--", color=INK, linewidth=1.2, label="delta itself")
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_xlim(deltas[0], deltas[-1])
        axes.set_xlabel("delta")
        axes.set_ylabel("3m / exp(G W_a / 2)")
        axes.grid(color="#DDDDDD", linewidth=0.5)
        axes.legend(frameon=False, loc="lower left", fontsize=7)
        figure.text(
            0.09,
            1 - 0.08 / height,
            "When the cover guarantee of the rounding lemma is not vacuous",
            fontsize=10,
            fontweight="bold",
            va="top",
        )
    save_figure(figure, destination)
