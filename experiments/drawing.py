"""How all figures look, and how they are written: the same figure gives the same bytes."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.style
from matplotlib.figure import Figure

from models.files import InputError, write_atomic

__all__ = ["FILLS", "HATCHES", "INK", "ink_on", "plain_style", "save_figure"]

FILLS = (
    "#F0E442",
    "#0072B2",
    "#BBBBBB",
    "#D55E00",
    "#56B4E9",
    "#009E73",
    "#E69F00",
    "#CC79A7",
)
"""Okabe and Ito's colours, which most colour-blind readers can tell apart, without black. In this
order light and dark take turns, so that neighbours differ in grey too."""

HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----")
INK = "#222222"

DOTS_PER_INCH = 150
STYLE: dict[Any, Any] = {
    "font.size": 8.0,
    "axes.titlesize": 9.0,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "hatch.linewidth": 0.6,
    "text.parse_math": False,  # a $ in a job's name is a $
    "svg.hashsalt": "schedlab",
}


@contextmanager
def plain_style() -> Iterator[None]:
    """Draw with these settings whatever the user's matplotlibrc says, and restore theirs."""
    with (
        matplotlib.style.context("default"),
        matplotlib.rc_context(STYLE),
        warnings.catch_warnings(),
    ):
        # A name in a script that the font does not have is drawn as boxes.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def ink_on(fill: str) -> str:
    """Colour of text that is readable on a fill."""
    red, green, blue = (int(fill[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"


def save_figure(figure: Figure, path: str | Path, *, text: bool = False) -> None:
    """Write a figure as PNG or SVG, atomically, without date or version.

    Parameters
    ----------
    figure : Figure
    path : str or Path
    text : bool
        Keep text in an SVG as text, not as outlines: a page of text is then small and can be
        searched, but is set in the reader's font.

    Raises
    ------
    InputError
        If the path does not end in ``.png`` or ``.svg``, or cannot be written.
    """
    form = Path(path).suffix.lower().removeprefix(".")
    metadata = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
    if form not in metadata:
        raise InputError("must end in .png or .svg", source=str(path))
    content = io.BytesIO()
    with plain_style(), matplotlib.rc_context({"svg.fonttype": "none" if text else "path"}):
        figure.savefig(content, format=form, dpi=DOTS_PER_INCH, metadata=metadata[form])
    write_atomic(path, content.getvalue())
