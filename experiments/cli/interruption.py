"""Ctrl-C that is answered soon, also while a solver computes.

Python answers a signal between two of its own instructions, and HiGHS may compute for many
seconds within one. A thread therefore hears of the signal too, and ends the process if the
main thread has not answered after a moment. Files are written under a temporary name and
renamed, so a process that ends anywhere leaves no half of one in its place.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

__all__ = ["INTERRUPTED", "Interruption", "prompt_interruption"]

INTERRUPTED = 130
PATIENCE = 1.0  # seconds in which the main thread may answer, and clean up after itself


@dataclass
class Interruption:
    """Whether Ctrl-C was pressed, and whether anybody still waits for it.

    Plain marks and no lock: a second Ctrl-C may come while the first is being noted.
    """

    heard: bool = False
    over: bool = False


@contextlib.contextmanager
def prompt_interruption() -> Iterator[Interruption]:
    """Answer Ctrl-C by KeyboardInterrupt, or, if that cannot be raised, end the process.

    Where Ctrl-C is ignored (a job in the background) or somebody else answers it (a sweep, a
    notebook, another thread than the main one), nothing is changed.
    """
    interruption = Interruption()
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield interruption
        return

    def note(*_: object) -> NoReturn:
        interruption.heard = True
        raise KeyboardInterrupt

    def watch() -> None:
        while number := os.read(heard_from, 1):
            if number[0] != signal.SIGINT or signal.getsignal(signal.SIGINT) is not note:
                continue
            time.sleep(PATIENCE)
            if not (interruption.heard or interruption.over):
                os._exit(INTERRUPTED)
        os.close(heard_from)

    heard_from, told_by = os.pipe()
    os.set_blocking(told_by, False)
    threading.Thread(target=watch, name="interruption", daemon=True).start()
    # The one thing that happens at once when a signal comes: a byte is written here, from C.
    before = signal.set_wakeup_fd(told_by, warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, note)
    try:
        yield interruption
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.set_wakeup_fd(before)
        interruption.over = True
        os.close(told_by)
