"""Exchangeable rules of list dispatching: which job comes first, which node is filled first.

Every rule is linear in a job's waiting time, which lets a compiled loop keep its lists sorted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.dispatch.problem import Order
from models.dispatch.arrays import DispatchArrays

__all__ = ["JOB_RULES", "NODE_RULES", "JobRule", "NodeRule", "make_order", "share_of_system"]

Floats = NDArray[np.float64]

BITS = 40


@dataclass(frozen=True)
class JobRule:
    """Order of the waiting jobs.

    Attributes
    ----------
    name, summary : str
    lines : callable (arrays) -> (pace, offset, tie)
        A job's score is (t - q + 1) / pace + offset, the most comes first; then the least tie.
    """

    name: str
    summary: str
    lines: Callable[[DispatchArrays], tuple[Floats, Floats, Floats]]


@dataclass(frozen=True)
class NodeRule:
    """Order of the nodes: by sign * (sum of free/capacity over a node's own resources)."""

    name: str
    summary: str
    sign: float


def share_of_system(arrays: DispatchArrays) -> Floats:
    """Sum over resources of the job's demand per the system's total, shape (J,)."""
    there = arrays.total_capacity > 0
    return np.asarray(
        (arrays.job_demand[:, there] / arrays.total_capacity[there]).sum(axis=1), dtype=float
    )


def _work(arrays: DispatchArrays) -> Floats:
    """Duration * demand; what rounding makes of equal ones stays equal."""
    return _rounded(arrays.duration * share_of_system(arrays))


def _rounded(values: Floats) -> Floats:
    """The nearest numbers of `BITS` binary digits."""
    fraction, exponent = np.frexp(values)
    return np.asarray(np.ldexp(np.round(np.ldexp(fraction, BITS)), exponent - BITS), dtype=float)


def _urgency(arrays: DispatchArrays) -> tuple[Floats, Floats, Floats]:
    """max_ewt * (t - q + 1) / ewt, ties by duration * demand (Algorithm 1).

    The common factor max_ewt is left out: it may come from a job that nobody knows of yet.
    """
    zero = np.zeros(len(arrays.weight))
    return arrays.expected_wait.astype(float), zero, _work(arrays)


def _submit(arrays: DispatchArrays) -> tuple[Floats, Floats, Floats]:
    zero = np.zeros(len(arrays.weight))
    return np.ones(len(zero)), zero, zero


def _shortest(arrays: DispatchArrays) -> tuple[Floats, Floats, Floats]:
    zero = np.zeros(len(arrays.weight))
    return zero + np.inf, -arrays.duration.astype(float), zero


def _smallest(arrays: DispatchArrays) -> tuple[Floats, Floats, Floats]:
    """Weight per duration * demand, max_ewt left out: what Smith's rule is on one machine."""
    zero = np.zeros(len(arrays.weight))
    work = np.maximum(_work(arrays), 1e-300)
    return zero + np.inf, _rounded(1.0 / (arrays.expected_wait * work)), zero


JOB_RULES = {
    rule.name: rule
    for rule in (
        JobRule("urgency", "weighted waiting time, then least work (Algorithm 1)", _urgency),
        JobRule("submit", "first come, first served", _submit),
        JobRule("shortest", "least estimate", _shortest),
        JobRule("smith", "most weight per work", _smallest),
    )
}

NODE_RULES = {
    rule.name: rule
    for rule in (
        NodeRule("fullest", "least free first (Algorithm 1)", 1.0),
        NodeRule("file", "in file order", 0.0),
        NodeRule("emptiest", "most free first", -1.0),
    )
}


def make_order(arrays: DispatchArrays, jobs: str, nodes: str) -> Order:
    """Turn two rules, by name, into what the compiled loop reads."""
    pace, offset, tie = JOB_RULES[jobs].lines(arrays)
    return Order(pace, offset, tie, NODE_RULES[nodes].sign)
