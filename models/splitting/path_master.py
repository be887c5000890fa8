r"""The master of column generation for (1)-(5): a job's path is a mixture of whole paths.

With :math:`\lambda^j_p` the share of path p of job j, its service time :math:`q^j_p`, and what it
takes of node u, :math:`c^j_{pu}` operations and :math:`m^j_{pu}` bytes:

.. math::

    \min_{\lambda, y \ge 0} \; & \sum_j \sum_p q^j_p \lambda^j_p \\
    \text{s.t.} \; & \sum_p \lambda^j_p + y_j = 1 \quad \forall j & \text{(one path, for (2))} \\
    & \sum_{j,p} c^j_{pu} \lambda^j_p \le \bar c_u, \quad
      \sum_{j,p} m^j_{pu} \lambda^j_p \le \bar m_u \quad \forall u & \text{((3), (4))}

Every flow that keeps (2) is a mixture of paths and of cycles, which only cost; so the bound is
that of the LP relaxation of (1)-(5), with one row per job instead of one per job and vertex. The
share y that is missing is minimised first, and is 0 from then on. Paths are priced by a layered
shortest path with the duals of the budgets (`algorithms.splitting.exact.column_generation`).
Ours; not in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyomo.environ as pyo

from models.splitting.budgets import BudgetRow

__all__ = ["build_path_master"]


def build_path_master(jobs: int, rows: Sequence[BudgetRow]) -> Any:
    """Build the master without any path.

    Parameters
    ----------
    jobs : int
    rows : sequence of BudgetRow
        The budgets that could be exceeded, scaled.

    Returns
    -------
    pyomo.environ.ConcreteModel
        With variables ``missing[j]`` and constraints ``one_path[j]`` and ``budget[i]`` by row. A
        path is a column with 1 in ``one_path`` of its job and its use in ``budget``.
    """
    model = pyo.ConcreteModel("path master")
    model.missing = pyo.Var(range(jobs), bounds=(0.0, 1.0))
    # A budget no path uses yet needs a variable to be a row at all.
    model.used = pyo.Var(range(len(rows)), bounds=lambda m, i: (0.0, rows[i].limit))
    model.cost = pyo.Objective(expr=pyo.quicksum(model.missing.values()))
    model.one_path = pyo.Constraint(range(jobs), rule=lambda m, j: m.missing[j] == 1.0)
    model.budget = pyo.Constraint(range(len(rows)), rule=lambda m, i: -m.used[i] <= 0.0)
    return model
