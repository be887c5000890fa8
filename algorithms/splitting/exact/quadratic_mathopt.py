"""The SCIP that OR-tools carries, for quadratic 0-1 programs, through its MathOpt."""

from __future__ import annotations

import datetime
import math
from typing import Any

import pyomo.environ as pyo

from models.solver import SolverError, Status

__all__ = ["solve_by_mathopt"]

LEAST = 1e-3  # seconds: MathOpt takes no limit of 0


def solve_by_mathopt(
    model: Any, *, time_limit: float, gap: float
) -> tuple[Status, float | None, float | None]:
    """Minimise, and put the best point found into the model's variables.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        One objective, to be minimised, with products of two variables; linear constraints; all
        variables bounded.
    time_limit : float
        Seconds.
    gap : float
        Relative gap at which to stop.

    Returns
    -------
    status : Status
        OPTIMAL, INFEASIBLE or TIME_LIMIT.
    objective, bound : float or None
        None where there is no point, or no bound.

    Raises
    ------
    SolverError
        If it ended in a way that says nothing.
    """
    from ortools.math_opt.python import mathopt

    problem, variables = _translated(model, mathopt)
    result = mathopt.solve(
        problem,
        mathopt.SolverType.GSCIP,
        params=mathopt.SolveParameters(
            time_limit=datetime.timedelta(seconds=max(time_limit, LEAST)),
            relative_gap_tolerance=gap,
            absolute_gap_tolerance=0.0,
            threads=1,
        ),
    )
    known = {
        mathopt.TerminationReason.OPTIMAL: Status.OPTIMAL,
        mathopt.TerminationReason.INFEASIBLE: Status.INFEASIBLE,
        mathopt.TerminationReason.FEASIBLE: Status.TIME_LIMIT,
        mathopt.TerminationReason.NO_SOLUTION_FOUND: Status.TIME_LIMIT,
    }
    reason = result.termination.reason
    if reason not in known:
        raise SolverError(f"SCIP ended as '{reason.name}': {result.termination.detail}")
    bound = result.termination.objective_bounds.dual_bound
    objective = None
    if result.has_primal_feasible_solution():
        objective = float(result.objective_value())
        values = result.variable_values()
        for variable, column in variables:
            variable.set_value(values[column], skip_validation=True)
    return known[reason], objective, float(bound) if math.isfinite(bound) else None


def _translated(model: Any, mathopt: Any) -> tuple[Any, list[tuple[Any, Any]]]:
    """Rebuild a Pyomo model in MathOpt; returns it, and the pairs of variables."""
    from pyomo.repn import generate_standard_repn

    problem = mathopt.Model()
    pairs = []
    columns = {}
    for variable in model.component_data_objects(pyo.Var, active=True):
        low, high = variable.bounds
        column = problem.add_variable(
            lb=-math.inf if low is None else low,
            ub=math.inf if high is None else high,
            is_integer=variable.is_integer(),
        )
        columns[id(variable)] = column
        pairs.append((variable, column))
    for row in model.component_data_objects(pyo.Constraint, active=True):
        form = generate_standard_repn(row.body)
        if not form.is_linear():
            raise SolverError(f"the constraint {row.name} is not linear")
        low, high = pyo.value(row.lower), pyo.value(row.upper)
        made = problem.add_linear_constraint(
            lb=-math.inf if low is None else low - form.constant,
            ub=math.inf if high is None else high - form.constant,
        )
        for coefficient, variable in zip(form.linear_coefs, form.linear_vars, strict=True):
            made.set_coefficient(columns[id(variable)], coefficient)
    (objective,) = model.component_data_objects(pyo.Objective, active=True)
    form = generate_standard_repn(objective.expr, quadratic=True)
    if form.nonlinear_expr is not None or objective.sense != pyo.minimize:
        raise SolverError("the objective is not a quadratic one to be minimised")
    problem.objective.is_maximize = False
    problem.objective.offset = form.constant
    for coefficient, variable in zip(form.linear_coefs, form.linear_vars, strict=True):
        problem.objective.set_linear_coefficient(columns[id(variable)], coefficient)
    for coefficient, (one, other) in zip(form.quadratic_coefs, form.quadratic_vars, strict=True):
        first, second = columns[id(one)], columns[id(other)]
        problem.objective.set_quadratic_coefficient(first, second, coefficient)
    return problem, pairs
