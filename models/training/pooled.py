r"""The pooled relaxation: all machines of a slot as one, with fractional or whole workers.

For every possible job i and slot t: :math:`d_{it}` binary: the job is done by the end of slot t;
workers :math:`w^{int}_{it}, w^{ext}_{it}` of the two modes, parameter servers (PSs)
:math:`s_{it}`, and their work so far :math:`x_{it}`, in workers at the internal rate.

.. math::

   \max \quad & \sum_{i,t} u_i(t - a_i)\, (d_{it} - d_{i,t-1}) \\
   & d_{i,t-1} \le d_{it}, \qquad d_{it} = 0
     \text{ for } t \text{ before job } i \text{ could complete alone} \\
   & \frac{w^{int}_{it}}{\bar w^{int}_i} + \frac{w^{ext}_{it}}{\bar w^{ext}_i}
     \le d_{i,T-1} - d_{i,t-1} \\
   & x_{it} = x_{i,t-1} + w^{int}_{it} + \rho_i w^{ext}_{it}, \qquad
     x_{it} \ge \frac{V_i}{r^{int}_i} d_{it}, \qquad \rho_i = r^{ext}_i / r^{int}_i \\
   & \gamma_i s_{it} \ge w^{int}_{it} + w^{ext}_{it} \\
   & \sum_i \alpha_{ir} (w^{int}_{it} + w^{ext}_{it}) + \beta_{ir} s_{it} \le \sum_h C_{hr}

Here :math:`\bar w^{int}_i` is the most workers that fit with their PSs on the best machine and
:math:`\bar w^{ext}_i` on all machines together (D5). A second count of work, with
:math:`\rho_i = 1`, is rounded up to whole workers. Every schedule gives a solution of the same
utility, so the *bound* that a solver proves for this model (never its incumbent) bounds the
offline optimum, at sizes far beyond the compact model. Ours; not in arXiv 2108.02917. The
completions c of the compact model are the differences of d; with d the rows stay short.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pyomo.environ as pyo

from models.training.dmlrs import TINY, completion_slots, worker_slots
from models.training.fit import ratio_row, room_of
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
    _stay_done(model)
    _run_until_done(model, instance)
    _work_done(model, instance)
    _whole_workers_done(model, instance)
    _ps_ratio(model, instance)
    _pooled_capacity(model, instance)
    model.total_utility = pyo.Objective(
        expr=_total_utility(model, instance, scale), sense=pyo.maximize
    )
    return model


def _total_utility(model: Any, instance: TrainingInstance, scale: float) -> Any:
    """Utility of each job at the slot in which d becomes 1, as a sum over falls of u."""
    total: Any = 0.0
    for i, slots in model.completion_slots.items():
        job = instance.jobs[i]
        utilities = [job.utility.value(t - job.arrival) / scale for t in slots] + [0.0]
        for t, now, later in zip(slots, utilities, utilities[1:], strict=False):
            total += (now - later) * model.done[i, t]
    return total


def _variables(model: Any, instance: TrainingInstance, whole_workers: bool) -> None:
    """Completion is binary; workers and PSs are fractions unless asked otherwise."""
    domain = pyo.NonNegativeIntegers if whole_workers else pyo.NonNegativeReals
    reach = instance.reach
    several = instance.number_of_machines > 1

    def most_external(_: Any, i: int, t: int) -> tuple[int, int]:
        return (0, reach[i].external_workers if several else 0)

    model.done = pyo.Var(model.completions, domain=pyo.Binary)
    model.work = pyo.Var(model.job_slots, domain=pyo.NonNegativeReals)
    model.workers_used = pyo.Var(model.job_slots, domain=pyo.NonNegativeReals)
    model.internal_workers = pyo.Var(
        model.job_slots, domain=domain, bounds=lambda _, i, t: (0, reach[i].internal_workers)
    )
    model.external_workers = pyo.Var(model.job_slots, domain=domain, bounds=most_external)
    model.ps = pyo.Var(
        model.job_slots,
        domain=domain,
        bounds=lambda _, i, t: (0, instance.jobs[i].ps_for(instance.jobs[i].batch)),
    )


def _stay_done(model: Any) -> None:
    """A job that is done stays done."""
    model.stay_done = pyo.Constraint(
        [(i, t) for i, t in model.completions if (i, t + 1) in model.done],
        rule=lambda m, i, t: m.done[i, t] <= m.done[i, t + 1],
    )


def _run_until_done(model: Any, instance: TrainingInstance) -> None:
    """Workers up to what fits alone, in one mode or a mixture, and none of a job that is done."""

    def rule(m: Any, i: int, t: int) -> Any:
        reach = instance.reach[i]
        running = m.done[i, m.completion_slots[i][-1]]
        if (i, t - 1) in m.done:
            running = running - m.done[i, t - 1]
        share: Any = 0.0
        if reach.internal_workers:
            share += m.internal_workers[i, t] / reach.internal_workers
        if reach.external_workers:
            share += m.external_workers[i, t] / reach.external_workers
        return share <= running

    model.run_until_done = pyo.Constraint(model.job_slots, rule=rule)


def _work_done(model: Any, instance: TrainingInstance) -> None:
    """A job that is done has processed its samples (eq. 3), in workers at the internal rate."""

    def count(m: Any, i: int, t: int) -> Any:
        job = instance.jobs[i]
        before = m.work[i, t - 1] if t > job.arrival else 0.0
        ratio = job.rate_external / job.rate_internal
        now = m.internal_workers[i, t] + ratio * m.external_workers[i, t]
        return m.work[i, t] == before + now

    model.count_work = pyo.Constraint(model.job_slots, rule=count)
    model.work_done = pyo.Constraint(
        model.completions,
        rule=lambda m, i, t: (
            m.work[i, t] >= worker_slots(instance.jobs[i]) * (1 - TINY) * m.done[i, t]
        ),
    )


def _whole_workers_done(model: Any, instance: TrainingInstance) -> None:
    """Workers are whole, and none does more than an internal one: round the workload up."""

    def count(m: Any, i: int, t: int) -> Any:
        before = m.workers_used[i, t - 1] if t > instance.jobs[i].arrival else 0.0
        return m.workers_used[i, t] == before + m.internal_workers[i, t] + m.external_workers[i, t]

    model.count_workers = pyo.Constraint(model.job_slots, rule=count)
    model.whole_workers_done = pyo.Constraint(
        model.completions,
        rule=lambda m, i, t: (
            m.workers_used[i, t]
            >= math.ceil(worker_slots(instance.jobs[i]) * (1 - TINY) - TINY) * m.done[i, t]
        ),
    )


def _ps_ratio(model: Any, instance: TrainingInstance) -> None:
    """At least one PS per gamma workers (eq. 2, D2)."""
    row = {i: ratio_row(instance.jobs[i]) for i in model.jobs}
    model.ps_ratio = pyo.Constraint(
        model.job_slots,
        rule=lambda m, i, t: (
            row[i][0] * m.ps[i, t] + row[i][1]
            >= m.internal_workers[i, t] + m.external_workers[i, t]
        ),
    )


def _pooled_capacity(model: Any, instance: TrainingInstance) -> None:
    """All machines together give no more of a resource than they have (eq. 5, summed)."""
    total = [sum(room_of(float(c)) for c in of_resource) for of_resource in instance.capacity.T]
    in_slot: dict[int, list[int]] = {}
    for i, t in model.job_slots:
        in_slot.setdefault(t, []).append(i)

    def rule(m: Any, t: int, r: int) -> Any:
        alpha, beta = instance.worker_demand[:, r], instance.ps_demand[:, r]
        jobs = [i for i in in_slot[t] if alpha[i] > 0 or beta[i] > 0]
        if not jobs:
            return pyo.Constraint.Skip
        scale = total[r] if instance.capacity[:, r].any() else 1.0
        return (
            sum(
                float(alpha[i]) / scale * (m.internal_workers[i, t] + m.external_workers[i, t])
                + float(beta[i]) / scale * m.ps[i, t]
                for i in jobs
            )
            <= total[r] / scale
        )

    resources = range(len(instance.resources))
    model.pooled_capacity = pyo.Constraint(sorted(in_slot), resources, rule=rule)
