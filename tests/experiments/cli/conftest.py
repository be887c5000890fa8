"""The command line in this process, with stub policies that are quick and do odd things."""

import hashlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from pydantic import Field

from algorithms.policy import Parameters, Policy, Run
from experiments.cli.families import Bounds, Family
from experiments.cli.main import main
from experiments.cli.training import TRAINING
from models.training import TrainingInstance, build_schedule
from models.training.schedule import Placement


@dataclass(frozen=True)
class Result:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object on stdout; NaN and Infinity are refused."""

        def refuse(word: str) -> None:
            raise AssertionError(f"{word} in JSON")

        return json.loads(self.out, parse_constant=refuse)


class StubParameters(Parameters):
    """Parameters of every kind."""

    workers: Annotated[int, Field(ge=1, le=50, description="workers of each job")] = 1
    share: Annotated[float | None, Field(gt=0, lt=1, description="a share [1/slot]")] = None
    strict: bool = True
    mode: Annotated[str, Field(pattern="^(up|down)$")] = "up"


def place_one(instance: TrainingInstance, parameters: StubParameters, seed: int) -> Run:
    """Run each possible job in its last slot, on a machine drawn by seed."""
    rng = np.random.Generator(np.random.PCG64(seed))
    machine = int(rng.integers(instance.number_of_machines))
    placements: dict[int, list[Placement]] = {
        i: [(instance.slots - 1, machine, parameters.workers, parameters.workers)]
        for i in instance.possible_jobs
    }
    return Run(build_schedule(instance, "stub", placements), counters={"draws": 1})


def overload(instance: TrainingInstance, _parameters: Parameters, _seed: int) -> Run:
    placements: dict[int, list[Placement]] = {0: [(0, 0, 1000, 1000)]}
    return Run(build_schedule(instance, "overload", placements))


def chatter(instance: TrainingInstance, _parameters: Parameters, _seed: int) -> Run:
    sys.stdout.write("a library's banner\n")
    os.write(1, b"a line from C\n")
    return Run(build_schedule(instance, "chatter", {}))


def wait(_instance: TrainingInstance, _parameters: Parameters, _seed: int) -> Run:
    os.write(2, b"waiting\n")
    time.sleep(600)
    raise AssertionError("nobody interrupted")


def crash(_instance: TrainingInstance, _parameters: Parameters, _seed: int) -> Run:
    raise RuntimeError("a mistake of ours")


def devour(_instance: TrainingInstance, _parameters: Parameters, _seed: int) -> Run:
    return Run(np.zeros((10**9, 10**9)))


def interrupt(_instance: TrainingInstance, _parameters: Parameters, _seed: int) -> Run:
    raise KeyboardInterrupt


def grind(_instance: TrainingInstance, _parameters: Parameters, _seed: int) -> Run:
    """Compute for half an hour without coming back to Python, as a solver might."""
    os.write(2, b"waiting\n")
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
    raise AssertionError("nobody interrupted")


def muddle(_instance: TrainingInstance, _parameters: Parameters, _seed: int) -> Run:
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    except KeyboardInterrupt:
        raise RuntimeError("a callback failed") from None
    raise AssertionError("nobody interrupted")


def give_up(_instance: TrainingInstance, _parameters: Parameters, _seed: int) -> Run:
    return Run(None)


STUBS = {
    "stub": Policy("stub", "places each job once", StubParameters, place_one),
    **{
        name: Policy(name, "does odd things", Parameters, function)
        for name, function in {
            "overload": overload,
            "chatter": chatter,
            "crash": crash,
            "wait": wait,
            "interrupt": interrupt,
            "devour": devour,
            "grind": grind,
            "muddle": muddle,
            "give-up": give_up,
        }.items()
    },
}


def stub_optimum(instance: TrainingInstance, time_limit: float, seed: int) -> Bounds:
    solution = place_one(instance, StubParameters(workers=2), seed).solution
    return Bounds("bounded", solution.objective, float("inf"), solution, 0.25)


@pytest.fixture
def heard_interrupts() -> Iterator[None]:
    """Let Ctrl-C be heard, also by new processes, where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def family() -> Family:
    """The training family with the stubs for policies."""
    return replace(TRAINING, policies=lambda: STUBS, optimum=stub_optimum)


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], family: Family) -> Callable[..., Result]:
    """Run ``schedlab`` with these arguments; `family` takes the place of the real ones."""

    def run(*arguments: object, families: tuple[Family, ...] = (family,)) -> Result:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments], families)
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run


def content(**changes: Any) -> dict[str, Any]:
    """An instance file: two machines, three slots, two jobs that fit and one that cannot."""

    def job(name: str, samples: int) -> dict[str, Any]:
        return {
            "name": name,
            "arrival": 0,
            "epochs": 1,
            "samples": samples,
            "batch": 4,
            "gradient": 0.0,
            "sample_time": 1.0,
            "workers_per_ps": 2.0,
            "bandwidth_internal": 1.0,
            "bandwidth_external": 1.0,
            "worker": {"gpu": 1},
            "ps": {"cpu": 1},
            "utility": {"kind": "sigmoid", "priority": 10, "decay": 0.0, "target": 1},
        }

    base: dict[str, Any] = {
        "kind": "training",
        "version": 1,
        "slots": 3,
        "resources": ["gpu", "cpu"],
        "machines": [{"name": f"m{h}", "capacity": {"gpu": 8, "cpu": 8}} for h in range(2)],
        "jobs": [job("j0", 1), job("j1", 2), job("huge", 1000)],
    }
    return base | changes


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    """The instance of `content`, in a folder of its own."""
    folder = tmp_path / "in"
    folder.mkdir()
    path = folder / "instance.json"
    path.write_text(json.dumps(content()))
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An empty folder."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder
