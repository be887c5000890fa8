"""Numbers that HiGHS would take without a word, refused or reported by name."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from models.solver.result import SolverError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

WIDE_RANGE = 1e8
"""Coefficients further apart than this lose digits inside the solver."""

INFINITE_COST = 1e20
LARGEST, SMALLEST = 1e15, 1e-9
"""From here on HiGHS takes costs for infinite, and coefficients for errors or for zeros."""


def check_costs(costs: NDArray[np.float64], name: Callable[[int], str]) -> None:
    """Raise SolverError, naming the first one, for costs that are not finite numbers."""
    sound = np.abs(costs) < INFINITE_COST
    if not sound.all():
        i = int(np.argmin(sound))
        raise SolverError(f"the cost of {name(i)} is {costs[i]}")


def check_bounds(
    lower: NDArray[np.float64], upper: NDArray[np.float64], name: Callable[[int], str]
) -> None:
    """Raise SolverError, naming the first one, for bounds that no number can be within.

    Crossed finite bounds pass: they make the model infeasible, which is an answer.
    """
    sound = (lower < np.inf) & (upper > -np.inf)
    if not sound.all():
        i = int(np.argmin(sound))
        raise SolverError(f"the bounds of {name(i)} are {lower[i]} and {upper[i]}")


def check_coefficients(
    matrix: Any, column_name: Callable[[int], str], row_name: Callable[[int], str]
) -> None:
    """Raise SolverError for coefficients not finite or too large; warn of a range over 1e8."""
    entries = matrix.tocoo()

    def described(i: int) -> str:
        where = f"{column_name(int(entries.col[i]))} in {row_name(int(entries.row[i]))}"
        return f"{entries.data[i]:g} ({where})"

    size = np.abs(entries.data)
    sound = size < LARGEST
    if not sound.all():
        raise SolverError(f"a coefficient is {described(int(np.argmin(sound)))}")
    if size.size and size.min() < SMALLEST:
        smallest = described(int(size.argmin()))
        logger.warning("HiGHS takes coefficients below 1e-9 for zero: %s", smallest)
    if size.size and size.max() > WIDE_RANGE * size.min():
        logger.warning(
            "coefficients are more than 1e8 apart, scale the model: %s and %s",
            described(int(size.argmin())),
            described(int(size.argmax())),
        )
