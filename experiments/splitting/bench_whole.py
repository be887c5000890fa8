"""Parts of schedlab bench splitting that take seconds: whole greedy runs, and column generation."""

from __future__ import annotations

import math
import multiprocessing
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from algorithms.splitting import run
from algorithms.splitting.exact.column_generation import path_problem, solve_relaxation
from models.solver import Engine
from models.splitting import SplittingInstance
from models.splitting.generator import generate
from models.splitting.layered_graph import layered_graph
from models.splitting.presets import SIDE
from models.splitting.service_ilp import build_service_ilp

__all__ = ["columns_against_arcs", "greedy", "large_greedy"]

AGREE = 1e-6
REPEATS = 7
DENSITY = 50  # nodes in the default square
MEBIBYTE = 2**20


def greedy(instance: SplittingInstance) -> dict[str, float]:
    """Time the lazy and the literal greedy, which must give the same."""
    found: dict[str, float] = {}
    objectives = set()
    for method in ("lazy", "literal"):
        began = time.process_time()
        outcome = run(instance, "greedy", method=method)
        found[f"{method}_seconds"] = time.process_time() - began
        found[f"{method}_routes"] = outcome.counters["evaluations"]
        objectives.add(outcome.solution.objective)
    if len(objectives) > 1:
        raise AssertionError("the lazy and the literal greedy disagree")
    return found


def large_greedy(nodes: int, jobs: int, seed: int) -> dict[str, float]:
    """Time the lazy greedy on a large instance, in a process of its own, to see its memory.

    The square grows with the number of nodes, so that a node has as many neighbours as one of 50
    nodes in the default square.

    Returns
    -------
    dict
        ``links``; ``lazy_seconds`` and ``lazy_routes``; ``peak_mib``, the most memory that the
        process has had, and ``before_mib``, the same before there was an instance: loading and
        compiling may take more than the work does.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(_large_greedy, nodes, jobs, seed).result()


def _large_greedy(nodes: int, jobs: int, seed: int) -> dict[str, float]:
    run(generate(10, 2, seed=seed).instance, "greedy")  # compiles
    before = _peak()
    side = SIDE * math.sqrt(max(nodes, DENSITY) / DENSITY)
    instance = generate(nodes, jobs, side=side, seed=seed).instance
    began = time.process_time()
    outcome = run(instance, "greedy")
    seconds = time.process_time() - began
    return {
        "links": instance.number_of_links,
        "lazy_seconds": seconds,
        "lazy_routes": outcome.counters["evaluations"],
        "before_mib": before,
        "peak_mib": _peak(),
    }


def _peak() -> float:
    """Most memory that this process has had so far [MiB]."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / MEBIBYTE if sys.platform == "darwin" else peak / 1024


def columns_against_arcs(nodes: int, jobs: int, seed: int) -> dict[str, float]:
    """Time the LP relaxation of (1)-(5) by column generation and over arcs.

    Returns
    -------
    dict
        Median seconds of column generation, whole; seconds of the arc LP's solve, which is done
        once, and of making it; how many times the former it takes (not kept as a reference: that
        of one solve of ten seconds may be twice another's); and the service time on which they
        agree.
    """
    _relaxed_by_columns(generate(6, 2, seed=seed).instance)  # compiles
    instance = generate(nodes, jobs, seed=seed).instance
    columns = []
    for _ in range(REPEATS):
        began = time.process_time()
        value, unit = _relaxed_by_columns(instance)
        columns.append(time.process_time() - began)
    began = time.process_time()
    graphs = [layered_graph(instance, j) for j in range(jobs)]
    engine = Engine(build_service_ilp(instance, integer=False, graphs=graphs, unit=unit))
    made = time.process_time() - began
    began = time.process_time()
    objective = engine.solve("cold").objective * unit
    arcs = time.process_time() - began
    if not abs(objective - value) <= AGREE * value:
        raise AssertionError(f"columns and arcs disagree: {value} and {objective}")
    return {
        "columns_seconds": float(np.median(columns)),
        "arcs_seconds": arcs,
        "making_arcs_seconds": made,
        "arcs_to_columns": arcs / float(np.median(columns)),
        "value": value,
    }


def _relaxed_by_columns(instance: SplittingInstance) -> tuple[float, float]:
    problem = path_problem(instance)
    return solve_relaxation(problem).bound * problem.unit, problem.unit
