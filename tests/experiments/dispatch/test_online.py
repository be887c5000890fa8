"""dispatch/online: points, rows, the figure and verdicts on few, small runs."""

from pathlib import Path

import pandas
import pytest

from experiments.declaration import Context
from experiments.dispatch.gantt_figure import GANTT
from experiments.dispatch.online import (
    BUDGETS,
    DEPTHS,
    ERRORS,
    LINES,
    ONLINE,
    by_budget,
    by_depth,
    by_error,
    simulated,
)

SMALL = {"nodes": 4, "jobs": 12, "cap": "35%", "days": 1}


@pytest.fixture(scope="module")
def rows() -> pandas.DataFrame:
    points = [{**point, **SMALL} for point in ONLINE.parameters(True)]
    found = [
        {**point, "seed": seed, **ONLINE.task(point, seed)}  # type: ignore[operator]
        for seed in (0, 1)
        for point in points
    ]
    return pandas.DataFrame(found)


def test_rows_have_every_metric_and_line(rows: pandas.DataFrame) -> None:
    assert set(ONLINE.required) <= set(rows)
    assert len(rows) == 2 * (len(LINES) * len(ERRORS) + 2 * (len(DEPTHS) - 1) + len(BUDGETS) - 1)
    assert set(by_error(rows)["policy"]) == set(LINES)
    assert set(by_depth(rows)["depth"]) == set(DEPTHS)
    assert list(by_budget(rows)) == list(BUDGETS)
    exact = rows[(rows["error"] == 0) & (rows["depth"] == 0)]
    assert (exact["over_cap"] == 0).all()


def test_the_budget_is_kept(rows: pandas.DataFrame) -> None:
    limited = by_depth(rows)[by_depth(rows)["policy"] == "prb"].pivot_table(
        index="seed", columns="depth", values="tried"
    )
    assert (limited[1] <= limited[5]).all()
    assert (limited[5] <= limited[0]).all()


def test_errors_scale_the_same_draws() -> None:
    point = {**SMALL, "policy": "prb", "margin": 0.0, "depth": 0}
    half, whole = (simulated({**point, "error": e}, 3)[0] for e in (0.1, 0.2))
    for one, two in zip(half.jobs, whole.jobs, strict=True):
        assert two.real_power - two.power == pytest.approx(2 * (one.real_power - one.power))


def test_the_figure_is_drawn_and_judged(rows: pandas.DataFrame, tmp_path: Path) -> None:
    ONLINE.draw(rows, tmp_path / "a.svg", Context(quick=True, seeds=2))
    ONLINE.draw(rows, tmp_path / "b.svg", Context(quick=True, seeds=2))
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a.csv").exists()
    assert {verdict.status for _, verdict in ONLINE.judge(rows)} == {"not-run"}
    many = pandas.concat([rows[rows["seed"] == 0].assign(seed=s) for s in range(20)])
    assert "not-run" not in {verdict.status for _, verdict in ONLINE.judge(many)}


def test_the_gantt_chart_has_a_verdict(tmp_path: Path) -> None:
    point = GANTT.parameters()[0]
    rows = pandas.DataFrame([{"seed": s, **point, **GANTT.task(point, s)} for s in range(2)])  # type: ignore[operator]
    GANTT.draw(rows, tmp_path / "g.svg", Context())
    assert GANTT.judge(rows)[0][1].status == "not-run"
    many = pandas.concat([rows] * 10)
    assert GANTT.judge(many)[0][1].status == "reproduced"
    assert GANTT.judge(many.assign(violations=1))[0][1].status == "not-reproduced"
