"""The simulator against a literal one, against plans, and against changed futures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from algorithms.dispatch import POLICIES, run
from algorithms.dispatch.simulation import REASONS, SimulationSettings, simulate_policy
from algorithms.policy import NoSolution, Run
from models.dispatch import DispatchInstance, Job, audit
from models.dispatch.generator import generate
from models.dispatch.swf import import_swf
from models.files import InputError
from tests.algorithms.dispatch.literal_simulator import Literal
from tests.dispatch_factories import make_instance, make_job, make_node, random_instance

REAL = Path(__file__).parents[4] / "shared/data/swf/HPC2N-2002-alea-head.swf"
LISTS = ("prb", "fcfs", "easy")
ALL = (*LISTS, "hybrid")


def simulate(instance: DispatchInstance, policy: str, **settings: Any) -> Run:
    chosen = POLICIES[policy]
    return simulate_policy(
        chosen, instance, chosen.make_parameters({}), 0, SimulationSettings(**settings)
    )


def with_reality(instance: DispatchInstance, seed: int) -> DispatchInstance:
    """Jobs end early or outrun their estimates, and draw more or less than was predicted."""
    rng = np.random.default_rng(seed)
    jobs = [
        job.model_copy(
            update={
                "runtime": max(1, round(job.duration * rng.uniform(0.2, 1.3))),
                "actual_power": float(round(job.power * rng.uniform(0.7, 1.4), 1)),
            }
        )
        for job in instance.jobs
    ]
    return instance.model_copy(update={"jobs": tuple(jobs)})


def fresh(instance: DispatchInstance, jobs: list[Job] | None = None) -> DispatchInstance:
    """The same instance without what it has computed of itself."""
    content = instance.model_dump()
    if jobs is not None:
        content["jobs"] = tuple(job.model_dump() for job in jobs)
    return DispatchInstance(**content)


def drawn(seed: int, **changes: Any) -> DispatchInstance:
    sizes = {"jobs": 4 + seed % 9, "nodes": 1 + seed % 4, "submits": 12} | changes
    return fresh(with_reality(random_instance(seed, **sizes), seed))


CASES = [
    {},
    {"overrun": "extended"},
    {"margin": 0.2},
    {"depth": 1},
    {"depth": 2, "overrun": "extended", "margin": 0.1},
]


@pytest.mark.parametrize("policy", LISTS)
@pytest.mark.parametrize("settings", CASES, ids=str)
def test_the_compiled_simulator_does_what_the_literal_one_does(
    policy: str, settings: dict[str, Any]
) -> None:
    for seed in range(60):
        instance = drawn(seed)
        found = simulate(instance, policy, **settings)
        literal = Literal(instance, policy, **settings)
        literal.run()
        for j, job in enumerate(found.solution.jobs):
            assert job.start == literal.world.start.get(j), (seed, j)
            assert list(job.nodes) == literal.hosts.get(j, []), (seed, j)
            waited = dict(zip(REASONS, found.log.waited[j].tolist(), strict=True))
            if job.start is not None:
                assert waited == literal.waited[j], (seed, j)
                assert sum(waited.values()) == job.start - instance.jobs[j].submit
                assert found.log.promised[j] == literal.promised.get(j, -1)


@pytest.mark.parametrize("policy", ALL)
def test_simulated_schedules_pass_the_audit(policy: str) -> None:
    budget = {"budget": 20} if policy == "hybrid" else {}
    for seed in range(60):
        instance = drawn(seed, jobs=seed % 17)
        for settings in CASES:
            found = simulate(instance, policy, **settings, **budget)
            report = audit(instance, found.solution)
            assert report.violations == ()
            assert found.solution.mode == "simulated"
            metrics = found.log.metrics
            assert metrics.weighted_queue_time == pytest.approx(report.objective)
            assert metrics.peak_power == pytest.approx(report.peak_power)
            assert metrics.seconds_over_cap == report.seconds_over_cap
            assert metrics.energy_over_cap == pytest.approx(report.energy_over_cap)


@pytest.mark.parametrize("policy", LISTS)
def test_where_predictions_are_right_simulation_and_plan_are_one(policy: str) -> None:
    for seed in range(60):
        instance = random_instance(seed, jobs=8, nodes=3, submits=10)
        plan, found = run(instance, policy).solution, simulate(instance, policy).solution
        assert plan.jobs == found.jobs
        assert plan.objective == found.objective


@pytest.mark.parametrize("policy", ALL)
@pytest.mark.parametrize("overrun", ["killed", "extended"])
def test_nobody_knows_the_future(policy: str, overrun: str) -> None:
    """Whatever happens after time t, all that was started up to t stays as it was."""
    rng = np.random.default_rng(1)
    settings: dict[str, Any] = {"overrun": overrun}
    if policy == "hybrid":
        settings["budget"] = 30
    for seed in range(80):
        instance = drawn(seed, jobs=10, nodes=2)
        before = simulate(instance, policy, **settings).solution
        starts = [job.start for job in before.jobs if job.start is not None]
        if not starts:
            continue
        time = int(rng.integers(0, max(starts) + 1))
        jobs = []
        for job, outcome in zip(instance.jobs, before.jobs, strict=True):
            changes: dict[str, Any] = {}
            if job.submit > time:
                changes |= {
                    "submit": time + int(rng.integers(1, 9)),
                    "duration": int(rng.integers(1, 9)),
                    "expected_wait": int(rng.choice([1, 3, 7, 50])),
                    "power": float(rng.integers(0, 9)),
                    "units": ({"cores": float(rng.integers(0, 3))},),
                }
            if outcome.start is None or outcome.start >= time:  # seen from then on
                changes["actual_power"] = float(rng.integers(0, 9))
                changes["runtime"] = int(rng.integers(1, 9))
            elif outcome.end is not None and outcome.end > time:
                least = time + 1 - outcome.start
                changes["runtime"] = least + int(rng.integers(0, 9))
            jobs.append(job.model_copy(update=changes))
        after = simulate(fresh(instance, jobs), policy, **settings).solution
        for one, other in zip(before.jobs, after.jobs, strict=True):
            if one.start is not None and one.start <= time:
                assert (one.start, one.nodes) == (other.start, other.nodes)
            else:
                assert other.start is None or other.start > time


def test_easy_keeps_its_promises() -> None:
    """With predictions of power that hold, nobody starts after the first time reserved for it."""
    early = 0
    for seed in range(200):
        instance = drawn(seed, jobs=12, nodes=3)
        jobs = [job.model_copy(update={"actual_power": None}) for job in instance.jobs]
        log = simulate(fresh(instance, jobs), "easy").log
        reserved = log.promised >= 0
        assert (log.start[reserved] <= log.promised[reserved]).all()
        early += int((log.start[reserved] < log.promised[reserved]).sum())
    assert early > 0


def outcomes(found: Run) -> dict[str, tuple[int | None, int | None]]:
    return {job.name: (job.start, job.end) for job in found.solution.jobs}


def test_early_ends_and_overruns_by_hand() -> None:
    jobs = [
        make_job("a", (16,), duration=100, runtime=30),
        make_job("b", (16,), duration=50, runtime=70),
        make_job("c", (16,), duration=10),
    ]
    instance = make_instance(jobs)
    killed = simulate(instance, "fcfs")
    assert outcomes(killed) == {"a": (0, 30), "b": (30, 80), "c": (80, 90)}
    assert killed.log.killed == ("b",)
    extended = simulate(instance, "fcfs", overrun="extended")
    assert outcomes(extended) == {"a": (0, 30), "b": (30, 100), "c": (100, 110)}
    assert extended.log.killed == ()
    for found in (killed, extended):
        assert audit(instance, found.solution).violations == ()


def test_power_is_predicted_until_it_is_seen() -> None:
    # 100 W idle, 160 W for jobs. Together a and b are predicted to draw 160 W and draw 200 W:
    # seen too late for b, and early enough for c, which is there at 10.
    jobs = [
        make_job("a", (8,), actual_power=120.0, duration=50),
        make_job("b", (7,), power=80.0, duration=100),
        make_job("c", (1,), submit=10, power=0.0, duration=5),
        make_job("d", (1,), submit=10, power=10.0, duration=5),
    ]
    instance = make_instance(jobs, power_cap=260.0)
    found = simulate(instance, "prb")
    assert outcomes(found) == {"a": (0, 50), "b": (0, 100), "c": (50, 55), "d": (50, 55)}
    metrics = found.log.metrics
    assert (metrics.seconds_over_cap, metrics.energy_over_cap) == (50, 50 * 40.0)
    assert (metrics.peak_power, metrics.makespan) == (300.0, 100)
    careful = simulate(instance, "prb", margin=0.5)
    assert careful.log.metrics.seconds_over_cap == 0
    assert outcomes(careful)["b"] == (50, 150)


def test_a_margin_makes_no_job_impossible() -> None:
    instance = make_instance([make_job("a", (16,)), make_job("b", (16,))], power_cap=261.0)
    assert outcomes(simulate(instance, "easy", margin=5.0)) == {"a": (0, 60), "b": (60, 120)}


def test_a_margin_up_to_the_cap_leaves_room_for_rounding() -> None:
    # a, b and c leave a trace of rounding in the sum of power; d asks for all that there is.
    jobs = [
        make_job("a", (1,), power=0.0, actual_power=0.8, duration=1),
        make_job("b", (1,), power=0.0, actual_power=2.1, duration=2),
        make_job("c", (1,), power=0.0, duration=9),
        make_job("d", (1,), power=2.9, duration=1, submit=3),
    ]
    found = simulate(make_instance(jobs, power_cap=103.0), "prb", margin=0.5)
    assert outcomes(found)["d"] == (3, 4)


def test_why_jobs_wait() -> None:
    jobs = [
        make_job("a", (10,), duration=100),
        make_job("b", (16,), duration=10),  # no room
        make_job("c", (6,), power=1.0, duration=500),  # room, but b's reservation is in the way
        make_job("d", (1,), power=900.0, duration=1),  # room, but no power
    ]
    found = simulate(make_instance(jobs, power_cap=1001.0), "easy")
    assert outcomes(found) == {"a": (0, 100), "b": (100, 110), "c": (110, 610), "d": (110, 111)}
    assert found.log.waited.tolist() == [[0, 0, 0], [100, 0, 0], [10, 0, 100], [0, 110, 0]]
    blocked = simulate(make_instance(jobs), "fcfs").log
    assert blocked.waited.tolist() == [[0, 0, 0], [100, 0, 0], [10, 0, 100], [0, 0, 110]]


def test_metrics_by_hand() -> None:
    jobs = [make_job("a", (16,), duration=20, submit=10), make_job("b", (8,), duration=5)]
    found = simulate(make_instance(jobs), "fcfs").log.metrics
    assert (found.mean_wait, found.most_wait, found.makespan) == (0, 0, 30)
    jobs = [make_job("a", (16,), duration=20), make_job("b", (8,), duration=5)]
    found = simulate(make_instance(jobs), "fcfs").log.metrics
    assert (found.mean_wait, found.most_wait, found.makespan) == (10.0, 20.0, 25)
    assert found.mean_slowdown == pytest.approx((1 + 25 / 10) / 2)
    assert found.utilisation["cores"] == pytest.approx((20 + 5 * 0.5) / 25)
    assert found.utilisation["gpus"] == 0.0
    assert found.mean_power == pytest.approx(100 + (160 * 20 + 80 * 5) / 25)


@pytest.mark.parametrize("policy", ALL)
def test_borders(policy: str) -> None:
    empty = simulate(make_instance(), policy)
    assert (empty.solution.jobs, empty.log.metrics.makespan) == ((), 0)
    with pytest.raises(NoSolution, match="above the cap"):
        simulate(make_instance([make_job()], power_cap=1.0), policy)
    found = simulate(make_instance([make_job("a", (99,)), make_job("b", submit=5)]), policy)
    assert outcomes(found) == {"a": (None, None), "b": (5, 65)}
    assert found.log.impossible[0][0] == "a"
    # Equal submits, and a job that no order of nodes places, which may not hang.
    nodes = [make_node("x", 8), make_node("y", 8)]
    jobs = [make_job(name, (2, 2, 2, 3, 3, 4), runtime=7) for name in "abc"]
    for settings in CASES:
        ends = outcomes(simulate(make_instance(jobs, nodes), policy, **settings))
        turns = [(0, 7), (7, 14), (14, 21)]
        assert sorted(ends.values()) == turns
        assert policy == "hybrid" or list(ends.values()) == turns


def test_a_policy_that_only_plans_is_refused() -> None:
    planner = type("Planner", (), {"name": "planner"})()
    with pytest.raises(InputError, match="must be one of prb, fcfs, easy, hybrid"):
        simulate_policy(planner, make_instance(), POLICIES["prb"].make_parameters({}))


def test_a_generated_system_on_line() -> None:
    instance = generate(64, 300, cap="35%", span=86400, seed=1).instance
    for policy in LISTS:
        found = simulate(instance, policy)
        assert audit(instance, found.solution).violations == ()
        assert len(found.log.killed) > 0


@pytest.mark.skipif(not REAL.exists(), reason="the shared HPC2N excerpt is not here")
def test_a_real_log_on_line() -> None:
    instance = import_swf(REAL, 120, 2, cap="60%").instance
    for policy in LISTS:
        for overrun in ("killed", "extended"):
            found = simulate(instance, policy, overrun=overrun)
            assert audit(instance, found.solution).violations == ()
            assert found.log.waited.sum() == (found.log.start - instance.arrays.submit).sum()


def test_the_hybrid_plans_with_what_it_has() -> None:
    for seed in range(40):
        instance = drawn(seed, jobs=10, nodes=3)
        for settings in ({"budget": 0}, {"budget": 50, "depth": 2}, {"overrun": "extended"}):
            found = simulate(instance, "hybrid", **settings)
            assert audit(instance, found.solution).violations == ()
            waited = np.where(found.log.start >= 0, found.log.start - instance.arrays.submit, 0)
            assert (found.log.waited.sum(axis=1) == waited).all()
            again = simulate(fresh(instance), "hybrid", **settings)
            assert again.solution == found.solution


def test_the_hybrid_starts_the_short_job_first() -> None:
    # Alone on the node, the order a, b costs 100 s of waiting, the order b, a 10 s.
    jobs = [make_job("a", (16,), duration=100), make_job("b", (16,), duration=10)]
    found = simulate(make_instance(jobs), "hybrid")
    assert outcomes(found) == {"a": (10, 110), "b": (0, 10)}
    assert found.log.waited.tolist() == [[10, 0, 0], [0, 0, 0]]


def test_the_hybrid_waits_less_than_prb() -> None:
    hybrid, prb = 0.0, 0.0
    for seed in range(3):
        instance = generate(16, 60, cap="35%", span=43200, seed=seed).instance
        hybrid += simulate(instance, "hybrid", budget=100).solution.objective
        prb += simulate(instance, "prb").solution.objective
    assert hybrid < 0.9 * prb


def test_a_budget_is_the_hybrids_alone() -> None:
    with pytest.raises(InputError, match="budget: goes with the hybrid only"):
        simulate(make_instance(), "prb", budget=5)
