"""The command that shows everything on one page: report."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from experiments.cli.arguments import check_outputs, check_suffix
from experiments.cli.output import answers_only, emit, say
from experiments.cli.reproducing import RESULTS, Results, processors
from models.files import InputError, write_atomic

if TYPE_CHECKING:
    from experiments.declaration import Experiment
    from experiments.report.entries import Entry

__all__ = ["report"]


def report(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="[default: DIR/report.html]"),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="Processes. [default: one per processor]"),
    ] = None,
    results: Results = RESULTS,
) -> int:
    """Write one page of HTML with all models, figures, claims and failures of the results store.

    The page holds everything that it shows, the figures' data too, and can be sent to anybody.
    """
    from experiments.registry import EXPERIMENTS
    from experiments.report.page import page
    from experiments.store import FILE_NAME, Store

    check_suffix("--output", output, (".html",))
    check_outputs({"--output": output})
    if output is None:
        _make_folder(results)
    failures = []
    if (results / FILE_NAME).exists():
        with Store.open(results, create=False) as store:
            failures = [
                failure
                for holding in store.holdings()
                for failure in store.failures(holding.experiment, holding.revision)
            ]
    else:
        say(f"{results}: no results yet; the page will show the models and what can be run")
    with answers_only():
        entries = _entries(list(EXPERIMENTS.values()), results, workers or processors())
    target = output or results / "report.html"
    write_atomic(target, page(entries, failures))
    shown = sum(entry.drawing is not None for entry in entries)
    emit(f"{target}: {shown} of {len(entries)} figures, {len(failures)} failed tasks")
    faulty = [entry for entry in entries if entry.fault]
    for entry in faulty:
        say(f"{entry.name}: could not be drawn or judged: {entry.fault}")
    return 1 if faulty else 0


def _make_folder(results: Path) -> None:
    try:
        results.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        rule = f"cannot be made: {error.strerror or error}"
        raise InputError(rule, source="--results", value=str(results)) from None


def _entries(experiments: Sequence[Experiment], results: Path, workers: int) -> list[Entry]:
    """Draw and judge in several processes: experiments are named, since they cannot travel."""
    from experiments.pool import LocalPool
    from experiments.report.entries import entries_of
    from experiments.report.work import entry_by_name

    if workers == 1:
        from experiments.report.work import opened

        with opened(results) as store:
            return entries_of(experiments, store)
    with tempfile.TemporaryDirectory(prefix="schedlab-") as scratch, LocalPool(workers) as pool:
        try:
            work = partial(entry_by_name, results=str(results), scratch=scratch)
            return list(pool.map(work, [experiment.name for experiment in experiments]))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
