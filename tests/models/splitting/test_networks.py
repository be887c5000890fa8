"""Networks from and to networkx."""

import math

import networkx
import numpy as np
import pytest

from models.files import InputError
from models.splitting import Job, Layer, Link, Node, SplittingInstance
from models.splitting.generator import generate
from models.splitting.networks import from_networkx, to_networkx
from tests.splitting_factories import random_small

JOB = Job(
    name="j",
    source="a",
    destination="b",
    input=1.0,
    layers=(Layer(compute=1.0, output=1.0, memory=0.0),),
)


def test_there_and_back() -> None:
    instance = SplittingInstance(
        nodes=(
            Node(name="b", rate=None, queue=1.0, compute_budget=3.0),
            Node(name="a", rate=0.0, memory=4.0),
        ),
        links=(
            Link(name="one", start="a", end="b", rate=None, queue=2.0),
            Link(name="two", start="a", end="b", rate=0.0),
            Link(name="back", start="b", end="a", rate=5.0),
        ),
        jobs=(JOB,),
    )
    graph = to_networkx(instance)
    assert list(graph) == ["b", "a"]
    assert graph.nodes["b"] == {"rate": None, "queue": 1, "compute_budget": 3, "memory": None}
    assert graph.edges["a", "b", "one"] == {"rate": None, "queue": 2.0, "place": 0}
    assert from_networkx(graph, instance.jobs) == instance


def test_a_generated_network_there_and_back() -> None:
    instance = generate(20, 4, seed=2).instance
    assert from_networkx(to_networkx(instance), instance.jobs) == instance


@pytest.mark.parametrize("seed", range(30))
def test_any_network_there_and_back_with_its_links_in_order(seed: int) -> None:
    instance = random_small(seed, nodes=4)
    graph = to_networkx(instance)
    assert from_networkx(graph, instance.jobs) == instance
    graph.add_edge("n0", "n1", key="new", rate=1.0, place="nowhere")
    assert from_networkx(graph, instance.jobs).links[:-1] == instance.links


def test_numpy_numbers_infinity_and_whole_numbers() -> None:
    graph = networkx.DiGraph()
    graph.add_node(0, rate=np.float32(2.5), queue=np.int64(3), colour="red")
    graph.add_node(1, rate=math.inf, memory=math.inf)
    graph.add_edge(0, 1, rate=7, weight=3)
    instance = from_networkx(graph)
    assert instance.nodes == (
        Node(name="0", rate=2.5, queue=3.0),
        Node(name="1", rate=None, memory=None),
    )
    assert instance.links == (Link(name="0-1", start="0", end="1", rate=7.0),)


def test_an_undirected_edge_is_a_link_each_way() -> None:
    graph = networkx.MultiGraph()
    graph.add_nodes_from("ab", rate=1.0)
    graph.add_edge("a", "b", rate=1.0)
    graph.add_edge("a", "b", rate=2.0, key="named")
    instance = from_networkx(graph)
    assert [(e.name, e.start, e.end, e.rate) for e in instance.links] == [
        ("a-b", "a", "b", 1.0),
        ("b-a", "b", "a", 1.0),
        ("a-b-1", "a", "b", 2.0),
        ("b-a-1", "b", "a", 2.0),
    ]


def broken(**changes: object) -> networkx.MultiDiGraph:
    graph = networkx.MultiDiGraph()
    graph.add_node("a", rate=changes.get("node", 1.0), queue=changes.get("queue", 0.0))
    graph.add_node("b", rate=1.0)
    graph.add_edge("a", "b", rate=changes.get("edge", 1.0))
    return graph


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (broken(node=-1.0), "node 'a': rate: must be greater than or equal to 0 (got -1.0)"),
        (broken(node="fast"), "node 'a': rate: must be a valid number"),
        (broken(node=True), "node 'a': rate: must be a valid number (got true)"),
        (broken(node=math.nan), "node 'a': rate: must be a finite number"),
        (broken(queue=math.inf), "node 'a': queue: must be a valid number (got null)"),
        (broken(edge=-math.inf), "edge 'a' to 'b': rate: must be "),
        (broken(edge=10**400), "edge 'a' to 'b': rate: "),
        (networkx.empty_graph(1), "node 0: rate: is required"),
        (networkx.DiGraph(), "nodes: must have at least 1 item"),
    ],
)
def test_what_is_wrong_is_one_line(graph: networkx.Graph, message: str) -> None:
    with pytest.raises(InputError) as caught:
        from_networkx(graph)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_names_that_clash_loops_and_unknown_ends() -> None:
    graph = networkx.DiGraph()
    graph.add_nodes_from([1, "1"], rate=1.0)
    with pytest.raises(InputError, match="names must be unique"):
        from_networkx(graph)
    graph = networkx.MultiDiGraph()
    graph.add_node("a", rate=1.0)
    graph.add_edge("a", "a", rate=1.0)
    with pytest.raises(InputError, match=r"links\[0\].to: must differ from the node"):
        from_networkx(graph)
    with pytest.raises(InputError, match=r"jobs\[0\].destination: is not a node"):
        from_networkx(networkx.relabel_nodes(broken(), {"b": "c"}), [JOB])
    graph = networkx.MultiDiGraph(broken())
    graph.add_edge("b", "a", rate=1.0, key="same")
    graph.add_edge("a", "b", rate=1.0, key="same")
    with pytest.raises(InputError, match=r"links\[\d\].name: names must be unique"):
        from_networkx(graph)
