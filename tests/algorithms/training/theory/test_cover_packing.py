"""Random cover/packing programs have the widths and shapes that are asked for."""

import math

import numpy as np
import pytest

from algorithms.training.pdors.slot import JobSlots
from algorithms.training.theory.cover_packing import (
    CoverPacking,
    program_of_slot,
    random_program,
    slot_like_program,
    split_columns,
)
from tests.algorithms.training.kit import cluster, unit_job


def rng(seed=0):
    return np.random.Generator(np.random.PCG64(seed))


def feasible(program, x):
    return (program.cover @ x >= program.cover_least - 1e-6).all() and (
        program.packing @ x <= program.packing_most + 1e-6
    ).all()


@pytest.mark.parametrize("seed", range(5))
def test_random_programs_have_their_widths_and_an_optimum(seed):
    program, relaxed = random_program(
        columns=30, cover_rows=3, packing_rows=6, smallest_cover=7, smallest_packing=20,
        rng=rng(seed),
    )  # fmt: skip
    assert program.smallest_cover == pytest.approx(7)
    assert program.smallest_packing == pytest.approx(20)
    assert feasible(program, relaxed)
    whole = program.optimum(integer=True)
    assert whole is not None
    assert feasible(program, whole)
    assert program.costs @ whole >= program.costs @ relaxed - 1e-6


def test_infeasible_widths_are_an_error():
    with pytest.raises(ValueError, match="no feasible program"):
        random_program(
            columns=4, cover_rows=3, packing_rows=6, smallest_cover=500, smallest_packing=1,
            rng=rng(), density=1.0,
        )  # fmt: skip


def test_slot_like_programs_have_the_papers_shape():
    program, relaxed = slot_like_program(
        machines=10, resources=4, smallest_cover=5, smallest_packing=15, workers_per_ps=3.0,
        rng=rng(),
    )  # fmt: skip
    assert program.packing.shape == (41, 20)
    assert program.smallest_packing == pytest.approx(15)
    assert program.smallest_cover == 5
    assert feasible(program, relaxed)


def test_splitting_columns_keeps_the_optimum():
    program, relaxed = random_program(
        columns=12, cover_rows=2, packing_rows=3, smallest_cover=3, smallest_packing=9, rng=rng(2)
    )
    larger, shared = split_columns(program, relaxed, 4)
    assert feasible(larger, shared)
    found = larger.optimum()
    assert larger.costs @ shared == pytest.approx(float(larger.costs @ found), rel=1e-6)
    assert larger.smallest_cover == program.smallest_cover


def test_no_coefficients_have_infinite_width():
    empty = CoverPacking(np.ones(1), np.zeros((1, 1)), np.ones(1), np.zeros((1, 1)), np.ones(1))
    assert empty.smallest_cover == math.inf


def test_the_general_form_of_a_slot_program_has_its_optimum():
    instance = cluster(
        unit_job(ps={"cpu": 1}, workers_per_ps=2.0),
        machines=[{"gpu": 2.5, "cpu": 3.0}, {"gpu": 2.0, "cpu": 3.0}],
    )
    slots = JobSlots(instance, 0)
    log_prices = np.log(np.array([[1.0, 0.5], [3.0, 0.7]]))
    state = slots.state(instance.capacity, log_prices)
    found = slots.external(state, 4)
    program = program_of_slot(slots, state, 4, 0.0)
    x = np.concatenate([found.workers, found.ps])
    assert feasible(program, x)
    assert program.costs @ x == pytest.approx(math.exp(found.log_cost))
    assert program.costs @ program.optimum() == pytest.approx(math.exp(found.log_cost))
    # Width: 2 GPUs on the second machine, one GPU per worker.
    assert program.smallest_packing == pytest.approx(slots.smallest_packing(state)) == 2.0
