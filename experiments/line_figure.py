"""Figures of means over an axis, one line per policy: what they show is declared here.

Nothing heavy is imported before a figure is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.declaration import Claim, Context

if TYPE_CHECKING:
    import pandas

__all__ = ["Caption", "LineFigure", "Panel"]


Caption = Callable[["pandas.DataFrame", Context, Sequence[Claim], str], str]


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes
    ----------
    y, ylabel : str
        Column of the rows, and its meaning with unit.
    minus : str
        If given, the line of this name minus each other line is shown, paired by seed.
    geometric : bool
        The mean is geometric and the scale logarithmic (for ratios).
    """

    y: str
    ylabel: str
    minus: str = ""
    geometric: bool = False


@dataclass(frozen=True)
class LineFigure:
    """A figure of means with 95 % intervals; call it to draw.

    Attributes
    ----------
    title : str
    x, xlabel : str
        Column of the horizontal axis, and its meaning with unit.
    panels : tuple of Panel
        One or two.
    caption : function (rows, context, claims, note) -> str, or its name
        How the rows were made, and the verdicts; lines of at most `captions.LINE` characters.
    claims : tuple of Claim
        Their verdicts are printed below.
    lines : str
        Column by which rows are split into lines.
    default : float or None
        Value of `x` where rows have none.
    derive : function (rows) -> rows, optional
        Applied first.
    note : str
        Added to the caption.
    """

    title: str
    x: str
    xlabel: str
    panels: tuple[Panel, ...]
    caption: Caption | str = field(kw_only=True)
    claims: tuple[Claim, ...] = ()
    lines: str = "policy"
    default: float | None = None
    derive: Callable[[pandas.DataFrame], pandas.DataFrame] | None = None
    note: str = ""

    def __call__(self, rows: pandas.DataFrame, destination: Path, context: Context) -> None:
        """Write the figure and, beside it, its rows as CSV."""
        from experiments.line_drawing import draw_lines

        draw_lines(self, rows, destination, context)
