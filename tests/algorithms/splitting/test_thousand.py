"""What must hold on a thousand random instances; some of them in every run, all of them slowly."""

import numpy as np
import pytest

from algorithms.policy import NoSolution
from algorithms.splitting import run
from algorithms.splitting.exact.service_arcs import arc_relaxation
from algorithms.splitting.single.enumeration import all_placements
from algorithms.splitting.single.label_setting import ExactRouter
from algorithms.splitting.single.linear_program import solve_integer, solve_linear
from algorithms.splitting.single.per_visit import PerVisitRouter
from models.splitting import Queues, completion_time
from models.splitting.audit import audit
from tests.splitting_factories import random_small, with_budgets

MOST_PLACEMENTS = 1500
SOME = range(0, 1000, 25)
ALL = range(1000)


def equal(value, expected, tolerance=1e-9):
    return value == pytest.approx(expected, rel=tolerance, abs=1e-12)


def check_single(seed):
    """The exact search equals HiGHS on (6)-(10) and enumeration; per visit where it must."""
    size = {"nodes": 1 + seed % 5, "layers": 1 + seed // 5 % 6, "jobs": 2}
    instance = random_small(seed, **size)
    exact, per_visit = ExactRouter(instance), PerVisitRouter(instance)
    queues = Queues.initial(instance)
    for job in range(2):
        found, fast = exact.route(job, queues), per_visit.route(job, queues)
        integer, relaxed = (solve(instance, job, queues) for solve in (solve_integer, solve_linear))
        assert equal(integer.seconds, found.seconds, 1e-7)
        assert relaxed.value <= found.seconds * (1 + 1e-7) + 1e-9
        if size["nodes"] ** size["layers"] <= MOST_PLACEMENTS:
            best = min(seconds for seconds, _ in all_placements(instance, job, queues))
            assert equal(found.seconds, best)
        for answer in (found, fast):
            assert equal(answer.seconds, completion_time(instance, job, answer.route, queues))
        assert found.seconds <= fast.seconds * (1 + 1e-9) <= fast.charged * (1 + 2e-9)
        if size["layers"] <= 2:
            assert equal(fast.seconds, found.seconds)
        queues.add(instance, job, found.route)
    calm = random_small(seed, **size, queues=False)
    for job in range(2):
        none = Queues.initial(calm)
        fast = PerVisitRouter(calm).route(job, none)
        assert equal(fast.seconds, ExactRouter(calm).route(job, none).seconds)


def check_whole(seed):
    """The greedy never falls; OPT is no later than it and NFS; (1)-(5) no less than its LP."""
    instance = random_small(seed, jobs=1 + seed % 4, layers=1 + seed % 3)
    greedy, optimal = run(instance, "greedy"), run(instance, "optimal", time_limit=20)
    near = run(instance, "nfs")
    for outcome in (greedy, optimal, near):
        assert audit(instance, outcome.solution).feasible
    completions = np.array(greedy.log.completions)
    assert (np.diff(completions) >= -1e-9 * completions[:-1]).all()
    assert optimal.solution.objective <= min(greedy.solution.objective, near.solution.objective)
    tight = with_budgets(instance, seed)
    relaxed = arc_relaxation(tight)
    assert arc_relaxation(tight, printed=True) <= relaxed * (1 + 1e-7) + 1e-9
    try:
        whole = run(tight, "ilp")
    except NoSolution:
        return
    assert relaxed <= whole.solution.objective * (1 + 1e-7) + 1e-9
    assert audit(tight, whole.solution).feasible


@pytest.mark.parametrize("seed", SOME)
def test_one_job(seed):
    check_single(seed)


@pytest.mark.parametrize("seed", SOME)
def test_whole_instances(seed):
    check_whole(seed)


@pytest.mark.slow
def test_one_job_on_a_thousand():
    for seed in ALL:
        check_single(seed)


@pytest.mark.slow
def test_whole_instances_on_a_thousand():
    for seed in ALL:
        check_whole(seed)


def test_the_instances_above_ask_for_all_that_the_search_can_do():
    """Labels are searched, better routes come back to a node, and per visit is not exact."""
    counters, dearer = {"label_searches": 0, "labels": 0}, 0
    for seed in range(1000):
        instance = random_small(seed, nodes=5, layers=5, jobs=1)
        exact, queues = ExactRouter(instance), Queues.initial(instance)
        found, fast = exact.route(0, queues), PerVisitRouter(instance).route(0, queues)
        dearer += fast.seconds > found.seconds * (1 + 1e-9)
        for name in counters:
            counters[name] += exact.counters[name]
    assert dearer >= 5
    assert counters["label_searches"] >= 50
    assert counters["labels"] >= 500


def test_beyond_the_most_labels_the_integer_program_takes_over():
    taken = 0
    for seed in range(300):
        instance = random_small(seed, nodes=5, layers=5, jobs=1)
        queues = Queues.initial(instance)
        short = ExactRouter(instance, most_labels=1)
        expected = ExactRouter(instance).route(0, queues).seconds
        assert equal(short.route(0, queues).seconds, expected, 1e-7)
        taken += short.counters["integer_programs"]
    assert taken >= 3
