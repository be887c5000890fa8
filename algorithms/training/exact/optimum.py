"""The offline optimum: an interval that is proved to hold it, with the schedule of its lower end.

Arrivals are known. Three parts work in turns until the interval closes or time is up:

* search: list scheduling with ruin and recreate, then exact improvement of a few jobs at a time
  by the compact model (`models.training.dmlrs`);
* bound: the pooled relaxation (`models.training.pooled`), whose best completions are the most
  that any schedule could hope for;
* proof: whether those completions can be met (`algorithms.training.exact.completions`). If so, that
  is the optimum. If not, the conflict is sharpened, forbidden, and the bound falls.

Where the compact model would be too large (a full-size cluster) the first two give an interval:
the search is then compiled and follows the prices of the relaxation
(`algorithms.training.exact.full_size_search`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from algorithms.training.exact.completions import CompletionCheck, add_conflict, completions_of
from algorithms.training.exact.full_size_search import FullSizeSearch, compiled_before
from algorithms.training.exact.list_scheduling import FreeCapacity
from algorithms.training.exact.local_search import ruin_and_recreate
from algorithms.training.exact.neighbourhood import improve_jobs
from algorithms.training.exact.pooled_bound import linear_part
from algorithms.training.exact.slot_by_slot import SlotBySlot
from models.solver import Engine, SolverError, Status
from models.training import (
    TrainingInstance,
    TrainingSchedule,
    audit,
    build_schedule,
    placements_of,
)
from models.training.dmlrs import build_dmlrs, model_size
from models.training.point import decode, encode, finished
from models.training.pooled import build_pooled
from models.training.schedule import Placement

__all__ = ["Optimum", "optimum"]

CLAIMED = 1e-6  # relative width at which the interval counts as closed
SOUGHT = 1e-8  # relative width at which the search stops (D11)
NEGLIGIBLE = 1e-9  # utilities this small beside the largest are bounded, not modelled
DIRECT_SHARE = 0.4  # of the time, for the compact model when it comes first
DIRECT_SIZE = 60  # (job, machine, slot) triples up to which the compact model comes first
COMPACT_SIZE = 4000  # ... up to which it is used at all
PART_SIZE = 600  # ... for improving a part of the jobs
SECONDS_PER_JOB_SLOT = 3e-4  # building and compiling the pooled relaxation, measured
PART_SECONDS = 2.0  # for improving one part
FIRST_SEARCH = 0.2  # of the time at full size, for the first search
LAST_SEARCH = 0.4  # ... and kept for the last one
COMPILE_SECONDS = 60.0  # time limit from which the full-size search may have to be compiled first
FIRST_QUESTION = 1.5  # seconds for one packing question, at first

Progress = Callable[[float, float, float], None]
Placements = dict[int, list[Placement]]


@dataclass(frozen=True)
class Optimum:
    """An interval that holds the offline optimum.

    Attributes
    ----------
    status : {"optimal", "bounded"}
        Optimal iff upper - lower is at most 1e-6 of upper.
    lower, upper : float
        `lower` is the objective of `schedule`, recomputed and audited; `upper` is proved.
    schedule : TrainingSchedule
    seconds : float
    method : str
        What closed the interval, or gave its upper end: "nothing to do", "alone" (every job as
        early as it could alone), "pooled", "completions" (pooled with conflicts) or "compact".
    counters : dict of str to int
    log : tuple of str
        What moved the interval, in order.
    """

    status: Literal["optimal", "bounded"]
    lower: float
    upper: float
    schedule: TrainingSchedule
    seconds: float
    method: str
    counters: dict[str, int] = field(default_factory=dict)
    log: tuple[str, ...] = ()


def optimum(
    instance: TrainingInstance,
    *,
    time_limit: float = 60.0,
    start: TrainingSchedule | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Optimum:
    """Find the offline optimum of DMLRS, or an interval that holds it.

    Parameters
    ----------
    instance : TrainingInstance
    time_limit : float
        Seconds, building models included.
    start : TrainingSchedule, optional
        A schedule to start from, such as an online policy's. Its finished jobs are used if it
        passes the audit.
    seed : int
        For the search; the interval is proved whatever the seed.
    progress : callable (lower, upper, seconds), optional
        Called whenever the interval shrinks.

    Returns
    -------
    Optimum

    Raises
    ------
    InputError
        If `start` names jobs or machines that the instance does not have.
    """
    search = _Search(instance, time_limit, seed, progress)
    if start is not None:
        search.begin_with(start)
    search.run()
    return search.answer()


@dataclass
class _Open:
    """Completions whose packing question stayed open, and how long it was asked."""

    bound: float
    completions: dict[int, int]
    seconds: float


class _Search:
    """State of one search: the interval, the best schedule, the clock."""

    def __init__(
        self,
        instance: TrainingInstance,
        time_limit: float,
        seed: int,
        progress: Progress | None,
    ) -> None:
        self.began = time.monotonic()
        self.time_limit = time_limit
        self.instance, self.progress = instance, progress
        self.rng = np.random.Generator(np.random.PCG64(seed))
        self.counters: dict[str, int] = {}
        self.log: list[str] = []
        self.method = "nothing to do"
        self.placements: Placements = {}
        self.schedule = build_schedule(instance, "optimum", {})
        self.last_slot, self.scale, self.omitted = _worthwhile(instance)
        self.alone = sum(
            instance.jobs[i].utility.value(_earliest(instance, i) - instance.jobs[i].arrival)
            for i in instance.possible_jobs
        )
        self.upper = self.alone
        if self.alone > 0:
            self.method = "alone"
        self.check = CompletionCheck(instance)

    # The clock and the interval

    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.began

    def left(self) -> float:
        """Seconds left."""
        return self.time_limit - self.seconds()

    @property
    def lower(self) -> float:
        """Objective of the best schedule."""
        return self.schedule.objective

    def closed(self) -> bool:
        """Whether the interval is as narrow as is asked of it."""
        return self.upper - self.lower <= SOUGHT * self.upper

    def lower_upper(self, bound: float, method: str) -> None:
        """Take note of a proved bound (in the units of the objective)."""
        bound = max(bound, self.lower)  # the audit is right, a solver's bound has a tolerance
        if bound < self.upper:
            shrunk = self.upper - bound > SOUGHT * self.upper
            self.upper, self.method = bound, method
            if shrunk:
                self._note(f"upper end {bound:.10g}: {method}")

    def accept(self, placements: Mapping[int, Sequence[Placement]], origin: str) -> bool:
        """Keep a schedule if it is better and passes the audit; first use what room is left."""
        kept = {
            i: list(places)
            for i, places in placements.items()
            if places and finished(self.instance.jobs[i], places)
        }
        free = FreeCapacity.after(self.instance, kept)
        for i in self.instance.possible_jobs:
            if i not in kept:
                last = free.earliest_completion(i, self.instance.slots - 1)
                found = None if last is None else free.find(i, last)
                if found is not None:
                    free.put(i, found)
        for candidate in (free.placed, kept):
            schedule = build_schedule(self.instance, "optimum", candidate)
            if schedule.objective <= self.lower:
                continue
            if audit(self.instance, schedule).feasible:
                self.schedule, self.placements = schedule, dict(candidate)
                self.upper = max(self.upper, self.lower)
                self._note(f"lower end {self.lower:.10g}: {origin}")
                return True
        return False

    def _note(self, text: str) -> None:
        self.log.append(f"{self.seconds():.2f} s: {text}")
        if self.progress is not None:
            self.progress(self.lower, self.upper, self.seconds())

    def count(self, what: str, times: int = 1) -> None:
        """Count an event."""
        self.counters[what] = self.counters.get(what, 0) + times

    # The parts

    def begin_with(self, start: TrainingSchedule) -> None:
        """Take over the finished jobs of a given schedule."""
        placements = placements_of(self.instance, start)
        if not audit(self.instance, start).feasible:
            self._note("the given schedule fails the audit and is not used")
            return
        self.accept(placements, "the given schedule")

    def run(self) -> None:
        """Work until the interval is closed or time is up."""
        if self.closed() or not self.last_slot:
            if not self.last_slot:
                self.lower_upper(self.omitted, "nothing to do")
            return
        size = model_size(self.instance)
        small = size <= COMPACT_SIZE
        if not small and (self.time_limit >= COMPILE_SECONDS or compiled_before()):
            self._full_size()
            return
        self._ruin_and_recreate(60 if small else 200, 0.05 if small else 0.2)
        if not self.closed() and size <= DIRECT_SIZE:
            self._compact(DIRECT_SHARE * self.time_limit)
        if not self.closed() and not (small and self._slot_by_slot()):
            self._bound_and_prove(small)
        if not self.closed() and not small:
            self._ruin_and_recreate(10**9, 1.0)

    def _full_size(self) -> None:
        """LP, search along its prices, branching for the bound, search again."""
        linear = linear_part(self.instance, self.last_slot, self.scale, self.left())
        self._take_bound(linear.bound, "pooled")
        search = FullSizeSearch(self.instance, self.last_slot, self.rng)

        def improve(until: float) -> None:
            began = self.seconds()

            def progress(value: float) -> float:
                if value >= self.upper * (1 - SOUGHT):
                    return 1.0
                return (self.seconds() - began) / max(until - began, 1e-9)

            if not self.closed() and until > began:
                found = search.improve(self.placements, linear.price, progress)
                self.accept(found, "search along prices")

        improve(FIRST_SEARCH * self.time_limit)
        if not self.closed():
            self._bound_and_prove(small=False)
        improve(self.time_limit)
        self.count("rounds of ruin and recreate", search.rounds)

    def _ruin_and_recreate(self, rounds: int, share: float) -> None:
        end = self.seconds() + share * self.time_limit

        def go_on(done: int, value: float) -> bool:
            self.count("rounds of ruin and recreate")
            return (
                done < rounds
                and self.seconds() < min(end, self.time_limit)
                and value < self.upper * (1 - SOUGHT)
            )

        if self.left() <= 0:
            return
        found = ruin_and_recreate(self.instance, self.placements, self.last_slot, self.rng, go_on)
        self.accept(found, "ruin and recreate")

    def _compact(self, seconds: float) -> None:
        """The compact model as a whole."""
        model = build_dmlrs(self.instance, last_slot=self.last_slot, scale=self.scale)
        encode(model, self.instance, self.placements)
        result = self._solve(model, min(seconds, self.left()), warm=True)
        if result is None:
            return
        self.count("compact models")
        if result.has_solution:
            result.load_into(model)
            self.accept(decode(model, self.instance), "compact")
        self._take_bound(result.bound, "compact")

    def _slot_by_slot(self) -> bool:
        """Totals per slot, packed slot by slot; False where that method does not apply."""
        method = SlotBySlot(self.instance, self.last_slot, self.scale, self.left)
        if not method.possible:
            return False

        def take_bound(bound: float) -> bool:
            self._take_bound(bound, "slot by slot")
            return self.closed()

        method.run(
            lambda: self.placements,
            lambda placements: self.accept(placements, "slot by slot"),
            take_bound,
        )
        for what, times in method.counters.items():
            self.count(what, times)
        return True

    def _improve_part(self, jobs: int, seconds: float) -> None:
        """Place a few jobs anew, exactly."""
        # The first by what it falls short of its best, the others at random.
        short = np.array([self._shortfall(i) for i in self.last_slot])
        order = np.argsort(-short * self.rng.random(len(short)), kind="stable")
        candidates = np.array(list(self.last_slot))
        others = self.rng.permutation(candidates[order[1:]])
        chosen = [int(candidates[order[0]]), *(int(i) for i in others[: jobs - 1])]
        part = sum(self.instance.slots - self.instance.jobs[i].arrival for i in chosen)
        while len(chosen) > 1 and part * self.instance.number_of_machines > PART_SIZE:
            i = chosen.pop()
            part -= self.instance.slots - self.instance.jobs[i].arrival
        self.count("parts improved exactly")
        found = improve_jobs(
            self.instance, self.placements, chosen, self.last_slot, min(seconds, self.left())
        )
        if found is not None:
            self.accept(found, "exact improvement of a part")

    def _shortfall(self, i: int) -> float:
        """Utility that job i misses beside its best, relative to the largest of all."""
        utility = self.instance.jobs[i].utility
        best = utility.value(_earliest(self.instance, i) - self.instance.jobs[i].arrival)
        return (best - self.schedule.jobs[i].utility) / self.scale + NEGLIGIBLE

    def _solve(self, model: Any, seconds: float, warm: bool = False) -> Any:
        """Solve to the end or the time limit, from the variables' values if `warm`."""
        if seconds <= 0:
            return None
        try:
            engine = Engine(model)
            if warm:
                values = [variable.value for variable in engine.compiled.variables]
                engine.set_solution(np.array(values, dtype=float))
            return engine.solve(time_limit=seconds, mip_gap=SOUGHT / 10, mip_gap_abs=SOUGHT / 100)
        except SolverError as error:
            self.log.append(f"{self.seconds():.2f} s: {error}")
            return None

    def _take_bound(self, bound: float, method: str) -> None:
        """Take over a solver's bound: undo the scale, add what was not modelled."""
        if np.isfinite(bound):
            self.lower_upper(bound * self.scale + self.omitted, method)

    def _bound_and_prove(self, small: bool) -> None:
        """Pooled relaxation, packing questions and conflicts; the search in between."""
        job_slots = sum(
            last + 1 - self.instance.jobs[i].arrival for i, last in self.last_slot.items()
        )
        if job_slots * SECONDS_PER_JOB_SLOT > self.left():
            return
        model = build_pooled(self.instance, last_slot=self.last_slot, scale=self.scale)
        pending: list[_Open] = []
        bound, step = np.inf, 0
        began = self.seconds()
        searched = 0.0  # half of the time goes to the lower end
        while self.left() > 0 and not self.closed():
            step += 1
            turn = self.seconds()
            worst = max(pending, key=lambda item: item.bound, default=None)
            if worst is not None and step % 3 == 0 and worst.bound >= bound * (1 - SOUGHT):
                pending.remove(worst)
                self._ask(model, worst, pending)
            elif small and searched < 0.5 * (turn - began) and len(self.last_slot) > 1:
                self._improve_part(2 + step % 3, PART_SECONDS)
                searched += self.seconds() - turn
            else:
                kept = 0.0 if small else LAST_SEARCH * self.time_limit
                result = self._solve(model, self.left() - kept)
                if result is None:
                    return
                self.count("pooled relaxations")
                if result.status == Status.INFEASIBLE:
                    bound = 0.0
                elif np.isfinite(result.bound):
                    bound = min(bound, result.bound)
                # Only the best completions may be forbidden with all that contains them: what
                # was cut off by the time limit, perhaps nothing at all, says too little.
                proved = result.status == Status.OPTIMAL
                if small and proved and bound * self.scale > self.lower:
                    result.load_into(model)
                    chosen = completions_of(model)
                    if chosen:
                        self._ask(model, _Open(bound, chosen, 0.0), pending)
                    else:  # nothing is worth more than the tolerance
                        small = False
            pending = [item for item in pending if item.bound * self.scale > self.lower]
            asked = self.check.counters["questions"] > 1
            worst_open = max([bound, *(item.bound for item in pending)])
            self._take_bound(worst_open, "completions" if asked else "pooled")
            if not small:
                return
            if bound * self.scale + self.omitted <= self.lower and not pending:
                return

    def _ask(self, model: Any, item: _Open, pending: list[_Open]) -> None:
        """Ask whether completions can be met; forbid them if not, or until it is known."""
        seconds = min(FIRST_QUESTION if item.seconds == 0 else 3 * item.seconds, self.left())
        answer = self.check.meet(item.completions, seconds)
        if answer.feasible:
            self.accept(answer.placements, "completions met")
            # Found, so nothing is left to look for among these completions.
            add_conflict(model, item.completions)
        elif answer.feasible is False:
            end = self.seconds() + 2.0
            conflict = self.check.sharpen(
                item.completions,
                self.last_slot,
                lambda: min(self.left(), end - self.seconds()),
            )
            add_conflict(model, conflict)
        else:
            pending.append(_Open(item.bound, item.completions, item.seconds + seconds))
            if item.seconds == 0:
                add_conflict(model, item.completions)

    def answer(self) -> Optimum:
        """Return the interval as it stands."""
        upper = max(self.upper, self.lower)
        optimal = upper - self.lower <= CLAIMED * upper
        return Optimum(
            status="optimal" if optimal else "bounded",
            lower=self.lower,
            upper=upper,
            schedule=self.schedule,
            seconds=self.seconds(),
            method=self.method,
            counters={**self.counters, **self.check.counters},
            log=tuple(self.log),
        )


