import json
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from experiments.declaration import META
from experiments.pool import InProcess, LocalPool
from experiments.reservation import Reservations
from experiments.store import FILE_NAME, Key, Store, canonical
from experiments.sweep import run_sweep
from experiments.tasks import tasks_of
from experiments.versions import PACKAGES
from models.files import InputError

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}"}


@pytest.fixture
def tasks(monkeypatch):
    """The tests' task module, importable by its plain name here and in worker processes."""
    monkeypatch.syspath_prepend(HERE)
    import sweep_tasks

    return sweep_tasks


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "results") as opened:
        yield opened


def here(experiment, store, **options):
    """Run a sweep without processes, where processes are not what is tested."""
    return run_sweep(experiment, store, progress=False, executor_factory=InProcess, **options)


def calls_of(tmp_path, points):
    return [{**point, "calls": str(tmp_path / "calls")} for point in points]


def computed(tmp_path):
    path = tmp_path / "calls"
    return Counter(path.read_text().split("\n")[:-1]) if path.exists() else Counter()


def reproducible(store, revision=1):
    return store.rows("selftest/points", revision).drop(columns=list(META))


# What is computed


def test_every_point_gets_every_seed(tasks, store):
    experiment = tasks.make("sweep_tasks:draws", [{"x": 2}, {"x": 1}])
    assert tasks_of(experiment, seeds=2) == [
        *(Key('{"x":2}', 0), Key('{"x":1}', 0)),
        *(Key('{"x":2}', 1), Key('{"x":1}', 1)),
    ]
    report = here(experiment, store)
    assert (report.total, report.done, report.reused, report.failed) == (4, 4, 0, [])
    assert report.exit_code == 0
    rows = store.rows("selftest/points", 1)
    assert [tuple(pair) for pair in rows[["x", "seed"]].values] == [(1, 0), (1, 1), (2, 0), (2, 1)]
    assert list(rows["cost"]) == [1, 2, 2, 3]
    assert rows["value"].is_unique


def test_rows_say_what_made_them(tasks, store):
    here(tasks.make("sweep_tasks:draws", [{"x": 1}], seeds=1), store)
    row = store.rows("selftest/points", 1).iloc[0]
    assert set(json.loads(row["versions"])) == {"python", *PACKAGES}
    assert row["seconds"] >= 0
    assert row["finished_at"].endswith("Z")


def test_quick_uses_the_quick_grid_and_seeds(tasks):
    experiment = tasks.make(
        "sweep_tasks:draws", [], grid=lambda quick: [{"x": 1 if quick else 9}], quick_seeds=1
    )
    assert tasks_of(experiment, quick=True) == [Key('{"x":1}', 0)]
    assert tasks_of(experiment) == [Key('{"x":9}', 0), Key('{"x":9}', 1)]


def test_options_become_parameters_if_declared(tasks):
    experiment = tasks.make("sweep_tasks:draws", [{"x": 1}], options=("arrivals",))
    found = tasks_of(experiment, seeds=1, options={"arrivals": "a.csv"})
    assert found == [Key('{"arrivals":"a.csv","x":1}', 0)]
    with pytest.raises(InputError, match="colour"):
        tasks_of(experiment, options={"colour": "red"})


def test_the_content_of_a_file_is_part_of_the_task(tasks, tmp_path):
    experiment = tasks.make("sweep_tasks:draws", [{"x": 1}], options=("arrivals",))
    path = tmp_path / "arrivals.csv"
    found = []
    for content in ("1\n2\n", "1\n3\n", "1\n2\n"):
        path.write_text(content)
        found += tasks_of(experiment, seeds=1, options={"arrivals": path})
    assert json.loads(found[0].parameters)["arrivals"] == str(path)
    assert found[0] == found[2] != found[1]
    with pytest.raises(InputError, match=r"missing\.csv: cannot be read"):
        tasks_of(experiment, options={"arrivals": tmp_path / "missing.csv"})


