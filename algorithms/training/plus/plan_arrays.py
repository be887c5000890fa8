"""The arrays that the compiled parts of `pdors-plus` work on; slots are counted from the present.

K slots from the present one to the horizon, H machines, R resources, n jobs that have arrived.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["JobNumbers", "PlanArrays", "SlotChoice", "empty_plan", "slot_choice"]


class JobNumbers(NamedTuple):
    """What is known of the jobs, one entry each.

    Attributes
    ----------
    worker, ps : arrays, shape (n, R)
        Demands of one worker and of one parameter server (PS).
    gamma : array, shape (n,)
        Workers per PS.
    batch : array of int, shape (n,)
        Most workers at once.
    rate_internal, rate_external : arrays, shape (n,)
        Samples per worker and slot.
    remaining : array, shape (n,)
        Samples still to be processed.
    utility : array, shape (n, K)
        Utility if the job is completed in that slot.
    deadline : array of int, shape (n,)
        Last slot in which the job may complete.
    required : array of bool, shape (n,)
        Whether every plan must complete the job.
    arrival : array of int, shape (n,)
        First slot in which the job may have workers; 0 for all jobs that are present.
    """

    worker: NDArray[np.float64]
    ps: NDArray[np.float64]
    gamma: NDArray[np.float64]
    batch: NDArray[np.int64]
    rate_internal: NDArray[np.float64]
    rate_external: NDArray[np.float64]
    remaining: NDArray[np.float64]
    utility: NDArray[np.float64]
    deadline: NDArray[np.int64]
    required: NDArray[np.bool_]
    arrival: NDArray[np.int64]


class PlanArrays(NamedTuple):
    """A plan.

    Attributes
    ----------
    workers, ps : arrays of int, shape (n, K, H)
    completion : array of int, shape (n,)
        Slot in which the plan completes the job; -1 for a job without one.
    payoff : array, shape (n,)
        Utility of that completion minus the price of what the plan uses; 0 without one.
    """

    workers: NDArray[np.int64]
    ps: NDArray[np.int64]
    completion: NDArray[np.int64]
    payoff: NDArray[np.float64]


class SlotChoice(NamedTuple):
    """What one job can have in each slot, and what was chosen for it: scratch space.

    Attributes
    ----------
    colocated : array of int, shape (K, H)
        Workers that would fit with their PSs on a machine, also beyond the batch.
    internal, external : arrays of int, shape (K,)
        The frontier: most workers of an internal allocation, and of an external one where that
        processes more; every smaller number of workers is possible too.
    workers : array of int, shape (K,)
        Chosen number of workers.
    spread : array of bool, shape (K,)
        Whether they are an external allocation.
    """

    colocated: NDArray[np.int64]
    internal: NDArray[np.int64]
    external: NDArray[np.int64]
    workers: NDArray[np.int64]
    spread: NDArray[np.bool_]


def empty_plan(jobs: int, slots: int, machines: int) -> PlanArrays:
    """Return a plan in which no job has anything."""
    shape = (jobs, slots, machines)
    return PlanArrays(
        np.zeros(shape, dtype=np.int64),
        np.zeros(shape, dtype=np.int64),
        np.full(jobs, -1, dtype=np.int64),
        np.zeros(jobs),
    )


def slot_choice(slots: int, machines: int) -> SlotChoice:
    """Return scratch space."""
    return SlotChoice(
        np.zeros((slots, machines), dtype=np.int64),
        np.zeros(slots, dtype=np.int64),
        np.zeros(slots, dtype=np.int64),
        np.zeros(slots, dtype=np.int64),
        np.zeros(slots, dtype=np.bool_),
    )
