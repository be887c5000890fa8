"""The parts of the optimum: list scheduling, ruin and recreate, packing questions, conflicts."""

import itertools
from typing import Any

import numpy as np
import pytest

from algorithms.training.exact.brute_force import brute_force
from algorithms.training.exact.completions import CompletionCheck, add_conflict, completions_of
from algorithms.training.exact.enumeration import enumerate_plans, slot_options
from algorithms.training.exact.list_scheduling import (
    FreeCapacity,
    colocated_workers,
    spread_workers,
)
from algorithms.training.exact.local_search import ruin_and_recreate
from algorithms.training.exact.neighbourhood import improve_jobs
from models.solver import solve_model
from models.training import TrainingInstance, audit, build_schedule
from models.training.generator import generate
from models.training.pooled import build_pooled
from models.training.r_dmlrs import JobPlan
from models.training.throughput import most_colocated_workers
from tests.training_factories import make_instance, make_job, random_tiny


def last_slots(instance: TrainingInstance) -> dict[int, int]:
    return dict.fromkeys(instance.possible_jobs, instance.slots - 1)


@pytest.mark.parametrize("seed", range(5))
def test_colocated_workers_agree_with_bisection(seed: int) -> None:
    instance = generate(8, 6, 3, seed=seed, scales=(1.0, 0.4, 2.0)).instance
    for i, job in enumerate(instance.jobs):
        alpha, beta = instance.worker_demand[i], instance.ps_demand[i]
        counts = colocated_workers(job, alpha, beta, instance.capacity)
        assert counts.tolist() == [
            most_colocated_workers(job, alpha, beta, row) for row in instance.capacity
        ]


@pytest.mark.parametrize("seed", range(5))
def test_spread_workers_fit_and_come_close_to_the_most(seed: int) -> None:
    instance = generate(8, 6, 4, seed=seed).instance
    for i, job in enumerate(instance.jobs):
        alpha, beta = instance.worker_demand[i], instance.ps_demand[i]
        total, workers, ps = spread_workers(job, alpha, beta, instance.capacity, job.batch)
        assert total == workers.sum() <= instance.reach[i].external_workers
        assert ps.sum() == job.ps_for(total)
        use = workers[:, None] * alpha + ps[:, None] * beta
        assert np.all(use <= instance.capacity * (1 + 1e-9))
        assert total >= 0.9 * instance.reach[i].external_workers


def test_free_capacity_comes_back() -> None:
    instance = make_instance(make_job("a"), make_job("b"), slots=3)
    free = FreeCapacity(instance)
    places = free.find(0, 2)
    assert places == [(0, 0, 2, 2), (1, 0, 2, 2)]
    free.put(0, places)
    assert free.completion(0) == 1
    assert free.earliest_completion(1, 2) is None
    assert free.find(1, 2) is None
    assert free.take_out(0) == places
    assert free.left == pytest.approx(FreeCapacity(instance).left)
    assert free.earliest_completion(1, 2) == 1


@pytest.mark.parametrize("style", ["early", "late", "large"])
def test_styles_use_the_slots_they_name(style: Any) -> None:
    instance = make_instance(make_job("a"), make_job("b", batch=1, samples=1), slots=3)
    free = FreeCapacity(instance)
    free.put(1, [(1, 0, 1, 1)])  # slot 1 is half taken
    places = free.find(0, 2, style)
    assert places is not None
    assert {place[0] for place in places} == {
        "early": {0, 1, 2},
        "late": {0, 1, 2},
        "large": {0, 2},
    }[style]


@pytest.mark.parametrize("seed", range(3))
def test_ruin_and_recreate_never_gets_worse(seed: int) -> None:
    instance = generate(8, 8, 2, seed=seed).instance
    rng = np.random.Generator(np.random.PCG64(seed))
    values: list[float] = []

    def go_on(done: int, value: float) -> bool:
        values.append(value)
        return done < 15

    best = ruin_and_recreate(instance, {}, last_slots(instance), rng, go_on)
    schedule = build_schedule(instance, "search", best)
    assert audit(instance, schedule).feasible
    assert values == sorted(values)
    assert schedule.objective == pytest.approx(values[-1])
    assert values[-1] > 0


