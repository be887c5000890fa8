"""The side of a sweep that runs in worker processes: one task in, one outcome out.

``python -m experiments.worker MODULE:FUNCTION PARAMETERS SEED`` runs one task by hand, with its
full traceback; it is the command that a failed task is recorded with.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import shlex
import signal
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from experiments.declaration import META, resolve
from experiments.versions import versions

__all__ = ["Outcome", "command", "execute", "ready", "start_worker"]

LONGEST_TRACEBACK = 8000
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Outcome:
    """What became of one task; texts and numbers only, so that it always travels.

    Attributes
    ----------
    row : str or None
        The row as JSON (with NaN and Infinity, as Python writes them), None if it failed.
    error, traceback : str
        Empty if it did not fail.
    seconds : float
        Wall-clock time of the task itself.
    versions : str
        The versions of the process that ran it, as JSON.
    """

    row: str | None
    error: str = ""
    traceback: str = ""
    seconds: float = 0.0
    versions: str = ""


def execute(task: str, parameters: str, seed: int, required: tuple[str, ...] = ()) -> Outcome:
    """Run one task; whatever goes wrong in it becomes part of the outcome.

    Parameters
    ----------
    task : str
        ``module:function``.
    parameters : str
        The parameters as JSON text, and
    seed : int
        with them all that the task may depend on.
    required : tuple of str
        Columns that the row must hold.
    """
    used = json.dumps(versions(), sort_keys=True)
    started = time.perf_counter()
    try:
        given = json.loads(parameters)
        taken = {*given, "seed", *META}
        function = resolve(task)
        started = time.perf_counter()  # the first import is not the task's time
        result = function(given, seed)
        seconds = time.perf_counter() - started
        return Outcome(_encode(result, taken, required), seconds=seconds, versions=used)
    except BaseException as error:  # recorded, the sweep goes on
        summary = " ".join(f"{type(error).__name__}: {error}".split())
        trace = traceback.format_exc()[-LONGEST_TRACEBACK:]
        return Outcome(None, summary, trace, time.perf_counter() - started, used)


def _encode(row: object, taken: set[str], required: tuple[str, ...]) -> str:
    if not isinstance(row, Mapping):
        raise TypeError(f"a task must return a dict (got {type(row).__name__})")
    values = {name: _scalar(name, value) for name, value in row.items()}
    if clash := sorted(taken & values.keys()):
        raise ValueError(f"the row's column {clash[0]!r} is already a parameter's or the store's")
    if missing := [name for name in required if name not in values]:
        raise ValueError(f"the row lacks the declared column {missing[0]!r}")
    return json.dumps(values, separators=(",", ":"))


def _scalar(name: object, value: Any) -> str | int | float | None:
    if not isinstance(name, str):
        raise TypeError(f"a row's columns must be named by text (got {name!r})")
    if getattr(value, "ndim", None) == 0:  # numpy's scalars, told apart without importing it
        value = value.item()
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"column {name!r} must hold a scalar (got {type(value).__name__})")


def command(task: str, parameters: str, seed: int) -> str:
    """Return the shell command that runs one task again."""
    return shlex.join(["python", "-m", "experiments.worker", task, parameters, str(seed)])


def start_worker(lifeline: Connection) -> None:
    """Prepare a worker process.

    Parameters
    ----------
    lifeline : connection
        Nothing is ever sent; it closes when the sweep stops or its process dies, even by
        kill -9, and then the worker ends at once, in the middle of a task.
    """
    # Ctrl-C reaches every process of the terminal; only the sweep answers it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # One task, one core: workers do not compete, and sums do not depend on the core count.
    for variable in THREAD_VARIABLES:
        os.environ.setdefault(variable, "1")
    # Libraries make locks (Pyomo makes one when it is imported). In a spawned process these have
    # names, and Python would announce them as leaked on the sweep's stderr when we end at once;
    # for forking they have none. No task starts processes.
    with contextlib.suppress(ValueError):
        multiprocessing.set_start_method("fork", force=True)
    # What libraries print must not get into the sweep's stdout, which may be JSON. It goes out
    # line by line: a worker ends without emptying Python's buffers.
    with contextlib.suppress(OSError):
        os.dup2(2, 1)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]

    def end_with_sweep() -> None:
        with contextlib.suppress(OSError, EOFError):
            lifeline.poll(None)
        os._exit(1)

    threading.Thread(target=end_with_sweep, daemon=True).start()


def ready() -> bool:
    """Do nothing: tells whether workers start at all."""
    return True


def main(arguments: list[str]) -> None:
    """Run one task in this process and print its row."""
    if len(arguments) != 3:
        raise SystemExit("usage: python -m experiments.worker MODULE:FUNCTION PARAMETERS SEED")
    task, parameters, seed = arguments
    row = resolve(task)(json.loads(parameters), int(seed))
    sys.stdout.write(_encode(row, taken=set(), required=()) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
