"""The LP relaxation of (1)-(5) by column generation: columns are a job's paths.

A path is the placement of the job's layers, with the fastest way between consecutive nodes. The
master (`models.splitting.path_master`) chooses among the paths it knows; its duals price the
budgets, and a layered shortest path finds each job's cheapest path at these prices. Prices give a
bound at any time: what the cheapest paths cost, less what the budgets are worth (Lagrange).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.splitting.exact.pricing import best_placements
from algorithms.splitting.exact.transfers import Transfers, transfers
from models.solver import CompiledModel, Engine, compile_model
from models.splitting import SplittingInstance, service_time
from models.splitting.budgets import BudgetRow, budget_rows, fitting
from models.splitting.layered_graph import time_unit
from models.splitting.path_master import build_path_master

__all__ = ["PathMaster", "PathProblem", "Relaxation", "path_problem", "solve_relaxation"]

FEASIBLE = 1e-7  # share of a path that may be missing: a solver's tolerance
REDUCED = 1e-10  # a path is worth adding if it is better by this, in the master's unit
PRECISE = 1e-11  # relative distance of bound and value at which generation stops


@dataclass(frozen=True)
class PathProblem:
    """(1)-(5) as a choice of placements.

    Attributes
    ----------
    instance : SplittingInstance
    ways : Transfers
    first : array of int, shape (jobs + 1,)
        Row of each job's first layer in the tables over all layers.
    data : array, shape (layers of all jobs + jobs,)
        d_0..d_L of each job.
    costs : array, shape (layers of all jobs, nodes)
        Seconds of computing, inf where a layer cannot be computed.
    rows : list of BudgetRow
    use : list of arrays, shape (layers of all jobs,)
        What each layer takes, by row.
    unit : float
        Seconds that count as 1.
    alone : array, shape (jobs,)
        Least service time of each job without regard to the others [s], inf for none.
    placements : array of int, shape (layers of all jobs,)
        Those placements.
    """

    instance: SplittingInstance
    ways: Transfers
    first: NDArray[np.int64]
    data: NDArray[np.float64]
    costs: NDArray[np.float64]
    rows: list[BudgetRow]
    use: list[NDArray[np.float64]]
    unit: float
    alone: NDArray[np.float64]
    placements: NDArray[np.int64]

    def layers(self, job: int) -> slice:
        """Rows of a job's layers."""
        return slice(int(self.first[job]), int(self.first[job + 1]))

    def sizes(self, job: int) -> NDArray[np.float64]:
        """d_0..d_L of a job."""
        return self.data[self.first[job] + job : self.first[job + 1] + job + 1]

    def priced(self, prices: NDArray[np.float64], seconds: bool = True) -> NDArray[np.float64]:
        """Costs of computing at prices of the budgets, in the master's unit.

        Parameters
        ----------
        prices : array, shape (rows,)
            Per unit of a row's use.
        seconds : bool
            Without it only the prices count.
        """
        if seconds:
            costs = self.costs / self.unit
        else:
            costs = np.where(np.isfinite(self.costs), 0.0, np.inf)
        for row, use, price in zip(self.rows, self.use, prices, strict=True):
            if price > 0:
                costs[:, row.node] += price * use
        return costs

    def distance(self, seconds: bool = True) -> NDArray[np.float64]:
        """Cost per byte between nodes, in the master's unit."""
        table = self.ways.seconds_per_byte
        return table / self.unit if seconds else np.where(np.isfinite(table), 0.0, np.inf)

    def cheapest(
        self, costs: NDArray[np.float64], distance: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Cheapest placement of every job; see `pricing.best_placements`."""
        source, destination = self.instance.source, self.instance.destination
        return best_placements(costs, self.data, self.first, distance, source, destination)

    def seconds(self, job: int, placement: Sequence[int]) -> float:
        """Service time of a placement [s], as the routing file will have it."""
        route = self.ways.route(self.instance, job, tuple(placement))
        return service_time(self.instance, job, route)


def path_problem(instance: SplittingInstance) -> PathProblem:
    """Compute the tables of an instance, and every job's path without regard to the others."""
    ways = transfers(instance)
    lengths = [job.number_of_layers for job in instance.jobs]
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    data = np.concatenate([np.zeros(0), *(job.data for job in instance.jobs)])
    costs = np.full((int(first[-1]), instance.number_of_nodes), np.inf)
    usable = instance.node_rate > 0
    rate = np.where(usable, instance.node_rate, 1.0)
    allowed = []
    for j, job in enumerate(instance.jobs):
        near = np.isfinite(ways.seconds_per_byte[instance.source[j]])
        near &= np.isfinite(ways.seconds_per_byte[:, instance.destination[j]])
        allowed.append(fitting(instance, j) & usable & near)
        table = np.where(allowed[j], job.compute[:, None] / rate, np.inf)
        costs[first[j] : first[j + 1]] = table
    rows = budget_rows(instance, allowed)
    use = [
        np.concatenate([row.coefficients(instance, j) for j in range(instance.number_of_jobs)])
        for row in rows
    ]
    source, destination = instance.source, instance.destination
    alone, placements = best_placements(
        costs, data, first, ways.seconds_per_byte, source, destination
    )
    unit = time_unit(float(alone.max(initial=0.0)))
    return PathProblem(instance, ways, first, data, costs, rows, use, unit, alone, placements)


class PathMaster:
    """Columns, by job and placement, and the master that holds them in HiGHS."""

    def __init__(self, problem: PathProblem) -> None:
        self.problem = problem
        model = build_path_master(problem.instance.number_of_jobs, problem.rows)
        self.compiled: CompiledModel = compile_model(model)
        self.engine = Engine(self.compiled, options={"simplex_strategy": 4})
        self.known: dict[tuple[int, tuple[int, ...]], int] = {}
        self.costs: list[float] = []
        self.missing = self.engine.columns(model.missing)
        self.one_path = self.engine.rows(model.one_path)
        self.budget = self.engine.rows(model.budget) if problem.rows else np.empty(0, np.int32)
        self.used = self.engine.columns(model.used) if problem.rows else np.empty(0, np.int32)
        self.rows_at: dict[int, list[int]] = {}
        for i, row in enumerate(problem.rows):
            self.rows_at.setdefault(row.node, []).append(i)

    def cost(self, job: int, placement: tuple[int, ...]) -> float:
        """Service time in the master's unit."""
        return self.problem.seconds(job, placement) / self.problem.unit

    def column(self, job: int, placement: tuple[int, ...]) -> tuple[list[int], list[float]]:
        """Rows and coefficients of a path."""
        begin = int(self.problem.first[job])
        rows, values = [int(self.one_path[job])], [1.0]
        taken: dict[int, float] = {}
        for layer, node in enumerate(placement):
            for i in self.rows_at.get(node, ()):
                taken[i] = taken.get(i, 0.0) + float(self.problem.use[i][begin + layer])
        for i, amount in taken.items():
            if amount > 0:
                rows.append(int(self.budget[i]))
                values.append(amount)
        return rows, values

    def add(self, paths: Sequence[tuple[int, tuple[int, ...]]], counted: bool) -> int:
        """Add the paths that are new, with their cost or with cost 0."""
        new = [path for path in dict.fromkeys(paths) if path not in self.known]
        parts = [self.column(*path) for path in new]
        costs = [self.cost(*path) for path in new]
        shown = costs if counted else [0.0] * len(new)
        names = [f"path of job {j} over {list(p)}" for j, p in new]
        columns = self.engine.add_columns(
            shown, 0.0, np.inf, [p[0] for p in parts], [p[1] for p in parts], names=names
        )
        self.known.update(zip(new, columns.tolist(), strict=True))
        self.costs += costs
        return len(new)

    def count_seconds(self) -> None:
        """Minimise service time from now on; nothing may be missing."""
        self.engine.set_costs(self.missing, 0.0)
        self.engine.set_column_bounds(self.missing, 0.0, 0.0)
        if self.known:
            self.engine.set_costs(np.array(list(self.known.values())), np.array(self.costs))


@dataclass(frozen=True)
class Relaxation:
    """What column generation ends with.

    Attributes
    ----------
    feasible : bool or None
        None if time was up before it was known.
    bound : float
        Proved lower bound, in the master's unit.
    value : float
        Value of the master's LP, in the master's unit, inf if it was not reached.
    prices : array, shape (rows,)
        Prices that give the bound.
    master : PathMaster
    rounds : int
    """

    feasible: bool | None
    bound: float
    value: float
    prices: NDArray[np.float64]
    master: PathMaster
    rounds: int


def solve_relaxation(problem: PathProblem, *, time_limit: float = math.inf) -> Relaxation:
    """Solve the LP relaxation of (1)-(5).

    Parameters
    ----------
    problem : PathProblem
        Every job has a path alone.
    time_limit : float
        Seconds.
    """
    end = time.monotonic() + time_limit
    master = PathMaster(problem)
    master.add(_paths(problem, problem.placements), counted=False)
    limits = np.array([row.limit for row in problem.rows])
    feasible, rounds = _find_feasible(problem, master, limits, end)
    prices = np.zeros(len(problem.rows))
    bound = float(np.sum(problem.alone)) / problem.unit
    if not feasible:
        return Relaxation(feasible, bound, math.inf, prices, master, rounds)
    master.count_seconds()
    distance = problem.distance()
    value = math.inf
    while time.monotonic() < end:
        result = master.engine.solve(time_limit=max(0.0, end - time.monotonic()))
        rounds += 1
        if result.dual is None:
            break
        value = result.objective
        tried = np.maximum(-result.dual[master.budget], 0.0)
        cheapest, placements = problem.cheapest(problem.priced(tried), distance)
        found = float(cheapest.sum() - tried @ limits)
        if found > bound:
            bound, prices = found, tried
        better = cheapest < result.dual[master.one_path] - REDUCED
        done = value - bound <= PRECISE * abs(value)
        if done or not better.any():
            break
        if not master.add(_paths(problem, placements, better), counted=True):
            break
    return Relaxation(True, bound, value, prices, master, rounds)


def _find_feasible(
    problem: PathProblem, master: PathMaster, limits: NDArray[np.float64], end: float
) -> tuple[bool | None, int]:
    """Add paths until none is missing, or it is proved that some must be."""
    distance = problem.distance(seconds=False)
    rounds = 0
    while time.monotonic() < end:
        result = master.engine.solve(time_limit=max(0.0, end - time.monotonic()))
        rounds += 1
        if result.dual is None:
            break
        if result.objective <= FEASIBLE:
            return True, rounds
        prices = np.maximum(-result.dual[master.budget], 0.0)
        cheapest, placements = problem.cheapest(problem.priced(prices, seconds=False), distance)
        if float(np.minimum(cheapest, 1.0).sum() - prices @ limits) > FEASIBLE:
            return False, rounds
        better = cheapest < result.dual[master.one_path] - REDUCED
        if not better.any() or not master.add(_paths(problem, placements, better), counted=False):
            return True, rounds  # missing by no more than tolerances can tell
    return None, rounds


def _paths(
    problem: PathProblem,
    placements: NDArray[np.int64],
    chosen: NDArray[np.bool_] | None = None,
) -> list[tuple[int, tuple[int, ...]]]:
    """Paths by job and placement, of all jobs or of chosen ones."""
    jobs = range(problem.instance.number_of_jobs)
    return [
        (j, tuple(placements[problem.layers(j)].tolist()))
        for j in jobs
        if chosen is None or chosen[j]
    ]
