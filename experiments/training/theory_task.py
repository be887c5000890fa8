"""One point of training/theory, whichever part it belongs to."""

from __future__ import annotations

from typing import Any

from experiments.training.counterexamples import example_row
from experiments.training.theory_lemma import lemma_row
from experiments.training.theory_run import run_row
from experiments.training.theory_scaling import scaling_row

__all__ = ["task"]

_PARTS = {"lemma": lemma_row, "run": run_row, "scaling": scaling_row, "example": example_row}


def task(parameters: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return the row of one point; `experiments.training.theory` says what the parts are."""
    return _PARTS[parameters["part"]](parameters, seed)
