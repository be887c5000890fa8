"""The least weighted queue time: a proof, or an interval that is proved to hold it.

The schedule comes from the node-exact CP-SAT model, whose bound closes small cases; the lower
bound of larger ones from the pooled time-indexed MILP in coarse, provably optimistic time.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Literal

import numpy as np

from algorithms.dispatch.exact.first_fit import first_fit
from algorithms.policy import NoSolution
from models.dispatch import (
    DispatchInstance,
    DispatchSchedule,
    build_schedule,
    weighted_queue_time,
)
from models.dispatch.cp_sat import solve_cp_sat
from models.dispatch.node_exact import build_node_exact
from models.dispatch.relaxed import integer_weights
from models.dispatch.scaling import whole_scale

__all__ = ["Optimum", "lower_bound", "optimum"]

MOST_PLACES = 30_000
"""Units times nodes, above which a node-exact model finds nothing in time."""

MOST_STARTS = 30_000
"""Jobs times slots of the coarse model: about a minute of HiGHS at the root."""

SAFETY = 1e-7
GAP = 1e-8
SHARE = 0.5  # of the time goes to CP-SAT


@dataclass(frozen=True)
class Optimum:
    """An interval and the schedule that attains its upper end.

    Attributes
    ----------
    status : "optimal" or "bounded"
    lower, upper : float
        Weighted queue time [s].
    schedule : DispatchSchedule
    """

    status: Literal["optimal", "bounded"]
    lower: float
    upper: float
    schedule: DispatchSchedule


def optimum(
    instance: DispatchInstance,
    *,
    time_limit: float = 60.0,
    seed: int = 0,
    start: DispatchSchedule | None = None,
) -> Optimum:
    """Find an interval that is proved to hold the optimum.

    Parameters
    ----------
    instance : DispatchInstance
    time_limit : float
        Seconds.
    seed : int
    start : DispatchSchedule, optional
        A schedule to begin with, such as a policy's.

    Raises
    ------
    NoSolution
        If the idle system is above the cap.
    """
    if instance.why_infeasible:
        raise NoSolution(instance.why_infeasible)
    began = time.monotonic()
    starts, nodes = first_fit(instance)
    if start is not None and start.objective < weighted_queue_time(instance, starts):
        starts, nodes = _read(instance, start)
    lower = 0.0
    upper = weighted_queue_time(instance, starts)
    places = len(instance.arrays.unit_job) * instance.number_of_nodes
    if upper > 0 and places <= MOST_PLACES:
        starts, nodes, bound = _node_exact(instance, starts, nodes, SHARE * time_limit, seed)
        upper, lower = weighted_queue_time(instance, starts), max(lower, bound)
    lower = _rounded(instance, lower)
    left = time_limit - (time.monotonic() - began)
    if lower < upper * (1 - GAP) and left > 0:
        last = int(starts.max(initial=0))
        lower = max(lower, lower_bound(instance, last, time_limit=left))
    solved = lower >= upper * (1 - GAP)
    return Optimum(
        status="optimal" if solved else "bounded",
        lower=upper if solved else lower,
        upper=upper,
        schedule=build_schedule(instance, "optimal" if solved else "bounded", starts, nodes),
    )


def _read(instance: DispatchInstance, schedule: DispatchSchedule) -> tuple[np.ndarray, np.ndarray]:
    outcomes = {job.name: job for job in schedule.jobs}
    starts, nodes = [], []
    for job in instance.jobs:
        outcome = outcomes[job.name]
        starts.append(-1 if outcome.start is None else outcome.start)
        hosts = [instance.node_index[name] for name in outcome.nodes]
        nodes += hosts or [-1] * len(job.units)
    return np.array(starts, dtype=np.int64), np.array(nodes, dtype=np.int64)


def _node_exact(
    instance: DispatchInstance,
    starts: np.ndarray,
    nodes: np.ndarray,
    seconds: float,
    seed: int,
) -> tuple[np.ndarray, np.ndarray, float]:
    """A schedule no worse than the given one, and a proved bound."""
    built = build_node_exact(instance)
    built.hint(starts, nodes)
    result = solve_cp_sat(
        built.relaxed.model, built.variables, time_limit=seconds, workers=2, seed=seed
    )
    bound = -math.inf
    if result.bound is not None and _whole(instance):
        bound = result.bound * built.relaxed.unit
    if result.values is not None:
        found = built.read(instance, result.values)
        if weighted_queue_time(instance, found[0]) < weighted_queue_time(instance, starts):
            starts, nodes = found
    return starts, nodes, bound


def _whole(instance: DispatchInstance) -> bool:
    """Whether CP-SAT's whole demands are the true ones, so that its bound holds."""
    arrays = instance.arrays
    columns = [*arrays.unit_demand.T, *arrays.job_demand.T, arrays.power]
    for column in columns:
        scaled = column * whole_scale(column.tolist())
        if not np.allclose(scaled, np.round(scaled), rtol=0, atol=1e-6):
            return False
    return True


def _rounded(instance: DispatchInstance, bound: float) -> float:
    """The least value that the objective can have, given that it is at least the bound."""
    _, unit, exact = integer_weights(instance)
    if not exact or bound <= 0:
        return max(bound, 0.0)
    return math.ceil(bound / unit * (1 - SAFETY) - 1e-6) * unit


def lower_bound(
    instance: DispatchInstance, last_start: int, *, time_limit: float = 60.0, slot: int = 0
) -> float:
    """Prove a lower bound on the weighted queue time [s] of every schedule.

    Parameters
    ----------
    instance : DispatchInstance
    last_start : int
        Seconds; how far the model looks, such as the last start of a good schedule. The bound
        holds for any value.
    time_limit : float
        Seconds.
    slot : int
        Seconds of a slot; 0 chooses the finest that is solved in time.

    Returns
    -------
    float
        At least 0.
    """
    from models.dispatch.time_indexed import build_time_indexed
    from models.solver import solve_model

    jobs = int(instance.arrays.possible.sum())
    if not jobs:
        return 0.0
    if slot <= 0:
        slot = max(1, math.ceil(jobs * (last_start + 1) / MOST_STARTS))
    began = time.monotonic()
    model = build_time_indexed(instance, slot=slot, last_slot=last_start // slot + 1)
    left = time_limit - (time.monotonic() - began)
    if left <= 0:
        return 0.0
    result = solve_model(model, time_limit=left, mip_gap=1e-4)
    if not math.isfinite(result.bound):
        return 0.0
    return _rounded(instance, result.bound - SAFETY * abs(result.bound))
