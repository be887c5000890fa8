r"""Dorm's utilisation program: how many workers each present job gets, on all machines pooled.

For every present job i: workers :math:`n_i` and parameter servers (PSs) :math:`s_i`, whole
numbers; with :math:`\alpha_{ir}, \beta_{ir}` as parts of the resource's total and :math:`d_i`
the job's dominant resource.

.. math::

   \max \; & \sum_r \sum_i \alpha_{ir} n_i + \beta_{ir} s_i \\
   \text{s.t.} \; & \sum_i \alpha_{ir} n_i + \beta_{ir} s_i \le 1 \quad \forall r
       & \text{(capacity)} \\
   & n_i / \gamma_i \le s_i \le n_i / \gamma_i + 1 - \epsilon
       & \text{(PSs as D2 requires, no more)} \\
   & \sum_i | \alpha_{i d_i} n_i + \beta_{i d_i} s_i - f_i | \le L & \text{(fairness loss)} \\
   & \sum_{i \text{ present before}} [\, n_i \ne n_i^{before} \,] \le A & \text{(adjustments)}

:math:`f_i` is what dominant resource fairness would give, :math:`L = \lceil 2 R \theta_1 \rceil`
and :math:`A = \lceil \theta_2 |jobs\ present\ before\ and\ now| \rceil` (training.md, section 3).

Sun et al., "Towards Distributed Machine Learning in Shared Clusters: A Dynamically-Partitioned
Approach", SMARTCOMP 2017, arXiv 1704.06738. There the containers are placed too; here counts
are found first, and 0 workers are allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike, NDArray

__all__ = ["build_dorm_program"]

# epsilon: with a whole PS more than needed, one would be idle. Ten times the tolerance of the
# solver, which at the tolerance itself takes the idle PS.
IDLE_MARGIN = 1e-5


def build_dorm_program(
    *,
    worker_share: NDArray[np.float64],
    ps_share: NDArray[np.float64],
    workers_per_ps: ArrayLike,
    most_workers: ArrayLike,
    most_ps: ArrayLike,
    dominant: ArrayLike,
    fair_share: ArrayLike,
    fairness_limit: float,
    before: Mapping[int, int],
    adjustment_limit: int | None,
) -> Any:
    """Build the program for the jobs that are present.

    Parameters
    ----------
    worker_share, ps_share : arrays, shape (jobs, resources)
        Part of each resource's total that one worker and one PS need.
    workers_per_ps, most_workers, most_ps : arrays, shape (jobs,)
        gamma and upper bounds.
    dominant : array of int, shape (jobs,)
        Resource in which the job's share is measured.
    fair_share : array, shape (jobs,)
        The job's share of that resource under dominant resource fairness.
    fairness_limit : float
        Most fairness loss, summed over the jobs.
    before : mapping of row to int
        Workers of the jobs that were present before.
    adjustment_limit : int or None
        Most of these jobs that may change; None for no limit.

    Returns
    -------
    pyomo.environ.ConcreteModel
        With variables ``workers``, ``ps``, ``loss`` and constraints ``capacity``,
        ``enough_ps``, ``no_idle_ps``, ``fairness`` and ``adjustment``.
    """
    jobs = range(len(worker_share))
    resources = [
        r for r in range(worker_share.shape[1]) if worker_share[:, r].any() or ps_share[:, r].any()
    ]
    workers_bound = np.asarray(most_workers).tolist()
    ps_bound = np.asarray(most_ps).tolist()
    model = pyo.ConcreteModel("dorm")
    model.workers = pyo.Var(
        jobs, domain=pyo.NonNegativeIntegers, bounds=lambda _, i: (0, workers_bound[i])
    )
    model.ps = pyo.Var(jobs, domain=pyo.NonNegativeIntegers, bounds=lambda _, i: (0, ps_bound[i]))
    use = {
        r: pyo.quicksum(
            float(worker_share[i, r]) * model.workers[i] + float(ps_share[i, r]) * model.ps[i]
            for i in jobs
        )
        for r in resources
    }
    model.utilisation = pyo.Objective(expr=pyo.quicksum(use.values()), sense=pyo.maximize)
    _capacity(model, use)
    _ps_ratio(model, jobs, np.asarray(workers_per_ps, dtype=float).tolist())
    _fairness(model, jobs, worker_share, ps_share, dominant, fair_share, fairness_limit)
    if adjustment_limit is not None and before:
        _adjustment(model, before, workers_bound, adjustment_limit)
    return model


def _capacity(model: Any, use: Mapping[int, Any]) -> None:
    """All jobs together use no more of a resource than there is."""
    model.capacity = pyo.Constraint(list(use), rule=lambda _, r: use[r] <= 1.0)


def _ps_ratio(model: Any, jobs: range, workers_per_ps: list[float]) -> None:
    """As many PSs as D2 requires, and none idle: they would count as utilisation."""
    model.enough_ps = pyo.Constraint(
        jobs, rule=lambda m, i: m.ps[i] - m.workers[i] / workers_per_ps[i] >= 0
    )
    model.no_idle_ps = pyo.Constraint(
        jobs, rule=lambda m, i: m.ps[i] - m.workers[i] / workers_per_ps[i] <= 1 - IDLE_MARGIN
    )


def _fairness(
    model: Any,
    jobs: range,
    worker_share: NDArray[np.float64],
    ps_share: NDArray[np.float64],
    dominant: ArrayLike,
    fair_share: ArrayLike,
    limit: float,
) -> None:
    """The jobs' dominant shares differ from fair ones by no more than the limit in total."""
    resource = np.asarray(dominant).tolist()
    fair = np.asarray(fair_share, dtype=float).tolist()
    model.loss = pyo.Var(jobs, domain=pyo.NonNegativeReals)

    def above_fair(m: Any, i: int) -> Any:
        r = resource[i]
        return float(worker_share[i, r]) * m.workers[i] + float(ps_share[i, r]) * m.ps[i] - fair[i]

    model.loss_above = pyo.Constraint(jobs, rule=lambda m, i: m.loss[i] >= above_fair(m, i))
    model.loss_below = pyo.Constraint(jobs, rule=lambda m, i: m.loss[i] >= -above_fair(m, i))
    model.fairness = pyo.Constraint(expr=pyo.quicksum(model.loss.values()) <= limit)


def _adjustment(model: Any, before: Mapping[int, int], most_workers: list[int], limit: int) -> None:
    """No more than the limit of the jobs that were present before get another number."""
    model.present_before = pyo.Set(initialize=sorted(before), dimen=1)
    model.changed = pyo.Var(model.present_before, domain=pyo.Binary)
    model.raised = pyo.Constraint(
        model.present_before,
        rule=lambda m, i: (
            m.workers[i] - before[i] <= max(most_workers[i] - before[i], 0) * m.changed[i]
        ),
    )
    model.lowered = pyo.Constraint(
        model.present_before, rule=lambda m, i: before[i] - m.workers[i] <= before[i] * m.changed[i]
    )
    model.adjustment = pyo.Constraint(expr=pyo.quicksum(model.changed.values()) <= limit)
