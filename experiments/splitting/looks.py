"""Colours, markers and dashes of the splitting figures' lines, and how they are drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.drawing import INK
from experiments.intervals import mean_interval

if TYPE_CHECKING:
    import pandas

__all__ = ["LOOKS", "line_of_means"]

# Okabe and Ito's colours; markers and dashes tell the lines apart in grey too.
LOOKS: tuple[dict[str, Any], ...] = (
    {"color": INK, "marker": "o", "linestyle": "-"},
    {"color": "#0072B2", "marker": "s", "linestyle": "--"},
    {"color": "#D55E00", "marker": "v", "linestyle": ":"},
    {"color": "#009E73", "marker": "^", "linestyle": "-."},
)


def line_of_means(
    axes: Any,
    places: Sequence[float],
    samples: Sequence[pandas.Series],
    *,
    look: int = 0,
    name: str = "",
    geometric: bool = False,
    **style: Any,
) -> None:
    """Draw means with 95 % t intervals as one line.

    Parameters
    ----------
    axes : matplotlib axes
    places : sequence of float
    samples : sequence of Series
        One per place; what is missing is left out.
    look : int
        Which of `LOOKS`.
    name : str
        In the legend.
    geometric : bool
        Geometric means, for times and ratios.
    **style
        Of matplotlib, over the look's.
    """
    centres, below, above = [], [], []
    for sample in samples:
        values = sample.dropna().to_numpy(dtype=float)
        if geometric:
            values = np.log(values)
        mean, low, high = mean_interval(values.tolist()) if len(values) else (math.nan,) * 3
        if geometric:
            mean, low, high = math.exp(mean), math.exp(low), math.exp(high)
        centres.append(mean)
        below.append(0.0 if math.isnan(low) else mean - low)
        above.append(0.0 if math.isnan(high) else high - mean)
    axes.errorbar(
        list(places),
        centres,
        yerr=(below, above),
        label=name or None,
        **{
            "markersize": 3.5,
            "linewidth": 1.1,
            "elinewidth": 0.7,
            "capsize": 1.8,
            "capthick": 0.7,
            **LOOKS[look % len(LOOKS)],
            **style,
        },
    )