@pytest.mark.parametrize("arguments", [{"seeds": 0}, {"workers": 0}])
def test_numbers_below_one_are_refused(tasks, store, arguments):
    with pytest.raises(InputError, match="at least 1"):
        here(tasks.make("sweep_tasks:draws", [{"x": 1}]), store, **arguments)


def test_one_worker_and_two_give_the_same_rows_as_none(tasks, tmp_path):
    experiment = tasks.make(tasks.draws, [{"x": x} for x in range(5)])
    tables = []
    for name, options in {
        "none": {"executor_factory": InProcess},
        "one": {"workers": 1},
        "two": {"workers": 2},
    }.items():
        with Store.open(tmp_path / name) as store:
            assert run_sweep(experiment, store, progress=False, **options).done == 10
            tables.append(reproducible(store))
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])


def test_special_values_survive_the_way_to_the_store(tasks, store):
    run_sweep(tasks.make(tasks.special, [{}], seeds=1), store, progress=False)
    connection = sqlite3.connect(store.path)
    row = json.loads(connection.execute("SELECT row FROM rows").fetchone()[0])
    connection.close()
    expected = tasks.special({}, 0)
    assert repr(row) == repr(expected)  # equality would let NaN and -0.0 differ


def test_numpy_scalars_become_plain_numbers(tasks, store):
    here(tasks.make(tasks.numpy_scalars, [{}], seeds=1), store)
    row = store.rows("selftest/points", 1).iloc[0]
    assert (row["a"], row["b"], row["c"], row["cost"]) == (0.1, 3, True, 0.5)


# What is not computed again


def test_a_sweep_goes_on_where_it_stopped(tasks, store, tmp_path):
    points = calls_of(tmp_path, [{"x": x} for x in range(4)])
    here(tasks.make(tasks.counted, points[1:3]), store)
    report = here(tasks.make(tasks.counted, points), store)
    assert (report.done, report.reused) == (4, 4)
    again = here(tasks.make(tasks.counted, points, seeds=3), store)
    assert (again.done, again.reused) == (4, 8)
    assert computed(tmp_path) == {f"{x} {seed}": 1 for x in range(4) for seed in range(3)}


def test_a_finished_sweep_starts_no_executor(tasks, store):
    experiment = tasks.make(tasks.draws, [{"x": 1}])
    here(experiment, store)

    def refuse(workers):
        raise AssertionError("nothing is left to run")

    report = run_sweep(experiment, store, progress=False, executor_factory=refuse)
    assert (report.done, report.reused) == (0, 2)


def test_a_raised_revision_computes_again(tasks, store, tmp_path):
    points = calls_of(tmp_path, [{"x": 1}])
    here(tasks.make(tasks.counted, points, seeds=1), store)
    assert here(tasks.make(tasks.counted, points, seeds=1, revision=2), store).done == 1
    assert computed(tmp_path) == {"1 0": 2}


def test_points_listed_twice_are_computed_once(tasks, store, tmp_path):
    points = calls_of(tmp_path, [{"x": 1}, {"x": 1}])
    report = here(tasks.make(tasks.counted, points, seeds=1), store)
    assert (report.total, report.done) == (1, 1)


# What fails


def test_a_failing_task_is_recorded_and_the_others_go_on(tasks, store):
    experiment = tasks.make(tasks.fails_at_two, [{"x": x} for x in range(4)], seeds=1)
    report = run_sweep(experiment, store, workers=2, progress=False)
    assert (report.done, len(report.failed), report.exit_code) == (3, 1, 1)
    assert report.failed == store.failures("selftest/points", 1)
    failure = report.failed[0]
    assert failure.key == Key('{"x":2}', 0)
    assert failure.error == "ValueError: two is not wanted (seed 0)"
    assert "fails_at_two" in failure.traceback
    assert "1 failed" in str(report)
    assert failure.command in str(report)


