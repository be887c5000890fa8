r"""The pooled relaxation: all machines of a slot as one, with fractional or whole workers.

For every possible job i and slot t: completion :math:`c_{it}` (binary), workers
:math:`w^{int}_{it}, w^{ext}_{it}` of the two modes and parameter servers (PSs) :math:`s_{it}`.

.. math::

   \max \quad & \sum_{i,t} u_i(t - a_i)\, c_{it} \\
   & \sum_t c_{it} \le 1, \qquad c_{it} = 0
     \text{ for } t \text{ before job } i \text{ could complete alone} \\
   & \frac{w^{int}_{it}}{\bar w^{int}_i} + \frac{w^{ext}_{it}}{\bar w^{ext}_i}
     \le \sum_{t' \ge t} c_{it'} \\
   & \sum_{t' \le t} \left( w^{int}_{it'} + \rho_i w^{ext}_{it'} \right)
     \ge \frac{V_i}{r^{int}_i} \sum_{t' \le t} c_{it'} \\
   & \gamma_i s_{it} \ge w^{int}_{it} + w^{ext}_{it} \\
   & \sum_i \alpha_{ir} (w^{int}_{it} + w^{ext}_{it}) + \beta_{ir} s_{it} \le \sum_h C_{hr}

Here :math:`\bar w^{int}_i` is the most workers that fit with their PSs on the best machine and
:math:`\bar w^{ext}_i` on all machines together (D5). Every schedule gives a solution of the same
utility, so the *bound* that a solver proves for this model (never its incumbent) bounds the
offline optimum, at sizes far beyond the compact model. Ours; not in arXiv 2108.02917.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pyomo.environ as pyo

from models.training.dmlrs import TINY, completion_slots, worker_slots
from models.training.instance import TrainingInstance

__all__ = ["build_pooled"]


def build_pooled(
    instance: TrainingInstance,
    *,
    last_slot: Mapping[int, int] | None = None,
    whole_workers: bool = False,
    scale: float = 1.0,
) -> pyo.ConcreteModel:
    """Build the pooled relaxation.

    Parameters
    ----------
    instance : TrainingInstance
    last_slot : mapping of job index to slot, optional
        Latest completion that is worth anything; jobs that are not in it are left out.
    whole_workers : bool
        Workers and PSs are integers: a stronger bound, slower.
    scale : float
        The objective is divided by this.

    Returns
    -------
    ConcreteModel
        With sets `completions`, `job_slots` of (i, t) and the objective `total_utility`.
    """
    model = pyo.ConcreteModel("pooled")
    completions = {i: completion_slots(instance, i, last_slot) for i in instance.possible_jobs}
    model.completion_slots = completions = {i: s for i, s in completions.items() if len(s)}
    model.jobs = pyo.Set(initialize=list(completions), dimen=1)
    model.completions = pyo.Set(
        initialize=[(i, t) for i, slots in completions.items() for t in slots], dimen=2
    )
    model.job_slots = pyo.Set(
        initialize=[
            (i, t)
            for i, slots in completions.items()
            for t in range(instance.jobs[i].arrival, slots[-1] + 1)
        ],
        dimen=2,
    )
    _variables(model, instance, whole_workers)
    _complete_at_most_once(model)
    _run_until_completion(model, instance)
    _work_before_completion(model, instance)
    _ps_ratio(model, instance)
    _pooled_capacity(model, instance)
    model.total_utility = pyo.Objective(
        expr=sum(
            instance.jobs[i].utility.value(t - instance.jobs[i].arrival)
            / scale
            * model.completes[i, t]
            for i, t in model.completions
        ),
        sense=pyo.maximize,
    )
    return model


def _variables(model: Any, instance: TrainingInstance, whole_workers: bool) -> None:
    """Completion is binary; workers and PSs are fractions unless asked otherwise."""
    domain = pyo.NonNegativeIntegers if whole_workers else pyo.NonNegativeReals
    reach = instance.reach
    several = instance.number_of_machines > 1

    def most_external(_: Any, i: int, t: int) -> tuple[int, int]:
        return (0, reach[i].external_workers if several else 0)

    model.completes = pyo.Var(model.completions, domain=pyo.Binary)
    model.internal_workers = pyo.Var(
        model.job_slots, domain=domain, bounds=lambda _, i, t: (0, reach[i].internal_workers)
    )
    model.external_workers = pyo.Var(model.job_slots, domain=domain, bounds=most_external)
    model.ps = pyo.Var(
        model.job_slots,
        domain=domain,
        bounds=lambda _, i, t: (0, instance.jobs[i].ps_for(instance.jobs[i].batch)),
    )


def _complete_at_most_once(model: Any) -> None:
    """A job completes in at most one slot."""
    model.complete_at_most_once = pyo.Constraint(
        model.jobs,
        rule=lambda m, i: sum(m.completes[i, t] for t in m.completion_slots[i]) <= 1,
    )


def _run_until_completion(model: Any, instance: TrainingInstance) -> None:
    """Workers up to what fits alone, in one mode or a mixture, and none after completion."""

    def rule(m: Any, i: int, t: int) -> Any:
        reach = instance.reach[i]
        active = sum(m.completes[i, u] for u in m.completion_slots[i] if u >= t)
        share = 0.0
        if reach.internal_workers:
            share += m.internal_workers[i, t] / reach.internal_workers
        if reach.external_workers:
            share += m.external_workers[i, t] / reach.external_workers
        return share <= active

    model.run_until_completion = pyo.Constraint(model.job_slots, rule=rule)


def _work_before_completion(model: Any, instance: TrainingInstance) -> None:
    """By each slot, the work of jobs that completed by then is done; in internal workers."""

    def rule(m: Any, i: int, t: int) -> Any:
        job = instance.jobs[i]
        ratio = job.rate_external / job.rate_internal
        done = sum(m.completes[i, u] for u in m.completion_slots[i] if u <= t)
        processed = sum(
            m.internal_workers[i, u] + ratio * m.external_workers[i, u]
            for u in range(job.arrival, t + 1)
        )
        return processed >= worker_slots(job) * (1 - TINY) * done

    model.work_before_completion = pyo.Constraint(model.completions, rule=rule)

    def whole(m: Any, i: int, t: int) -> Any:
        job = instance.jobs[i]
        needed = math.ceil(worker_slots(job) * (1 - TINY) - TINY)
        done = sum(m.completes[i, u] for u in m.completion_slots[i] if u <= t)
        workers = sum(
            m.internal_workers[i, u] + m.external_workers[i, u] for u in range(job.arrival, t + 1)
        )
        return workers >= needed * done

    model.whole_workers_before_completion = pyo.Constraint(model.completions, rule=whole)


def _ps_ratio(model: Any, instance: TrainingInstance) -> None:
    """At least one PS per gamma workers (eq. 2, D2)."""
    model.ps_ratio = pyo.Constraint(
        model.job_slots,
        rule=lambda m, i, t: (
            instance.jobs[i].workers_per_ps * m.ps[i, t]
            >= m.internal_workers[i, t] + m.external_workers[i, t]
        ),
    )


def _pooled_capacity(model: Any, instance: TrainingInstance) -> None:
    """All machines together give no more of a resource than they have (eq. 5, summed)."""
    total = instance.capacity.sum(axis=0)
    in_slot: dict[int, list[int]] = {}
    for i, t in model.job_slots:
        in_slot.setdefault(t, []).append(i)

    def rule(m: Any, t: int, r: int) -> Any:
        alpha, beta = instance.worker_demand[:, r], instance.ps_demand[:, r]
        jobs = [i for i in in_slot[t] if alpha[i] > 0 or beta[i] > 0]
        if not jobs:
            return pyo.Constraint.Skip
        scale = float(total[r]) or 1.0
        return (
            sum(
                float(alpha[i]) / scale * (m.internal_workers[i, t] + m.external_workers[i, t])
                + float(beta[i]) / scale * m.ps[i, t]
                for i in jobs
            )
            <= float(total[r]) / scale
        )

    resources = range(len(instance.resources))
    model.pooled_capacity = pyo.Constraint(sorted(in_slot), resources, rule=rule)
