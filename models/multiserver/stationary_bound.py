r"""An upper bound of (10) by duality, in our own arithmetic: no solver is trusted.

For any weights :math:`w_{lk} \ge 0` with :math:`\sum_k w_{lk} \le 1` the overhead is at least
:math:`\sum_k w_{lk} \beta_k S_{lk}`, and a gain is at most any average of its tangents. What is
left is linear in y; its largest value within (5) and (6) is a fractional knapsack for every
(r, k). The multipliers of the LP make the bound as good as the LP's own.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from models.multiserver.gains import gain_slope, gain_value
from models.multiserver.stationary_lp import StationaryProblem

__all__ = ["knapsack_value", "linear_bound"]

Reals = NDArray[np.float64]


def linear_bound(problem: StationaryProblem, constant: Reals, slope: Reals, felt: Reals) -> float:
    """Return an upper bound of (10).

    Parameters
    ----------
    problem : StationaryProblem
    constant, slope : array, shape (terms,)
        A line above each gain function.
    felt : array, shape (ports, resources)
        w_lk.
    """
    layout = problem.layout
    weights = problem.weight * slope
    prices = problem.jobs[:, np.newaxis] * felt * layout.overhead
    worth = weights[problem.term] - prices[layout.port]
    value = knapsack_value(problem, worth)
    return math.fsum([*(problem.weight * constant)]) + value


def knapsack_value(problem: StationaryProblem, worth: Reals) -> float:
    """Return the largest sum of worth * y within (5) and (6): the dearest first, by (r, k)."""
    layout = problem.layout
    parts = []
    for r in range(len(layout.capacity)):
        rows = slice(layout.first[r], layout.first[r + 1])
        own = np.maximum(worth[rows], 0.0)
        order = np.argsort(-own, axis=0, kind="stable")
        amount = np.take_along_axis(problem.most[rows], order, axis=0)
        before = np.cumsum(amount, axis=0) - amount
        taken = np.clip(layout.capacity[r] - before, 0.0, amount)
        parts.append(float((taken * np.take_along_axis(own, order, axis=0)).sum()))
    return math.fsum(parts)


def average_tangent(kind: int, scale: float, at: Reals, multipliers: Reals) -> tuple[float, float]:
    """Return constant and slope of an average of tangents of one gain function."""
    total = multipliers.sum()
    share = multipliers / total if total > 0 else np.full(len(at), 1 / len(at))
    slopes = gain_slope(kind, scale, at)
    constants = gain_value(kind, scale, at) - slopes * at
    return float(share @ constants), float(share @ slopes)
