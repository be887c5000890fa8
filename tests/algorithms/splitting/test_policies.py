"""Greedy and NFS: audits, lazy = literal, and the exact search against enumeration."""

import numpy as np
import pytest

from algorithms.policy import NoSolution
from algorithms.splitting import POLICIES, run
from algorithms.splitting.exact.optimum import optimum
from algorithms.splitting.single.label_setting import ExactRouter
from algorithms.splitting.single.linear_program import solve_integer, solve_linear
from algorithms.splitting.single.per_visit import PerVisitRouter
from models.data import data_file
from models.files import to_json
from models.splitting import Queues, load_instance
from models.splitting.audit import audit
from tests.splitting_factories import make_instance, make_job, placements, random_small


def enumerated(instance, job):
    """The best completion behind the initial queues: all placements, shortest paths between."""
    count = instance.number_of_nodes
    rate = instance.node_rate
    data = instance.jobs[job]
    distance = []
    for size in data.data:
        table = np.full((count, count), np.inf)
        np.fill_diagonal(table, 0.0)
        for e in range(instance.number_of_links):
            if instance.link_rate[e] > 0:
                u, v = instance.link_start[e], instance.link_end[e]
                seconds = (size + instance.link_queue[e]) / instance.link_rate[e]
                table[u, v] = min(table[u, v], seconds)
        for k in range(count):
            table = np.minimum(table, table[:, [k]] + table[[k], :])
        distance.append(table)
    best = np.inf
    for nodes in placements(instance, job):
        stops = [instance.source[job], *nodes, instance.destination[job]]
        seconds = sum(distance[k][stops[k], stops[k + 1]] for k in range(len(stops) - 1))
        seconds += sum(c / rate[u] for c, u in zip(data.compute, nodes, strict=True))
        seconds += sum(instance.node_queue[u] / rate[u] for u in set(nodes))
        best = min(best, seconds)
    return best


def check_single(seed):
    instance = random_small(seed)
    exact, per_visit = ExactRouter(instance), PerVisitRouter(instance)
    queues = Queues.initial(instance)
    for job in range(instance.number_of_jobs):
        found, fast = exact.route(job, queues), per_visit.route(job, queues)
        expected = enumerated(instance, job)
        assert found.seconds == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert fast.seconds >= expected * (1 - 1e-9)
        if instance.jobs[job].number_of_layers <= 2:
            assert fast.seconds == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", range(100))
def test_the_exact_search_equals_enumeration(seed):
    check_single(seed)


@pytest.mark.slow
def test_the_exact_search_equals_enumeration_on_many():
    for seed in range(100, 1100):
        check_single(seed)


@pytest.mark.parametrize("seed", range(30))
def test_per_visit_is_exact_without_node_queues(seed):
    instance = random_small(seed, layers=4, queues=False)
    router = PerVisitRouter(instance)
    for job in range(instance.number_of_jobs):
        found = router.route(job, Queues.initial(instance))
        assert found.seconds == pytest.approx(enumerated(instance, job), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_routings_pass_the_audit_and_lazy_is_literal(seed):
    instance = random_small(seed, jobs=5)
    for single in ("exact", "per-visit"):
        lazy = run(instance, "greedy", single=single)
        literal = run(instance, "greedy", method="literal", single=single)
        assert to_json(lazy.solution) == to_json(literal.solution)
        assert audit(instance, lazy.solution).feasible
        steps = np.array(lazy.log.completions)
        assert (np.diff(steps) >= -1e-9 * steps[:-1] - 1e-12).all()
        assert lazy.counters["evaluations"] <= literal.counters["evaluations"]
    near = run(instance, "nfs").solution
    assert audit(instance, near).feasible


@pytest.mark.parametrize("policy", POLICIES)
def test_what_a_run_counts_is_explained(policy):
    counters = run(random_small(3), policy).counters
    assert counters.keys() <= POLICIES[policy].counters.keys()


@pytest.mark.parametrize("policy", ["greedy", "nfs"])
def test_a_job_without_a_route_is_named(policy):
    apart = make_instance([1.0, 1.0], [], [make_job(), make_job("far", "n0", "n1")])
    with pytest.raises(NoSolution, match="job far has no route"):
        run(apart, policy)
    blind = make_instance([0.0], [], [make_job("idle")])
    with pytest.raises(NoSolution, match="job idle has no route"):
        run(blind, policy)


@pytest.mark.parametrize("policy", ["greedy", "nfs"])
def test_no_jobs_one_node_and_the_way_through_a_node_that_computes_nothing(policy):
    assert run(make_instance([1.0], [], []), policy).solution.objective == 0.0
    alone = make_instance([2.0], [], [make_job()], [3.0])
    assert run(alone, policy).solution.objective == pytest.approx((3 + 1) / 2)
    through = make_instance(
        [0.0, 0.0, 1.0], [(0, 1, 1.0), (1, 2, 1.0)], [make_job(destination="n2")]
    )
    assert run(through, policy).solution.objective == pytest.approx(1 + 1 + 1)


def test_the_first_of_two_parallel_links_is_taken_and_the_faster_one_if_they_differ():
    equal = make_instance([0.0, 1.0], [(0, 1, 1.0), (0, 1, 1.0)], [make_job(destination="n1")])
    assert run(equal, "greedy").solution.jobs[0].hops == (("e0", 0),)
    faster = make_instance([0.0, 1.0], [(0, 1, 1.0), (0, 1, 2.0)], [make_job(destination="n1")])
    assert run(faster, "nfs").solution.jobs[0].hops == (("e1", 0),)


@pytest.mark.parametrize("seed", range(20))
def test_programs_of_one_job_bound_and_find_its_best_route(seed):
    instance = random_small(seed)
    queues = Queues.initial(instance)
    for job in range(instance.number_of_jobs):
        expected = enumerated(instance, job)
        assert solve_integer(instance, job, queues).seconds == pytest.approx(
            expected, rel=1e-7, abs=1e-9
        )
        relaxed = solve_linear(instance, job, queues)
        assert relaxed.value <= expected * (1 + 1e-7) + 1e-9
        if relaxed.answer is not None:
            assert relaxed.answer.seconds == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "lp", "ilp"),
    [("small", 8.111, 10.111), ("greedy", 8.643436742807854, 8.889342367665979)],
)
def test_theorem_1_fails_on_both_counterexamples(name, lp, ilp):
    files = sorted((data_file("README.md").parent / "splitting").glob("*.json"))
    found = [path for path in files if name in path.name]
    if name == "small":
        found = [path for path in files if "greedy" not in path.name]
    instance = load_instance(found[0])
    queues = Queues.initial(instance)
    relaxed = solve_linear(instance, 0, queues)
    assert relaxed.value == pytest.approx(lp, rel=1e-9)
    assert relaxed.answer is None
    assert solve_integer(instance, 0, queues).seconds == pytest.approx(ilp, rel=1e-9)
    assert ExactRouter(instance).route(0, queues).seconds == pytest.approx(ilp, rel=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_the_interval_of_the_optimum_holds_what_policies_find(seed):
    instance = random_small(seed, jobs=3)
    found = optimum(instance)
    assert audit(instance, found.routing).feasible
    assert found.lower <= found.upper == found.routing.objective
    for policy in ("greedy", "nfs"):
        assert found.upper <= run(instance, policy).solution.objective
    service = optimum(instance, problem="service")
    assert service.status == "optimal"
    assert audit(instance, service.routing).feasible
    assert service.lower <= run(instance, "ilp", method="arcs").solution.objective * (1 + 1e-8)
