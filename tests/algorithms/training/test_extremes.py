"""Numbers at the edge of the format: what D2 forgives must not make workers or PSs vanish."""

import math

import pytest

from algorithms.training import POLICIES, run
from algorithms.training.baselines.oasis_prices import worker_side
from algorithms.training.exact.brute_force import brute_force
from algorithms.training.exact.optimum import optimum
from algorithms.training.pdors.prices import price_bounds
from algorithms.training.theory.certificate import dual_certificate
from models.solver import solve_model
from models.training import TrainingInstance, audit
from models.training.dmlrs import build_dmlrs
from models.training.fit import ratio_row
from models.training.pooled import build_pooled
from models.training.throughput import workers_for
from tests.training_factories import make_instance, make_job, random_tiny

TWO_MACHINES = ({"cpu": 2.0}, {"cpu": 3.0})


def three_jobs(**changes: float) -> TrainingInstance:
    jobs = [make_job(f"j{i}", **changes) for i in range(3)]
    return make_instance(*jobs, capacities=TWO_MACHINES)


@pytest.mark.parametrize("sample_time", [1e-7, 1e-9, 1e-12, 1e-300])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_job_of_almost_no_work_still_needs_a_worker(policy: str, sample_time: float) -> None:
    """One sample at 1e9 samples per slot: ceil(1e-9 - 1e-9) workers would be none."""
    instance = three_jobs(sample_time=sample_time, epochs=1, samples=1)
    outcome = run(instance, policy)
    assert audit(instance, outcome.solution).feasible
    for job in outcome.solution.jobs:
        assert job.completion is None or sum(item.workers for item in job.allocation) >= 1
    if policy in ("pdors", "oasis"):
        assert outcome.solution.objective > 0


def test_workers_for_at_least_one() -> None:
    assert [workers_for(v, 10.0) for v in (1e-30, 1e-8, 10.0, 10.0000001, 20)] == [1, 1, 1, 2, 2]


def test_prices_of_a_job_of_almost_no_work() -> None:
    instance = three_jobs(sample_time=1e-12, epochs=1, samples=1)
    bounds = price_bounds(instance)
    # One worker-slot of demand 2; 3 slots of 5 CPUs; u at the last slot, duration 2.
    lowest = instance.jobs[0].utility.value(2) / 2 * (2 / 15) / 2
    assert math.exp(bounds.log_lowest) == pytest.approx(lowest)
    assert math.isfinite(worker_side(instance).prices.bounds.log_lowest)


# ceil(w / gamma - 1e-9) PSs: from gamma = 1e9 on, w <= gamma / 1e9 workers need none.
HUGE = [9e8, 1.5e9, 2.5e9, 1e10, 1e12, 1e300]