def test_the_recorded_command_runs_the_task_again(tasks, store):
    experiment = tasks.make(tasks.fails_at_two, [{"x": 2, "text": "it's $HOME"}], seeds=1)
    command = here(experiment, store).failed[0].command
    parts = [sys.executable, *shlex.split(command)[1:]]
    again = subprocess.run(parts, capture_output=True, text=True, env=ENVIRONMENT)
    assert again.returncode == 1
    assert "not wanted (seed 0)" in again.stderr
    parts[4] = parts[4].replace('"x":2', '"x":1')
    again = subprocess.run(parts, capture_output=True, text=True, env=ENVIRONMENT)
    assert (again.returncode, json.loads(again.stdout)) == (0, {"cost": 1})


def test_failed_tasks_run_again_in_the_next_sweep(tasks, store):
    points = [{"x": 2}]
    assert len(here(tasks.make(tasks.fails_at_two, points), store).failed) == 2
    report = here(tasks.make(tasks.draws, points), store)
    assert (report.done, report.failed) == (2, [])
    assert store.failures("selftest/points", 1) == []


def test_failures_are_reported_in_the_sweeps_order(tasks, store):
    points = [{"x": 2, "n": n} for n in (3, 1, 2)]
    report = run_sweep(tasks.make(tasks.fails_at_two, points), store, workers=2, progress=False)
    assert [failure.key for failure in report.failed] == [
        Key(canonical(point), seed) for seed in (0, 1) for point in points
    ]


@pytest.mark.parametrize(
    ("task", "error"),
    [
        ("exits", "SystemExit: done for today"),
        ("lacks_cost", "ValueError: the row lacks the declared column 'cost'"),
        ("returns_list", "TypeError: column 'value' must hold a scalar (got list)"),
        ("overwrites_parameter", "ValueError: the row's column 'x' is already"),
        ("is_not_there", "AttributeError: module 'sweep_tasks' has no attribute 'is_not_there'"),
    ],
)
def test_a_task_that_breaks_the_contract_fails(tasks, store, task, error):
    report = here(tasks.make(f"sweep_tasks:{task}", [{"x": 1}], seeds=1), store)
    assert report.failed[0].error.startswith(error)
    assert store.keys("selftest/points", 1) == set()


def test_declared_metrics_must_be_in_the_row(tasks, store):
    experiment = tasks.make(tasks.draws, [{"x": 1}], seeds=1, metrics={"ratio": "of two numbers"})
    assert "'ratio'" in here(experiment, store).failed[0].error


def test_a_task_that_cannot_travel_fails(tasks, store):
    class Refusing(InProcess):
        def submit(self, *_args, **_kwargs):
            return super().submit(lambda: 1 / 0)

    report = run_sweep(
        tasks.make(tasks.draws, [{"x": 1}], seeds=1),
        store,
        progress=False,
        executor_factory=Refusing,
    )
    assert report.failed[0].error == "ZeroDivisionError: division by zero"


# Workers that die


def test_a_worker_that_dies_costs_no_rows(tasks, store, tmp_path, monkeypatch):
    # Point 1 ends its worker once among others, which tells nothing, and once alone.
    monkeypatch.setattr("experiments.running_sweep.POLL_SECONDS", 0.001)
    deaths = tmp_path / "deaths"
    deaths.touch()
    points = calls_of(tmp_path, [{"x": x, "deaths": str(deaths)} for x in range(10)])
    experiment = tasks.make(tasks.kills_worker_twice, points, seeds=1)
    report = run_sweep(experiment, store, workers=2, progress=False)
    assert len(deaths.read_bytes()) == 2
    assert (report.done, report.failed) == (10, [])
    # What ran beside point 1 may have been computed twice, everything else was not.
    assert set(computed(tmp_path)) == {f"{x} 0" for x in range(10)}
    assert sum(computed(tmp_path).values()) <= 11


