"""The counterexamples to Theorem 1 and the ladder: facts by enumeration and by hand."""

import itertools
import json
from pathlib import Path

import networkx
import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from experiments.splitting.make_counterexamples import SMALLEST, instance_of, main
from models.data import data_file
from models.files import InputError
from models.splitting import (
    Queues,
    Route,
    SplittingInstance,
    audit,
    build_routing,
    completion_time,
)
from models.splitting.counterexamples import COUNTEREXAMPLES, load_counterexample
from models.splitting.ladder import MOST_JOBS, ladder

RAW = Path(__file__).parents[4] / "shared" / "data" / "dnn"
needs_raw = pytest.mark.skipif(not RAW.is_dir(), reason="the greedy's numbers are not here")


def best_by_enumeration(instance: SplittingInstance) -> tuple[float, Route]:
    """Least completion of job 0 over all placements, each with its shortest ways."""
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(instance.number_of_nodes))
    graph.add_edges_from(zip(instance.link_start.tolist(), instance.link_end.tolist(), strict=True))
    job = instance.jobs[0]
    ways: dict[tuple[int, int, int], tuple[int, ...]] = {}
    index = {
        (int(u), int(v)): e
        for e, (u, v) in enumerate(zip(instance.link_start, instance.link_end, strict=True))
    }
    for layer, size in enumerate(job.data.tolist()):
        for (u, v), e in index.items():
            graph.edges[u, v]["seconds"] = (size + instance.link_queue[e]) / instance.link_rate[e]
        for u, paths in networkx.all_pairs_dijkstra_path(graph, weight="seconds"):
            for v, path in paths.items():
                ways[layer, u, v] = tuple(index[pair] for pair in itertools.pairwise(path))
    best = (float("inf"), Route((), ()))
    for nodes in itertools.product(range(instance.number_of_nodes), repeat=job.number_of_layers):
        stops = (int(instance.source[0]), *nodes, int(instance.destination[0]))
        hops = tuple(
            (e, layer)
            for layer, (u, v) in enumerate(itertools.pairwise(stops))
            for e in ways[layer, u, v]
        )
        route = Route(nodes, hops)
        best = min(
            best,
            (completion_time(instance, 0, route, Queues.initial(instance)), route),
            key=lambda found: found[0],
        )
    return best


def test_the_smallest_counterexample_by_enumeration() -> None:
    instance = load_counterexample("smallest")
    best, route = best_by_enumeration(instance)
    assert best == pytest.approx(10.111, abs=5e-7)
    assert audit(instance, build_routing(instance, "by hand", [route], [0])).feasible
    assert (instance.number_of_nodes, instance.jobs[0].number_of_layers) == (3, 3)


def test_the_smallest_counterexample_is_the_one_of_the_numbers() -> None:
    assert load_counterexample("smallest") == instance_of(SMALLEST)


def solve_single_job(instance: SplittingInstance, integer: bool) -> float:
    """(6)-(10) for job 0, written out once more and solved by scipy."""
    job, nodes = instance.jobs[0], instance.number_of_nodes
    layers = job.number_of_layers
    columns: list[tuple[float, int, int, int | None]] = []  # cost, tail, head, computing node
    for layer, size in enumerate(job.data.tolist()):
        for e in range(instance.number_of_links):
            u, v = int(instance.link_start[e]), int(instance.link_end[e])
            seconds = (size + instance.link_queue[e]) / instance.link_rate[e]
            columns.append((seconds, layer * nodes + u, layer * nodes + v, None))
    for layer, work in enumerate(job.compute.tolist(), start=1):
        for u in range(nodes):
            seconds = work / instance.node_rate[u]
            columns.append((seconds, (layer - 1) * nodes + u, layer * nodes + u, u))
    costs = [column[0] for column in columns]
    costs += (instance.node_queue / instance.node_rate).tolist()
    flow = np.zeros((nodes * (layers + 1), len(costs)))
    paid = []
    for k, (_, tail, head, node) in enumerate(columns):
        flow[tail, k] += 1
        flow[head, k] -= 1
        if node is not None:
            row = np.zeros(len(costs))
            row[[k, len(columns) + node]] = 1, -1
            paid.append(row)
    supply = np.zeros(len(flow))
    supply[instance.source[0]] += 1
    supply[layers * nodes + instance.destination[0]] -= 1
    found = milp(
        costs,
        constraints=[
            LinearConstraint(flow, supply, supply),
            LinearConstraint(np.array(paid), -np.inf, 0),
        ],
        integrality=np.full(len(costs), int(integer)),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0.0},
    )
    assert found.success
    return float(found.fun)


@pytest.mark.parametrize(
    ("name", "lp", "ilp"), [("smallest", 8.111, 10.111), ("greedy", 8.643437, 8.889342)]
)
def test_the_lp_lies_below_the_integer_optimum(name: str, lp: float, ilp: float) -> None:
    instance = load_counterexample(name)
    assert solve_single_job(instance, integer=False) == pytest.approx(lp, abs=5e-7)
    assert solve_single_job(instance, integer=True) == pytest.approx(ilp, abs=5e-7)


