r"""The budgets of nodes, eqs. (3) and (4) of arXiv 2111.07006, as scaled rows.

.. math:: \sum_j \sum_l c^j_l r^j_{u_{l-1} u_l} \le \bar c_u, \qquad
          \sum_j \sum_l m^j_l r^j_{u_{l-1} u_l} \le \bar m_u

A row is divided by the largest work in it: operations come in 1e9 and bytes in 1e6, and a
solver's tolerances want coefficients near 1. The right-hand side has the tolerance of the audit,
so that nothing the audit passes is called impossible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from models.splitting.instance import SplittingInstance
from models.splitting.route import Route

__all__ = ["BudgetRow", "budget_rows", "fitting", "most", "within_budgets"]

RELATIVE = 1e-6
NEGLIGIBLE = 1e-8
ABSOLUTE = 1e-12


@dataclass(frozen=True)
class BudgetRow:
    """A budget that could be exceeded.

    Attributes
    ----------
    node : int
    kind : "compute" or "memory"
    scale : float
        Operations or bytes that count as 1.
    limit : float
        Right-hand side in this scale, the audit's tolerance included.
    """

    node: int
    kind: Literal["compute", "memory"]
    scale: float
    limit: float

    def coefficients(self, instance: SplittingInstance, job: int) -> NDArray[np.float64]:
        """What each layer of a job takes of it if computed there, shape (L,).

        Next to nothing counts as nothing: a solver would take it for an error in the scaling.
        """
        item = instance.jobs[job]
        taken = (item.compute if self.kind == "compute" else item.memory) / self.scale
        return np.where(taken < NEGLIGIBLE, 0.0, taken)


def most(budget: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest use that the audit passes."""
    return budget * (1.0 + RELATIVE) + ABSOLUTE


def fitting(instance: SplittingInstance, job: int) -> NDArray[np.bool_]:
    """Whether each layer of a job, alone, fits a node's budgets; shape (L, nodes)."""
    item = instance.jobs[job]
    return (item.compute[:, None] <= most(instance.compute_budget)) & (
        item.memory[:, None] <= most(instance.memory_budget)
    )


def budget_rows(
    instance: SplittingInstance, allowed: Sequence[NDArray[np.bool_]]
) -> list[BudgetRow]:
    """Make the rows of budgets that not all allowed layers together keep.

    Parameters
    ----------
    instance : SplittingInstance
    allowed : sequence of arrays, shape (L_j, nodes)
        Which node may compute which layer, by job.
    """
    rows = []
    kinds: tuple[tuple[Literal["compute", "memory"], NDArray[np.float64]], ...] = (
        ("compute", most(instance.compute_budget)),
        ("memory", most(instance.memory_budget)),
    )
    for kind, limits in kinds:
        total = np.zeros(instance.number_of_nodes)
        largest = np.zeros(instance.number_of_nodes)
        for job, table in zip(instance.jobs, allowed, strict=True):
            work = np.where(table, (job.compute if kind == "compute" else job.memory)[:, None], 0.0)
            total += work.sum(axis=0)
            largest = np.maximum(largest, work.max(axis=0))
        for u in np.flatnonzero(total > limits).tolist():
            scale = float(largest[u])
            rows.append(BudgetRow(u, kind, scale, float(limits[u]) / scale))
    return rows


def within_budgets(instance: SplittingInstance, routes: Sequence[Route]) -> bool:
    """Whether routes, one per job, keep all budgets as the audit has it."""
    compute = np.zeros(instance.number_of_nodes)
    memory = np.zeros(instance.number_of_nodes)
    for job, route in zip(instance.jobs, routes, strict=True):
        np.add.at(compute, list(route.nodes), job.compute)
        np.add.at(memory, list(route.nodes), job.memory)
    return bool(
        (compute <= most(instance.compute_budget)).all()
        and (memory <= most(instance.memory_budget)).all()
    )
