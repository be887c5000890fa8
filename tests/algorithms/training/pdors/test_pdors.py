"""PD-ORS as a whole: audits, special cases, and its search held against enumeration."""

import itertools
import math

import numpy as np
import pytest

from algorithms.training import run
from algorithms.training.pdors.pdors import PdorsParameters
from algorithms.training.pdors.prices import PriceFunction, price_bounds
from models.files import InputError, to_json
from models.training import Job, Machine, SigmoidUtility, TrainingInstance, audit
from models.training.generator import generate
from tests.training_factories import random_tiny


def unit_job(name="j", **changes):
    """One worker does 100 samples a slot, wherever it is; 20 worker-slots of work."""
    values = {
        "name": name,
        "arrival": 0,
        "epochs": 1,
        "samples": 2000,
        "batch": 5,
        "gradient": 0.0,
        "sample_time": 0.01,
        "workers_per_ps": 2.0,
        "bandwidth_internal": 2.0,
        "bandwidth_external": 1.0,
        "worker": {"gpu": 1},
        "ps": {"cpu": 1},
        "utility": SigmoidUtility(kind="sigmoid", priority=10, decay=0.5, target=3),
    }
    return Job(**{**values, **changes})


def cluster(jobs, machines=1, slots=8, gpu=6, cpu=6):
    return TrainingInstance(
        slots=slots,
        resources=("gpu", "cpu"),
        machines=tuple(
            Machine(name=f"m{h}", capacity={"gpu": gpu, "cpu": cpu}) for h in range(machines)
        ),
        jobs=tuple(jobs),
    )


def greatest_payoff_by_enumeration(instance, i, allocated, slots_used):
    """Over all numbers of workers per slot on the one machine, at the prices of `allocated`."""
    job = instance.jobs[i]
    prices = np.exp(PriceFunction(price_bounds(instance), instance.capacity).log_prices(allocated))[
        :, 0
    ]
    best = 0.0
    for counts in itertools.product(range(job.batch + 1), repeat=slots_used):
        if sum(counts) * 100 < job.workload:
            continue
        cost = 0.0
        for k, workers in enumerate(counts):
            slot = job.arrival + k
            use = workers * instance.worker_demand[i] + (
                math.ceil(workers / job.workers_per_ps) * instance.ps_demand[i]
            )
            if np.any(allocated[slot, 0] + use > instance.capacity[0]):
                cost = math.inf
                break
            cost += float(prices[slot] @ use)
        duration = max(k for k, workers in enumerate(counts) if workers)
        best = max(best, job.utility.value(duration) - cost)
    return best


@pytest.mark.parametrize("priority", [0.2, 3.0, 50.0])
def test_first_and_second_job_get_their_best_schedule(priority):
    """One machine and levels of one worker-slot: the search is exact, and equals enumeration."""
    instance = cluster(
        [
            unit_job("a", samples=900),
            unit_job(
                "b",
                samples=900,
                batch=4,
                utility=SigmoidUtility(kind="sigmoid", priority=priority, decay=1.0, target=1.5),
            ),
        ],
        slots=5,
    )
    log = run(instance, levels=9).log
    for i, decision in enumerate(log.decisions):
        expected = greatest_payoff_by_enumeration(instance, i, log.allocated(i), 5)
        assert decision.payoff == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert (decision.reason is None) == (expected > 0)


