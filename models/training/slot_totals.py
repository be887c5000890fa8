r"""Slot totals: DMLRS with whole workers per job and slot, but without saying on which machine.

For every possible job i and slot t: :math:`d_{it}` binary, the job is done by the end of t;
:math:`z_{it}, e_{it}` binary, in t it runs internally on one machine or externally over several
(D1); whole workers :math:`w^{int}_{it}, w^{ext}_{it}` of the two modes and whole parameter
servers (PSs) :math:`s_{it}` of the external one; its work so far :math:`x_{it}`, in workers at
the internal rate.

.. math::

   \max \quad & \sum_{i,t} u_i(t - a_i)\, (d_{it} - d_{i,t-1}) \\
   & d_{i,t-1} \le d_{it}, \qquad
     z_{it} + e_{it} \le d_{i,T-1} - d_{i,t-1} \\
   & z_{it} \le w^{int}_{it} \le \bar w^{int}_i z_{it}, \qquad
     e_{it} \le w^{ext}_{it} \le \bar w^{ext}_i e_{it}, \qquad
     \gamma_i s_{it} \ge w^{ext}_{it} \\
   & x_{it} = x_{i,t-1} + w^{int}_{it} + \rho_i w^{ext}_{it}, \qquad
     x_{it} \ge \frac{V_i}{r^{int}_i} d_{it}, \qquad \rho_i = r^{ext}_i / r^{int}_i \\
   & \sum_i (\alpha_{ir} + \beta_{ir} / \gamma_i) w^{int}_{it} + \alpha_{ir} w^{ext}_{it}
     + \beta_{ir} s_{it} \le \sum_h C_{hr}

Every schedule has totals of this kind with its utility, so the optimum here bounds the offline
optimum. Totals come from a schedule iff in every slot they can be *packed* into the machines:
see `models.training.slot_packing`, and `algorithms.training.exact.machine_hull` for the
inequalities that packable totals satisfy. Ours; not in arXiv 2108.02917 (its eqs. 2-6 without
the machine index).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyomo.environ as pyo

from models.training.dmlrs import TINY, completion_slots, worker_slots
from models.training.fit import ratio_row, room_of
from models.training.instance import TrainingInstance

__all__ = ["TOTALS", "build_slot_totals"]

TOTALS = ("internal_workers", "internal", "external_workers", "external_ps")
"""The variables, each over (job, slot), that say what a slot has to hold."""


def build_slot_totals(
    instance: TrainingInstance,
    *,
    last_slot: Mapping[int, int] | None = None,
    scale: float = 1.0,
) -> pyo.ConcreteModel:
    """Build the model of slot totals.

    Parameters
    ----------
    instance : TrainingInstance
    last_slot : mapping of job index to slot, optional
        Latest completion that is worth anything; jobs that are not in it are left out.
    scale : float
        The objective is divided by this.

    Returns
    -------
    ConcreteModel
        With sets `completions`, `job_slots` of (i, t) and the objective `total_utility`.
    """
    model = pyo.ConcreteModel("slot totals")
    slots = {i: completion_slots(instance, i, last_slot) for i in instance.possible_jobs}
    model.completion_slots = slots = {i: s for i, s in slots.items() if len(s)}
    model.completions = pyo.Set(
        initialize=[(i, t) for i in slots for t in slots[i]], dimen=2, ordered=True
    )
    model.job_slots = pyo.Set(
        initialize=[
            (i, t) for i in slots for t in range(instance.jobs[i].arrival, slots[i][-1] + 1)
        ],
        dimen=2,
        ordered=True,
    )
    _variables(model, instance)
    _stay_done(model)
    _run_until_done(model)
    _workers_of_a_mode(model, instance)
    _external_ps(model, instance)
    _work_done(model, instance)
    _capacity_of_all(model, instance)
    utility: Any = 0.0
    for i, completions in slots.items():
        values = [instance.jobs[i].utility.value(t - instance.jobs[i].arrival) for t in completions]
        for t, now, later in zip(completions, values, [*values[1:], 0.0], strict=True):
            utility += (now - later) / scale * model.done[i, t]
    model.total_utility = pyo.Objective(expr=utility, sense=pyo.maximize)
    return model


def _variables(model: Any, instance: TrainingInstance) -> None:
    """All whole; the external mode only where there are several machines."""
    reach, several = instance.reach, instance.number_of_machines > 1

    def spread(i: int) -> int:
        return reach[i].external_workers if several else 0

    model.done = pyo.Var(model.completions, domain=pyo.Binary)
    model.internal = pyo.Var(model.job_slots, domain=pyo.Binary)
    model.external = pyo.Var(
        model.job_slots,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda _, i, t: (0, min(1, spread(i))),
    )
    model.internal_workers = pyo.Var(
        model.job_slots,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda _, i, t: (0, reach[i].internal_workers),
    )
    model.external_workers = pyo.Var(
        model.job_slots, domain=pyo.NonNegativeIntegers, bounds=lambda _, i, t: (0, spread(i))
    )
    model.external_ps = pyo.Var(
        model.job_slots,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda _, i, t: (0, instance.jobs[i].ps_for(spread(i))),
    )
    # With whole workers this says little; its LP is used too, where it is D2 for the mode.
    model.internal_ps = pyo.Var(model.job_slots, domain=pyo.NonNegativeReals)
    model.work = pyo.Var(model.job_slots, domain=pyo.NonNegativeReals)


def _stay_done(model: Any) -> None:
    """A job that is done stays done."""
    model.stay_done = pyo.Constraint(
        [(i, t) for i, t in model.completions if (i, t + 1) in model.done],
        rule=lambda m, i, t: m.done[i, t] <= m.done[i, t + 1],
    )


def _run_until_done(model: Any) -> None:
    """One mode in a slot, only of a job that will be done, and none after that (eq. 6)."""

    def rule(m: Any, i: int, t: int) -> Any:
        running = m.done[i, m.completion_slots[i][-1]]
        if (i, t - 1) in m.done:
            running = running - m.done[i, t - 1]
        return m.internal[i, t] + m.external[i, t] <= running

    model.run_until_done = pyo.Constraint(model.job_slots, rule=rule)


def _workers_of_a_mode(model: Any, instance: TrainingInstance) -> None:
    """A mode has workers, at most what fits (eqs. 4, 5), and only where it is chosen."""
    reach = instance.reach
    model.internal_at_most = pyo.Constraint(
        model.job_slots,
        rule=lambda m, i, t: (
            m.internal_workers[i, t] <= reach[i].internal_workers * m.internal[i, t]
        ),
    )
    model.internal_at_least = pyo.Constraint(
        model.job_slots, rule=lambda m, i, t: m.internal_workers[i, t] >= m.internal[i, t]
    )
    model.external_at_most = pyo.Constraint(
        model.job_slots,
        rule=lambda m, i, t: (
            m.external_workers[i, t] <= reach[i].external_workers * m.external[i, t]
        ),
    )
    model.external_at_least = pyo.Constraint(
        model.job_slots, rule=lambda m, i, t: m.external_workers[i, t] >= m.external[i, t]
    )


def _external_ps(model: Any, instance: TrainingInstance) -> None:
    """At least one PS per gamma workers (eq. 2, D2), in both modes; PSs only with workers."""
    row = {i: ratio_row(instance.jobs[i]) for i in model.completion_slots}
    model.external_ps_ratio = pyo.Constraint(
        model.job_slots,
        rule=lambda m, i, t: (
            row[i][0] * m.external_ps[i, t] + row[i][1] >= m.external_workers[i, t]
        ),
    )
    model.internal_ps_ratio = pyo.Constraint(
        model.job_slots,
        rule=lambda m, i, t: (
            row[i][0] * m.internal_ps[i, t] + row[i][1] >= m.internal_workers[i, t]
        ),
    )
    model.external_ps_at_most = pyo.Constraint(
        model.job_slots,
        rule=lambda m, i, t: (
            m.external_ps[i, t]
            <= instance.jobs[i].ps_for(instance.reach[i].external_workers) * m.external[i, t]
        ),
    )
    model.first_external_ps = pyo.Constraint(
        [key for key in model.job_slots if instance.jobs[key[0]].ps_for(1) > 0],
        rule=lambda m, i, t: m.external_ps[i, t] >= m.external[i, t],
    )


def _work_done(model: Any, instance: TrainingInstance) -> None:
    """A job that is done has processed its samples (eq. 3), in workers at the internal rate."""

    def count(m: Any, i: int, t: int) -> Any:
        job = instance.jobs[i]
        before = m.work[i, t - 1] if t > job.arrival else 0.0
        ratio = job.rate_external / job.rate_internal
        return m.work[i, t] == (
            before + m.internal_workers[i, t] + ratio * m.external_workers[i, t]
        )

    model.count_work = pyo.Constraint(model.job_slots, rule=count)
    model.work_done = pyo.Constraint(
        model.completions,
        rule=lambda m, i, t: (
            m.work[i, t] >= worker_slots(instance.jobs[i]) * (1 - TINY) * m.done[i, t]
        ),
    )


def _capacity_of_all(model: Any, instance: TrainingInstance) -> None:
    """All machines together give no more of a resource than they have (eq. 5, summed)."""
    in_slot: dict[int, list[int]] = {}
    for i, t in model.job_slots:
        in_slot.setdefault(t, []).append(i)
    total = [sum(room_of(float(c)) for c in of_resource) for of_resource in instance.capacity.T]

    def rule(m: Any, t: int, r: int) -> Any:
        alpha, beta = instance.worker_demand[:, r], instance.ps_demand[:, r]
        jobs = [i for i in in_slot[t] if alpha[i] > 0 or beta[i] > 0]
        if not jobs:
            return pyo.Constraint.Skip
        scale = total[r] if instance.capacity[:, r].any() else 1.0
        return (
            sum(
                float(alpha[i]) / scale * (m.internal_workers[i, t] + m.external_workers[i, t])
                + float(beta[i]) / scale * (m.internal_ps[i, t] + m.external_ps[i, t])
                for i in jobs
            )
            <= total[r] / scale
        )

    model.capacity_of_all = pyo.Constraint(
        sorted(in_slot), range(len(instance.resources)), rule=rule
    )
