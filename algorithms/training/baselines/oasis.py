"""OASiS: admission by price, with workers and parameter servers (PSs) on separate machines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from algorithms.policy import Parameters, Policy, Run
from algorithms.training.baselines.oasis_prices import Side, ps_side, worker_side
from algorithms.training.outcome import (
    WAITING_COUNTERS,
    BaselineLog,
    JobOutcome,
    baseline_run,
    job_outcome,
)
from algorithms.training.pdors.dynamic_program import default_levels, spread_workload
from algorithms.training.pdors.prices import MINUS_INFINITY
from algorithms.training.simulation import by_arrival
from models.training import TrainingInstance
from models.training.schedule import Placement, Reason
from models.training.throughput import workers_for

__all__ = ["OASIS", "OasisOutcome", "OasisParameters", "run_oasis"]


class OasisParameters(Parameters):
    """Parameters of OASiS."""

    levels: Annotated[
        int, Field(ge=0, le=10**6, description="workload levels; 0 = max(20, 4 (T - arrival))")
    ] = 0


@dataclass(frozen=True)
class OasisOutcome(JobOutcome):
    """A job's outcome with the numbers of its admission.

    Attributes
    ----------
    payoff : float
        Utility minus cost of the best schedule; 0 if the job was rejected.
    log_cost : float
        ln of the cheapest schedule's cost at the prices met; inf if there was none.
    """

    payoff: float = 0.0
    log_cost: float = math.inf


def run_oasis(instance: TrainingInstance, parameters: OasisParameters, seed: int) -> Run:
    """Decide each job as it arrives, by the prices of the two sides of the cluster.

    The first ceil(H/2) machines host workers, the others PSs: always external, and with one
    machine nothing can run.

    Parameters
    ----------
    instance : TrainingInstance
    parameters : OasisParameters
    seed : int
        Without effect.

    Returns
    -------
    Run
        The schedule and a `BaselineLog` of `OasisOutcome`.

    References
    ----------
    Bao et al., "Online Job Scheduling in Distributed Machine Learning Clusters", INFOCOM 2018,
    arXiv 1801.00936; halves as in arXiv 2108.02917, section "Numerical Results".
    """
    del seed
    workers, ps = worker_side(instance), ps_side(instance)
    placements: dict[int, list[Placement]] = {}
    outcomes = []
    for i in by_arrival(instance):
        if not instance.reach[i].possible:
            outcomes.append(_outcome(job_outcome(instance, i, ())))
            continue
        search = _Search(instance, i, parameters.levels, workers, ps)
        best = search.best()
        if best is None:
            reason, words = search.why_not()
            refused = job_outcome(instance, i, (), rejection=(reason, words))
            outcomes.append(_outcome(refused, log_cost=search.cheapest))
            continue
        placements[i] = best.placements
        for slot, machine, w, s in best.placements:
            (workers if w else ps).take(i, slot, machine, w + s)
        admitted = job_outcome(instance, i, best.placements, waits={"other slots were cheaper": 1})
        outcomes.append(_outcome(admitted, best.payoff, best.log_cost))
    return baseline_run(OASIS.name, BaselineLog(instance, tuple(outcomes), placements), {})


def _outcome(outcome: JobOutcome, payoff: float = 0.0, log_cost: float = math.inf) -> OasisOutcome:
    return OasisOutcome(**vars(outcome), payoff=payoff, log_cost=log_cost)


@dataclass(frozen=True)
class _Candidate:
    payoff: float
    log_cost: float
    placements: list[Placement]


class _Search:
    """The schedule of greatest payoff for one job, over all completion slots."""

    def __init__(
        self, instance: TrainingInstance, i: int, levels: int, workers: Side, ps: Side
    ) -> None:
        self.i = i
        self.job = instance.jobs[i]
        self._sides = (workers, ps)
        size = levels or default_levels(instance.slots - self.job.arrival)
        samples = self.job.workload * np.arange(1, size + 1) / size
        counts = [workers_for(v, self.job.rate_external) for v in samples]
        if not ps.machines.size:  # one machine: nothing can run, not even without PSs
            counts = []
        self._workers = np.array([w for w in counts if w <= self.job.batch], dtype=np.int64)
        self._ps = np.array([self.job.ps_for(int(w)) for w in self._workers], dtype=np.int64)
        self._table = spread_workload(self._log_theta(instance.slots, size))
        self.cheapest = float(self._table.log_cost[-1, -1])

    def _log_theta(self, slots: int, size: int) -> NDArray[np.float64]:
        """Cost of every level in every slot; slots with equal allocations are priced once."""
        workers, ps = self._sides
        log_theta = np.full((slots - self.job.arrival, size + 1), np.inf)
        log_theta[:, 0] = MINUS_INFINITY
        known: dict[bytes, int] = {}
        for k, slot in enumerate(range(self.job.arrival, slots)):
            state = workers.used[slot].tobytes() + ps.used[slot].tobytes()
            first = known.setdefault(state, k)
            if first == k:
                log_theta[k, 1 : len(self._workers) + 1] = np.logaddexp(
                    workers.offers(self.i, slot).log_costs(self._workers),
                    ps.offers(self.i, slot).log_costs(self._ps),
                )
            else:
                log_theta[k] = log_theta[first]
        return log_theta

    def best(self) -> _Candidate | None:
        """Return the schedule of greatest positive payoff, None if there is none."""
        chosen: tuple[float, float, list[int]] | None = None
        for last, log_cost in enumerate(self._table.log_cost[:, -1]):
            if log_cost == math.inf:
                continue
            levels = self._table.levels_per_slot(last)
            # What is found for this completion slot may end earlier; its real end counts.
            duration = max(k for k, level in enumerate(levels) if level)
            payoff = self.job.utility.value(duration) - math.exp(log_cost)
            if payoff > (chosen[0] if chosen else 0.0):
                chosen = payoff, float(log_cost), levels
        return _Candidate(*chosen[:2], self._placements(chosen[2])) if chosen else None

    def _placements(self, levels: list[int]) -> list[Placement]:
        workers, ps = self._sides
        placements: list[Placement] = []
        for k, level in enumerate(levels):
            if level == 0:
                continue
            slot = self.job.arrival + k
            placements += [
                (slot, machine, count, 0)
                for machine, count in workers.offers(self.i, slot).buy(self._workers[level - 1])
            ]
            placements += [
                (slot, machine, 0, count)
                for machine, count in ps.offers(self.i, slot).buy(self._ps[level - 1])
            ]
        return placements

    def why_not(self) -> tuple[Reason, str]:
        """Say why there is no schedule of positive payoff."""
        workers, ps = self._sides
        if not ps.machines.size:
            return "capacity", "one machine cannot host workers and parameter servers apart"
        if self.cheapest < math.inf:
            highest = self.job.utility.value(0)
            return (
                "price",
                f"no schedule is worth its cost; the cheapest costs e^{self.cheapest:.4g}, "
                f"and the utility is at most {highest:.4g}",
            )
        return (
            "capacity",
            "no room for its workload in time (machines for workers: "
            f"{workers.machines.size}, for parameter servers: {ps.machines.size})",
        )


OASIS = Policy(
    name="oasis",
    summary="OASiS: admission by price, workers and parameter servers on separate machines",
    parameters=OasisParameters,
    run=run_oasis,
    counters=WAITING_COUNTERS,
)
