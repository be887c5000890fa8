"""report: the page is written, faults are said, bad input is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from experiments import registry
from experiments.declaration import Experiment
from experiments.store import FILE_NAME, Store
from tests.experiments.report import kit


@pytest.fixture
def experiment(monkeypatch: pytest.MonkeyPatch) -> Experiment:
    made = kit.make(statuses=("reproduced",))
    monkeypatch.setattr(registry, "EXPERIMENTS", {made.name: made})
    return made


def test_the_page_lies_in_the_results_folder(
    cli: Callable, experiment: Experiment, out: Path
) -> None:
    with Store.open(out) as store:
        kit.fill(store, experiment)
        kit.fail(store, experiment)
    shown = cli("report", "--results", out, "--workers", 1)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out == f"{out / 'report.html'}: 1 of 1 figures, 1 failed tasks\n"
    assert "Statement &lt;0&gt; holds" in (out / "report.html").read_text()


def test_before_anything_was_run_it_shows_what_can_be(
    cli: Callable, experiment: Experiment, out: Path
) -> None:
    target = out / "page.html"
    shown = cli("report", "--results", out / "none", "-o", target, "--workers", 1)
    assert shown.code == 0
    assert "no results yet" in shown.err
    assert "schedlab reproduce splitting/points" in target.read_text()
    assert not (out / "none").exists()


def test_a_figure_that_cannot_be_drawn_is_said_and_exits_with_1(
    cli: Callable, monkeypatch: pytest.MonkeyPatch, out: Path
) -> None:
    faulty = kit.make(figure=kit.draw_badly)
    monkeypatch.setattr(registry, "EXPERIMENTS", {faulty.name: faulty})
    with Store.open(out) as store:
        kit.fill(store, faulty)
    shown = cli("report", "--results", out, "--workers", 1)
    assert shown.code == 1
    assert "splitting/points: could not be drawn or judged: ZeroDivisionError" in shown.err
    assert (out / "report.html").exists()


def test_workers_make_the_same_page(cli: Callable, out: Path) -> None:
    experiment = registry.EXPERIMENTS["splitting/greedy-nfs"]
    with Store.open(out) as store:
        points = experiment.parameters(quick=True)
        row = {"greedy": 1.0, "nfs": 1.5, "excess": 50.0, "evaluations": 2}
        kit.fill(store, experiment, points=points, **row)
    pages = []
    for workers in (1, 2):
        target = out / f"{workers}.html"
        assert cli("report", "--results", out, "-o", target, "--workers", workers).code == 0
        pages.append(target.read_text())
    assert pages[0] == pages[1]
    assert 'alt="Quick grid. Largest completion' in pages[0]


@pytest.mark.parametrize("name", ["page.txt", "none/page.html"])
def test_bad_places_are_refused(
    cli: Callable, experiment: Experiment, out: Path, name: str
) -> None:
    shown = cli("report", "--results", out, "-o", out / name)
    assert shown.code == 2
    assert shown.err.startswith("error: --output: must ")
    assert list(out.iterdir()) == []


def test_a_file_in_the_folders_place_is_refused(
    cli: Callable, experiment: Experiment, out: Path
) -> None:
    (out / "file").write_text("")
    shown = cli("report", "--results", out / "file" / "results")
    assert shown.code == 2
    assert shown.err.startswith("error: --results: cannot be made: ")


def test_a_file_that_is_no_store_is_refused(
    cli: Callable, experiment: Experiment, out: Path
) -> None:
    (out / FILE_NAME).write_text("not a database, but a text that is long enough to be one")
    shown = cli("report", "--results", out)
    assert shown.code == 2
    assert len(shown.err.splitlines()) == 1
    assert not (out / "report.html").exists()