def _earliest(instance: TrainingInstance, i: int) -> int:
    """Slot in which job i could be done alone on the empty cluster, at the earliest (D5)."""
    needed = instance.reach[i].slots_needed
    assert needed is not None
    return instance.jobs[i].arrival + needed - 1


def _worthwhile(instance: TrainingInstance) -> tuple[dict[int, int], float, float]:
    """Latest completion of each job that is worth modelling.

    Returns
    -------
    last_slot : dict of job index to slot
        Jobs whose best utility is not negligible beside the largest of all.
    scale : float
        The largest utility that a job could have alone, which is no more than the optimum.
    omitted : float
        Upper bound of the utility that completions left out could add.
    """
    best = {
        i: instance.jobs[i].utility.value(_earliest(instance, i) - instance.jobs[i].arrival)
        for i in instance.possible_jobs
    }
    scale = max(best.values(), default=0.0)
    threshold = NEGLIGIBLE / max(1, len(best)) * scale
    last_slot: dict[int, int] = {}
    omitted = 0.0
    for i in best:
        job = instance.jobs[i]
        slots = range(_earliest(instance, i), instance.slots)
        worth = [t for t in slots if job.utility.value(t - job.arrival) > threshold]
        if worth:
            last_slot[i] = worth[-1]
        if len(worth) < len(slots):
            first_left_out = worth[-1] + 1 if worth else slots[0]
            omitted += job.utility.value(first_left_out - job.arrival)
    return last_slot, scale, omitted
