"""Slot by slot: who is present, what a scheduler gives them, and what that processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from algorithms.training.outcome import JobOutcome, job_outcome
from algorithms.training.placement import Cluster
from models.training import TrainingInstance
from models.training.schedule import Placement, samples_in_slot

__all__ = ["Scheduler", "Slot", "by_arrival", "simulate"]


@dataclass(frozen=True)
class Slot:
    """What a scheduler sees at the beginning of a slot; nothing of the future is in it.

    Attributes
    ----------
    number : int
    jobs : list of int
        Jobs that have arrived, are possible (D5) and not finished, by arrival, then file order.
    arrived, finished : list of int
        Those of them that arrived with this slot; jobs that finished in the slot before.
    remaining : array, shape (jobs,)
        Samples still to be processed, of all jobs of the instance.
    """

    number: int
    jobs: list[int]
    arrived: list[int]
    finished: list[int]
    remaining: NDArray[np.float64]


class Scheduler(Protocol):
    """Decides each slot by changing its cluster; finished jobs have been released before."""

    cluster: Cluster

    def decide(self, slot: Slot) -> Mapping[int, str]:
        """Fill the cluster for this slot.

        Returns
        -------
        mapping of job index to str
            For jobs that got no worker: why, in words.
        """
        ...


def by_arrival(instance: TrainingInstance) -> list[int]:
    """All job indices by arrival slot, then file order."""
    return sorted(range(instance.number_of_jobs), key=lambda i: instance.jobs[i].arrival)


def simulate(
    instance: TrainingInstance, scheduler: Scheduler
) -> tuple[dict[int, list[Placement]], tuple[JobOutcome, ...]]:
    """Run a scheduler over all slots.

    Returns
    -------
    placements : dict of job index to placements
    outcomes : tuple of JobOutcome
        One per job, by arrival.
    """
    order = by_arrival(instance)
    waits: dict[int, Counter[str]] = {i: Counter() for i in order}
    placements: dict[int, list[Placement]] = {}
    remaining = np.array([float(job.workload) for job in instance.jobs])
    samples = np.zeros(instance.number_of_jobs)
    present: list[int] = []
    finished: list[int] = []
    for t in range(instance.slots):
        arrived = [i for i in order if instance.jobs[i].arrival == t and instance.reach[i].possible]
        present = [i for i in present if i not in finished] + arrived
        causes = scheduler.decide(Slot(t, list(present), arrived, finished, remaining.copy()))
        finished = []
        for i in present:
            job, allocation = instance.jobs[i], scheduler.cluster.allocation(i)
            if not allocation:
                waits[i][causes.get(i, "no worker")] += 1
                continue
            placements.setdefault(i, []).extend((t, *place) for place in allocation)
            samples[i] += samples_in_slot(job, allocation)
            remaining[i] = max(job.workload - samples[i], 0.0)
            if job.workload_reached(samples[i]):
                finished.append(i)
                scheduler.cluster.release(i)
    outcomes = tuple(job_outcome(instance, i, placements.get(i, ()), waits=waits[i]) for i in order)
    return placements, outcomes
