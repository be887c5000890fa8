"""The model of slot totals inside the solver, and the three kinds of cuts that it learns.

* A hull cut (`algorithms.training.exact.machine_hull`), found in one slot, holds in all.
* A packing that fails (`models.training.slot_packing`) though no hull cut says so: not all these
  jobs may have, in this mode, as many workers or more in one slot. It needs a binary for "as many
  or more" per job and slot.
* Completions that cannot be met: not all these jobs are done by these slots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from algorithms.training.exact.machine_hull import HullCut
from models.solver import Engine
from models.solver.compiled import compile_model
from models.training import TrainingInstance
from models.training.schedule import Placement
from models.training.slot_packing import SlotItem
from models.training.slot_totals import TOTALS, build_slot_totals

__all__ = ["SlotCuts"]

ROUNDING = 1e-7  # relative, by which a hull cut is loosened for the solver's tolerance
NO_PRICE = 1e-7  # relative to the largest of the cut


class SlotCuts:
    """Engines for the model of slot totals, one of them its LP, and cuts for both.

    Parameters
    ----------
    instance : TrainingInstance
    last_slot : mapping of job index to slot
        Latest completion that is worth anything.
    scale : float
        The objective is divided by this.

    Attributes
    ----------
    jobs : list of int
        Jobs of the model, in the order of the columns of totals.
    engine, outer, linear : Engine
        All whole, only completions whole, nothing whole. Hull cuts go to all of them, forbidden
        completions to the first two, forbidden items to the first.
    cuts : int
        Rows added.
    """

    def __init__(
        self, instance: TrainingInstance, last_slot: Mapping[int, int], scale: float
    ) -> None:
        self.instance = instance
        model = build_slot_totals(instance, last_slot=last_slot, scale=scale)
        compiled = compile_model(model)
        self.engine = Engine(compiled)
        whole = np.zeros_like(compiled.program.integer)
        self.linear = Engine(replace(compiled, program=replace(compiled.program, integer=whole)))
        whole = whole.copy()
        whole[compiled.columns(model.done)] = True
        self.outer = Engine(replace(compiled, program=replace(compiled.program, integer=whole)))
        self.jobs: list[int] = list(model.completion_slots)
        self.completion_slots: dict[int, range] = model.completion_slots
        self.slots = sorted({t for _, t in model.job_slots})
        self.cuts = 0
        self.done = dict(zip(model.completions, compiled.columns(model.done), strict=True))
        # Columns of the totals of each slot, -1 where the job cannot run.
        self.columns = np.full((instance.slots, 4, len(self.jobs)), -1, dtype=np.int64)
        place = {i: x for x, i in enumerate(self.jobs)}
        for n, name in enumerate(TOTALS):
            variable = getattr(model, name)
            for (i, t), column in zip(model.job_slots, compiled.columns(variable), strict=True):
                self.columns[t, n, place[i]] = column
        self.external = np.full((instance.slots, len(self.jobs)), -1, dtype=np.int64)
        for (i, t), column in zip(model.job_slots, compiled.columns(model.external), strict=True):
            self.external[t, place[i]] = column

    def totals(self, primal: NDArray[np.float64], slot: int) -> NDArray[np.float64]:
        """Return the totals of a slot, shape (4, jobs)."""
        columns = self.columns[slot]
        return np.where(columns >= 0, primal[columns], 0.0)

    def items(self, primal: NDArray[np.float64], slot: int) -> tuple[SlotItem, ...]:
        """Return what whole totals ask of a slot, with D2's parameter servers exactly."""
        totals = np.round(self.totals(primal, slot)).astype(int)
        found = []
        for x, i in enumerate(self.jobs):
            for row, internal in ((0, True), (2, False)):
                workers = int(totals[row, x])
                if workers > 0:
                    ps = self.instance.jobs[i].ps_for(workers)
                    found.append(SlotItem(i, internal, workers, ps))
        return tuple(found)

    def completions(self, primal: NDArray[np.float64]) -> dict[int, int]:
        """Return the slots in which jobs become done."""
        chosen: dict[int, int] = {}
        for (i, t), column in self.done.items():  # in the order of slots
            if i not in chosen and primal[column] > 0.5:
                chosen[i] = t
        return chosen

    def add_hull_cut(self, cut: HullCut, slots: Sequence[int]) -> None:
        """Add a hull cut in slots."""
        wanted = np.abs(cut.prices) > NO_PRICE * np.abs(cut.prices).max()
        # What is left out must not have helped: only a negative price does.
        wanted |= cut.prices < 0
        columns, values = [], []
        for t in slots:
            used = wanted & (self.columns[t] >= 0)
            if used.any():
                columns.append(self.columns[t][used])
                values.append(cut.prices[used])
        self._add_rows(columns, values, cut.most * (1 + ROUNDING))

    def forbid_items(self, items: Sequence[SlotItem]) -> None:
        """Forbid, in every slot, that all these jobs have so many workers or more."""
        place = {i: x for x, i in enumerate(self.jobs)}
        for t in self.slots:
            cells = [
                (int(self.columns[t, 0 if item.internal else 2, place[item.job]]), item.workers)
                for item in items
            ]
            if any(column < 0 for column, _ in cells):
                continue
            empty: list[Any] = [np.empty(0, dtype=np.int32)] * len(cells)
            as_many = self.engine.add_columns(
                np.zeros(len(cells)), 0.0, 1.0, empty, empty, np.ones(len(cells), dtype=bool)
            )
            upper = self.engine.program.upper
            for y, (column, workers) in zip(as_many, cells, strict=True):
                # workers - 1 without the binary, all that fit with it
                step = max(float(upper[column]) - workers + 1, 1.0)
                self.engine.add_rows(
                    -np.inf, workers - 1.0, [np.array([column, y])], [np.array([1.0, -step])]
                )
            self.engine.add_rows(-np.inf, len(cells) - 1.0, [as_many], [np.ones(len(cells))])
            self.cuts += 1

    def forbid_completions(self, completions: Mapping[int, int]) -> tuple[int, int]:
        """Forbid that all these jobs are done by these slots; returns the rows."""
        columns = np.array([self.done[i, t] for i, t in completions.items()])
        rows = [
            engine.add_rows(-np.inf, len(columns) - 1.0, [columns], [np.ones(len(columns))])
            for engine in (self.engine, self.outer)
        ]
        self.cuts += 1
        return int(rows[0][0]), int(rows[1][0])

    def allow_completions(self, rows: tuple[int, int]) -> None:
        """Take a forbidden choice of completions back."""
        for engine, row in zip((self.engine, self.outer), rows, strict=True):
            engine.set_row_bounds([row], -np.inf, np.inf)

    def fix_completions(self, completions: Mapping[int, int] | None) -> None:
        """Have exactly these jobs done, by these slots; None takes it back."""
        columns = np.array(list(self.done.values()))
        if completions is None:
            self.engine.set_column_bounds(columns, 0.0, 1.0)
            return
        fixed = [float(i in completions and t >= completions[i]) for i, t in self.done]
        self.engine.set_column_bounds(columns, fixed, fixed)

    def point_of(self, placements: Mapping[int, Sequence[Placement]]) -> dict[int, float]:
        """Return the whole columns' values of a schedule, as a point to start from."""
        whole = np.flatnonzero(self.engine.program.integer[: len(self.engine.compiled.variables)])
        point = dict.fromkeys(whole.tolist(), 0.0)
        for x, i in enumerate(self.jobs):
            places = placements.get(i, ())
            last = max((t for t, _, w, _ in places if w), default=-1)
            if last not in self.completion_slots[i]:
                continue
            for t in self.completion_slots[i]:
                if t >= last:
                    point[int(self.done[i, t])] = 1.0
            for t in {place[0] for place in places if place[2]}:
                cells = [place for place in places if place[0] == t and (place[2] or place[3])]
                workers = sum(place[2] for place in cells)
                columns = self.columns[t, :, x]
                if len({place[1] for place in cells}) == 1:
                    point[int(columns[0])], point[int(columns[1])] = float(workers), 1.0
                else:
                    point[int(columns[2])] = float(workers)
                    point[int(columns[3])] = float(self.instance.jobs[i].ps_for(workers))
                    point[int(self.external[t, x])] = 1.0
        return point

    def _add_rows(self, columns: Any, values: Any, upper: float) -> None:
        for engine in (self.engine, self.outer, self.linear):
            engine.add_rows(-np.inf, upper, columns, values)
        self.cuts += len(columns)
