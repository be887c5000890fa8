"""One running sweep: which task is where, and what is done when its process dies."""

from __future__ import annotations

import contextlib
import sys
import time
from collections import deque
from collections.abc import Callable
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
from experiments.reservation import Reservations
from experiments.store import Failure, Key, Store
from experiments.worker import Outcome, command, execute, ready

__all__ = ["GUARD", "Interruption", "RunningSweep", "SweepReport"]

POLL_SECONDS = 0.2
DEATHS_ALLOWED = 2
STARTS_ALLOWED = 3
GUARD = "a script that starts a sweep must do so under `if __name__ == '__main__':`"


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


class Interruption:
    """Whether Ctrl-C was pressed."""

    # Not a threading.Event: its lock may be held by the very code that the signal interrupts.
    requested = False


class RunningSweep:
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
        self.executor: Executor | None = None
        self.waiting: deque[Key] = deque()
        self.in_flight: dict[Future[Outcome], Key] = {}
        self.suspects: dict[Key, int] = {}
        self.interruption = Interruption()

    @property
    def depth(self) -> int:
        """Tasks in flight: enough that no worker waits for this process."""
        return 2 * max(getattr(self.executor, "width", self.workers), 1) + 1

    def run(self, tasks: list[Key], interruption: Interruption) -> None:
        """Run the tasks until all are finished or failed, or until interrupted."""
        self.waiting.extend(tasks)
        self.interruption = interruption
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
                if not done:
                    self._show()
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
        self._leave(task)

    def _show(self) -> None:
        """Let the clock go on during long tasks, and say what is not as it should be."""
        notes = [f"{len(self.report.failed)} failed"] if self.report.failed else []
        if getattr(self.executor, "width", 1) == 0:
            notes.append("waiting for workers")
        self.bar.set_postfix_str(", ".join(notes), refresh=sys.stderr.isatty())

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
        allowed = getattr(self.executor, "deaths_allowed", DEATHS_ALLOWED)
        lost = list(self.in_flight.values())
        self.in_flight.clear()
        for task in lost:
            self.suspects[task] = self.suspects.get(task, 0) + (len(lost) == 1)
            if self.suspects[task] >= allowed:
                self._fail(task, Outcome(None, "the task ended its worker process, again alone"))
        self.executor = None
        if not self._unfinished():
            return
        for _ in range(STARTS_ALLOWED):
            self.executor = self.executor_factory(self.workers)
            with contextlib.suppress(BrokenExecutor):
                started = self.executor.submit(ready)
                while not self.interruption.requested and not wait([started], POLL_SECONDS).done:
                    pass
                if not self.interruption.requested:
                    started.result()
                return
            self.executor.shutdown(cancel_futures=True)
        raise RuntimeError(f"worker processes end as soon as they start; {GUARD}")

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
