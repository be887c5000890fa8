"""All schedules of each job of a tiny instance: the sets Pi_i of R-DMLRS, listed in full."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from models.training import Job, TrainingInstance
from models.training.r_dmlrs import JobPlan
from models.training.schedule import samples_in_slot
from models.training.throughput import fits

__all__ = ["enumerate_plans", "slot_options"]

Option = tuple[tuple[int, int, int], ...]  # (machine index, workers, PSs), ordered by machine
TOO_MANY = 2_000_000


def slot_options(instance: TrainingInstance, i: int) -> list[Option]:
    """List everything that job i could have in one slot of the empty cluster.

    An option that processes no more samples than another one, and uses no less of anything on
    any machine, is left out; the empty option is always there.
    """
    job = instance.jobs[i]
    alpha, beta = instance.worker_demand[i], instance.ps_demand[i]
    per_machine: list[list[tuple[int, int]]] = []
    for capacity in instance.capacity:
        pairs = [
            (w, s)
            for w in range(job.batch + 1)
            for s in range(job.ps_for(job.batch) + 1)
            if fits(w * alpha + s * beta, capacity)
        ]
        per_machine.append(pairs)
    options = []
    for cells in itertools.product(*per_machine):
        workers, ps = sum(w for w, _ in cells), sum(s for _, s in cells)
        if workers <= job.batch and ps == job.ps_for(workers):
            options.append(tuple((h, w, s) for h, (w, s) in enumerate(cells) if w or s))
    return _undominated(instance, i, options)


def _undominated(instance: TrainingInstance, i: int, options: Sequence[Option]) -> list[Option]:
    job = instance.jobs[i]
    use = np.zeros((len(options), instance.number_of_machines, len(instance.resources)))
    samples = np.zeros(len(options))
    for k, option in enumerate(options):
        samples[k] = samples_in_slot(job, option)
        for h, workers, ps in option:
            use[k, h] += workers * instance.worker_demand[i] + ps * instance.ps_demand[i]
    kept: list[int] = []
    for k in sorted(range(len(options)), key=lambda k: (-samples[k], use[k].sum())):
        worse = any(samples[j] >= samples[k] and np.all(use[j] <= use[k]) for j in kept)
        if not worse or not options[k]:
            kept.append(k)
    return [options[k] for k in kept]


def enumerate_plans(instance: TrainingInstance) -> list[JobPlan]:
    """List all schedules of all jobs that complete them, up to dominated ones.

    A schedule is left out if another one of its job completes no later and uses, in every slot
    on every machine, no more of any resource; so R-DMLRS over the list is exact.

    Raises
    ------
    ValueError
        For an instance that is not tiny: more than two million combinations for one job.
    """
    plans: list[JobPlan] = []
    for i, job in enumerate(instance.jobs):
        options = slot_options(instance, i)
        slots = range(job.arrival, instance.slots)
        if len(options) ** len(slots) > TOO_MANY:
            raise ValueError(f"job {job.name} has too many schedules to list them all")
        samples = [samples_in_slot(job, option) for option in options]
        for choice in _minimal_choices(job, samples, len(slots)):
            placements = tuple(
                (slots[k], *cell) for k, n in enumerate(choice) for cell in options[n]
            )
            plans.append(JobPlan(i, max(place[0] for place in placements if place[2]), placements))
    return plans


def _minimal_choices(job: Job, samples: Sequence[float], slots: int) -> Iterator[tuple[int, ...]]:
    """Choices of one option per slot that reach the workload, but not without any one slot."""
    for choice in itertools.product(range(len(samples)), repeat=slots):
        total = sum(samples[n] for n in choice)
        if not job.workload_reached(total):
            continue
        if all(samples[n] == 0 or not job.workload_reached(total - samples[n]) for n in choice):
            yield choice
