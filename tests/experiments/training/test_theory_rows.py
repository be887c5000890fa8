"""Rows of the theory sweep: what must hold among their numbers."""

import json
import math

import pytest

from experiments.training.theory import lemma_grid, run_grid, scaling_grid
from experiments.training.theory_lemma import lemma_row
from experiments.training.theory_run import SLOT_FIELDS, run_row
from experiments.training.theory_scaling import scaling_row


def quick(part):
    return {**{"lemma": lemma_grid, "run": run_grid, "scaling": scaling_grid}[part](True)[0]}


@pytest.mark.parametrize("seed", [0, 1])
def test_a_run_is_consistent(seed):
    parameters = {**quick("run"), "draws": 200, "time_limit": 0.2}
    row = run_row(parameters, seed)
    assert row["online"] <= row["opt_lower"] <= row["opt_upper"] + 1e-9
    assert max(row["online_packing"], row["online_cover"]) <= row["opt_lower"] + 1e-9
    assert row["dual_scaled"] <= row["dual"] + 1e-6
    assert row["opt_lower"] <= row["dual_scaled"] + 1e-6
    assert row["start_value"] <= row["opt_upper"] / 2
    for reason in ("price", "capacity", "rounding"):
        assert 0 <= row[f"unpriced_{reason}"] <= row[f"rejected_{reason}"]
    assert row["cells_failing"] <= row["cells_failing_plain"] <= row["cells"]
    steps = json.loads(row["along"])
    assert len(steps) == row["steps"] == row["completed"]
    assert sum(step[1] for step in steps) == row["cells"]
    assert sum(step[6] < 1 for step in steps) == row["steps_failing"]
    slots = [json.loads(row[f"slots_{name}"]) for name in ("packing", "cover", "plain")]
    assert len({len(found) for found in slots}) == 1
    for values in slots[0] + slots[1]:
        slot = dict(zip(SLOT_FIELDS, values, strict=True))
        assert slot["draws"] == 200
        assert all(0 <= slot[name] <= 200 for name in ("cost", "cover", "packing", "feasible"))
    again = run_row(parameters, seed)
    for name in row:
        if not name.startswith("opt_"):  # found within a time limit
            assert again[name] == row[name], name


def test_lemma_rows_follow_from_the_seed():
    parameters = {**quick("lemma"), "copies": 25}
    first, other = lemma_row(parameters, 0), lemma_row(parameters, 1)
    assert repr(lemma_row(parameters, 0)) == repr(first)  # NaN as text
    assert repr(first) != repr(other)
    assert first["n_draws"] == parameters["draws"]


def test_programs_computed_exactly_do_not_depend_on_the_seed():
    blocks = [p for p in lemma_grid(False) if p["program"] == "blocks"]
    assert len(blocks) == 30
    for parameters in blocks:
        row = lemma_row(parameters, 0)
        assert repr(lemma_row(parameters, 5)) == repr(row)
        exact = [row["exact_cover"], row["exact_packing"]]
        assert sum(math.isnan(value) for value in exact) == 1
        assert 0 <= min(v for v in exact if not math.isnan(v)) < 1


def test_scaling_counts_the_dynamic_programs_work():
    """(slots left) pairs of level and earlier level for each possible job."""
    parameters = quick("scaling")
    row = scaling_row(parameters, 0)
    levels = parameters["levels"]
    assert row["choices"] / row["states"] == pytest.approx((levels + 1) * (levels + 2) / 2 / levels)
    assert row["states"] <= parameters["jobs"] * parameters["slots"] * levels
    assert row["lps_solved"] > 0
    assert row["rounding_attempts"] <= 10 * (row["lps_solved"] + row["lps_reused"])