@pytest.mark.parametrize("seed", range(12))
def test_schedule_passes_the_audit_and_the_log_tells_its_cost(seed):
    preset = "paper" if seed % 3 == 0 else "calibrated"
    instance = generate(
        jobs=8, slots=6 + seed, machines=1 + seed % 5, preset=preset, seed=seed
    ).instance
    outcome = run(instance, seed=seed)
    report = audit(instance, outcome.solution)
    assert report.feasible, report.violations
    for k, decision in enumerate(outcome.log.decisions):
        result = outcome.solution.jobs[decision.job]
        assert result.reason == decision.reason
        assert result.completion == decision.completion
        assert (decision.reason == "impossible") == (not instance.reach[decision.job].possible)
        if decision.reason is None:
            assert decision.payoff > 0
            prices = np.exp(outcome.log.log_prices(k))
            cost = sum(
                float(
                    prices[t, h]
                    @ (
                        w * instance.worker_demand[decision.job]
                        + s * instance.ps_demand[decision.job]
                    )
                )
                for t, h, w, s in outcome.log.placements[decision.job]
            )
            assert math.exp(decision.log_cost) == pytest.approx(cost, rel=1e-9)
            assert decision.payoff == pytest.approx(result.utility - cost, rel=1e-9, abs=1e-12)


def test_same_seed_same_bytes():
    instance = generate(jobs=10, slots=10, machines=5, seed=3).instance
    first, second = run(instance, seed=4), run(instance, seed=4)
    assert to_json(first.solution) == to_json(second.solution)
    assert first.counters == second.counters


def test_decisions_do_not_depend_on_later_jobs_beyond_the_price_bounds():
    """On-line: with the same U and L, what comes later changes nothing before."""
    early = [unit_job(f"j{i}", samples=700) for i in range(3)]
    late = unit_job("late", samples=700, arrival=2)
    short, long = cluster(early), cluster([*early, late])
    twin = cluster([*early, late.model_copy(update={"arrival": 3})])
    decisions = [run(case).log.decisions[:3] for case in (long, twin)]
    for one, other in zip(*decisions, strict=True):
        assert (one.completion, one.reason) == (other.completion, other.reason)
    assert len(run(short).log.decisions) == 3


def test_jobs_are_decided_by_arrival():
    instance = cluster([unit_job("late", arrival=3), unit_job("early")])
    assert [d.name for d in run(instance).log.decisions] == ["early", "late"]


