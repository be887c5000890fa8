"""The schedule of a full-size instance: compiled ruin and recreate, guided by prices.

The parts come from `pdors-plus` (`algorithms.training.plus.kernels`): what fits where, and a
dynamic program that spreads a job's work over slots. Here all arrivals are known, prices are the
duals of a relaxation, and only total utility decides what is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from algorithms.training.plus.kernels import FIXED_SCHEDULE_DRAWS, improve_schedule
from algorithms.training.plus.plan_arrays import JobNumbers, PlanArrays, empty_plan, slot_choice
from models.training import TrainingInstance
from models.training.schedule import Placement

__all__ = ["FullSizeSearch", "compiled_before"]

LEVELS = 60  # workload levels of a job
MOST_REMOVED = 8
BATCH = 200  # rounds between two looks at the clock
WORSE = 0.01  # a schedule this much worse (relative) may be accepted, less and less


def compiled_before() -> bool:
    """Whether the compiled search can start at once; the first compilation takes 20 seconds."""
    dispatcher: Any = improve_schedule
    if dispatcher.signatures:
        return True
    kept_in = dispatcher.stats.cache_path
    if kept_in is None:
        return False
    source = Path(dispatcher.py_func.__code__.co_filename).stat().st_mtime
    found = Path(kept_in).glob("*improve_schedule*.nbc")
    return any(file.stat().st_mtime >= source for file in found)


class FullSizeSearch:
    """A schedule as arrays, and the search that improves it.

    Parameters
    ----------
    instance : TrainingInstance
    last_slot : mapping of job index to slot
        Jobs worth placing, and their latest completion worth anything.
    rng : numpy.random.Generator

    Attributes
    ----------
    rounds : int
        Rounds of ruin and recreate so far.
    """

    def __init__(
        self,
        instance: TrainingInstance,
        last_slot: Mapping[int, int],
        rng: np.random.Generator,
    ) -> None:
        self.instance, self.rng = instance, rng
        self.indices = list(last_slot)
        self.jobs = _job_numbers(instance, last_slot)
        self.rounds = 0

    def improve(
        self,
        start: Mapping[int, Sequence[Placement]],
        price: NDArray[np.float64],
        progress: Callable[[float], float],
    ) -> dict[int, list[Placement]]:
        """Improve a schedule.

        Parameters
        ----------
        start : mapping of job index to placements
            May be empty.
        price : array, shape (slots, resources)
            Utility that a unit of capacity is worth.
        progress : callable (best value so far) -> float
            Part of the work that is done, in [0, 1]; from 1 on the search stops.

        Returns
        -------
        dict of job index to placements
            The best schedule seen, of the jobs worth placing.
        """
        plan = self._plan_of(start)
        n, slots, machines = plan.workers.shape
        choice = slot_choice(slots, machines)
        width = FIXED_SCHEDULE_DRAWS + 2 * n + slots
        while (part := progress(float(plan.payoff.sum()))) < 1:
            improve_schedule(
                self.jobs,
                plan,
                self._free_beside(plan),
                price,
                LEVELS,
                MOST_REMOVED,
                WORSE * (1 - part),
                self.rng.random((BATCH, width)),
                choice,
            )
            self.rounds += BATCH
        return {
            i: [
                (int(t), int(h), int(plan.workers[x, t, h]), int(plan.ps[x, t, h]))
                for t, h in np.argwhere(plan.workers[x] + plan.ps[x])
            ]
            for x, i in enumerate(self.indices)
            if plan.completion[x] >= 0
        }

    def _plan_of(self, start: Mapping[int, Sequence[Placement]]) -> PlanArrays:
        plan = empty_plan(len(self.indices), self.instance.slots, self.instance.number_of_machines)
        for x, i in enumerate(self.indices):
            for slot, machine, workers, ps in start.get(i, ()):
                plan.workers[x, slot, machine] += workers
                plan.ps[x, slot, machine] += ps
            used = np.flatnonzero(plan.workers[x].any(axis=1))
            if used.size:
                plan.completion[x] = used[-1]
                plan.payoff[x] = self.jobs.utility[x, used[-1]]
        return plan

    def _free_beside(self, plan: PlanArrays) -> NDArray[np.float64]:
        """Free capacity, computed from the counts so that no rounding errors add up."""
        free = np.repeat(self.instance.capacity[None], self.instance.slots, axis=0)
        for x in range(len(self.indices)):
            free -= plan.workers[x][:, :, None] * self.jobs.worker[x]
            free -= plan.ps[x][:, :, None] * self.jobs.ps[x]
        return free


def _job_numbers(instance: TrainingInstance, last_slot: Mapping[int, int]) -> JobNumbers:
    indices = list(last_slot)
    jobs = [instance.jobs[i] for i in indices]
    slots = range(instance.slots)
    return JobNumbers(
        instance.worker_demand[indices],
        instance.ps_demand[indices],
        np.array([job.workers_per_ps for job in jobs], dtype=float),
        np.array([job.batch for job in jobs], dtype=np.int64),
        np.array([job.rate_internal for job in jobs], dtype=float),
        np.array([job.rate_external for job in jobs], dtype=float),
        np.array([job.workload for job in jobs], dtype=float),
        # What comes before the arrival is never used, except for its order of magnitude.
        np.array([[job.utility.value(max(t - job.arrival, 0)) for t in slots] for job in jobs]),
        np.array([last_slot[i] for i in indices], dtype=np.int64),
        np.zeros(len(jobs), dtype=np.bool_),
        np.array([job.arrival for job in jobs], dtype=np.int64),
    )
