"""The policy `opt`: routes and priorities together, for the least largest completion time."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import Field

from algorithms.policy import Parameters, Policy, Run
from algorithms.splitting.exact.answer import SOUGHT, Answer, interval
from algorithms.splitting.exact.optimum import Optimum, optimum
from algorithms.splitting.exact.reduction import useful_arcs
from models.solver import Engine, Result
from models.splitting import (
    Route,
    SplittingInstance,
    build_routing,
    fictitious_completions,
    routes_of,
)
from models.splitting.layered_graph import layered_graph, route_of, time_unit
from models.splitting.priority_ilp import build_priority_ilp, priority_order

__all__ = ["OPT", "OptParameters", "run_opt"]

HALF = 0.5


class OptParameters(Parameters):
    """Parameters of OPT."""

    time_limit: Annotated[float, Field(gt=0, description="seconds; afterwards the best found")] = (
        60.0
    )


def run_opt(instance: SplittingInstance, parameters: OptParameters, seed: int) -> Run:
    """Find routes and priorities of least largest completion time (appendix D).

    The better of the greedy and NFS is the start, so that the answer is never worse than either,
    and its time bounds the big M and drops arcs that no better routing uses. Where it equals
    what every job needs alone, no program is solved.

    Parameters
    ----------
    instance : SplittingInstance
    parameters : OptParameters
    seed : int
        Without effect.

    Returns
    -------
    Run
        The routing, and an `Answer` as the log: the interval that is proved.

    Raises
    ------
    NoSolution
        Naming the first job without a route.
    """
    del seed
    known = optimum(instance)  # raises NoSolution
    assert known.routing is not None
    places = {job.name: job.priority or 0 for job in known.routing.jobs}
    order = sorted(range(instance.number_of_jobs), key=lambda j: places[instance.jobs[j].name])
    routes = routes_of(instance, known.routing)
    if known.status == "optimal":
        answer = interval(known.lower, known.upper, routes, order, counters={"mips": 0})
    else:
        answer = _solve(instance, known, routes, order, parameters.time_limit)
    assert answer.routes is not None
    routing = build_routing(instance, OPT.name, answer.routes, answer.order)
    return Run(routing, answer, dict(answer.counters))


def _solve(
    instance: SplittingInstance,
    known: Optimum,
    routes: list[Route],
    order: list[int],
    time_limit: float,
) -> Answer:
    graphs = [layered_graph(instance, j) for j in range(instance.number_of_jobs)]
    keep = [useful_arcs(instance, graph, known.upper) for graph in graphs]
    unit = time_unit(known.upper)
    model = build_priority_ilp(instance, graphs, keep, most=known.upper, unit=unit)
    result = Engine(model).solve(time_limit=time_limit, mip_gap=SOUGHT, mip_gap_abs=1e-12)
    lower, upper = known.lower, known.upper
    if math.isfinite(result.bound):
        lower = max(lower, result.bound * unit)
    if result.has_solution:
        found, found_order = _decode(model, result)
        value = max(fictitious_completions(instance, found, found_order))
        if value < upper:
            routes, order, upper = found, found_order, value
    counters = {"mips": 1, "nodes": result.nodes, "iterations": result.iterations}
    return interval(lower, upper, routes, order, counters=counters)


def _decode(model: Any, result: Result) -> tuple[list[Route], list[int]]:
    """Routes, cycles cut off, and the order, of a solution."""
    result.load_into(model)
    taken: list[list[int]] = [[] for _ in model.graphs]
    for (j, a), variable in model.flow.items():
        if variable.value > HALF:
            taken[j].append(a)
    before = {key: variable.value for key, variable in model.before.items()}
    routes = [route_of(graph, arcs) for graph, arcs in zip(model.graphs, taken, strict=True)]
    return routes, priority_order(before, len(model.graphs))


OPT = Policy(
    name="opt",
    summary="least largest completion time by one integer program (appendix D), with its interval",
    parameters=OptParameters,
    run=run_opt,
    counters={
        "mips": "integer programs solved",
        "nodes": "branch-and-bound nodes",
        "iterations": "iterations of linear programs",
    },
)
