"""Heat maps over time: rows by name, slots joined to at most so many columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["COLUMNS", "averaged", "heat_map", "slot_edges"]

COLUMNS = 200
MOST_NAMES = 30
COLOURS = "cividis"  # told apart in grey and by the colour-blind

Reals = NDArray[np.float64]


def slot_edges(slots: int, columns: int = COLUMNS) -> NDArray[np.int64]:
    """First slots of the columns, and the number of slots at the end."""
    return np.linspace(0, slots, min(slots, columns) + 1).round().astype(np.int64)


def averaged(table: Reals, columns: int = COLUMNS) -> Reals:
    """Mean over the slots of each column, from shape (slots, rows) to (rows, columns)."""
    edges = slot_edges(len(table), columns)
    sums = np.add.reduceat(table, edges[:-1], axis=0)
    return np.asarray((sums / np.diff(edges)[:, np.newaxis]).T)


def heat_map(
    axes: Any, table: Reals, names: Sequence[str], extent: tuple[float, float], most: float | None
) -> Any:
    """Draw a table, shape (rows, columns), the first row at the top; return the image.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    table : array
    names : sequence of str
        Of the rows; every so-many-th is written where there are many.
    extent : (float, float)
        Of the horizontal axis.
    most : float or None
        Value of the brightest colour; None for the table's largest.
    """
    rows = len(names)
    image = axes.imshow(
        table,
        aspect="auto",
        interpolation="nearest",
        cmap=COLOURS,
        vmin=0.0,
        vmax=most if most is not None else max(float(table.max(initial=0.0)), 1e-300),
        extent=(*extent, rows - 0.5, -0.5),
    )
    step = max(1, -(-rows // MOST_NAMES))
    places = list(range(0, rows, step))
    axes.set_yticks(places, [_short(names[i]) for i in places], fontsize=6)
    axes.tick_params(axis="y", length=2)
    return image


def _short(name: str) -> str:
    return name if len(name) <= 12 else name[:11] + "~"
