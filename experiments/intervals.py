"""Confidence intervals of means."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["mean_interval"]


def mean_interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float, float]:
    """Return a mean with its Student t interval.

    Parameters
    ----------
    values : sequence of float
        Independent measurements, at least one.
    level : float
        Probability in (0, 1) with which the interval is to hold the mean.

    Returns
    -------
    mean, low, high : float
        low and high are NaN for a single measurement, which says nothing about the spread.
    """
    from scipy.special import stdtrit

    n = len(values)
    mean = math.fsum(values) / n
    if n == 1:
        return mean, math.nan, math.nan
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    half = float(stdtrit(n - 1, (1 + level) / 2)) * deviation / math.sqrt(n)
    return mean, mean - half, mean + half
