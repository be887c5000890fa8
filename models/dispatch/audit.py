"""The audit of a schedule, computed from the two files with its own arithmetic.

Nothing here calls the formulas or arrays that the algorithms use: queue times, uses of nodes and
power are written out again, by name, so that a mistake there is found here.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from models.audit import AuditReport, Violation, statement_differs
from models.dispatch.instance import DispatchInstance, Job
from models.dispatch.schedule import DispatchSchedule, JobSchedule
from models.files import InputError

__all__ = ["CONSTRAINTS", "DispatchAuditReport", "audit"]

CONSTRAINTS = ("units", "capacity", "power", "submit", "complete", "statement")
RELATIVE = 1e-6
ABSOLUTE = 1e-12


@dataclass(frozen=True)
class DispatchAuditReport(AuditReport):
    """An audit's findings, and what the power was.

    Attributes
    ----------
    peak_power : float
        Watts, idle nodes included; of a simulated schedule with the jobs' real power.
    seconds_over_cap : int
    energy_over_cap : float
        Joules above the cap.
    """

    peak_power: float = 0.0
    seconds_over_cap: int = 0
    energy_over_cap: float = 0.0

    def as_dict(self) -> dict[str, object]:
        """Return the content of ``audit --json``."""
        return {
            **super().as_dict(),
            "peak_power": self.peak_power,
            "seconds_over_cap": self.seconds_over_cap,
            "energy_over_cap": self.energy_over_cap,
        }


def audit(instance: DispatchInstance, schedule: DispatchSchedule) -> DispatchAuditReport:
    """Check nodes, capacities, power, submits, completeness and every number that is stated.

    Intervals are half-open: a job that ends at t leaves room for one that starts at t. A plan is
    audited with estimates, a simulated schedule with its real intervals; there, real power over
    the cap is reported and no violation.

    Returns
    -------
    DispatchAuditReport
        With objective (5.2) [s] over the started jobs recomputed; constraints are named as in
        `CONSTRAINTS`.

    Raises
    ------
    InputError
        If the schedule is not one of this instance: a job is missing or unknown.
    """
    _check_belongs(instance, schedule)
    outcomes = {outcome.name: outcome for outcome in schedule.jobs}
    simulated = schedule.mode == "simulated"
    found: list[Violation] = []
    uses: dict[str, list[tuple[int, int, Job, int]]] = defaultdict(list)
    draws: list[tuple[int, float]] = []
    longest = max((job.expected_wait for job in instance.jobs), default=1)
    waits = []
    nodes = {node.name for node in instance.nodes}
    for job, why in zip(instance.jobs, instance.why_impossible, strict=True):
        outcome = outcomes[job.name]
        found += _complete(job, outcome, why)
        if outcome.start is None:
            continue
        found += _times(job, outcome, simulated)
        found += _units(job, outcome, nodes)
        waits.append(longest / job.expected_wait * (outcome.start - job.submit))
        end = outcome.start + job.duration if outcome.end is None else outcome.end
        for k, name in enumerate(outcome.nodes[: len(job.units)]):
            uses[name].append((outcome.start, end, job, k))
        watts = job.real_power if simulated else job.power
        draws += [(outcome.start, watts), (end, -watts)] if end > outcome.start else []
    found += _capacity(instance, uses)
    idle = math.fsum(node.idle_power for node in instance.nodes)
    power, peak, over, energy = _power(instance, idle, draws, simulated)
    found += power
    objective = math.fsum(waits)
    if statement_differs(schedule.objective, objective):
        found.append(Violation("statement", "objective", abs(schedule.objective - objective)))
    order = {name: k for k, name in enumerate(CONSTRAINTS)}
    ordered = tuple(sorted(found, key=lambda v: order[v.constraint]))
    return DispatchAuditReport(
        objective, ordered, peak_power=peak, seconds_over_cap=over, energy_over_cap=energy
    )


def _check_belongs(instance: DispatchInstance, schedule: DispatchSchedule) -> None:
    jobs = {job.name for job in instance.jobs}
    for j, outcome in enumerate(schedule.jobs):
        if outcome.name not in jobs:
            raise InputError(
                "is not a job of the instance", field=f"jobs[{j}].name", value=outcome.name
            )
    missing = jobs - {outcome.name for outcome in schedule.jobs}
    if missing:
        raise InputError(
            "every job of the instance must be listed", field="jobs", value=min(missing)
        )


def _complete(job: Job, outcome: JobSchedule, why_impossible: str | None) -> list[Violation]:
    """Every possible job is started, every impossible one is not and says so."""
    where = f"job {job.name}"
    if outcome.start is None:
        found = []
        if why_impossible is None:
            found.append(Violation("complete", f"{where} is possible and not started", 1.0))
        elif outcome.reason is None:
            found.append(Violation("statement", f"{where} does not say why it never runs", 1.0))
        if outcome.end is not None or outcome.nodes:
            text = f"{where} has an end or nodes, but no start"
            found.append(Violation("statement", text, 1.0))
        return found
    found = []
    if why_impossible is not None:
        found.append(Violation("complete", f"{where} is started: {why_impossible}", 1.0))
    if outcome.reason is not None:
        found.append(Violation("statement", f"{where} is started and has a reason not to", 1.0))
    return found


def _times(job: Job, outcome: JobSchedule, simulated: bool) -> list[Violation]:
    """No start before the submit; the end is the estimated one, or the real one."""
    found = []
    start, where = outcome.start, f"job {job.name}"
    assert start is not None
    if start < job.submit:
        text = f"{where} starts at {start} s, submitted at {job.submit} s"
        found.append(Violation("submit", text, float(job.submit - start)))
    # A simulated job that outruns its estimate is killed then, or runs on: both are real.
    lengths = {job.real_duration, min(job.real_duration, job.duration)}
    ends = {start + length for length in lengths} if simulated else {start + job.duration}
    if outcome.end is None:
        found.append(Violation("statement", f"{where} has a start, but no end", 1.0))
    elif outcome.end not in ends:
        off = min(abs(outcome.end - end) for end in ends)
        text = f"{where} ends at {outcome.end} s instead of {max(ends)} s"
        found.append(Violation("statement", text, float(off)))
    return found


def _units(job: Job, outcome: JobSchedule, nodes: set[str]) -> list[Violation]:
    """Every unit has one node, and the system has that node."""
    found = []
    off = len(outcome.nodes) - len(job.units)
    if off:
        text = f"job {job.name}, {len(outcome.nodes)} nodes for {len(job.units)} units"
        found.append(Violation("units", text, float(abs(off))))
    for k, name in enumerate(outcome.nodes):
        if name not in nodes:
            text = f"job {job.name}, unit {k} on {name}, which is no node"
            found.append(Violation("units", text, 1.0))
    return found


def _capacity(
    instance: DispatchInstance, uses: dict[str, list[tuple[int, int, Job, int]]]
) -> list[Violation]:
    """On no node do the units that run at one time need more than there is."""
    found = []
    for node in instance.nodes:
        for resource in instance.resources:
            changes = []
            for start, end, job, k in uses[node.name]:
                amount = job.units[k].get(resource, 0.0)
                if amount and end > start:
                    changes += [(start, amount), (end, -amount)]
            capacity = node.capacity.get(resource, 0.0)
            used, when = _peak(changes)
            if used > capacity * (1 + RELATIVE) + ABSOLUTE:
                where = f"node {node.name}, {resource} at {when} s"
                found.append(Violation("capacity", where, used - capacity))
    return found


def _levels(changes: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
    """Time and level after all that happens then: ends count before starts."""
    levels: list[tuple[int, float]] = []
    level = 0.0
    for time, change in sorted(changes):
        level += change
        if levels and levels[-1][0] == time:
            levels[-1] = (time, level)
        else:
            levels.append((time, level))
    return levels


def _peak(changes: Iterable[tuple[int, float]]) -> tuple[float, int]:
    level, when = max(((level, -time) for time, level in _levels(changes)), default=(0.0, 0))
    return level, -when


def _power(
    instance: DispatchInstance, idle: float, draws: list[tuple[int, float]], simulated: bool
) -> tuple[list[Violation], float, int, float]:
    """Idle nodes and running jobs stay below the cap, at 0 and at every start."""
    levels = _levels(draws)
    peak, when = _peak(draws)
    peak, when = (idle + peak, when) if peak > 0 else (idle, 0)
    cap = instance.power_cap
    if cap is None:
        return [], peak, 0, 0.0
    limit = cap * (1 + RELATIVE) + ABSOLUTE
    seconds, energy = 0, 0.0
    for (time, level), (until, _) in itertools.pairwise(levels):
        if idle + level > limit:
            seconds += until - time
            energy += (idle + level - cap) * (until - time)
    found = []
    if idle > limit:
        found.append(Violation("power", "the idle system at 0 s", idle - cap))
    elif peak > limit and not simulated:
        found.append(Violation("power", f"system at {when} s", peak - cap))
    return found, peak, seconds, energy
