r"""The projection of one instance and resource as a quadratic program, for a solver.

.. math::

    \min_y \; & \tfrac12 \sum_l (y_l - z_l)^2 \\
    \text{s.t.} \; & \sum_l y_l \le c & \text{(6)} \\
    & 0 \le y_l \le a_l \quad \forall l & \text{(5)}

An oracle for tests and a baseline for timings; the algorithms do not use it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import ArrayLike, NDArray

from models.solver import SolverError, compile_model, relation
from models.solver.highs import expect, open_highs, pass_program

__all__ = ["ProjectionQp", "build_projection_qp", "solve_projection_qp"]


def build_projection_qp(point: ArrayLike, caps: ArrayLike, budget: float) -> Any:
    """Build the quadratic program.

    Parameters
    ----------
    point, caps : array, shape (ports,)
        z and a.
    budget : float
        c.

    Returns
    -------
    pyomo.environ.ConcreteModel
        With variables ``amount[l]`` within (5) and the constraint ``capacity`` (6).
    """
    z, a = np.asarray(point, dtype=float), np.asarray(caps, dtype=float)
    model = pyo.ConcreteModel("projection")
    ports = range(len(z))
    model.amount = pyo.Var(ports, bounds=lambda _, port: (0.0, float(a[port])))
    total = pyo.quicksum(model.amount[i] for i in ports)
    model.capacity = pyo.Constraint(rule=lambda _: relation(total <= float(budget)))
    model.distance = pyo.Objective(
        # Without the constant z^2, beside which the rest would lose its digits.
        expr=pyo.quicksum(0.5 * model.amount[i] ** 2 - float(z[i]) * model.amount[i] for i in ports)
    )
    return model


ITERATIONS = 1000
"""And ten per port, where a projection takes about one: HiGHS's active-set method may go round
in circles, without an end of its own, where points are far beyond the caps."""


class ProjectionQp:
    """The program handed over to HiGHS, to be solved (timings leave out what comes before).

    Parameters
    ----------
    point, caps : array, shape (ports,)
        z and a; at least one port.
    budget : float
        c.
    unit : float, optional
        What counts as 1, which makes the solver's absolute tolerances relative; by default the
        largest of |z| and of what can be had.
    """

    def __init__(
        self, point: ArrayLike, caps: ArrayLike, budget: float, unit: float | None = None
    ) -> None:
        z, a = np.asarray(point, dtype=float), np.asarray(caps, dtype=float)
        if unit is None:
            unit = max(float(np.abs(z).max()), min(float(a.max()), budget)) or 1.0
        self.unit = unit
        # Beyond a + c + |z| nothing is felt.
        model = build_projection_qp(z / unit, np.minimum(a, 10 * unit) / unit, budget / unit)
        model.distance.deactivate()
        model.linear = pyo.Objective(
            expr=pyo.quicksum(-float(z[i] / unit) * model.amount[i] for i in range(len(z)))
        )
        compiled = compile_model(model)
        self.highs = open_highs(1, log=False)
        pass_program(self.highs, compiled.program)
        # The Pyomo model's objective is linear where it is compiled: the squares go in here.
        n = len(z)
        start, index = np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32)
        expect(self.highs.passHessian(n, n, 1, start, index, np.ones(n)), "take the squares")
        limit = ITERATIONS + 10 * n
        expect(self.highs.setOptionValue("qp_iteration_limit", limit), "limit iterations")
        for option in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            expect(self.highs.setOptionValue(option, 1e-10), f"set {option}")

    def solve(self) -> NDArray[np.float64]:
        """Project.

        Raises
        ------
        SolverError
            If HiGHS does not reach the optimum.
        """
        self.highs.run()  # what became of it is the model's status
        status = self.highs.getModelStatus().name
        if status != "kOptimal":
            raise SolverError(f"the projection ended as '{status}'")
        return self.unit * np.asarray(self.highs.getSolution().col_value)


def solve_projection_qp(point: ArrayLike, caps: ArrayLike, budget: float) -> NDArray[np.float64]:
    """Project with HiGHS, in units of the data's scale.

    Raises
    ------
    SolverError
        If HiGHS does not reach the optimum.
    """
    if not len(np.asarray(point)):
        return np.zeros(0)
    try:
        return ProjectionQp(point, caps, budget).solve()
    except SolverError:
        most = min(float(np.max(caps)), float(budget))  # seen from what can be had
        if not most > 0:
            raise
        return ProjectionQp(point, caps, budget, most).solve()
