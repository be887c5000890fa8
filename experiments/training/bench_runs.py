"""Whole runs of PD-ORS with slot programs by curves and by the engine, in turns."""

from __future__ import annotations

from typing import Any

import numpy as np

from algorithms.training import run
from experiments.side_by_side import ratio
from models.training import TrainingInstance

__all__ = ["whole_runs"]

ENGINES = ("curves", "highs")


def whole_runs(
    instance: TrainingInstance, seed: int, repeats: int
) -> tuple[Any, dict[str, dict[str, float]]]:
    """Run both ways `repeats` times.

    Returns
    -------
    log : PdorsLog
        Of a run by curves.
    table : dict
        Per way: seconds of the slot programs, of all else (rounding, above all) and in all, by
        the medians; the utility; iterations. With the engine, how many times as long as curves.
    """
    run(instance, seed=seed)  # compiles
    parts: dict[str, list[tuple[float, float]]] = {engine: [] for engine in ENGINES}
    table: dict[str, dict[str, float]] = {}
    for engine in ENGINES * repeats:
        outcome = run(instance, seed=seed, engine=engine)
        lp = sum(decision.lp_seconds for decision in outcome.log.decisions)
        whole = sum(decision.seconds for decision in outcome.log.decisions)
        parts[engine].append((lp, whole))
        table[engine] = {
            "programs": outcome.counters["lps_solved"],
            "iterations": outcome.counters["iterations"],
            "draws": outcome.counters["rounding_attempts"],
            "utility": outcome.solution.objective,
        }
        if engine == "curves":
            log = outcome.log
    for engine in ENGINES:
        lp_seconds, seconds = np.median(parts[engine], axis=0).tolist()
        table[engine] |= {"lp_s": lp_seconds, "rest_s": seconds - lp_seconds, "all_s": seconds}
    fast, slow = np.array(parts["curves"]), np.array(parts["highs"])
    named = {"slot programs": 0, "the whole run": 1}
    for name, column in named.items():
        table[name] = ratio("highs_over_curves", slow[:, column], fast[:, column])
    return log, table
