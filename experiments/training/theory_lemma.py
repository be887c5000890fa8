"""Part ``lemma`` of training/theory: one program, rounded many times or computed exactly."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np

from algorithms.training.theory.cover_packing import (
    CoverPacking,
    random_program,
    slot_like_program,
    split_columns,
)
from algorithms.training.theory.rounding_guarantees import (
    Guarantee,
    cover_blocks_probability,
    packing_blocks_probability,
)
from algorithms.training.theory.rounding_trials import observe

__all__ = ["lemma_row"]

NEVER_BINDS = 1e6
COLUMNS_PER_UNIT = 50
FAVOUR = {1: "packing", 2: "cover"}


def lemma_row(parameters: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return counts of the bad events, or their exact probabilities, with the promises beside."""
    if parameters["program"] == "blocks":
        return _blocks_row(parameters)
    rng = np.random.Generator(np.random.PCG64([seed, parameters["cover"], parameters["packing"]]))
    program, relaxed = _program(parameters, rng)
    if parameters["copies"] > 1:
        program, relaxed = split_columns(program, relaxed, parameters["copies"])
    guarantee = Guarantee(
        FAVOUR[parameters["lemma"]],  # type: ignore[arg-type]
        program.smallest_cover,
        program.smallest_packing,
        len(program.cover_least),
        len(program.packing_most),
        parameters["delta"],
    )
    trials = observe(program, relaxed, guarantee, parameters["draws"], rng)
    return {
        "evaluations": trials.draws,
        **{f"n_{name}": value for name, value in asdict(trials).items()},
        **_promises(guarantee),
        "exact_cover": math.nan,
        "exact_packing": math.nan,
    }


def _program(
    parameters: dict[str, Any], rng: np.random.Generator
) -> tuple[CoverPacking, np.ndarray[Any, Any]]:
    if parameters["program"] == "slot-like":
        return slot_like_program(
            machines=100,
            resources=4,
            smallest_cover=parameters["cover"],
            smallest_packing=parameters["packing"],
            workers_per_ps=3.0,
            rng=rng,
        )
    return random_program(
        columns=60,
        cover_rows=parameters["cover_rows"],
        packing_rows=parameters["packing_rows"],
        smallest_cover=parameters["cover"],
        smallest_packing=parameters["packing"],
        rng=rng,
    )


def _blocks_row(parameters: dict[str, Any]) -> dict[str, Any]:
    """Separate equal rows: nothing is drawn, and the seed does not matter."""
    cover, packing = parameters["cover"], parameters["packing"]
    rows = parameters["packing_rows"]
    guarantee = Guarantee(
        FAVOUR[parameters["lemma"]],  # type: ignore[arg-type]
        cover or packing * rows,  # one cover row over all columns
        packing or NEVER_BINDS,
        parameters["cover_rows"],
        rows,
        parameters["delta"],
    )
    exact_cover = exact_packing = math.nan
    if packing:
        exact_packing = packing_blocks_probability(guarantee, packing, packing * COLUMNS_PER_UNIT)
    else:
        exact_cover = cover_blocks_probability(guarantee, cover, cover * COLUMNS_PER_UNIT)
    return {
        "evaluations": 1,
        "n_draws": 0,
        **_promises(guarantee),
        "exact_cover": exact_cover,
        "exact_packing": exact_packing,
    }


def _promises(guarantee: Guarantee) -> dict[str, Any]:
    return {
        "width_cover": guarantee.smallest_cover,
        "width_packing": guarantee.smallest_packing,
        "gain": guarantee.gain,
        "cost_factor": guarantee.cost_factor,
        "cover_factor": guarantee.cover_factor,
        "packing_factor": guarantee.packing_factor,
        "upper_eps": guarantee.upper_eps,
        "vacuous": guarantee.vacuous,
        "chernoff_valid": guarantee.chernoff_valid,
    }
