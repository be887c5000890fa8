"""(1)-(5) solved by columns, with a proof.

Let the relaxation's prices prove the bound B. A solution of value V takes of no job a path whose
cost at these prices exceeds the job's cheapest by more than V - B, because its value is at least
B plus all these excesses. So the integer program over *all* paths of excess at most d, found by
enumeration, either contains every solution better than B + d or proves that there is none. d grows
until B + d reaches the best known value. Where that would be too many paths, the arc program takes
over, without the arcs whose every path has too large an excess.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from algorithms.splitting.exact.answer import CLAIMED, SOUGHT, Answer, interval
from algorithms.splitting.exact.column_generation import (
    PathProblem,
    Relaxation,
    path_problem,
    solve_relaxation,
)
from algorithms.splitting.exact.pricing import cost_to_go, placements_within
from algorithms.splitting.exact.service_arcs import solve_arcs
from models.solver import Engine, Result, SolverError, Status
from models.splitting import Route, SplittingInstance
from models.splitting.budgets import RELATIVE, within_budgets
from models.splitting.layered_graph import layered_graph
from models.splitting.service_ilp import kept_arcs

__all__ = ["solve_columns"]

FIRST_EXCESS = 1e-3  # relative to the bound, while no solution is known
GROWTH = 4.0
ROUNDING = 1e-9  # excesses this far over the limit, relative to the bound, are still taken in

Path = tuple[int, tuple[int, ...]]


def solve_columns(
    instance: SplittingInstance,
    *,
    time_limit: float = 60.0,
    most_columns: int = 5_000,
    fallback: bool = True,
) -> Answer:
    """Find the routes of least total service time within the budgets.

    Parameters
    ----------
    instance : SplittingInstance
    time_limit : float
        Seconds.
    most_columns : int
        Paths that one integer program may have.
    fallback : bool
        Whether the arc program may take over.

    Returns
    -------
    Answer
    """
    if not instance.jobs:
        return interval(0.0, 0.0, [])
    search = _Search(instance, time_limit, most_columns, fallback)
    return search.run()


class _Search:
    """State of one search; times in seconds, excesses in the master's unit."""

    def __init__(
        self, instance: SplittingInstance, time_limit: float, most_columns: int, fallback: bool
    ) -> None:
        self.end = time.monotonic() + time_limit
        self.instance, self.most_columns, self.fallback = instance, most_columns, fallback
        self.problem: PathProblem = path_problem(instance)
        self.routes: list[Route] | None = None
        self.upper = math.inf
        self.lower = 0.0
        self.relaxation = 0.0
        self.counters = {"lps": 0, "columns": 0, "mips": 0, "arc_mips": 0}

    def left(self) -> float:
        """Seconds left."""
        return max(0.0, self.end - time.monotonic())

    def run(self) -> Answer:
        """Relax, then close the gap."""
        problem = self.problem
        if not np.isfinite(problem.alone).all():
            job = self.instance.jobs[int(np.argmin(np.isfinite(problem.alone)))].name
            return self._infeasible(f"job {job} has no route within the nodes' budgets")
        self.lower = self.relaxation = float(problem.alone.sum())
        self._accept([problem.placements[problem.layers(j)] for j in self._jobs()])
        if self.routes is not None:
            return interval(self.upper, self.upper, self.routes, None, self.upper, self.counters)
        relaxed = solve_relaxation(problem, time_limit=self.left())
        self.counters["lps"] = relaxed.rounds
        self.counters["columns"] = len(relaxed.master.known)
        if relaxed.feasible is False:
            return self._infeasible("the budgets are too small, even for split jobs (LP)")
        if relaxed.feasible:
            self.lower = self.relaxation = relaxed.bound * problem.unit
            if not self._close(relaxed):
                return self._infeasible("the budgets are too small for whole jobs")
        return interval(self.lower, self.upper, self.routes, None, self.relaxation, self.counters)

    def _jobs(self) -> range:
        return range(self.instance.number_of_jobs)

    def _infeasible(self, reason: str) -> Answer:
        return Answer(
            "infeasible",
            math.inf,
            math.inf,
            reason=reason,
            relaxation=self.relaxation,
            counters=self.counters,
        )

    def _accept(self, placements: Sequence[Sequence[int] | NDArray[np.int64]]) -> bool:
        """Keep a solution if it is within the budgets and better; say whether it is within."""
        ways = self.problem.ways
        routes = [
            ways.route(self.instance, j, tuple(int(u) for u in nodes))
            for j, nodes in enumerate(placements)
        ]
        if not within_budgets(self.instance, routes):
            return False
        value = sum(self.problem.seconds(j, route.nodes) for j, route in enumerate(routes))
        if value < self.upper:
            self.upper, self.routes = value, routes
        return True

    def _closed(self) -> bool:
        return self.routes is not None and self.upper - self.lower <= 0.1 * CLAIMED * self.upper

    def _raise_lower(self, bound: float) -> None:
        """Take note of a proved bound [s]."""
        self.lower = max(self.lower, min(bound, self.upper))

    def _close(self, relaxed: Relaxation) -> bool:
        """Close the gap; False if it is proved that there is no solution."""
        unit = self.problem.unit
        known = list(relaxed.master.known)
        self._solve_over(relaxed, known)  # for a first solution; it proves nothing
        excess = FIRST_EXCESS * max(relaxed.bound, 1e-3)
        if self.routes is not None:
            excess = self.upper / unit - relaxed.bound
        too_many = False
        while not self._closed() and self.left() > 0:
            target = self.upper / unit - relaxed.bound
            excess = min(excess, target)
            paths, complete = self._paths_within(relaxed, excess)
            if paths is None:
                smaller = None if too_many else self._fewer_paths(relaxed, excess)
                if smaller is None:
                    return self._arcs(relaxed)
                too_many = True
                self._solve_over(relaxed, smaller)  # a better solution asks for fewer paths
                excess = min(excess, self.upper / unit - relaxed.bound)
                continue
            result = self._solve_over(relaxed, paths)
            beyond = math.inf if complete else relaxed.bound + excess
            if result is None:
                return self._arcs(relaxed)
            if result.status is Status.INFEASIBLE:
                if complete and self.routes is None:
                    return False
                self._raise_lower(beyond * unit)
            elif math.isfinite(result.bound):
                self._raise_lower(min(result.bound, beyond) * unit)
            if excess >= target or complete:
                break
            excess *= GROWTH
        return True

    def _paths_within(self, relaxed: Relaxation, excess: float) -> tuple[list[Path] | None, bool]:
        """All paths up to an excess, None if they are too many, and whether these are all."""
        problem = self.problem
        costs, distance = problem.priced(relaxed.prices), problem.distance()
        cheapest, _ = problem.cheapest(costs, distance)
        rounding = ROUNDING * max(relaxed.bound, float(cheapest.max()))
        paths: list[Path] = []
        complete = True
        for j in self._jobs():
            layers, sizes = costs[problem.layers(j)], problem.sizes(j)
            s, t = int(self.instance.source[j]), int(self.instance.destination[j])
            room = self.most_columns - len(paths)
            limit = float(cheapest[j]) + excess + rounding
            count, found = placements_within(layers, sizes, distance, s, t, limit, room)
            if count > room:
                return None, False
            if complete:
                some, _ = placements_within(layers, sizes, distance, s, t, math.inf, count)
                complete = some == count
            paths += [(j, tuple(row)) for row in found.tolist()]
        return paths, complete

    def _fewer_paths(self, relaxed: Relaxation, excess: float) -> list[Path] | None:
        """Paths up to the largest excess, by halving, with which they are not too many."""
        for _ in range(12):
            excess /= 2.0
            paths, _ = self._paths_within(relaxed, excess)
            if paths is not None:
                return paths
        return None

    def _solve_over(self, relaxed: Relaxation, paths: Sequence[Path]) -> Result | None:
        """Solve the integer program over some paths; None if the solver refuses it."""
        master = relaxed.master
        engine = Engine(master.compiled)
        parts = [master.column(*path) for path in paths]
        costs = [master.cost(*path) for path in paths]
        engine.set_costs(master.missing, 0.0)
        engine.set_column_bounds(master.missing, 0.0, 0.0)
        columns = engine.add_columns(
            costs,
            0.0,
            1.0,
            [part[0] for part in parts],
            [part[1] for part in parts],
            np.ones(len(paths), dtype=bool),
        )
        self.counters["columns"] = max(self.counters["columns"], len(paths))
        result = None
        for shrink in (1.0, 1.0 - 3.0 * RELATIVE):  # the second one if tolerances add up
            if shrink < 1.0 and master.used.size:
                limits = np.array([row.limit for row in self.problem.rows])
                engine.set_column_bounds(master.used, 0.0, limits * shrink)
            self.counters["mips"] += 1
            try:
                found = engine.solve(
                    "cold", time_limit=self.left(), mip_gap=SOUGHT, mip_gap_abs=1e-12
                )
            except SolverError:
                return result
            result = found if result is None else result
            if found.primal is None:
                break
            taken = np.flatnonzero(np.asarray(found.value(columns)) > 0.5).tolist()
            if self._accept([placement for _, placement in sorted(paths[i] for i in taken)]):
                break
        return result

    def _arcs(self, relaxed: Relaxation) -> bool:
        """Solve the arc program without the arcs that no better solution can take."""
        if not self.fallback or self.left() <= 0:
            return True
        graphs = [layered_graph(self.instance, j) for j in self._jobs()]
        keep = [kept_arcs(self.instance, graph) for graph in graphs]
        if self.routes is not None:
            target = self.upper / self.problem.unit - relaxed.bound
            for j, graph in enumerate(graphs):
                worth = self._worthwhile(relaxed, j, target)
                computing = graph.computing
                keep[j][computing] &= worth[graph.layer[computing] - 1, graph.node[computing]]
        self.counters["arc_mips"] += 1
        found = solve_arcs(
            self.instance, time_limit=self.left(), graphs=graphs, keep=keep, start=self.routes
        )
        if found.routes is not None and found.upper < self.upper:
            self.upper, self.routes = found.upper, list(found.routes)
        if found.status == "infeasible":
            if self.routes is None:
                return False
            self._raise_lower(self.upper)
        else:
            self._raise_lower(found.lower)
        return True

    def _worthwhile(self, relaxed: Relaxation, job: int, target: float) -> NDArray[np.bool_]:
        """Whether a better solution can compute a layer at a node, shape (L, nodes)."""
        problem = self.problem
        costs = problem.priced(relaxed.prices)[problem.layers(job)]
        sizes, distance = problem.sizes(job), problem.distance()
        s, t = int(self.instance.source[job]), int(self.instance.destination[job])
        after = cost_to_go(costs, sizes, distance, t)
        before = cost_to_go(
            np.ascontiguousarray(costs[::-1]),
            np.ascontiguousarray(sizes[::-1]),
            np.ascontiguousarray(distance.T),
            s,
        )[::-1]
        finite = np.isfinite(after) & np.isfinite(before)
        through = np.full(costs.shape, np.inf)
        through[finite] = after[finite] + before[finite] - costs[finite]
        slack = target + ROUNDING * max(relaxed.bound, 1.0)
        return through <= through.min() + slack
