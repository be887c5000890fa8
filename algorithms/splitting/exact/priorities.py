"""Routes and priorities together: OPT (appendix D) by one integer program, from a first interval.

The first interval's time bounds the big M and drops arcs that no better routing uses. Where it
is closed no program is solved, and neither where it would not be made in the time there is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from algorithms.policy import NoSolution
from algorithms.splitting.exact.answer import SOUGHT, Answer, interval
from algorithms.splitting.exact.first_interval import first_interval
from algorithms.splitting.exact.reduction import useful_arcs
from models.files import InputError
from models.solver import Engine, Result
from models.splitting import Route, SplittingInstance, fictitious_completions
from models.splitting.layered_graph import LayeredGraph, layered_graph, route_of, time_unit
from models.splitting.priority_ilp import build_priority_ilp, priority_order

__all__ = ["MOST_VARIABLES", "priority_program", "solve_priorities"]

HALF = 0.5
MOST_VARIABLES = 200_000
"""Of a program that is tried at all: about 1.5 GB while it is made."""

VARIABLES_PER_SECOND = 8_000
"""What building and compiling a program takes; the count decides, so that a run repeats."""


def solve_priorities(instance: SplittingInstance, *, time_limit: float = 60.0) -> Answer:
    """Find routes and priorities of least largest completion time.

    Parameters
    ----------
    instance : SplittingInstance
    time_limit : float
        Seconds.

    Returns
    -------
    Answer
        Never worse than the greedy and NFS.

    Raises
    ------
    NoSolution
        Naming the first job without a route.
    """
    end = time.monotonic() + time_limit
    known = first_interval(instance)
    if known.status == "optimal":
        return known
    graphs = [layered_graph(instance, j) for j in range(instance.number_of_jobs)]
    keep = [useful_arcs(instance, graph, known.upper) for graph in graphs]
    size = _variables(instance, graphs, keep)
    if size > min(MOST_VARIABLES, VARIABLES_PER_SECOND * time_limit):
        return known
    unit = time_unit(known.upper)
    model = build_priority_ilp(instance, graphs, keep, most=known.upper, unit=unit)
    engine = Engine(model)
    left = max(end - time.monotonic(), 0.0)
    result = engine.solve(time_limit=left, mip_gap=SOUGHT, mip_gap_abs=1e-12)
    return _tightened(instance, known, model, result, unit)


def priority_program(instance: SplittingInstance) -> Any:
    """Build the whole program, no arc dropped; infeasible if a job has no route.

    Returns
    -------
    pyomo.environ.ConcreteModel
        Its objective is in seconds.

    Raises
    ------
    InputError
        If it would have too many variables.
    """
    graphs = [layered_graph(instance, j) for j in range(instance.number_of_jobs)]
    keep = [np.ones(graph.arcs, dtype=bool) for graph in graphs]
    size = _variables(instance, graphs, keep)
    if size > MOST_VARIABLES:
        rule = f"would make a program of about {size} variables, over {MOST_VARIABLES}"
        raise InputError(rule, field="jobs", value=instance.number_of_jobs)
    try:
        most = first_interval(instance).upper
    except NoSolution:
        most = 1.0
    return build_priority_ilp(instance, graphs, keep, most=most)


def _tightened(
    instance: SplittingInstance, known: Answer, model: Any, result: Result, unit: float
) -> Answer:
    """The first interval with what the program says."""
    lower, upper, routes, order = known.lower, known.upper, known.routes, known.order
    assert routes is not None
    if math.isfinite(result.bound):
        lower = max(lower, result.bound * unit)
    if result.has_solution:
        found, found_order = _decode(model, result)
        value = max(fictitious_completions(instance, found, found_order))
        if value < upper:
            routes, order, upper = tuple(found), tuple(found_order), value
    counters = {"mips": 1, "nodes": result.nodes, "iterations": result.iterations}
    return interval(lower, upper, routes, order, counters=counters)


def _variables(
    instance: SplittingInstance, graphs: Sequence[LayeredGraph], keep: Sequence[NDArray[np.bool_]]
) -> int:
    """About as many variables as the program would have."""
    met = np.zeros((len(graphs), instance.number_of_nodes + instance.number_of_links), dtype=bool)
    for j, (graph, kept) in enumerate(zip(graphs, keep, strict=True)):
        nodes, links = graph.node[kept], graph.link[kept]
        met[j, nodes[nodes >= 0]] = True
        met[j, instance.number_of_nodes + links[links >= 0]] = True
    together = met.sum(axis=0)
    flows = sum(int(kept.sum()) for kept in keep)
    return 2 * flows + int((together * (together - 1)).sum())


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
