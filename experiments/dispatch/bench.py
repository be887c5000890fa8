"""schedlab bench dispatch: plans of large systems, and a year of a log through the simulator.

Every plan is one run after compilation, its input made beforehand.
"""

from __future__ import annotations

import time
from typing import Any

from algorithms.dispatch import run
from experiments.dispatch.bench_year import YEAR, bench_year
from models.dispatch import DispatchInstance
from models.dispatch.generator import generate

__all__ = ["bench"]

LISTS = ("prb", "fcfs", "easy")
SIZE = (1000, 10_000)  # nodes, jobs that are all there at the start


def bench(
    nodes: int = SIZE[0],
    jobs: int = SIZE[1],
    log_jobs: int = YEAR["jobs"],
    log_days: int = YEAR["days"],
    seed: int = 0,
) -> dict[str, Any]:
    """Measure; return tables of numbers for people and for JSON.

    Returns
    -------
    dict
        ``plans`` (per list policy: seconds of a whole plan, and its events); ``year`` (see
        `bench_year`).
    """
    for policy in LISTS:  # compiles
        run(generate(2, 4, seed=seed).instance, policy)
    instance = generate(nodes, jobs, seed=seed).instance
    assert instance.arrays.possible.shape == (jobs,)
    return {
        "seed": seed,
        "plans": {f"{p}, {jobs} jobs, {nodes} nodes": _plan(instance, p) for p in LISTS},
        "year": bench_year(jobs=log_jobs, days=log_days, seed=seed),
    }


def _plan(instance: DispatchInstance, policy: str) -> dict[str, float]:
    began = time.perf_counter()
    found = run(instance, policy)
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "events": found.counters["events"]}
