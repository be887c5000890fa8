"""What the hybrid's compiled functions read, made of an instance."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from algorithms.dispatch.hybrid.draw_kernel import PooledProblem
from algorithms.dispatch.hybrid.serial_kernels import FIRST, FULLEST, SerialProblem, misplaced
from models.dispatch import DispatchInstance, pack_job
from models.dispatch.arrays import with_slack

__all__ = ["make_pooled", "make_serial"]

BINDING = 0.5
"""A resource is in the decoder's profile if its load is at least this share of the largest."""


def _pool(instance: DispatchInstance) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Largest uses and jobs' demands of resources pooled over nodes, and of power, last."""
    arrays = instance.arrays
    limit = np.append(with_slack(arrays.total_capacity), arrays.headroom_limit)
    return limit, np.column_stack([arrays.job_demand, arrays.power])


def make_pooled(
    instance: DispatchInstance, conflict_sets: Collection[Sequence[int]] = ()
) -> PooledProblem:
    """Make the relaxed problem (5.1) with conflict sets of the instance's job indices."""
    arrays = instance.arrays
    jobs = np.flatnonzero(arrays.possible)
    limit, demand = _pool(instance)
    place = {j: k for k, j in enumerate(jobs.tolist())}
    mine: list[list[int]] = [[] for _ in jobs]
    sets = [conflict for conflict in conflict_sets if len(conflict) > 1]
    for s, conflict in enumerate(sets):
        for j in conflict:
            mine[place[j]].append(s)
    return PooledProblem(
        pool=limit,
        demand=demand[jobs],
        submit=arrays.submit[jobs],
        duration=arrays.duration[jobs],
        weight=arrays.weight[jobs],
        set_room=np.array([len(conflict) - 1 for conflict in sets], dtype=np.int64),
        first_set=np.cumsum([0, *map(len, mine)]).astype(np.int64),
        sets=np.array([s for own in mine for s in own], dtype=np.int64),
    )


def make_serial(
    instance: DispatchInstance, nodes: str, *, binding: float = BINDING
) -> SerialProblem:
    """Make what the serial decoder reads; all jobs keep their index.

    The profile has the resources whose load is at least `binding` times the largest.
    """
    arrays = instance.arrays
    limit, demand = _pool(instance)
    load = (arrays.duration[:, np.newaxis] * demand)[arrays.possible].sum(axis=0)
    load /= np.maximum(limit, 1e-300)
    chosen = load >= binding * load.max(initial=0.0)
    chosen[-1] = True  # no node knows the power
    problem = SerialProblem(
        limit=np.array(arrays.capacity_limit),
        inverse=np.divide(
            1.0, arrays.capacity, where=arrays.capacity > 0, out=np.zeros(arrays.capacity.shape)
        ),
        pool=limit[chosen],
        demand=np.ascontiguousarray(demand[:, chosen]),
        submit=np.array(arrays.submit),
        duration=np.array(arrays.duration),
        weight=np.array(arrays.weight),
        unit_first=np.array(arrays.unit_first),
        unit_job=np.array(arrays.unit_job),
        unit_demand=np.array(arrays.unit_demand),
        packed=np.full(len(arrays.unit_job), -1, dtype=np.int64),
        rule=FULLEST if nodes == "fullest" else FIRST,
    )
    for j in misplaced(problem, np.flatnonzero(arrays.possible)).tolist():
        problem.packed[arrays.unit_first[j] : arrays.unit_first[j + 1]] = pack_job(instance, j)
    return problem
