"""Confidence intervals of means and of probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["binomial_interval", "mean_interval"]


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


def binomial_interval(count: int, draws: int, level: float = 0.95) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) interval of a probability.

    Parameters
    ----------
    count, draws : int
        How often it happened in how many independent draws; (0, 1) without draws.
    level : float
        Probability in (0, 1) with which the interval is to hold the true one, at least.
    """
    from scipy.special import betaincinv

    if draws == 0:
        return 0.0, 1.0
    tail = (1 - level) / 2
    low = float(betaincinv(count, draws - count + 1, tail)) if count > 0 else 0.0
    high = float(betaincinv(count + 1, draws - count, 1 - tail)) if count < draws else 1.0
    return low, high
