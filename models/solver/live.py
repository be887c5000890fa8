"""A compiled model inside HiGHS, changed in place by vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from models.solver.checks import check_bounds, check_coefficients, check_costs
from models.solver.highs import expect, open_highs, pass_program
from models.solver.result import SolverError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from models.solver.compiled import CompiledModel


@dataclass
class Counters:
    """What an engine did so far; `rebuilds` stays 0, because no update falls back to one."""

    compiles: int = 0
    updates: int = 0
    rebuilds: int = 0
    solves: int = 0
    copies: int = 0


class LiveModel:
    """A compiled model inside HiGHS, and its arrays as they stand after each change."""

    def __init__(self, compiled: CompiledModel, threads: int, log: bool) -> None:
        self.compiled = compiled
        self.program = compiled.program.copy()
        self.counters = Counters()
        self._added_names: list[str] = []
        self._added_rows: list[str] = []
        self._highs = open_highs(threads, log)
        pass_program(self._highs, self.program)

    @property
    def is_mip(self) -> bool:
        """Whether a column is integer."""
        return bool(self.program.integer.any())

    def columns(self, component: Any, keys: Iterable[Any] | None = None) -> NDArray[np.int32]:
        """Column indices of a Pyomo Var; see `CompiledModel.columns`."""
        return self.compiled.columns(component, keys)

    def rows(self, component: Any, keys: Iterable[Any] | None = None) -> NDArray[np.int32]:
        """Row indices of a Pyomo Constraint; see `CompiledModel.rows`."""
        return self.compiled.rows(component, keys)

    def column_name(self, column: int) -> str:
        """Name of a column, also of an added one."""
        added = column - len(self.compiled.variables)
        return self.compiled.column_name(column) if added < 0 else self._added_names[added]

    def row_name(self, row: int) -> str:
        """Name of a row, also of an added one."""
        added = row - (self.program.row_lower.size - len(self._added_rows))
        return self.compiled.row_name(row) if added < 0 else self._added_rows[added]

    def set_costs(self, columns: ArrayLike, values: ArrayLike) -> None:
        """Change objective coefficients, in one call.

        Parameters
        ----------
        columns : array of int (k,)
            Distinct column indices.
        values : array of float (k,), or one float
            The new coefficients.
        """
        index = as_indices(columns, self.program.costs.size)
        costs = as_values(values, index)
        check_costs(costs, lambda i: self.column_name(int(index[i])))
        status = self._highs.changeColsCost(index.size, index, costs)
        expect(status, "change costs (is a column given twice?)")
        self.program.costs[index] = costs
        self.counters.updates += 1

    def set_objective_constant(self, value: float) -> None:
        """Change the constant of the objective."""
        if not np.isfinite(value):
            raise SolverError(f"the constant of the objective is {value}")
        expect(self._highs.changeObjectiveOffset(float(value)), "change the constant")
        self.program.constant = float(value)
        self.counters.updates += 1

    def set_row_bounds(self, rows: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Change both sides of rows, in one call.

        Parameters
        ----------
        rows : array of int (k,)
            Distinct row indices.
        lower, upper : array of float (k,), or one float
            The new sides; -inf or inf for an open one, equal for an equation.
        """
        index = as_indices(rows, self.program.row_lower.size)
        low, high = as_values(lower, index), as_values(upper, index)
        check_bounds(low, high, lambda i: self.row_name(int(index[i])))
        status = self._highs.changeRowsBounds(index.size, index, low, high)
        expect(status, "change row bounds (is a row given twice?)")
        self.program.row_lower[index], self.program.row_upper[index] = low, high
        self.counters.updates += 1

    def set_column_bounds(self, columns: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Change bounds of columns, in one call; parameters as in `set_row_bounds`."""
        index = as_indices(columns, self.program.costs.size)
        low, high = as_values(lower, index), as_values(upper, index)
        check_bounds(low, high, lambda i: self.column_name(int(index[i])))
        status = self._highs.changeColsBounds(index.size, index, low, high)
        expect(status, "change column bounds (is a column given twice?)")
        self.program.lower[index], self.program.upper[index] = low, high
        self.counters.updates += 1

    def add_columns(
        self,
        costs: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        row_indices: Sequence[ArrayLike],
        values: Sequence[ArrayLike],
        integer: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> NDArray[np.int32]:
        """Append columns in one batch, keeping the basis.

        For a column-generation master the primal simplex suits best:
        ``options={"simplex_strategy": 4}``.

        Parameters
        ----------
        costs, lower, upper : array of float (k,)
            Objective coefficients and bounds; a single float for the bounds serves all.
        row_indices, values : sequence of k arrays
            The rows of each column and the coefficients there.
        integer : array of bool (k,), optional
            Which columns must be whole; none by default.
        names : sequence of k str, optional
            Names for messages and files.

        Returns
        -------
        array of int (k,)
            The new column indices.
        """
        import scipy.sparse

        first = self.program.costs.size
        cost = np.atleast_1d(np.asarray(costs, dtype=float))
        new = np.arange(first, first + cost.size, dtype=np.int32)
        low, high = as_values(lower, new), as_values(upper, new)
        whole = np.zeros(new.size, bool) if integer is None else np.asarray(integer, bool)
        labels = [f"column {i}" for i in new] if names is None else list(names)
        rows = [as_indices(one, self.program.row_lower.size) for one in row_indices]
        data = [as_values(one, index) for one, index in zip(values, rows, strict=True)]
        if not len(rows) == len(labels) == whole.size == new.size:
            raise SolverError(f"{new.size} costs given for another number of columns")
        if new.size == 0:
            return new
        check_costs(cost, lambda i: labels[i])
        check_bounds(low, high, lambda i: labels[i])
        starts = np.cumsum([0, *(index.size for index in rows)]).astype(np.int32)
        matrix = scipy.sparse.csc_array(
            (np.concatenate(data), np.concatenate(rows), starts),
            shape=(self.program.row_lower.size, new.size),
        )
        check_coefficients(matrix, lambda i: labels[i], self.row_name)
        status = self._highs.addCols(
            new.size, cost, low, high, matrix.nnz, starts[:-1], matrix.indices, matrix.data
        )
        expect(status, "add columns (is a row given twice in one?)")
        if whole.any():
            status = self._highs.changeColsIntegrality(new.size, new, whole.astype(np.uint8))
            expect(status, "make the new columns integer")
        self.program.append(cost, low, high, whole, matrix)
        self._added_names += labels
        self.counters.updates += 1
        return new

    def add_rows(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        column_indices: Sequence[ArrayLike],
        values: Sequence[ArrayLike],
        names: Sequence[str] | None = None,
    ) -> NDArray[np.int32]:
        """Append rows (cuts) in one batch, keeping the basis.

        Parameters
        ----------
        lower, upper : array of float (k,)
            Sides of the rows; an open one is -inf or inf.
        column_indices, values : sequence of k arrays
            The columns of each row and the coefficients there.
        names : sequence of k str, optional
            Names for messages and files.

        Returns
        -------
        array of int (k,)
            The new row indices.
        """
        import scipy.sparse

        first = self.program.row_lower.size
        new = np.arange(first, first + len(column_indices), dtype=np.int32)
        low, high = as_values(lower, new), as_values(upper, new)
        labels = [f"row {i}" for i in new] if names is None else list(names)
        columns = [as_indices(one, self.program.costs.size) for one in column_indices]
        data = [as_values(one, index) for one, index in zip(values, columns, strict=True)]
        if len(labels) != new.size:
            raise SolverError(f"{new.size} rows given with {len(labels)} names")
        if new.size == 0:
            return new
        check_bounds(low, high, lambda i: labels[i])
        starts = np.cumsum([0, *(index.size for index in columns)]).astype(np.int32)
        matrix = scipy.sparse.csr_array(
            (np.concatenate(data), np.concatenate(columns), starts),
            shape=(new.size, self.program.costs.size),
        )
        check_coefficients(matrix.tocsc(), self.column_name, lambda i: labels[i])
        status = self._highs.addRows(
            new.size, low, high, matrix.nnz, starts[:-1], matrix.indices, matrix.data
        )
        expect(status, "add rows (is a column given twice in one?)")
        self.program.append_rows(low, high, matrix)
        self._added_rows += labels
        self.counters.updates += 1
        return new


def as_indices(index: ArrayLike, size: int) -> NDArray[np.int32]:
    """Check indices against a size and give them HiGHS's type."""
    given = np.atleast_1d(np.asarray(index))
    if given.size == 0:
        return np.empty(0, dtype=np.int32)
    if given.dtype.kind not in "iu":
        raise SolverError(f"indices must be whole numbers, got {given.dtype}")
    if given.min() < 0 or given.max() >= size:
        raise SolverError(f"an index is outside 0..{size - 1}")
    return given.astype(np.int32, copy=False)


def as_values(values: ArrayLike, index: NDArray[np.int32]) -> NDArray[np.float64]:
    """Bring values, or one value for all, to the shape of the indices."""
    given = np.asarray(values, dtype=float)
    if given.ndim and given.shape != index.shape:
        raise SolverError(f"{given.size} values given for {index.size} indices")
    return np.ascontiguousarray(np.broadcast_to(given, index.shape))