def test_the_greedys_counterexample() -> None:
    instance = load_counterexample("greedy")
    assert (instance.number_of_nodes, instance.number_of_links) == (10, 30)
    job = instance.jobs[0]
    assert (job.number_of_layers, job.source, job.destination) == (9, "n8", "n9")
    assert (instance.node_queue > 0).all()
    assert (instance.link_rate == instance.link_rate.reshape(-1, 2)[:, ::-1].ravel()).all()


@needs_raw
def test_the_files_are_what_the_script_makes(tmp_path: Path) -> None:
    assert main([str(RAW / "counterexample_greedy.json"), "-o", str(tmp_path)]) == 0
    for file in COUNTEREXAMPLES.values():
        assert (tmp_path / Path(file).name).read_bytes() == data_file(file).read_bytes()
    smallest = json.loads((RAW / "counterexample_min.json").read_text())
    assert instance_of(smallest) == load_counterexample("smallest")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"N": 2}', "{", '{"N": "x"}'])
def test_the_script_refuses_bad_input_without_writing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "in.json").write_text(text)
    (tmp_path / "out").mkdir()
    assert main([str(tmp_path / "in.json"), "-o", str(tmp_path / "out")]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert list((tmp_path / "out").iterdir()) == []


# The ladder.


def ladder_routes(instance: SplittingInstance) -> tuple[list[Route], list[Route]]:
    """Every job on its own rung; every job but the first on all faster rungs."""
    links = instance.link_index

    def route(names: list[str], source: str) -> Route:
        return Route((instance.node_index[source],), tuple((links[name], 1) for name in names))

    own, shared = [], []
    for k in range(1, instance.number_of_jobs + 1):
        source, destination = f"s{k}", f"t{k}"
        own.append(route([f"{source}-p{k}", f"r{k}", f"q{k}-{destination}"], source))
        names = [f"{source}-p1"]
        for i in range(1, k):
            names += [f"r{i}", f"q{i}-p{i + 1}" if i < k - 1 else f"q{i}-{destination}"]
        shared.append(route(names, source) if k > 1 else own[0])
    return own, shared


@pytest.mark.parametrize("jobs", [1, 2, 3, 5, 10, MOST_JOBS])
def test_the_ladder_by_hand(jobs: int) -> None:
    instance = ladder(jobs, epsilon=0.25)
    own, shared = ladder_routes(instance)
    separate = build_routing(instance, "by hand", own, range(jobs))
    assert audit(instance, separate).feasible
    assert [job.completion for job in separate.jobs] == pytest.approx(
        [0.75 * 2.0**k for k in range(jobs)]
    )
    together = build_routing(instance, "by hand", shared, range(jobs)[::-1])
    assert audit(instance, together).feasible
    assert [job.service for job in together.jobs] == pytest.approx([0.75] + [1.0] * (jobs - 1))
    assert together.objective <= jobs


@pytest.mark.parametrize("jobs", [2, 3, 6, 12])
def test_on_the_ladder_the_own_rung_is_always_the_earliest(jobs: int) -> None:
    instance = ladder(jobs)
    own, shared = ladder_routes(instance)
    queues = Queues.initial(instance)
    for k in range(jobs):
        alone = [completion_time(instance, j, own[j], queues) for j in range(k, jobs)]
        faster = [completion_time(instance, j, shared[j], queues) for j in range(k + 1, jobs)]
        # The greedy's next choice is job k on its own rung, and nothing ties with it.
        assert alone[0] < min([*alone[1:], *faster], default=float("inf"))
        queues.add(instance, k, own[k])


def test_a_ladder_has_no_other_routes() -> None:
    instance = ladder(5)
    graph = networkx.MultiDiGraph()
    for link in instance.links:
        graph.add_edge(link.start, link.end, key=link.name)
    for k in range(1, 6):
        paths = {
            tuple(name for *_, name in path if name.startswith("r"))
            for path in networkx.all_simple_edge_paths(graph, f"s{k}", f"t{k}")
        }
        faster = tuple(f"r{i}" for i in range(1, k))
        assert paths == {(f"r{k}",)} | ({faster, (*faster, f"r{k}")} if k > 1 else set())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"jobs": 0}, "jobs: must be a whole number from 1 to 30 (got 0)"),
        ({"jobs": 31}, "jobs: must be a whole number from 1 to 30 (got 31)"),
        ({"jobs": 2.0}, "jobs: must be a whole number"),
        ({"jobs": 2, "epsilon": 0.0}, "epsilon: must be between 0 and 1/2 (got 0.0)"),
        ({"jobs": 2, "epsilon": 0.5}, "epsilon: must be between 0 and 1/2 (got 0.5)"),
    ],
)
def test_ladders_that_are_none(arguments: dict, message: str) -> None:
    with pytest.raises(InputError) as caught:
        ladder(**arguments)
    assert str(caught.value).startswith(message)