SPECIAL = {
    "no jobs": cluster([]),
    "one slot": cluster([unit_job(samples=500)], slots=1),
    "all impossible": cluster([unit_job(epochs=10**6), unit_job("k", worker={"gpu": 7})]),
    "no gpu needed": cluster([unit_job(worker={"cpu": 1})]),
    "no demand at all": cluster([unit_job(worker={}, ps={})]),
    "free workers": cluster([unit_job(worker={})], machines=3),
    "batch of one": cluster([unit_job(batch=1, samples=500)]),
    "gamma not whole": cluster([unit_job(workers_per_ps=1.7)], machines=2),
    "gamma below one": cluster([unit_job(workers_per_ps=0.3, batch=2, samples=300)], machines=2),
    "gamma beyond the batch": cluster([unit_job(workers_per_ps=50.0)], machines=2),
    "no capacity of a resource": cluster([unit_job(worker={"cpu": 1})], gpu=0),
    "spread over machines": cluster(
        [unit_job(batch=9, samples=2400)], machines=4, gpu=3, cpu=3, slots=4
    ),
    "steep utility": cluster(
        [
            unit_job(
                f"j{i}",
                samples=900,
                utility=SigmoidUtility(kind="sigmoid", priority=5, decay=6, target=1),
            )
            for i in range(4)
        ],
        slots=80,
        machines=2,
    ),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_cases(name):
    instance = SPECIAL[name]
    outcome = run(instance)
    assert audit(instance, outcome.solution).feasible
    assert len(outcome.solution.jobs) == len(instance.jobs)
    if name in ("no jobs", "all impossible"):
        assert outcome.solution.objective == 0
        assert all(job.reason == "impossible" for job in outcome.solution.jobs)
    else:
        assert outcome.solution.objective > 0
    if name == "steep utility":
        assert outcome.log.prices.bounds.largest_log_ratio > 400


def test_external_allocations_are_used_where_nothing_else_fits():
    instance = SPECIAL["spread over machines"]
    outcome = run(instance)
    machines_per_slot = {}
    for item in outcome.solution.jobs[0].allocation:
        machines_per_slot.setdefault(item.slot, set()).add(item.machine)
    assert max(map(len, machines_per_slot.values())) > 1


def test_theory_gain_leaves_the_external_case_empty():
    """With G from Theorem 3 cover fails (D7): shown here, as in the figures."""
    instance = SPECIAL["spread over machines"]
    assert run(instance, theory="none").solution.objective > 0
    outcome = run(instance, theory="packing")
    assert outcome.solution.objective == 0
    assert outcome.log.decisions[0].reason == "rounding"
    favoured = run(instance, theory="cover")
    assert audit(instance, favoured.solution).feasible


def test_rejection_by_price_and_by_capacity():
    rich = SigmoidUtility(kind="sigmoid", priority=1000, decay=0.0, target=0)
    poor = SigmoidUtility(kind="sigmoid", priority=1e-3, decay=0.0, target=0)
    jobs = [unit_job(f"r{i}", samples=2400, utility=rich) for i in range(3)]
    instance = cluster([*jobs, unit_job("poor", utility=poor)], slots=8)
    reasons = {d.name: d.reason for d in run(instance).log.decisions}
    assert reasons["r0"] is None
    assert "price" in reasons.values()
    full = cluster([unit_job(f"j{i}", samples=500) for i in range(3)], slots=1, gpu=5, cpu=9)
    assert [d.reason for d in run(full).log.decisions] == [None, "capacity", "capacity"]


def test_a_job_lost_only_to_the_level_grid_is_counted():
    """Five workers fit in each of two slots; seven are needed, and 1 level = 7 workers."""
    instance = cluster([unit_job(samples=700)], slots=2, gpu=5, cpu=9)
    coarse = run(instance, levels=1)
    assert coarse.log.decisions[0].reason == "capacity"
    assert coarse.log.decisions[0].lost_to_grid
    assert coarse.counters["jobs_lost_to_grid"] == 1
    fine = run(instance)
    assert fine.log.decisions[0].reason is None


def test_allocations_over_time_end_at_the_schedule():
    instance = generate(jobs=6, slots=8, machines=3, seed=1).instance
    log = run(instance).log
    steps = [step.copy() for step in log.allocated_over_time()]
    assert len(steps) == 7
    assert not steps[0].any()
    assert np.array_equal(steps[-1], log.allocated())
    assert np.all(steps[-1] <= instance.capacity * (1 + 1e-9))
    for earlier, later in itertools.pairwise(steps):
        assert np.all(later >= earlier)


def test_warm_and_cold_reach_the_same_lp_values():
    instance = generate(jobs=6, slots=8, machines=6, seed=2).instance
    warm, cold = run(instance, start="warm"), run(instance, start="cold")
    assert audit(instance, cold.solution).feasible
    # The first decision meets the same prices; later ones may follow another optimal vertex.
    assert warm.log.decisions[0].payoff == pytest.approx(cold.log.decisions[0].payoff, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"gain": "0"}, "gain"),
        ({"delta": "1.5"}, "delta"),
        ({"draws": "none"}, "draws"),
        ({"theory": "both"}, "theory"),
        ({"speed": "3"}, "speed"),
    ],
)
def test_wrong_options_are_named(options, names):
    with pytest.raises(InputError, match=f"--set: {names}"):
        PdorsParameters.from_options(options)


def test_options_as_texts():
    assert PdorsParameters.from_options({"gain": "0.5", "draws": "3"}) == PdorsParameters(
        gain=0.5, draws=3
    )


def test_unknown_policy_is_named():
    with pytest.raises(InputError, match="pdors"):
        run(cluster([]), "nonsense")


def test_the_price_ratio_is_the_log_s_when_it_is_given() -> None:
    instance = random_tiny(3)
    found = run(instance, "pdors", log_price_ratio=9.0)
    assert found.log.prices.bounds.largest_log_ratio == pytest.approx(9.0)
    assert audit(instance, found.solution).feasible
    free = run(instance, "pdors")
    assert free.log.prices.bounds.largest_log_ratio != pytest.approx(9.0)
