"""The commands on what is stored: results list, show, export, prune."""

from __future__ import annotations

import io
import json
import numbers
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.cli.options import AsJson, new_app
from experiments.cli.output import Table, answers_only, emit, emit_json, say
from experiments.cli.reproducing import RESULTS, Results
from models.files import InputError, write_atomic

if TYPE_CHECKING:
    import pandas

    from experiments.store import Holding, Store

__all__ = ["results_app"]

FORMATS = (".csv", ".parquet")

Name = Annotated[str, typer.Argument(metavar="EXPERIMENT", help="family/name, or name.")]
Revision = Annotated[
    int | None, typer.Option("--revision", min=1, help="[default: the one in use]")
]


def results_app() -> typer.Typer:
    """Make ``schedlab results``."""
    app = new_app("What the results store holds.", "results")
    app.command("list")(list_holdings)
    app.command("show")(show)
    app.command("export")(export)
    app.command("prune")(prune)
    return app


def list_holdings(as_json: AsJson = False, results: Results = RESULTS) -> int:
    """List the experiments that have rows or failures, with their revisions.

    A revision is `current` if this version of schedlab uses its rows, `old` or `newer` if it uses
    others, `unknown` if it has no such experiment.
    """
    with _open(results) as store:
        found = [(holding, _state(holding)) for holding in store.holdings()]
    if as_json:
        emit_json({"holdings": [{**vars(holding), "state": state} for holding, state in found]})
        return 0
    columns = ("experiment", "revision", "state", "rows", "failed", "seconds", "last")
    emit(
        Table(
            columns,
            [
                (h.experiment, h.revision, state, h.rows, h.failures, h.seconds, h.last)
                for h, state in found
            ],
        )
    )
    return 0


def show(
    name: Name,
    revision: Revision = None,
    limit: Annotated[
        int, typer.Option("--limit", min=0, help="Rows at most; 0 shows all of them.")
    ] = 20,
    as_json: AsJson = False,
    results: Results = RESULTS,
) -> int:
    """Show rows, and the tasks that failed with the command that runs each again."""
    with _open(results) as store:
        stored, used = _which(store, name, revision)
        with answers_only():
            rows = _ordered(store.rows(stored, used))
        failures = store.failures(stored, used)
    shown = rows.head(limit) if limit else rows
    records = shown.astype(object).where(shown.notna(), None)
    if as_json:
        failed = [
            {**json.loads(f.key.parameters), "seed": f.key.seed}
            | {"error": f.error, "traceback": f.traceback, "command": f.command}
            for f in failures
        ]
        head = {"experiment": stored, "revision": used, "total": len(rows)}
        emit_json({**head, "rows": records.to_dict("records"), "failures": failed})
        return 0
    table = records.drop(columns=["versions"])  # the same long text in every row
    emit(Table(list(table.columns), table.values.tolist()))
    for failure in failures:
        emit(f"failed: {failure.error}\n  again: {failure.command}")
    if len(shown) < len(rows):
        say(f"{len(shown)} of {len(rows)} rows; --limit 0 shows all, export writes all")
    return 0


def export(
    name: Name,
    target: Annotated[Path, typer.Argument(metavar="FILE", help="NAME.csv or NAME.parquet.")],
    revision: Revision = None,
    results: Results = RESULTS,
) -> int:
    """Write all rows to a file, with parameters, seed, cost, seconds and versions of each."""
    if target.suffix not in FORMATS:
        rule = f"must end in {' or '.join(FORMATS)}"
        raise InputError(rule, source="FILE", value=str(target))
    with _open(results) as store:
        stored, used = _which(store, name, revision)
        with answers_only():
            rows = _ordered(store.rows(stored, used))
            content = _csv(rows) if target.suffix == ".csv" else _parquet(rows, target)
    write_atomic(target, content)
    say(f"{target}: {len(rows)} rows of {stored}, revision {used}")
    return 0


