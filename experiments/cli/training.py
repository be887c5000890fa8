"""The training family on the command line."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.cli.families import Bounds, Description, Family, Generated
from experiments.cli.output import Table, say

if TYPE_CHECKING:
    from algorithms.policy import Policy, Run
    from models.audit import AuditReport
    from models.files import FileModel
    from models.training import TrainingInstance, TrainingSchedule

__all__ = ["TRAINING"]

WARM_START = "pdors"
WARM_SECONDS = 2.5e-4  # per job and slot squared: what a run of it takes, measured
WARM_SHARE = 0.25  # of the time limit that it may be expected to take, else it is left out
PROGRESS_SECONDS = 2.0


def _instance_model() -> type[FileModel]:
    from models.training import TrainingInstance

    return TrainingInstance


def _solution_model() -> type[FileModel]:
    from models.training import TrainingSchedule

    return TrainingSchedule


def _audit(instance: TrainingInstance, schedule: TrainingSchedule) -> AuditReport:
    from models.training import audit

    return audit(instance, schedule)


def _policies() -> Mapping[str, Policy]:
    from algorithms.training import POLICIES

    return POLICIES


def _generate(
    seed: int,
    *,
    jobs: Annotated[int, typer.Option(min=0, help="Number of jobs, I.")] = 10,
    slots: Annotated[int, typer.Option(min=1, help="Number of slots, T.")] = 10,
    machines: Annotated[int, typer.Option(min=1, help="Number of machines, H.")] = 4,
    preset: Annotated[
        str,
        typer.Option(
            metavar="calibrated|paper",
            help="calibrated: every job is possible alone; paper: as printed.",
        ),
    ] = "calibrated",
    mix: Annotated[
        str, typer.Option(metavar="default|google", help="How many jobs are time-sensitive.")
    ] = "default",
    arrivals: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Arrivals and classes from the Google trace (.csv or .csv.gz)."
        ),
    ] = None,
    locality: Annotated[
        float, typer.Option(help="Internal bandwidth over external, at least 1.")
    ] = 10.0,
) -> Generated:
    from models.training.generator import generate
    from models.training.google_table import read_arrivals

    generated = generate(
        jobs,
        slots,
        machines,
        preset=preset,
        mix=mix,
        arrivals=None if arrivals is None else read_arrivals(arrivals),
        locality=locality,
        seed=seed,
    )
    return Generated(generated.instance, generated.report.lines())


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


def _describe(instance: TrainingInstance) -> Description:
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


def _count(instance: TrainingInstance, schedule: TrainingSchedule) -> dict[str, int]:
    """Completed, impossible, and why the others were not completed."""
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
    "seconds": "seconds",
}


def _outcome_table(instance: TrainingInstance, run: Run) -> Table:
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


def _optimum(instance: TrainingInstance, time_limit: float, seed: int) -> Bounds:
    from algorithms.training import run
    from algorithms.training.optimum import optimum

    began = time.monotonic()
    start = None
    if WARM_SECONDS * instance.number_of_jobs * instance.slots**2 <= WARM_SHARE * time_limit:
        start = run(instance, WARM_START, seed=seed).solution
        say(f"starting from {WARM_START}'s schedule: {start.objective:.10g}")
    left = max(time_limit - (time.monotonic() - began), 0.0)
    found = optimum(instance, time_limit=left, start=start, seed=seed, progress=_Progress())
    return Bounds(
        found.status,
        float(found.lower),
        float(found.upper),
        found.schedule,
        time.monotonic() - began,
        (f"method: {found.method}",),
    )


class _Progress:
    """Tells how the interval shrinks, at most every few seconds."""

    def __init__(self) -> None:
        self.last = 0.0

    def __call__(self, lower: float, upper: float, seconds: float) -> None:
        if seconds >= self.last + PROGRESS_SECONDS:
            self.last = seconds
            say(f"{seconds:.0f} s: between {lower:.10g} and {upper:.10g}")


def _write_formulation(instance: TrainingInstance, path: Path) -> None:
    from experiments.formulation import write_formulation
    from models.training.dmlrs import build_dmlrs

    write_formulation(build_dmlrs(instance), path)


def _plot(instance: TrainingInstance, schedule: TrainingSchedule, path: Path) -> None:
    from experiments.training.gantt import plot_schedule

    plot_schedule(instance, schedule, path)


def _bench() -> Mapping[str, Any]:
    from experiments.training.bench import bench

    return bench()


TRAINING = Family(
    name="training",
    summary="Scheduling distributed training jobs in slots on machines (arXiv 2108.02917).",
    sense="max",
    objective="total utility",
    instance_model=_instance_model,
    solution_model=_solution_model,
    audit=_audit,
    policies=_policies,
    generate=_generate,
    describe=_describe,
    count=_count,
    outcome_table=_outcome_table,
    optimum=_optimum,
    write_formulation=_write_formulation,
    plot=_plot,
    bench=_bench,
)
