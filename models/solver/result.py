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
"""Largest violation of a row, relative to max(1, |bound|), that a usable point may have."""

AGREEMENT = 1e-6
"""Largest relative difference between two solves of the same model."""


class SolverError(RuntimeError):
    """A request the solver cannot serve: refused data, unknown option, second thread count."""


class Status(StrEnum):
    """How a solve ended; a MIP is OPTIMAL when it is within its gap."""

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
    """The outcome of one solve, in the model's own sense (minimise or maximise).

    A solve without a solution is a defined value: the objective is NaN and the arrays are None.

    Attributes
    ----------
    status : Status
        How the solve ended.
    objective : float
        Objective of the returned point, constant included; NaN when there is no point.
    bound : float
        Proved bound on the optimum: below it when minimising, above it when maximising; -inf
        or inf when nothing is proved.
    primal : array of float (columns,) or None
        A feasible point. Integer columns hold whole numbers, and all are within their bounds.
    dual : array of float (rows,) or None
        d objective / d right-hand side. Only at the optimum of an LP.
    reduced_costs : array of float (columns,) or None
        d objective / d bound of a column at its bound. Only at the optimum of an LP.
    seconds : float
        Wall-clock time of this solve.
    iterations : int
        Simplex, interior-point and crossover iterations of this solve.
    nodes : int
        Branch-and-bound nodes of this solve.
    violation : float
        Largest violation of a row by `primal`, relative to max(1, |bound of the row|).
    worst_row : int
        The row where `violation` occurs; -1 when there is none.
    compiled : CompiledModel or None
        The model that was solved.
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
        """|objective - bound| / |objective|; inf when one of them is missing."""
        distance = abs(self.objective - self.bound)
        if distance == 0.0:
            return 0.0
        if not math.isfinite(distance):
            return math.inf
        return distance / max(abs(self.objective), 1e-9)

    def value(self, columns: Any) -> Any:
        """Values of columns: a float for one index, an array for an array of indices.

        Raises
        ------
        SolverError
            If there is no solution.
        """
        if self.primal is None:
            raise SolverError(f"there are no values: the solve ended as '{self.status}'")
        values = self.primal[columns]
        return float(values) if np.ndim(values) == 0 else values

    def load_into(self, model: Any) -> None:
        """Write the point into the variables of the Pyomo model that was compiled.

        Integer variables get Python integers. Fixed variables are left as they are.

        Raises
        ------
        SolverError
            If there is no solution, if it violates a row by more than 1e-6 (relative), if a
            column added later, which the Pyomo model lacks, is not zero, or if the model is
            not the one that was solved.
        """
        if self.primal is None or self.compiled is None:
            raise SolverError(f"nothing to load: the solve ended as '{self.status}'")
        compiled = self.compiled
        if model is not compiled.model:
            raise SolverError("this result belongs to another Pyomo model")
        if self.violation > ROW_TOLERANCE:
            raise SolverError(
                f"the point violates {compiled.row_name(self.worst_row)} by {self.violation:g}"
            )
        if np.any(self.primal[len(compiled.variables) :]):
            raise SolverError("the point uses columns that the Pyomo model does not have")
        values = zip(compiled.variables, self.primal, compiled.program.integer, strict=False)
        for variable, value, integer in values:
            number = int(value) if integer else float(value)
            variable.set_value(number, skip_validation=True)


def disagreement(first: Result, second: Result) -> str | None:
    """Say how two solves of the same model contradict each other, or None if they do not.

    A point better than what the other solve proved possible is a contradiction, and so are two
    different conclusions. A solve that was stopped proves no more than its bound.
    """
    conclusions = {Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED}
    if first.status != second.status and {first.status, second.status} <= conclusions:
        return f"'{first.status}' against '{second.status}'"
    for one, other in ((first, second), (second, first)):
        if one.compiled is not None and one.has_solution:
            sign = -1.0 if one.compiled.program.maximise else 1.0
            allowed = AGREEMENT * max(1.0, abs(one.objective))
            if sign * (other.bound - one.objective) > allowed:
                return f"objective {one.objective!r} against a bound of {other.bound!r}"
    return None
