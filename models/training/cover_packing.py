r"""General integer programs with cover and packing rows, as Lemmas 1 and 2 have them.

.. math::

    \min_{x \in \mathbb{Z}_+^n} c^\top x \quad \text{s.t.} \quad A x \ge a, \; B x \le b

with non-negative data (arXiv 2108.02917, section "Theoretical Performance Analysis"). The slot
program of one job (`models.training.slot_program`) is one of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

__all__ = ["build_cover_packing"]


def build_cover_packing(
    costs: NDArray[np.float64],
    cover: NDArray[np.float64],
    cover_least: NDArray[np.float64],
    packing: NDArray[np.float64],
    packing_most: NDArray[np.float64],
    *,
    integer: bool = False,
) -> pyo.ConcreteModel:
    """Build a cover/packing program, or its LP relaxation.

    Parameters
    ----------
    costs : array, shape (columns,)
        c.
    cover, packing : arrays, shape (rows, columns)
        A and B, non-negative; a row of zeros is left out.
    cover_least, packing_most : arrays, shape (rows,)
        a and b.
    integer : bool
        Whole numbers instead of the LP relaxation.
    """
    domain = pyo.NonNegativeIntegers if integer else pyo.NonNegativeReals
    model = pyo.ConcreteModel("cover_packing")
    model.x = pyo.Var(range(len(costs)), domain=domain)
    model.cost = pyo.Objective(
        expr=pyo.quicksum(float(c) * model.x[j] for j, c in enumerate(costs))
    )
    model.cover = _rows(model, cover, cover_least, at_least=True)
    model.packing = _rows(model, packing, packing_most, at_least=False)
    return model


def _rows(
    model: Any, matrix: NDArray[np.float64], sides: NDArray[np.float64], *, at_least: bool
) -> pyo.Constraint:
    """Enough in each cover row, not too much in each packing row."""

    def rule(m: Any, i: int) -> Any:
        columns = np.flatnonzero(matrix[i])
        if not columns.size:
            return pyo.Constraint.Skip
        total = pyo.quicksum(float(matrix[i, j]) * m.x[int(j)] for j in columns)
        return total >= float(sides[i]) if at_least else total <= float(sides[i])

    return pyo.Constraint(range(len(sides)), rule=rule)
