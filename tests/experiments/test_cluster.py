"""Sweeps on a real Dask cluster: a scheduler and two workers, started here."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from experiments.cluster import Cluster, DaskExecutor
from experiments.declaration import META
from experiments.store import Store
from experiments.sweep import run_sweep
from models.files import InputError

pytest.importorskip("distributed", reason="Dask's distributed is not installed")

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
START_SECONDS = 60.0


class Local:
    """A scheduler and workers as processes of their own, without a nanny to restart them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}",
            "OMP_NUM_THREADS": "1",
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",
        }
        self.file = folder / "scheduler.json"
        self.processes: list[subprocess.Popen[bytes]] = []
        self._start(
            "dask_scheduler",
            *("--port", "0", "--host", "127.0.0.1", "--no-dashboard"),
            *("--scheduler-file", str(self.file)),
        )
        deadline = time.monotonic() + START_SECONDS
        while not self.file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.address: str = json.loads(self.file.read_text())["address"]

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", *arguments],
                env=self.environment,
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def add_worker(self) -> subprocess.Popen[bytes]:
        return self._start(
            "dask_worker",
            self.address,
            *("--nthreads", "1", "--no-nanny", "--no-dashboard"),
            *("--local-directory", str(self.folder)),
        )

    def wait_for(self, workers: int) -> None:
        executor = Cluster(self.address)()
        try:
            executor._client.wait_for_workers(workers, timeout=START_SECONDS)
        finally:
            executor.shutdown()

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    found = Local(tmp_path_factory.mktemp("dask"))
    try:
        found.add_worker()
        found.add_worker()
        found.wait_for(2)
        yield found
    finally:
        found.stop()


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(HERE)
    import sweep_tasks

    return sweep_tasks


def rows_of(folder: Path, experiment: object, **options: object) -> object:
    with Store.open(folder) as store:
        report = run_sweep(experiment, store, progress=False, **options)  # type: ignore[arg-type]
        assert (report.failed, report.interrupted) == ([], False)
        return store.rows("selftest/points", 1).drop(columns=list(META))


def test_a_cluster_gives_the_same_rows_as_one_and_two_processes(
    tasks: ModuleType, local: Local, tmp_path: Path
) -> None:
    experiment = tasks.make("sweep_tasks:draws", [{"x": x} for x in range(12)])
    on_cluster = rows_of(tmp_path / "c", experiment, executor_factory=Cluster(local.address))
    assert len(on_cluster) == 24  # type: ignore[arg-type]
    for workers in (1, 2):
        here = rows_of(tmp_path / str(workers), experiment, workers=workers)
        assert on_cluster.equals(here)  # type: ignore[attr-defined]


def test_failed_tasks_are_recorded_with_their_command(
    tasks: ModuleType, local: Local, tmp_path: Path
) -> None:
    experiment = tasks.make("sweep_tasks:fails_at_two", [{"x": 1}, {"x": 2}, {"x": 3}])
    with Store.open(tmp_path) as store:
        report = run_sweep(
            experiment, store, progress=False, executor_factory=Cluster(local.address)
        )
    assert (report.done, len(report.failed), report.exit_code) == (4, 2, 1)
    assert report.failed[0].error == "ValueError: two is not wanted (seed 0)"
    assert report.failed[0].command.startswith("python -m experiments.worker sweep_tasks:fails")


def test_the_width_is_the_number_of_workers(local: Local) -> None:
    executor = Cluster(local.address)()
    try:
        assert executor.width == 2
    finally:
        executor.shutdown()
    assert Cluster(local.address).remarks() == []


def test_a_worker_that_is_killed_loses_no_rows(
    tasks: ModuleType, local: Local, tmp_path: Path
) -> None:
    extra = local.add_worker()
    local.wait_for(3)
    calls = tmp_path / "calls"
    points = [{"x": x, "calls": str(calls), "pause": 0.05} for x in range(40)]
    experiment = tasks.make("sweep_tasks:counted", points, seeds=1)
    cluster = Cluster(local.address)
    killed = False

    def factory(workers: int) -> object:
        nonlocal killed
        executor = cluster(workers)
        inner = executor.submit

        def submit(*arguments: object) -> object:
            nonlocal killed
            if not killed and calls.exists() and calls.read_text().count("\n") > 5:
                extra.send_signal(signal.SIGKILL)
                killed = True
            return inner(*arguments)  # type: ignore[arg-type]

        executor.submit = submit  # type: ignore[assignment, method-assign]
        return executor

    rows = rows_of(tmp_path / "results", experiment, executor_factory=factory)
    assert killed
    assert sorted(rows["x"]) == list(range(40))  # type: ignore[index]


def test_a_task_that_ends_its_worker_fails_alone(
    tasks: ModuleType, local: Local, tmp_path: Path
) -> None:
    for _ in range(2):  # it ends one with others in flight, and one alone
        local.add_worker()
    local.wait_for(4)
    points = [{"x": x, "killers": [3]} for x in range(6)]
    experiment = tasks.make("sweep_tasks:kills_worker", points, seeds=1)
    with Store.open(tmp_path) as store:
        report = run_sweep(
            experiment, store, progress=False, executor_factory=Cluster(local.address)
        )
        assert sorted(store.rows("selftest/points", 1)["x"]) == [0, 1, 2, 4, 5]
    (failure,) = report.failed
    assert '"x":3' in failure.key.parameters
    assert failure.error == "the task ended its worker process, again alone"


def test_a_scheduler_that_dies_ends_the_sweep_and_rows_stay(
    tasks: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.cluster.CONNECT_SECONDS", 2.0)
    folder = tmp_path / "dask"
    folder.mkdir()
    own = Local(folder)
    calls = tmp_path / "calls"
    points = [{"x": x, "calls": str(calls), "pause": 0.02} for x in range(1000)]
    experiment = tasks.make("sweep_tasks:counted", points, seeds=1)

    class Dying(Cluster):
        def __call__(self, workers: int = 1) -> DaskExecutor:
            if calls.exists():
                return super().__call__(workers)
            executor = super().__call__(workers)
            threading.Thread(target=self.kill_soon, daemon=True).start()
            return executor

        def kill_soon(self) -> None:
            while not calls.exists() or calls.read_text().count("\n") < 5:
                time.sleep(0.02)
            own.processes[0].kill()

    try:
        own.add_worker()
        own.wait_for(1)
        with Store.open(tmp_path / "results") as store:
            with pytest.raises(InputError, match="--scheduler: cannot be reached"):
                run_sweep(experiment, store, progress=False, executor_factory=Dying(own.address))
            assert 0 < len(store.rows("selftest/points", 1)) < 1000
    finally:
        own.stop()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("somewhere", "must be tcp://HOST:PORT"),
        ("tcp://localhost", "must be tcp://HOST:PORT"),
        ("http://localhost:80", "must be tcp://HOST:PORT"),
    ],
)
def test_bad_addresses(address: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Cluster(address)


def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.cluster.CONNECT_SECONDS", 0.5)
    with pytest.raises(InputError, match="--scheduler: cannot be reached"):
        Cluster("tcp://127.0.0.1:9")()


def test_without_distributed_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'schedlab\[cluster\]'"):
        Cluster("tcp://127.0.0.1:9")
