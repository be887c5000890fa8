"""The small MILP of D5 for machines that hold very many workers of a job.

`models.training.throughput` computes w_ext by tables, whose size is the number of workers that
fit. Where that is tens of thousands (tiny demands and a large batch), the MILP is far faster.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from models.solver import SolverError, solve_model
from models.training.fit import ratio_row
from models.training.instance import Job
from models.training.throughput import most_units

__all__ = ["most_workers_by_program"]

SECONDS = 10.0


def most_workers_by_program(
    job: Job,
    worker_demand: NDArray[np.float64],
    ps_demand: NDArray[np.float64],
    capacity: NDArray[np.float64],
    at_most: int,
) -> int:
    """Most workers that fit with their PSs on all machines together.

    Parameters
    ----------
    job : Job
    worker_demand, ps_demand : arrays, shape (resources,)
    capacity : array, shape (machines, resources)
    at_most : int
        Upper limit.

    Returns
    -------
    int
        The solver's point, if it passes a check of ours and the bound allows no worker more.
        Otherwise the bound: then it may be too high, but what is proved with it stays true.
    """
    model = _build(job, worker_demand, ps_demand, capacity, at_most)
    try:
        result = solve_model(model, time_limit=SECONDS, mip_gap=0.0, mip_gap_abs=0.5)
    except SolverError:  # numbers that the solver refuses
        return at_most
    bound = (
        min(at_most, math.floor(result.bound + 1e-3)) if math.isfinite(result.bound) else at_most
    )
    if not result.has_solution:
        return bound
    result.load_into(model)
    workers = np.array([model.workers[h].value for h in model.machines], dtype=np.int64)
    rest = capacity - workers[:, None] * worker_demand
    fitting = workers <= most_units(worker_demand, capacity, at_most)
    beside = most_units(ps_demand, rest, job.ps_for(job.batch))
    total = int(workers.sum())
    sound = bool(fitting.all()) and int(beside.sum()) >= job.ps_for(total)
    return total if sound and total >= bound else bound


def _build(
    job: Job,
    worker_demand: NDArray[np.float64],
    ps_demand: NDArray[np.float64],
    capacity: NDArray[np.float64],
    at_most: int,
) -> Any:
    model = pyo.ConcreteModel("reach")
    model.machines = pyo.RangeSet(0, len(capacity) - 1)
    most_workers = most_units(worker_demand, capacity, at_most).tolist()
    most_ps = most_units(ps_demand, capacity, job.ps_for(job.batch)).tolist()
    integers = pyo.NonNegativeIntegers
    model.workers = pyo.Var(
        model.machines, domain=integers, bounds=lambda _, h: (0, most_workers[h])
    )
    model.ps = pyo.Var(model.machines, domain=integers, bounds=lambda _, h: (0, most_ps[h]))

    def fits(m: Any, h: int, r: int) -> Any:
        scale = max(worker_demand[r], ps_demand[r])
        return float(worker_demand[r] / scale) * m.workers[h] + float(ps_demand[r] / scale) * m.ps[
            h
        ] <= float(capacity[h, r] / scale)

    needed = np.flatnonzero((worker_demand > 0) | (ps_demand > 0)).tolist()
    model.capacity = pyo.Constraint(model.machines, needed, rule=fits)
    total = pyo.quicksum(model.workers.values())
    coefficient, constant = ratio_row(job)
    model.ratio = pyo.Constraint(
        expr=coefficient * pyo.quicksum(model.ps.values()) + constant >= total
    )
    model.batch = pyo.Constraint(expr=total <= at_most)
    model.most = pyo.Objective(expr=total, sense=pyo.maximize)
    return model
