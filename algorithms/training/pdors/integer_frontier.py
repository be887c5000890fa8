"""The integer optimum of a slot program for every small demand, by dynamic programming; compiled.

Algorithm 4 rounds the LP's optimum because an integer program per slot and level would be slow.
For few workers it is not: state (w, s) is the least cost of w workers and s PSs on the machines
seen so far, and a machine adds any pattern that it holds. A cheapest allocation for D workers has
no more than D, and no more PSs than these need (D2, D3), since to take one away saves something
and breaks nothing. The time is of the order of machines times (D S)^2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.compiled import compiled
from algorithms.training.pdors.answers import SpreadAllocation
from algorithms.training.pdors.curves import CurveSlot
from algorithms.training.pdors.dynamic_program import log_add
from algorithms.training.pdors.prices import log_amounts
from models.training import Job
from models.training.throughput import FIT_ABSOLUTE, FIT_TOLERANCE

__all__ = ["IntegerFrontier", "integer_frontier"]


@dataclass(frozen=True)
class IntegerFrontier:
    """Least costs of whole workers and PSs in one slot.

    Attributes
    ----------
    job : Job
    slot : CurveSlot
    log_cost : array, shape (workers + 1,)
        ln of the least cost of 0, 1, ... workers with the PSs that they need; inf if impossible.
    group : array of int, shape (steps,)
        The group of each machine that was of use.
    choice : array of int, shape (steps, workers + 1, PSs + 1, 2)
        What that machine holds in the optimum of each state.
    """

    job: Job
    slot: CurveSlot
    log_cost: NDArray[np.float64]
    group: NDArray[np.int64]
    choice: NDArray[np.int64]

    def allocation(self, workers: int) -> SpreadAllocation | None:
        """Return a cheapest allocation of so many workers, None if there is none."""
        if not self.log_cost[workers] < np.inf:
            return None
        rest = workers, self.job.ps_for(workers)
        grouping = self.slot.grouping
        taken = np.zeros(len(self.slot.count), dtype=np.int64)
        rows = []
        for step in range(len(self.group) - 1, -1, -1):
            here_workers, here_ps = self.choice[step, rest[0], rest[1]].tolist()
            if here_workers or here_ps:
                g = self.group[step]
                rows.append((grouping.members[grouping.begin[g] + taken[g]], here_workers, here_ps))
                taken[g] += 1
                rest = rest[0] - here_workers, rest[1] - here_ps
        assert rest == (0, 0)
        machines, many_workers, many_ps = np.array(sorted(rows), dtype=np.int64).reshape(-1, 3).T
        return SpreadAllocation(machines, many_workers, many_ps)


def integer_frontier(
    job: Job,
    worker_demand: NDArray[np.float64],
    ps_demand: NDArray[np.float64],
    slot: CurveSlot,
    most_workers: int,
) -> IntegerFrontier:
    """Solve the integer slot programs of 0, 1, ... `most_workers` workers.

    Parameters
    ----------
    job : Job
    worker_demand, ps_demand : arrays, shape (resources,)
    slot : CurveSlot
    most_workers : int
        At most the batch.
    """
    assert 0 <= most_workers <= job.batch
    needed = np.array([job.ps_for(w) for w in range(most_workers + 1)])
    counts = np.arange(max(most_workers, int(needed[-1])) + 1, dtype=float)
    best, group, choice = _fill(
        worker_demand,
        ps_demand,
        slot.free * (1 + FIT_TOLERANCE) + FIT_ABSOLUTE,
        slot.count.astype(np.int64),
        slot.log_worker_price,
        slot.log_ps_price,
        log_amounts(counts),
        most_workers,
        int(needed[-1]),
    )
    return IntegerFrontier(job, slot, best[np.arange(len(needed)), needed], group, choice)


@compiled
def _fill(  # type: ignore[no-untyped-def]
    alpha, beta, room, count, log_worker, log_ps, log_number, most_workers, most_ps
):
    """Fill the table of states; returns it with the machines of use and their choices."""
    best = np.full((most_workers + 1, most_ps + 1), np.inf)
    best[0, 0] = -np.inf
    groups = np.empty(16, dtype=np.int64)
    choices = np.zeros((16, most_workers + 1, most_ps + 1, 2), dtype=np.int64)
    steps = 0
    pattern = np.empty((most_workers + 1, most_ps + 1))
    for g in range(len(count)):
        for a in range(most_workers + 1):
            for b in range(most_ps + 1):
                inside = True
                for r in range(len(alpha)):
                    inside = inside and a * alpha[r] + b * beta[r] <= room[g, r]
                pattern[a, b] = (
                    log_add(log_number[a] + log_worker[g], log_number[b] + log_ps[g])
                    if inside
                    else np.inf
                )
        for _ in range(min(count[g], most_workers + most_ps)):
            if steps == len(groups):
                groups = np.append(groups, np.empty_like(groups))
                choices = np.concatenate((choices, np.zeros_like(choices)))
            better = best.copy()
            changed = False
            for w in range(most_workers + 1):
                for s in range(most_ps + 1):
                    for a in range(w + 1):
                        for b in range(s + 1):
                            before = best[w - a, s - b]
                            if max(before, pattern[a, b]) >= better[w, s] or a + b == 0:
                                continue
                            cost = log_add(before, pattern[a, b])
                            if cost < better[w, s]:
                                better[w, s] = cost
                                choices[steps, w, s, 0], choices[steps, w, s, 1] = a, b
                                changed = True
            if not changed:  # nor would another machine of this group be of use
                break
            groups[steps] = g
            steps += 1
            best = better
    return best, groups[:steps], choices[:steps]
