"""The IQP: both forms against enumeration, hop paths against a search by hand, true service."""

import itertools

import networkx
import numpy as np
import pytest

from algorithms.policy import NoSolution
from algorithms.splitting import run
from algorithms.splitting.exact.quadratic import why_no_quadratic_solver
from models.files import InputError
from models.solver import Engine
from models.splitting import audit
from models.splitting.hop_paths import hop_paths
from models.splitting.placement_iqp import build_placement_iqp
from tests.splitting_factories import (
    make_instance,
    make_job,
    placements,
    random_small,
    with_budgets,
)

WHY_NO_SCIP = why_no_quadratic_solver()
FORMS = [
    "linear",
    pytest.param("raw", marks=pytest.mark.skipif(WHY_NO_SCIP is not None, reason=str(WHY_NO_SCIP))),
]


def by_hand(instance, job, nodes):
    """The reference's time of a placement, with paths found by another program; inf if none."""
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(instance.number_of_nodes))
    paths = hop_paths(instance)
    for e in range(instance.number_of_links):
        if instance.link_rate[e] > 0:
            graph.add_edge(int(instance.link_start[e]), int(instance.link_end[e]))
    data = instance.jobs[job]
    stops = [int(instance.source[job]), *nodes, int(instance.destination[job])]
    total = sum(c / instance.node_rate[u] for c, u in zip(data.compute, nodes, strict=True))
    for size, (u, v) in zip(data.data, itertools.pairwise(stops), strict=True):
        if not networkx.has_path(graph, u, v):
            return np.inf
        links = paths.links(u, v)
        hops = networkx.shortest_path_length(graph, u, v)
        assert len(links) == hops
        if hops:
            total += hops * size / np.mean(instance.link_rate[links])
    return total


def best_by_hand(instance):
    """Least total over all jobs' placements together, budgets kept."""
    options = [
        [(by_hand(instance, j, nodes), nodes) for nodes in placements(instance, j)]
        for j in range(instance.number_of_jobs)
    ]
    best = np.inf
    for choice in itertools.product(*options):
        compute, memory = np.zeros((2, instance.number_of_nodes))
        for job, (_, nodes) in zip(instance.jobs, choice, strict=True):
            np.add.at(compute, list(nodes), job.compute)
            np.add.at(memory, list(nodes), job.memory)
        if (compute <= instance.compute_budget).all() and (memory <= instance.memory_budget).all():
            best = min(best, sum(value for value, _ in choice))
    return best


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(25))
def test_the_iqp_equals_enumeration_and_states_true_service(seed, form):
    instance = with_budgets(random_small(seed, jobs=2, layers=1 + seed % 3), seed)
    expected = best_by_hand(instance)
    if not np.isfinite(expected):
        with pytest.raises(NoSolution):
            run(instance, "iqp", form=form)
        return
    outcome = run(instance, "iqp", form=form)
    assert outcome.counters["model_objective"] == pytest.approx(expected, rel=1e-7, abs=1e-9)
    assert audit(instance, outcome.solution).feasible
    best = run(instance, "ilp").solution.objective
    assert outcome.solution.objective >= best * (1 - 1e-7) - 1e-9


def test_a_path_has_the_fewest_hops_and_the_first_links_in_file_order():
    # 0 -> 3 in one slow hop or two fast ones; 0 -> 4 over 2 or 1: the link from 2 comes first.
    links = [(0, 1, 9.0), (0, 2, 3.0), (2, 4, 1.0), (1, 4, 9.0), (1, 3, 9.0), (0, 3, 0.5)]
    instance = make_instance([1.0] * 5, links, [])
    paths = hop_paths(instance)
    assert paths.links(0, 3) == [5]
    assert paths.links(0, 4) == [1, 2]
    assert paths.hops[0].tolist() == [0, 1, 1, 1, 2]
    assert paths.seconds_per_byte[0, 4] == pytest.approx(2 / 2.0)
    assert paths.hops[4, 0] == -1
    assert paths.seconds_per_byte[4, 0] == np.inf


def test_the_mean_rate_misjudges_a_slow_link():
    """Two hops at rates 1 and 99: by the mean 2/50 s per byte, in truth 1 + 1/99."""
    instance = make_instance(
        [0.0, 0.0, 1.0],
        [(0, 1, 1.0), (1, 2, 99.0)],
        [make_job(destination="n2", compute=(0.0,), data=(1.0, 0.0))],
    )
    outcome = run(instance, "iqp")
    assert outcome.counters["model_objective"] == pytest.approx(2 / 50)
    assert outcome.solution.objective == pytest.approx(1 + 1 / 99)


def test_the_relaxation_of_the_linear_form_is_below_it():
    instance = random_small(11, jobs=3, layers=3)
    model = build_placement_iqp(instance)
    whole = Engine(model).solve(mip_gap=1e-9)
    model = build_placement_iqp(instance)
    for variable in model.placed.values():
        variable.domain = __import__("pyomo.environ").environ.UnitInterval
    relaxed = Engine(model).solve()
    assert relaxed.objective <= whole.objective + 1e-9


def test_without_a_route_without_jobs_and_without_scip(monkeypatch):
    apart = make_instance([1.0, 1.0], [], [make_job("far", "n0", "n1")])
    with pytest.raises(NoSolution, match="job far has no route"):
        run(apart, "iqp")
    empty = make_instance([1.0], [], [])
    assert run(empty, "iqp").solution.objective == 0.0
    monkeypatch.setattr(
        "algorithms.splitting.exact.iqp.why_no_quadratic_solver", lambda: "needs SCIP"
    )
    with pytest.raises(InputError, match=r"form: needs SCIP \(got \"raw\"\)"):
        run(empty, "iqp", form="raw")
