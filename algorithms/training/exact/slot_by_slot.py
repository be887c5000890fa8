"""The exact method for small instances: whole totals per slot, then packing slot by slot.

The model of slot totals (`models.training.slot_totals`) leaves the machines out, so that equal
machines need no telling apart. Its optimum bounds the offline optimum; hull cuts bring it close.
Its solution is a schedule if every slot can be packed, which is a small question of its own. So,
in turns (logic-based Benders decomposition):

1. solve the model; its bound is a bound of the offline optimum;
2. with its completions kept, look for totals that are packable, as small as possible: each slot
   that is not gives a cut that holds in all slots;
3. packed: a schedule of that utility, which proves it optimal; none: forbid the completions,
   with fewer jobs and later slots as long as they surely cannot be met either (a *conflict*).

At first only the completions of the model are whole, which is solved fast and leaves most to the
conflicts; then all totals are.

A question that stays open (time) is set aside: its completions are forbidden for now, and the
bound is not allowed to fall below their utility until the question is answered. So the bound is
valid at every moment: it is the largest of what the model still allows and what was set aside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from algorithms.training.exact.machine_hull import MachineHull, machine_hull
from algorithms.training.exact.slot_cuts import SlotCuts
from models.solver import SolverError, Status
from models.training import TrainingInstance
from models.training.schedule import Placement
from models.training.slot_packing import SlotItem, SlotPacking, pack_slot

__all__ = ["SlotBySlot"]

ROOT_ROUNDS = 4  # of hull cuts for the LP
ROOT_SHARE = 0.15  # of the time
MODEL_SHARE = 0.8  # of the time left, for one model
GAP = 1e-9  # of the model's MIP, relative
FEW = 0.02  # relative gap at which totals count as small
FIRST_SHARE = 0.08  # of the time, for one choice of completions at first
PACK_SECONDS = 3.0  # for one slot
SHARPEN_SECONDS = 5.0  # for one conflict
ONE_QUESTION = 0.2  # second for one question while a conflict is sharpened
QUESTION_NODES = 1
NO_HEURISTICS = ("mip_heuristic_effort", 0.0)  # where only "infeasible" is of use
HEURISTICS = ("mip_heuristic_effort", 0.05)  # HiGHS's default
CONFLICT_SHARE = 0.5  # of the time, for conflicts before all totals are whole

Placements = dict[int, list[Placement]]


@dataclass
class _Aside:
    """Completions whose question stayed open."""

    bound: float
    completions: dict[int, int]
    rows: tuple[int, int]
    seconds: float


class SlotBySlot:
    """One proof: the model with its cuts, and what is known of packings.

    Parameters
    ----------
    instance : TrainingInstance
    last_slot : mapping of job index to slot
        Latest completion that is worth anything.
    scale : float
        Bounds are divided by this.
    left : callable () -> float
        Seconds left.

    Attributes
    ----------
    possible : bool
        False where machines hold too many patterns for this method.
    counters : dict of str to int
    """

    def __init__(
        self,
        instance: TrainingInstance,
        last_slot: Mapping[int, int],
        scale: float,
        left: Callable[[], float],
    ) -> None:
        self.instance, self.left = instance, left
        self.totals = SlotCuts(instance, last_slot, scale)
        hull = machine_hull(instance, self.totals.jobs)
        self.possible = hull is not None
        if hull is not None:
            self.hull: MachineHull = hull
        self.aside: list[_Aside] = []
        self.bound = np.inf
        self.whole = left()
        self.packings: dict[tuple[SlotItem, ...], SlotPacking] = {}
        self.counters = {
            "models of slot totals": 0,
            "packings": 0,
            "conflicts": 0,
            "conflict questions": 0,
        }

    def run(
        self,
        start: Callable[[], Placements],
        accept: Callable[[Placements], object],
        take_bound: Callable[[float], bool],
    ) -> None:
        """Work until the interval is closed or time is up.

        Parameters
        ----------
        start : callable () -> placements
            The best schedule so far.
        accept : callable (placements)
            Takes a schedule, or part of one.
        take_bound : callable (bound) -> bool
            Takes a bound, divided by the scale; True if the interval is closed.
        """
        try:
            self._root()
            if take_bound(self.bound):
                return
            while self.left() > 0:
                if not self._step(start(), accept) or take_bound(self._proved()):
                    return
        except SolverError:  # numbers that the solver refuses: what is proved is proved
            return
        finally:
            self.counters["cuts"] = self.totals.cuts
            self.counters["patterns"] = self.hull.patterns

    def _proved(self) -> float:
        return max([self.bound, *(item.bound for item in self.aside)])

    def _root(self) -> None:
        """Hull cuts for the LP, as long as they are violated and time allows."""
        end = (1 - ROOT_SHARE) * self.left()
        for _ in range(ROOT_ROUNDS):
            result = self.totals.linear.solve(time_limit=max(self.left(), 0.05))
            if np.isfinite(result.bound):
                self.bound = min(self.bound, result.bound)
            if result.primal is None or self.left() < end:
                return
            if not self._separate(result.primal, everywhere=False):
                return

    def _separate(self, primal: NDArray[np.float64], everywhere: bool) -> int:
        """Add the hull cuts that a point violates; returns in how many slots it does."""
        slots = self.totals.slots
        points = {t: self.totals.totals(primal, t) for t in slots}
        violated: set[int] = set()
        for t in slots:
            if t in violated or self.left() <= 0:
                continue
            cut = self.hull.separate(points[t])
            if cut is None:
                continue
            limit = cut.most * (1 + 1e-6)
            mine = [s for s in slots if (cut.prices * points[s]).sum() > limit]
            if not mine:
                continue
            violated.update(mine)
            self.totals.add_hull_cut(cut, slots if everywhere else mine)
        return len(violated)

    def _step(self, start: Placements, accept: Callable[[Placements], object]) -> bool:
        """Solve the model and settle its completions; False if there is nothing left to do."""
        early = self.left() > (1 - CONFLICT_SHARE) * self.whole
        worst = max(self.aside, key=lambda item: item.bound, default=None)
        if worst is not None and worst.bound >= self.bound and not (early and self.bound > 0):
            self.aside.remove(worst)
            self.totals.allow_completions(worst.rows)
            bound, self.bound = self.bound, worst.bound
            self._settle(worst.completions, 3 * worst.seconds, accept, best=True)
            self.bound = bound
            return True
        engine = self.totals.outer if early else self.totals.engine
        if not early:
            engine.set_solution(self.totals.point_of(start))
        result = engine.solve(
            time_limit=max(MODEL_SHARE * self.left(), 0.05), mip_gap=GAP, mip_gap_abs=GAP / 10
        )
        self.counters["models of slot totals"] += 1
        if result.status == Status.INFEASIBLE:
            self.bound = 0.0
            return True
        if np.isfinite(result.bound):
            self.bound = min(self.bound, result.bound)
        if result.primal is None or self.left() <= 0:
            return self.left() > 0
        completions = self.totals.completions(result.primal)
        if early:
            self._separate(result.primal, everywhere=False)
        if completions:
            self._settle(
                completions, FIRST_SHARE * self.whole, accept, best=result.status == Status.OPTIMAL
            )
        return bool(completions)

    def _settle(
        self,
        completions: dict[int, int],
        seconds: float,
        accept: Callable[[Placements], object],
        best: bool,
    ) -> None:
        """Find out whether completions can be met, and learn cuts on the way.

        To forbid completions forbids all that is better, too. If they cannot be met, neither can
        that. If they are met or it stays open, it takes that they are the model's `best`: what
        is better is then not in the model anyway, and the bound is theirs.
        """
        answer = self._meet(completions, min(seconds, self.left()), accept)
        if answer is False:
            self.totals.forbid_completions(self._sharpen(completions))
            self.counters["conflicts"] += 1
        elif best and answer:
            self.totals.forbid_completions(completions)
        elif best:
            rows = self.totals.forbid_completions(completions)
            self.aside.append(_Aside(self.bound, completions, rows, seconds))

    def _meet(
        self,
        completions: dict[int, int],
        seconds: float,
        accept: Callable[[Placements], object],
    ) -> bool | None:
        """Look for totals that are packable in every slot, the completions given."""
        engine = self.totals.engine
        end = self.left() - seconds
        costs = engine.program.costs.copy()
        self.totals.fix_completions(completions)
        engine.set_costs(np.arange(costs.size), 0.0)
        self._cost_of_use()
        try:
            while self.left() > max(end, 0.0):
                result = engine.solve(
                    "cold", time_limit=max(self.left() - max(end, 0.0), 0.05), mip_gap=FEW
                )
                self.counters["models of slot totals"] += 1
                if result.status == Status.INFEASIBLE:
                    return False
                if result.primal is None:
                    return None
                packed, placements = self._pack(result.primal)
                accept(placements)
                if packed:
                    return True
                if packed is None:
                    return None
            return None
        finally:
            engine.set_costs(np.arange(costs.size), costs)
            self.totals.fix_completions(None)

    def _sharpen(self, completions: Mapping[int, int]) -> dict[int, int]:
        """Drop jobs from a conflict and put its slots off, as long as it surely stays one."""
        conflict = dict(completions)
        end = self.left() - SHARPEN_SECONDS
        costs = self.totals.engine.program.costs.copy()
        self.totals.engine.set_costs(np.arange(costs.size), 0.0)
        self.totals.engine.set_option(*NO_HEURISTICS)
        for i in sorted(conflict, key=lambda i: -conflict[i]):
            without = {j: t for j, t in conflict.items() if j != i}
            if without and self._surely_not(without, end):
                conflict = without
        for i in list(conflict):
            low, high = conflict[i], self.totals.completion_slots[i][-1]
            question = high  # often the slot does not matter at all
            while low < high:
                if self._surely_not({**conflict, i: question}, end):
                    low = question
                else:
                    high = question - 1
                question = (low + high + 1) // 2
            conflict[i] = low
        self.totals.engine.set_costs(np.arange(costs.size), costs)
        self.totals.engine.set_option(*HEURISTICS)
        self.totals.fix_completions(None)
        return conflict

    def _surely_not(self, completions: Mapping[int, int], end: float) -> bool:
        """Whether a short search already shows that completions cannot be met."""
        if self.left() <= max(end, 0.0):
            return False
        self.totals.fix_completions(completions)
        self.counters["conflict questions"] += 1
        result = self.totals.engine.solve(
            "cold", time_limit=min(self.left(), ONE_QUESTION), node_limit=QUESTION_NODES
        )
        return result.status == Status.INFEASIBLE

    def _cost_of_use(self) -> None:
        """Make the objective the part of the cluster that the totals use, to be small."""
        instance, engine = self.instance, self.totals.engine
        share = 1.0 / np.maximum(instance.capacity.sum(axis=0), 1e-12)
        for x, i in enumerate(self.totals.jobs):
            worker = float((instance.worker_demand[i] * share).sum())
            ps = float((instance.ps_demand[i] * share).sum())
            inside = worker + ps / instance.jobs[i].workers_per_ps
            for row, cost in ((0, inside), (2, worker), (3, ps)):
                columns = self.totals.columns[:, row, x]
                engine.set_costs(columns[columns >= 0], -cost)

    def _pack(self, primal: NDArray[np.float64]) -> tuple[bool | None, Placements]:
        """Pack every slot; where that fails, add a cut.

        Returns
        -------
        packed : bool or None
            None if a slot stayed open.
        placements : dict of job index to placements
            Of the slots that were packed.
        """
        cut = self._separate(primal, everywhere=True) > 0
        placements: Placements = {}
        packed: bool | None = True
        for t in self.totals.slots:
            items = self.totals.items(primal, t)
            packing = self._packing(items)
            for i, h, workers, ps in packing.cells:
                placements.setdefault(i, []).append((t, h, workers, ps))
            if packing.fits is False:
                packed = False
                if not cut:
                    self.totals.forbid_items(self._smallest(items))
            elif packing.fits is None and packed:
                packed = None
        return (False if cut else packed), placements

    def _packing(self, items: tuple[SlotItem, ...]) -> SlotPacking:
        if items not in self.packings:
            self.counters["packings"] += 1
            seconds = min(PACK_SECONDS, max(self.left(), 0.05))
            self.packings[items] = pack_slot(self.instance, items, seconds)
        return self.packings[items]

    def _smallest(self, items: Sequence[SlotItem]) -> list[SlotItem]:
        """Leave out jobs and workers as long as the items surely do not fit."""
        kept = list(items)
        for item in list(kept):
            fewer = [other for other in kept if other is not item]
            if self._packing(tuple(fewer)).fits is False:
                kept = fewer
        for k, item in enumerate(kept):
            while kept[k].workers > 1:
                workers = kept[k].workers - 1
                ps = self.instance.jobs[item.job].ps_for(workers)
                less = kept[k]._replace(workers=workers, ps=ps)
                if self._packing((*kept[:k], less, *kept[k + 1 :])).fits is not False:
                    break
                kept[k] = less
        return kept
