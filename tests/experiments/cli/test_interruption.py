"""Ctrl-C: while modules are loaded, between Python's instructions, and within one."""

import importlib.abc
import signal
import sys
import threading
from collections.abc import Callable

import pytest

from experiments.cli.interruption import INTERRUPTED, prompt_interruption
from experiments.cli.start import start


def test_an_interrupt_is_raised_and_noted(heard_interrupts: None) -> None:
    with pytest.raises(KeyboardInterrupt), prompt_interruption() as interruption:
        signal.raise_signal(signal.SIGINT)
    assert interruption.heard


def test_the_process_is_given_back_as_it_was(heard_interrupts: None) -> None:
    with prompt_interruption() as interruption:
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        assert not interruption.heard
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.set_wakeup_fd(-1) == -1
    for thread in threading.enumerate():
        if thread.name == "interruption":
            thread.join(60)
            assert not thread.is_alive()


def test_who_ignores_or_answers_ctrl_c_goes_on_doing_so(heard_interrupts: None) -> None:
    def answer(*_: object) -> None:
        raise AssertionError("nobody pressed it")

    for handler in (signal.SIG_IGN, answer):
        signal.signal(signal.SIGINT, handler)
        with prompt_interruption():
            assert signal.getsignal(signal.SIGINT) is handler


def test_only_the_main_thread_answers() -> None:
    before = signal.getsignal(signal.SIGINT)
    found = []

    def look() -> None:
        with prompt_interruption():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [before]


def test_an_interrupt_that_a_library_turned_into_an_error(
    cli: Callable, instance: object, heard_interrupts: None
) -> None:
    done = cli("training", "run", instance, "--policy", "muddle")
    assert (done.code, done.out, done.err) == (INTERRUPTED, "", "")


def test_ctrl_c_while_modules_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(importlib.abc.MetaPathFinder):
        def find_spec(self, name: str, *_: object) -> None:
            if name == "experiments.cli.main":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "experiments.cli.main")
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    assert start() == INTERRUPTED
