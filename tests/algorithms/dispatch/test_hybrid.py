"""The hybrid: audited, never worse than PRB, near the optimum, each part switchable."""

from typing import Any

import numpy as np
import pytest

from algorithms.dispatch import run
from algorithms.dispatch.exact.optimum import optimum
from models.dispatch import DispatchInstance, audit
from models.dispatch.generator import generate
from tests.dispatch_factories import random_instance

TINY: dict[str, Any] = {"rounds": 2, "draws": 20, "polish": 100, "starts": 200, "work": 0.01}
ENGINES = ("set-times", "time-indexed", "cp-sat", "none")


def check(instance: DispatchInstance, **options: Any) -> float:
    """Run the hybrid, audit it, and return its gain over PRB [s]."""
    outcome = run(instance, "hybrid", **{**TINY, **options})
    report = audit(instance, outcome.solution)
    assert report.feasible, report.violations[:3]
    prb = run(instance, "prb").solution.objective
    assert outcome.log.prb == prb
    assert report.objective <= prb + 1e-9
    return prb - report.objective


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(10))
def test_every_engine_is_feasible_and_not_worse_than_prb(engine: str, seed: int) -> None:
    check(random_instance(seed, jobs=8, nodes=3), engine=engine)


@pytest.mark.parametrize("engine", ["set-times", "none"])
@pytest.mark.parametrize("cap", ["4%", "35%", "none"])
def test_generated_systems_are_feasible_under_tight_and_no_caps(engine: str, cap: str) -> None:
    for seed in range(3):
        check(generate(6, 25, cap=cap, span=7200 * (seed % 2), seed=seed).instance, engine=engine)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_a_thousand_random_instances(block: int) -> None:
    rng = np.random.default_rng(block)
    for seed in range(100 * block, 100 * block + 100):
        jobs, nodes = int(rng.integers(0, 25)), int(rng.integers(1, 6))
        engine = ENGINES[seed % 4] if seed % 20 < 4 else ("set-times", "none")[seed % 2]
        if seed % 3:
            instance = random_instance(seed, jobs=jobs, nodes=nodes)
        else:
            cap = ("2%", "10%", "35%", "none")[int(rng.integers(4))]
            instance = generate(nodes, jobs, cap=cap, span=3600, seed=seed).instance
        check(instance, engine=engine, nodes=("fullest", "file")[seed % 2])


def test_tiny_cases_are_solved_to_the_optimum_mostly() -> None:
    excess = []
    for seed in range(12):
        instance = random_instance(seed, jobs=6, nodes=2)
        least = optimum(instance, time_limit=20)
        assert least.status == "optimal"
        found = run(instance, "hybrid", **{**TINY, "polish": 2000}).solution.objective
        assert found >= least.upper - 1e-9
        excess.append(found - least.upper)
    assert sum(value < 1e-9 for value in excess) >= 10
