"""What a schedule is like in numbers: waiting, slowdown, use of the system, power over the cap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from models.dispatch import DispatchInstance, weighted_queue_time

__all__ = ["Metrics", "measure", "power_levels"]

BOUND = 10.0
"""Seconds: shorter jobs count as this long in the slowdown, as is usual for workload logs."""

TOLERANCE = 1e-6  # relative, of the cap: what the audit calls over it

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Metrics:
    """Numbers of a schedule's started jobs.

    Attributes
    ----------
    weighted_queue_time : float
        Objective (5.2) [s].
    mean_wait, p95_wait, most_wait : float
        Seconds from submit to start.
    mean_slowdown : float
        Mean over jobs of max(1, (wait + run time) / max(run time, 10 s)).
    makespan : int
        Last end [s].
    utilisation : mapping of resource to float
        Share that is in use between the first submit and the last end.
    peak_power, mean_power : float
        Watts, idle nodes included, in the same time.
    seconds_over_cap : int
    energy_over_cap : float
        Joules above the cap.
    """

    weighted_queue_time: float
    mean_wait: float
    p95_wait: float
    most_wait: float
    mean_slowdown: float
    makespan: int
    utilisation: dict[str, float]
    peak_power: float
    mean_power: float
    seconds_over_cap: int
    energy_over_cap: float

    def counters(self) -> dict[str, float]:
        """The numbers by name, without those that a run states elsewhere."""
        return {
            "mean_wait": self.mean_wait,
            "p95_wait": self.p95_wait,
            "most_wait": self.most_wait,
            "mean_slowdown": self.mean_slowdown,
            "makespan": self.makespan,
            "mean_utilisation": float(np.mean(list(self.utilisation.values()) or [0.0])),
            "peak_power": self.peak_power,
            "seconds_over_cap": self.seconds_over_cap,
            "energy_over_cap": self.energy_over_cap,
        }


def measure(
    instance: DispatchInstance, start: ArrayLike, end: ArrayLike, power: ArrayLike
) -> Metrics:
    """Measure a schedule.

    Parameters
    ----------
    instance : DispatchInstance
    start, end : int array, shape (J,)
        Seconds; a start below 0 is a job that never runs.
    power : float array, shape (J,)
        Watts that the jobs draw above idle.
    """
    arrays = instance.arrays
    starts, ends = np.asarray(start, dtype=np.int64), np.asarray(end, dtype=np.int64)
    ran = starts >= 0
    times, levels = power_levels(starts[ran], ends[ran], np.asarray(power, dtype=float)[ran])
    steps = np.diff(times)
    watts = arrays.idle_power + levels[:-1]
    cap = np.inf if instance.power_cap is None else instance.power_cap
    over = watts > cap * (1 + TOLERANCE) + 1e-12
    waits = (starts - arrays.submit)[ran].astype(float)
    lengths = (ends - starts)[ran].astype(float)
    slowdown = np.maximum(1.0, (waits + lengths) / np.maximum(lengths, BOUND))
    first = int(arrays.submit[ran].min(initial=np.iinfo(np.int64).max)) if ran.any() else 0
    makespan = int(ends[ran].max(initial=0))
    span = makespan - first
    busy = lengths @ arrays.job_demand[ran]
    energy = float(levels[:-1] @ steps)
    return Metrics(
        weighted_queue_time=weighted_queue_time(instance, starts),
        mean_wait=_mean(waits),
        p95_wait=float(np.quantile(waits, 0.95)) if len(waits) else 0.0,
        most_wait=float(waits.max(initial=0.0)),
        mean_slowdown=_mean(slowdown),
        makespan=makespan,
        utilisation={
            name: float(busy[r] / (total * span)) if total > 0 and span else 0.0
            for r, (name, total) in enumerate(
                zip(instance.resources, arrays.total_capacity, strict=True)
            )
        },
        peak_power=arrays.idle_power + float(levels.max(initial=0.0)),
        mean_power=arrays.idle_power + (energy / span if span else 0.0),
        seconds_over_cap=int(steps[over].sum()),
        energy_over_cap=float(((watts - cap) * steps)[over].sum()) if over.any() else 0.0,
    )


def power_levels(start: Any, end: Any, power: Any) -> tuple[Ints, NDArray[np.float64]]:
    """Return times at which the power above idle changes, and its level from then on [W]."""
    times, place = np.unique(np.concatenate([start, end]), return_inverse=True)
    changes = np.zeros(len(times))
    np.add.at(changes, place.reshape(-1), np.concatenate([power, -power]))
    levels = np.cumsum(changes)
    if len(levels):
        levels[-1] = 0.0  # nothing runs after the last end
    return times.astype(np.int64), np.maximum(levels, 0.0)


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else 0.0
