"""What Pyomo's LinearStandardFormCompiler makes of a model, read into arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from models.solver.result import SolverError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def standard_form(model: Any) -> tuple[Any, list[tuple[Any, float, float]]]:
    """Run Pyomo's compiler; also return the false constraints that it cannot represent.

    Each of those comes with the bounds of its row, which has no coefficients.
    """
    from pyomo.common.errors import InfeasibleConstraintException
    from pyomo.environ import Constraint, value
    from pyomo.repn import generate_standard_repn
    from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

    compiler = LinearStandardFormCompiler()
    try:
        return compiler.write(model, mixed_form=True, set_sense=None), []
    except InfeasibleConstraintException:
        pass
    false_rows = []
    for constraint in model.component_data_objects(Constraint, active=True):
        body = generate_standard_repn(constraint.body, compute_values=True)
        if body.is_constant():
            low, high = value(constraint.lower), value(constraint.upper)
            low = -np.inf if low is None else low - body.constant
            high = np.inf if high is None else high - body.constant
            if low > 0.0 or high < 0.0:
                false_rows.append((constraint, low, high))
    for constraint, *_ in false_rows:
        constraint.deactivate()
    try:
        return compiler.write(model, mixed_form=True, set_sense=None), false_rows
    finally:
        for constraint, *_ in false_rows:
            constraint.activate()


def row_bounds(
    form: Any, false_rows: list[tuple[Any, float, float]], row_of: dict[int, int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds of the rows; kind is -1, 1 or 0 for >=, <= or ==."""
    lower, upper = np.full(len(row_of), -np.inf), np.full(len(row_of), np.inf)
    for (constraint, kind), side in zip(form.rows, form.rhs, strict=True):
        if kind <= 0:
            lower[row_of[id(constraint)]] = side
        if kind >= 0:
            upper[row_of[id(constraint)]] = side
    for constraint, low, high in false_rows:
        lower[row_of[id(constraint)]], upper[row_of[id(constraint)]] = low, high
    return lower, upper


def coefficients(
    form: Any, row_of: dict[int, int], position: NDArray[np.int64], shape: tuple[int, int]
) -> Any:
    """Coefficients, where the two rows that Pyomo makes of a two-sided constraint are one."""
    import scipy.sparse

    row = np.array([row_of[id(entry.constraint)] for entry in form.rows], dtype=np.int64)
    first = np.diff(row, prepend=-1) > 0
    entries = form.A.tocoo()
    kept = first[entries.row]
    where = (row[entries.row[kept]], position[entries.col[kept]])
    return scipy.sparse.csc_array((entries.data[kept], where), shape=shape)


def column_bounds(variables: list[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds of the variables, those of their domains included."""
    try:
        pairs = [v.bounds for v in variables]
    except ValueError as error:  # Pyomo names the variable
        raise SolverError(str(error)) from None
    lower = np.array([-np.inf if low is None else low for low, _ in pairs], dtype=float)
    upper = np.array([np.inf if high is None else high for _, high in pairs], dtype=float)
    return lower, upper


def is_integer(variable: Any) -> bool:
    """Whether a variable is integer or binary; SolverError if it is not continuous either."""
    if variable.is_integer():
        return True
    if variable.is_continuous():
        return False
    raise SolverError(f"{variable.name}: its domain is neither continuous nor integer")
