"""A linear or mixed-integer program as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class Program:
    """Minimise or maximise costs x + constant with row_lower <= matrix x <= row_upper.

    Attributes
    ----------
    costs, lower, upper : array of float (columns,)
        Objective coefficients and bounds; an open side is -inf or inf.
    integer : array of bool (columns,)
        Which columns must be whole numbers.
    matrix : scipy.sparse.csc_array (rows, columns)
        Coefficients.
    row_lower, row_upper : array of float (rows,)
        Bounds of the rows; equal for an equation.
    constant : float
        Constant of the objective.
    maximise : bool
        The sense.
    """

    costs: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    integer: NDArray[np.bool_]
    matrix: Any
    row_lower: NDArray[np.float64]
    row_upper: NDArray[np.float64]
    constant: float = 0.0
    maximise: bool = False

    def copy(self) -> Program:
        """Copy all that the engine changes in place; the matrix is shared."""
        return replace(
            self,
            costs=self.costs.copy(),
            lower=self.lower.copy(),
            upper=self.upper.copy(),
            integer=self.integer.copy(),
            row_lower=self.row_lower.copy(),
            row_upper=self.row_upper.copy(),
        )

    def with_integers_fixed(self, point: NDArray[np.float64]) -> Program:
        """Return the LP that remains when the integer columns are fixed at a point."""
        return replace(
            self,
            lower=np.where(self.integer, point, self.lower),
            upper=np.where(self.integer, point, self.upper),
            integer=np.zeros_like(self.integer),
        )

    def objective(self, point: NDArray[np.float64]) -> float:
        """Objective of a point, constant included."""
        return float(self.costs @ point) + self.constant

    def violation(self, point: NDArray[np.float64]) -> tuple[float, int]:
        """Largest violation of a row relative to max(1, |bound|), and that row (-1 if none)."""
        if not self.row_lower.size:
            return 0.0, -1
        activity = self.matrix @ point
        below = (self.row_lower - activity) / _scale(self.row_lower)
        above = (activity - self.row_upper) / _scale(self.row_upper)
        excess = np.maximum(below, above)
        row = int(np.argmax(excess))
        worst = float(excess[row])
        return (worst, row) if worst > 0.0 else (0.0, -1)

    def append(
        self,
        costs: NDArray[np.float64],
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        integer: NDArray[np.bool_],
        matrix: Any,
    ) -> None:
        """Append columns."""
        import scipy.sparse

        self.costs = np.concatenate([self.costs, costs])
        self.lower = np.concatenate([self.lower, lower])
        self.upper = np.concatenate([self.upper, upper])
        self.integer = np.concatenate([self.integer, integer])
        self.matrix = scipy.sparse.hstack([self.matrix, matrix], format="csc")

    def append_rows(
        self, lower: NDArray[np.float64], upper: NDArray[np.float64], matrix: Any
    ) -> None:
        """Append rows."""
        import scipy.sparse

        self.row_lower = np.concatenate([self.row_lower, lower])
        self.row_upper = np.concatenate([self.row_upper, upper])
        self.matrix = scipy.sparse.vstack([self.matrix, matrix], format="csc")


def _scale(side: NDArray[np.float64]) -> NDArray[np.float64]:
    size = np.abs(side)
    size[np.isinf(size)] = 1.0
    return np.maximum(size, 1.0)
