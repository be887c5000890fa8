"""Talking to highspy: it raises nothing and prints unasked, so look at every status."""

from __future__ import annotations

import logging
import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from models.solver.result import SolverError

if TYPE_CHECKING:
    from models.solver.program import Program

logger = logging.getLogger(__name__)


def expect(status: Any, action: str) -> None:
    """Raise SolverError if HiGHS refused an action, and log it if HiGHS warned."""
    if status.name == "kError":
        raise SolverError(f"HiGHS refused to {action}")
    if status.name == "kWarning":
        logger.warning("HiGHS warned when asked to %s", action)


@cache
def _quiet_highs() -> type:
    """HiGHS that is silent from the start: its constructor prints as it sets up callbacks."""
    import highspy

    class QuietHighs(highspy.Highs):  # type: ignore[misc]
        def enableCallbacks(self) -> None:  # noqa: N802
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

    return QuietHighs


def open_highs(threads: int, log: bool) -> Any:
    """Make a HiGHS instance that prints nothing; with `log` its lines go to `logging`."""
    highs = _quiet_highs()()
    expect(highs.setOptionValue("threads", threads), f"use {threads} threads")
    if log:
        highs.cbLogging.subscribe(lambda event: logger.info("%s", event.message.rstrip()))
        highs.setOptionValue("log_to_console", False)
        highs.setOptionValue("output_flag", True)
    return highs


def pass_program(highs: Any, program: Program) -> None:
    """Hand a whole program to HiGHS in one call."""
    matrix = program.matrix
    rows, columns = matrix.shape
    status = highs.passModel(
        columns,
        rows,
        matrix.nnz,
        1,  # the matrix is column-wise
        -1 if program.maximise else 1,
        program.constant,
        program.costs,
        program.lower,
        program.upper,
        program.row_lower,
        program.row_upper,
        matrix.indptr.astype(np.int32),
        matrix.indices.astype(np.int32),
        matrix.data,
        program.integer.astype(np.int32),
    )
    expect(status, "take the model")


def file_names(names: list[str]) -> list[str]:
    """Make names that .lp and .mps files can hold, and distinct ones."""
    safe = [re.sub(r"[^A-Za-z0-9_.]+", "_", name).strip("_") for name in names]
    shared = {name for name, count in Counter(safe).items() if count > 1}
    return [f"n{i}_{name}" if name in shared else f"n_{name}" for i, name in enumerate(safe)]
