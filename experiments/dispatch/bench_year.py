"""A year of a workload log through the on-line simulator: seconds and memory.

A process of its own does the work, so that its memory is that of this work alone.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from algorithms.dispatch import POLICIES
from algorithms.dispatch.simulation import SimulationSettings, simulate_policy
from models.dispatch import audit
from models.dispatch.generator import generate
from models.dispatch.swf import import_swf
from models.dispatch.swf_generator import write_log

__all__ = ["YEAR", "bench_year"]

YEAR = {"jobs": 110_000, "days": 365}
NODES, CORES, CAP = 120, 2, "80%"

Rows = dict[str, dict[str, float]]


def bench_year(
    policies: Sequence[str] = ("easy", "prb"),
    jobs: int = YEAR["jobs"],
    days: int = YEAR["days"],
    seed: int = 0,
) -> Rows:
    """Measure; return per step its seconds, and the largest memory [MB] up to its end.

    A policy's row also has its events, jobs per second and mean wait [s]; its schedule is
    audited.
    """
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(_measure, (tuple(policies), jobs, days, seed))


def _measure(policies: tuple[str, ...], jobs: int, days: int, seed: int) -> Rows:
    rows: Rows = {}
    small = generate(2, 4, seed=seed).instance
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "year.swf"
        began = time.perf_counter()
        write_log(log, jobs, days=days, processors=NODES * CORES, seed=seed)
        rows["log made"] = _row(began)
        began = time.perf_counter()
        instance = import_swf(log, NODES, CORES, cap=CAP, seed=seed).instance
        rows["log imported"] = _row(began, jobs=instance.number_of_jobs)
    for name in policies:
        policy = POLICIES[name]
        parameters, settings = policy.make_parameters({}), SimulationSettings()
        simulate_policy(policy, small, parameters, seed, settings)  # compiles
        began = time.perf_counter()
        found = simulate_policy(policy, instance, parameters, seed, settings)
        seconds = time.perf_counter() - began
        rows[f"{name} simulated"] = _row(
            began,
            jobs=instance.number_of_jobs,
            events=found.counters["events"],
            jobs_per_second=instance.number_of_jobs / seconds,
            mean_wait=found.counters["mean_wait"],
        )
        began = time.perf_counter()
        if not audit(instance, found.solution).feasible:
            raise AssertionError(f"the schedule of {name} fails the audit: times mean nothing")
        rows[f"{name} audited"] = _row(began)
    return rows


def _row(began: float, **more: float) -> dict[str, float]:
    seconds = time.perf_counter() - began
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    unit = 2**20 if sys.platform == "darwin" else 2**10  # bytes there, kilobytes here
    return {"seconds": seconds, "memory_MB": most / unit, **more}
