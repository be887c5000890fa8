"""The oracle of the tests: every joint schedule of a tiny instance, with its own arithmetic.

It knows nothing of reach, fit tables, completion variables or dominance. Slot by slot it lists
the joint allocations of all jobs that the machines can hold, keeps the set of samples processed
so far, and in the end looks at who is done. Numbers are exact fractions of the instance's floats.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from models.training import Job, TrainingInstance

__all__ = ["brute_force"]

FORGIVEN = Fraction(1, 10**9)  # D2 and D11


def brute_force(instance: TrainingInstance) -> float:
    """Return the offline optimum of a tiny instance, by trying everything.

    Two schedules that lead to the same samples and the same last slots after some slot are one
    state from there on; no other reduction is made.
    """
    outcomes = [_machine_independent_options(instance, job) for job in instance.jobs]
    # State: per job the samples so far and the last slot with a worker.
    states = {tuple((Fraction(0), -1) for _ in instance.jobs)}
    for slot in range(instance.slots):
        joint = _joint_samples(
            instance,
            [
                options if job.arrival <= slot else [_IDLE]
                for job, options in zip(instance.jobs, outcomes, strict=True)
            ],
        )
        states = {
            tuple(
                (done + samples, slot if samples > 0 else last)
                for (done, last), samples in zip(state, gains, strict=True)
            )
            for state in states
            for gains in joint
        }
    return max(_value(instance, state) for state in states)


_Option = tuple[Fraction, tuple[tuple[int, int, int], ...]]
_IDLE: _Option = (Fraction(0), ())


def _machine_independent_options(instance: TrainingInstance, job: Job) -> list[_Option]:
    """All worker and PS counts on all machines that obey eqs. 2 and 4, with their samples."""
    machines = range(len(instance.machines))
    gamma = Fraction(job.workers_per_ps)
    most_ps = math.ceil(job.batch / gamma)
    options: list[_Option] = [_IDLE]
    for workers in itertools.product(range(job.batch + 1), repeat=len(machines)):
        total = sum(workers)
        if not 0 < total <= job.batch:
            continue
        least = math.ceil(total / gamma - FORGIVEN)
        for ps in itertools.product(range(most_ps + 1), repeat=len(machines)):
            # More PSs than needed bring nothing, on any machine.
            if sum(ps) != least:
                continue
            cells = tuple((h, workers[h], ps[h]) for h in machines if workers[h] or ps[h])
            bandwidth = job.bandwidth_internal if len(cells) == 1 else job.bandwidth_external
            per_sample = Fraction(job.sample_time) + gamma * 2 * Fraction(job.gradient) / (
                job.batch * Fraction(bandwidth)
            )
            options.append((total / per_sample, cells))
    return options


def _joint_samples(
    instance: TrainingInstance, options: list[list[_Option]]
) -> set[tuple[Fraction, ...]]:
    """Samples per job of every combination that the machines can hold (eq. 5)."""
    capacity = {
        (h, r): Fraction(machine.capacity.get(r, 0.0)) * (1 + FORGIVEN)
        for h, machine in enumerate(instance.machines)
        for r in instance.resources
    }
    found: set[tuple[Fraction, ...]] = set()

    def extend(k: int, gains: tuple[Fraction, ...], left: dict[tuple[int, str], Fraction]) -> None:
        if k == len(options):
            found.add(gains)
            return
        job = instance.jobs[k]
        for samples, cells in options[k]:
            rest = dict(left)
            for h, workers, ps in cells:
                for r in instance.resources:
                    rest[h, r] -= workers * Fraction(job.worker.get(r, 0.0))
                    rest[h, r] -= ps * Fraction(job.ps.get(r, 0.0))
            if min(rest.values()) >= 0:
                extend(k + 1, (*gains, samples), rest)

    extend(0, (), capacity)
    return found


def _value(instance: TrainingInstance, state: tuple[tuple[Fraction, int], ...]) -> float:
    total = 0.0
    for job, (samples, last) in zip(instance.jobs, state, strict=True):
        if last >= 0 and samples >= job.epochs * job.samples * (1 - FORGIVEN):
            exponent = job.utility.decay * (last - job.arrival - job.utility.target)
            total += job.utility.priority / (1 + math.exp(min(exponent, 700.0)))
    return total