def prune(
    name: Annotated[
        str | None, typer.Argument(metavar="[EXPERIMENT]", help="Of this experiment alone.")
    ] = None,
    failures: Annotated[
        bool, typer.Option("--failures", help="Remove failures of all revisions as well.")
    ] = False,
    unknown: Annotated[
        bool, typer.Option("--unknown", help="Remove experiments that this version lacks as well.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove; else only say what would be.")
    ] = False,
    results: Results = RESULTS,
) -> int:
    """Remove what no figure uses any more: rows of revisions older than the one in use.

    Rows in use are never removed, nor are those of a newer version of schedlab.
    """
    removed = []
    with _open(results) as store:
        only = None if name is None else _which(store, name, None)[0]
        for holding in store.holdings():
            state = _state(holding)
            whole = state == "old" or (unknown and state == "unknown")
            if only not in (None, holding.experiment) or not (
                whole or (failures and holding.failures)
            ):
                continue
            if yes:
                store.remove(holding.experiment, holding.revision, failures_only=not whole)
            rows = holding.rows if whole else 0
            removed.append((holding.experiment, holding.revision, state, rows, holding.failures))
    emit(Table(("experiment", "revision", "state", "rows", "failed"), removed))
    if removed and not yes:
        say("nothing removed yet: --yes removes this")
    return 0


def _open(results: Path) -> Store:
    from experiments.store import Store

    return Store.open(results, create=False)


def _in_use() -> dict[str, set[int]]:
    """Revisions in use, by the name under which rows are stored."""
    from experiments import registry

    used: dict[str, set[int]] = {}
    for experiment in registry.EXPERIMENTS.values():
        used.setdefault(experiment.stored_as, set()).add(experiment.revision)
    return used


def _state(holding: Holding) -> str:
    used = _in_use().get(holding.experiment)
    if used is None:
        return "unknown"
    if holding.revision in used:
        return "current"
    return "old" if holding.revision < max(used) else "newer"


def _which(store: Store, name: str, revision: int | None) -> tuple[str, int]:
    """Return the stored name and revision that are meant; the store must hold them."""
    from experiments import registry

    holdings = store.holdings()
    held = {holding.experiment for holding in holdings}
    meant = {stored for stored in held if name in (stored, stored.split("/")[-1])}
    for experiment in registry.EXPERIMENTS.values():  # it may share another one's rows
        if name in (experiment.name, experiment.name.split("/")[1]):
            meant.add(experiment.stored_as)
    if len(meant & held) != 1:
        rule = f"must be one of {', '.join(sorted(meant & held or held)) or '(nothing is stored)'}"
        raise InputError(rule, source="EXPERIMENT", value=name)
    (stored,) = meant & held
    revisions = [holding.revision for holding in holdings if holding.experiment == stored]
    if revision is None:
        current = [number for number in revisions if number in _in_use().get(stored, ())]
        return stored, max(current or revisions)
    if revision not in revisions:
        rule = f"must be a stored one: {', '.join(map(str, revisions))}"
        raise InputError(rule, source="--revision", value=revision)
    return stored, revision


def _ordered(rows: pandas.DataFrame) -> pandas.DataFrame:
    """Order rows by parameters and seed, numbers by size."""
    names = list(rows.columns[: rows.columns.get_loc("seed") + 1])
    values = rows[names].to_numpy(dtype=object)
    order = sorted(range(len(rows)), key=lambda n: [_rank(value) for value in values[n]])
    return rows.iloc[order].reset_index(drop=True)


def _rank(value: Any) -> tuple[int, Any]:
    """Make values of any kind comparable: first numbers, then texts, lists, what is missing."""
    if isinstance(value, list):
        return 2, [_rank(one) for one in value]
    if isinstance(value, numbers.Real):
        return (3, "") if value != value else (0, float(value))
    return (3, "") if value is None else (1, str(value))


def _csv(rows: pandas.DataFrame) -> str:
    texts = {name: rows[name].map(_cell) for name in rows if rows[name].dtype == object}
    return rows.assign(**texts).to_csv(index=False, lineterminator="\n")


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | dict) else value


def _parquet(rows: pandas.DataFrame, target: Path) -> bytes:
    stream = io.BytesIO()
    try:
        rows.to_parquet(stream, index=False, engine="pyarrow")
    except ImportError:
        rule = "needs pyarrow: pip install 'schedlab[parquet]', or export to .csv"
        raise InputError(rule, source=str(target)) from None
    except (ValueError, TypeError, OverflowError) as error:
        # A column of Parquet holds one kind of value.
        raise InputError(
            f"cannot hold these rows ({error}); export to .csv", source=str(target)
        ) from None
    return stream.getvalue()