@pytest.mark.parametrize("gamma", [0.3, 2.0, 99.0, 100.0, 150.0, 1e5, 1e6, *HUGE])
@pytest.mark.parametrize("batch", [1, 2, 7, 200, 10**4])
def test_the_ratio_row_is_d2(gamma: float, batch: int) -> None:
    job = make_job(workers_per_ps=gamma, batch=batch)
    coefficient, constant = ratio_row(job)
    assert coefficient <= max(batch, gamma if gamma < batch else 0) or gamma < 100
    for workers in {1, 2, 3, 7, batch // 2, batch} - {0}:
        if workers <= batch:
            needed = job.ps_for(workers)
            assert workers <= coefficient * needed + constant + 1e-6
            if needed:
                assert workers > coefficient * (needed - 1) + constant


@pytest.mark.parametrize("gamma", HUGE)
def test_optimum_where_no_parameter_server_is_needed(gamma: float) -> None:
    """A PS fits nowhere; the optimum used to be "proved" to be 0."""
    jobs = [
        make_job(f"j{i}", workers_per_ps=gamma, batch=3, epochs=1, samples=2 + i, ps={"cpu": 9})
        for i in range(3)
    ]
    instance = make_instance(*jobs, capacities=TWO_MACHINES)
    expected = brute_force(instance)
    assert (expected > 0) == (gamma > 1e9)
    found = optimum(instance, time_limit=20.0)
    assert found.status == "optimal"
    assert found.lower == pytest.approx(expected, rel=1e-6)
    assert audit(instance, found.schedule).feasible


@pytest.mark.parametrize("gamma", HUGE)
@pytest.mark.parametrize("ps", [0.5, 9.0])
def test_policies_where_no_parameter_server_is_needed(gamma: float, ps: float) -> None:
    instance = three_jobs(workers_per_ps=gamma, ps={"cpu": ps})
    expected = brute_force(instance)
    for policy in POLICIES:
        outcome = run(instance, policy)
        assert audit(instance, outcome.solution).feasible
        assert outcome.solution.objective <= expected * (1 + 1e-9)
    for theory in ("none", "packing", "cover"):
        outcome = run(instance, "pdors", theory=theory)
        assert dual_certificate(outcome.solution, outcome.log).dual >= expected * (1 - 1e-9)


def test_oasis_with_one_machine_rejects_even_what_needs_no_parameter_server() -> None:
    instance = make_instance(make_job(workers_per_ps=1e12))
    assert run(instance, "oasis").solution.jobs[0].reason == "capacity"
    apart = make_instance(make_job(workers_per_ps=1e12), capacities=TWO_MACHINES)
    assert run(apart, "oasis").solution.jobs[0].completion is not None


@pytest.mark.parametrize("exponent", [-30, -12, 22, 60, 200])
@pytest.mark.parametrize("policy", POLICIES)
def test_the_unit_of_the_resources_does_not_matter(policy: str, exponent: int) -> None:
    """HiGHS refuses coefficients from 1e15 on, and takes those below 1e-9 for zero."""
    unit = 2.0**exponent

    def measured(unit: float) -> TrainingInstance:
        jobs = [make_job(f"j{i}", worker={"cpu": unit}, ps={"cpu": unit / 2}) for i in range(4)]
        return make_instance(*jobs, capacities=({"cpu": 3 * unit}, {"cpu": 2.5 * unit}))

    plain, scaled = run(measured(1.0), policy), run(measured(unit), policy)
    assert audit(measured(unit), scaled.solution).feasible
    assert scaled.solution.objective == pytest.approx(plain.solution.objective)
    assert optimum(measured(unit), time_limit=20.0).lower == pytest.approx(
        optimum(measured(1.0), time_limit=20.0).lower
    )


@pytest.mark.parametrize("capacity", [1e13, 1e19, 1e25, 1e200])
@pytest.mark.parametrize("policy", POLICIES)
def test_capacity_for_more_units_than_an_integer_holds(policy: str, capacity: float) -> None:
    jobs = [make_job(f"j{i}", batch=2, ps={"cpu": 0.5, "gpu": 1e-3}) for i in range(3)]
    machines = tuple({"cpu": 1.0 + h, "gpu": capacity / (1 + h)} for h in range(3))
    instance = make_instance(*jobs, capacities=machines)
    outcome = run(instance, policy)
    assert audit(instance, outcome.solution).feasible
    plenty = tuple({"cpu": 1.0 + h, "gpu": 1.0} for h in range(3))
    enough = run(make_instance(*jobs, capacities=plenty), policy)
    if policy not in ("pdors", "oasis", "pdors-plus"):  # whose prices see the capacity
        assert outcome.solution.objective == enough.solution.objective


def test_dorm_shares_fairly_where_the_solver_refuses_the_numbers() -> None:
    jobs = [make_job(f"j{i}", batch=1, workers_per_ps=1.5e-16, ps={}) for i in range(2)]
    instance = make_instance(*jobs, slots=5)
    outcome = run(instance, "dorm")
    assert outcome.counters["fair_instead"] >= 1
    assert audit(instance, outcome.solution).feasible
    assert all(job.completion is not None for job in outcome.solution.jobs)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("gamma", [1e9, 3 * (1 - 5e-10), 3 * (1 - 2e-9)])
def test_what_d2_forgives_a_machine_is_not_forgiven_again_together(
    policy: str, gamma: float
) -> None:
    """Three workers on each of 4 machines need 1 PS each, 12 together 5 (or 0 and 1)."""
    jobs = [
        make_job(f"j{i}", workers_per_ps=gamma, batch=12, samples=20, ps={"cpu": 1.0})
        for i in range(2)
    ]
    instance = make_instance(*jobs, capacities=({"cpu": 4.0},) * 4)
    assert audit(instance, run(instance, policy).solution).feasible


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("demand", [0.6e-12, 0.9e-12, 1.2e-12])
def test_the_absolute_tolerance_is_used_once(policy: str, demand: float) -> None:
    """Without capacity the audit forgives a use of 1e-12, of workers and PSs together."""
    jobs = [
        make_job(f"j{i}", worker={"gpu": demand, "cpu": 0.1}, ps={"gpu": demand, "cpu": 1.0})
        for i in range(3)
    ]
    instance = make_instance(*jobs, capacities=({"cpu": 4.0}, {"cpu": 4.0, "gpu": 2e-12}))
    assert audit(instance, run(instance, policy).solution).feasible


@pytest.mark.parametrize("policy", POLICIES)
def test_a_demand_next_to_nothing(policy: str) -> None:
    instance = three_jobs(worker={}, ps={"cpu": 1e-300})
    outcome = run(instance, policy)
    assert audit(instance, outcome.solution).feasible
    assert all(job.completion is not None for job in outcome.solution.jobs)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("demand", [1e-300, 1e-20, 1.0])
@pytest.mark.parametrize("priority", [5e-324, 10.0, 1e200])
def test_prices_beyond_the_largest_number(demand: float, priority: float) -> None:
    """Utility per unit of a resource can overflow; the certificate then says nothing, truly."""
    utility = {"kind": "sigmoid", "priority": priority, "decay": 0.0, "target": 1.0}
    job = make_job(worker={"cpu": demand}, ps={"cpu": demand}, utility=utility)
    instance = make_instance(job, capacities=({"cpu": 2 * demand, "gpu": 1.0},))
    outcome = run(instance, "pdors")
    assert audit(instance, outcome.solution).feasible
    certificate = dual_certificate(outcome.solution, outcome.log)
    assert certificate.dual >= optimum(instance, time_limit=10.0).lower * (1 - 1e-9)


@pytest.mark.filterwarnings("error")
def test_machines_without_any_capacity() -> None:
    """A worker that needs nothing and, by a huge gamma, no PS."""
    instance = make_instance(make_job(worker={}, workers_per_ps=1e12), capacities=({}, {}))
    for policy in POLICIES:
        outcome = run(instance, policy)
        assert audit(instance, outcome.solution).feasible
        if policy in ("pdors", "oasis"):  # whose prices need a capacity
            assert outcome.solution.jobs[0].completion is not None


def test_optimum_uses_the_absolute_tolerance_that_policies_use() -> None:
    """Every job needs next to nothing of a resource of which there is less: 0 was "proved"."""
    jobs = [
        make_job(f"j{i}", worker={"gpu": 2e-13, "cpu": 1.0}, ps={"gpu": 1e-13}, arrival=i % 2)
        for i in range(3)
    ]
    instance = make_instance(*jobs, capacities=({"cpu": 2.0}, {"cpu": 1.0, "gpu": 3e-13}))
    found = optimum(instance, time_limit=20.0)
    assert audit(instance, found.schedule).feasible
    assert found.status == "optimal"
    for policy in POLICIES:
        solution = run(instance, policy).solution
        if audit(instance, solution).feasible:
            assert solution.objective <= found.upper * (1 + 1e-9)
    roomy = make_instance(*jobs, capacities=({"cpu": 2.0, "gpu": 1.0}, {"cpu": 1.0, "gpu": 1.0}))
    assert found.lower == pytest.approx(optimum(roomy, time_limit=20.0).lower)
    for build in (build_dmlrs, build_pooled):
        allowed = solve_model(build(instance), mip_gap=1e-9).objective
        assert allowed == pytest.approx(solve_model(build(roomy), mip_gap=1e-9).objective)


@pytest.mark.parametrize("seed", range(16))
def test_the_interval_holds_the_optimum_where_utilities_lie_far_apart(seed: int) -> None:
    """One job is worth ten million times the others; HiGHS proved bounds without those."""
    tiny = random_tiny(seed)
    first = tiny.jobs[0]
    utility = first.utility.model_copy(update={"priority": first.utility.priority * 1e7})
    jobs = (first.model_copy(update={"utility": utility}), *tiny.jobs[1:])
    instance = tiny.model_copy(update={"jobs": jobs})
    expected = brute_force(instance)
    found = optimum(instance, time_limit=20.0)
    assert found.status == "optimal"
    assert found.lower * (1 - 1e-13) <= expected <= found.upper * (1 + 1e-13)
    scale = utility.value(0)
    for build in (build_dmlrs, build_pooled):
        bound = solve_model(build(instance, scale=scale), mip_gap=1e-12, mip_gap_abs=0.0).bound
        assert bound * scale >= expected * (1 - 1e-13)
