"""Instances of experiments: drawn from parameters and seed, arrivals from the trace's table."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from models.data import data_file
from models.training.generator import Generated, generate
from models.training.google_table import read_arrivals
from models.training.google_trace import Submits

__all__ = ["GOOGLE_TABLE", "draw_instance"]

GOOGLE_TABLE = "google2011_submits.csv"


@lru_cache(maxsize=4)
def _submits(path: str) -> Submits:
    return read_arrivals(path or data_file(GOOGLE_TABLE))


def draw_instance(parameters: dict[str, Any], seed: int) -> Generated:
    """Draw the instance of a grid point, with arrivals and classes of the Google trace.

    Parameters
    ----------
    parameters : dict
        ``jobs``, ``slots``, ``machines``, ``preset``; ``arrivals``, if given, is the path of a
        part of the trace to use instead of the shipped table.
    seed : int
    """
    return generate(
        jobs=parameters["jobs"],
        slots=parameters["slots"],
        machines=parameters["machines"],
        preset=parameters["preset"],
        arrivals=_submits(parameters.get("arrivals", "")),
        seed=seed,
    )
