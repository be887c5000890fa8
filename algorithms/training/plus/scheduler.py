"""The scheduler of `pdors-plus`: one plan for all jobs present, renewed in every slot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.policy import Run
from algorithms.training.outcome import JobOutcome, baseline_run
from algorithms.training.placement import Cluster
from algorithms.training.plus.kernels import (
    FIRST,
    FIXED_DRAWS,
    TIGHTEST,
    best_payoff,
    improve_plan,
)
from algorithms.training.plus.past_prices import paper_prices, past_prices, prices_ahead
from algorithms.training.plus.pdors_plus import (
    PDORS_PLUS,
    PdorsPlusLog,
    PdorsPlusParameters,
    PlusOutcome,
)
from algorithms.training.plus.plan_arrays import JobNumbers, PlanArrays, empty_plan, slot_choice
from algorithms.training.simulation import Slot, simulate
from models.training import TrainingInstance

__all__ = ["PlusScheduler", "run_plus"]

LATER = "planned for later"
NO_ROOM = "no room in time"
PRICE = "worth less than its price"


@dataclass
class _JobPlan:
    """What is planned for a job, from slot `since` on; counts shaped (slots, machines)."""

    since: int
    workers: NDArray[np.int64]
    ps: NDArray[np.int64]
    completion: int  # a slot of the horizon
    payoff: float


class PlusScheduler:
    """Plans for the jobs present; see `algorithms.training.simulation.Scheduler`.

    Attributes
    ----------
    cluster : Cluster
    plans : dict of job index to plan
    promised : dict of job index to (completion, payoff)
        Of the jobs that have had workers.
    price_levels : list of float
        One per slot.
    """

    def __init__(
        self, instance: TrainingInstance, parameters: PdorsPlusParameters, seed: int
    ) -> None:
        self.instance, self.parameters, self.seed = instance, parameters, seed
        self.cluster = Cluster(instance)
        self.plans: dict[int, _JobPlan] = {}
        self.promised: dict[int, tuple[int, float]] = {}
        self.price_levels: list[float] = []
        self.seen: list[int] = []
        self.rejected: dict[int, str] = {}
        self.rounds_done = 0

    def decide(self, slot: Slot) -> Mapping[int, str]:
        """Renew the plan and give every job what it has in this slot."""
        self.seen += slot.arrived
        for i in slot.finished:
            self.plans.pop(i, None)
        present = [i for i in slot.jobs if i not in self.rejected]
        if not present:
            self.price_levels.append(0.0)
            return self.rejected
        jobs, plan, free = self._now(slot, present)
        price = self._price(slot.number, free)
        self._renew(slot.number, present, jobs, plan, free, price)
        causes = self._execute(slot.number, present, plan)
        for x, i in enumerate(present):
            if i not in self.plans:
                causes[i] = self._why_not(jobs, x, free, price)
                if self.parameters.replan == "never":
                    self.rejected[i] = causes[i]
        return {**self.rejected, **causes}

    def _now(
        self, slot: Slot, present: list[int]
    ) -> tuple[JobNumbers, PlanArrays, NDArray[np.float64]]:
        """The jobs and the plan so far, as arrays that begin with the present slot."""
        instance, t = self.instance, slot.number
        slots = instance.slots - t
        jobs = _job_numbers(instance, present, slot)
        plan = empty_plan(len(present), slots, instance.number_of_machines)
        free = np.repeat(instance.capacity[None], slots, axis=0)
        for x, i in enumerate(present):
            if i in self.promised and self.parameters.promise != "none":
                jobs.required[x] = True
                if self.parameters.promise == "completion":
                    jobs.deadline[x] = self.promised[i][0] - t
            if i in self.plans:
                old = self.plans[i]
                plan.workers[x] = old.workers[t - old.since :]
                plan.ps[x] = old.ps[t - old.since :]
                plan.completion[x] = old.completion - t
                free -= _use(jobs, plan, x)
        return jobs, plan, free

    def _price(self, t: int, free: NDArray[np.float64]) -> NDArray[np.float64]:
        """Prices of this slot and the later ones, shape (slots, resources)."""
        instance, slots = self.instance, len(free)
        level = 0.0
        price = np.zeros((slots, len(instance.resources)))
        if self.parameters.prices == "past":
            level, unit = past_prices(instance, self.seen, t + 1)
            price = prices_ahead(unit, slots)
        elif self.parameters.prices == "paper":
            used = (instance.capacity[None] - free).sum(axis=1)
            price = paper_prices(instance, self.seen, np.maximum(used, 0.0))
            level = float((price @ instance.capacity.sum(axis=0)).mean())
        self.price_levels.append(level)
        return price

    def _renew(
        self,
        t: int,
        present: list[int],
        jobs: JobNumbers,
        plan: PlanArrays,
        free: NDArray[np.float64],
        price: NDArray[np.float64],
    ) -> None:
        """Improve the plan by ruin and recreate, or only add the jobs that arrived."""
        n, slots, machines = plan.workers.shape
        for x in range(n):
            if plan.completion[x] >= 0:
                paid = (_use(jobs, plan, x).sum(axis=1) * price).sum()
                plan.payoff[x] = jobs.utility[x, plan.completion[x]] - paid
        rounds = 1 + (self.parameters.rounds if self.parameters.replan == "slot" else 0)
        rng = np.random.Generator(np.random.PCG64([self.seed, t]))
        improve_plan(
            jobs,
            plan,
            free,
            price,
            self.parameters.external,
            TIGHTEST if self.parameters.placement == "tightest" else FIRST,
            self.parameters.levels,
            rng.random((rounds, FIXED_DRAWS + n + slots)),
            slot_choice(slots, machines),
        )
        self.rounds_done += rounds
        # Computed anew from the counts, so that no rounding error adds up over the rounds.
        free[:] = self.instance.capacity
        for x in range(n):
            free -= _use(jobs, plan, x)

    def _execute(self, t: int, present: list[int], plan: PlanArrays) -> dict[int, str]:
        """Put the present slot of the plan on the cluster; returns why planned jobs wait."""
        causes: dict[int, str] = {}
        for i in present:
            self.cluster.release(i)
        self.plans = {}
        for x, i in enumerate(present):
            if plan.completion[x] < 0:
                continue
            completion = int(plan.completion[x]) + t
            payoff = float(plan.payoff[x])
            self.plans[i] = _JobPlan(t, plan.workers[x], plan.ps[x], completion, payoff)
            for h in np.flatnonzero(plan.workers[x, 0] + plan.ps[x, 0]):
                workers, ps = int(plan.workers[x, 0, h]), int(plan.ps[x, 0, h])
                self.cluster.put(i, int(h), workers, ps)
            if self.cluster.worker_count[i] == 0:
                causes[i] = LATER
            elif i not in self.promised:
                self.promised[i] = completion, payoff
        return causes

    def _why_not(
        self, jobs: JobNumbers, x: int, free: NDArray[np.float64], price: NDArray[np.float64]
    ) -> str:
        """Why a job is not in the plan: it would not fit any more, or not at its price."""
        _, completion = best_payoff(jobs, x, free, np.zeros_like(price), self.parameters.levels)
        return NO_ROOM if completion < 0 else PRICE


def _job_numbers(instance: TrainingInstance, present: list[int], slot: Slot) -> JobNumbers:
    jobs = [instance.jobs[i] for i in present]
    slots = instance.slots - slot.number
    utility = [
        [job.utility.value(slot.number + k - job.arrival) for k in range(slots)] for job in jobs
    ]
    return JobNumbers(
        instance.worker_demand[present],
        instance.ps_demand[present],
        np.array([job.workers_per_ps for job in jobs], dtype=float),
        np.array([job.batch for job in jobs], dtype=np.int64),
        np.array([job.rate_internal for job in jobs], dtype=float),
        np.array([job.rate_external for job in jobs], dtype=float),
        slot.remaining[present],
        np.array(utility, dtype=float),
        np.full(len(jobs), slots - 1, dtype=np.int64),
        np.zeros(len(jobs), dtype=np.bool_),
        np.zeros(len(jobs), dtype=np.int64),
    )


def _use(jobs: JobNumbers, plan: PlanArrays, x: int) -> NDArray[np.float64]:
    """What a job's plan uses, shape (slots, machines, resources)."""
    return np.asarray(
        plan.workers[x][:, :, None] * jobs.worker[x] + plan.ps[x][:, :, None] * jobs.ps[x]
    )


def run_plus(instance: TrainingInstance, parameters: PdorsPlusParameters, seed: int) -> Run:
    """Run `pdors-plus`; see `algorithms.training.plus.pdors_plus.run_pdors_plus`."""
    scheduler = PlusScheduler(instance, parameters, seed)
    placements, outcomes = simulate(instance, scheduler)
    decisions = tuple(_outcome(outcome, scheduler) for outcome in outcomes)
    log = PdorsPlusLog(instance, decisions, placements, tuple(scheduler.price_levels))
    late = sum(
        outcome.promised is not None
        and (outcome.completion is None or outcome.completion > outcome.promised)
        for outcome in decisions
    )
    counters = {"rounds": scheduler.rounds_done, "promises_broken": late}
    return baseline_run(PDORS_PLUS.name, log, counters)


def _outcome(outcome: JobOutcome, scheduler: PlusScheduler) -> PlusOutcome:
    """Add the promise, and for a job that never started the cause that held longest."""
    promised, payoff = scheduler.promised.get(outcome.job, (None, 0.0))
    words = outcome.explanation
    if promised is not None:
        words += f"; planned for slot {promised} when it started"
    return PlusOutcome(**{**vars(outcome), "explanation": words}, promised=promised, payoff=payoff)
