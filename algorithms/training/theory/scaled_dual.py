"""A tighter dual bound from the same run: any prices bound the optimum, so scale the final ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.training.theory.certificate import greatest_payoff
from models.training import TrainingInstance

__all__ = ["ScaledDual", "best_scaled_dual", "dual_value"]

STEPS = 17
LEAST = 1e-16
REFINEMENTS = 12
NOISE = 1e-9  # relative: at tiny scales D falls by less than its own rounding error


@dataclass(frozen=True)
class ScaledDual:
    """The least D(s) = sum of lambda(s p) + s sum of p C that was found.

    Attributes
    ----------
    dual : float
        At least the offline optimum, whatever the scale.
    scale : float
        s in [0, 1]; 0 means prices of nothing, where D is what the jobs are worth alone.
    """

    dual: float
    scale: float


def dual_value(instance: TrainingInstance, log_prices: NDArray[np.float64], scale: float) -> float:
    """Return D at `scale` times the prices; an upper bound of the optimum for every scale >= 0.

    Parameters
    ----------
    instance : TrainingInstance
    log_prices : array, shape (slots, machines, resources)
    scale : float
    """
    log_scaled = log_prices + (math.log(scale) if scale > 0 else -math.inf)
    payoffs = [greatest_payoff(instance, i, log_scaled) for i in range(instance.number_of_jobs)]
    return sum(payoffs) + float(np.sum(np.exp(log_scaled) * instance.capacity))


def best_scaled_dual(instance: TrainingInstance, log_prices: NDArray[np.float64]) -> ScaledDual:
    """Search s in [0, 1] for the least D: a grid of powers, then a search between neighbours.

    A schedule's cost is linear in s, so D is a sum of maxima of linear functions, hence convex:
    the grid is left where D begins to grow, and the minimum lies between the neighbours.
    """
    grid = [0.0, *np.geomspace(LEAST, 1.0, STEPS).tolist()]
    best = ScaledDual(dual_value(instance, log_prices, 0.0), 0.0)
    k = 0
    for place, s in enumerate(grid[1:], start=1):
        value = dual_value(instance, log_prices, s)
        if value > best.dual * (1 + NOISE):
            break
        if value < best.dual:
            best = ScaledDual(value, s)
        k = place
    low, high = grid[k - 1], grid[min(k + 1, len(grid) - 1)]
    for _ in range(REFINEMENTS):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        at_left = dual_value(instance, log_prices, left)
        at_right = dual_value(instance, log_prices, right)
        for value, s in ((at_left, left), (at_right, right)):
            if value < best.dual:
                best = ScaledDual(value, s)
        low, high = (low, right) if at_left <= at_right else (left, high)
    return best
