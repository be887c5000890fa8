"""Every multiserver figure: quick rows, verdicts and a drawing that is always the same."""

from pathlib import Path

import pandas as pd
import pytest

from experiments.declaration import Context, resolve
from experiments.registry import EXPERIMENTS

NAMES = [name for name in EXPERIMENTS if name.startswith("multiserver/")]


def test_all_of_the_specification_are_there() -> None:
    wanted = (
        *("reward", "regret", "utilities", "scale", "contention", "arrival", "steps"),
        *("projection", "prices"),
    )
    assert sorted(NAMES) == sorted(f"multiserver/{name}" for name in wanted)


@pytest.mark.parametrize("name", NAMES)
def test_quick_rows_are_judged_and_drawn(name: str, tmp_path: Path) -> None:
    experiment = EXPERIMENTS[name]
    task = resolve(experiment.task_reference)
    points = experiment.parameters(quick=True)
    rows = [{**task(point, 0), **point, "seed": 0} for point in points]
    table = pd.DataFrame([*rows, *({**row, "seed": 1} for row in rows)])
    assert set(experiment.required) <= set(table)
    assert not table[list(experiment.metrics)].isna().any().any()
    for _, verdict in experiment.judge(table):
        assert verdict.status == "not-run"  # two seeds are not enough
    experiment.draw(table, tmp_path / "a.svg", Context(quick=True, seeds=2))
    if name == "multiserver/reward":
        experiment.draw(table, tmp_path / "b.svg", Context(quick=True, seeds=2))
        assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert len((tmp_path / "a.csv").read_text().splitlines()) == len(table) + 1


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_the_same_again(name: str) -> None:
    experiment = EXPERIMENTS[name]
    task = resolve(experiment.task_reference)
    point = experiment.parameters(quick=True)[-1]
    first, again = task(point, 3), task(point, 3)
    for column in first.keys() - {"policy_seconds"}:
        assert first[column] == again[column]


@pytest.mark.parametrize("name", NAMES)
def test_full_grids_are_declared_once_each(name: str) -> None:
    points = EXPERIMENTS[name].parameters()
    assert len({str(sorted(point.items())) for point in points}) == len(points)
    assert EXPERIMENTS[name].seeds >= 20
