"""Algorithm 3: spread a job's workload over slots at least cost, by levels of the workload (D4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.training.pdors.prices import MINUS_INFINITY

__all__ = ["WorkloadTable", "default_levels", "spread_workload"]


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
    slots, size = log_theta.shape
    log_cost = np.empty((slots, size))
    choice = np.zeros((slots, size), dtype=np.int64)
    before = np.full(size, np.inf)
    before[0] = MINUS_INFINITY
    level = np.arange(size)
    rest = level[:, None] - level[None, :]  # [q, j]: levels left for earlier slots
    possible = rest >= 0
    for k in range(slots):
        # No more levels than this slot can do at all.
        some = int(np.flatnonzero(log_theta[k] < np.inf).max(initial=0)) + 1
        with np.errstate(invalid="ignore"):
            total = np.logaddexp(log_theta[k][None, :some], before[np.maximum(rest[:, :some], 0)])
        total = np.where(possible[:, :some] & ~np.isnan(total), total, np.inf)
        choice[k] = np.argmin(total, axis=1)
        log_cost[k] = total[level, choice[k]]
        before = log_cost[k]
    return WorkloadTable(log_cost, choice)
