"""The lemmas' numbers: definitions, limits, and probabilities of small block programs."""

import itertools
import math

import numpy as np
import pytest

from algorithms.training.theory.cover_packing import CoverPacking
from algorithms.training.theory.rounding_guarantees import (
    LARGEST_CHERNOFF,
    Guarantee,
    cover_blocks_probability,
    packing_blocks_probability,
)
from algorithms.training.theory.rounding_trials import judge_roundings


def test_the_chernoff_step_ends_near_1_8():
    def exponent(eps):
        return (1 + eps) * math.log1p(eps) - eps

    for eps in np.linspace(0.01, LARGEST_CHERNOFF - 1e-9, 50):
        assert exponent(eps) >= eps**2 / 3
    assert exponent(LARGEST_CHERNOFF + 1e-6) < (LARGEST_CHERNOFF + 1e-6) ** 2 / 3
    assert 1 / (1 + LARGEST_CHERNOFF) == pytest.approx(0.355, abs=1e-3)


def test_the_papers_case_is_outside():
    case = Guarantee("packing", 30, 15, 1, 401, 0.1)
    assert case.gain == pytest.approx(0.278, abs=1e-3)
    assert case.upper_eps == pytest.approx(2.60, abs=0.01)
    assert not case.chernoff_valid
    assert Guarantee("packing", 30, 60, 1, 401, 0.1).chernoff_valid


@pytest.mark.parametrize("delta", [0.02, 0.1, 1.0])
@pytest.mark.parametrize("width", [5.0, 60.0])
def test_thresholds_solve_the_equations_of_the_proofs(width, delta):
    """What is forced to delta/3r and delta/3m in the proofs comes out so."""
    one = Guarantee("packing", width, width, 3, 7, delta)
    assert math.exp(-(one.upper_eps**2) * one.gain * width / 3) == pytest.approx(delta / 21)
    eps = 1 - one.cover_factor / one.gain
    assert math.exp(-(eps**2) * one.gain * width / 2) == pytest.approx(delta / 9)
    two = Guarantee("cover", width, width, 3, 7, delta)
    eps = 1 - 1 / two.gain
    assert math.exp(-(eps**2) * two.gain * width / 2) == pytest.approx(delta / 9)
    eps = two.packing_factor / two.gain - 1
    assert math.exp(-(eps**2) * two.gain * width / 3) == pytest.approx(delta / 21)


def test_what_is_vacuous():
    assert Guarantee("packing", 5, 15, 1, 401, 0.1).vacuous  # the cover threshold is negative
    assert not Guarantee("packing", 300, 500, 1, 5, 0.1).vacuous
    assert Guarantee("cover", 5, 15, 1, 401, 0.1).vacuous  # several times the capacity
    assert not Guarantee("cover", 500, 5000, 1, 5, 1.0).vacuous
    assert Guarantee("packing", 5, 2, 1, 401, 1.0).cost_factor < 1


def blocks(rows, columns):
    matrix = np.zeros((rows, rows * columns))
    for i in range(rows):
        matrix[i, i * columns : (i + 1) * columns] = 1.0
    return matrix


def enumerate_probability(program, relaxed, guarantee, event):
    """Exact probability that some row fails, by trying all roundings."""
    target = guarantee.gain * relaxed
    low, up = np.floor(target), target - np.floor(target)
    total = 0.0
    for choice in itertools.product((0, 1), repeat=len(target)):
        choice = np.array(choice)
        chance = float(np.prod(np.where(choice, up, 1 - up)))
        events = judge_roundings(program, relaxed, guarantee, (low + choice)[None, :])
        total += chance * bool(events[event].any())
    return total


@pytest.mark.parametrize("favour", ["packing", "cover"])
@pytest.mark.parametrize(("most", "delta"), [(1, 1.0), (1, 0.3), (2, 1.0)])
def test_packing_blocks_by_enumeration(favour, most, delta):
    rows, columns = 2, 5
    program = CoverPacking(
        np.ones(10),
        np.ones((1, 10)),
        np.array([2.0 * most]),
        blocks(rows, columns),
        np.full(rows, float(most)),
    )
    relaxed = np.full(10, most / columns)
    assert program.costs @ program.optimum() == pytest.approx(program.costs @ relaxed)
    # W_a as a wide cover would have it, so that G * most / columns stays below 1.
    guarantee = Guarantee(favour, 40.0, float(most), 1, rows, delta)
    exact = packing_blocks_probability(guarantee, most, columns)
    found = enumerate_probability(program, relaxed, guarantee, "packing")
    assert exact == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("favour", ["packing", "cover"])
@pytest.mark.parametrize(("least", "delta"), [(1, 1.0), (2, 0.3), (3, 1.0)])
def test_cover_blocks_by_enumeration(favour, least, delta):
    rows, columns = 2, 6
    program = CoverPacking(
        np.ones(12),
        blocks(rows, columns),
        np.full(rows, float(least)),
        np.zeros((1, 12)),
        np.ones(1),
    )
    relaxed = np.full(12, least / columns)
    assert program.costs @ program.optimum() == pytest.approx(program.costs @ relaxed)
    width = 60.0 if favour == "cover" else float(least)
    guarantee = Guarantee(favour, width, 1e6, rows, 1, delta)
    exact = cover_blocks_probability(guarantee, least, columns)
    found = enumerate_probability(program, relaxed, guarantee, "cover")
    assert exact == pytest.approx(found, abs=1e-12)


def test_too_few_columns_are_refused():
    with pytest.raises(ValueError, match="more columns"):
        packing_blocks_probability(Guarantee("cover", 5, 3, 1, 9, 0.1), 3, 3)


def test_the_printed_probabilities_are_too_small_by_the_number_of_rows():
    """delta/3m (delta/3r) for "some row" is false, delta/3 is not."""
    cover = Guarantee("packing", 100, 1e6, 2000, 1, 1.0)
    some = cover_blocks_probability(cover, 100, 5000)
    assert 1 / 3 / 2000 < some < 1 / 3
    packing = Guarantee("cover", 15 * 401, 15, 1, 401, 0.1)
    some = packing_blocks_probability(packing, 15, 750)
    assert 0.1 / 3 / 401 < some < 0.1 / 3


def test_where_the_chernoff_step_is_none_the_packing_bound_may_break():
    narrow = Guarantee("packing", 401, 1, 1, 401, 0.1)
    assert not narrow.chernoff_valid
    assert packing_blocks_probability(narrow, 1, 50) > 0.1  # more than all of delta
    wide = Guarantee("packing", 401 * 60, 60, 1, 401, 0.1)
    assert wide.chernoff_valid
    assert packing_blocks_probability(wide, 60, 3000) < 0.1 / 3
