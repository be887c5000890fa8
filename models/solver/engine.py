"""The engine: HiGHS holding one compiled model, changed in place and solved many times."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from models.solver.compiled import CompiledModel, compile_model
from models.solver.highs import expect, file_names, open_highs, pass_program
from models.solver.live import LiveModel, as_indices, as_values
from models.solver.process import check_threads, claim_threads
from models.solver.reading import read_result
from models.solver.result import Result, SolverError, disagreement

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from models.solver.program import Program

LIMITS = {
    "time_limit": np.inf,
    "mip_rel_gap": 1e-4,
    "mip_abs_gap": 1e-6,
    "mip_max_nodes": 2**31 - 1,
    "objective_bound": np.inf,
    "user_objective_scale": 0,
}
"""Options that every solve sets anew, because in HiGHS they stick; these are its defaults."""

TIGHT_GAP = 1e-6
LARGEST_COST = 20
"""A MIP whose gap is to be below TIGHT_GAP is solved with costs of up to 2^LARGEST_COST.

HiGHS drops every node that is not better by mip_feasibility_tolerance, 1e-6 and absolute, and an
LP counts as solved when no cost is off by more than 1e-7. Beside costs of 1 the smallest
utilities would not exist, and the bound would be proved without them.
"""


class Engine(LiveModel):
    """A Pyomo model in HiGHS, changed in place and solved many times.

    Every change is one call with vectors; nothing is ever rebuilt, so a warm solve goes on from
    the last basis. Whatever HiGHS refuses is an error that names the row, column or option.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel or CompiledModel
        A linear or mixed-integer model. Later changes of the Pyomo model are not seen.
    threads : int
        Threads of HiGHS, the same for all engines of a process.
    options : mapping, optional
        HiGHS options by name. A `time_limit` here is the budget of each solve.
    log : bool
        Send HiGHS's lines to `logging` (logger models.solver.highs, level INFO).

    Attributes
    ----------
    compiled : CompiledModel
        The model as it was compiled.
    program : Program
        The arrays as they stand now.
    counters : Counters
        Compiles, updates in place, rebuilds, solves, and copies solved beside.

    Raises
    ------
    SolverError
        For data that is not finite, an unknown option, or a second number of threads.
    """

    def __init__(
        self,
        model: Any,
        threads: int = 1,
        options: Mapping[str, Any] | None = None,
        log: bool = False,
    ) -> None:
        check_threads(threads)
        compiled = model if isinstance(model, CompiledModel) else compile_model(model)
        super().__init__(compiled, threads, log)
        self.counters.compiles = int(compiled is not model)
        self.threads, self.log = threads, log
        self.options: dict[str, Any] = {}
        self._applied: dict[str, Any] = {}
        self._limits: dict[str, Any] = {}
        self._cutoff: float | None = None
        self._start: Any = None
        for name, value in (options or {}).items():
            self.set_option(name, value)

    def set_option(self, name: str, value: Any) -> None:
        """Set a HiGHS option for all later solves.

        Raises
        ------
        SolverError
            If HiGHS does not know the option or the value.
        """
        if name == "threads":
            check_threads(value)
            self.threads = value
        self._set(self._highs, name, value)
        self.options[name] = self._applied[name] = value

    def set_solution(self, values: ArrayLike | Mapping[int, float]) -> None:
        """Give the next warm solve of a MIP a point to start from.

        Parameters
        ----------
        values : array of float (columns,) or mapping of column index to float
            A whole point, or values of some columns that HiGHS is to complete.
        """
        if not self.is_mip:
            raise SolverError("a start point needs integer columns; an LP starts from its basis")
        size = self.program.costs.size
        if isinstance(values, Mapping):
            index = as_indices(list(values), size)
            point = as_values(list(values.values()), index)
        else:
            index = np.arange(size, dtype=np.int32)
            point = as_values(values, index)
        if not np.isfinite(point).all():
            i = int(np.argmin(np.isfinite(point)))
            raise SolverError(f"the start value of {self.column_name(int(index[i]))} is {point[i]}")
        self._start = (index, point)

    def solve(
        self,
        start: Literal["warm", "cold"] = "warm",
        *,
        time_limit: float | None = None,
        mip_gap: float | None = None,
        mip_gap_abs: float | None = None,
        node_limit: int | None = None,
        cutoff: float | None = None,
        verify: bool = False,
    ) -> Result:
        """Solve the model as it stands.

        Parameters
        ----------
        start : {"warm", "cold"}
            Go on from the last basis or start point, or forget all and presolve.
        time_limit : float, optional
            Seconds for this solve alone.
        mip_gap, mip_gap_abs : float, optional
            Relative and absolute gap at which a MIP counts as optimal (1e-4 and 1e-6). With a
            relative gap below 1e-6, and without cutoff, costs that are small beside the largest
            count too (see TIGHT_GAP).
        node_limit : int, optional
            Branch-and-bound nodes.
        cutoff : float, optional
            In a MIP, look only for solutions better than this objective. If there are none the
            status is OBJECTIVE_BOUND and the bound is the cutoff.
        verify : bool
            Solve a fresh copy cold as well.

        Returns
        -------
        Result
            Without a solution (infeasible, stopped too early) nothing is raised.

        Raises
        ------
        SolverError
            If HiGHS cannot run in this process, or, with `verify`, if the copy disagrees.
        """
        if start not in ("warm", "cold"):
            raise SolverError(f"start must be 'warm' or 'cold', got {start!r}")
        limits = {
            "time_limit": time_limit,
            "mip_rel_gap": mip_gap,
            "mip_abs_gap": mip_gap_abs,
            "mip_max_nodes": node_limit,
            "objective_bound": self._bound_option(cutoff),
            "user_objective_scale": self._objective_scale(mip_gap, cutoff),
        }
        self._limits = {name: value for name, value in limits.items() if value is not None}
        self._cutoff = cutoff
        self._apply(self._highs, self._applied)
        if start == "cold":
            expect(self._highs.clearSolver(), "forget the last solve")
        elif self._start is not None:
            index, point = self._start
            expect(self._highs.setSolution(index.size, index, point), "take the start point")
        self._start = None
        self.counters.solves += 1
        result = self._run(self._highs, self.program)
        if verify:
            problem = disagreement(result, self.cold_check())
            if problem is not None:
                raise SolverError(f"a fresh solve of the same model disagrees: {problem}")
        return result

    def cold_check(self) -> Result:
        """Solve a fresh copy of the model as it stands, with the limits of the last solve."""
        return self._solve_copy(self.program)

    def fixed_integer_duals(self, result: Result) -> Result:
        """Solve the LP that remains when the integers are fixed at a result, for its duals.

        A MIP has no duals of its own. These say how the objective changes with a right-hand
        side as long as the integer columns keep their values.

        Raises
        ------
        SolverError
            If the result has no solution.
        """
        if result.primal is None:
            raise SolverError(f"no integers to fix: the solve ended as '{result.status}'")
        return self._solve_copy(self.program.with_integers_fixed(result.primal))

    def write_model(self, path: str | Path) -> None:
        """Write the model as it stands to an .lp or .mps file, complete or not at all.

        Names keep letters, digits, dots and underscores; a number makes them distinct.
        """
        target = Path(path)
        if target.suffix not in (".lp", ".mps"):
            raise SolverError(f"a model file ends in .lp or .mps, got {target.name}")
        rows, columns = self.program.matrix.shape
        for i, name in enumerate(file_names([self.column_name(i) for i in range(columns)])):
            expect(self._highs.passColName(i, name), f"name column {name}")
        for i, name in enumerate(file_names([self.row_name(i) for i in range(rows)])):
            expect(self._highs.passRowName(i, name), f"name row {name}")
        part = target.with_name(f".{target.stem}.{os.getpid()}{target.suffix}")
        try:
            expect(self._highs.writeModel(str(part)), f"write {target}")
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def _bound_option(self, cutoff: float | None) -> float | None:
        """HiGHS minimises inside, and keeps the cutoff in that sense. An LP ignores it."""
        if cutoff is None or not self.is_mip:
            return None
        return -cutoff if self.program.maximise else cutoff

    def _objective_scale(self, mip_gap: float | None, cutoff: float | None) -> int | None:
        """Exponent of 2 by which costs are multiplied inside HiGHS; results are not.

        None with a cutoff, which HiGHS would not multiply.
        """
        largest = float(np.abs(self.program.costs).max(initial=0.0))
        tight = mip_gap is not None and mip_gap < TIGHT_GAP and cutoff is None
        if not self.is_mip or not tight or largest == 0.0:
            return None
        return LARGEST_COST - math.frexp(largest)[1]

    def _apply(self, highs: Any, applied: dict[str, Any]) -> None:
        """Set the options of this solve; those it does not mention go back to the engine's."""
        wanted = {**LIMITS, **self.options, **self._limits}
        if not self.is_mip:
            # The clock of an LP runs on over all solves; that of a MIP starts anew each time.
            wanted["time_limit"] += highs.getRunTime()
        for name, value in wanted.items():
            if applied.get(name) != value:
                self._set(highs, name, value)
                applied[name] = value

    @staticmethod
    def _set(highs: Any, name: str, value: Any) -> None:
        if isinstance(value, float) and np.isnan(value):  # HiGHS would take it
            raise SolverError(f"option {name} is not a number")
        expect(highs.setOptionValue(name, value), f"set option {name} to {value!r}")

    def _run(self, highs: Any, program: Program) -> Result:
        claim_threads(self.threads)
        began = time.perf_counter()
        status = highs.run()
        if _did_not_run(status, highs):
            # It may also give up a basis that it cannot go on from; without one it goes on.
            expect(highs.clearSolver(), "forget the last solve")
            status = highs.run()
        seconds = time.perf_counter() - began
        if _did_not_run(status, highs):
            raise SolverError(
                "HiGHS did not run; has other code in this process used another number of threads?"
            )
        return read_result(highs, program, self.compiled, seconds, self._cutoff)

    def _solve_copy(self, program: Program) -> Result:
        highs = open_highs(self.threads, self.log)
        self._apply(highs, {})
        pass_program(highs, program)
        self.counters.copies += 1
        return self._run(highs, program)


def _did_not_run(status: Any, highs: Any) -> bool:
    return status.name == "kError" and highs.getModelStatus().name == "kNotset"


def solve_model(
    model: Any,
    threads: int = 1,
    options: Mapping[str, Any] | None = None,
    log: bool = False,
    **solve: Any,
) -> Result:
    """Compile and solve a Pyomo model once.

    The point comes back with `Result.load_into(model)`.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        A linear or mixed-integer model.
    threads, options, log
        As for `Engine`.
    **solve
        As for `Engine.solve`.

    Returns
    -------
    Result
    """
    return Engine(model, threads=threads, options=options, log=log).solve("cold", **solve)
