"""What the command line says about training instances and schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.cli.families import Description
from experiments.cli.output import Table

if TYPE_CHECKING:
    from algorithms.policy import Run
    from models.training import TrainingInstance, TrainingSchedule

__all__ = ["count", "describe", "outcome_table", "remarks"]

JOB_UNITS = {
    "arrival": "slot",
    "workload": "samples",
    "batch": "workers at once",
    "gradient": "MB",
    "sample_time": "slots",
    "workers_per_ps": "workers",
    "bandwidth_internal": "MB per slot",
    "bandwidth_external": "MB per slot",
    "priority": "utility",
    "decay": "1 per slot",
    "target": "slots",
    "slots_alone": "slots",
}


def describe(instance: TrainingInstance) -> Description:
    """Describe an instance: sizes, resources, the jobs' quantities, and what is impossible."""
    impossible = [
        {"name": job.name, "why": reach.why_impossible(job, instance.slots)}
        for job, reach in zip(instance.jobs, instance.reach, strict=True)
        if not reach.possible
    ]
    resources = [
        {
            "name": resource,
            "capacity": float(instance.capacity[:, r].sum()),
            "smallest_machine": float(instance.capacity[:, r].min()),
            "largest_machine": float(instance.capacity[:, r].max()),
            "largest_worker": float(instance.worker_demand[:, r].max(initial=0)),
            "largest_ps": float(instance.ps_demand[:, r].max(initial=0)),
        }
        for r, resource in enumerate(instance.resources)
    ]
    quantities = [
        {"name": name, "unit": JOB_UNITS[name], **_spread(values)}
        for name, values in _job_values(instance).items()
    ]
    sizes = {
        "slots": instance.slots,
        "machines": instance.number_of_machines,
        "jobs": instance.number_of_jobs,
        "possible": len(instance.possible_jobs),
    }
    content = {
        "kind": instance.kind,
        **sizes,
        "impossible": impossible,
        "resources": resources,
        "quantities": quantities,
    }
    sections: list[tuple[str, Table | str]] = [
        ("", ", ".join(f"{name}: {value}" for name, value in sizes.items())),
        ("Resources, each in its own unit", _records(resources)),
    ]
    if instance.jobs:
        sections.append(("Jobs", _records(quantities)))
    if impossible:
        sections.append(("Impossible, even alone on the empty cluster", _records(impossible)))
    return Description(content, sections)


def _job_values(instance: TrainingInstance) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {
        name: [
            getattr(job.utility if name in ("priority", "decay", "target") else job, name)
            for job in instance.jobs
        ]
        for name in JOB_UNITS
        if name != "slots_alone"
    }
    values["slots_alone"] = [
        reach.slots_needed for reach in instance.reach if reach.slots_needed is not None
    ]
    return values


def _spread(values: list[float]) -> dict[str, float | None]:
    if not values:
        return {"least": None, "median": None, "most": None}
    import statistics

    return {"least": min(values), "median": statistics.median(values), "most": max(values)}


def _records(records: list[dict[str, Any]]) -> Table:
    columns = list(records[0])
    headings = [column.replace("_", " ") for column in columns]
    return Table(headings, [[record[column] for column in columns] for record in records])


def count(instance: TrainingInstance, schedule: TrainingSchedule) -> dict[str, int]:
    """Count the jobs: all, completed, and the others by reason."""
    del instance
    counts = {
        "jobs": len(schedule.jobs),
        "completed": sum(job.completion is not None for job in schedule.jobs),
    }
    for job in schedule.jobs:
        if job.completion is None:
            reason = job.reason or "unfinished"
            counts[reason] = counts.get(reason, 0) + 1
    return counts


# What a policy's log may say of a job, and the heading here.
EXPLANATIONS = {
    "payoff": "payoff",
    "lps_solved": "LPs",
    "rounding_attempts": "draws",
    "waiting_slots": "waited",
    "seconds": "seconds",
    "explanation": "why",
}


def outcome_table(instance: TrainingInstance, run: Run) -> Table:
    """Tell for each job what it got or why not, and what the policy's log says of it."""
    decisions = {decision.name: decision for decision in getattr(run.log, "decisions", ())}
    explained = [
        name
        for name in EXPLANATIONS
        if decisions and all(hasattr(decision, name) for decision in decisions.values())
    ]
    jobs = {job.name: job for job in instance.jobs}
    rows = []
    for outcome in run.solution.jobs:
        slots = {item.slot for item in outcome.allocation}
        workers = [
            sum(item.workers for item in outcome.allocation if item.slot == slot) for slot in slots
        ]
        decision = decisions.get(outcome.name)
        rows.append(
            [
                outcome.name,
                jobs[outcome.name].arrival,
                outcome.completion,
                outcome.utility,
                outcome.reason or ("completed" if outcome.completion is not None else None),
                len(slots),
                max(workers, default=0),
                len({item.machine for item in outcome.allocation}),
                *(getattr(decision, name, None) for name in explained),
            ]
        )
    columns = ("job", "arrival", "completion", "utility", "outcome", "slots", "workers", "machines")
    return Table((*columns, *(EXPLANATIONS[name] for name in explained)), rows)


def remarks(_instance: TrainingInstance, run: Run) -> list[str]:
    """Give the dual certificate of a run that has prices."""
    if not hasattr(run.log, "log_prices"):
        return []
    from algorithms.training.theory.certificate import dual_certificate

    certificate = dual_certificate(run.solution, run.log)
    return [
        f"dual certificate: {certificate.primal:.6g} <= offline optimum <= "
        f"{certificate.dual:.6g} (final prices, greatest payoffs on the empty cluster)",
        f"not valid as a bound: {certificate.dual_of_paper:.6g}, from the payoffs that the "
        "policy itself met",
    ]
