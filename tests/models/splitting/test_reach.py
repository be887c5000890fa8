"""Which jobs can be routed, and why the others cannot."""

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.splitting import Job, Layer, Link, Node, SplittingInstance
from models.splitting.networks import to_networkx
from models.splitting.reach import usable_nodes, why_over_budget, why_unroutable

LAYER = Layer(compute=2.0, output=1.0, memory=3.0)


def line(
    *,
    nodes: tuple[float | None, ...] = (1.0, 1.0, 1.0),
    links: tuple[float | None, ...] = (1.0, 1.0),
) -> SplittingInstance:
    """a -> b -> c, a job from a to c and one that stays at c."""
    names = "abc"
    return SplittingInstance(
        nodes=tuple(Node(name=name, rate=rate) for name, rate in zip(names, nodes, strict=True)),
        links=tuple(
            Link(name=f"e{k}", start=names[k], end=names[k + 1], rate=rate)
            for k, rate in enumerate(links)
        ),
        jobs=(
            Job(name="j0", source="a", destination="c", input=0.0, layers=(LAYER, LAYER)),
            Job(name="j1", source="c", destination="c", input=0.0, layers=(LAYER,)),
        ),
    )


NO_PATH = "no path of usable links leads from a to c"
NONE_ON_PATH = "no node that computes lies on a path from "


@pytest.mark.parametrize(
    ("changes", "reasons"),
    [
        ({}, [None, None]),
        ({"links": (1.0, 0.0)}, [NO_PATH, None]),
        ({"links": (None, None)}, [None, None]),
        ({"nodes": (0.0, 0.0, None)}, [None, None]),
        ({"nodes": (0.0, 1.0, 0.0)}, [None, NONE_ON_PATH + "c to c"]),
        ({"nodes": (1.0, 0.0, 0.0)}, [None, NONE_ON_PATH + "c to c"]),
        ({"nodes": (0.0, 0.0, 0.0)}, ["no node computes: all rates are 0"] * 2),
        ({"nodes": (0.0, 0.0, 0.0), "links": (0.0, 1.0)}, [NO_PATH, "no node computes: all ra"]),
    ],
)
def test_reasons(changes: dict, reasons: list[str | None]) -> None:
    found = why_unroutable(line(**changes))
    assert [
        None if f is None else f[: len(r or "")] for f, r in zip(found, reasons, strict=True)
    ] == (reasons)


def test_one_node_without_links_and_no_jobs() -> None:
    job = Job(name="j", source="a", destination="a", input=1.0, layers=(LAYER,))
    alone = SplittingInstance(nodes=(Node(name="a", rate=1.0),), links=(), jobs=(job,))
    assert why_unroutable(alone) == [None]
    assert usable_nodes(alone).tolist() == [[True]]
    empty = alone.model_copy(update={"jobs": ()})
    assert (why_unroutable(empty), usable_nodes(empty).shape) == ([], (0, 1))


@given(st.data())
def test_usable_nodes_are_those_on_walks_of_networkx(data: st.DataObject) -> None:
    number = data.draw(st.integers(1, 5))
    rates = st.sampled_from([0.0, 1.0, None])
    ends = st.tuples(st.integers(0, number - 1), st.integers(0, number - 1))
    pairs = [p for p in data.draw(st.lists(ends, max_size=8)) if p[0] != p[1]]
    nodes = tuple(Node(name=f"n{u}", rate=data.draw(rates)) for u in range(number))
    links = tuple(
        Link(name=f"e{k}", start=f"n{u}", end=f"n{v}", rate=data.draw(rates))
        for k, (u, v) in enumerate(pairs)
    )
    jobs = tuple(
        Job(name=f"j{k}", source=f"n{s}", destination=f"n{t}", input=1.0, layers=(LAYER,))
        for k, (s, t) in enumerate(data.draw(st.lists(ends, min_size=1, max_size=3)))
    )
    instance = SplittingInstance(nodes=nodes, links=links, jobs=jobs)
    graph = to_networkx(instance)
    graph.remove_edges_from([(e.start, e.end, e.name) for e in links if e.rate == 0])
    expected = [
        [
            node.rate != 0
            and networkx.has_path(graph, job.source, node.name)
            and networkx.has_path(graph, node.name, job.destination)
            for node in nodes
        ]
        for job in jobs
    ]
    assert usable_nodes(instance).tolist() == expected
    assert [why is None for why in why_unroutable(instance)] == [any(row) for row in expected]


@pytest.mark.parametrize(
    ("budgets", "reason"),
    [
        ({"memory": 3.0}, None),
        ({"memory": 2.9}, "layer 1 (2 operations, 3 bytes) is over the budgets of every node"),
        ({"compute_budget": 2.0}, None),
        ({"compute_budget": 1.9}, "layer 1 (2 operations, 3 bytes) is over"),
        ({"compute_budget": 1.7e308, "memory": 1.79e308}, None),
    ],
)
def test_a_layer_that_fits_no_budget(budgets: dict, reason: str | None) -> None:
    instance = line(nodes=(1.0, 0.0, 0.0))
    nodes = [node.model_copy(update=budgets) for node in instance.nodes]
    # A roomy node that cannot compute is of no help.
    nodes[1] = instance.nodes[1]
    instance = instance.model_copy(update={"nodes": tuple(nodes)})
    found = why_over_budget(instance)
    assert found[1] is None  # cannot be routed anyway
    if reason is None:
        assert found[0] is None
    else:
        assert (found[0] or "").startswith(reason)
