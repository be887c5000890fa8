"""PRB (Algorithm 1), FCFS and EASY: policies that start jobs from a sorted list at events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import Field

from algorithms.dispatch.kernels import dispatch
from algorithms.dispatch.placing import place_on_empty
from algorithms.dispatch.problem import EASY as RESERVE
from algorithms.dispatch.problem import SKIP, STOP, Order, Problem, Reality
from algorithms.dispatch.rules import make_order
from algorithms.policy import NoSolution, Parameters, Policy, Run
from models.dispatch import DispatchInstance, build_schedule, pack_job
from models.dispatch.arrays import DispatchArrays

__all__ = ["ALL", "EASY", "FCFS", "LIST_RULES", "PRB", "ListLog", "make_problem", "submit_order"]

ALL = 2**62  # jobs that may be tried at an event
COUNTERS = {"events": "times at which the waiting jobs were tried"}


class PrbParameters(Parameters):
    """Rules of PRB; the defaults are Algorithm 1."""

    jobs: Literal["urgency", "submit", "shortest", "smith"] = Field(
        default="urgency",
        description="which waiting job comes first: weighted waiting time, submit, least "
        "estimate, most weight per work",
    )
    nodes: Literal["fullest", "file", "emptiest"] = Field(
        default="fullest", description="which node is filled first"
    )


class BaselineParameters(Parameters):
    """FCFS and EASY have nothing to set."""


@dataclass(frozen=True)
class ListLog:
    """What happened.

    Attributes
    ----------
    events : int
        Times at which the waiting jobs were tried.
    impossible : tuple of (str, str)
        Jobs that can never run, and why.
    """

    events: int
    impossible: tuple[tuple[str, str], ...]


def make_problem(instance: DispatchInstance, sign: float) -> Problem:
    """Make what the kernels read; the sign is that of the order of nodes.

    Raises
    ------
    NoSolution
        If the idle system is above the cap.
    """
    if instance.why_infeasible:
        raise NoSolution(instance.why_infeasible)
    arrays = instance.arrays
    _, classes = np.unique(arrays.unit_demand, axis=0, return_inverse=True)
    units = len(arrays.unit_job)
    problem = Problem(
        capacity=np.array(arrays.capacity),
        limit=np.array(arrays.capacity_limit),
        headroom=arrays.headroom_limit,
        duration=np.array(arrays.duration),
        power=np.array(arrays.power),
        unit_first=np.array(arrays.unit_first),
        unit_demand=np.array(arrays.unit_demand),
        unit_class=classes.reshape(-1).astype(np.int64),
        packed=np.full(units, -1, dtype=np.int64),
    )
    scratch = np.full(units, -1, dtype=np.int64)
    for j in np.flatnonzero(arrays.possible).tolist():
        if not place_on_empty(problem, j, scratch, sign):
            first, last = int(arrays.unit_first[j]), int(arrays.unit_first[j + 1])
            problem.packed[first:last] = pack_job(instance, j)
    return problem


def submit_order(instance: DispatchInstance) -> np.ndarray:
    """Possible jobs by submit, then file."""
    jobs = np.flatnonzero(instance.arrays.possible)
    return np.asarray(jobs[np.argsort(instance.arrays.submit[jobs], kind="stable")])


def _run(instance: DispatchInstance, name: str, parameters: Parameters) -> Run:
    order, mode = LIST_RULES[name](instance.arrays, parameters)
    problem = make_problem(instance, order.sign)
    submit = np.array(instance.arrays.submit)
    exactly = Reality(problem.duration, problem.power)
    start, _, nodes, events, *_ = dispatch(
        problem, order, submit, submit_order(instance), mode, exactly, ALL
    )
    reasons = zip(instance.jobs, instance.why_impossible, strict=True)
    impossible = tuple((job.name, why) for job, why in reasons if why is not None)
    return Run(
        build_schedule(instance, name, start, nodes),
        ListLog(int(events), impossible),
        {"events": int(events)},
    )


def _prb_rules(arrays: DispatchArrays, parameters: Any) -> tuple[Order, int]:
    return make_order(arrays, parameters.jobs, parameters.nodes), SKIP


def _fcfs_rules(arrays: DispatchArrays, parameters: Any) -> tuple[Order, int]:
    return make_order(arrays, "submit", "fullest"), STOP


def _easy_rules(arrays: DispatchArrays, parameters: Any) -> tuple[Order, int]:
    return make_order(arrays, "submit", "fullest"), RESERVE


LIST_RULES: dict[str, Callable[[DispatchArrays, Any], tuple[Order, int]]] = {
    "prb": _prb_rules,
    "fcfs": _fcfs_rules,
    "easy": _easy_rules,
}
"""Per policy, the order of jobs and nodes, and what one that does not fit does to the others."""


def run_prb(instance: DispatchInstance, parameters: PrbParameters, seed: int) -> Run:
    """Run PRB (Algorithm 1, with the intended `canBeMapped`); the seed has no effect."""
    return _run(instance, "prb", parameters)


def run_fcfs(instance: DispatchInstance, parameters: BaselineParameters, seed: int) -> Run:
    """Start jobs in order of submit; the first that does not fit blocks the others."""
    return _run(instance, "fcfs", parameters)


def run_easy(instance: DispatchInstance, parameters: BaselineParameters, seed: int) -> Run:
    """Run FCFS where jobs overtake that leave the first one's reservation in place.

    A reservation (nodes and time) is looked for again when a job has ended, and stands if nothing
    is earlier.
    """
    return _run(instance, "easy", parameters)


PRB = Policy(
    name="prb",
    summary="priority rules at events: weighted waiting time, fullest nodes first (Algorithm 1)",
    parameters=PrbParameters,
    run=run_prb,
    counters=COUNTERS,
)
FCFS = Policy(
    name="fcfs",
    summary="first come, first served: stops at the first job that does not fit",
    parameters=BaselineParameters,
    run=run_fcfs,
    counters=COUNTERS,
)
EASY = Policy(
    name="easy",
    summary="FCFS with a reservation for the first waiting job, and backfilling around it",
    parameters=BaselineParameters,
    run=run_easy,
    counters=COUNTERS,
)
