"""Exact improvement of a part: a few jobs placed anew, at their best, around all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from algorithms.training.exact.list_scheduling import FreeCapacity
from models.solver import SolverError, solve_model
from models.training import TrainingInstance, audit, build_schedule
from models.training.dmlrs import build_dmlrs
from models.training.point import decode
from models.training.schedule import Placement

__all__ = ["improve_jobs"]


def improve_jobs(
    instance: TrainingInstance,
    placed: Mapping[int, Sequence[Placement]],
    chosen: Sequence[int],
    last_slot: Mapping[int, int],
    seconds: float,
) -> dict[int, list[Placement]] | None:
    """Solve the compact model for some jobs in the capacity that the others leave.

    Parameters
    ----------
    instance : TrainingInstance
    placed : mapping of job index to placements
        A schedule.
    chosen : sequence of int
        Jobs to be placed anew.
    last_slot : mapping of job index to slot
        Latest completion worth anything.
    seconds : float
        Time limit.

    Returns
    -------
    dict of job index to placements, or None
        A better schedule, if one was found.
    """
    others = {i: list(places) for i, places in placed.items() if i not in chosen}
    rest = FreeCapacity.after(instance, others)
    now = FreeCapacity.after(instance, {i: list(places) for i, places in placed.items()})
    value, gained = now.value(), now.value() - rest.value()
    jobs = {i: last_slot[i] for i in chosen if i in last_slot}
    scale = max((instance.jobs[i].utility.value(0) for i in jobs), default=0.0)
    if scale <= 0:
        return None
    model = build_dmlrs(
        instance,
        last_slot=jobs,
        left=np.maximum(rest.left, 0.0),
        break_symmetry=False,
        scale=scale,
    )
    try:
        result = solve_model(
            model, time_limit=max(seconds, 0.05), mip_gap=1e-6, cutoff=gained / scale * (1 + 1e-9)
        )
    except SolverError:
        return None
    if not result.has_solution:
        return None
    result.load_into(model)
    found = {**others, **decode(model, instance)}
    schedule = build_schedule(instance, "optimum", found)
    if schedule.objective <= value * (1 + 1e-12) or not audit(instance, schedule).feasible:
        return None
    return found
