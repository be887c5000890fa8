"""The command that says which of the papers' claims hold: claims."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.cli.options import AsJson
from experiments.cli.output import Table, answers_only, emit, emit_json
from experiments.cli.reproducing import RESULTS, Results
from models.files import InputError

if TYPE_CHECKING:
    from experiments.declaration import Experiment, Verdict
    from experiments.store import Store

__all__ = ["claims"]


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
