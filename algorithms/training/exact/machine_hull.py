r"""Inequalities that the totals of a slot satisfy if they can be packed into the machines.

What a slot's machines hold are patterns: whole numbers of workers and parameter servers that
fit together on one machine. The totals p of a slot (`models.training.slot_totals`) are then a
sum of one pattern per machine, so with :math:`P_k` the patterns of the :math:`n_k` equal
machines of kind k,

.. math:: p \in \sum_k n_k \operatorname{conv}(P_k), \qquad
   \pi p \le \sum_k n_k \max_{q \in P_k} \pi q \quad \text{for all prices } \pi

where :math:`\pi \ge 0` for workers and PSs and :math:`\pi \le 0` for the count of internal jobs
(a total may leave something out, and may count a job as internal that is not). Machines of a
kind are not told apart, slots neither: an inequality of one slot holds in all. A violated one is
found by column generation over patterns; its right-hand side is recomputed by
`best_pattern`, whose bound is proved, so the inequality holds whatever the LP's tolerance. Ours;
the idea is Dantzig and Wolfe's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
from numpy.typing import NDArray

from algorithms.training.exact.best_pattern import best_pattern
from algorithms.training.exact.machine_options import MachineOptions, machine_options
from models.solver import Engine
from models.training import TrainingInstance
from models.training.fit import machine_classes

__all__ = ["HullCut", "MachineHull", "machine_hull"]

MOST_OPTIONS = 4000  # of all jobs on a machine; beyond, a pattern takes too long to find
NODES = 1_000_000  # for one pattern
SLACK = 2e-4  # of a pattern's value, relative; what it costs in strength it saves in time
VIOLATED = 1e-6  # relative
ROUNDS = 300  # of column generation for one point

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class HullCut:
    """The inequality ``prices @ totals <= most``.

    Attributes
    ----------
    prices : array, shape (4, jobs)
        Of internal workers, internal jobs, external workers and external PSs.
    most : float
    violation : float
        By the point that it was found for, relative.
    """

    prices: Floats
    most: float
    violation: float


def machine_hull(instance: TrainingInstance, jobs: Sequence[int]) -> MachineHull | None:
    """Prepare the separation for an instance; None if its machines hold too many options."""
    kinds: list[tuple[int, MachineOptions]] = []
    for members in machine_classes(instance.capacity):
        options = machine_options(instance, jobs, instance.capacity[members[0]], MOST_OPTIONS)
        if options is None:
            return None
        kinds.append((len(members), options))
    return MachineHull(kinds, len(jobs))


class MachineHull:
    """Separates totals of a slot from all that can be packed; remembers the patterns it met.

    Parameters
    ----------
    kinds : list of (number of machines, their options)
    jobs : int

    Attributes
    ----------
    patterns : int
        Patterns computed.
    """

    def __init__(self, kinds: list[tuple[int, MachineOptions]], jobs: int) -> None:
        self.kinds, self.jobs, self.patterns = kinds, jobs, 0
        self._known: set[tuple[int, tuple[int, ...]]] = set()
        self._engine = _covering_program(jobs, [count for count, _ in kinds])
        for k, (_, options) in enumerate(kinds):
            self._add(k, [])
            for x in range(jobs):
                self._add_first(k, options, x)

    def separate(self, totals: Floats) -> HullCut | None:
        """Find an inequality that the totals violate.

        Parameters
        ----------
        totals : array, shape (4, jobs)
            In the order of `models.training.slot_totals.TOTALS`.

        Returns
        -------
        HullCut or None
            None where none was found: the totals are (nearly) a mixture of packable ones.
        """
        point = np.where(totals > 1e-9, totals, 0.0)
        sides = point.copy()
        sides[1] = -sides[1]
        # A little less is asked for, so that tolerances do not look like violations.
        rows = np.arange(4 * self.jobs, dtype=np.int32)
        self._engine.set_row_bounds(rows, sides.ravel() - 1e-9, np.inf)
        found: HullCut | None = None
        for _ in range(ROUNDS):
            result = self._engine.solve()
            if result.dual is None:  # some total does not fit at all: the model's bounds say so
                return found
            if result.objective <= 1 + VIOLATED:
                return found
            prices = np.maximum(result.dual[: 4 * self.jobs], 0.0).reshape(4, self.jobs)
            prices[1] = -prices[1]
            most, new = self._most(prices)
            if most > 0:
                violation = float((prices * point).sum()) / most - 1
                if violation > max(VIOLATED, found.violation if found else 0.0):
                    found = HullCut(prices / most, 1.0, violation)
            if not new:
                return found
        return found

    def _most(self, prices: Floats) -> tuple[float, bool]:
        """Bound of the prices' worth of a slot, and whether it brought new patterns."""
        total, new = 0.0, False
        for k, (count, options) in enumerate(self.kinds):
            x = options.job
            values = np.where(
                options.internal,
                prices[0, x] * options.workers + prices[1, x],
                prices[2, x] * options.workers + prices[3, x] * options.ps,
            )
            # What the duals say of the patterns that are there: none of them is worth more.
            known = max((float(values[list(one)].sum()) for one in self._of_kind(k)), default=0.0)
            scale = max(known, float(values.max(initial=0.0)))
            if scale <= 0:
                continue
            _, bound, choice = best_pattern(
                options.start,
                values / scale,
                options.use,
                options.room,
                known / scale,
                SLACK,
                NODES,
            )
            self.patterns += 1
            total += count * bound * scale
            taken = [int(o) for o in choice if o >= 0]
            new = (bool(taken) and self._add(k, taken)) or new
        return total * (1 + 1e-9), new

    def _of_kind(self, kind: int) -> list[tuple[int, ...]]:
        return [pattern for k, pattern in self._known if k == kind]

    def _add_first(self, kind: int, options: MachineOptions, x: int) -> None:
        """Patterns of one job alone, so that the program has a solution from the start."""
        mine = np.arange(options.start[x], options.start[x + 1])
        inside = mine[options.internal[mine]]
        outside = mine[~options.internal[mine]]
        if inside.size:
            self._add(kind, [int(inside[-1])])
        for key in (options.workers, options.ps):
            if outside.size:
                self._add(kind, [int(outside[np.argmax(key[outside])])])

    def _add(self, kind: int, pattern: list[int]) -> bool:
        """Add a pattern's column; False if it is there already."""
        key = (kind, tuple(sorted(pattern)))
        if key in self._known:
            return False
        self._known.add(key)
        options = self.kinds[kind][1]
        column = np.zeros((4, self.jobs))
        for o in pattern:
            x = options.job[o]
            if options.internal[o]:
                column[0, x] += options.workers[o]
                column[1, x] -= 1
            else:
                column[2, x] += options.workers[o]
                column[3, x] += options.ps[o]
        rows = np.flatnonzero(column)
        values = column.ravel()[rows]
        self._engine.add_columns(
            [0.0],
            0.0,
            np.inf,
            [np.append(rows, 4 * self.jobs + kind)],
            [np.append(values, -1.0)],
        )
        return True


def _covering_program(jobs: int, machines: Sequence[int]) -> Engine:
    """Least multiple of the machines whose patterns cover the totals; patterns are added later."""
    model: Any = pyo.ConcreteModel("patterns that cover a slot")
    model.multiple = pyo.Var(bounds=(0, None))
    model.nothing = pyo.Var(bounds=(0, 0))
    model.cover = pyo.Constraint(range(4 * jobs), rule=lambda m, _: m.nothing >= 0)
    model.machines = pyo.Constraint(
        range(len(machines)), rule=lambda m, k: machines[k] * m.multiple >= 0
    )
    model.least = pyo.Objective(expr=model.multiple)
    return Engine(model, options={"presolve": "off"})
