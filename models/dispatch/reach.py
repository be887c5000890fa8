"""Which jobs can never run, and why (P3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from models.dispatch.packing import pack_units

if TYPE_CHECKING:
    from models.dispatch.instance import DispatchInstance

__all__ = ["pack_job", "why_impossible"]


def why_impossible(instance: DispatchInstance) -> tuple[str | None, ...]:
    """Say for each job why no assignment of its units fits the empty system under the cap.

    The search is exact: None is said of a job iff there is an assignment.

    Returns
    -------
    tuple of str or None
        One per job.
    """
    arrays = instance.arrays
    if instance.why_infeasible:
        return (instance.why_infeasible,) * instance.number_of_jobs
    known: dict[bytes, str | None] = {}
    reasons: list[str | None] = []
    for j, job in enumerate(instance.jobs):
        if job.power > arrays.headroom_limit:
            reasons.append(
                f"draws {job.power:g} W, but the idle system leaves {arrays.headroom:g} W "
                "below the cap"
            )
            continue
        demand = arrays.unit_demand[arrays.unit_first[j] : arrays.unit_first[j + 1]]
        key = demand.tobytes()
        if key not in known:
            known[key] = _why_no_place(instance, j)
        reasons.append(known[key])
    return tuple(reasons)


def _why_no_place(instance: DispatchInstance, j: int) -> str | None:
    arrays = instance.arrays
    first, last = int(arrays.unit_first[j]), int(arrays.unit_first[j + 1])
    demand = arrays.unit_demand[first:last]
    for u in range(last - first):
        if not (demand[u] <= arrays.capacity_limit).all(axis=1).any():
            asked = instance.jobs[j].units[u]
            needs = ", ".join(f"{amount:g} {name}" for name, amount in asked.items())
            return f"unit {u} ({needs}) fits no node"
    return None if pack_job(instance, j) is not None else "its units do not fit together"


def pack_job(instance: DispatchInstance, j: int) -> list[int] | None:
    """Nodes of job j's units on the empty system, by the exact search; None if there are none.

    For policies whose own order of nodes misses the packing of a possible job.
    """
    arrays = instance.arrays
    demand = arrays.unit_demand[arrays.unit_first[j] : arrays.unit_first[j + 1]]
    return pack_units(np.asarray(demand), np.asarray(arrays.capacity))