def test_a_task_that_keeps_killing_its_worker_fails_alone(tasks, store):
    points = [{"x": x, "killers": [2]} for x in range(6)]
    experiment = tasks.make(tasks.kills_worker, points, seeds=1)
    report = run_sweep(experiment, store, workers=2, progress=False)
    assert report.done == 5
    assert [json.loads(failure.key.parameters)["x"] for failure in report.failed] == [2]
    assert "ended its worker process" in report.failed[0].error


def test_workers_that_cannot_start_end_the_sweep(tasks, tmp_path):
    # Without a main guard every worker would start the sweep again, and dies of it.
    script = tmp_path / "script.py"
    script.write_text(
        "import sweep_tasks\n"
        "from experiments.store import Store\n"
        "from experiments.sweep import run_sweep\n"
        f"store = Store.open({str(tmp_path)!r})\n"
        "run_sweep(sweep_tasks.make('sweep_tasks:draws', [{'x': 1}]), store, progress=False)\n"
    )
    process = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, env=ENVIRONMENT, timeout=300
    )
    assert process.returncode == 1
    assert "worker processes end as soon as they start" in process.stderr.splitlines()[-1]


# Interruptions


class Sweep:
    """A sweep in a process of its own, whose stderr stays open as long as any worker lives."""

    def __init__(self, tmp_path, task, count, pause, workers=2):
        arguments = [tmp_path / "results", task, tmp_path / "calls", count, pause, workers]
        self.folder = tmp_path / "results"
        self.process = subprocess.Popen(
            [sys.executable, HERE / "sweep_tasks.py", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
            start_new_session=True,
        )

    def wait_for_rows(self, number):
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            if (self.folder / FILE_NAME).exists():
                with Store.open(self.folder) as store:
                    if len(store.keys("selftest/points", 1)) >= number:
                        return
            time.sleep(0.02)
        raise AssertionError("the sweep wrote no rows")

    def end(self):
        """Wait until the sweep and all its workers have gone; return code and stderr."""
        _, errors = self.process.communicate(timeout=300)
        return self.process.returncode, errors


def check_and_resume(tasks, tmp_path, count, pause):
    with Store.open(tmp_path / "results") as store:
        connection = sqlite3.connect(store.path)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
        stored = len(store.keys("selftest/points", 1))
        points = calls_of(tmp_path, [{"x": x, "pause": pause} for x in range(count)])
        report = here(tasks.make(tasks.counted, points, seeds=1), store)
    assert 3 <= stored < count
    assert (report.reused, report.done) == (stored, count - stored)
    # Only tasks that were in flight may have been computed without leaving a row.
    assert sum(computed(tmp_path).values()) - count <= 5
    return stored


def test_kill_9_loses_no_row_and_leaves_no_worker(tasks, tmp_path):
    sweep = Sweep(tmp_path, "counted", count=60, pause=0.02)
    sweep.wait_for_rows(3)
    sweep.process.kill()
    code, _ = sweep.end()
    assert code == -signal.SIGKILL
    check_and_resume(tasks, tmp_path, 60, 0.02)


def test_ctrl_c_leaves_a_clean_store_and_no_worker(tasks, tmp_path):
    sweep = Sweep(tmp_path, "counted", count=60, pause=0.02)
    sweep.wait_for_rows(3)
    os.killpg(sweep.process.pid, signal.SIGINT)  # as a terminal does: workers get it too
    code, errors = sweep.end()
    assert code == 130
    assert "interrupted" in errors
    assert "Traceback" not in errors
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == [
        *("schedlab.lock", FILE_NAME)
    ]
    check_and_resume(tasks, tmp_path, 60, 0.02)


def test_ctrl_c_does_not_wait_for_a_long_task(tmp_path):
    sweep = Sweep(tmp_path, "sleeps", count=6, pause=0)
    sweep.wait_for_rows(4)
    os.killpg(sweep.process.pid, signal.SIGINT)
    code, errors = sweep.end()
    assert code == 130
    assert "Traceback" not in errors
    assert "4 computed" in errors


def test_the_interrupt_handler_is_given_back(tasks, store):
    before = signal.getsignal(signal.SIGINT)
    here(tasks.make(tasks.draws, [{"x": 1}]), store)
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_of_the_store_ends_the_workers_too(tasks, store, monkeypatch):
    pools = []

    class Watched(LocalPool):
        def shutdown(self, *args, **kwargs):
            pools.append(kwargs)
            super().shutdown(*args, **kwargs)

    def full(*_args, **_kwargs):
        raise InputError("disk is full")

    monkeypatch.setattr(store, "put_row", full)
    experiment = tasks.make(tasks.sleeps, [{"x": 0}, {"x": 9}], seeds=1)
    with pytest.raises(InputError, match="disk is full"):
        run_sweep(experiment, store, workers=2, progress=False, executor_factory=Watched)
    assert pools == [{"cancel_futures": True}]


# Several sweeps at once


def test_two_sweeps_at_once_share_the_work(tasks, tmp_path):
    sweeps = [Sweep(tmp_path, "counted", count=40, pause=0.02, workers=1) for _ in range(2)]
    assert [sweep.end()[0] for sweep in sweeps] == [0, 0]
    assert computed(tmp_path) == {f"{x} 0": 1 for x in range(40)}
    with Store.open(tmp_path / "results") as store:
        assert len(store.keys("selftest/points", 1)) == 40


def test_reservations_hold_between_processes_until_the_process_ends(tmp_path):
    script = (
        "import sys\nfrom pathlib import Path\nfrom experiments.reservation import Reservations\n"
        "mine = Reservations(Path(sys.argv[1]))\n"
        "print(mine.take('a'), mine.take('b'), flush=True)\nmine.release('b')\n"
        "print('ready', flush=True)\nsys.stdin.read()\n"
    )
    path = tmp_path / "lock"
    process = subprocess.Popen(
        [sys.executable, "-c", script, path],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "True True\n"
    assert process.stdout.readline() == "ready\n"
    mine = Reservations(path)
    assert [mine.take(task) for task in "abc"] == [False, True, True]
    process.kill()
    process.communicate()
    assert mine.take("a")
    mine.close()
    assert path.stat().st_size == 0


# What people and other executors see


def test_a_quiet_sweep_prints_nothing_and_a_loud_one_only_on_stderr(
    tasks, store, capfd, monkeypatch
):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # workers must not need it
    experiment = tasks.make(tasks.draws, [{"x": 1}])
    run_sweep(experiment, store, progress=False)
    assert capfd.readouterr() == ("", "")
    here_again = tasks.make(tasks.chatters, [{"x": 1}], revision=2)
    run_sweep(here_again, store, progress=True)
    out, errors = capfd.readouterr()
    assert out == ""
    assert "selftest/points" in errors
    assert "2/2" in errors
    assert errors.count("a library's banner") == 2
    assert errors.count("printed from C") == 2


def test_any_executor_will_do_and_few_tasks_are_handed_over_at_once(tasks, store):
    submitted = []

    class Counting(ThreadPoolExecutor):
        def submit(self, *args, **kwargs):
            future = super().submit(*args, **kwargs)
            submitted.append(future)
            most.append(sum(not future.done() for future in submitted))
            return future

    most = []
    experiment = tasks.make(tasks.draws, [{"x": x} for x in range(100)])
    report = run_sweep(experiment, store, workers=2, progress=False, executor_factory=Counting)
    assert report.done == 200
    assert max(most) <= 5


def test_a_sweep_runs_outside_the_main_thread(tasks, tmp_path):
    results = []

    def work():
        with Store.open(tmp_path) as store:
            results.append(here(tasks.make(tasks.draws, [{"x": 1}]), store))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert [report.done for report in results] == [2]
