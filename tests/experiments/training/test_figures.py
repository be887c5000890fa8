"""All registered experiments: the smallest grid runs, is drawn and judged."""

import math

import pandas as pd
import pytest

from experiments.declaration import Context, resolve
from experiments.registry import EXPERIMENTS
from experiments.tasks import tasks_of
from experiments.training.points import REVISION, ROWS, TASK
from experiments.training.sensitivity import SWEEPS, rows_of

KINDS = {"reproduced", "partly", "not-reproduced", "not-run"}
LARGEST = 300_000  # bytes of a figure that is committed

SLOW = {"training/ratio"}  # its optimum takes seconds per instance
ALL = [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in EXPERIMENTS]
_ROWS: dict[str, dict] = {}  # experiments share points


def rows_for(experiment, seeds=1):
    import json

    rows = []
    for key in tasks_of(experiment, quick=True, seeds=seeds):
        place = f"{experiment.stored_as} {key}"
        if place not in _ROWS:
            given = json.loads(key.parameters)
            _ROWS[place] = {**given, **resolve(experiment.task)(given, key.seed)}
        rows.append({**_ROWS[place], "seed": key.seed})
    return pd.DataFrame(rows)


@pytest.mark.parametrize("name", ALL)
def test_the_quick_grid_runs_and_is_drawn_and_judged(name, tmp_path):
    experiment = EXPERIMENTS[name]
    rows = rows_for(experiment)
    assert set(experiment.required) <= set(rows)
    defined = rows[rows["possible"] > 0] if "possible" in rows else rows  # else no median
    assert defined[list(experiment.required)].notna().all(axis=None)
    for ending in ("svg", "png"):
        figure = tmp_path / f"figure.{ending}"
        experiment.draw(rows, figure, Context(quick=True, seeds=1))
        assert figure.stat().st_size > 5000
    assert (tmp_path / "figure.svg").stat().st_size < LARGEST
    assert len(pd.read_csv(tmp_path / "figure.csv")) == len(rows)
    for _, verdict in experiment.judge(rows):
        assert verdict.status in KINDS
        assert verdict.text.endswith(".")
        assert {"n", "estimate", "low", "high"} <= set(verdict.numbers)


def test_claims_are_named_once():
    ids = [(e.family, claim.id) for e in EXPERIMENTS.values() for claim in e.claims]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_averages_get_twenty_seeds(name):
    experiment = EXPERIMENTS[name]
    assert experiment.seeds >= 20 or name == "training/feasibility"  # nothing is drawn there


def test_policy_figures_share_rows_of_one_task_and_revision():
    sharing = [e for e in EXPERIMENTS.values() if e.stored_as == ROWS]
    assert len(sharing) >= 11
    assert {(e.task_reference, e.revision) for e in sharing} == {(TASK, REVISION)}


@pytest.mark.parametrize("quick", [True, False])
def test_panels_of_the_sensitivity_figure_find_their_rows(quick):
    """Every point of every panel selects exactly its own row."""
    points = EXPERIMENTS["training/sensitivity"].parameters(quick)
    rows = pd.DataFrame([{**p, "place": k} for k, p in enumerate(points)])
    for sweep in SWEEPS:
        for value in sweep.values:
            for policy in sweep.policies:
                wanted = sweep.parameters(policy, value, quick)
                (place,) = rows_of(rows, wanted)["place"]
                assert points[place] == wanted


def test_rows_of_one_seed_have_no_interval():
    rows = rows_for(EXPERIMENTS["training/utility-machines"])
    for _, verdict in EXPERIMENTS["training/utility-machines"].judge(rows):
        assert verdict.status == "not-run"
        assert math.isnan(verdict.numbers["low"])
