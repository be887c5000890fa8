"""schedlab bench training: slot programs by four ways, whole runs, and decisions at scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.training.bench_decisions import decisions_at_scale, first_decision
from experiments.training.bench_limit import distance_to_the_limit
from experiments.training.bench_runs import whole_runs
from experiments.training.bench_slots import slot_programs
from experiments.training.instances import draw_instance

__all__ = ["bench"]

SIZE = {"jobs": 50, "slots": 20, "machines": 100, "preset": "calibrated"}
GRID = tuple((machines, slots) for machines in (100, 1000, 10_000) for slots in (20, 80, 200))
REPEATS = 3
SAMPLED_JOBS = 16
DECISIONS = 60


def bench(
    seed: int = 0,
    jobs: int = SIZE["jobs"],  # type: ignore[assignment]
    grid: Sequence[tuple[int, int]] = GRID,
    decisions: int = DECISIONS,
    limit_machines: int = 10_000,
) -> dict[str, Any]:
    """Measure; return tables of numbers for people and for JSON.

    Parameters
    ----------
    seed : int
    jobs : int
        Jobs of the whole runs, and of the slot programs.
    grid : sequence of (machines, slots)
        Sizes of the decisions at scale, `decisions` jobs each.

    Returns
    -------
    dict
        ``size``; ``slot_programs``, ``whole_run``, ``decisions``, ``growth``, ``limit`` and
        ``start``: see the modules ``bench_*``. Times are of the processor.

    Raises
    ------
    AssertionError
        If two ways disagree on a program: then their times mean nothing.
    """
    size = {**SIZE, "jobs": jobs}
    instance = draw_instance(size, seed).instance
    log, runs = whole_runs(instance, seed, REPEATS)
    scaled, growth = decisions_at_scale(grid, decisions, seed)
    return {
        "size": {**size, "seed": seed},
        "slot_programs": slot_programs(instance, log, SAMPLED_JOBS, seed),
        "whole_run": runs,
        "decisions": scaled,
        "growth": growth,
        "limit": distance_to_the_limit(limit_machines, seed),
        "start": first_decision(),
    }
