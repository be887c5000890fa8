"""Dorm: numbers of workers that use the most, not far from fair, with few changes at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from algorithms.policy import Parameters, Policy, Run
from algorithms.training.baselines.dorm_plan import FAIR, DormPlan
from algorithms.training.outcome import WAITING_COUNTERS, BaselineLog, baseline_run
from algorithms.training.placement import Cluster
from algorithms.training.simulation import Slot, simulate
from models.training import TrainingInstance

__all__ = ["DORM", "DormEvent", "DormLog", "DormParameters", "run_dorm"]


class DormParameters(Parameters):
    """Parameters of Dorm."""

    fairness: Annotated[
        float,
        Field(ge=0, le=1, description="theta1; the fairness loss is at most ceil(2 R theta1)"),
    ] = 0.2
    adjustment: Annotated[
        float,
        Field(ge=0, le=1, description="theta2, part of the jobs that may change at once"),
    ] = 0.2
    gap: Annotated[
        float, Field(ge=0, le=1, description="relative gap at which a program counts as solved")
    ] = 0.05
    node_limit: Annotated[
        int, Field(ge=0, le=10**9, description="most branch-and-bound nodes per program")
    ] = 1000


@dataclass(frozen=True)
class DormEvent:
    """One adjustment of the partitions.

    Attributes
    ----------
    slot, jobs : int
        When, and how many jobs were present.
    status : str
        How the program ended; "fair" if it gave no solution and fair numbers were taken.
    utilisation : float
        Planned, summed over the resources.
    fairness_loss, fairness_limit : float
    changed : int
        Jobs present before and now whose number the plan changes.
    adjustment_limit : int
        Most of them that may.
    relaxed : bool
        Whether the adjustment limit had to be dropped.
    workers_dropped : int
        Planned workers that found no place.
    """

    slot: int
    jobs: int
    status: str
    utilisation: float
    fairness_loss: float
    fairness_limit: float
    changed: int
    adjustment_limit: int
    relaxed: bool
    workers_dropped: int


@dataclass(frozen=True)
class DormLog(BaselineLog):
    """A baseline's log, with the adjustments in `events`."""

    events: tuple[DormEvent, ...] = ()


def run_dorm(instance: TrainingInstance, parameters: DormParameters, seed: int) -> Run:
    """Adjust the numbers of workers in each slot in which a job arrived or finished before.

    Jobs whose number does not change keep their machines; the others are placed anew by
    round-robin, in the order of arrival, and workers that find no place are dropped.

    Parameters
    ----------
    instance : TrainingInstance
    parameters : DormParameters
    seed : int
        Without effect.

    Returns
    -------
    Run
        The schedule and a `DormLog`.

    References
    ----------
    Sun et al., arXiv 1704.06738; arXiv 2108.02917, section "Numerical Results", baseline (3).
    """
    del seed
    scheduler = _Dorm(instance, parameters)
    placements, outcomes = simulate(instance, scheduler)
    events = tuple(scheduler.events)
    counters = {
        "milps_solved": scheduler.solved,
        "adjustment_relaxed": sum(event.relaxed for event in events),
        "fair_instead": sum(event.status == FAIR for event in events),
        "workers_dropped": sum(event.workers_dropped for event in events),
    }
    return baseline_run(DORM.name, DormLog(instance, outcomes, placements, events), counters)


class _Dorm:
    def __init__(self, instance: TrainingInstance, parameters: DormParameters) -> None:
        self.instance = instance
        self.parameters = parameters
        self.cluster = Cluster(instance)
        self.events: list[DormEvent] = []
        self.solved = 0
        self._pool = Cluster(instance, instance.capacity.sum(axis=0, keepdims=True))
        self._causes: dict[int, str] = {}

    def decide(self, slot: Slot) -> dict[int, str]:
        """Adjust if a job arrived or finished; else everything stays where it is."""
        if slot.arrived or slot.finished:
            self._adjust(slot)
        return self._causes

    def _adjust(self, slot: Slot) -> None:
        demand = self.instance.worker_demand + self.instance.ps_demand
        # Jobs that need nothing use nothing, and have all that they may have.
        free = [i for i in slot.jobs if not demand[i].any()]
        jobs = [i for i in slot.jobs if demand[i].any()]
        numbers = {i: self.cluster.most_workers[i] for i in free}
        if not jobs:
            self._place(numbers)
            return
        before = {i: self.cluster.worker_count[i] for i in jobs if i not in slot.arrived}
        chosen = self.parameters
        plan = DormPlan(
            self._pool,
            jobs,
            before,
            fairness=chosen.fairness,
            adjustment=chosen.adjustment,
            gap=chosen.gap,
            node_limit=chosen.node_limit,
        )
        numbers |= plan.numbers
        dropped = self._place({i: numbers[i] for i in slot.jobs})
        self.solved += plan.solved
        self.events.append(
            DormEvent(
                slot=slot.number,
                jobs=len(jobs),
                status=plan.status,
                utilisation=plan.utilisation,
                fairness_loss=plan.fairness_loss,
                fairness_limit=plan.fairness_limit,
                changed=plan.changed,
                adjustment_limit=plan.adjustment_limit,
                relaxed=plan.relaxed,
                workers_dropped=dropped,
            )
        )

    def _place(self, numbers: dict[int, int]) -> int:
        """Place the jobs whose number changes anew; return how many workers found no place."""
        changed = [i for i, number in numbers.items() if number != self.cluster.worker_count[i]]
        for i in changed:
            self.cluster.release(i)
        dropped = 0
        for i in changed:
            while self.cluster.worker_count[i] < numbers[i]:
                if not self.cluster.add_bundle(i, numbers[i]):
                    break
            dropped += numbers[i] - self.cluster.worker_count[i]
        self._causes = {
            i: "its planned workers found no place" if number else "given no workers"
            for i, number in numbers.items()
        }
        return dropped


DORM = Policy(
    name="dorm",
    summary="Dorm: utilisation by a MILP, with limits on fairness loss and adjustments",
    parameters=DormParameters,
    run=run_dorm,
    counters={
        **WAITING_COUNTERS,
        "milps_solved": "mixed integer programs solved",
        "adjustment_relaxed": "events at which the limit on changed jobs could not be kept",
        "fair_instead": "events at which the fair shares were taken for want of a solution",
        "workers_dropped": "workers planned that found no room with their parameter servers",
    },
)
