"""OPT with priorities against enumeration of all routes and orders, and against the others."""

import itertools
import math

import numpy as np
import pytest

from algorithms.policy import NoSolution
from algorithms.splitting import run
from algorithms.splitting.exact.first_interval import first_interval, load_bound
from algorithms.splitting.exact.optimum import optimum
from algorithms.splitting.exact.priorities import priority_program
from algorithms.splitting.exact.reduction import useful_arcs
from models.files import InputError
from models.splitting import Route, audit, fictitious_completions
from models.splitting.generator import generate
from models.splitting.layered_graph import layered_graph
from tests.splitting_factories import make_instance, make_job, random_small

MOST_CASES = 60_000


def simple_paths(instance, start, end, visited=()):
    """All ways from node to node over usable links, no node twice."""
    if start == end:
        yield ()
        return
    for e in range(instance.number_of_links):
        head = int(instance.link_end[e])
        fresh = head not in (*visited, start)
        if int(instance.link_start[e]) == start and instance.link_rate[e] > 0 and fresh:
            for rest in simple_paths(instance, head, end, (*visited, start)):
                yield (e, *rest)


def all_routes(instance, job):
    """Every route without a cycle within a layer."""
    data = instance.jobs[job]
    usable = [u for u in range(instance.number_of_nodes) if instance.node_rate[u] > 0]
    for nodes in itertools.product(usable, repeat=data.number_of_layers):
        stops = [int(instance.source[job]), *nodes, int(instance.destination[job])]
        ways = [list(simple_paths(instance, u, v)) for u, v in itertools.pairwise(stops)]
        for chosen in itertools.product(*ways):
            yield Route(nodes, tuple((e, k) for k, way in enumerate(chosen) for e in way))


def enumerated(instance):
    """The least largest completion over all routes and orders, None if there are too many."""
    options = [list(all_routes(instance, j)) for j in range(instance.number_of_jobs)]
    orders = list(itertools.permutations(range(instance.number_of_jobs)))
    if math.prod(len(routes) for routes in options) * len(orders) > MOST_CASES:
        return None
    return min(
        max(fictitious_completions(instance, routes, order))
        for routes in itertools.product(*options)
        for order in orders
    )


def check(seed, **sizes):
    """Compare; tell whether there was enumeration to compare with, and the greedy's excess."""
    instance = random_small(seed, **sizes)
    outcome = run(instance, "optimal")
    value = outcome.solution.objective
    assert audit(instance, outcome.solution).feasible
    assert outcome.log.lower <= value
    greedy = run(instance, "greedy").solution.objective
    assert value <= min(greedy, run(instance, "nfs").solution.objective)
    expected = enumerated(instance)
    if expected is None:
        return False, 0.0
    assert value == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert outcome.log.lower <= expected * (1 + 1e-6) + 1e-9
    first = first_interval(instance)
    assert max(load_bound(instance), first.lower) <= expected * (1 + 1e-9)
    assert first.upper >= expected * (1 - 1e-9)
    return True, greedy - expected


def test_opt_equals_enumeration():
    found = [
        *(check(seed, nodes=3, layers=1, jobs=3) for seed in range(20)),
        *(check(seed, nodes=2, layers=2, jobs=3) for seed in range(100, 125)),
        *(check(seed, nodes=3, layers=2, jobs=2) for seed in range(200, 220)),
    ]
    compared = [excess for done, excess in found if done]
    assert len(compared) >= 40
    assert max(compared) > 1e-3  # the greedy is not optimal on all of them


@pytest.mark.slow
def test_opt_equals_enumeration_on_many():
    found = [check(seed, nodes=3, jobs=2 + seed % 2, layers=1 + seed % 2) for seed in range(400)]
    assert sum(done for done, _ in found) >= 200


def test_what_is_dropped_lies_on_no_route_as_good():
    instance = random_small(7, nodes=4, layers=2, jobs=2)
    for job in range(2):
        graph = layered_graph(instance, job)
        routes = list(all_routes(instance, job))
        times = [fictitious_completions(instance, [r] * 2, [job, 1 - job])[job] for r in routes]
        most = float(np.median(times))
        kept = useful_arcs(instance, graph, most)
        left = {
            (int(graph.layer[a]), int(graph.link[a]), int(graph.node[a]))
            for a in np.flatnonzero(kept)
        }
        for route, seconds in zip(routes, times, strict=True):
            if seconds <= most:
                assert {(layer, e, -1) for e, layer in route.hops} <= left
                assert {(k + 1, -1, u) for k, u in enumerate(route.nodes)} <= left


def test_two_jobs_share_by_giving_way():
    """One fast node: the longer job goes last, or the shorter one moves to the slow node."""
    jobs = [make_job("a", compute=(4.0,)), make_job("b", compute=(2.0,))]
    links = [(0, 1, None), (1, 0, None)]
    instance = make_instance([1.0, 0.6], links, jobs)
    outcome = run(instance, "optimal")
    assert outcome.solution.objective == pytest.approx(4.0)
    assert outcome.log.status == "optimal"


def test_the_load_bound_by_hand():
    """Work 6 + 2; node 0 helps from 0 s on, node 1 from 3 s on: 1 C + 2 (C - 3) = 8."""
    jobs = [make_job("a", compute=(6.0,)), make_job("b", compute=(2.0,))]
    links = [(0, 1, 1.0), (1, 0, 1.0)]
    assert load_bound(make_instance([1.0, 2.0], links, jobs, [0.0, 6.0])) == pytest.approx(14 / 3)
    assert load_bound(make_instance([1.0, 2.0], links, jobs, [0.0, 99.0])) == pytest.approx(8)
    assert load_bound(make_instance([1.0, 2.0], [], jobs)) == pytest.approx(8)  # not reached
    assert load_bound(make_instance([1.0, None], links, jobs)) == 0.0
    assert load_bound(make_instance([1.0], [], [])) == 0.0


def test_the_optimum_is_opts_and_too_large_a_program_is_not_tried(monkeypatch):
    jobs = [make_job("a", compute=(4.0,)), make_job("b", compute=(2.0,))]
    instance = make_instance([1.0, 0.6], [(0, 1, None), (1, 0, None)], jobs)
    found = optimum(instance)
    assert (found.status, found.upper) == ("optimal", pytest.approx(4.0))
    assert audit(instance, found.routing).feasible
    assert found.routing.policy == "optimal"
    larger = generate(10, 6, seed=1).instance
    monkeypatch.setattr("algorithms.splitting.exact.priorities.MOST_VARIABLES", 10)
    outcome = run(larger, "optimal")
    assert outcome.counters["mips"] == 0
    assert outcome.log.lower < outcome.log.upper == outcome.solution.objective
    with pytest.raises(InputError, match=r"jobs: would make a program of about \d+ variables"):
        priority_program(larger)


def test_a_run_that_is_cut_short_still_answers_with_an_interval():
    instance = generate(10, 6, seed=1).instance
    outcome = run(instance, "optimal", time_limit=0.01)
    greedy = run(instance, "greedy").solution.objective
    assert outcome.log.lower <= outcome.solution.objective <= greedy
    assert audit(instance, outcome.solution).feasible


def test_no_jobs_and_no_route():
    assert run(make_instance([1.0], [], []), "optimal").solution.objective == 0.0
    apart = make_instance([1.0, 1.0], [], [make_job("far", "n0", "n1")])
    with pytest.raises(NoSolution, match="job far has no route"):
        run(apart, "optimal")
