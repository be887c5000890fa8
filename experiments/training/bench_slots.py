"""The slot programs of a job at 20 workload levels, by curves, the engine and Pyomo, in turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from algorithms.training.pdors.curves import CurveSlot, JobCurves, slot_of_state
from algorithms.training.pdors.slot import JobSlots, SlotState
from experiments.side_by_side import interleaved, quartiles, ratio
from models.training import TrainingInstance
from models.training.slot_program import build_slot_program
from models.training.throughput import most_units

__all__ = ["slot_programs"]

LEVELS = 20
AGREE = 1e-6  # HiGHS's own tolerance, relative to an optimum of size 1e-3
CURVES, WARM, COLD, PYOMO = "curves", "engine, warm", "engine, cold", "a new Pyomo model each time"


@dataclass(frozen=True)
class JobCase:
    """What one job asks in the different slots that it meets: values behind `solve`."""

    instance: TrainingInstance
    job: int
    states: list[SlotState]
    views: list[CurveSlot]
    covers: NDArray[np.int64]

    @property
    def programs(self) -> int:
        """How many slot programs that is."""
        return len(self.states) * len(self.covers)

    def by_curves(self) -> NDArray[np.float64]:
        """All at once, with a primal optimum of each."""
        slots = JobSlots(self.instance, self.job)
        curves = JobCurves(slots.job, slots.worker_demand, slots.ps_demand, self.views, self.covers)
        for k in range(len(self.views)):
            curves.optima(k)
        return curves.log_cost

    def by_engine(self, start: Literal["warm", "cold"]) -> NDArray[np.float64]:
        """One LP after the other, demand rising."""
        slots = JobSlots(self.instance, self.job, start)
        found = [[slots.external(s, int(cover)) for cover in self.covers] for s in self.states]
        return np.array([[np.inf if f is None else f.log_cost for f in row] for row in found])

    def by_pyomo(self) -> float:
        """One program only: the middle level in the first slot."""
        slots = JobSlots(self.instance, self.job)
        found = _fresh_pyomo(slots, self.states[0], int(self.covers[len(self.covers) // 2]))
        return np.inf if found is None else found


def slot_programs(
    instance: TrainingInstance, log: Any, sampled_jobs: int, seed: int
) -> dict[str, Any]:
    """Time the programs of some jobs as a run met them.

    Returns
    -------
    dict
        ``jobs``, ``programs``; ``ways`` (per way: quartiles of milliseconds per program, and how
        many times as long as by curves, job by job); ``largest_difference`` of the costs.
    """
    times: dict[str, list[float]] = {name: [] for name in (CURVES, WARM, COLD, PYOMO)}
    largest, programs, cases = 0.0, 0, list(_cases(instance, log, sampled_jobs, seed))
    for case in cases:
        ways: dict[str, Callable[[], Any]] = {
            CURVES: case.by_curves,
            WARM: partial(case.by_engine, "warm"),
            COLD: partial(case.by_engine, "cold"),
            PYOMO: case.by_pyomo,
        }
        seconds, values = interleaved(ways, 1)
        for name in ways:
            times[name].append(seconds[name][0] / (1 if name == PYOMO else case.programs))
        programs += case.programs
        exact = values[CURVES]
        middle = exact[0, len(case.covers) // 2]
        for other in (values[WARM], values[COLD]):
            largest = max(largest, _difference(exact, other))
        largest = max(largest, _difference(np.array(middle), np.array(values[PYOMO])))
    if largest > AGREE:
        raise AssertionError(f"two ways disagree by {largest:g}: the times mean nothing")
    ways_table: dict[str, Any] = {CURVES: quartiles(times[CURVES])}
    for name in (WARM, COLD, PYOMO):
        ways_table[name] = quartiles(times[name]) | ratio(
            "it_over_curves", times[name], times[CURVES]
        )
    return {
        "jobs": len(cases),
        "programs": programs,
        "ways": ways_table,
        "largest_difference": largest,
    }


def _cases(instance: TrainingInstance, log: Any, sampled_jobs: int, seed: int) -> Iterator[JobCase]:
    rng = np.random.default_rng(seed)
    decided = [k for k, d in enumerate(log.decisions) if d.reason != "impossible"]
    chosen = rng.choice(decided, size=min(sampled_jobs, len(decided)), replace=False)
    for k in sorted(chosen.tolist()):
        i = log.decisions[k].job
        job, slots = instance.jobs[i], JobSlots(instance, i)
        allocated, prices = log.allocated(k), log.log_prices(k)
        different = {allocated[t].tobytes(): t for t in range(job.arrival, instance.slots)}
        states = [
            slots.state(instance.capacity - allocated[t], prices[t])
            for t in sorted(different.values())
        ]
        # As many workers as a slot could hold at the most, so that there is something to spread.
        most = max(instance.reach[i].external_workers, 1)
        covers = np.unique(np.ceil(most * np.arange(1, LEVELS + 1) / LEVELS).astype(np.int64))
        yield JobCase(instance, i, states, [slot_of_state(state) for state in states], covers)


def _fresh_pyomo(slots: JobSlots, state: SlotState, cover: int) -> float | None:
    """Build the model anew and solve it through Pyomo's own interface to HiGHS."""
    free = np.maximum(state.free_capacity, 0.0)
    prices = np.concatenate([state.log_worker_price, state.log_ps_price])
    scale = float(prices[np.isfinite(prices)].min())
    machines = len(free)
    model = build_slot_program(
        worker_cost=np.exp(state.log_worker_price - scale),
        ps_cost=np.exp(state.log_ps_price - scale),
        free_capacity=free,
        worker_demand=slots.worker_demand,
        ps_demand=slots.ps_demand,
        most_workers=slots.job.batch * most_units(slots.worker_demand, free, 1),
        most_ps=slots.job.ps_for(slots.job.batch) * most_units(slots.ps_demand, free, 1),
        batch=slots.job.batch,
        worker_cover=cover,
        ps_cover=slots.job.ps_for(cover),
    )
    outcome = pyo.SolverFactory("appsi_highs").solve(model, load_solutions=False)
    if outcome.solver.termination_condition != pyo.TerminationCondition.optimal:
        return None
    model.solutions.load_from(outcome)
    workers = np.array([max(model.workers[h].value, 0.0) for h in range(machines)])
    ps = np.array([max(model.ps[h].value, 0.0) for h in range(machines)])
    return state.log_cost(workers, ps)


def _difference(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Largest relative difference of costs given by their logarithms."""
    if not np.array_equal(np.isfinite(one), np.isfinite(other)):
        return np.inf
    finite = np.isfinite(one)
    return float(np.abs(np.expm1(other[finite] - one[finite])).max(initial=0.0))
