"""Algorithm 3: spread a job's workload over slots at least cost, by levels of the workload (D4)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.compiled import compiled

__all__ = ["WorkloadTable", "default_levels", "log_add", "spread_workload"]

# By how much ln(exp(x) + exp(y)) exceeds the larger of the two, at the least, by their distance in
# steps of 1 / FINENESS: what this shows to be too dear is not computed.
FINENESS, FURTHEST = 32, 30.0
LEAST_EXCESS = np.log1p(np.exp(-np.arange(FINENESS * FURTHEST + 2) / FINENESS)) * (1 - 1e-9)
LOG_2 = math.log(2.0)


def default_levels(slots_left: int) -> int:
    """Q = max(20, 4 * (T - a)) workload levels (D4)."""
    return max(20, 4 * slots_left)


@dataclass(frozen=True)
class WorkloadTable:
    """Least costs and the choices that attain them; one table serves all completion slots.

    Attributes
    ----------
    log_cost : array, shape (slots, levels + 1)
        Entry [k, q]: ln of the least cost of q levels in the first k + 1 slots; inf if there is
        no way.
    choice : array of int, shape (slots, levels + 1)
        Levels done in slot k in that optimum.
    """

    log_cost: NDArray[np.float64]
    choice: NDArray[np.int64]

    def last_slot(self, last: int) -> int:
        """Return the last slot that is used in the optimum of the whole workload in 0..last."""
        while self.choice[last, -1] == 0:
            last -= 1
        return last

    def levels_per_slot(self, last: int) -> list[int]:
        """Return the levels of slots 0..last in the optimum of the whole workload."""
        remaining = self.log_cost.shape[1] - 1
        levels = [0] * (last + 1)
        for k in range(last, -1, -1):
            levels[k] = int(self.choice[k, remaining])
            remaining -= levels[k]
        return levels


def spread_workload(log_theta: NDArray[np.float64]) -> WorkloadTable:
    """Solve eq. 18 for every number of slots and every level.

    Parameters
    ----------
    log_theta : array, shape (slots, levels + 1)
        ln of theta(t, level), the least cost of a level's samples in one slot; level 0 costs
        nothing (-inf), what is not possible costs inf.

    Notes
    -----
    Costs are added by their logarithms, so that no price range overflows (D6). Among equal
    costs the fewest levels in the later slot are taken, as Algorithm 3 does by counting up.
    """
    return WorkloadTable(*_spread(log_theta, LEAST_EXCESS))


@compiled
def _spread(log_theta, least_excess):  # type: ignore[no-untyped-def]
    slots, size = log_theta.shape
    log_cost = np.empty((slots, size))
    choice = np.zeros((slots, size), dtype=np.int64)
    before = np.full(size, np.inf)
    before[0] = -np.inf
    for k in range(slots):
        theta = log_theta[k]
        some = size  # no more levels than this slot can do at all
        while some > 1 and theta[some - 1] == np.inf:
            some -= 1
        for q in range(size):
            best, chosen = np.inf, 0
            for j in range(min(q + 1, some)):
                one, other = theta[j], before[q - j]
                larger = max(one, other)
                if not larger < best:
                    continue
                apart = larger - min(one, other)
                if apart < FURTHEST and larger + least_excess[int(apart * FINENESS) + 1] >= best:
                    continue
                total = log_add(one, other)
                if total < best:
                    best, chosen = total, j
            log_cost[k, q], choice[k, q] = best, chosen
        before = log_cost[k]
    return log_cost, choice


@compiled
def log_add(x, y):  # type: ignore[no-untyped-def]
    """ln(exp(x) + exp(y)), to the last bit as NumPy's logaddexp."""
    if x == y:
        return x + LOG_2
    if x > y:
        return x + math.log1p(math.exp(y - x))
    return y + math.log1p(math.exp(x - y))
