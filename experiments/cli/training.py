"""The training family on the command line."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.cli.families import Bounds, Family, Generated
from experiments.cli.output import say
from experiments.cli.training_text import count, describe, outcome_table, remarks

if TYPE_CHECKING:
    from algorithms.policy import Policy
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
    from models.google_table import read_arrivals
    from models.training.generator import generate

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


def _optimum(instance: TrainingInstance, time_limit: float, seed: int) -> Bounds:
    from algorithms.training import run
    from algorithms.training.exact.optimum import optimum

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
    describe=describe,
    count=count,
    outcome_table=outcome_table,
    optimum=_optimum,
    write_formulation=_write_formulation,
    plot=_plot,
    bench=_bench,
    remarks=remarks,
)
