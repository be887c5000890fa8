r"""D-R-DMLRS: the dual of the linear relaxation of R-DMLRS, written out.

Prices :math:`p_{thr} \ge 0` of the resources and payoffs :math:`\lambda_i \ge 0` of the jobs:

.. math::

   \min \quad & \sum_i \lambda_i + \sum_{t,h,r} p_{thr}\, C_{hr} \\
   & \lambda_i \ge u_i(\tilde t_\pi - a_i)
     - \sum_{t,h,r} (\alpha_{ir} w^\pi_{ht} + \beta_{ir} s^\pi_{ht})\, p_{thr}
     \qquad \forall i,\ \pi \in \Pi_i

A job's payoff is the most that any of its schedules earns above the price of what it uses. Any
feasible prices and payoffs bound R-DMLRS from above (weak duality); the best ones attain the
linear relaxation's value (strong duality).

Source: arXiv 2108.02917, section "An Online Primal-Dual Framework for R-DMLRS", problem
D-R-DMLRS.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyomo.environ as pyo

from models.training.instance import TrainingInstance
from models.training.r_dmlrs import JobPlan, resource_use, utility_of

__all__ = ["build_dual"]


def build_dual(instance: TrainingInstance, plans: Sequence[JobPlan]) -> pyo.ConcreteModel:
    """Build D-R-DMLRS over the given plans.

    Parameters
    ----------
    instance : TrainingInstance
    plans : sequence of JobPlan
        The union of the sets Pi_i.

    Returns
    -------
    ConcreteModel
        With variables `price[t, h, r]` (only of what some plan uses) and `payoff[i]`,
        constraints `payoff_of_plan[k]` and the objective `total_value`.
    """
    model = pyo.ConcreteModel("D-R-DMLRS")
    use = [resource_use(instance, plan) for plan in plans]
    model.price = pyo.Var(sorted({key for one in use for key in one}), domain=pyo.NonNegativeReals)
    model.payoff = pyo.Var(sorted({plan.job for plan in plans}), domain=pyo.NonNegativeReals)
    _payoff_of_plan(model, instance, plans, use)
    model.total_value = pyo.Objective(
        expr=sum(
            (float(instance.capacity[h, r]) * model.price[t, h, r] for t, h, r in model.price),
            sum(model.payoff.values()),
        ),
        sense=pyo.minimize,
    )
    return model


def _payoff_of_plan(
    model: Any,
    instance: TrainingInstance,
    plans: Sequence[JobPlan],
    use: Sequence[dict[tuple[int, int, int], float]],
) -> None:
    """A job's payoff is at least what each plan earns above its cost (eq. dualconstr)."""
    model.payoff_of_plan = pyo.Constraint(
        range(len(plans)),
        rule=lambda m, k: (
            m.payoff[plans[k].job] + sum(amount * m.price[key] for key, amount in use[k].items())
            >= utility_of(instance, plans[k])
        ),
    )
