"""Executors for sweeps: local processes, and this process for debugging."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import resource_tracker
from typing import Any, ParamSpec, TypeVar

from experiments.worker import start_worker

__all__ = ["InProcess", "LocalPool"]

P = ParamSpec("P")
T = TypeVar("T")

_CAN_HOLD_SIGNALS = hasattr(signal, "pthread_sigmask")


class LocalPool(ProcessPoolExecutor):
    """Spawned worker processes that never outlive the sweep.

    They are spawned, not forked, because a solver's threads do not survive a fork. Shutting down
    with ``cancel_futures=True`` also ends the tasks that are running.
    """

    def __init__(self, workers: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._workers_end, self._lifeline = context.Pipe(duplex=False)
        if _CAN_HOLD_SIGNALS:
            # Started now, because starting it lets signals through again (see `submit`).
            resource_tracker.ensure_running()
        super().__init__(
            workers, mp_context=context, initializer=start_worker, initargs=(self._workers_end,)
        )

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Submit a call; a worker that this starts never sees Ctrl-C, not even while it loads."""
        with _interrupt_held_back():
            return super().submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop; with `cancel_futures` at once, else after the tasks that were submitted."""
        if cancel_futures:
            self._lifeline.close()
        super().shutdown(wait, cancel_futures=cancel_futures)
        if wait or cancel_futures:
            self._lifeline.close()
            self._workers_end.close()


@contextlib.contextmanager
def _interrupt_held_back() -> Iterator[None]:
    # A new process inherits the mask. Here the signal only waits until the block is left.
    if not _CAN_HOLD_SIGNALS:
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class InProcess(Executor):
    """Runs every task in this process when it is submitted: for debuggers and quick tests."""

    def __init__(self, workers: int = 1) -> None:
        del workers

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run the call and return its finished future."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # a future carries any
            future.set_exception(error)
        return future
