"""Solving a quadratic 0-1 program, which HiGHS does not, by SCIP.

Through Pyomo where the package pyscipopt is installed, otherwise by the SCIP in OR-tools.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from algorithms.splitting.exact.quadratic_mathopt import solve_by_mathopt
from models.solver import SolverError, Status

__all__ = ["QuadraticResult", "solve_quadratic", "why_no_quadratic_solver"]

WHY_NOT = "needs SCIP, which is not here (Python package pyscipopt, or OR-tools with MathOpt)"
GAP = 1e-9


@dataclass(frozen=True)
class QuadraticResult:
    """How a solve ended; a point, if there is one, is in the variables of the model.

    Attributes
    ----------
    status : Status
        OPTIMAL, INFEASIBLE or TIME_LIMIT.
    objective : float
        NaN when there is no point.
    bound : float
        Proved lower bound, -inf for none.
    """

    status: Status
    objective: float
    bound: float


def why_no_quadratic_solver() -> str | None:
    """Say why there is no solver of quadratic programs; None if there is one."""
    return None if _scip().available() or _mathopt_is_here() else WHY_NOT


def _mathopt_is_here() -> bool:
    try:
        from ortools.math_opt.python import mathopt
    except ImportError:
        return False
    return hasattr(mathopt.SolverType, "GSCIP")


def _scip() -> Any:
    from pyomo.contrib.solver.common.factory import SolverFactory

    return SolverFactory("scip_direct")


def solve_quadratic(model: Any, *, time_limit: float) -> QuadraticResult:
    """Minimise, and put the best point found into the model's variables.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        Quadratic, with integers.
    time_limit : float
        Seconds.

    Raises
    ------
    SolverError
        If there is no solver, or it ended in a way that says nothing.
    """
    from pyomo.contrib.solver.common.results import TerminationCondition

    solver = _scip()
    if not solver.available():
        if not _mathopt_is_here():
            raise SolverError(f"a quadratic program {WHY_NOT}")
        status, objective, bound = solve_by_mathopt(model, time_limit=time_limit, gap=GAP)
        return _outcome(status, objective, bound)
    result = solver.solve(
        model,
        time_limit=time_limit,
        rel_gap=GAP,
        abs_gap=0.0,
        load_solutions=False,
        raise_exception_on_nonoptimal_result=False,
    )
    ended = result.termination_condition
    known = {
        TerminationCondition.convergenceCriteriaSatisfied: Status.OPTIMAL,
        TerminationCondition.provenInfeasible: Status.INFEASIBLE,
        TerminationCondition.maxTimeLimit: Status.TIME_LIMIT,
    }
    if ended not in known:
        raise SolverError(f"SCIP ended as '{ended}'")
    status = known[ended]
    objective = result.incumbent_objective
    if status is Status.INFEASIBLE or objective is None:
        objective = None
    else:
        result.solution_loader.load_vars()
    return _outcome(status, objective, result.objective_bound)


def _outcome(status: Status, objective: float | None, bound: float | None) -> QuadraticResult:
    value = math.nan if objective is None else float(objective)
    return QuadraticResult(status, value, -math.inf if bound is None else float(bound))
