"""The lines of the theory table on rows of known answer."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from experiments.declaration import Context
from experiments.registry import EXPERIMENTS
from experiments.training.theory import SCALING_AXES, THEORY, grid, run_grid, scaling_grid
from experiments.training.theory_drawing import markdown
from experiments.training.theory_lines import Line, all_lines, line_of, part_of, verdict_of
from experiments.training.theory_names import RELATION_LINES, SCALING_LINES, STATEMENTS
from experiments.training.theory_probabilities import Trial, lemma_trials, probability_line
from experiments.training.theory_work import exponents


def trial(count=0, draws=20_000, bound=0.03, **changes):
    return Trial(**{"vacuous": False, "chernoff_valid": True} | changes, count=count, draws=draws,
                 bound=bound)  # fmt: skip


def test_probabilities_surely_below_hold_and_surely_above_fail():
    line = probability_line("lemma-1-cost", [trial(0), trial(300)], upper_tail=True)
    assert line.outcome == "holds"
    assert (line.vacuous, line.chernoff) == ("no", "yes")
    line = probability_line("lemma-1-cost", [trial(0), trial(900)], upper_tail=True)
    assert line.outcome == "fails"
    assert line.low > 0.03
    assert line.estimate == 0.045


def test_failures_outside_the_chernoff_range_are_told_apart():
    trials = [trial(900, chernoff_valid=False), trial(900), trial(0)]
    line = probability_line("lemma-1-packing", trials, upper_tail=True)
    assert line.observed.endswith("broken by 2, 1 of them where the Chernoff step is none")


def test_too_few_draws_leave_it_undecided():
    line = probability_line("lemma-1-cost", [trial(0, draws=50)], upper_tail=False)
    assert line.outcome == "undecided"
    assert line.chernoff == "-"


def test_intervals_are_for_all_programs_together():
    """What one program alone would refute, one of a thousand does not."""
    odd = trial(680)  # 0.034; two and a half deviations above 0.03
    alone = probability_line("lemma-1-cost", [odd], upper_tail=False)
    among = probability_line("lemma-1-cost", [odd, *[trial(0)] * 999], upper_tail=False)
    assert (alone.outcome, among.outcome) == ("fails", "undecided")


def test_exact_probabilities_have_no_interval():
    line = probability_line(
        "lemma-1-cover-printed",
        [trial(0), trial(draws=0, exact=0.031, vacuous=True)],
        upper_tail=False,
    )
    assert line.outcome == "fails"
    assert (line.estimate, line.low, line.high) == (0.031, 0.031, 0.031)
    assert line.vacuous == "in 1 of 2"
    assert "computed exactly" in line.observed


def test_a_line_that_holds_for_nothing_says_so():
    line = probability_line("lemma-1-cost", [trial(vacuous=True)], upper_tail=False)
    assert line.verdict == "holds, but vacuous"
    trials = [trial(vacuous=True), trial(vacuous=True), trial()]
    line = probability_line("lemma-1-cost", trials, upper_tail=False)
    assert line.verdict == "holds, mostly vacuous"


def lemma_row(**changes):
    row = {
        "part": "lemma", "lemma": 1, "program": "random", "seed": 0, "copies": 1, "cover": 5,
        "packing": 15, "cover_rows": 5, "packing_rows": 20, "delta": 0.1, "cost_factor": 9.0,
        "vacuous": True, "chernoff_valid": False, "n_draws": 100, "n_cost": 1, "n_cover": 2,
        "n_packing": 3, "exact_cover": math.nan, "exact_packing": math.nan,
    }  # fmt: skip
    return row | changes


def test_lemma_rows_become_trials():
    rows = pd.DataFrame([lemma_row(), lemma_row(lemma=2)])
    (found,) = lemma_trials(rows, 1, "cover", True)
    assert (found.count, found.draws) == (2, 100)
    assert found.bound == pytest.approx(0.1 / 15)
    assert found.vacuous
    (found,) = lemma_trials(rows, 1, "packing", False)
    assert found.bound == pytest.approx(0.1 / 3)
    assert not found.vacuous  # the proof's event is no relaxed one
    (found,) = lemma_trials(rows, 2, "packing", True)
    assert found.bound == pytest.approx(0.1 / 60)
    assert found.vacuous
    (found,) = lemma_trials(pd.DataFrame([lemma_row(cost_factor=0.5)]), 1, "cost", False)
    assert found.vacuous


def test_exact_programs_count_once_whatever_the_seeds():
    block = lemma_row(program="blocks", n_draws=0, exact_packing=0.2, n_packing=math.nan)
    rows = pd.DataFrame([block, block | {"seed": 1}, block | {"seed": 1, "delta": 1.0}])
    assert [t.exact for t in lemma_trials(rows, 1, "packing", False)] == [0.2, 0.2]
    assert lemma_trials(rows, 1, "cover", False) == []
    assert lemma_trials(rows, 1, "cost", False) == []


SLOT = [4000, 0, 0, 0, 0, 1, 0, 0, 0]


def run_row(**changes):
    row = {
        "part": "run", "jobs": 8, "slots": 10, "machines": 4, "preset": "calibrated", "seed": 0,
        "delta": 0.1, "possible": 8, "impossible": 0, "opt_lower": 100.0, "opt_upper": 110.0,
        "opt_status": "bounded", "online": 80.0, "online_packing": 60.0, "online_cover": 70.0,
        "epsilon": 10.0, "gain_cover": 10.0, "start_value": 1.0, "completed": 4,
        "rejected_price": 1, "rejected_capacity": 2, "rejected_rounding": 1, "unpriced_price": 0,
        "unpriced_capacity": 0, "unpriced_rounding": 0, "dual": 900.0, "dual_of_paper": 800.0,
        "dual_scaled": 130.0, "scale": 0.0, "resource_value": 700.0, "cells": 50,
        "cells_failing": 0, "cells_failing_plain": 50, "steps": 4, "steps_failing": 0,
        "run_fails": False, "differential": 0.999999, "unblocked_workers": 0,
        "unblocked_worker_pairs": 20, "unblocked_ps": 0, "unblocked_ps_pairs": 20,
        "slots_packing": json.dumps([SLOT] * 3), "slots_cover": json.dumps([SLOT] * 3),
        "slots_plain": "[[1], [0], [1]]", "along": "[[0, 50, 0, 1.5, 2.0, 0.03, 4.0]]",
    }  # fmt: skip
    return row | changes


GOOD = run_row()


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("relation", {"cells_failing": 1}),
        ("job-step", {"steps_failing": 1}),
        ("start-value", {"start_value": 60.0}),
        ("prices-block", {"unblocked_ps": 1}),
        ("dual-feasible", {"unpriced_rounding": 1}),
        ("weak-duality", {"dual_of_paper": 99.0}),
        ("certificate", {"dual": 99.0}),
        ("certificate", {"dual_scaled": 99.0}),
        ("certificate", {"online": 101.0}),
        ("theorem-5-ratio", {"online_packing": 0.1}),  # 100 / 0.1 > 6 / 0.1 * 10
        ("theorem-5-ratio", {"online_packing": 0.0}),
        ("theorem-6-ratio", {"online_cover": 0.01}),  # 100 / 0.01 > 6 * 10 / 0.1 * 10
        ("differential", {"differential": 0.9}),
    ],
)
def test_one_sure_failure_refutes_a_step_of_the_proof(name, changes):
    good, bad = pd.DataFrame([GOOD] * 3), pd.DataFrame([GOOD, run_row(**changes), GOOD])
    assert line_of(name, good).outcome == "holds"
    line = line_of(name, bad)
    assert line.outcome == "fails"
    if name != "differential":
        assert line.estimate > 0
        assert 0 < line.low < line.estimate < line.high


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("start-value", {"start_value": 52.0}),  # OPT/2 is between 50 and 55
        ("weak-duality", {"dual_of_paper": 105.0}),
        ("theorem-5-ratio", {"online_packing": 105 / 600}),
    ],
)
def test_an_optimum_known_as_an_interval_may_leave_it_undecided(name, changes):
    assert line_of(name, pd.DataFrame([GOOD, run_row(**changes)])).outcome == "undecided"


def test_a_bound_that_no_schedule_could_break_is_vacuous():
    line = line_of("theorem-5-ratio", pd.DataFrame([GOOD]))
    assert line.vacuous == "yes"  # 600 * 60 is more than all jobs are worth
    rows = pd.DataFrame([GOOD, run_row(online_packing=0.2, opt_lower=1, opt_upper=1)])
    assert line_of("theorem-5-ratio", rows).vacuous == "in 1 of 2"


def test_examples_break_what_runs_do_not():
    example = {
        "part": "example", "example": "bargain", "delta": 0.1, "seed": 0, "opt_lower": 100.0,
        "online": 1e-4, "bound": 870.0, "gain_cover": 10.0, "steps_failing": 1,
    }  # fmt: skip
    line = line_of("theorem-5-ratio", pd.DataFrame([GOOD, example]))
    assert line.outcome == "fails"
    assert "bargain" in line.observed
    assert line.n == 1
    harmless = example | {"online": 50.0, "steps_failing": 0}
    assert line_of("theorem-5-ratio", pd.DataFrame([GOOD, harmless])).outcome == "holds"
    assert line_of("job-step", pd.DataFrame([GOOD, example])).outcome == "fails"
    assert line_of("job-step", pd.DataFrame([GOOD, harmless])).outcome == "holds"


def test_feasible_draws_are_counted_against_the_promise():
    line = line_of("theorem-5-feasible", pd.DataFrame([GOOD]))
    assert line.outcome == "fails"  # 0 of 3 where nearly 1 is promised
    assert (line.n, line.estimate, line.vacuous) == (1, 0.0, "yes")
    assert "with G = 1 in 2" in line.observed
    found = json.dumps([[*SLOT[:-1], 1]] * 3)
    assert line_of("theorem-5-feasible", pd.DataFrame([run_row(slots_packing=found)])).outcome == (
        "undecided"  # one run is too few to be sure of 1 - 7e-13
    )


def scaling_rows(power, seeds=5):
    rng = np.random.Generator(np.random.PCG64(1))
    rows = []
    for point in scaling_grid(quick=False):
        for seed in range(seeds):
            size = point[point["axis"]]
            noise = math.exp(rng.normal(0, 0.01))
            work = dict.fromkeys(
                ("choices", "lps_solved", "iterations", "policy_seconds"), noise * size**power
            )
            rows.append({**point, "seed": seed, **work})
    return pd.DataFrame(rows)


def test_exponents_are_found():
    rows = scaling_rows(1.5)
    for axis in SCALING_AXES:
        slopes = exponents(rows, axis, "iterations")
        assert len(slopes) == 5
        assert slopes == pytest.approx([1.5] * 5, abs=0.05)


@pytest.mark.parametrize(
    ("power", "outcomes"),
    [(0.9, "holds holds holds"), (1.5, "fails holds holds"), (3.5, "fails fails fails")],
)
def test_work_is_judged_by_its_exponents(power, outcomes):
    rows = scaling_rows(power)
    assert [line_of(name, rows).outcome for name in SCALING_LINES] == outcomes.split()


def test_counts_of_zero_have_no_exponent():
    rows = scaling_rows(1.0, seeds=2)
    rows.loc[rows["seed"] == 0, "iterations"] = 0
    assert len(exponents(rows, "slots", "iterations")) == 1


@pytest.mark.parametrize("name", STATEMENTS)
def test_lines_without_their_rows_are_not_run(name):
    other = {"lemma": GOOD, "run": lemma_row(), "scaling": GOOD}[part_of(name)]
    assert line_of(name, pd.DataFrame([other])).outcome == "not run"
    assert verdict_of(name, pd.DataFrame([other])).status == "not-run"
    assert line_of(name, pd.DataFrame()).outcome == "not run"


def test_every_statement_is_one_claim():
    claims = [
        claim.id.split("/")[1]
        for experiment in EXPERIMENTS.values()
        if experiment.stored_as == THEORY.stored_as
        for claim in experiment.claims
    ]
    assert sorted(claims) == sorted(STATEMENTS)
    assert set(RELATION_LINES) | set(SCALING_LINES) < set(STATEMENTS)


@pytest.mark.parametrize("quick", [True, False])
def test_the_smaller_figures_use_rows_of_the_table(quick):
    points = [json.dumps(point, sort_keys=True) for point in grid(quick)]
    assert len(set(points)) == len(points)
    for point in [*run_grid(quick), *scaling_grid(quick)]:
        assert json.dumps(point, sort_keys=True) in points


def test_markdown_keeps_every_line(tmp_path):
    lines = [Line("relation", "a | b", "no", "-", "fails"), Line("job-step", "c", "", "", "holds")]
    text = markdown(lines)
    assert text.count("\n") == 4
    assert "a \\| b" in text
    rows = pd.DataFrame([GOOD, lemma_row()])
    THEORY.draw(rows, tmp_path / "t.svg", Context(seeds=1))
    assert (tmp_path / "t.md").read_text().count("\n") == 2 + len(STATEMENTS)
    assert len(all_lines(rows)) == len(STATEMENTS)
    svg = (tmp_path / "t.svg").read_text()
    assert ">lemma-1-cost<" in svg  # text, not outlines
