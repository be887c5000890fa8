"""The benchmark at its smallest: two ascents agree, and the table has what the README shows."""

import numpy as np
import pytest

from algorithms.multiserver import run
from experiments.multiserver.bench import bench
from experiments.multiserver.numpy_ascent import NumpyAscent
from models.multiserver import arrival_table
from models.multiserver.generator import generate


@pytest.mark.parametrize("degree", [None, 4, 1])
@pytest.mark.parametrize("gain", ["linear", "mixed"])
def test_numpy_and_the_compiled_ascent_are_one(degree: int | None, gain: str) -> None:
    instance = generate(10, 12, 4, degree=degree, gain=gain, slots=200, seed=1)
    rewards = NumpyAscent(instance).run(arrival_table(instance.arrivals, 10))
    np.testing.assert_allclose(rewards, run(instance, "oga").solution.rewards, rtol=1e-9)


def test_bench_runs_and_compares() -> None:
    found = bench(sizes=((5, 6, 3, 40), (4, 5, None, 40)), growth=(2, 4), long=500)
    assert list(found["slots"]) == ["L=5, R=6, edges=18", "L=4, R=5, edges=20"]
    for row in found["slots"].values():
        assert 0 < row["low"] <= row["numpy_over_ours"] <= row["high"]
        assert row["us"] > 0
    for row in found["slots_by_a_solver"].values():
        assert 0 < row["low"] <= row["qp_over_ours"] <= row["high"]
    assert found["long_run"]["T=500"]["seconds"] > 0
