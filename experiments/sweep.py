"""Runs the tasks of an experiment that the store does not hold yet, and writes their rows."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from typing import Any

from tqdm import tqdm

from experiments.declaration import Experiment
from experiments.pool import LocalPool
from experiments.reservation import Reservations
from experiments.running_sweep import GUARD, Interruption, RunningSweep, SweepReport
from experiments.store import Store
from experiments.tasks import tasks_of
from models.files import InputError

__all__ = ["SweepReport", "run_sweep", "tasks_of"]


def run_sweep(
    experiment: Experiment,
    store: Store,
    *,
    seeds: int | None = None,
    workers: int = 1,
    quick: bool = False,
    options: Mapping[str, Any] | None = None,
    progress: bool = True,
    executor_factory: Callable[[int], Executor] = LocalPool,
) -> SweepReport:
    """Compute what is missing of an experiment; rows are in the store as soon as they finish.

    Tasks run in other processes even with one worker: there a crash or an endless solve can be
    dealt with, Ctrl-C is answered at once, and one worker and many behave alike. A process that
    dies does not stop the sweep: what it may have been computing runs again, one task at a time,
    and a task that ends its process twice when it runs alone counts as failed. Failed tasks
    run again in the next sweep. Several sweeps on one store share their work.

    Parameters
    ----------
    experiment, seeds, quick, options
        See `tasks_of`.
    store : Store
    workers : int
        Processes.
    progress : bool
        Show a progress bar on stderr.
    executor_factory : callable (workers) -> concurrent.futures.Executor
        Where tasks run; local spawned processes by default.

    Returns
    -------
    SweepReport
        With ``interrupted`` set after Ctrl-C, for which no exception is raised.

    Raises
    ------
    InputError
        For bad arguments, or a store that cannot be written.
    RuntimeError
        If worker processes cannot be started.
    """
    if workers < 1:
        raise InputError("must be at least 1", field="workers", value=workers)
    if multiprocessing.current_process().name != "MainProcess":
        # A worker that loads an unguarded script; it would wait for its own parent's tasks.
        raise RuntimeError(f"a sweep cannot be started in a worker process; {GUARD}")
    tasks = tasks_of(experiment, seeds=seeds, quick=quick, options=options)
    finished = store.keys(experiment.stored_as, experiment.revision)
    missing = [task for task in tasks if task not in finished]
    report = SweepReport(experiment.name, len(tasks), reused=len(tasks) - len(missing))
    if not missing:
        return report
    on_terminal = sys.stderr.isatty()
    with (
        contextlib.closing(Reservations(store.path.with_suffix(".lock"))) as reservations,
        tqdm(
            desc=experiment.name,
            total=len(tasks),
            initial=report.reused,
            unit="task",
            file=sys.stderr,
            disable=not progress,
            dynamic_ncols=True,
            mininterval=0.1 if on_terminal else 10.0,  # log files get few lines
        ) as bar,
        _interruption() as interruption,
    ):
        sweep = RunningSweep(
            experiment, store, report, reservations, bar, executor_factory, workers
        )
        sweep.run(missing, interruption)
    return report


@contextlib.contextmanager
def _interruption() -> Iterator[Interruption]:
    """Turn Ctrl-C into a mark, so that it cannot cut a transaction or a lock in two."""
    interruption = Interruption()

    def note(*_: object) -> None:
        interruption.requested = True

    if threading.current_thread() is not threading.main_thread():
        yield interruption  # only the main thread gets signals and may say what they do
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, before)
