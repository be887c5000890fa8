"""Runs the tasks of an experiment that the store does not hold yet, and writes their rows."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from dataclasses import dataclass, field
from typing import Any

from tqdm import tqdm

from experiments.declaration import Experiment
from experiments.pool import LocalPool
from experiments.reservation import Reservations
from experiments.store import Failure, Key, Store
from experiments.tasks import tasks_of
from experiments.worker import Outcome, command, execute, ready
from models.files import InputError

__all__ = ["SweepReport", "run_sweep", "tasks_of"]

POLL_SECONDS = 0.2
DEATHS_ALLOWED = 2
STARTS_ALLOWED = 3
_GUARD = "a script that starts a sweep must do so under `if __name__ == '__main__':`"


@dataclass
class SweepReport:
    """What a sweep did.

    Attributes
    ----------
    experiment : str
    total : int
        Tasks of the sweep.
    done, reused : int
        Rows computed now, and rows that were in the store (or that another sweep wrote).
    failed : list of Failure
    interrupted : bool
        Ctrl-C was pressed; what was finished is in the store.
    """

    experiment: str
    total: int
    done: int = 0
    reused: int = 0
    failed: list[Failure] = field(default_factory=list)
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """130 if interrupted, 1 if tasks failed, else 0."""
        return 130 if self.interrupted else 1 if self.failed else 0

    def __str__(self) -> str:
        lines = [f"{self.experiment}: {self.done} computed, {self.reused} reused of {self.total}"]
        if self.failed:
            lines[0] += f", {len(self.failed)} failed"
        if self.interrupted:
            lines[0] += "; interrupted, the same command continues"
        for failure in self.failed:
            lines += [f"  failed: {failure.error}", f"    again: {failure.command}"]
        return "\n".join(lines)


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
        raise RuntimeError(f"a sweep cannot be started in a worker process; {_GUARD}")
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
        sweep = _Sweep(experiment, store, report, reservations, bar, executor_factory, workers)
        sweep.run(missing, interruption)
    return report


class _Interruption:
    # Not a threading.Event: its lock may be held by the very code that the signal interrupts.
    requested = False


@contextlib.contextmanager
def _interruption() -> Iterator[_Interruption]:
    """Turn Ctrl-C into a mark, so that it cannot cut a transaction or a lock in two."""
    interruption = _Interruption()

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


class _Sweep:
    """The state of one running sweep: where each unfinished task is.

    A task waits, then is in flight; if its executor breaks it becomes a suspect, with the number
    of times it broke one alone. While there are suspects they run one at a time.
    """

    def __init__(
        self,
        experiment: Experiment,
        store: Store,
        report: SweepReport,
        reservations: Reservations,
        bar: tqdm[Any],
        executor_factory: Callable[[int], Executor],
        workers: int,
    ) -> None:
        self.experiment = experiment
        self.store = store
        self.report = report
        self.reservations = reservations
        self.bar = bar
        self.executor_factory = executor_factory
        self.workers = workers
        self.depth = 2 * workers + 1  # enough that no worker waits for this process
        self.executor: Executor | None = None
        self.waiting: deque[Key] = deque()
        self.in_flight: dict[Future[Outcome], Key] = {}
        self.suspects: dict[Key, int] = {}

    def run(self, tasks: list[Key], interruption: _Interruption) -> None:
        """Run the tasks until all are finished or failed, or until interrupted."""
        self.waiting.extend(tasks)
        try:
            while self._unfinished() and not interruption.requested:
                self._submit()
                if not self.in_flight:
                    if self.waiting:  # other sweeps are computing all of them
                        time.sleep(POLL_SECONDS)
                    continue
                done, _ = wait(self.in_flight, POLL_SECONDS, FIRST_COMPLETED)
                if any(_outcome(future) is None for future in done):
                    self._replace_executor()
                for future in done & self.in_flight.keys():
                    self._finish(future)
                if not done and sys.stderr.isatty():
                    self.bar.refresh()  # the clock goes on during long tasks
            if interruption.requested:
                self.report.interrupted = True
                for future in [future for future in self.in_flight if future.done()]:
                    if _outcome(future) is not None:
                        self._finish(future)
        finally:
            if self.executor is not None:
                self.executor.shutdown(cancel_futures=True)
        place = {task: index for index, task in enumerate(tasks)}
        self.report.failed.sort(key=lambda failure: place[failure.key])

    def _unfinished(self) -> bool:
        return bool(self.waiting or self.in_flight or self.suspects)

    def _submit(self) -> None:
        if self.suspects:
            if not self.in_flight:
                self._submit_task(next(iter(self.suspects)))
            return
        while len(self.in_flight) < self.depth and (task := self._next()) is not None:
            if not self._submit_task(task):
                self.waiting.appendleft(task)
                return

    def _next(self) -> Key | None:
        """Take the next task that nobody else has finished or is computing."""
        for _ in range(len(self.waiting)):
            task = self.waiting.popleft()
            if not self.reservations.take(self._mark(task)):
                self.waiting.append(task)
            elif self.store.has(self.experiment.stored_as, self.experiment.revision, task):
                self.report.reused += 1
                self._leave(task)
            else:
                return task
        return None

    def _submit_task(self, task: Key) -> bool:
        """Submit a task; False if the executor turns out to be broken."""
        if self.executor is None:
            self.executor = self.executor_factory(self.workers)
        experiment = self.experiment
        try:
            future = self.executor.submit(
                execute, experiment.task_reference, *task, experiment.required
            )
        except BrokenExecutor:
            self._replace_executor()
            return False
        self.in_flight[future] = task
        return True

    def _finish(self, future: Future[Outcome]) -> None:
        task = self.in_flight.pop(future)
        outcome = _outcome(future)
        assert outcome is not None
        if outcome.row is None:
            self._fail(task, outcome)
            return
        self.store.put_row(
            self.experiment.stored_as,
            self.experiment.revision,
            task,
            outcome.row,
            seconds=outcome.seconds,
            versions=outcome.versions,
        )
        self.report.done += 1
        self._leave(task)

    def _fail(self, task: Key, outcome: Outcome) -> None:
        failure = Failure(
            self.experiment.stored_as,
            self.experiment.revision,
            task,
            outcome.error,
            outcome.traceback,
            command(self.experiment.task_reference, *task),
        )
        self.store.put_failure(failure, seconds=outcome.seconds, versions=outcome.versions)
        self.report.failed.append(failure)
        self.bar.set_postfix(failed=len(self.report.failed), refresh=False)
        self._leave(task)

    def _leave(self, task: Key) -> None:
        self.suspects.pop(task, None)
        self.reservations.release(self._mark(task))
        self.bar.update()

    def _replace_executor(self) -> None:
        """Drop a broken executor, keep what it finished, and suspect the rest."""
        assert self.executor is not None
        self.executor.shutdown(cancel_futures=True)
        for future in list(self.in_flight):
            if future.done() and _outcome(future) is not None:
                self._finish(future)
        lost = list(self.in_flight.values())
        self.in_flight.clear()
        for task in lost:
            self.suspects[task] = self.suspects.get(task, 0) + (len(lost) == 1)
            if self.suspects[task] >= DEATHS_ALLOWED:
                self._fail(task, Outcome(None, "the task ended its worker process, again alone"))
        self.executor = None
        if not self._unfinished():
            return
        for _ in range(STARTS_ALLOWED):
            self.executor = self.executor_factory(self.workers)
            with contextlib.suppress(BrokenExecutor):
                self.executor.submit(ready).result()
                return
            self.executor.shutdown(cancel_futures=True)
        raise RuntimeError(f"worker processes end as soon as they start; {_GUARD}")

    def _mark(self, task: Key) -> str:
        here = (self.experiment.stored_as, self.experiment.revision, *task)
        return "\n".join(map(str, here))


def _outcome(future: Future[Outcome]) -> Outcome | None:
    """Return what became of a finished call; None if its process died and nobody knows."""
    try:
        return future.result(timeout=0)
    except (BrokenExecutor, CancelledError):
        return None
    except Exception as error:  # it could not travel; recorded as a failure
        return Outcome(None, " ".join(f"{type(error).__name__}: {error}".split()))
