"""Monte Carlo counts against all roundings of tiny programs."""

import itertools

import numpy as np
import pytest

from algorithms.training.theory.cover_packing import CoverPacking, random_program
from algorithms.training.theory.rounding_guarantees import Guarantee
from algorithms.training.theory.rounding_trials import draw_roundings, judge_roundings, observe
from experiments.intervals import binomial_interval

DRAWS = 20_000


def rng(seed=0):
    return np.random.Generator(np.random.PCG64(seed))


def test_roundings_are_neighbours_with_the_right_mean():
    target = np.array([0.0, 0.25, 1.5, 2.0 - 1e-9, 7.0])
    x = draw_roundings(target, DRAWS, rng())
    assert [set(column) for column in x.T] == [{0}, {0, 1}, {1, 2}, {2}, {7}]
    assert x.mean(axis=0) == pytest.approx(target, abs=0.02)


@pytest.mark.parametrize("favour", ["packing", "cover"])
@pytest.mark.parametrize("seed", range(3))
def test_counts_agree_with_all_roundings(favour, seed):
    program, relaxed = random_program(
        columns=8, cover_rows=2, packing_rows=3, smallest_cover=1.3, smallest_packing=3.0,
        rng=rng(seed), density=0.6,
    )  # fmt: skip
    guarantee = Guarantee(favour, 1.3, 3.0, 2, 3, 1.0)
    target = guarantee.gain * relaxed
    low, up = np.floor(target), target - np.floor(target)
    chances = dict.fromkeys(
        ("cost", "cover", "packing", "covered", "packed", "feasible", "worst_cover"), 0.0
    )
    rows = np.zeros(2)
    for choice in itertools.product((0, 1), repeat=len(target)):
        choice = np.array(choice)
        chance = float(np.prod(np.where(choice, up, 1 - up)))
        events = judge_roundings(program, relaxed, guarantee, (low + choice)[None, :])
        for name in ("cost", "covered", "packed"):
            chances[name] += chance * bool(events[name][0])
        for name in ("cover", "packing"):
            chances[name] += chance * bool(events[name].any())
        chances["feasible"] += chance * bool(events["covered"][0] and events["packed"][0])
        rows += chance * events["cover"][0]
    chances["worst_cover"] = float(rows.max())
    trials = observe(program, relaxed, guarantee, DRAWS, rng(seed + 10))
    assert trials.draws == DRAWS
    for name, chance in chances.items():
        low_end, high_end = binomial_interval(getattr(trials, name), DRAWS, 1 - 1e-6)
        assert low_end - 1e-9 <= chance <= high_end + 1e-9, name


def test_events_by_hand():
    program = CoverPacking(
        costs=np.array([1.0, 2.0]),
        cover=np.array([[1.0, 1.0]]),
        cover_least=np.array([4.0]),
        packing=np.array([[1.0, 0.0]]),
        packing_most=np.array([3.0]),
    )
    relaxed = np.array([3.0, 1.0])  # cost 5
    guarantee = Guarantee("cover", 4.0, 3.0, 1, 1, 1.0)
    x = np.array([[3.0, 1.0], [3.0, 0.0], [4.0, 0.0], [4.0, 100.0]])
    events = judge_roundings(program, relaxed, guarantee, x)
    assert events["covered"].tolist() == [True, False, True, True]
    assert events["cover"][:, 0].tolist() == [False, True, False, False]
    assert events["packed"].tolist() == [True, True, False, False]
    assert events["cost"].tolist() == [False, False, False, True]
    # A row may hold packing_factor times its capacity before the relaxed event happens.
    assert guarantee.packing_factor > 4 / 3
    assert not events["packing"].any()
