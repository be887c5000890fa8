"""A Pyomo model as arrays, with the way from its components to rows and columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from models.solver.checks import check_bounds, check_coefficients, check_costs
from models.solver.program import Program
from models.solver.result import SolverError
from models.solver.standard_form import (
    coefficients,
    column_bounds,
    is_integer,
    row_bounds,
    standard_form,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


@dataclass(frozen=True)
class CompiledModel:
    """The arrays of a Pyomo model and the index of its variables and constraints in them.

    Attributes
    ----------
    model : pyomo.environ.ConcreteModel
        The model this was compiled from.
    program : Program
        The arrays.
    variables : list of VarData
        One per column, in declaration order. Fixed variables have no column.
    constraints : list of ConstraintData
        One per row; a two-sided constraint is one row. Rows without variables are left out.
    """

    model: Any
    program: Program
    variables: list[Any]
    constraints: list[Any]
    column_of: dict[int, int] = field(init=False, repr=False, compare=False)
    row_of: dict[int, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.__setstate__({})

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Index the components by identity, anew in each copy and each process."""
        self.__dict__.update(state)
        self.__dict__["column_of"] = {id(v): i for i, v in enumerate(self.variables)}
        self.__dict__["row_of"] = {id(c): i for i, c in enumerate(self.constraints)}

    def columns(self, component: Any, keys: Iterable[Any] | None = None) -> NDArray[np.int32]:
        """Column indices of a Var, in the order of its keys or of the given keys.

        Raises
        ------
        KeyError
            For a variable without a column: fixed, inactive, or of another model.
        """
        return _lookup(self.column_of, component, keys, "column (fixed, or not in the model)")

    def rows(self, component: Any, keys: Iterable[Any] | None = None) -> NDArray[np.int32]:
        """Row indices of a Constraint, in the order of its keys or of the given keys.

        Indices that the rule skipped are no keys of the constraint.

        Raises
        ------
        KeyError
            For a constraint without a row: skipped, trivial, inactive, or of another model.
        """
        return _lookup(self.row_of, component, keys, "row (skipped, trivial or inactive)")

    def column_name(self, column: int) -> str:
        """Name of the column's variable; `column 7` when it was added later."""
        known = column < len(self.variables)
        return str(self.variables[column].name) if known else f"column {column}"

    def row_name(self, row: int) -> str:
        """Name of the row's constraint."""
        return str(self.constraints[row].name)


def _lookup(
    index: dict[int, int], component: Any, keys: Iterable[Any] | None, what: str
) -> NDArray[np.int32]:
    if keys is not None:
        data = []
        for key in keys:
            if key not in component:
                raise KeyError(f"{component.name}[{key}] has no {what}")
            data.append(component[key])
    elif isinstance(component, list | tuple):
        data = list(component)
    elif component.is_indexed():
        data = list(component.values())
    else:
        data = [component]
    try:
        return np.array([index[id(one)] for one in data], dtype=np.int32)
    except KeyError:
        missing = next(one.name for one in data if id(one) not in index)
        raise KeyError(f"{missing} has no {what}") from None


def compile_model(model: Any) -> CompiledModel:
    """Turn a linear or mixed-integer Pyomo model into arrays.

    Every active variable that is not fixed gets a column, used or not, so that its cost can be
    set later. A constraint without variables gets no row, unless it is false: then it is kept
    as an empty row, and the solve says "infeasible".

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        A model with at most one active objective.

    Returns
    -------
    CompiledModel

    Raises
    ------
    SolverError
        For a number that is not finite (named by row and column), several objectives, or a
        domain that is neither continuous nor integer.
    """
    from pyomo.environ import Var, maximize

    form, false_rows = standard_form(model)
    if len(form.objectives) > 1:
        names = ", ".join(objective.name for objective in form.objectives)
        raise SolverError(f"the model has several active objectives: {names}")

    # Pyomo's compiler drops columns without coefficients; put them back in declaration order.
    found = {id(v): v for v in model.component_data_objects(Var, active=True) if not v.fixed}
    found.update((id(v), v) for v in form.columns)
    variables = list(found.values())
    column_of = {key: column for column, key in enumerate(found)}
    position = np.array([column_of[id(v)] for v in form.columns], dtype=np.int64)

    row_of: dict[int, int] = {}
    constraints: list[Any] = []
    for constraint in [*(entry.constraint for entry in form.rows), *(c for c, *_ in false_rows)]:
        if id(constraint) not in row_of:
            row_of[id(constraint)] = len(constraints)
            constraints.append(constraint)
    row_lower, row_upper = row_bounds(form, false_rows, row_of)
    lower, upper = column_bounds(variables)
    costs = np.zeros(len(variables))
    program = Program(
        costs=costs,
        lower=lower,
        upper=upper,
        integer=np.array([is_integer(v) for v in variables], dtype=bool),
        matrix=coefficients(form, row_of, position, (len(constraints), len(variables))),
        row_lower=row_lower,
        row_upper=row_upper,
    )
    if form.objectives:
        costs[position] = form.c.toarray()[0]
        program.constant = float(form.c_offset[0])
        program.maximise = form.objectives[0].sense == maximize
    compiled = CompiledModel(model, program, variables, constraints)
    check_costs(program.costs, compiled.column_name)
    check_bounds(program.lower, program.upper, compiled.column_name)
    check_bounds(program.row_lower, program.row_upper, compiled.row_name)
    check_coefficients(program.matrix, compiled.column_name, compiled.row_name)
    if not np.isfinite(program.constant):
        raise SolverError(f"the constant of the objective is {program.constant}")
    return compiled
