"""Reading the outcome of a run: HiGHS hands out numbers whether they mean something or not."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from models.solver.result import ROW_TOLERANCE, Result, Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from models.solver.compiled import CompiledModel
    from models.solver.program import Program

logger = logging.getLogger(__name__)

STATUSES = {
    "kOptimal": Status.OPTIMAL,
    "kModelEmpty": Status.OPTIMAL,
    "kInfeasible": Status.INFEASIBLE,
    "kUnbounded": Status.UNBOUNDED,
    "kUnboundedOrInfeasible": Status.INFEASIBLE_OR_UNBOUNDED,
    "kObjectiveBound": Status.OBJECTIVE_BOUND,
    "kObjectiveTarget": Status.OBJECTIVE_TARGET,
    "kTimeLimit": Status.TIME_LIMIT,
    "kIterationLimit": Status.ITERATION_LIMIT,
    "kSolutionLimit": Status.NODE_LIMIT,
    "kMemoryLimit": Status.MEMORY_LIMIT,
    "kInterrupt": Status.INTERRUPTED,
}
POINTLESS = {
    Status.INFEASIBLE,
    Status.UNBOUNDED,
    Status.INFEASIBLE_OR_UNBOUNDED,
    Status.ERROR,
}
"""Endings that leave no point, whatever numbers HiGHS hands out."""

FEASIBLE = 2
"""The value of HighsInfo.primal_solution_status for a feasible point."""

MOVE_TOLERANCE = 1e-5
"""How far rounding to an integer or clipping to a bound may move a value (HiGHS: 1e-6)."""


def read_result(
    highs: Any, program: Program, compiled: CompiledModel, seconds: float, cutoff: float | None
) -> Result:
    """Read the outcome of a run; numbers come back only if HiGHS and our own check allow it."""
    info = highs.getInfo()
    status = STATUSES.get(highs.getModelStatus().name, Status.ERROR)
    mip = bool(program.integer.any())
    solution = highs.getSolution()

    point, violation, row = None, 0.0, -1
    if not program.costs.size:
        point = np.empty(0)
    elif status not in POINTLESS and info.valid and info.primal_solution_status == FEASIBLE:
        point = clean_point(np.array(solution.col_value), program)
    if point is not None:
        violation, row = program.violation(point)
        if violation > ROW_TOLERANCE:
            if status is Status.OPTIMAL and point.size:
                logger.warning("the point violates %s by %g", compiled.row_name(row), violation)
            else:
                point, violation, row = None, 0.0, -1
    if point is None and status is Status.OPTIMAL:
        status = Status.ERROR if program.costs.size else Status.INFEASIBLE
    objective = np.nan if point is None else program.objective(point)

    bound = np.inf if program.maximise else -np.inf
    weaker = max if program.maximise else min
    if mip and info.valid and status not in POINTLESS:
        bound = weaker(info.mip_dual_bound, objective) if point is not None else info.mip_dual_bound
    elif not mip and status is Status.OPTIMAL:
        bound = objective
    if mip and cutoff is not None:
        # Nothing was looked for beyond the cutoff, so nothing better than it is proved.
        status, bound = _with_cutoff(status, objective, bound, cutoff, weaker)

    exact = status is Status.OPTIMAL and not mip and solution.dual_valid
    effort = (
        info.simplex_iteration_count,
        info.ipm_iteration_count,
        info.crossover_iteration_count,
    )
    return Result(
        status=status,
        objective=objective,
        bound=bound,
        primal=point,
        dual=np.array(solution.row_dual) if exact else None,
        reduced_costs=np.array(solution.col_dual) if exact else None,
        seconds=seconds,
        iterations=sum(max(0, count) for count in effort),
        nodes=max(0, info.mip_node_count),
        violation=violation,
        worst_row=row,
        compiled=compiled,
    )


def clean_point(point: NDArray[np.float64], program: Program) -> NDArray[np.float64] | None:
    """Round integer columns and clip all to their bounds; None if that moves a value too far."""
    clean = np.where(program.integer, np.round(point), point)
    clean = np.clip(clean, program.lower, program.upper)
    moved = np.abs(clean - point) > MOVE_TOLERANCE * np.maximum(1.0, np.abs(point))
    return None if moved.any() else clean


def _with_cutoff(
    status: Status, objective: float, bound: float, cutoff: float, weaker: Callable[..., float]
) -> tuple[Status, float]:
    """Correct the status and bound of a MIP that was solved with a cutoff."""
    if status is Status.INFEASIBLE:
        return Status.OBJECTIVE_BOUND, cutoff
    if status is Status.OPTIMAL and weaker(objective, cutoff) == cutoff:
        status = Status.OBJECTIVE_BOUND
    return status, weaker(bound, cutoff)
