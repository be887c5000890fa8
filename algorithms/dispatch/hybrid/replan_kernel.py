"""Compiled: the search over orders of waiting jobs, beside those that run."""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.compiled import compiled
from algorithms.dispatch.hybrid.serial_kernels import (
    SerialState,
    _book,
    _cut,
    _extend,
    _move,
    _push,
    _sum_up,
    new_state,
)

__all__ = ["replan"]


@compiled
def _copy(state: Any) -> Any:
    return SerialState(
        state.times.copy(),
        state.use.copy(),
        state.users.copy(),
        state.size.copy(),
        state.top.copy(),
        state.below.copy(),
        state.start.copy(),
        state.node.copy(),
    )


@compiled
def _decoded(problem: Any, base: Any, order: Any) -> Any:
    """Place the jobs of an order beside those of `base`; return the state and the cost."""
    state = _copy(base)
    _, cost = _extend(problem, state, order, 0, 0.0, np.inf, True)
    return state, cost


@compiled
def replan(
    problem: Any,
    running: Any,
    start: Any,
    unit_node: Any,
    orders: Any,
    evaluations: int,
    heat: Any,
    rng: Any,
) -> Any:
    """Plan the waiting jobs beside the running ones.

    Parameters
    ----------
    problem : SerialProblem
        The duration of a running job is that until its planned end.
    running : int array
    start, unit_node : int array, shape (J,) and (U,)
        Of the running jobs.
    orders : int array, shape (K, waiting jobs)
        To begin with; the search goes on from the best.
    evaluations : int
        Orders that are decoded then.
    heat : tuple of float
        Temperature at the beginning and at the end, in parts of the cost per job.
    rng : numpy.random.Generator

    Returns
    -------
    best : int array
        The best order.
    planned, node : int array, shape (J,) and (U,)
        Its starts [s], -1 for jobs that neither run nor wait, and its nodes.
    """
    base = new_state(problem)
    for j in running:
        base.start[j] = start[j]
        for u in range(problem.unit_first[j], problem.unit_first[j + 1]):
            _push(base, u, unit_node[u])
        _book(base, problem.demand[j], start[j], start[j] + problem.duration[j])
    order = orders[0].copy()
    state, now = _decoded(problem, base, order)
    for k in range(1, len(orders)):
        other, cost = _decoded(problem, base, orders[k])
        if cost < now:
            state, now = other, cost
            order[:] = orders[k]
    best, best_cost = order.copy(), now
    jobs = len(order)
    # Nothing is better than no waiting.
    if jobs > 1 and now > 0.0 and evaluations > 0:
        hot, cold = heat
        temperature = hot * now / jobs
        ratio = (cold / hot) ** (1.0 / max(evaluations - 1, 1))
        spent = np.zeros(jobs + 1)
        _sum_up(problem, state, order, 0, spent)
        trial = order.copy()
        there = jobs  # so many jobs of `order` are placed
        for _ in range(evaluations):
            i = int(rng.random() * jobs)
            k = int(rng.random() * (jobs - 1))
            if k >= i:
                k += 1
            swap = rng.random() < 0.5
            most = now - temperature * np.log(1.0 - rng.random())
            temperature *= ratio
            _move(order, trial, i, k, swap)
            first = min(i, k)
            there = _cut(problem, state, order, there, first, True)
            placed, cost = _extend(problem, state, trial, there, spent[there], most, True)
            if placed < jobs or cost > most:
                there = _cut(problem, state, trial, placed, min(first, placed), True)
                continue
            order[:] = trial
            now = cost
            there = jobs
            _sum_up(problem, state, order, first, spent)
            if cost < best_cost:
                best_cost = cost
                best[:] = order
    found, _ = _decoded(problem, base, best)  # from nothing: no trace of rounding
    return best, found.start, found.node
