"""The stationary optimum y* (10), between a lower and an upper value that are both certified.

Lower: the value of an allocation that is within (5) and (6). Upper: `stationary_bound`, by
duality in our own arithmetic. LPs with tangents (`stationary_lp`) find both; wherever an LP
overstates a gain, that gain gets one more tangent. Linear gains need one LP.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from models.multiserver.allocation import LONGEST_WRITTEN, MultiserverRun, build_run
from models.multiserver.gains import gain_value
from models.multiserver.instance import MultiserverInstance
from models.multiserver.layout import EdgeLayout, edge_layout
from models.multiserver.reward import port_rewards
from models.multiserver.stationary_bound import average_tangent, linear_bound
from models.multiserver.stationary_lp import (
    StationaryProblem,
    Tangents,
    build_stationary_lp,
    stationary_problem,
)
from models.solver import Engine, Result, Status

__all__ = ["Stationary", "first_tangents", "job_counts", "solve_stationary", "stationary_run"]

Reals = NDArray[np.float64]

FIRST_TANGENTS = 12
ROUNDS = 60
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Stationary:
    """What is proved about (10).

    Attributes
    ----------
    allocation : array, shape (edges, resources)
        Within (5) and (6); its value is `lower`.
    lower, upper : float
        Total reward of y*.
    status : "optimal" or "bounded"
        Optimal if the two are within the tolerance.
    rounds : int
        LPs solved.
    """

    allocation: Reals
    lower: float
    upper: float
    status: Literal["optimal", "bounded"]
    rounds: int


def job_counts(instance: MultiserverInstance) -> Reals:
    """N_l, the jobs of each port over all slots, shape (ports,)."""
    counts = np.zeros(instance.number_of_ports)
    for table in instance.arrivals.chunks(instance.number_of_ports):
        counts += table.sum(axis=0)
    return counts


def solve_stationary(
    layout: EdgeLayout,
    jobs: Reals,
    *,
    tolerance: float = TOLERANCE,
    time_limit: float = math.inf,
) -> Stationary:
    """Find y* (10).

    Parameters
    ----------
    layout : EdgeLayout
    jobs : array, shape (ports,)
        N_l.
    tolerance : float
        Gap at which to stop, relative to the upper value.
    time_limit : float
        No new round begins after it [s].

    Returns
    -------
    Stationary
    """
    ends = time.monotonic() + time_limit
    problem = stationary_problem(layout, np.asarray(jobs, dtype=float))
    tangents = first_tangents(problem)
    best = np.zeros_like(problem.most)  # worth 0, and always possible
    lower, upper = 0.0, _without_solver(problem)
    rounds = 0
    while upper - lower > tolerance * upper and rounds < ROUNDS:
        left = ends - time.monotonic()
        if left <= 0:
            break
        model = build_stationary_lp(problem, tangents)
        engine = Engine(model)
        result = engine.solve(time_limit=min(left, 1e6))
        rounds += 1
        if result.status is not Status.OPTIMAL:
            break
        allocation = _inside(problem, _allocation(problem, model, engine, result))
        value = problem.value(allocation)
        if value > lower:
            best, lower = allocation, value
        upper = min(upper, _bound(problem, tangents, model, engine, result))
        if not _refine(problem, tangents, allocation, tolerance * upper):
            break
    upper = max(upper, lower)  # they may meet but for the last digit
    close = upper - lower <= tolerance * upper
    return Stationary(best, lower, upper, "optimal" if close else "bounded", rounds)


def first_tangents(problem: StationaryProblem) -> Tangents:
    """At amounts between which a gain bends about equally much."""
    found: Tangents = []
    for kind, scale, reach in zip(problem.kind, problem.scale, problem.reach, strict=True):
        if kind == 0:
            found.append([0.0])
            continue
        unit = float(scale) if kind == 3 else 1.0
        bends = np.linspace(0.0, math.log1p(float(reach) / unit), FIRST_TANGENTS)
        found.append([float(at) for at in unit * np.expm1(bends)])
    return found


def _without_solver(problem: StationaryProblem) -> float:
    """All gains at their largest and no overhead: an upper bound to begin with."""
    return math.fsum(problem.weight * gain_value(problem.kind, problem.scale, problem.reach))


def _allocation(problem: StationaryProblem, model: Any, engine: Engine, result: Result) -> Reals:
    allocation = np.zeros_like(problem.most)
    keys = list(model.share)
    if keys:
        edges, resources = np.array(keys).T
        shares = np.clip(result.value(engine.columns(model.share)), 0.0, 1.0)
        allocation[edges, resources] = shares * problem.most[edges, resources]
    return allocation


def _inside(problem: StationaryProblem, allocation: Reals) -> Reals:
    """Take off what the solver's tolerance let through: a feasible point, not a projection."""
    layout = problem.layout
    used = np.zeros_like(layout.capacity)
    np.add.at(used, layout.instance, allocation)
    over = used > layout.capacity
    shrink = np.where(over, layout.capacity / np.where(over, used, 1.0), 1.0)
    return np.asarray(allocation * shrink[layout.instance])


def _bound(
    problem: StationaryProblem, tangents: Tangents, model: Any, engine: Engine, result: Result
) -> float:
    """The LP's multipliers, made valid, give the bound."""
    if result.dual is None:
        return math.inf
    keys = list(model.tangent)
    multipliers: dict[int, Reals] = {i: np.zeros(len(tangents[i])) for i in model.gain}
    for (i, place), dual in zip(keys, result.dual[engine.rows(model.tangent)], strict=True):
        multipliers[i][place] = max(dual, 0.0)
    constant, slope = np.zeros(problem.terms), np.zeros(problem.terms)
    for i, own in multipliers.items():
        constant[i], slope[i] = average_tangent(
            problem.kind[i], problem.scale[i], np.array(tangents[i]), own
        )
    felt = np.zeros((problem.layout.ports, problem.layout.resources))
    for (port, k), dual in zip(
        model.dominant, result.dual[engine.rows(model.dominant)], strict=True
    ):
        felt[port, k] = abs(dual)  # its sign depends on which side the row was written on
    felt /= np.maximum(felt.sum(axis=1, keepdims=True), 1e-300)
    return linear_bound(problem, constant, slope, felt)


def _refine(problem: StationaryProblem, tangents: Tangents, allocation: Reals, gap: float) -> bool:
    """Add a tangent where an amount is away from all of its own; tell whether any was."""
    amounts = problem.amounts(allocation)
    added = False
    for i in np.flatnonzero((problem.kind != 0) & (problem.weight > 0) & (problem.reach > 0)):
        at = float(amounts[i])
        nearest = min(abs(at - other) for other in tangents[i])
        worth = problem.weight[i] * gain_value(problem.kind[i], problem.scale[i], problem.reach[i])
        if nearest > 1e-9 * problem.reach[i] and worth > 1e-3 * gap / problem.terms:
            tangents[i].append(at)
            added = True
    return added


def stationary_run(
    instance: MultiserverInstance, found: Stationary, layout: EdgeLayout | None = None
) -> MultiserverRun:
    """Make the solution file of y*: the same allocation, fixed beforehand, in every slot."""
    layout = edge_layout(instance) if layout is None else layout
    values = port_rewards(layout, found.allocation)
    parts = [table @ values for table in instance.arrivals.chunks(layout.ports)]
    rewards = np.concatenate(parts) if parts else np.zeros(0)
    return build_run(
        instance,
        layout,
        found.allocation,
        policy="stationary",
        protocol="committed",
        objective=math.fsum(rewards),
        rewards=rewards if len(rewards) <= LONGEST_WRITTEN else None,
    )
