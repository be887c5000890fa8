"""schedlab bench training: what a decision of PD-ORS costs, and what the engine saves.

The same slot programs, in the order in which a run meets them, are solved by three routes one
after the other, program by program, so that a noisy machine disturbs all of them alike.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyomo.environ as pyo
from tqdm import tqdm

from algorithms.training import run
from algorithms.training.pdors.dynamic_program import default_levels
from algorithms.training.pdors.slot import JobSlots, SlotState
from experiments.training.instances import draw_instance
from models.training import TrainingInstance
from models.training.slot_program import build_slot_program
from models.training.throughput import most_units

__all__ = ["bench"]

SIZE = {"jobs": 50, "slots": 20, "machines": 100, "preset": "calibrated"}
SAMPLED_JOBS = 8
SLOTS_PER_JOB = 3
COVERS_PER_SLOT = 6
ROUTES = ("engine, warm", "engine, cold", "a new Pyomo model each time")
AGREE = 1e-6


def bench(seed: int = 0, progress: bool = True) -> dict[str, Any]:
    """Measure; return tables of numbers for people and for JSON.

    Returns
    -------
    dict
        ``size``; ``decisions`` (per start: seconds and LPs per decision, whole run);
        ``slot_programs`` (per route: median and quartiles of milliseconds per program, and the
        median ratio to the warm engine, program by program); ``largest_difference`` of the
        optimal costs, relative.

    Raises
    ------
    AssertionError
        If two routes disagree on a program: then their times mean nothing.
    """
    instance = draw_instance(SIZE, seed).instance
    decisions = {}
    for start in ("warm", "cold"):
        outcome = run(instance, seed=seed, start=start)
        made = [d for d in outcome.log.decisions if d.reason != "impossible"]
        seconds = np.array([d.seconds for d in made])
        programs = np.array([d.lps_solved for d in made])
        decisions[f"pdors, {start}"] = {
            "decisions": len(made),
            "seconds_median": float(np.median(seconds)),
            "seconds_p90": float(np.quantile(seconds, 0.9)),
            "lps_median": float(np.median(programs)),
            "lps_total": int(programs.sum()),
            "utility": outcome.solution.objective,
        }
        if start == "warm":
            log = outcome.log
    times: dict[str, list[float]] = {route: [] for route in ROUTES}
    largest = 0.0
    cases = list(_cases(instance, log, seed))
    for jobs, state, cover in tqdm(cases, desc="slot programs", disable=not progress):
        costs = []
        for route in ROUTES:
            began = time.perf_counter()
            costs.append(_solve(route, instance, jobs, state, cover))
            times[route].append(time.perf_counter() - began)
        largest = max(largest, *(_difference(costs[0], cost) for cost in costs[1:]))
    if largest > AGREE:
        raise AssertionError(f"the routes disagree by {largest:g}: the times mean nothing")
    base = np.array(times[ROUTES[0]])
    table = {}
    for route in ROUTES:
        measured = np.array(times[route])
        low, median, high = np.quantile(1000 * measured, (0.25, 0.5, 0.75))
        table[route] = {
            "ms_q1": float(low),
            "ms_median": float(median),
            "ms_q3": float(high),
            "ratio_to_warm": float(np.median(measured / base)),
        }
    return {
        "size": {**SIZE, "seed": seed},
        "decisions": decisions,
        "programs": len(cases),
        "slot_programs": table,
        "largest_difference": largest,
    }


def _cases(
    instance: TrainingInstance, log: Any, seed: int
) -> Iterator[tuple[dict[str, JobSlots], SlotState, int]]:
    """Slot programs as a run meets them: some jobs, some slots each, covers in rising order."""
    rng = np.random.default_rng(seed)
    decided = [k for k, d in enumerate(log.decisions) if d.reason != "impossible"]
    chosen = sorted(rng.choice(decided, size=min(SAMPLED_JOBS, len(decided)), replace=False))
    for k in chosen:
        i = log.decisions[k].job
        job = instance.jobs[i]
        slots = {start: JobSlots(instance, i, start) for start in ("warm", "cold")}  # type: ignore[arg-type]
        allocated = log.allocated(int(k))
        prices = log.log_prices(int(k))
        left = range(job.arrival, instance.slots)
        samples = job.workload * np.arange(1, default_levels(len(left)) + 1)
        levels = samples / default_levels(len(left))
        covers = sorted({slots["warm"].workers_for(float(v)) for v in levels})
        covers = [c for c in covers if c <= instance.reach[i].external_workers]
        step = max(1, len(covers) // COVERS_PER_SLOT)
        for t in rng.choice(left, size=min(SLOTS_PER_JOB, len(left)), replace=False):
            state = slots["warm"].state(instance.capacity - allocated[t], prices[t])
            for cover in covers[::step][:COVERS_PER_SLOT]:
                yield slots, state, cover


def _solve(
    route: str,
    instance: TrainingInstance,
    jobs: dict[str, JobSlots],
    state: SlotState,
    cover: int,
) -> float | None:
    """Return ln of the optimal cost, None if infeasible."""
    if route == ROUTES[2]:
        return _fresh_pyomo(jobs["warm"], state, cover)
    found = jobs["warm" if route == ROUTES[0] else "cold"].external(state, cover)
    return None if found is None else found.log_cost


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


def _difference(one: float | None, other: float | None) -> float:
    """Relative difference of two costs given by their logarithms."""
    if one is None or other is None:
        return 0.0 if one is other else float("inf")
    return 0.0 if one == other else abs(float(np.expm1(other - one)))
