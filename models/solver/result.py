"""What a solve gives back: a status, and numbers only where there is a solution."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from models.solver.compiled import CompiledModel

ROW_TOLERANCE = 1e-6
"""Largest relative violation of a row that a returned point may have."""


class SolverError(RuntimeError):
    """A request that the solver cannot serve: refused data, wrong option, wrong thread count."""


class Status(StrEnum):
    """How a solve ended."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    INFEASIBLE_OR_UNBOUNDED = "infeasible or unbounded"
    OBJECTIVE_BOUND = "objective bound"
    OBJECTIVE_TARGET = "objective target"
    TIME_LIMIT = "time limit"
    ITERATION_LIMIT = "iteration limit"
    NODE_LIMIT = "node limit"
    MEMORY_LIMIT = "memory limit"
    INTERRUPTED = "interrupted"
    ERROR = "error"


@dataclass(frozen=True)
class Result:
    """The outcome of one solve, in the sense (minimise or maximise) of the model.

    Without a solution `objective` is NaN and the arrays are None; nothing is raised.

    Attributes
    ----------
    status : Status
        How the solve ended.
    objective : float
        Objective of the returned point, with the constant of the model; NaN when there is none.
    bound : float
        Proved bound on the optimum: below it when minimising, above it when maximising;
        -inf or inf when nothing is proved.
    primal : array of float (columns,), or None
        Values of the columns; integer columns are whole numbers.
    dual : array of float (rows,), or None
        Change of the objective per unit of right-hand side, LP only.
    reduced_costs : array of float (columns,), or None
        Change of the objective per unit of the column's active bound, LP only.
    seconds, iterations, nodes : float, int, int
        Effort of this solve alone.
    violation : float
        Largest violation of a row, relative to max(1, |bound|); 0 when there is no point.
    worst_row : int
        The row of `violation`; -1 when there is none.
    """

    status: Status
    objective: float = math.nan
    bound: float = math.nan
    primal: NDArray[np.float64] | None = None
    dual: NDArray[np.float64] | None = None
    reduced_costs: NDArray[np.float64] | None = None
    seconds: float = 0.0
    iterations: int = 0
    nodes: int = 0
    violation: float = 0.0
    worst_row: int = -1
    compiled: CompiledModel | None = field(default=None, repr=False, compare=False)

    @property
    def has_solution(self) -> bool:
        """Whether a feasible point came back."""
        return self.primal is not None

    @property
    def gap(self) -> float:
        """Relative distance |objective - bound| / |objective|; inf when either is missing."""
        distance = abs(self.objective - self.bound)
        if distance == 0.0:
            return 0.0
        if not math.isfinite(distance):
            return math.inf
        return distance / max(abs(self.objective), 1e-9)

    def value(self, columns: Any) -> Any:
        """Values of the given columns (an index, or an array of them); SolverError without a point."""
        if self.primal is None:
            raise SolverError(f"no values to read: the solve ended with status '{self.status}'")
        return self.primal[columns]

    def load_into(self, model: Any) -> None:
        """Write the point into the variables of the Pyomo model."""
        raise NotImplementedError
