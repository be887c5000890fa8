r"""The relaxed scheduling model, eqs. (5.1), (5.2): every resource pooled over the nodes.

.. math::

    \min \; & \sum_j \frac{\max_i ewt_i}{ewt_j} (s_j - q_j) & \text{(5.2)} \\
    & \text{cumulative}(s, d, req_r, Cap^T_r) \quad \forall r \in R' & \text{(5.1)} \\
    & \text{cumulative}(s_C, d_C, 1, |C| - 1) \quad \forall \text{ conflict sets } C

R' are the resources and power, whose capacity is the cap minus the idle system. Conflict sets
depend on the mapper and are not minimal: with them the optimum bounds nothing (P4).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from ortools.sat.python import cp_model

from models.dispatch.arrays import with_slack
from models.dispatch.cp_sat import add_cumulative, integer_weights
from models.dispatch.instance import DispatchInstance

__all__ = ["RelaxedModel", "add_objective", "build_relaxed", "horizon_of"]


@dataclass(frozen=True)
class RelaxedModel:
    """A CP-SAT model and its variables.

    Attributes
    ----------
    model : cp_model.CpModel
    jobs : int array
        The possible jobs, which alone have variables.
    start : list of IntVar
        Start [s] of each of them.
    unit : float
        Objective (5.2) [s] = unit * the model's objective.
    exact : bool
        Whether that holds exactly; else it is a lower bound.
    """

    model: cp_model.CpModel
    jobs: NDArray[np.int64]
    start: list[Any]
    unit: float
    exact: bool

    def hint(self, start: ArrayLike) -> None:
        """Give a start for each job of the instance, shape (J,), for the search to begin with."""
        times = np.asarray(start, dtype=np.int64)
        self.model.clear_hints()
        for variable, j in zip(self.start, self.jobs.tolist(), strict=True):
            self.model.add_hint(variable, int(times[j]))


def horizon_of(instance: DispatchInstance) -> int:
    """Seconds by which every job of some optimal schedule has ended."""
    jobs = np.flatnonzero(instance.arrays.possible)
    arrays = instance.arrays
    return int(arrays.submit[jobs].max(initial=0) + arrays.duration[jobs].sum())


def build_relaxed(
    instance: DispatchInstance,
    *,
    conflict_sets: Collection[Sequence[int]] = (),
    at_most: float | None = None,
    hint: ArrayLike | None = None,
    optimistic: bool = False,
) -> RelaxedModel:
    """Build the relaxed model.

    Parameters
    ----------
    instance : DispatchInstance
    conflict_sets : collection of sequences of job indices
        Not all jobs of one run at the same time; those with fewer than two say nothing.
    at_most : float, optional
        Largest objective (5.2) [s] that is wanted; only a mapped schedule's is safe (P5).
    hint : int array, shape (J,), optional
        A schedule to start from.
    optimistic : bool
        Round fractional demands down: for bounds.

    Returns
    -------
    RelaxedModel
    """
    arrays = instance.arrays
    built = _starts(instance)
    model, jobs = built.model, built.jobs
    intervals = [
        model.new_fixed_size_interval_var(start, int(arrays.duration[j]), f"job_{j}")
        for start, j in zip(built.start, jobs.tolist(), strict=True)
    ]
    for r in range(instance.number_of_resources):
        capacity = float(with_slack(arrays.total_capacity[r]))
        demand = arrays.job_demand[jobs, r]
        add_cumulative(model, intervals, demand, capacity, optimistic=optimistic)
    add_cumulative(
        model, intervals, arrays.power[jobs], arrays.headroom_limit, optimistic=optimistic
    )
    interval_of = dict(zip(jobs.tolist(), intervals, strict=True))
    for conflict in conflict_sets:
        members = [interval_of[j] for j in conflict if j in interval_of]
        if len(members) > 1:
            model.add_cumulative(members, [1] * len(members), len(members) - 1)
    add_objective(instance, built, at_most)
    if hint is not None:
        built.hint(hint)
    return built


def _starts(instance: DispatchInstance) -> RelaxedModel:
    arrays = instance.arrays
    model = cp_model.CpModel()
    jobs = np.flatnonzero(arrays.possible)
    horizon = horizon_of(instance)
    start = [
        model.new_int_var(int(arrays.submit[j]), horizon - int(arrays.duration[j]), f"start_{j}")
        for j in jobs.tolist()
    ]
    _, unit, exact = integer_weights(instance)
    return RelaxedModel(model, jobs, start, unit, exact)


def add_objective(
    instance: DispatchInstance, built: RelaxedModel, at_most: float | None = None
) -> None:
    """Weighted queue time (5.2), in whole units."""
    weights, unit, _ = integer_weights(instance)
    total = sum(
        weights[j] * (start - int(instance.arrays.submit[j]))
        for start, j in zip(built.start, built.jobs.tolist(), strict=True)
    )
    built.model.minimize(total)
    if at_most is not None and len(built.jobs):
        # A hair more than asked for, so that the schedule it came from stays in.
        built.model.add(total <= int(at_most / unit * (1 + 1e-12) + 1e-6))
