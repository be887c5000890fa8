"""Sweeps on an existing Dask cluster, by the same interface as on local processes.

Nothing here starts workers: whoever runs the cluster does (by hand, dask-jobqueue, a cloud).
Tasks find code and files by name, so workers need the same installation and shared paths.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any

from experiments.versions import versions
from models.files import InputError

__all__ = ["Cluster", "DaskExecutor"]

CONNECT_SECONDS = 15.0
WIDTH_SECONDS = 5.0  # how long a count of workers is believed
_ONE_AT_A_TIME = threading.Lock()


class Cluster:
    """Makes executors on one cluster; give it to `run_sweep` as `executor_factory`.

    Parameters
    ----------
    address : str
        ``tcp://HOST:PORT`` or ``tls://HOST:PORT`` of the scheduler.

    Raises
    ------
    InputError
        If the address is none, or Dask's `distributed` is not installed.
    """

    def __init__(self, address: str) -> None:
        if not re.fullmatch(r"(tcp|tls)://[^\s/]+:\d{1,5}", address):
            raise InputError("must be tcp://HOST:PORT", source="--scheduler", value=address)
        try:
            import distributed  # noqa: F401
        except ImportError:
            rule = "needs Dask's distributed: pip install 'schedlab[cluster]'"
            raise InputError(rule, source="--scheduler") from None
        self.address = address

    def __call__(self, workers: int = 1) -> DaskExecutor:
        """Connect. The cluster decides how many workers there are, so `workers` is not used."""
        del workers
        return DaskExecutor(self.address)

    def remarks(self) -> list[str]:
        """Connect, look at the workers, and say what the user should know of them.

        Raises
        ------
        InputError
            If the scheduler cannot be reached, or a worker cannot load this package.
        """
        executor = self()
        try:
            return executor.remarks()
        finally:
            executor.shutdown(cancel_futures=True)


class DaskExecutor(Executor):
    """A connection to a scheduler.

    Dask itself runs a task again when its worker dies, and gives a task up after some deaths
    (``distributed.scheduler.allowed-failures``, 3 by default): that is told as a broken executor,
    for which the sweep runs the suspects alone, once, since a count of deaths alone is certain.
    """

    deaths_allowed = 1

    def __init__(self, address: str) -> None:
        from distributed import Client

        # What goes wrong with the connection is told once, by our own error.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        try:
            self._client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            reason = str(error).partition("\n")[0] or type(error).__name__
            raise InputError(
                f"cannot be reached: {reason}", source="--scheduler", value=address
            ) from None
        # pure=False: a task that runs again is a new one, not the one that failed before.
        self._inner = self._client.get_executor(pure=False)
        self._width = 0
        self._counted = -WIDTH_SECONDS

    @property
    def width(self) -> int:
        """Workers that are there now (clusters grow and shrink)."""
        if time.monotonic() - self._counted >= WIDTH_SECONDS:
            self._width = len(self._client.nthreads())
            self._counted = time.monotonic()
        return self._width

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a call; the death of its worker breaks the future as local processes do."""
        future: Future[Any] = Future()

        def pass_on(inner: Future[Any]) -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(inner.result())
            except BaseException as error:  # a future carries any
                future.set_exception(_translated(error))

        self._inner.submit(_alone, fn, *args, **kwargs).add_done_callback(pass_on)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Disconnect. What a worker is computing goes on there, but nobody waits for it."""
        self._inner.shutdown(wait=wait and not cancel_futures)
        self._client.close(timeout=CONNECT_SECONDS)

    def remarks(self) -> list[str]:
        """Say which workers differ from this process, and in what."""
        try:
            found: dict[str, dict[str, str]] = self._client.run(versions)
        except Exception as error:  # whatever a worker says
            rule = f"has a worker that cannot load schedlab: {error}"
            raise InputError(rule, source="--scheduler") from None
        if not found:
            return ["the cluster has no workers yet; tasks wait for them"]
        ours = versions()
        lines = []
        for worker, theirs in sorted(found.items()):
            differing = [
                f"{name} {theirs.get(name)} instead of {ours[name]}"
                for name in ours
                if theirs.get(name) != ours[name]
            ]
            if differing:
                lines.append(f"worker {worker} has {', '.join(differing)}")
        threads = max(self._client.nthreads().values())
        if threads > 1:
            lines.append(
                f"workers have up to {threads} threads, of which one is used at a time: "
                "start them with --nthreads 1"
            )
        return lines


def _alone(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Run a call in a worker that may have several threads: solvers are not made for that."""
    with _ONE_AT_A_TIME:
        return fn(*args, **kwargs)


def _translated(error: BaseException) -> BaseException:
    from distributed.scheduler import KilledWorker

    if isinstance(error, KilledWorker):
        return BrokenExecutor("a worker ended during the task, several times")
    if isinstance(error, CancelledError):
        return BrokenExecutor("the cluster dropped the task")
    return error
