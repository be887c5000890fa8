"""The command that says which of the papers' claims hold: claims."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.cli.options import AsJson
from experiments.cli.output import Table, answers_only, emit, emit_json, say
from experiments.cli.reproducing import RESULTS, Results
from models.files import InputError

if TYPE_CHECKING:
    from experiments.declaration import Claim, Experiment, Verdict
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

    A claim is judged on the full grid with all seeds that its experiment declares, or more. The
    estimate and its interval are those of the claim's statistic; `reproduce` says the rest.
    """
    from experiments.registry import EXPERIMENTS

    families = sorted({experiment.family for experiment in EXPERIMENTS.values()})
    if family is not None and family not in families:
        rule = f"must be one of {', '.join(families) or '(no family has claims yet)'}"
        raise InputError(rule, source="FAMILY", value=family)
    if not results.is_dir():
        say(f"{results}: is not a folder yet, so nothing has been run there")
    with answers_only():
        found = [
            _entry(experiment, claim, verdict)
            for experiment, claim, verdict in _verdicts(results, family, EXPERIMENTS.values())
        ]
    if as_json:
        emit_json({"claims": found})
    else:
        columns = ("family", "id", "verdict", "n", "estimate", "low", "high")
        emit(Table(columns, [[entry[column] for column in columns] for entry in found]))
        for entry in found:
            emit(f"\n{entry['family']}/{entry['id']} ({entry['paper']})\n{entry['statement']}")
    held = all(entry["verdict"] == "reproduced" for entry in found)
    return 1 if strict and not held else 0


def _verdicts(
    results: Path, family: str | None, experiments: Iterable[Experiment]
) -> list[tuple[Experiment, Claim, Verdict]]:
    from experiments.evidence import not_run
    from experiments.store import FILE_NAME, Store

    chosen = [e for e in experiments if family in (None, e.family) and e.claims]
    if not (results / FILE_NAME).exists():
        return [
            (e, claim, verdict)
            for e in chosen
            for claim, verdict in not_run(e, "No rows in the results store yet.")
        ]
    with Store.open(results, create=False) as store:
        return [(e, claim, verdict) for e in chosen for claim, verdict in _judge(e, store)]


def _judge(experiment: Experiment, store: Store) -> list[tuple[Claim, Verdict]]:
    from experiments.evidence import evidence_of, judge

    evidence = evidence_of(experiment, store)
    rows = store.rows(experiment.stored_as, experiment.revision, evidence.keys)
    return judge(experiment, evidence, rows)


def _entry(experiment: Experiment, claim: Claim, verdict: Verdict) -> dict[str, Any]:
    numbers = {name: verdict.numbers.get(name) for name in ("n", "estimate", "low", "high")}
    return {
        "family": experiment.family,
        "id": claim.id,
        "paper": experiment.paper,
        "statement": f"{claim.statement} Measured: {verdict.text}",
        **numbers,
        "verdict": verdict.status,
    }
