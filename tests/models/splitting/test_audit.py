"""The audit of routings: times by hand, every constraint broken once, mutations found."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.audit import AuditReport
from models.files import InputError
from models.splitting import (
    Job,
    JobRouting,
    Layer,
    Link,
    Node,
    Route,
    SplittingInstance,
    SplittingRouting,
    audit,
    build_routing,
    fictitious_completions,
    load_routing,
    save_routing,
)
from models.splitting.audit import CONSTRAINTS

A, B, C = "a", "b", "c"


def network(**changes: Any) -> SplittingInstance:
    """a -> b -> c and c -> a; j0 from a to c with two layers, j1 from b to b with one."""
    fields: dict[str, Any] = {
        "nodes": (
            Node(name=A, rate=2.0, queue=4.0, compute_budget=100.0, memory=50.0),
            Node(name=B, rate=5.0, queue=10.0, compute_budget=30.0, memory=7.0),
            Node(name=C, rate=None, queue=99.0),
        ),
        "links": (
            Link(name="ab", start=A, end=B, rate=10.0, queue=5.0),
            Link(name="bc", start=B, end=C, rate=4.0),
            Link(name="ca", start=C, end=A, rate=None, queue=9.0),
        ),
        "jobs": (
            Job(
                name="j0",
                source=A,
                destination=C,
                input=20.0,
                layers=(
                    Layer(compute=10.0, output=8.0, memory=3.0),
                    Layer(compute=15.0, output=2.0, memory=4.0),
                ),
            ),
            Job(
                name="j1",
                source=B,
                destination=B,
                input=1.0,
                layers=(Layer(compute=5.0, output=1.0, memory=0.0),),
            ),
        ),
    }
    return SplittingInstance(**(fields | changes))


BOTH_AT_B = Route((1, 1), ((0, 0), (1, 2)))
SPLIT = Route((0, 1), ((0, 1), (1, 2)))
AT_HOME = Route((1,), ())


def routing(order: tuple[int, ...] | None = (0, 1), first: Route = BOTH_AT_B) -> SplittingRouting:
    return build_routing(network(), "by hand", [first, AT_HOME], order)


def changed(found: SplittingRouting, job: int, **fields: Any) -> SplittingRouting:
    jobs = list(found.jobs)
    jobs[job] = jobs[job].model_copy(update=fields)
    return found.model_copy(update={"jobs": tuple(jobs)})


def kinds(report: AuditReport) -> set[str]:
    return {violation.constraint for violation in report.violations}


# Times by hand.


def test_service_by_hand() -> None:
    # j0: 10/5 + 15/5 + 20/10 + 2/4 = 7.5; j1: 5/5 = 1.
    report = audit(network(), routing(None))
    assert report.violations == ()
    assert report.objective == pytest.approx(8.5, rel=1e-15)


def test_completion_by_hand() -> None:
    # First j0: 7.5 + 10/5 once at b + 5/10 on ab = 10. Then j1: 1 + (10 + 25)/5 = 8.
    found = routing((0, 1))
    assert [job.completion for job in found.jobs] == pytest.approx([10.0, 8.0])
    assert audit(network(), found) == AuditReport(pytest.approx(10.0))
    # First j1: 1 + 2 = 3. Then j0: 7.5 + 15/5 + 0.5 = 11.
    found = routing((1, 0))
    assert [job.completion for job in found.jobs] == pytest.approx([11.0, 3.0])
    assert audit(network(), found) == AuditReport(pytest.approx(11.0))


def test_a_node_is_paid_once_and_a_link_at_each_traversal() -> None:
    # Around the ring with the input, then layer 1 at b, layer 2 at a after another round.
    ring = Route((1, 0), ((0, 0), (1, 0), (2, 0), (0, 0), (1, 1), (2, 1), (0, 2), (1, 2)))
    found = routing((0, 1), ring)
    # Service 10/5 + 15/2 + 2*20/10 + 20/4 + 8/4 + 2/10 + 2/4; waits 10/5 + 4/2 + 3 * 5/10.
    assert found.jobs[0].completion == pytest.approx(21.2 + 5.5)
    assert audit(network(), found).feasible


def test_infinitely_fast_means_no_cost_and_no_wait() -> None:
    at_c = Route((2, 2), ((0, 0), (1, 0)))
    found = routing((0, 1), at_c)
    assert found.jobs[0].completion == pytest.approx(20 / 10 + 5 / 10 + 20 / 4)
    assert audit(network(), found).feasible


def test_no_jobs() -> None:
    empty = network(jobs=())
    for order in ((), None):
        assert audit(empty, build_routing(empty, "none", [], order)) == AuditReport(0.0)


# Every constraint, broken once.


@pytest.mark.parametrize(
    ("constraint", "job", "fields", "where", "amount"),
    [
        ("path", 0, {"hops": (("ab", 0),)}, "output 2 is at b and not at c", 1),
        ("path", 0, {"hops": (("bc", 2),)}, "input 0 is at a and not at b", 1),
        ("path", 0, {"hops": ()}, "input 0 is at a", 1),
        ("path", 0, {"hops": (("ab", 0), ("ab", 1), ("bc", 2))}, "begins elsewhere than at b", 1),
        ("path", 0, {"nodes": ("b", "a")}, "output 1 is at b and not at a", 1),
        ("path", 1, {"nodes": ("a",)}, "job j1, input 0 is at b and not at a", 1),
        ("path", 1, {"hops": (("bc", 0), ("ca", 0))}, "input 0 is at a and not at b", 1),
        ("layers", 0, {"nodes": ("b",)}, "1 computing nodes for 2 layers", 1),
        ("layers", 0, {"nodes": ()}, "0 computing nodes for 2 layers", 2),
        ("layers", 0, {"nodes": ("b", "b", "b")}, "3 computing nodes for 2 layers", 1),
        ("layers", 0, {"hops": (("ab", 0), ("bc", 3))}, "carries layer 3 of 0..2", 1),
        ("layers", 0, {"hops": (("ab", -2), ("bc", 2))}, "carries layer -2 of 0..2", 2),
        ("layers", 0, {"hops": (("bc", 2), ("ab", 0))}, "carries layer 0 after layer 2", 2),
        ("priority", 0, {"priority": None}, "job j0, no priority", 1),
        ("priority", 0, {"priority": 2}, "priority 2 stated 2 times", 1),
        ("priority", 0, {"priority": 0}, "job j0, priority outside 1..2", 1),
        ("priority", 0, {"priority": 3}, "job j0, priority outside 1..2", 1),
        ("priority", 0, {"priority": 10**400}, "job j0, priority outside 1..2", 1),
        ("statement", 0, {"service": 7.6}, "job j0, service", 0.1),
        ("statement", 0, {"completion": 9.0}, "job j0, completion", 1),
        ("statement", 1, {"completion": None}, "job j1, completion is not stated", 8),
    ],
)
def test_one_change_to_a_sound_routing(
    constraint: str, job: int, fields: dict[str, Any], where: str, amount: float
) -> None:
    report = audit(network(), changed(routing(), job, **fields))
    found = [v for v in report.violations if v.constraint == constraint and where in v.where]
    assert [v.amount for v in found] == [pytest.approx(amount)] * len(found)
    assert found
    assert not report.feasible


@pytest.mark.parametrize(
    ("constraint", "fields"),
    [("priority", {"priority": 1}), ("statement", {"completion": 7.5})],
)
def test_problem_service_has_neither_priorities_nor_completions(
    constraint: str, fields: dict[str, Any]
) -> None:
    report = audit(network(), changed(routing(None), 0, **fields))
    assert kinds(report) == {constraint}


def test_a_wrong_objective() -> None:
    for order, objective in ((None, 8.5), ((0, 1), 10.0)):
        for factor, feasible in ((1 + 0.9e-6, True), (1 + 1.1e-6, False), (1 - 1.1e-6, False)):
            stated = routing(order).model_copy(update={"objective": objective * factor})
            report = audit(network(), stated)
            assert report.feasible == feasible
            assert report.objective == pytest.approx(objective)
            assert kinds(report) <= {"statement"}


@pytest.mark.parametrize(
    ("constraint", "budgets", "amount"),
    [
        ("budget", {"compute_budget": 30.0 / (1 + 0.9e-6)}, None),
        ("budget", {"compute_budget": 30.0 / (1 + 1.2e-6)}, 30 - 30 / (1 + 1.2e-6)),
        ("budget", {"compute_budget": 20.0}, 10.0),
        ("budget", {"compute_budget": 0.0}, 30.0),
        ("memory", {"memory": 7.0 / (1 + 0.9e-6)}, None),
        ("memory", {"memory": 6.0}, 1.0),
        ("memory", {"memory": 0.0}, 7.0),
        ("memory", {"memory": None, "compute_budget": None}, None),
    ],
)
def test_budgets_count_over_all_jobs_and_for_problem_service_only(
    constraint: str, budgets: dict[str, Any], amount: float | None
) -> None:
    nodes = list(network().nodes)
    nodes[1] = nodes[1].model_copy(update=budgets)
    instance = network(nodes=tuple(nodes))
    found = [(v.constraint, v.where) for v in audit(instance, routing(None)).violations]
    assert found == ([] if amount is None else [(constraint, "node b")])
    if amount is not None:
        assert audit(instance, routing(None)).violations[0].amount == pytest.approx(amount)
    assert audit(instance, routing((0, 1))).feasible


def test_rate_zero_is_unusable() -> None:
    nodes, links = list(network().nodes), list(network().links)
    nodes[1] = nodes[1].model_copy(update={"rate": 0.0})
    report = audit(network(nodes=tuple(nodes)), routing())
    assert kinds(report) == {"layers"}
    assert [v.where for v in report.violations] == [
        "job j0, layer 1 at b, rate 0",
        "job j0, layer 2 at b, rate 0",
        "job j1, layer 1 at b, rate 0",
    ]
    assert report.objective == math.inf
    links[1] = links[1].model_copy(update={"rate": 0.0})
    report = audit(network(links=tuple(links)), routing(None))
    assert [(v.constraint, v.where) for v in report.violations] == [
        ("path", "job j0, hop 1 over bc, whose rate is 0")
    ]
    # Passing through a node that cannot compute is free.
    nodes = list(network().nodes)
    nodes[1] = nodes[1].model_copy(update={"rate": 0.0})
    instance = network(nodes=tuple(nodes), jobs=network().jobs[:1])
    through = build_routing(instance, "by hand", [Route((0, 0), ((0, 2), (1, 2)))], [0])
    assert audit(instance, through).feasible


def test_rate_zero_carries_not_even_nothing() -> None:
    nothing = Job(
        name="j",
        source=A,
        destination=B,
        input=0.0,
        layers=(Layer(compute=0.0, output=0.0, memory=0.0),),
    )
    link = Link(name="ab", start=A, end=B, rate=0.0)
    for rates, constraints in (((1.0, 1.0), {"path"}), ((1.0, 0.0), {"path", "layers"})):
        instance = SplittingInstance(
            nodes=(Node(name=A, rate=rates[0]), Node(name=B, rate=rates[1])),
            links=(link,),
            jobs=(nothing,),
        )
        stated = SplittingRouting(
            policy="by hand",
            problem="service",
            objective=0.0,
            jobs=(
                JobRouting(
                    name="j",
                    priority=None,
                    completion=None,
                    service=0.0,
                    nodes=(B,),
                    hops=(("ab", 0),),
                ),
            ),
        )
        assert kinds(audit(instance, stated)) == constraints


def test_numbers_beyond_the_largest() -> None:
    huge = Layer(compute=1.0, output=0.0, memory=1.7e308)
    job = Job(name="j", source=A, destination=A, input=0.0, layers=(huge, huge))
    instance = SplittingInstance(nodes=(Node(name=A, rate=1.0, memory=1.0),), links=(), jobs=(job,))
    report = audit(instance, build_routing(instance, "by hand", [Route((0, 0), ())]))
    assert [(v.constraint, v.amount) for v in report.violations] == [("memory", math.inf)]


# Another instance's routing.


@pytest.mark.parametrize(
    ("job", "fields", "message"),
    [
        (1, {"name": "j9"}, 'jobs[1].name: is not a job of the instance (got "j9")'),
        (0, {"nodes": ("b", "x")}, 'jobs[0].nodes[1]: is not a node of the instance (got "x")'),
        (
            0,
            {"hops": (("ab", 0), ("x", 1))},
            'jobs[0].hops[1][0]: is not a link of the instance (got "x")',
        ),
    ],
)
def test_a_routing_of_another_instance(job: int, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        audit(network(), changed(routing(), job, **fields))
    assert str(caught.value) == message


def test_a_job_that_is_not_listed() -> None:
    found = routing()
    with pytest.raises(InputError, match="jobs: every job of the instance must be listed"):
        audit(network(), found.model_copy(update={"jobs": found.jobs[:1]}))


def test_the_order_of_the_jobs_in_the_file_does_not_matter() -> None:
    found = routing((1, 0))
    turned = found.model_copy(update={"jobs": found.jobs[::-1]})
    assert audit(network(), turned) == audit(network(), found)


# Random routings: the algorithms' formulas and the audit's agree, and no change goes unseen.


def random_instance(seed: int) -> tuple[SplittingInstance, list[Route], list[int]]:
    """A small network with parallel links and all kinds of rates, and random walks on it."""
    rng = np.random.Generator(np.random.PCG64(seed))
    number = int(rng.integers(1, 5))

    def rate() -> float | None:
        return None if rng.random() < 0.15 else float(rng.uniform(0.1, 10))

    def queue() -> float:
        return float(rng.choice([0.0, rng.uniform(0, 20)]))

    nodes = tuple(Node(name=f"n{u}", rate=rate(), queue=queue()) for u in range(number))
    ends = [(u, (u + 1) % number) for u in range(number) if number > 1]
    if number > 1:
        for _ in range(int(rng.integers(0, 5))):
            u, v = rng.choice(number, 2, replace=False).tolist()
            ends.append((u, v))
    links = tuple(
        Link(name=f"e{e}", start=f"n{u}", end=f"n{v}", rate=rate(), queue=queue())
        for e, (u, v) in enumerate(ends)
    )
    jobs, routes = [], []
    for j in range(int(rng.integers(1, 5))):
        layers = tuple(
            Layer(compute=queue(), output=queue(), memory=queue())
            for _ in range(int(rng.integers(1, 5)))
        )
        place = source = int(rng.integers(number))
        computing, hops = [], []
        for layer in range(len(layers) + 1):
            for _ in range(int(rng.integers(0, 3)) if number > 1 else 0):
                link = int(rng.choice([e for e, (u, _) in enumerate(ends) if u == place]))
                hops.append((link, layer))
                place = ends[link][1]
            if layer < len(layers):
                computing.append(place)
        jobs.append(
            Job(
                name=f"j{j}",
                source=f"n{source}",
                destination=f"n{place}",
                input=queue(),
                layers=layers,
            )
        )
        routes.append(Route(tuple(computing), tuple(hops)))
    order = rng.permutation(len(jobs)).tolist()
    return SplittingInstance(nodes=nodes, links=links, jobs=tuple(jobs)), routes, order


@pytest.mark.parametrize("seed", range(200))
def test_audit_and_the_algorithms_formulas_agree(seed: int) -> None:
    instance, routes, order = random_instance(seed)
    for given_order in (order, None):
        found = build_routing(instance, "random", routes, given_order)
        report = audit(instance, found)
        assert report.violations == ()
        assert report.objective == pytest.approx(found.objective, rel=1e-12, abs=1e-12)
    assert max(fictitious_completions(instance, routes, order)) == pytest.approx(
        audit(instance, build_routing(instance, "random", routes, order)).objective
    )


def mutated(instance: SplittingInstance, found: SplittingRouting, data: st.DataObject) -> Any:
    """One change that makes the routing wrong, and the constraints that must be found."""
    j = data.draw(st.integers(0, len(found.jobs) - 1), label="job")
    job, number = found.jobs[j], len(instance.jobs[j].layers)
    kinds = ["service", "completion", "objective", "priority", "layer beyond", "fewer layers"]
    kinds += ["drop a hop"] if job.hops else []
    kinds += ["another node"] if len(instance.nodes) > 1 else []
    kind = data.draw(st.sampled_from(kinds), label="kind")
    if kind in ("service", "completion"):
        by = data.draw(st.sampled_from([-1e-3, 1e-4, 1.0]))
        value = getattr(job, kind)
        return changed(found, j, **{kind: value + by * max(value, 1)}), {"statement"}
    if kind == "objective":
        return found.model_copy(update={"objective": found.objective * 1.001 + 1e-6}), {"statement"}
    if kind == "priority":
        return changed(found, j, priority=job.priority + len(found.jobs)), {"priority"}
    if kind == "layer beyond":
        hops = (*job.hops, (instance.links[0].name, number + 1)) if instance.links else job.hops
        if not instance.links:
            return changed(found, j, nodes=(*job.nodes, job.nodes[0])), {"layers"}
        return changed(found, j, hops=hops), {"layers"}
    if kind == "fewer layers":
        return changed(found, j, nodes=job.nodes[:-1]), {"layers"}
    if kind == "drop a hop":
        k = data.draw(st.integers(0, len(job.hops) - 1))
        return changed(found, j, hops=job.hops[:k] + job.hops[k + 1 :]), {"path"}
    k = data.draw(st.integers(0, number - 1))
    others = [node.name for node in instance.nodes if node.name != job.nodes[k]]
    nodes = (*job.nodes[:k], data.draw(st.sampled_from(others)), *job.nodes[k + 1 :])
    return changed(found, j, nodes=nodes), {"path"}


@given(st.integers(0, 10_000), st.data())
def test_no_mutation_goes_unseen(seed: int, data: st.DataObject) -> None:
    instance, routes, order = random_instance(seed)
    found = build_routing(instance, "random", routes, order)
    wrong, expected = mutated(instance, found, data)
    assert expected <= kinds(audit(instance, wrong))


# Files.


def test_a_routing_survives_its_file(tmp_path: Path) -> None:
    found = routing()
    save_routing(found, tmp_path / "a.json")
    assert load_routing(tmp_path / "a.json") == found
    content = json.loads((tmp_path / "a.json").read_text())
    assert content["jobs"][0]["hops"] == [["ab", 0], ["bc", 2]]
    assert audit(network(), load_routing(tmp_path / "a.json")).feasible


def test_constraints_are_reported_in_the_documented_order() -> None:
    wrong = changed(routing(None), 0, nodes=("b", "b", "a"), priority=1, service=0.0)
    nodes = [
        node.model_copy(update={"compute_budget": 0.0, "memory": 0.0}) for node in network().nodes
    ]
    wrong = changed(wrong, 0, hops=(("bc", 0),))
    report = audit(network(nodes=tuple(nodes)), wrong)
    order = [CONSTRAINTS.index(v.constraint) for v in report.violations]
    assert order == sorted(order)
    assert set(order) == set(range(len(CONSTRAINTS)))
