"""The audit of a training schedule, computed from the two files with its own arithmetic.

Nothing here calls the formulas that the algorithms use: rates, ceilings and utilities are
written out again, so that a mistake there is found here.
"""

from __future__ import annotations

import math
from collections import defaultdict

from models.audit import AuditReport, Violation, statement_differs
from models.files import InputError
from models.training.instance import Job, TrainingInstance
from models.training.schedule import JobSchedule, TrainingSchedule

__all__ = ["CONSTRAINTS", "audit"]

CONSTRAINTS = (
    "integer",
    "horizon",
    "arrival",
    "batch",
    "ratio",
    "capacity",
    "workload",
    "statement",
)
RELATIVE = 1e-6
ABSOLUTE = 1e-12
SIGN = 1e-9
COUNT = 1e-6  # absolute, for sums of counts that may be fractional in the file

Cells = dict[int, dict[str, list[float]]]  # slot -> machine -> [workers, PSs]


def audit(instance: TrainingInstance, schedule: TrainingSchedule) -> AuditReport:
    """Check every constraint of DMLRS and every stated number of a schedule.

    Parameters
    ----------
    instance : TrainingInstance
    schedule : TrainingSchedule

    Returns
    -------
    AuditReport
        With the objective recomputed; constraints are named as in `CONSTRAINTS`.

    Raises
    ------
    InputError
        If the schedule is not one of this instance: a job is missing or unknown, or a machine
        unknown.
    """
    _check_belongs(instance, schedule)
    outcomes = {outcome.name: outcome for outcome in schedule.jobs}
    found: list[Violation] = []
    use: dict[tuple[int, str, str], float] = defaultdict(float)
    objective = 0.0
    for job in instance.jobs:
        outcome = outcomes[job.name]
        cells = _cells(outcome)
        found += _integers(outcome)
        found += _slots(instance, job, cells)
        found += _batch_and_ratio(job, cells)
        for slot, machines in cells.items():
            for machine, (workers, ps) in machines.items():
                for resource in instance.resources:
                    use[slot, machine, resource] += workers * job.worker.get(
                        resource, 0.0
                    ) + ps * job.ps.get(resource, 0.0)
        utility, violations = _completion(instance, job, outcome, cells)
        found += violations
        objective += utility
    found += _capacity(instance, use)
    if statement_differs(schedule.objective, objective):
        found.append(Violation("statement", "objective", abs(schedule.objective - objective)))
    order = {name: k for k, name in enumerate(CONSTRAINTS)}
    return AuditReport(objective, tuple(sorted(found, key=lambda v: order[v.constraint])))


def _check_belongs(instance: TrainingInstance, schedule: TrainingSchedule) -> None:
    machines = {machine.name for machine in instance.machines}
    jobs = {job.name for job in instance.jobs}
    for j, outcome in enumerate(schedule.jobs):
        if outcome.name not in jobs:
            raise InputError(
                "is not a job of the instance", field=f"jobs[{j}].name", value=outcome.name
            )
        for k, item in enumerate(outcome.allocation):
            if item.machine not in machines:
                raise InputError(
                    "is not a machine of the instance",
                    field=f"jobs[{j}].allocation[{k}].machine",
                    value=item.machine,
                )
    missing = jobs - {outcome.name for outcome in schedule.jobs}
    if missing:
        raise InputError(
            "every job of the instance must be listed", field="jobs", value=min(missing)
        )


def _cells(outcome: JobSchedule) -> Cells:
    cells: Cells = {}
    for item in outcome.allocation:
        cell = cells.setdefault(item.slot, {}).setdefault(item.machine, [0.0, 0.0])
        cell[0] += item.workers
        cell[1] += item.ps
    return cells


def _integers(outcome: JobSchedule) -> list[Violation]:
    """Worker and PS counts are whole numbers and not negative."""
    found = []
    for k, item in enumerate(outcome.allocation):
        for label, count in (("workers", item.workers), ("ps", item.ps)):
            where = f"job {outcome.name}, allocation {k}, {label}"
            fraction = abs(count - round(count))
            if fraction > SIGN:
                found.append(Violation("integer", where, fraction))
            if count < -SIGN:
                found.append(Violation("integer", where, -float(count)))
    return found


