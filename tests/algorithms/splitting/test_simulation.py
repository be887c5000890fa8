"""The real network against placing jobs one by one into what is left, and the fictitious one."""

import itertools

import pytest

from algorithms.splitting import run
from algorithms.splitting.simulation import simulate, tasks_of
from models.splitting import Route, fictitious_completions, routes_of
from tests.splitting_factories import make_instance, make_job, random_small


def one_by_one(instance, routes, order):
    """Completions, by priority: lower jobs never disturb, so each fills the gaps left to it."""
    busy = {}
    for u, (queue, rate) in enumerate(zip(instance.node_queue, instance.node_rate, strict=True)):
        busy[u] = [(0.0, queue / rate if rate > 0 else 0.0)]
    for e, (queue, rate) in enumerate(zip(instance.link_queue, instance.link_rate, strict=True)):
        busy[instance.number_of_nodes + e] = [(0.0, queue / rate if rate > 0 else 0.0)]
    ends = [0.0] * len(routes)
    for job in order:
        now = 0.0
        for x, seconds in tasks_of(instance, job, routes[job]):
            left, mine = seconds, []
            for begin, end in sorted(busy[x]):
                if begin > now:
                    if left <= begin - now:
                        break
                    mine.append((now, begin))
                    left -= begin - now
                now = max(now, end)
            mine.append((now, now + left))
            now += left
            busy[x] += mine
        ends[job] = now
    return ends


@pytest.mark.parametrize("policy", ["greedy", "nfs"])
@pytest.mark.parametrize("seed", range(60))
def test_the_real_network_equals_filling_gaps_and_is_never_later(seed, policy):
    instance = random_small(seed, jobs=5, whole=False)
    routing = run(instance, policy).solution
    routes = routes_of(instance, routing)
    order = sorted(range(5), key=lambda j: routing.jobs[j].priority)
    real = simulate(instance, routes, order)
    assert real.completions == pytest.approx(one_by_one(instance, routes, order), rel=1e-9)
    bounds = fictitious_completions(instance, routes, order)
    for seconds, bound in zip(real.completions, bounds, strict=True):
        assert seconds <= bound * (1 + 1e-9) + 1e-12
    for job, route in enumerate(routes):
        served = sum(p.end - p.begin for p in real.pieces if p.job == job)
        wanted = sum(seconds for _, seconds in tasks_of(instance, job, route))
        assert served == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    for x in {piece.resource for piece in real.pieces}:
        mine = sorted((p.begin, p.end) for p in real.pieces if p.resource == x)
        assert all(a[1] <= b[0] + 1e-12 for a, b in itertools.pairwise(mine))


def test_a_job_is_preempted_and_goes_on():
    """The first job's data takes 1 s; until then the second computes, and then again from 3 s."""
    first = make_job("first", "n0", "n1", compute=(2.0,), data=(1.0, 0.0))
    second = make_job("second", "n1", "n1", compute=(2.0,), data=(0.0, 0.0))
    instance = make_instance([0.0, 1.0], [(0, 1, 1.0)], [first, second])
    routes = [Route((1,), ((0, 0),)), Route((1,), ())]
    real = simulate(instance, routes, [0, 1])
    assert real.completions == (3.0, 4.0)
    assert [(p.begin, p.end) for p in real.pieces if p.job == 1] == [(0.0, 1.0), (3.0, 4.0)]
    assert fictitious_completions(instance, routes, [0, 1]) == [3.0, 4.0]


def test_work_that_is_over_delays_nobody():
    """The second job reaches the node after the first has left: sooner than in the fiction."""
    near = make_job("near", "n1", "n1", compute=(1.0,), data=(0.0, 0.0))
    far = make_job("far", "n0", "n1", compute=(1.0,), data=(5.0, 0.0))
    instance = make_instance([0.0, 1.0], [(0, 1, 1.0)], [near, far], [0.0, 2.0])
    routes = [Route((1,), ()), Route((1,), ((0, 0),))]
    assert simulate(instance, routes, [0, 1]).completions == (3.0, 6.0)
    assert fictitious_completions(instance, routes, [0, 1]) == [3.0, 9.0]
    assert simulate(make_instance([1.0], [], []), [], []).completions == ()
