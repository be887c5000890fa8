"""reproduce and claims, over the tasks of the sweeps' tests."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from experiments import registry
from experiments.declaration import Claim, Experiment, Verdict
from experiments.store import FILE_NAME
from experiments.sweep import SweepReport

POINTS = [{"x": 1}, {"x": 2}]


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The sweeps' task module, importable here and in worker processes."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1])
    import sweep_tasks

    return sweep_tasks


@pytest.fixture
def experiment(tasks: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Experiment:
    made = tasks.make("sweep_tasks:draws", POINTS, paper="a statement")
    monkeypatch.setattr(registry, "EXPERIMENTS", {made.name: made})
    return made


@pytest.fixture
def results(out: Path) -> Path:
    return out / "results"


def test_list_shows_every_figure(cli: Callable) -> None:
    shown = cli("reproduce", "--list")
    assert shown.code == 0
    assert [line.split()[0] for line in shown.out.splitlines()[2:]] == list(registry.EXPERIMENTS)


def test_list_of_one_figure(cli: Callable, experiment: Experiment) -> None:
    line = cli("reproduce", "points", "--list").out.splitlines()[2]
    assert line.split() == [
        *(experiment.name, "a", "statement", "tasks", "of", "the", "tests", "4", "60")
    ]


def test_a_figure_is_computed_once_and_drawn(
    cli: Callable, experiment: Experiment, results: Path
) -> None:
    command = ("reproduce", "points", "--results", results, "--workers", 2)
    first = cli(*command)
    assert first.code == 0
    figure = results / "figures" / "selftest-points.svg"
    assert figure.read_text() == "4 rows, quick=False"
    assert first.out.splitlines() == [
        "selftest/points (2 seeds, 4 rows)",
        f"  figure: {figure}",
        "  paper: a statement",
        "  claim: A statement.",
        "  partly: 4 rows",
    ]
    assert "selftest/points: 4 computed, 0 reused of 4" in first.err
    second = cli(*command)
    assert (second.code, second.out) == (0, first.out)
    assert "0 computed, 4 reused of 4" in second.err


def test_seeds_and_quick(cli: Callable, experiment: Experiment, results: Path) -> None:
    command = ("reproduce", "selftest/points", "--results", results, "--quick", "--seeds", 1)
    shown = cli(*command).out
    assert shown.startswith("selftest/points (quick grid, 1 seeds, 2 rows)\n")
    figure = results / "figures" / "selftest-points-quick.svg"
    assert figure.read_text() == "2 rows, quick=True"


def test_a_dry_run_says_what_is_left_and_writes_nothing(
    cli: Callable, experiment: Experiment, results: Path
) -> None:
    def left() -> list[str]:
        shown = cli("reproduce", "all", "--results", results, "--dry-run", "--seeds", 3)
        assert (shown.code, shown.err) == (0, "")
        return shown.out.splitlines()[2].split()

    assert left() == ["selftest/points", "6", "0", "90"]
    assert not results.exists()
    cli("reproduce", "all", "--results", results, "--seeds", 1)
    assert left() == ["selftest/points", "6", "2", "60"]


def test_failed_tasks_exit_with_1_and_the_others_are_drawn(
    cli: Callable, tasks: ModuleType, monkeypatch: pytest.MonkeyPatch, results: Path
) -> None:
    made = tasks.make("sweep_tasks:fails_at_two", POINTS, seeds=1)
    monkeypatch.setattr(registry, "EXPERIMENTS", {made.name: made})
    result = cli("reproduce", "all", "--results", results)
    assert result.code == 1
    assert "1 failed" in result.err
    assert "two is not wanted" in result.err
    assert (results / "figures" / "selftest-points.svg").read_text() == "1 rows, quick=False"


def test_an_interrupted_sweep_exits_with_130_and_draws_nothing(
    cli: Callable, experiment: Experiment, monkeypatch: pytest.MonkeyPatch, results: Path
) -> None:
    def interrupted(*_: object, **__: object) -> SweepReport:
        return SweepReport(experiment.name, 4, done=1, interrupted=True)

    monkeypatch.setattr("experiments.sweep.run_sweep", interrupted)
    result = cli("reproduce", "all", "--results", results)
    assert (result.code, result.out) == (130, "")
    assert "interrupted, the same command continues" in result.err
    assert not (results / "figures").exists()


def test_arrivals_go_to_the_figures_that_draw_them(
    cli: Callable,
    tasks: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    results: Path,
    instance: Path,
) -> None:
    known = {
        made.name: made
        for made in (
            tasks.make("sweep_tasks:draws", POINTS, name="selftest/real", options=("arrivals",)),
            tasks.make("sweep_tasks:draws", POINTS, name="selftest/drawn"),
        )
    }
    monkeypatch.setattr(registry, "EXPERIMENTS", known)
    command = ("--arrivals", instance, "--results", results, "--seeds", 1)
    assert cli("reproduce", "all", *command).code == 0
    refused = cli("reproduce", "real", "drawn", *command)
    assert refused.code == 2
    assert "selftest/drawn" in refused.err
    left = cli("reproduce", "all", "--results", results, "--dry-run", "--seeds", 1).out
    # Rows with a trace are not the rows without.
    assert [line.split()[2] for line in left.splitlines()[2:]] == ["0", "2"]


@pytest.mark.parametrize("figure", ["ratio", "google-jobs", "google-machines", "all"])
def test_a_trace_that_cannot_be_used_is_refused_before_anything_runs(
    figure: str, cli: Callable, tmp_path: Path, results: Path
) -> None:
    trace = tmp_path / "trace.csv"
    for content in (b"\x80\x81 no text", b"", b"1000000,,1,0,u,3,a,b\n"):  # the last: one job
        trace.write_bytes(content)
        result = cli("reproduce", figure, "--quick", "--arrivals", trace, "--results", results)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(f"error: {trace}: ")
        assert result.err.count("\n") == 1
    assert not results.exists()


def test_claims_need_the_whole_grid_with_all_seeds(
    cli: Callable, experiment: Experiment, results: Path
) -> None:
    def claim(*options: object) -> tuple[int, dict]:
        result = cli("claims", "--json", "--results", results, *options)
        (found,) = result.json["claims"]
        assert list(found) == [
            *("family", "id", "paper", "statement", "n", "estimate", "low", "high", "verdict")
        ]
        return result.code, found

    code, found = claim()
    assert (code, found["verdict"], found["n"]) == (0, "not-run", None)
    assert (found["family"], found["id"], found["paper"]) == ("selftest", "points", "a statement")
    assert not results.exists()
    cli("reproduce", "points", "--results", results, "--seeds", 1)
    text = "A statement. Measured: 1 of the 2 seeds have rows for the whole grid."
    assert claim()[1]["statement"] == text
    cli("reproduce", "points", "--results", results, "--seeds", 3)
    code, found = claim("selftest")
    assert (code, found["verdict"], found["n"]) == (0, "partly", 6)
    assert claim("--strict")[0] == 1
    assert "partly" in cli("claims", "--results", results).out


def test_strict_is_content_when_every_claim_is_reproduced(
    cli: Callable, tasks: ModuleType, monkeypatch: pytest.MonkeyPatch, results: Path
) -> None:
    claims = (Claim("points", "It holds.", "none", lambda rows: reproduced(len(rows))),)
    made = tasks.make("sweep_tasks:draws", POINTS, claims=claims)
    monkeypatch.setattr(registry, "EXPERIMENTS", {made.name: made})
    assert cli("claims", "--strict", "--results", results).code == 1
    cli("reproduce", "all", "--results", results)
    assert cli("claims", "--strict", "--results", results).code == 0


def reproduced(n: int) -> Verdict:
    return Verdict("holds", "reproduced", {"n": n, "estimate": 1.0, "low": 0.5, "high": 1.5})


def test_a_file_that_is_no_store_is_refused(
    cli: Callable, experiment: Experiment, results: Path
) -> None:
    results.mkdir()
    (results / FILE_NAME).write_text("not a database, and long enough to be looked at" * 10)
    for command in (("reproduce", "all"), ("reproduce", "all", "--dry-run"), ("claims",)):
        result = cli(*command, "--results", results)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith("error: ")
        assert result.err.count("\n") == 1


def test_the_real_figures_and_claims_can_be_listed(cli: Callable, results: Path) -> None:
    found = cli("claims", "--json", "--results", results).json["claims"]
    declared = [(e.family, c.id) for e in registry.EXPERIMENTS.values() for c in e.claims]
    assert [(claim["family"], claim["id"]) for claim in found] == declared
    shown = cli("reproduce", "all", "--dry-run", "--quick", "--results", results)
    assert len(shown.out.splitlines()) == 2 + len(registry.EXPERIMENTS)


def test_claims_of_a_folder_that_is_not_there_say_so(cli: Callable, out: Path) -> None:
    result = cli("claims", "--json", "--results", out / "typo")
    assert "typo: is not a folder yet" in result.err
    assert {claim["verdict"] for claim in result.json["claims"]} == {"not-run"}
    assert list(out.iterdir()) == []


LOCK_SCRIPT = """
import sys
from experiments import registry
from experiments.cli.main import main
from experiments.declaration import Experiment

