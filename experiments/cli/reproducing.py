"""The command that computes the papers' figures again: reproduce."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.cli.output import Table, answers_only, emit, say
from models.files import InputError

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from experiments.declaration import Experiment
    from experiments.store import Key

__all__ = ["RESULTS", "Results", "processors", "reproduce"]

RESULTS = Path("results")

Results = Annotated[
    Path, typer.Option("--results", metavar="DIR", help="Folder of the results store.")
]


def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="FIGURE... | all", help="family/name, or name.")
    ] = None,
    list_them: Annotated[bool, typer.Option("--list", help="List the figures.")] = False,
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, help="Seeds per point. [default: 20]")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="Processes. [default: one per processor]"),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler", metavar="tcp://HOST:PORT", help="Run on this Dask cluster instead."
        ),
    ] = None,
    results: Results = RESULTS,
    arrivals: Annotated[
        Path | None,
        typer.Option("--arrivals", metavar="FILE", help="Draw arrivals from this trace."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small grid, to see it work.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be computed, and stop.")
    ] = False,
) -> int:
    """Compute a figure again: run what is missing, draw it, and compare it with the paper."""
    from experiments import registry
    from experiments.tasks import check_options

    everything = list_them and not names
    chosen = registry.select(["all"] if everything else names or [], registry.EXPERIMENTS)
    if list_them:
        emit(_listing(chosen))
        return 0
    if not names:
        raise InputError("name a figure, or all; --list shows them", source="FIGURE")
    options = _options(chosen, arrivals, all_of_them="all" in names)
    for experiment in chosen:
        if options[experiment.name]:
            check_options(experiment, quick=quick, options=options[experiment.name])
    if dry_run:
        emit(_plan(chosen, results, seeds, quick, options))
        return 0
    executors = _executors(workers, scheduler)
    return _reproduce(chosen, results, seeds, workers or processors(), executors, quick, options)


def _executors(workers: int | None, scheduler: str | None) -> Callable[[int], Executor]:
    """Return what makes executors: local processes, or connections to a cluster."""
    if scheduler is None:
        from experiments.pool import LocalPool

        return LocalPool
    if workers is not None:
        raise InputError("and --scheduler exclude each other", source="--workers", value=workers)
    from experiments.cluster import Cluster

    cluster = Cluster(scheduler)
    for remark in cluster.remarks():
        say(remark)
    return cluster


def processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _listing(experiments: Sequence[Experiment]) -> Table:
    rows = [
        (e.name, e.paper, e.summary, len(e.parameters()) * e.seeds, e.expected_seconds)
        for e in experiments
    ]
    return Table(("figure", "paper", "what", "tasks", "seconds"), rows)


def _options(
    experiments: Sequence[Experiment], arrivals: Path | None, all_of_them: bool
) -> dict[str, dict[str, Any]]:
    """Return the options of each experiment; ``all`` passes the trace to those that take one."""
    options: dict[str, dict[str, Any]] = {experiment.name: {} for experiment in experiments}
    if arrivals is None:
        return options
    if not arrivals.is_file():
        raise InputError("must be an existing file", source="--arrivals", value=str(arrivals))
    for experiment in experiments:
        if "arrivals" in experiment.options:
            options[experiment.name]["arrivals"] = arrivals.resolve()
        elif not all_of_them:
            raise InputError(
                "is for figures that draw arrivals, others",
                source="--arrivals",
                value=experiment.name,
            )
    return options


def _plan(
    experiments: Sequence[Experiment],
    results: Path,
    seeds: int | None,
    quick: bool,
    options: Mapping[str, Mapping[str, Any]],
) -> Table:
    from experiments.store import FILE_NAME, Store
    from experiments.tasks import tasks_of

    rows = []
    for e in experiments:
        tasks = set(tasks_of(e, seeds=seeds, quick=quick, options=options[e.name]))
        finished: set[Key] = set()
        if (results / FILE_NAME).exists():
            with Store.open(results, create=False) as store:
                finished = store.keys(e.stored_as, e.revision) & tasks
        whole = len(tasks_of(e, quick=quick)) or 1
        share = (len(tasks) - len(finished)) / whole
        rows.append(
            (
                e.name,
                len(tasks),
                len(finished),
                share * (e.quick_seconds if quick else e.expected_seconds),
            )
        )
    return Table(("figure", "tasks", "finished", "seconds left, one worker"), rows)


def _reproduce(
    experiments: Sequence[Experiment],
    results: Path,
    seeds: int | None,
    workers: int,
    executors: Callable[[int], Executor],
    quick: bool,
    options: Mapping[str, Mapping[str, Any]],
) -> int:
    from experiments.declaration import Context, resolve
    from experiments.store import Store
    from experiments.sweep import run_sweep
    from experiments.tasks import tasks_of

    code = 0
    with Store.open(results) as store:
        folder = results / "figures"
        for e in experiments:
            report = run_sweep(
                e,
                store,
                seeds=seeds,
                workers=workers,
                quick=quick,
                options=options[e.name],
                executor_factory=executors,
            )
            say(str(report))
            if report.interrupted:
                return report.exit_code
            code = max(code, report.exit_code)
            keys = tasks_of(e, seeds=seeds, quick=quick, options=options[e.name])
            used = len({key.seed for key in keys})
            figure = folder / f"{e.name.replace('/', '-')}{'-quick' if quick else ''}.svg"
            with answers_only():
                rows = store.rows(e.stored_as, e.revision, keys)
                judged = e.judge(rows)
                if len(rows):
                    figure.parent.mkdir(parents=True, exist_ok=True)
                    e.draw(rows, figure, Context(quick, used, options[e.name]))
                note = resolve(e.note)(rows) if e.note and len(rows) else ""
            emit(f"{e.name} ({'quick grid, ' if quick else ''}{used} seeds, {len(rows)} rows)")
            if len(rows):
                emit(f"  figure: {figure}")
            emit(f"  paper: {e.paper}")
            for claim, verdict in judged:
                emit(f"  claim: {claim.statement}")
                emit(f"  {verdict.status}: {verdict.text}")
            if note:
                emit(f"\n{note}")
    return code
