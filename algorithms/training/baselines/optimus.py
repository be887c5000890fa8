"""Optimus with an oracle of the speed: workers go where they shorten training the most.

Optimus learns a job's speed from its past; here the speed is known (D1), which only helps it.
"""

from __future__ import annotations

import math

from algorithms.policy import Parameters, Policy, Run
from algorithms.training.baselines.compact_placement import place_compactly
from algorithms.training.outcome import WAITING_COUNTERS, BaselineLog, baseline_run
from algorithms.training.placement import Cluster, fill
from algorithms.training.simulation import Slot, simulate
from models.training import TrainingInstance

__all__ = ["OPTIMUS", "OptimusParameters", "run_optimus"]


class OptimusParameters(Parameters):
    """Optimus with known speeds has no parameters."""


def run_optimus(instance: TrainingInstance, parameters: OptimusParameters, seed: int) -> Run:
    """Plan every slot by marginal gains, then place the smallest jobs first, compactly.

    Parameters
    ----------
    instance : TrainingInstance
    parameters : OptimusParameters
    seed : int
        Without effect.

    Returns
    -------
    Run
        The schedule and a `BaselineLog`.

    References
    ----------
    Peng et al., "Optimus: An Efficient Dynamic Resource Scheduler for Deep Learning Clusters",
    EuroSys 2018.
    """
    del parameters, seed
    scheduler = _Optimus(instance)
    placements, outcomes = simulate(instance, scheduler)
    counters = {"workers_dropped": scheduler.dropped}
    return baseline_run(OPTIMUS.name, BaselineLog(instance, outcomes, placements), counters)


class _Optimus:
    def __init__(self, instance: TrainingInstance) -> None:
        self.instance = instance
        self.cluster = Cluster(instance)
        self.dropped = 0
        self._plan = Cluster(instance, instance.capacity.sum(axis=0, keepdims=True))

    def decide(self, slot: Slot) -> dict[int, str]:
        """Plan the counts on all machines pooled, then place them; the rest is dropped."""
        self._plan.clear()
        self.cluster.clear()
        fill(self._plan, slot.jobs, lambda i: self._key(i, float(slot.remaining[i])))
        causes: dict[int, str] = {}
        planned = self._plan.worker_count
        for i in sorted(slot.jobs, key=self._plan.share):
            if planned[i] == 0:
                causes[i] = "workers did more for other jobs"
                continue
            placed = place_compactly(self.cluster, i, planned[i])
            self.dropped += planned[i] - placed
            if placed == 0:
                causes[i] = "its planned workers found no place"
        return causes

    def _key(self, i: int, remaining: float) -> tuple[float, float] | None:
        """Order moves by gain per dominant share, then by remaining time; None without gain.

        A slot is given as a whole, so less than one slot of remaining time is no gain. Every
        job's first worker comes before all others (from no progress to some); among these the
        job that would be done first is first.
        """
        slots_of_one = remaining / self.instance.jobs[i].rate_external

        def time(workers: int) -> float:
            return max(slots_of_one / workers, 1.0) if workers else math.inf

        count = self._plan.worker_count[i]
        workers, ps = self._plan.next_bundle(i)
        gain = time(count) - time(count + workers)
        if workers == 0 or not gain > 0:
            return None
        share = self._plan.share(i, workers, ps)
        return -gain / share if share > 0 else -math.inf, time(count + workers)


OPTIMUS = Policy(
    name="optimus",
    summary="Optimus with known speeds: greedy by marginal gain, compact placement",
    parameters=OptimusParameters,
    run=run_optimus,
    counters={
        **WAITING_COUNTERS,
        "workers_dropped": "workers planned that found no room with their parameter servers",
    },
)