experiment = Experiment(
    name="selftest/lock",
    revision=1,
    summary="a lock",
    paper="none",
    grid=lambda quick: [{"x": 1}, {"x": 2}],
    task="lock_task:task",
    figure=lambda rows, destination, context: None,
    seeds=1,
)
registry.EXPERIMENTS = {experiment.name: experiment}
sys.exit(main(["reproduce", "all", "--workers", "2", "--results", sys.argv[1]]))
"""


def test_locks_of_libraries_in_workers_are_not_announced_as_leaks(results: Path) -> None:
    here = Path(__file__).parent
    places = os.pathsep.join([str(here.parents[2]), str(here)])
    done = subprocess.run(
        [sys.executable, "-c", LOCK_SCRIPT, results],
        env={**os.environ, "PYTHONPATH": places},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0
    assert "2 computed" in done.stderr
    assert "leaked" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--workers", 2, "--scheduler", "tcp://a:1"), "--workers: and --scheduler exclude"),
        (("--scheduler", "a:1"), "--scheduler: must be tcp://HOST:PORT"),
    ],
)
def test_workers_and_scheduler(
    cli: Callable, experiment: Experiment, results: Path, arguments: tuple[object, ...], said: str
) -> None:
    shown = cli("reproduce", "points", "--results", results, *arguments)
    assert (shown.code, len(shown.err.splitlines())) == (2, 1)
    assert said in shown.err
    assert not results.exists()
