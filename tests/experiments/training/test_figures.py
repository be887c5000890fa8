"""Figures of the training family, beyond what tests/experiments/test_registered.py asks of all."""

import math

import pandas as pd
import pytest

from experiments.registry import EXPERIMENTS
from experiments.training.points import REVISION, ROWS, TASK
from experiments.training.sensitivity import SWEEPS, rows_of
from tests.experiments.quick_rows import rows_for

TRAINING = [name for name in EXPERIMENTS if name.startswith("training/")]


@pytest.mark.parametrize("name", TRAINING)
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
