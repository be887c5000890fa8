"""Constraint rules whose sums may be empty."""

from __future__ import annotations

from typing import Any

import numpy as np


def relation(value: Any) -> Any:
    """Return what a Pyomo constraint rule should return for a comparison that may be constant.

    A sum over an empty index is a plain number, so that `sum(...) <= 3` is a plain True or
    False, which Pyomo refuses. True becomes Constraint.Skip; False becomes a false row, so that
    the solve says "infeasible" instead of the model failing to build.

    Examples
    --------
    ``pyo.Constraint(jobs, rule=lambda m, i: relation(sum(m.w[i, h] for h in allowed[i]) <= 3))``
    """
    from pyomo.core.expr import InequalityExpression
    from pyomo.environ import Constraint

    if not isinstance(value, bool | np.bool_):
        return value
    return Constraint.Skip if value else InequalityExpression((1.0, 0.0), False)
