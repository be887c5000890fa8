"""Integer optima of slot programs for small demands, held to the ILP and to rounding."""

import math

import numpy as np
import pytest

from algorithms.training.pdors.curves import slot_of_state
from algorithms.training.pdors.integer_frontier import integer_frontier
from algorithms.training.pdors.rounding import round_slot
from models.solver import Engine, Status
from models.training.slot_program import build_slot_program
from models.training.throughput import fits, most_units
from tests.algorithms.training.pdors.test_curves import random_case

FEW = 5


def frontier_of(slots, state, most):
    return integer_frontier(
        slots.job, slots.worker_demand, slots.ps_demand, slot_of_state(state), most
    )


def integer_program(slots, state, cover):
    """Least cost by HiGHS; None if infeasible. Prices are of ordinary size here."""
    free = np.maximum(state.free_capacity, 0.0)
    job = slots.job
    model = build_slot_program(
        worker_cost=np.exp(state.log_worker_price),
        ps_cost=np.exp(state.log_ps_price),
        free_capacity=free,
        worker_demand=slots.worker_demand,
        ps_demand=slots.ps_demand,
        most_workers=job.batch * (most_units(slots.worker_demand, free, 1) >= 1),
        most_ps=job.ps_for(job.batch) * (most_units(slots.ps_demand, free, 1) >= 1),
        batch=job.batch,
        worker_cover=cover,
        ps_cover=job.ps_for(cover),
        integer=True,
    )
    result = Engine(model, options={"mip_rel_gap": 0.0}).solve("cold")
    return None if result.status is Status.INFEASIBLE else result.objective


@pytest.mark.parametrize("kind", ["plain", "ties", "alike", "exhausted", "real", "zero rows"])
def test_equals_the_integer_program(kind):
    compared = 0
    for seed in range(12):
        slots, state, _ = random_case(seed, kind, most_machines=7)
        most = min(FEW, slots.job.batch)
        frontier = frontier_of(slots, state, most)
        assert frontier.log_cost[0] == -math.inf
        assert np.all(frontier.log_cost[1:] >= frontier.log_cost[:-1])
        for cover in range(1, most + 1):
            expected = integer_program(slots, state, cover)
            found = frontier.allocation(cover)
            if expected is None:
                assert found is None
                assert frontier.log_cost[cover] == math.inf
                continue
            assert math.exp(frontier.log_cost[cover]) == pytest.approx(expected, rel=1e-6)
            assert found.workers.sum() == cover
            assert found.ps.sum() == slots.job.ps_for(cover)
            assert len(np.unique(found.machines)) == len(found.machines)
            use = np.outer(found.workers, slots.worker_demand) + np.outer(found.ps, slots.ps_demand)
            assert fits(use, state.free_capacity[found.machines]).all()
            full = np.zeros((2, len(state.free_capacity)), dtype=np.int64)
            full[:, found.machines] = found.workers, found.ps
            assert state.log_cost(*full) == pytest.approx(frontier.log_cost[cover], abs=1e-11)
            compared += 1
    assert compared > 15


def test_lies_between_the_linear_program_and_what_rounding_finds():
    rounded_above = 0
    for seed in range(60):
        slots, state, rng = random_case(seed, "plain", most_machines=6)
        most = min(FEW, slots.job.batch)
        frontier = frontier_of(slots, state, most)
        for cover in range(1, most + 1):
            relaxed = slots.external(state, cover)
            if relaxed is None:
                assert frontier.log_cost[cover] == math.inf
                continue
            assert frontier.log_cost[cover] >= relaxed.log_cost - 1e-6
            rounded = round_slot(
                slots.job,
                relaxed.workers,
                relaxed.ps,
                worker_cover=cover,
                worker_demand=slots.worker_demand,
                ps_demand=slots.ps_demand,
                free_capacity=state.free_capacity,
                log_cost=state.log_cost,
                rng=rng,
                feasible_draws=10,
                max_attempts=500,
            )
            assert rounded.log_cost >= frontier.log_cost[cover] - 1e-9
            rounded_above += rounded.log_cost > frontier.log_cost[cover] + 1e-9
    assert rounded_above > 10


def test_prices_far_apart_do_no_harm():
    slots, state, _ = random_case(3, "prices apart", most_machines=6)
    frontier = frontier_of(slots, state, min(FEW, slots.job.batch))
    assert np.isfinite(frontier.log_cost[1])
    assert frontier.log_cost[1] >= slots.external(state, 1).log_cost - 1e-6