def test_exact_improvement_finds_the_better_order() -> None:
    """Both jobs fill the machine for two slots; the one that is worth more waits at first."""
    few = make_job("few", utility=make_job().utility.model_copy(update={"priority": 1.0}))
    instance = make_instance(few, make_job("much"), slots=4)
    first = {0: [(0, 0, 2, 2), (1, 0, 2, 2)], 1: [(2, 0, 2, 2), (3, 0, 2, 2)]}
    assert improve_jobs(instance, first, [0], last_slots(instance), 5.0) is None
    better = improve_jobs(instance, first, [0, 1], last_slots(instance), 5.0)
    assert better is not None
    assert FreeCapacity.after(instance, better).completion(1) == 1
    assert improve_jobs(instance, better, [0, 1], last_slots(instance), 5.0) is None


@pytest.mark.parametrize("seed", [0, 3, 4, 5, 8, 10])
def test_packing_questions_agree_with_enumeration(seed: int) -> None:
    """Every vector of completions: some choice of one plan per job fits, or none does."""
    instance = random_tiny(seed)
    plans = enumerate_plans(instance)
    check = CompletionCheck(instance)
    jobs = instance.possible_jobs[:2]
    for slots in itertools.product(range(instance.slots), repeat=len(jobs)):
        completions = dict(zip(jobs, slots, strict=True))
        answer = check.meet(completions, 10.0)
        assert answer.feasible == some_choice_fits(instance, plans, completions)
        if answer.feasible:
            done = FreeCapacity.after(instance, answer.placements)
            assert all(done.completion(i) <= slot for i, slot in completions.items())


def some_choice_fits(
    instance: TrainingInstance, plans: list[JobPlan], completions: dict[int, int]
) -> bool:
    choices = [
        [plan for plan in plans if plan.job == i and plan.completion <= slot]
        for i, slot in completions.items()
    ]
    for choice in itertools.product(*choices):
        left = FreeCapacity(instance)
        for plan in choice:
            left.put(plan.job, plan.placements)
        if left.left.min() >= -1e-9:
            return True
    return False


def test_conflict_is_sharpened_to_the_jobs_that_matter() -> None:
    """Two jobs fill the machine until slot 3; the third has a machine of its own resource."""
    jobs = [make_job("a"), make_job("b"), make_job("c", worker={"gpu": 1.0}, ps={})]
    instance = make_instance(*jobs, slots=5, capacities=({"cpu": 4.0, "gpu": 2.0},))
    check = CompletionCheck(instance)
    assert check.meet({0: 1, 1: 3, 2: 1}, 5.0).feasible is True
    wrong = {0: 1, 1: 1, 2: 1}
    assert check.meet(wrong, 5.0).feasible is False
    assert check.meet({0: 0}, 5.0).feasible is False
    assert check.meet({}, 5.0).feasible is True
    sharp = check.sharpen(wrong, last_slots(instance), lambda: 5.0)
    assert sharp == {0: 2, 1: 2}
    assert check.sharpen(wrong, last_slots(instance), lambda: 0.0) == wrong

    model = build_pooled(instance)
    add_conflict(model, sharp)
    solve_model(model).load_into(model)
    met = completions_of(model)
    assert sorted(met) == [0, 1, 2]
    assert max(met[0], met[1]) >= 3


def test_completions_with_many_equal_slots_can_be_met() -> None:
    """18 units of work in 6 equal slots of 3: exactly enough, so no order may be lost."""
    jobs = [make_job("a", samples=4, batch=2, ps={}), make_job("b", samples=5, batch=3, ps={})]
    instance = make_instance(*jobs, slots=6, capacities=({"cpu": 3.0},))
    check = CompletionCheck(instance)
    assert check.meet({0: 5, 1: 5}, 10.0).feasible is True
    # In slot 5 alone, job a has at most two workers: one unit is missing.
    assert check.meet({0: 5, 1: 4}, 10.0).feasible is False


def test_slot_options_leave_out_what_is_dominated() -> None:
    """Two workers at one PS each on 4 CPUs: 0, 1 or 2 workers, always with exactly their PSs."""
    instance = make_instance(make_job())
    assert sorted(slot_options(instance, 0)) == [(), ((0, 1, 1),), ((0, 2, 2),)]


def test_enumeration_refuses_what_is_not_tiny() -> None:
    with pytest.raises(ValueError, match="too many schedules"):
        enumerate_plans(make_instance(make_job(), slots=20))


def test_brute_force_by_hand() -> None:
    """Two jobs of one slot each on a machine for one of them: both, one after the other."""
    jobs = [make_job(n, epochs=1) for n in "ab"]
    u = jobs[0].utility.value
    assert brute_force(make_instance(*jobs, slots=2)) == pytest.approx(u(0) + u(1))
    assert brute_force(make_instance(*jobs, slots=1)) == pytest.approx(u(0))
    assert brute_force(make_instance(slots=1)) == 0