def _slots(instance: TrainingInstance, job: Job, cells: Cells) -> list[Violation]:
    """Nothing runs outside the horizon, nor before the job's arrival (eq. 7)."""
    found = []
    for slot in sorted(cells):
        where = f"job {job.name}, slot {slot}"
        if slot < 0 or slot >= instance.slots:
            excess = -slot if slot < 0 else slot - instance.slots + 1
            found.append(Violation("horizon", where, float(excess)))
        if slot < job.arrival:
            found.append(Violation("arrival", where, float(job.arrival - slot)))
    return found


def _batch_and_ratio(job: Job, cells: Cells) -> list[Violation]:
    """At most F workers (eq. 4); at least one PS per gamma workers (eq. 2, D2)."""
    found = []
    for slot, machines in sorted(cells.items()):
        workers = math.fsum(cell[0] for cell in machines.values())
        ps = math.fsum(cell[1] for cell in machines.values())
        where = f"job {job.name}, slot {slot}"
        if workers > job.batch + COUNT:  # a count: no part of a large batch is forgiven
            found.append(Violation("batch", where, workers - job.batch))
        needed = math.ceil(workers / job.workers_per_ps - 1e-9)
        if ps < needed - COUNT:
            found.append(Violation("ratio", where, needed - ps))
    return found


def _capacity(
    instance: TrainingInstance, use: dict[tuple[int, str, str], float]
) -> list[Violation]:
    """No machine gives more of a resource than it has (eq. 5)."""
    capacities = {machine.name: machine.capacity for machine in instance.machines}
    found = []
    for (slot, machine, resource), amount in sorted(use.items()):
        capacity = capacities[machine].get(resource, 0.0)
        if amount > capacity * (1 + RELATIVE) + ABSOLUTE:
            where = f"machine {machine}, slot {slot}, {resource}"
            found.append(Violation("capacity", where, amount - capacity))
    return found


def _completion(
    instance: TrainingInstance, job: Job, outcome: JobSchedule, cells: Cells
) -> tuple[float, list[Violation]]:
    """The stated completion, utility and admission agree with what the allocation does (eq. 3)."""
    samples = 0.0
    last_slot: int | None = None
    for slot, machines in cells.items():
        if not 0 <= slot < instance.slots:
            continue
        workers = math.fsum(cell[0] for cell in machines.values())
        places = [name for name, cell in machines.items() if cell[0] > 0 or cell[1] > 0]
        bandwidth = job.bandwidth_internal if len(places) == 1 else job.bandwidth_external
        per_sample = job.sample_time + job.workers_per_ps / job.batch * 2 * job.gradient / bandwidth
        samples += workers / per_sample
        if workers > 0 and (last_slot is None or slot > last_slot):
            last_slot = slot
    needed = job.epochs * job.samples
    reached = last_slot is not None and samples >= needed * (1 - 1e-9)
    found = []
    where = f"job {job.name}"
    if outcome.completion is not None and not reached:
        found.append(Violation("workload", where, needed - samples))
    utility = 0.0
    if reached and last_slot is not None:
        duration = last_slot - job.arrival
        exponent = job.utility.decay * (duration - job.utility.target)
        # 1 / (1 + e^x) written so that neither sign of x overflows.
        share = (
            1 / (1 + math.exp(exponent))
            if exponent < 0
            else math.exp(-exponent) / (1 + math.exp(-exponent))
        )
        utility = job.utility.priority * share
    completion = last_slot if reached else None
    if outcome.completion != completion and (outcome.completion is None or reached):
        stated = -1 if outcome.completion is None else outcome.completion
        amount = abs(stated - (-1 if completion is None else completion))
        found.append(Violation("statement", f"{where}, completion", float(amount)))
    if statement_differs(outcome.utility, utility):
        found.append(Violation("statement", f"{where}, utility", abs(outcome.utility - utility)))
    if not outcome.admitted and outcome.allocation:
        found.append(Violation("statement", f"{where}, admitted", float(len(outcome.allocation))))
    return utility, found
