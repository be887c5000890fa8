"""One point of splitting/lp-ilp-time: (1)-(5) and its LP, over arcs and by columns, with times."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

from algorithms.policy import NoSolution
from algorithms.splitting import run
from algorithms.splitting.exact.column_generation import path_problem, solve_relaxation
from algorithms.splitting.exact.service_arcs import arc_relaxation
from experiments.splitting.greedy_optimal_task import audited
from models.splitting import SplittingInstance
from models.splitting.generator import generate

__all__ = ["task"]

AGREE = 1e-6
COLUMNS = (
    *("lp", "lp_arcs_seconds", "lp_columns_seconds", "revisits", "programs"),
    *(
        f"{m}_{what}"
        for m in ("arcs", "columns")
        for what in ("seconds", "status", "lower", "upper")
    ),
)


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Solve one instance by every method; times include building the models.

    Raises
    ------
    AssertionError
        If two methods contradict each other, or a routing fails the audit.
    """
    run(generate(4, 2).instance, "ilp")  # compiles and imports, which is not counted
    instance = generate(parameters["nodes"], parameters["jobs"], seed=seed).instance
    lp, lp_arcs = _timed(lambda: arc_relaxation(instance))
    if lp == math.inf:
        return dict.fromkeys(COLUMNS) | {"arcs_status": "infeasible", "programs": 1}
    bound, lp_columns = _timed(lambda: _column_bound(instance))
    if not abs(lp - bound) <= AGREE * lp:
        raise AssertionError(f"the LPs disagree: {lp} over arcs and {bound} by columns")
    limit = parameters["time_limit"]
    row: dict[str, Any] = {
        "lp": lp,
        "lp_arcs_seconds": lp_arcs,
        "lp_columns_seconds": lp_columns,
        "revisits": None,
    }
    programs = 2
    for method in ("arcs", "columns"):
        try:
            outcome, seconds = audited(instance, "ilp", method=method, time_limit=limit)
        except NoSolution:
            return dict.fromkeys(COLUMNS) | {"arcs_status": "infeasible", "programs": programs}
        row |= {
            f"{method}_seconds": seconds,
            f"{method}_status": outcome.log.status,
            f"{method}_lower": outcome.log.lower,
            f"{method}_upper": outcome.log.upper if outcome.solution is not None else None,
        }
        programs += sum(outcome.counters.get(name, 0) for name in ("lps", "mips", "arc_mips"))
        if outcome.solution is not None:  # of the columns if they have one, which is the better
            row["revisits"] = _revisits(instance, outcome.solution)
    if row["arcs_upper"] is not None and row["arcs_upper"] < row["columns_lower"] * (1 - AGREE):
        raise AssertionError("the arcs have a solution below the bound of the columns")
    return {**row, "programs": programs}


def _column_bound(instance: SplittingInstance) -> float:
    problem = path_problem(instance)
    return solve_relaxation(problem, time_limit=600.0).bound * problem.unit


def _revisits(instance: SplittingInstance, routing: Any) -> int:
    """Jobs whose path comes back to a node of the network, the source after a round trip apart."""
    ends = {link.name: link.end for link in instance.links}
    count = 0
    for job, data in zip(routing.jobs, instance.jobs, strict=True):
        way = [data.source, *(ends[link] for link, _ in job.hops)]
        inner = way[:-1] if len(way) > 1 and way[0] == way[-1] else way
        count += len(set(inner)) < len(inner)
    return count


def _timed(work: Callable[[], float]) -> tuple[float, float]:
    began = time.perf_counter()
    value = work()
    return value, time.perf_counter() - began
