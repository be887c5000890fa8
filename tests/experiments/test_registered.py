"""All that is registered: its smallest grid runs, its rows are valid, it is drawn and judged."""

import json
import math

import pandas as pd
import pytest

from experiments.declaration import META, Context, Experiment, resolve
from experiments.registry import EXPERIMENTS
from experiments.tasks import tasks_of
from tests.experiments.quick_rows import outcome_of, rows_for

KINDS = {"reproduced", "partly", "not-reproduced", "not-run"}
LARGEST = 500_000  # bytes of a figure that is committed
LONG_SECONDS = 10.0  # a quick grid that takes longer than this on one worker is tested as slow
FAMILIES = {"training", "splitting", "multiserver", "dispatch"}

ALL = list(EXPERIMENTS.values())
RUN = [
    pytest.param(e, marks=pytest.mark.slow if e.quick_seconds > LONG_SECONDS else (), id=e.name)
    for e in ALL
]
each = pytest.mark.parametrize("experiment", ALL, ids=EXPERIMENTS)


@pytest.mark.parametrize("experiment", RUN)
def test_the_quick_grid_runs_and_is_drawn_and_judged(experiment: Experiment, tmp_path) -> None:
    rows = rows_for(experiment)
    assert not set(META) & set(rows)
    assert rows[list(experiment.required)].notna().any().all()  # no column is empty
    assert (rows[experiment.cost] >= 0).all()
    for ending in ("svg", "png"):
        figure = tmp_path / f"figure.{ending}"
        experiment.draw(rows, figure, Context(quick=True, seeds=1))
        assert figure.stat().st_size > 5000
    drawn = (tmp_path / "figure.svg").read_bytes()
    assert len(drawn) < LARGEST
    table = pd.read_csv(tmp_path / "figure.csv")
    assert len(table)
    assert not set(META) & set(table)
    for claim, verdict in experiment.judge(rows):
        assert verdict.status in KINDS, claim.id
        assert verdict.text.endswith("."), claim.id
        assert {"n", "estimate", "low", "high"} <= set(verdict.numbers), claim.id
    if experiment.finding:
        assert resolve(experiment.finding)(rows).endswith(".")
    experiment.draw(rows, tmp_path / "figure.svg", Context(quick=True, seeds=1))
    assert (tmp_path / "figure.svg").read_bytes() == drawn


@pytest.mark.parametrize("experiment", RUN)
def test_the_same_task_gives_the_same_row(experiment: Experiment) -> None:
    """The shortest task of the quick grid, again.

    What a time limit cut off (`opt_status` is not optimal) hangs on the machine's load.
    """
    keys = tasks_of(experiment, quick=True, seeds=1)
    shortest = min(keys, key=lambda key: outcome_of(experiment, *key).seconds)
    first = json.loads(outcome_of(experiment, *shortest).row or "")
    second = resolve(experiment.task)(json.loads(shortest.parameters), shortest.seed)
    assert set(first) == set(second)
    proved = all(row.get("opt_status", "optimal") == "optimal" for row in (first, second))
    for name, value in first.items():
        if "seconds" not in name and (proved or not name.startswith("opt_")):
            again = second[name]
            same = value == again or (value != value and again != again)
            assert same, f"{name}: {value} and then {again}"


@each
def test_a_listing_has_what_it_shows(experiment: Experiment) -> None:
    assert experiment.family in FAMILIES
    assert experiment.paper
    assert experiment.summary
    assert experiment.claims or experiment.finding  # else nobody can say what it shows
    assert experiment.policies or experiment.name == "training/feasibility"  # pure arithmetic
    for seconds in (experiment.expected_seconds, experiment.quick_seconds):
        assert math.isfinite(seconds)
        assert seconds > 0
    assert experiment.quick_seconds <= experiment.expected_seconds
    for column, meaning in experiment.metrics.items():
        assert meaning, column


@each
@pytest.mark.parametrize("quick", [True, False])
def test_points_are_distinct_json(experiment: Experiment, quick: bool) -> None:
    keys = tasks_of(experiment, quick=quick, seeds=1)
    assert len(keys) == len(experiment.parameters(quick))
    for key in keys:
        given = json.loads(key.parameters)
        assert not set(given) & {"seed", *META, *experiment.required}


@each
def test_what_is_named_exists(experiment: Experiment) -> None:
    for function in (experiment.task, experiment.figure, experiment.check, experiment.finding):
        if function:
            assert callable(resolve(function))
    for claim in experiment.claims:
        assert callable(resolve(claim.judge))
        assert claim.statement
        assert claim.statistic


@each
def test_without_rows_nothing_is_claimed(experiment: Experiment) -> None:
    verdicts = [verdict for _, verdict in experiment.judge(pd.DataFrame())]
    assert {verdict.status for verdict in verdicts} <= {"not-run"}


def test_claims_are_named_once() -> None:
    ids = [(e.family, claim.id) for e in ALL for claim in e.claims]
    assert len(set(ids)) == len(ids)


def test_experiments_that_share_rows_share_task_and_revision() -> None:
    shared: dict[str, set[tuple[str, int]]] = {}
    for experiment in ALL:
        made = (experiment.task_reference, experiment.revision)
        shared.setdefault(experiment.stored_as, set()).add(made)
    assert {name: len(made) for name, made in shared.items() if len(made) > 1} == {}
