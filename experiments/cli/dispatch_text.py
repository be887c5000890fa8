"""What the command line says about dispatch instances and schedules."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from experiments.cli.families import Description
from experiments.cli.output import Table

if TYPE_CHECKING:
    from algorithms.policy import Run
    from models.dispatch import DispatchInstance, DispatchSchedule

__all__ = ["count", "describe", "outcome_table", "remarks"]


def describe(instance: DispatchInstance) -> Description:
    """Describe an instance: sizes, quantities with units, and which jobs are impossible."""
    impossible = [
        {"name": job.name, "why": why}
        for job, why in zip(instance.jobs, instance.why_impossible, strict=True)
        if why is not None
    ]
    sizes = {
        "nodes": instance.number_of_nodes,
        "jobs": instance.number_of_jobs,
        "units": sum(len(job.units) for job in instance.jobs),
        "possible": instance.number_of_jobs - len(impossible),
    }
    power = {"cap": instance.power_cap, "idle": instance.idle_power}
    queues = Counter(job.queue or "(none)" for job in instance.jobs)
    arrays = instance.arrays
    resources = [
        {
            "name": name,
            "total": float(arrays.total_capacity[r]),
            "largest_node": float(arrays.capacity[:, r].max()),
            "asked_by_all_jobs": float(arrays.job_demand[:, r].sum()),
        }
        for r, name in enumerate(instance.resources)
    ]
    quantities = [
        {"name": name, "unit": unit, **_spread(values)}
        for name, unit, values in (
            ("submit", "s", arrays.submit.tolist()),
            ("duration (estimate)", "s", arrays.duration.tolist()),
            ("expected wait", "s", arrays.expected_wait.tolist()),
            ("weight in the objective", "1", arrays.weight.tolist()),
            ("power above idle", "W", arrays.power.tolist()),
            ("units of a job", "units", [len(job.units) for job in instance.jobs]),
        )
    ]
    content = {
        "kind": instance.kind,
        **sizes,
        "power": power,
        "queues": dict(queues),
        "impossible": impossible,
        "resources": resources,
        "quantities": quantities,
        "infeasible": instance.why_infeasible or None,
    }
    cap = "none" if instance.power_cap is None else f"{instance.power_cap:g} W"
    sections: list[tuple[str, Table | str]] = [
        ("", ", ".join(f"{name}: {value}" for name, value in sizes.items())),
        ("", f"power cap: {cap}, idle system: {instance.idle_power:g} W"),
    ]
    if queues:
        sections.append(("", "queues: " + ", ".join(f"{n} {name}" for name, n in queues.items())))
    if resources:
        sections.append(("Resources", _records(resources)))
    sections.append(("Quantities", _records(quantities)))
    if impossible:
        sections.append(("Impossible jobs", _records(impossible)))
    return Description(content, sections, instance.why_infeasible)


def _spread(values: Sequence[float]) -> dict[str, float | None]:
    if not values:
        return {"least": None, "median": None, "most": None}
    return {"least": min(values), "median": statistics.median(values), "most": max(values)}


def _records(records: list[dict[str, Any]]) -> Table:
    columns = list(records[0])
    headings = [column.replace("_", " ") for column in columns]
    return Table(headings, [[record[column] for column in columns] for record in records])


def count(instance: DispatchInstance, schedule: DispatchSchedule) -> dict[str, int]:
    """Count started and impossible jobs, and those that waited; the makespan in seconds."""
    submits = {job.name: job.submit for job in instance.jobs}
    started = [job for job in schedule.jobs if job.start is not None]
    return {
        "jobs": len(schedule.jobs),
        "started": len(started),
        "impossible": len(schedule.jobs) - len(started),
        "waited": sum(job.start > submits[job.name] for job in started if job.start is not None),
        "makespan [s]": max((job.end for job in started if job.end is not None), default=0),
    }


def outcome_table(instance: DispatchInstance, run: Run) -> Table:
    """Tell for each job when and where it runs, how long it waited, or why it never runs."""
    reasons = _why_they_waited(run)
    rows = []
    for j, (job, why, outcome) in enumerate(
        zip(instance.jobs, instance.why_impossible, run.solution.jobs, strict=True)
    ):
        waited = None if outcome.start is None else outcome.start - job.submit
        nodes = Counter(outcome.nodes)
        where = ", ".join(f"{name} x{n}" if n > 1 else name for name, n in nodes.items())
        row = [outcome.name, job.queue, job.submit, outcome.start, outcome.end, waited]
        if reasons:
            row.append(reasons[j])
        rows.append([*row, where or f"impossible: {why}"])
    waits = ("waited", "for") if reasons else ("waited",)
    return Table(("job", "queue", "submit", "start", "end", *waits, "nodes"), rows)


def _why_they_waited(run: Run) -> list[str]:
    """Seconds that each job waited, by reason; empty for a plan, which has none."""
    if run.solution.mode != "simulated":
        return []
    from algorithms.dispatch.simulation import REASONS

    return [
        ", ".join(f"{name} {s}" for name, s in zip(REASONS, waited, strict=True) if s) or "-"
        for waited in run.log.waited.tolist()
    ]


def remarks(instance: DispatchInstance, run: Run) -> list[str]:
    """Tell what power the schedule draws; of a simulation, also how long jobs waited and why."""
    from models.dispatch import audit

    report = audit(instance, run.solution)
    cap = "no cap" if instance.power_cap is None else f"cap {instance.power_cap:g} W"
    lines = [f"peak power: {report.peak_power:g} W ({cap})"]
    if report.seconds_over_cap:
        lines.append(
            f"over the cap: {report.seconds_over_cap} s, {report.energy_over_cap / 3.6e6:.4g} kWh"
        )
    if run.solution.mode == "simulated":
        from algorithms.dispatch.simulation import REASONS

        log = run.log
        waited = zip(REASONS, log.waited.sum(axis=0).tolist(), strict=True)
        lines.append("waited for: " + ", ".join(f"{name} {s} s" for name, s in waited))
        shares = ", ".join(f"{name} {u:.1%}" for name, u in log.metrics.utilisation.items())
        lines.append(f"in use from the first submit to the last end: {shares}")
    return lines
