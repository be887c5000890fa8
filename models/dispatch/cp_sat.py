"""CP-SAT: cumulative resources in whole numbers, and solving with the status checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from models.dispatch.scaling import scale_down, whole_scale

if TYPE_CHECKING:
    from models.dispatch.instance import DispatchInstance

__all__ = ["CpResult", "add_cumulative", "integer_weights", "round_demands", "solve_cp_sat"]

LARGEST_COEFFICIENT = 10**9
CpStatus = Literal["optimal", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True)
class CpResult:
    """What CP-SAT answers.

    Attributes
    ----------
    status : "optimal", "feasible", "infeasible" or "unknown"
    objective, bound : float or None
        In the model's own whole units; None without a solution, or without a proof.
    values : int array or None
        Of the variables that were asked for.
    """

    status: CpStatus
    objective: float | None
    bound: float | None
    values: NDArray[np.int64] | None


def solve_cp_sat(
    model: Any,
    variables: Sequence[Any],
    *,
    time_limit: float | None = None,
    deterministic_limit: float | None = None,
    workers: int = 1,
    seed: int = 0,
    lns_only: bool = False,
) -> CpResult:
    """Solve a CP-SAT model.

    Parameters
    ----------
    model : cp_model.CpModel
    variables : sequence of IntVar
        Whose values are returned.
    time_limit : float, optional
        Seconds; the result then depends on the machine.
    deterministic_limit : float, optional
        CP-SAT's own unit of work: with it and one worker the same seed gives the same result.
    workers, seed : int
    lns_only : bool
        Search in neighbourhoods of the hint only, without proofs.

    Raises
    ------
    RuntimeError
        If CP-SAT calls the model invalid.
    """
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = workers
    solver.parameters.random_seed = seed
    if lns_only:
        solver.parameters.use_lns_only = True
    if time_limit is not None:
        solver.parameters.max_time_in_seconds = time_limit
    if deterministic_limit is not None:
        solver.parameters.max_deterministic_time = deterministic_limit
    code = solver.solve(model)
    known: dict[Any, CpStatus] = {
        cp_model.OPTIMAL: "optimal",
        cp_model.FEASIBLE: "feasible",
        cp_model.INFEASIBLE: "infeasible",
        cp_model.UNKNOWN: "unknown",
    }
    if code not in known:
        raise RuntimeError(f"CP-SAT: {solver.status_name(code)}: {model.validate()}")
    status = known[code]
    solved = status in ("optimal", "feasible")
    bound = None if status == "infeasible" else solver.best_objective_bound
    return CpResult(
        status=status,
        objective=solver.objective_value if solved else None,
        bound=bound,
        values=np.array([solver.value(v) for v in variables], dtype=np.int64) if solved else None,
    )


def round_demands(
    demand: NDArray[np.float64], capacity: float, *, optimistic: bool = False
) -> tuple[list[int], int]:
    """Return one resource's demands and capacity as whole numbers.

    Decimals of up to six places are exact. Beyond that demands are rounded up, so that every
    solution holds, or, if `optimistic`, down, so that every bound does.
    """
    scale = whole_scale(demand.tolist())
    rounding = math.floor if optimistic else math.ceil
    # A decimal times its scale may be off in the last digit.
    return (
        [rounding(round(value * scale, 6)) for value in demand.tolist()],
        scale_down(capacity, scale),
    )


def add_cumulative(
    model: Any,
    intervals: Sequence[Any],
    demand: NDArray[np.float64],
    capacity: float,
    *,
    optimistic: bool = False,
) -> None:
    """At no time do the running intervals need more than the capacity (eq. 5.1)."""
    demands, room = round_demands(demand, capacity, optimistic=optimistic)
    needed = [k for k, amount in enumerate(demands) if amount]
    if sum(demands[k] for k in needed) > room:
        model.add_cumulative([intervals[k] for k in needed], [demands[k] for k in needed], room)


def integer_weights(instance: DispatchInstance) -> tuple[list[int], float, bool]:
    """Weights of (5.2) as whole numbers.

    Returns
    -------
    weights : list of int, one per job
    unit : float
        Objective (5.2) [s] = unit * sum of weights * waits.
    exact : bool
        Whether that holds; if not, weights are rounded down and the sum is a lower bound.
    """
    waits = [job.expected_wait for job in instance.jobs]
    if not waits:
        return [], 1.0, True
    least = math.lcm(*waits)
    if least // min(waits) <= LARGEST_COEFFICIENT:
        return [least // wait for wait in waits], max(waits) / least, True
    scale = LARGEST_COEFFICIENT * min(waits) // max(waits) + 1
    return [scale * max(waits) // wait for wait in waits], 1 / scale, False
