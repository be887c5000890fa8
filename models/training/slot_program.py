r"""The mixed cover/packing program of one job in one slot, external case.

.. math::

    \min_{w,s \ge 0} \; & \sum_h p^w_h w_h + p^s_h s_h \\
    \text{s.t.} \; & \alpha^r w_h + \beta^r s_h \le \hat C^r_h \quad \forall h, r
        & \text{(packing, eq. 19)} \\
    & \sum_h w_h \le F & \text{(batch, eq. 20)} \\
    & \sum_h w_h \ge D & \text{(worker cover, eq. 21)} \\
    & \sum_h s_h \ge \lceil D / \gamma \rceil & \text{(PS cover, missing in print, D3)}

with :math:`D = \lceil v (\tau + 2 g \gamma / (b^{(e)} F)) \rceil` workers for v samples.
The printed program has no lower bound on s, so that its optimum has no parameter server at all;
the last row puts this right (D3). Equation numbers are those of arXiv 2108.02917, counted
from the mixed cover/packing program that Algorithm 4 relaxes in its step 8.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike, NDArray

__all__ = ["build_slot_program"]


def build_slot_program(
    *,
    worker_cost: ArrayLike,
    ps_cost: ArrayLike,
    free_capacity: NDArray[np.float64],
    worker_demand: NDArray[np.float64],
    ps_demand: NDArray[np.float64],
    most_workers: ArrayLike,
    most_ps: ArrayLike,
    batch: int,
    worker_cover: float,
    ps_cover: float,
    integer: bool = False,
) -> Any:
    """Build the slot program; costs, capacities, upper bounds and covers are mutable.

    Parameters
    ----------
    worker_cost, ps_cost : arrays, shape (machines,)
        Cost of a worker and of a PS on each machine, scaled (D6).
    free_capacity : array, shape (machines, resources)
    worker_demand, ps_demand : arrays, shape (resources,)
        alpha and beta of the job.
    most_workers, most_ps : arrays, shape (machines,)
        Upper bounds; 0 where one unit does not fit (D7).
    batch : int
        F.
    worker_cover, ps_cover : float
        Right-hand sides D and ceil(D / gamma) of the cover rows.
    integer : bool
        Whole workers and PSs instead of the LP relaxation.

    Returns
    -------
    pyomo.environ.ConcreteModel
        With variables ``workers`` and ``ps`` and constraints ``packing``, ``batch``,
        ``worker_cover``, ``ps_cover``.
    """
    machines = range(len(free_capacity))
    needed = [r for r in range(len(worker_demand)) if worker_demand[r] > 0 or ps_demand[r] > 0]
    domain = pyo.NonNegativeIntegers if integer else pyo.NonNegativeReals
    model = pyo.ConcreteModel()
    model.worker_cost = _parameter(worker_cost)
    model.ps_cost = _parameter(ps_cost)
    model.most_workers = _parameter(most_workers)
    model.most_ps = _parameter(most_ps)
    model.free_capacity = pyo.Param(
        machines,
        needed,
        initialize={(h, r): float(free_capacity[h, r]) for h in machines for r in needed},
        mutable=True,
        domain=pyo.Reals,
    )
    model.workers = pyo.Var(machines, domain=domain, bounds=lambda m, h: (0, m.most_workers[h]))
    model.ps = pyo.Var(machines, domain=domain, bounds=lambda m, h: (0, m.most_ps[h]))
    model.cost = pyo.Objective(
        expr=sum(
            model.worker_cost[h] * model.workers[h] + model.ps_cost[h] * model.ps[h]
            for h in machines
        )
    )
    _packing(model, machines, needed, worker_demand, ps_demand)
    _batch(model, batch)
    _worker_cover(model, worker_cover)
    _ps_cover(model, ps_cover)
    return model


def _parameter(values: ArrayLike) -> pyo.Param:
    numbers = np.asarray(values, dtype=float)
    return pyo.Param(
        range(len(numbers)),
        initialize=dict(enumerate(numbers.tolist())),
        mutable=True,
        domain=pyo.Reals,
    )


def _packing(
    model: Any,
    machines: range,
    needed: list[int],
    worker_demand: NDArray[np.float64],
    ps_demand: NDArray[np.float64],
) -> None:
    """Workers and PSs fit into each machine's free capacity (eq. 19)."""

    def rule(m: Any, h: int, r: int) -> Any:
        return (
            float(worker_demand[r]) * m.workers[h] + float(ps_demand[r]) * m.ps[h]
            <= m.free_capacity[h, r]
        )

    model.packing = pyo.Constraint(machines, needed, rule=rule)


def _batch(model: Any, batch: int) -> None:
    """At most F workers at once (eq. 20)."""
    model.batch = pyo.Constraint(expr=pyo.quicksum(model.workers.values()) <= batch)


def _worker_cover(model: Any, worker_cover: float) -> None:
    """Enough workers for the slot's samples (eq. 21)."""
    model.worker_demand = pyo.Param(initialize=worker_cover, mutable=True, domain=pyo.Reals)
    model.worker_cover = pyo.Constraint(
        expr=pyo.quicksum(model.workers.values()) >= model.worker_demand
    )


def _ps_cover(model: Any, ps_cover: float) -> None:
    """Enough parameter servers for these workers (D3, the row that the paper leaves out)."""
    model.ps_demand = pyo.Param(initialize=ps_cover, mutable=True, domain=pyo.Reals)
    model.ps_cover = pyo.Constraint(expr=pyo.quicksum(model.ps.values()) >= model.ps_demand)
