"""PRB, FCFS and EASY: audited on random instances, and on cases worked by hand."""

from __future__ import annotations

import pytest

from algorithms.dispatch import POLICIES, run
from algorithms.dispatch.exact.optimum import optimum
from models.dispatch import audit
from models.dispatch.generator import generate
from models.files import InputError
from tests.dispatch_factories import make_instance, make_job, make_node, random_instance

LISTS = ("prb", "fcfs", "easy")


def starts(solution) -> dict[str, int | None]:
    return {job.name: job.start for job in solution.jobs}


@pytest.mark.parametrize("policy", LISTS)
@pytest.mark.parametrize("seed", range(40))
def test_random_instances_pass_the_audit(policy: str, seed: int) -> None:
    instance = random_instance(seed)
    if instance.why_infeasible:
        pytest.skip("the idle system is above the cap")
    solution = run(instance, policy).solution
    report = audit(instance, solution)
    assert report.violations == ()
    assert report.objective == pytest.approx(solution.objective)


@pytest.mark.parametrize("policy", LISTS)
def test_a_generated_system_passes_the_audit(policy: str) -> None:
    instance = generate(nodes=32, jobs=80, seed=1).instance
    assert audit(instance, run(instance, policy).solution).feasible


@pytest.mark.parametrize("seed", range(8))
def test_no_policy_is_below_the_proven_bound(seed: int) -> None:
    instance = random_instance(seed)
    if instance.why_infeasible:
        pytest.skip("the idle system is above the cap")
    lower = optimum(instance, time_limit=5).lower
    for policy in LISTS:
        assert run(instance, policy).solution.objective >= lower - 1e-6 * max(1.0, lower)


def blocked_head():
    """One node of 16 cores: a runs, b needs all of it and waits for a, c is small and short."""
    return make_instance(
        jobs=[
            make_job("a", (8,), submit=0, duration=10),
            make_job("b", (16,), submit=1, duration=10),
            make_job("c", (8,), submit=2, duration=5),
            make_job("d", (8,), submit=2, duration=50),
        ],
        nodes=[make_node(cores=16)],
    )


def test_fcfs_blocks() -> None:
    assert starts(run(blocked_head(), "fcfs").solution) == {"a": 0, "b": 10, "c": 20, "d": 20}


def test_easy_fills_without_delaying_the_head() -> None:
    """c ends before b can start; d would not."""
    assert starts(run(blocked_head(), "easy").solution) == {"a": 0, "b": 10, "c": 2, "d": 20}


def test_the_same_seed_gives_the_same_bytes() -> None:
    instance = generate(nodes=16, jobs=40, seed=2).instance
    for policy in POLICIES:
        one, two = (run(instance, policy, seed=3).solution for _ in range(2))
        assert one.model_dump_json() == two.model_dump_json()


def test_unknown_policy() -> None:
    with pytest.raises(InputError, match="must be one of prb, hybrid, easy, fcfs"):
        run(blocked_head(), "nothing")
