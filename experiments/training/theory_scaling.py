"""Part ``scaling`` of training/theory: how much work PD-ORS does (Theorem 7)."""

from __future__ import annotations

from typing import Any

from algorithms.training import run
from experiments.training.instances import draw_instance
from experiments.training.points import ENGINE_OF_ROWS

__all__ = ["scaling_row"]

DRAWS = 10


def scaling_row(parameters: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return machine-independent counters of one run, and its seconds.

    S draws are made per state and no more, as Algorithm 4 has it. ``states`` are the pairs
    (slot, level) of the dynamic programs, ``choices`` the sums that these compare.
    """
    instance = draw_instance({**parameters, "mix": "default"}, seed).instance
    levels = parameters["levels"]
    online = run(
        instance,
        "pdors",
        seed=seed,
        engine=ENGINE_OF_ROWS,
        levels=levels,
        draws=DRAWS,
        max_attempts=DRAWS,
    )
    slots = [instance.slots - instance.jobs[i].arrival for i in instance.possible_jobs]
    counters = online.counters
    return {
        "evaluations": counters["lps_solved"],
        "states": sum(slots) * levels,
        "choices": sum(slots) * (levels + 1) * (levels + 2) // 2,
        "lps_solved": counters["lps_solved"],
        "lps_reused": counters["lps_reused"],
        "iterations": counters["iterations"],
        "rounding_attempts": counters["rounding_attempts"],
        "policy_seconds": sum(decision.seconds for decision in online.log.decisions),
    }
