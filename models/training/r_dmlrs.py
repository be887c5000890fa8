r"""R-DMLRS: at most one schedule per job out of given sets, within the machines' capacity.

With :math:`x_{\pi}` = 1 if schedule :math:`\pi \in \Pi_i` of job i is selected:

.. math::

   \max \quad & \sum_i \sum_{\pi \in \Pi_i} u_i(\tilde t_\pi - a_i)\, x_\pi \\
   & \sum_i \sum_{\pi \in \Pi_i}
     (\alpha_{ir} w^\pi_{ht} + \beta_{ir} s^\pi_{ht})\, x_\pi \le C_{hr}
     \qquad \forall t, h, r \\
   & \sum_{\pi \in \Pi_i} x_\pi \le 1 \quad \forall i, \qquad x_\pi \in \{0, 1\}

With x only nonnegative it is the linear relaxation, whose dual is `models.training.dual`.

Source: arXiv 2108.02917, section "Online Scheduling Algorithm Design", problem R-DMLRS with its
two constraints (resource limit and schedule selection).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyomo.environ as pyo

from models.training.instance import TrainingInstance
from models.training.schedule import Placement

__all__ = ["JobPlan", "build_r_dmlrs", "plans_of", "resource_use", "selected"]


@dataclass(frozen=True)
class JobPlan:
    """One schedule of one job that completes it.

    Attributes
    ----------
    job : int
    completion : int
        Last slot with a worker.
    placements : tuple of (slot, machine index, workers, PSs)
    """

    job: int
    completion: int
    placements: tuple[Placement, ...]


def plans_of(placements: Mapping[int, Iterable[Placement]]) -> list[JobPlan]:
    """Turn placements by job, which complete their jobs, into plans."""
    return [
        JobPlan(i, max(place[0] for place in places if place[2] > 0), tuple(places))
        for i, places in ((i, list(places)) for i, places in placements.items())
        if places
    ]


def resource_use(instance: TrainingInstance, plan: JobPlan) -> dict[tuple[int, int, int], float]:
    """Amount that a plan uses, by (slot, machine, resource); zeros are left out."""
    use: dict[tuple[int, int, int], float] = defaultdict(float)
    for t, h, workers, ps in plan.placements:
        for r in range(len(instance.resources)):
            amount = float(
                instance.worker_demand[plan.job, r] * workers + instance.ps_demand[plan.job, r] * ps
            )
            if amount > 0:
                use[t, h, r] += amount
    return dict(use)


def utility_of(instance: TrainingInstance, plan: JobPlan) -> float:
    """Utility of a plan's completion."""
    job = instance.jobs[plan.job]
    return job.utility.value(plan.completion - job.arrival)


def build_r_dmlrs(
    instance: TrainingInstance, plans: Sequence[JobPlan], *, relaxed: bool = False
) -> pyo.ConcreteModel:
    """Build R-DMLRS over the given plans.

    Parameters
    ----------
    instance : TrainingInstance
    plans : sequence of JobPlan
        The union of the sets Pi_i.
    relaxed : bool
        The linear relaxation, x >= 0.

    Returns
    -------
    ConcreteModel
        With variables `selects[k]`, one per plan, constraints `resource_limit[t, h, r]` and
        `schedule_selection[i]`, and the objective `total_utility`.
    """
    model = pyo.ConcreteModel("R-DMLRS")
    domain = pyo.NonNegativeReals if relaxed else pyo.Binary
    model.selects = pyo.Var(range(len(plans)), domain=domain)
    _resource_limit(model, instance, plans)
    _schedule_selection(model, plans)
    model.total_utility = pyo.Objective(
        expr=sum(
            (utility_of(instance, plan) * model.selects[k] for k, plan in enumerate(plans)), 0
        ),
        sense=pyo.maximize,
    )
    return model


def _resource_limit(model: Any, instance: TrainingInstance, plans: Sequence[JobPlan]) -> None:
    """No machine gives more of a resource than it has (eq. rsc_limit)."""
    use: dict[tuple[int, int, int], list[Any]] = defaultdict(list)
    for k, plan in enumerate(plans):
        for key, amount in resource_use(instance, plan).items():
            use[key].append(amount * model.selects[k])
    model.resource_limit = pyo.Constraint(
        sorted(use),
        rule=lambda m, t, h, r: sum(use[t, h, r]) <= float(instance.capacity[h, r]),
    )


def _schedule_selection(model: Any, plans: Sequence[JobPlan]) -> None:
    """At most one schedule of each job is selected (eq. sch_select)."""
    of_job: dict[int, list[int]] = defaultdict(list)
    for k, plan in enumerate(plans):
        of_job[plan.job].append(k)
    model.schedule_selection = pyo.Constraint(
        sorted(of_job), rule=lambda m, i: sum(m.selects[k] for k in of_job[i]) <= 1
    )


def selected(model: Any, plans: Sequence[JobPlan]) -> dict[int, list[Placement]]:
    """Read the selected plans off a solved integer model, as placements by job."""
    return {
        plan.job: list(plan.placements)
        for k, plan in enumerate(plans)
        if round(model.selects[k].value or 0.0) == 1
    }
