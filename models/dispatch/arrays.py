"""The instance as flat arrays: what compiled kernels and formulations read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from models.dispatch.instance import DispatchInstance

__all__ = ["SLACK", "DispatchArrays", "make_arrays", "with_slack"]

SLACK = 1e-9
"""Relative slack of every capacity test, so that 0.1 + 0.2 fits in 0.3; the audit allows 1e-6."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def with_slack(capacity: Any) -> Any:
    """Return the largest use that counts as within a capacity; a number or an array."""
    return capacity * (1 + SLACK) + 1e-12


@dataclass(frozen=True)
class DispatchArrays:
    """All numbers of an instance; N nodes, J jobs, R resources, U units of all jobs in order.

    Attributes
    ----------
    capacity : float array, shape (N, R)
    capacity_limit : float array, shape (N, R)
        `capacity` with `SLACK`: a use fits iff it is at most this.
    total_capacity : float array, shape (R,)
    idle_power : float
        Watts of all nodes.
    cap_limit : float
        Power cap [W] with `SLACK`, infinite if there is none.
    headroom : float
        Watts that running jobs may draw together: cap - idle; negative if the instance is
        infeasible, infinite without cap.
    headroom_limit : float
        `cap_limit` - idle: jobs fit iff their power is at most this.
    submit, duration, expected_wait : int array, shape (J,)
        Seconds.
    power : float array, shape (J,)
        Watts, predicted.
    weight : float array, shape (J,)
        max_i ewt_i / ewt_j, over all jobs of the file.
    unit_first : int array, shape (J + 1,)
        Units of job j are unit_first[j] .. unit_first[j + 1] - 1.
    unit_job : int array, shape (U,)
    unit_demand : float array, shape (U, R)
    job_demand : float array, shape (J, R)
        Sum over the job's units.
    possible : bool array, shape (J,)
        Whether the job can run on the empty system under the cap (P3).
    real_duration : int array, shape (J,)
        Seconds, for the simulator only.
    real_power : float array, shape (J,)
        Watts, for the simulator only.
    """

    capacity: Floats
    capacity_limit: Floats
    total_capacity: Floats
    idle_power: float
    cap_limit: float
    headroom: float
    headroom_limit: float
    submit: Ints
    duration: Ints
    expected_wait: Ints
    power: Floats
    weight: Floats
    unit_first: Ints
    unit_job: Ints
    unit_demand: Floats
    job_demand: Floats
    real_duration: Ints
    real_power: Floats
    instance: DispatchInstance

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Whether each job can run at all, shape (J,)."""
        return np.array([why is None for why in self.instance.why_impossible], dtype=bool)


def make_arrays(instance: DispatchInstance) -> DispatchArrays:
    """Make the arrays of an instance; `DispatchInstance.arrays` keeps them."""
    jobs, resources = instance.jobs, instance.resources
    capacity = _amounts([node.capacity for node in instance.nodes], resources)
    units = [unit for job in jobs for unit in job.units]
    counts = np.array([len(job.units) for job in jobs], dtype=np.int64)
    unit_demand = _amounts(units, resources)
    unit_job = np.repeat(np.arange(len(jobs)), counts)
    job_demand = np.zeros((len(jobs), len(resources)))
    np.add.at(job_demand, unit_job, unit_demand)
    expected_wait = _whole([job.expected_wait for job in jobs])
    cap = math.inf if instance.power_cap is None else instance.power_cap
    idle = instance.idle_power
    return DispatchArrays(
        capacity=_fixed(capacity),
        capacity_limit=_fixed(with_slack(capacity)),
        total_capacity=_fixed(capacity.sum(axis=0)),
        idle_power=idle,
        cap_limit=float(with_slack(cap)),
        headroom=cap - idle,
        headroom_limit=float(with_slack(cap)) - idle,
        submit=_whole([job.submit for job in jobs]),
        duration=_whole([job.duration for job in jobs]),
        expected_wait=expected_wait,
        power=_real([job.power for job in jobs]),
        weight=_fixed(expected_wait.max(initial=1) / expected_wait),
        unit_first=_fixed(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)),
        unit_job=_fixed(unit_job.astype(np.int64)),
        unit_demand=_fixed(unit_demand),
        job_demand=_fixed(job_demand),
        real_duration=_whole([job.real_duration for job in jobs]),
        real_power=_real([job.real_power for job in jobs]),
        instance=instance,
    )


def _amounts(rows: list[Any], resources: tuple[str, ...]) -> Floats:
    table = [[float(row.get(name, 0.0)) for name in resources] for row in rows]
    return np.array(table, dtype=float).reshape(len(rows), len(resources))


def _whole(values: list[int]) -> Ints:
    return _fixed(np.array(values, dtype=np.int64))


def _real(values: list[float]) -> Floats:
    return _fixed(np.array(values, dtype=float))


def _fixed(table: Any) -> Any:
    table.setflags(write=False)
    return table
