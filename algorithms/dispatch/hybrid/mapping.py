"""The strict mapper, and what it teaches the relaxed stage: conflict sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.dispatch.kernels import dispatch
from algorithms.dispatch.lists import ALL
from algorithms.dispatch.problem import SKIP, Order, Problem, Reality
from models.dispatch import DispatchInstance, weighted_queue_time
from models.dispatch.arrays import with_slack

__all__ = ["Mapped", "conflicts_of", "map_strictly", "start_from", "violated"]

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Mapped:
    """A schedule on nodes.

    Attributes
    ----------
    start : int array, shape (J,)
        Seconds; -1 for impossible jobs.
    unit_node : int array, shape (U,)
    objective : float
        Weighted queue time (5.2) [s].
    """

    start: Ints
    unit_node: Ints
    objective: float

    @classmethod
    def of(cls, instance: DispatchInstance, start: Ints, unit_node: Ints) -> Mapped:
        """Make one, with its objective."""
        return cls(start, unit_node, weighted_queue_time(instance, start))


def map_strictly(
    instance: DispatchInstance, problem: Problem, planned: Ints, sign: float
) -> Mapped:
    """Put a relaxed schedule on nodes; no job starts before its planned start.

    At each event, planned starts included, the jobs whose planned start has come are tried in
    its order; who cannot be mapped is postponed to the next event. That is list dispatching with
    planned starts for submits.

    Parameters
    ----------
    instance : DispatchInstance
    problem : Problem
        See `algorithms.dispatch.lists.make_problem`.
    planned : int array, shape (J,)
        Starts [s] of the possible jobs.
    sign : float
        Order of nodes, as the problem was made with.
    """
    arrays = instance.arrays
    jobs = np.flatnonzero(arrays.possible)
    # Of jobs planned for the same time the heaviest comes first.
    order = Order(
        np.full(len(planned), np.inf), -planned.astype(float), -np.array(arrays.weight), sign
    )
    admitted = jobs[np.argsort(planned[jobs], kind="stable")]
    return start_from(instance, problem, order, planned, admitted)


def start_from(
    instance: DispatchInstance, problem: Problem, order: Order, submit: Ints, admitted: Ints
) -> Mapped:
    """Dispatch the list of jobs at events, none before its submit."""
    exactly = Reality(problem.duration, problem.power)
    start, _, unit_node, *_ = dispatch(problem, order, submit, admitted, SKIP, exactly, ALL)
    return Mapped.of(instance, start, unit_node)


def conflicts_of(
    instance: DispatchInstance, planned: Ints, mapped: Mapped
) -> list[tuple[int, ...]]:
    """Sets of jobs that the mapper could not place side by side, though all nodes as one had room.

    One for each postponed job: itself and those that ran at its planned start. Such a set says
    something about the mapper, not about every schedule (P4), and need not be minimal.
    """
    arrays = instance.arrays
    found: dict[tuple[int, ...], None] = {}
    for j in np.flatnonzero(mapped.start > planned).tolist():
        moment = planned[j]
        runs = (mapped.start <= moment) & (moment < mapped.start + arrays.duration)
        members = np.append(np.flatnonzero(runs & (mapped.start >= 0)), j)
        pooled = arrays.job_demand[members].sum(axis=0) <= with_slack(arrays.total_capacity)
        if pooled.all() and arrays.power[members].sum() <= arrays.headroom_limit:
            found[tuple(sorted(members.tolist()))] = None
    return [conflict for conflict in found if len(conflict) > 1]


def violated(instance: DispatchInstance, conflict: tuple[int, ...], start: Ints) -> bool:
    """Whether all jobs of a conflict set run at some moment of a schedule."""
    members = list(conflict)
    begins = start[members]
    return bool(begins.max() < (begins + instance.arrays.duration[members]).min())
