r"""The time-indexed MILP, pooled or node-exact, and its optimistic version in coarse time.

With slots of :math:`\Delta` seconds, :math:`z_{jk} = 1` iff job j has started by slot k, and
:math:`y_{unk}` the same for unit u on node n; :math:`D_j = \lfloor d_j / \Delta \rfloor`:

.. math::

    \min \; & \sum_j w_j \sum_k \max(0, k \Delta - q_j) (z_{jk} - z_{j,k-1}) & \text{(5.2)} \\
    \text{s.t.} \; & z_{j,k-1} \le z_{jk}, \quad z_{jK} = 1, \quad
        z_{jk} = 0 \; \forall k < \lfloor q_j / \Delta \rfloor \\
    & \sum_j req_{jr} (z_{jk} - z_{j,k-D_j}) \le Cap^T_r \quad \forall r \in R', k & \text{(5.1)} \\
    & \sum_n y_{unk} = z_{j(u)k}, \quad y_{un,k-1} \le y_{unk} \\
    & \sum_u req_{ur} (y_{unk} - y_{un,k-D}) \le cap_{nr} \quad \forall n, r, k

With :math:`\Delta = 1` this is the problem itself (pooled: its relaxation). With a longer slot it
is a relaxation: jobs that run in slot k of the model all run at the last second of slot k of
the schedule that they came from, so (5.1) holds for every schedule, and no start costs more than it
did. With an *open end* the last slot has no capacity and costs what its begin costs, so that
the bound needs no horizon that holds an optimal schedule.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyomo.environ as pyo

from models.dispatch.arrays import with_slack
from models.dispatch.instance import DispatchInstance
from models.dispatch.relaxed import horizon_of
from models.solver import relation

__all__ = ["build_time_indexed"]


def build_time_indexed(
    instance: DispatchInstance,
    *,
    node_exact: bool = False,
    slot: int = 1,
    last_slot: int | None = None,
    integer: bool = True,
) -> pyo.ConcreteModel:
    """Build the model.

    Parameters
    ----------
    instance : DispatchInstance
    node_exact : bool
        Units on nodes, instead of all nodes as one.
    slot : int
        Seconds; more than 1 gives a model whose optimum is a lower bound.
    last_slot : int, optional
        The end is open there; without it the horizon holds an optimal schedule.
    integer : bool
        False for the LP relaxation.

    Returns
    -------
    ConcreteModel
        With `started` over (job, slot), `placed` over (unit, node, slot) if node-exact, and the
        objective `weighted_queue_time` [s].
    """
    arrays = instance.arrays
    model = pyo.ConcreteModel("time_indexed")
    model.open_end = last_slot is not None
    model.last = horizon_of(instance) // slot if last_slot is None else last_slot
    model.slot = slot
    jobs = np.flatnonzero(arrays.possible).tolist()
    model.first_slot = {j: min(int(arrays.submit[j]) // slot, model.last) for j in jobs}
    model.length = {j: int(arrays.duration[j]) // slot for j in jobs}
    model.jobs = pyo.Set(initialize=jobs, dimen=1)
    model.job_slots = pyo.Set(
        initialize=[(j, k) for j in jobs for k in range(model.first_slot[j], model.last + 1)],
        dimen=2,
    )
    domain = pyo.Binary if integer else pyo.UnitInterval
    model.started = pyo.Var(model.job_slots, domain=domain)
    _stay_started(model)
    _all_start(model)
    _pooled_capacity(model, instance)
    _power_cap(model, instance)
    if node_exact:
        _units_on_nodes(model, instance, domain)
        _node_capacity(model, instance)
    model.weighted_queue_time = pyo.Objective(expr=_cost(model, instance), sense=pyo.minimize)
    return model


def _cost(model: Any, instance: DispatchInstance) -> Any:
    """Weighted queue time (5.2), summed by parts over the slots."""
    arrays = instance.arrays
    total: Any = 0.0
    for j, first in model.first_slot.items():
        weight, submit = float(arrays.weight[j]), int(arrays.submit[j])
        costs = [weight * max(0, k * model.slot - submit) for k in range(first, model.last + 1)]
        # An open end may lie before the submit, which then costs nothing.
        total += costs[-1]
        total -= sum(
            (later - now) * model.started[j, first + i]
            for i, (now, later) in enumerate(itertools.pairwise(costs))
            if later > now
        )
    return total


def _stay_started(model: Any) -> None:
    """Who has started by a slot has started by the next."""
    model.stay_started = pyo.Constraint(
        model.job_slots,
        rule=lambda m, j, k: (
            m.started[j, k - 1] <= m.started[j, k] if k > m.first_slot[j] else pyo.Constraint.Skip
        ),
    )


def _all_start(model: Any) -> None:
    """Every possible job starts."""
    for j in model.jobs:
        model.started[j, model.last].fix(1)


def _running(model: Any, variable: Any, key: tuple[int, ...], j: int, k: int) -> Any:
    """Whether a job, or a unit on a node, runs in slot k."""
    before = k - model.length[j]
    now = variable[(*key, k)]
    return now - variable[(*key, before)] if before >= model.first_slot[j] else now


def _slots(model: Any) -> range:
    return range(model.last + (0 if model.open_end else 1))


def _present(model: Any, k: int) -> list[int]:
    """Jobs that can run in slot k."""
    return [j for j, first in model.first_slot.items() if first <= k and model.length[j]]


def _pooled_capacity(model: Any, instance: DispatchInstance) -> None:
    """Running jobs need no more of a resource than all nodes have (eq. 5.1)."""
    arrays = instance.arrays

    def rule(m: Any, r: int, k: int) -> Any:
        demand, limit = arrays.job_demand[:, r], float(with_slack(arrays.total_capacity[r]))
        present = [j for j in _present(m, k) if demand[j]]
        if demand[present].sum() <= limit:
            return pyo.Constraint.Skip
        return relation(
            sum(float(demand[j]) * _running(m, m.started, (j,), j, k) for j in present) <= limit
        )

    model.pooled_capacity = pyo.Constraint(
        range(instance.number_of_resources), list(_slots(model)), rule=rule
    )


def _power_cap(model: Any, instance: DispatchInstance) -> None:
    """Running jobs draw no more than the cap leaves above the idle system (eq. 5.1)."""
    arrays = instance.arrays

    def rule(m: Any, k: int) -> Any:
        present = [j for j in _present(m, k) if arrays.power[j]]
        if arrays.power[present].sum() <= arrays.headroom_limit:
            return pyo.Constraint.Skip
        return relation(
            sum(float(arrays.power[j]) * _running(m, m.started, (j,), j, k) for j in present)
            <= arrays.headroom_limit
        )

    model.power_cap = pyo.Constraint(list(_slots(model)), rule=rule)


def _units_on_nodes(model: Any, instance: DispatchInstance, domain: Any) -> None:
    """A unit starts with its job, on one node that it fits on, and stays there."""
    arrays = instance.arrays
    model.unit_job = {
        u: j
        for j in model.jobs
        for u in range(int(arrays.unit_first[j]), int(arrays.unit_first[j + 1]))
    }
    model.fits = {
        u: np.flatnonzero((arrays.unit_demand[u] <= arrays.capacity_limit).all(axis=1)).tolist()
        for u in model.unit_job
    }
    model.unit_slots = pyo.Set(
        initialize=[(u, k) for u, j in model.unit_job.items() for k in _job_slots(model, j)],
        dimen=2,
    )
    model.placements = pyo.Set(
        initialize=[(u, n, k) for u, k in model.unit_slots for n in model.fits[u]], dimen=3
    )
    model.placed = pyo.Var(model.placements, domain=domain)
    model.one_node = pyo.Constraint(
        model.unit_slots,
        rule=lambda m, u, k: (
            sum(m.placed[u, n, k] for n in m.fits[u]) == m.started[m.unit_job[u], k]
        ),
    )
    model.stay_placed = pyo.Constraint(
        model.placements,
        rule=lambda m, u, n, k: (
            m.placed[u, n, k - 1] <= m.placed[u, n, k]
            if k > m.first_slot[m.unit_job[u]]
            else pyo.Constraint.Skip
        ),
    )


def _job_slots(model: Any, j: int) -> range:
    return range(model.first_slot[j], model.last + 1)


def _node_capacity(model: Any, instance: DispatchInstance) -> None:
    """Running units need no more of a node than it has."""
    arrays = instance.arrays
    units_of: dict[int, list[int]] = {n: [] for n in range(instance.number_of_nodes)}
    for u, nodes in model.fits.items():
        for n in nodes:
            units_of[n].append(u)

    def rule(m: Any, n: int, r: int, k: int) -> Any:
        limit, demand = float(arrays.capacity_limit[n, r]), arrays.unit_demand[:, r]
        present = [
            u
            for u in units_of[n]
            if demand[u] and m.length[m.unit_job[u]] and m.first_slot[m.unit_job[u]] <= k
        ]
        if demand[present].sum() <= limit:
            return pyo.Constraint.Skip
        return relation(
            sum(float(demand[u]) * _running(m, m.placed, (u, n), m.unit_job[u], k) for u in present)
            <= limit
        )

    model.node_capacity = pyo.Constraint(
        range(instance.number_of_nodes),
        range(instance.number_of_resources),
        list(_slots(model)),
        rule=rule,
    )
