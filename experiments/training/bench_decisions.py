"""What a decision of PD-ORS takes by machines and slots: processor time, memory, the first one."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from algorithms.training import run
from algorithms.training.pdors.curve_answers import CurveCluster
from algorithms.training.pdors.prices import PriceFunction, price_bounds
from experiments.side_by_side import exponent
from experiments.training.instances import draw_instance

__all__ = ["decisions_at_scale", "first_decision"]

MEGABYTE = 2**20

# A process of its own: what is measured is what a user waits for, compiled code being on disk.
START = """
import json, time
began = time.perf_counter()
from algorithms.training import run
from experiments.training.instances import draw_instance
size = {"jobs": 3, "slots": 20, "machines": 100, "preset": "calibrated"}
instance = draw_instance(size, 0).instance
imported = time.perf_counter()
run(instance, "pdors", seed=0)
first = time.perf_counter()
run(instance, "pdors", seed=0)
second = time.perf_counter()
print(json.dumps([imported - began, first - imported, second - first]))
"""


def decisions_at_scale(
    grid: Sequence[tuple[int, int]], jobs: int, seed: int
) -> tuple[dict[str, Any], dict[str, float]]:
    """Decide `jobs` jobs at each size.

    Returns
    -------
    table : dict
        Per size: median, 99 % quantile and largest milliseconds of a decision, draws of the
        rounding, and megabytes: what the run keeps, and what an array of all slots, machines and
        resources would take.
    growth : dict
        Exponents of the median and of the 99 % quantile in machines and in slots, fitted over the
        grid, each with the other held.
    """
    smallest = {"jobs": 3, "slots": 4, "machines": 4, "preset": "calibrated"}
    run(draw_instance(smallest, seed).instance, seed=seed)  # compiles, or loads what is compiled
    table: dict[str, Any] = {}
    cells: list[tuple[int, int, float, float]] = []
    for machines, slots in grid:
        size = {"jobs": jobs, "slots": slots, "machines": machines, "preset": "calibrated"}
        instance = draw_instance(size, seed).instance
        outcome = run(instance, seed=seed)
        made = [d.seconds for d in outcome.log.decisions if d.reason != "impossible"]
        median, high, most = (1e3 * float(np.quantile(made, q)) for q in (0.5, 0.99, 1.0))
        cells.append((machines, slots, median, high))
        cluster = CurveCluster(instance, PriceFunction(price_bounds(instance), instance.capacity))
        for decision in outcome.log.decisions:
            cluster.allocate(decision.job, outcome.log.placements.get(decision.job, ()))
        table[f"H={machines}, T={slots}"] = {
            "decisions": len(made),
            "ms_p50": median,
            "ms_p99": high,
            "ms_most": most,
            "draws": outcome.counters["rounding_attempts"],
            "kept_MB": cluster.groups.bytes_kept() / MEGABYTE,
            "dense_MB": 8 * slots * instance.capacity.size / MEGABYTE,
        }
    return table, _growth(cells)


def _growth(cells: Sequence[tuple[int, int, float, float]]) -> dict[str, float]:
    """Fit ms = c H^a T^b by least squares in logarithms, where the grid tells a and b apart."""
    growth = {}
    for column, name in ((2, "p50"), (3, "p99")):
        for axis, letter in ((0, "H"), (1, "T")):
            rows: dict[int, list[tuple[int, float]]] = {}
            for cell in cells:
                rows.setdefault(int(cell[1 - axis]), []).append((int(cell[axis]), cell[column]))
            slopes = [exponent(*zip(*row, strict=True)) for row in rows.values() if len(row) > 1]
            if slopes:
                growth[f"{name}_exponent_in_{letter}"] = float(np.mean(slopes))
    return growth


def first_decision() -> dict[str, float]:
    """Start a new Python and decide three jobs twice: seconds of the clock.

    The difference of the two runs is what loading compiled code from disk takes.
    """
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, check=True)
    imported, first, second = json.loads(done.stdout)
    return {
        "imports_and_instance_s": imported,
        "first_run_s": first,
        "second_run_s": second,
        "help_s": _help_seconds(),
    }


def _help_seconds() -> float:
    """Least of five times that ``schedlab --help`` takes, with the start of Python."""
    call = [sys.executable, "-c", 'from experiments.cli.main import main; main(["--help"])']
    times = []
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run(call, capture_output=True, check=True)
        times.append(time.perf_counter() - began)
    return min(times)
