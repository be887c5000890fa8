"""What the figures of the splitting family have in common: a row of panels over a caption."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from experiments.captions import LINE, put_caption
from experiments.declaration import Claim, Context
from models.splitting.generator import generate

if TYPE_CHECKING:
    import pandas

__all__ = ["assumed", "caption", "legend_above", "panels", "plain_axis", "seconds_axis"]


def assumed() -> str:
    """Our defaults where the paper is silent, as the generator states them (at gamma = 1)."""
    return f"Our defaults where the paper is silent: {'; '.join(generate(2, 1).report.assumptions)}"


def caption(
    rows: pandas.DataFrame, context: Context, text: str, claims: Sequence[Claim] = ()
) -> str:
    """Return the caption: how the rows were made, then every claim with its verdict.

    Parameters
    ----------
    rows : DataFrame
    context : Context
    text : str
        Ends with a full stop.
    claims : sequence of Claim
    """
    lines = textwrap.wrap(f"{'Quick grid. ' if context.quick else ''}{text}", LINE)
    for claim in claims:
        verdict = claim.verdict(rows)
        lines += textwrap.wrap(f"{claim.statement} {verdict.status.upper()}: {verdict.text}", LINE)
    return "\n".join(lines)


def panels(
    number: int, title: str, text: str, *, share_y: bool = False, legend: bool = False
) -> tuple[Figure, Any]:
    """Make a figure with panels side by side, its title and its caption.

    Parameters
    ----------
    number : int
        Of panels.
    title, text : str
    share_y : bool
        One scale for all panels.
    legend : bool
        Leave a line below the title for `legend_above`.

    Returns
    -------
    figure, axes
    """
    figure = Figure(figsize=(7.5, 3.2 if legend else 3.0))
    foot = put_caption(figure, text)
    height = float(figure.get_size_inches()[1])
    axes = figure.subplots(1, number, sharey=share_y, squeeze=False)[0]
    figure.subplots_adjust(
        left=0.085,
        right=0.985,
        bottom=foot + 0.45 / height,
        top=1 - (0.62 if legend else 0.4) / height,
        wspace=0.1 if share_y else 0.27,
    )
    figure.text(0.085, 1 - 0.08 / height, title, fontsize=10, fontweight="bold", va="top")
    return figure, axes


def legend_above(figure: Figure, axes: Any, columns: int = 6) -> None:
    """Put the legend of some axes below the title."""
    handles, texts = axes.get_legend_handles_labels()
    figure.legend(
        handles,
        texts,
        loc="upper left",
        bbox_to_anchor=(0.075, 1 - 0.27 / float(figure.get_size_inches()[1])),
        ncols=columns,
        frameon=False,
        fontsize=7,
        handlelength=3.4,
        borderaxespad=0,
    )


def seconds_axis(axes: Any, label: str) -> None:
    """Make the vertical axis logarithmic, with plain numbers."""
    from matplotlib.ticker import NullFormatter

    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel(label, labelpad=1)


def plain_axis(axes: Any, values: Sequence[float], label: str) -> None:
    """Mark the values of a horizontal axis, and draw a light grid."""
    axes.set_xticks(list(values), [f"{value:g}" for value in values])
    axes.set_xlabel(label)
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.5)
    axes.set_axisbelow(True)
