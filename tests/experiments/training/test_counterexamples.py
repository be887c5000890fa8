"""The three instances that break steps of the proof, and the drawn one that broke the theorem."""

import numpy as np
import pytest

from algorithms.training import run
from algorithms.training.exact.brute_force import brute_force
from experiments.training.counterexamples import EXAMPLES, bargain, example_row
from experiments.training.instances import draw_instance
from models.training import audit

DELTA = 0.1


def row(name):
    return example_row({"example": name, "delta": DELTA}, 0)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("seed", [0, 7])
def test_optimum_and_run_are_what_they_seem(name, seed):
    instance = EXAMPLES[name]()
    online = run(instance, "pdors", seed=seed)
    assert audit(instance, online.solution).feasible
    found = row(name)
    assert found["opt_lower"] == pytest.approx(brute_force(instance))
    assert found["opt_upper"] == pytest.approx(brute_force(instance))
    assert online.solution.objective == pytest.approx(found["online"])


def test_the_bargain_breaks_the_bound_of_theorem_5():
    found = row("bargain")
    assert found["opt_lower"] / found["online"] == pytest.approx(1e6)
    assert found["bound"] < 1000
    assert found["steps_failing"] == 1
    # Without rounding: the whole job is placed on one machine.
    assert run(bargain(), "pdors").counters["rounding_attempts"] == 0
    # G of Theorem 6 at its largest does not save it either.
    assert found["opt_lower"] > found["bound"] * found["gain_cover"] * found["online"]


def test_without_a_feasible_draw_the_papers_dual_is_below_the_optimum():
    found = row("no-draw")
    assert found["online"] == 0
    assert found["opt_lower"] == pytest.approx(10)
    assert found["dual_of_paper"] == pytest.approx(5)  # D_0 = OPT / 2 exactly: one job
    assert found["unpriced"] == 1
    for theory in ("packing", "cover"):  # with these G it may be found, or not; never better
        assert run(EXAMPLES["no-draw"](), "pdors", theory=theory).solution.objective <= 10


def test_the_price_of_a_full_machine_does_not_block_a_worker_alone():
    found = row("worker-only")
    assert found["unpriced"] == 1
    assert found["online"] == found["opt_lower"]  # capacity blocks what the price does not


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [7, 8, 9])
def test_the_drawn_instance_breaks_the_bound_in_the_same_way(jobs):
    """Google arrivals, seed 12: a job worth 0.1 takes all machines at the price of empty ones."""
    from algorithms.training.exact.optimum import optimum
    from algorithms.training.theory.allocation_cost import job_steps

    parameters = {"jobs": jobs, "slots": 10, "machines": 4, "preset": "calibrated"}
    instance = draw_instance(parameters, 12).instance
    log = run(instance, "pdors", seed=12).log
    (step,) = job_steps(log, DELTA / 3)
    epsilon = log.prices.bounds.largest_log_ratio
    assert step.primal < 0.1
    assert step.largest_share > 0.99
    assert np.count_nonzero(log.allocated()[2:].max(axis=2)) == 8 * 4  # slots 2-9, all machines
    assert step.dual * DELTA / 3 / epsilon > 100 * step.primal
    best = optimum(instance, time_limit=20.0, seed=12)
    assert best.lower > 6 / DELTA * epsilon * step.primal
