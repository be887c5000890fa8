r"""The best stationary allocation (10), with concave gains replaced by tangents from above.

With N_l jobs of port l, S_lk what it has of resource k in all, and one term i for every (l, k)
in the form sum, for every edge and resource in the form channel:

.. math::

    \max \; & \sum_i N_i g_i - \sum_l N_l m_l & \text{(10)} \\
    \text{s.t.} \; & \sum_{l \in L_r} y_{lrk} \le c_{rk} \quad \forall r, k & \text{(6)} \\
    & m_l \ge \beta_k S_{lk} \quad \forall l, k & \text{overhead of (7)} \\
    & g_i \le f_i(s) + f_i'(s) (x_i - s) \quad \forall i, s \in \text{tangents}_i
        & \text{gains of (7)} \\
    & 0 \le y_{lrk} \le a_{lk} & \text{(5)}

A concave function lies below its tangents, so the optimum here is an upper bound of (10)'s, and
it is (10)'s where all gains are linear.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from models.multiserver.gains import gain_slope, gain_value
from models.multiserver.layout import EdgeLayout
from models.solver import relation

__all__ = ["StationaryProblem", "Tangents", "build_stationary_lp", "stationary_problem"]

Reals = NDArray[np.float64]
Indices = NDArray[np.int64]
Tangents = list[list[float]]
"""For every term the amounts at which its gain has a tangent."""


@dataclass(frozen=True)
class StationaryProblem:
    """What (10) depends on: the layout, the jobs of each port, and the terms of the gain.

    Attributes
    ----------
    layout : EdgeLayout
    jobs : array, shape (ports,)
        N_l.
    most : array, shape (edges, resources)
        min(a, c): no allocation has more.
    term : array of int, shape (edges, resources)
        The term that an amount counts in.
    weight, kind, scale, reach : array, shape (terms,)
        N of the term's port; the gain function; the most that its amount can be.
    """

    layout: EdgeLayout
    jobs: Reals
    most: Reals
    term: Indices
    weight: Reals
    kind: Indices
    scale: Reals
    reach: Reals

    @property
    def terms(self) -> int:
        """Number of terms."""
        return len(self.weight)

    def amounts(self, allocation: Reals) -> Reals:
        """x_i of an allocation, shape (terms,)."""
        return _summed(self.term, allocation, self.terms)

    def value(self, allocation: Reals) -> float:
        """sum_l N_l q_l(1, y)."""
        gains = gain_value(self.kind, self.scale, self.amounts(allocation))
        total = np.zeros((self.layout.ports, self.layout.resources))
        np.add.at(total, self.layout.port, allocation)
        overhead = (self.layout.overhead * total).max(axis=1, initial=0.0)
        return float(self.weight @ gains - self.jobs @ overhead)


def _summed(term: Indices, amounts: Reals, terms: int) -> Reals:
    result = np.zeros(terms)
    np.add.at(result, term, amounts)
    return result


def stationary_problem(layout: EdgeLayout, jobs: Reals) -> StationaryProblem:
    """Put the terms together; `jobs` is N_l."""
    shape = (layout.edges, layout.resources)
    most = np.minimum(layout.cap, layout.capacity[layout.instance])
    if layout.per_channel:
        term = np.arange(layout.edges * layout.resources, dtype=np.int64).reshape(shape)
        terms = term.size
    else:
        term = layout.port[:, np.newaxis] * layout.resources + np.arange(layout.resources)
        terms = layout.ports * layout.resources
    weight, scale = np.zeros(terms), np.ones(terms)
    kind = np.zeros(terms, dtype=np.int64)
    weight[term] = jobs[layout.port][:, np.newaxis]
    kind[term], scale[term] = layout.kind, layout.scale
    reach = _summed(term, most, terms)
    return StationaryProblem(layout, jobs, most, term, weight, kind, scale, reach)


def build_stationary_lp(problem: StationaryProblem, tangents: Tangents) -> Any:
    """Build the LP, in shares: of `most` for allocations, of a term's largest gain for gains.

    Returns
    -------
    pyomo.environ.ConcreteModel
        With variables ``share[e, k]``, ``gain[i]``, ``overhead[l]``, constraints ``capacity``
        (6), ``dominant`` and ``tangent[i, place]``; ``model.unit`` is what 1 in the objective
        is worth. Amounts and terms that are always zero, and ports without jobs, are left out.
    """
    layout = problem.layout
    model = pyo.ConcreteModel("stationary")
    used = (problem.most > 0) & (problem.jobs[layout.port] > 0)[:, np.newaxis]
    keys = [(int(e), int(k)) for e, k in zip(*used.nonzero(), strict=True)]
    model.share = pyo.Var(keys, domain=pyo.UnitInterval)
    by_server: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    by_port: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    by_term: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for e, k in keys:
        by_server[int(layout.instance[e]), k].append((e, k))
        by_port[int(layout.port[e]), k].append((e, k))
        by_term[int(problem.term[e, k])].append((e, k))

    def part(key: tuple[int, int], whole: float) -> Any:
        return float(problem.most[key] / whole) * model.share[key]

    def capacity(_: Any, r: int, k: int) -> Any:
        """(6): what an instance has is not exceeded, in shares of it."""
        whole = float(layout.capacity[r, k])
        return relation(pyo.quicksum(part(key, whole) for key in by_server[r, k]) <= 1.0)

    model.capacity = pyo.Constraint(list(by_server), rule=capacity)
    top = np.array(gain_value(problem.kind, problem.scale, problem.reach))
    felt = _largest_overhead(problem)
    ports = sorted({port for port, _ in by_port})
    model.unit = max(
        [
            *(float(problem.weight[i] * top[i]) for i in by_term),
            *(float(problem.jobs[i] * felt[i]) for i in ports),
        ],
        default=1.0,
    )
    model.overhead = pyo.Var(ports, domain=pyo.NonNegativeReals)

    def dominant(_: Any, port: int, k: int) -> Any:
        """(7): the overhead is at least each resource's, in shares of the largest possible."""
        rate = float(layout.overhead[k]) / felt[port] if felt[port] > 0 else 0.0
        total = pyo.quicksum(
            float(rate * problem.most[key]) * model.share[key] for key in by_port[port, k]
        )
        return model.overhead[port] >= total

    model.dominant = pyo.Constraint(list(by_port), rule=dominant)
    model.gain = pyo.Var(list(by_term), domain=pyo.NonNegativeReals)

    def tangent(_: Any, i: int, place: int) -> Any:
        """(7): the gain is below its tangent, in shares of the term's largest amount and gain."""
        kind, scale, reach = problem.kind[i], problem.scale[i], float(problem.reach[i])
        at = tangents[i][place]
        slope = float(gain_slope(kind, scale, at)) * reach / top[i]
        constant = float(gain_value(kind, scale, at)) / top[i] - slope * at / reach
        line = pyo.quicksum(part(key, reach) for key in by_term[i])
        return model.gain[i] <= constant + slope * line

    model.tangent = pyo.Constraint(
        [(i, place) for i in by_term for place in range(len(tangents[i]))], rule=tangent
    )
    model.reward = pyo.Objective(
        expr=pyo.quicksum(
            float(problem.weight[i] * top[i] / model.unit) * model.gain[i] for i in by_term
        )
        - pyo.quicksum(
            float(problem.jobs[i] * felt[i] / model.unit) * model.overhead[i] for i in ports
        ),
        sense=pyo.maximize,
    )
    return model


def _largest_overhead(problem: StationaryProblem) -> Reals:
    """max_k beta_k S_lk with everything possible, shape (ports,)."""
    layout = problem.layout
    total = np.zeros((layout.ports, layout.resources))
    np.add.at(total, layout.port, problem.most)
    return np.asarray((layout.overhead * total).max(axis=1, initial=0.0))
