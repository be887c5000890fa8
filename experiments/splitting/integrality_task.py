"""One point of splitting/integrality: integer optima held against their LP relaxations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from algorithms.splitting import run
from algorithms.splitting.exact.integer_columns import solve_columns
from algorithms.splitting.single.label_setting import ExactRouter
from algorithms.splitting.single.linear_program import LinearBound
from experiments.splitting.shaped_jobs import disturbed, hostile, shaped
from models.splitting import Queues, SplittingInstance, audit, build_routing, routes_of
from models.splitting.generator import generate

__all__ = ["APART", "task"]

APART = 1e-6
"""Relative difference from which on two optima are told apart: well over the LP's tolerance."""


def task(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Compute one point.

    Raises
    ------
    AssertionError
        If a routing fails the audit, or an LP lies above its integer optimum.
    """
    part = parameters["part"]
    return _budgets(parameters, seed) if part == "budgets" else _single(parameters, seed)


def _budgets(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """(1)-(5): the interval of the integer optimum over the value of the LP."""
    instance = generate(parameters["nodes"], parameters["jobs"], seed=seed).instance
    answer = solve_columns(
        instance,
        time_limit=parameters["time_limit"],
        most_columns=parameters["most_columns"],
        fallback=False,
    )
    row = {"status": answer.status, "programs": answer.counters["lps"] + answer.counters["mips"]}
    found = answer.routes is not None
    if found:
        report = audit(instance, build_routing(instance, "ilp", answer.routes or ()))
        if not report.feasible:
            raise AssertionError(f"ilp: {report.violations[0]}")
    relaxed = answer.relaxation
    return {
        **row,
        "lp": relaxed,
        "ratio": answer.upper / relaxed if found else None,
        "ratio_low": answer.lower / relaxed if found else None,
        "gaps": None,
        "largest": None,
    }


def _single(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """(6)-(10): how many LPs lie below the integer optimum, and by how much at most [%]."""
    programs = gaps = 0
    largest = 0.0
    for value, best in _pairs(parameters, seed):
        if value > best * (1 + APART):
            raise AssertionError(f"the LP, {value}, lies above the integer optimum, {best}")
        programs += 1
        if best > value * (1 + APART):
            gaps += 1
            largest = max(largest, 100 * (best / value - 1))
    return {
        "status": "optimal",
        "programs": programs,
        "lp": None,
        "ratio": None,
        "ratio_low": None,
        "gaps": gaps,
        "largest": largest,
    }


def _pairs(parameters: Mapping[str, Any], seed: int) -> Iterator[tuple[float, float]]:
    """LP and integer optimum of many single-job programs."""
    if parameters["source"] == "greedy":
        instance = shaped(
            parameters["layers"],
            parameters["shape"],
            parameters["jobs"],
            parameters["nodes"],
            seed,
        )
        yield from _met_by_greedy(instance)
        return
    stream = np.random.Generator(np.random.PCG64([seed, 1 + round(1000 * _axis(parameters))]))
    for _ in range(parameters["draws"]):
        if parameters["source"] == "near":
            instance, queues = disturbed(parameters["spread"], stream)
        else:
            instance, queues = hostile(
                parameters["layers"], parameters["shape"], parameters["nodes"], stream
            )
        best = ExactRouter(instance).route(0, queues)
        assert best is not None
        yield LinearBound(instance, 0).value(queues), best.seconds


def _axis(parameters: Mapping[str, Any]) -> float:
    return float(parameters["spread"] if parameters["source"] == "near" else parameters["layers"])


def _met_by_greedy(instance: SplittingInstance) -> Iterator[tuple[float, float]]:
    """All programs of Algorithm 1: in every round those of all jobs without a priority."""
    outcome = run(instance, "greedy")
    routes, order = routes_of(instance, outcome.solution), outcome.log.order
    router = ExactRouter(instance)
    bounds = {job: LinearBound(instance, job) for job in order}
    queues = Queues.initial(instance)
    for place, chosen in enumerate(order):
        for job in order[place:]:
            best = router.route(job, queues)
            assert best is not None
            yield bounds[job].value(queues), best.seconds
        queues.add(instance, chosen, routes[chosen])
