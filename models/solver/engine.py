"""The engine: HiGHS holding one compiled model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from models.solver.result import Result


class Engine:
    """A Pyomo model in HiGHS, changed in place and solved many times."""

    def __init__(
        self,
        model: Any,
        threads: int = 1,
        options: Mapping[str, Any] | None = None,
        log: bool = False,
    ) -> None:
        raise NotImplementedError

    def columns(self, component: Any, keys: Iterable[Any] | None = None) -> NDArray[np.int32]:
        """Column indices of a Pyomo Var, in its index order."""
        raise NotImplementedError

    def rows(self, component: Any, keys: Iterable[Any] | None = None) -> NDArray[np.int32]:
        """Row indices of a Pyomo Constraint, in its index order."""
        raise NotImplementedError

    def set_option(self, name: str, value: Any) -> None:
        """Set a HiGHS option for every later solve."""
        raise NotImplementedError

    def set_costs(self, columns: ArrayLike, values: ArrayLike) -> None:
        """Change objective coefficients."""
        raise NotImplementedError

    def set_objective_constant(self, value: float) -> None:
        """Change the constant of the objective."""
        raise NotImplementedError

    def set_row_bounds(self, rows: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Change both sides of rows; use -inf or inf for an open side."""
        raise NotImplementedError

    def set_column_bounds(self, columns: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> None:
        """Change bounds of columns."""
        raise NotImplementedError

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
        """Append columns in one batch and return their indices."""
        raise NotImplementedError

    def set_solution(self, values: ArrayLike | Mapping[int, float]) -> None:
        """Give the next warm solve of a MIP a start point."""
        raise NotImplementedError

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
        """Solve the model as it stands."""
        raise NotImplementedError

    def cold_check(self) -> Result:
        """Solve a fresh copy of the model as it stands."""
        raise NotImplementedError

    def fixed_integer_duals(self, result: Result) -> Result:
        """Duals of the LP that remains when the integers are fixed at a result's values."""
        raise NotImplementedError

    def write_model(self, path: str | Path) -> None:
        """Write an .lp or .mps file."""
        raise NotImplementedError


def solve_model(model: Any, **options: Any) -> Result:
    """Compile and solve a Pyomo model once."""
    raise NotImplementedError
