"""Commands over experiments: reproduce, claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.cli.options import AsJson
from experiments.cli.output import Table, answers_only, emit, emit_json, say
from models.files import InputError

if TYPE_CHECKING:
    from experiments.declaration import Experiment, Verdict
    from experiments.store import Key, Store

__all__ = ["claims", "reproduce"]

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
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes.")] = 1,
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

    everything = list_them and not names
    chosen = registry.select(["all"] if everything else names or [], registry.EXPERIMENTS)
    if list_them:
        emit(_listing(chosen))
        return 0
    if not names:
        raise InputError("name a figure, or all; --list shows them", source="FIGURE")
    options = _options(chosen, arrivals, all_of_them="all" in names)
    if dry_run:
        emit(_plan(chosen, results, seeds, quick, options))
        return 0
    return _reproduce(chosen, results, seeds, workers, quick, options)


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
                finished = store.keys(e.name, e.revision) & tasks
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
    quick: bool,
    options: Mapping[str, Mapping[str, Any]],
) -> int:
    from experiments.declaration import Context
    from experiments.store import Store
    from experiments.sweep import run_sweep
    from experiments.tasks import tasks_of

    code = 0
    with Store.open(results) as store:
        folder = results / "figures"
        for e in experiments:
            report = run_sweep(
                e, store, seeds=seeds, workers=workers, quick=quick, options=options[e.name]
            )
            say(str(report))
            if report.interrupted:
                return report.exit_code
            code = max(code, report.exit_code)
            keys = tasks_of(e, seeds=seeds, quick=quick, options=options[e.name])
            used = len({key.seed for key in keys})
            figure = folder / f"{e.name.replace('/', '-')}{'-quick' if quick else ''}.svg"
            with answers_only():
                rows = store.rows(e.name, e.revision, keys)
                verdict = e.judge(rows)
                if len(rows):
                    figure.parent.mkdir(parents=True, exist_ok=True)
                    e.draw(rows, figure, Context(quick, used, options[e.name]))
            emit(f"{e.name} ({'quick grid, ' if quick else ''}{used} seeds, {len(rows)} rows)")
            if len(rows):
                emit(f"  figure: {figure}")
            emit(f"  paper: {e.paper}")
            emit(f"  {verdict.status}: {verdict.text}")
    return code


def claims(
    family: Annotated[str | None, typer.Argument(metavar="[FAMILY]")] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 unless every claim is reproduced.")
    ] = False,
    as_json: AsJson = False,
    results: Results = RESULTS,
) -> int:
    """Show which of the papers' claims the stored results reproduce.

    A claim is judged on the full grid with all seeds that its experiment declares, or more.
    """
    from experiments.registry import EXPERIMENTS

    families = sorted({experiment.family for experiment in EXPERIMENTS.values()})
    if family is not None and family not in families:
        rule = f"must be one of {', '.join(families) or '(no family has claims yet)'}"
        raise InputError(rule, source="FAMILY", value=family)
    with answers_only():
        found = [
            _claim(experiment, verdict)
            for experiment, verdict in _verdicts(results, family, list(EXPERIMENTS.values()))
        ]
    if as_json:
        emit_json({"claims": found})
    else:
        columns = ("family", "id", "verdict", "n", "estimate", "low", "high", "statement")
        emit(Table(columns, [[claim[column] for column in columns] for claim in found]))
    held = all(claim["verdict"] == "reproduced" for claim in found)
    return 1 if strict and not held else 0


def _verdicts(
    results: Path, family: str | None, experiments: Sequence[Experiment]
) -> list[tuple[Experiment, Verdict]]:
    from experiments.declaration import Verdict
    from experiments.store import FILE_NAME, Store

    chosen = [e for e in experiments if family in (None, e.family)]
    if not (results / FILE_NAME).exists():
        nothing = Verdict("No rows in the results store yet.", "not-run")
        return [(experiment, nothing) for experiment in chosen]
    with Store.open(results, create=False) as store:
        return [(experiment, _judge(experiment, store)) for experiment in chosen]


def _judge(experiment: Experiment, store: Store) -> Verdict:
    from experiments.declaration import Verdict
    from experiments.store import Key
    from experiments.tasks import tasks_of

    points = [key.parameters for key in tasks_of(experiment, seeds=1)]
    finished = store.keys(experiment.name, experiment.revision)
    # Only seeds with all points, so that points are compared on the same draws.
    seeds = sorted(
        seed
        for seed in {key.seed for key in finished}
        if all(Key(point, seed) in finished for point in points)
    )
    if len(seeds) < experiment.seeds:
        text = f"{len(seeds)} of the {experiment.seeds} seeds have rows for the whole grid."
        return Verdict(text, "not-run")
    keys = [Key(point, seed) for seed in seeds for point in points]
    return experiment.judge(store.rows(experiment.name, experiment.revision, keys))


def _claim(experiment: Experiment, verdict: Verdict) -> dict[str, Any]:
    numbers = {name: verdict.numbers.get(name) for name in ("n", "estimate", "low", "high")}
    return {
        "family": experiment.family,
        "id": experiment.name.split("/")[1],
        "paper": experiment.paper,
        "statement": verdict.text,
        **numbers,
        "verdict": verdict.status,
    }
