"""schedlab bench dispatch: what list policies cost on large systems.

Every row is one run after compilation, its input made beforehand.
"""

from __future__ import annotations

import time
from typing import Any

from algorithms.dispatch import run
from models.dispatch import DispatchInstance
from models.dispatch.generator import generate

__all__ = ["bench"]

LISTS = ("prb", "fcfs", "easy")
SIZE = (1000, 10_000)  # nodes, jobs that are all there at the start


def bench(nodes: int = SIZE[0], jobs: int = SIZE[1], seed: int = 0) -> dict[str, Any]:
    """Measure; return tables of numbers for people and for JSON.

    Returns
    -------
    dict
        ``plans`` (per list policy: seconds of a whole plan, and its events).
    """
    for policy in LISTS:  # compiles
        run(generate(2, 4, seed=seed).instance, policy)
    instance = generate(nodes, jobs, seed=seed).instance
    return {
        "seed": seed,
        "plans": {f"{p}, {jobs} jobs, {nodes} nodes": _plan(instance, p) for p in LISTS},
    }


def _plan(instance: DispatchInstance, policy: str) -> dict[str, float]:
    began = time.perf_counter()
    found = run(instance, policy)
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "events": found.counters["events"]}
