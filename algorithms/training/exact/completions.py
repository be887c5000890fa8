"""Whether given completions can be met: the packing question behind the optimum.

Only the completion slots count in the objective of DMLRS. For a choice of jobs and slots by
which they are to be done, what remains is whether everything fits. If it does not, then neither
does a choice of more jobs, or of earlier slots: such a *conflict* is a cut for any relaxation
that has the completion binaries, as in combinatorial Benders decomposition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pyomo.environ as pyo

from models.solver import SolverError, Status, solve_model
from models.training import TrainingInstance, audit, build_schedule
from models.training.dmlrs import build_dmlrs
from models.training.point import decode
from models.training.pooled import build_pooled
from models.training.schedule import Placement

__all__ = ["Answer", "CompletionCheck", "add_conflict", "completions_of"]

Completions = Mapping[int, int]  # job index -> slot by which the job is to be done
CUT_NODES = 20  # branch-and-bound nodes for one question asked while a conflict is sharpened


@dataclass(frozen=True)
class Answer:
    """Whether completions can be met: True, False, or None where that stayed open."""

    feasible: bool | None
    placements: dict[int, list[Placement]] = field(default_factory=dict)


@dataclass
class CompletionCheck:
    """Answers the packing question for one instance, and sharpens conflicts.

    Attributes
    ----------
    instance : TrainingInstance
    counters : dict of str to int
        Models solved for questions and for cuts.
    """

    instance: TrainingInstance
    counters: dict[str, int] = field(default_factory=lambda: {"questions": 0, "cut questions": 0})

    def meet(self, completions: Completions, seconds: float) -> Answer:
        """Look for a schedule in which every job is done by its slot.

        Parameters
        ----------
        completions : mapping of job index to slot
        seconds : float
            Time limit.
        """
        if not completions:
            return Answer(True)
        self.counters["questions"] += 1
        if self._pooled_infeasible(completions, seconds / 4):
            return Answer(False)
        model = self._fixed(completions)
        try:
            result = solve_model(model, time_limit=max(seconds, 0.05), options=_EXACT)
        except SolverError:  # numbers that the solver refuses: open
            return Answer(None)
        if result.status == Status.INFEASIBLE:
            return Answer(False)
        if not result.has_solution:
            return Answer(None)
        result.load_into(model)
        placements = decode(model, self.instance)
        # The solver has a tolerance; what counts is the audit.
        schedule = build_schedule(self.instance, "optimum", placements)
        done = all(
            i in placements and max(place[0] for place in placements[i] if place[2]) <= slot
            for i, slot in completions.items()
        )
        if not done or not audit(self.instance, schedule).feasible:
            return Answer(None)
        return Answer(True, placements)

    def sharpen(
        self, completions: Completions, last_slot: Completions, time_left: Callable[[], float]
    ) -> dict[int, int]:
        """Drop jobs from a conflict and put its slots off, as long as it stays one.

        Parameters
        ----------
        completions : mapping of job index to slot
            Known to be infeasible.
        last_slot : mapping of job index to slot
            Latest completion worth anything.
        time_left : callable () -> float
            Seconds; nothing is asked when there are none.

        Returns
        -------
        dict of job index to slot
            A subset of the jobs with the same slots or later ones, still infeasible.
        """
        conflict = dict(completions)
        for i in sorted(conflict, key=lambda i: -conflict[i]):
            if len(conflict) > 1:
                without = {j: slot for j, slot in conflict.items() if j != i}
                if self._surely_infeasible(without, time_left()):
                    conflict = without
        for i in list(conflict):
            low, high = conflict[i], last_slot[i]
            question = high  # often the slot does not matter at all
            while low < high:
                if self._surely_infeasible({**conflict, i: question}, time_left()):
                    low = question
                else:
                    high = question - 1
                question = (low + high + 1) // 2
            conflict[i] = low
        return conflict

    def _surely_infeasible(self, completions: Completions, seconds: float) -> bool:
        if seconds <= 0:
            return False
        self.counters["cut questions"] += 1
        if self._pooled_infeasible(completions, min(seconds, 0.5)):
            return True
        try:
            result = solve_model(
                self._fixed(completions),
                time_limit=min(seconds, 1.0),
                node_limit=CUT_NODES,
                options=_EXACT,
            )
        except SolverError:
            return False
        return result.status == Status.INFEASIBLE

    def _pooled_infeasible(self, completions: Completions, seconds: float) -> bool:
        """Ask the pooled relaxation first: it is small, and often it is enough."""
        model = build_pooled(self.instance, last_slot=completions, whole_workers=True)
        if len(model.jobs) < len(completions):
            return True  # a job is to complete before it could alone
        for i, slot in completions.items():
            model.done[i, slot].fix(1)
        model.total_utility.deactivate()
        model.nothing = pyo.Objective(expr=0.0)
        try:
            result = solve_model(model, time_limit=max(seconds, 0.05), node_limit=CUT_NODES)
        except SolverError:
            return False
        return result.status == Status.INFEASIBLE

    def _fixed(self, completions: Completions) -> pyo.ConcreteModel:
        model = build_dmlrs(self.instance, last_slot=completions)
        for i, t in model.completions:
            model.completes[i, t].fix(int(completions[i] == t))
        model.total_utility.deactivate()
        model.nothing = pyo.Objective(expr=0.0)
        _order_equal_slots(model)
        return model


def _order_equal_slots(model: Any) -> None:
    """Slots in which the same jobs may run are ordered by the work done for one of them.

    With the completions fixed, such slots can be exchanged: nothing else tells them apart.
    """
    running: dict[int, list[int]] = defaultdict(list)
    for i, t in model.job_slots:
        running[t].append(i)
    classes: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for t, jobs in sorted(running.items()):
        classes[tuple(sorted(jobs))].append(t)
    workers: dict[tuple[int, int], list[Any]] = defaultdict(list)
    for variables in (model.internal_workers, model.external_workers):
        for i, h, t in variables:
            workers[i, t].append(variables[i, h, t])
    model.order_equal_slots = pyo.ConstraintList()
    for together, slots in classes.items():
        # The job with the most room for difference: the one that has the most workers at once.
        job = max(together, key=lambda i: sum(v.ub for v in workers[i, slots[0]]))
        if workers[job, slots[0]]:
            for earlier, later in pairwise(slots):
                model.order_equal_slots.add(sum(workers[job, earlier]) >= sum(workers[job, later]))


_EXACT: dict[str, Any] = {"mip_feasibility_tolerance": 1e-7}


def add_conflict(model: Any, conflict: Completions) -> None:
    """Forbid a conflict in the pooled relaxation: not all its jobs are done by their slots.

    Parameters
    ----------
    model : ConcreteModel
        From `build_pooled`.
    conflict : mapping of job index to slot
    """
    if not hasattr(model, "conflicts"):
        model.conflicts = pyo.ConstraintList()
    done = [model.done[i, t] for i, t in conflict.items() if (i, t) in model.done]
    if len(done) == len(conflict):  # otherwise a job cannot be done by then in any case
        model.conflicts.add(sum(done) <= len(conflict) - 1)


def completions_of(model: Any) -> dict[int, int]:
    """Read the slots in which jobs become done off a solved pooled relaxation."""
    chosen: dict[int, int] = {}
    for i, t in model.completions:  # in the order of slots
        if i not in chosen and round(model.done[i, t].value or 0.0) == 1:
            chosen[i] = t
    return chosen
