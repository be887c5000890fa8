"""Generated networks and jobs: settings, independence of streams, and bounds of the search."""

import json
from collections import Counter

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.files import InputError, to_json
from models.splitting.generator import Generated, generate
from models.splitting.geometry import draw_points
from models.splitting.networks import to_networkx
from models.splitting.presets import BOARDS, MODELS, board_of
from models.splitting.profiles import Profile, read_profiles
from models.splitting.reach import why_unroutable


def test_a_generated_network_is_as_the_settings_say() -> None:
    made = generate(30, 4, gamma=0.5, seed=1)
    places, instance = made.positions, made.instance
    assert places.shape == (30, 2)
    assert 0 <= places.min() <= places.max() < 30
    joined = {
        (f"n{u}", f"n{v}")
        for u in range(30)
        for v in range(30)
        if u != v and np.hypot(*(places[u] - places[v])) < 7.5
    }
    assert [(link.start, link.end) for link in instance.links] == [
        pair
        for u, v in sorted((int(a[1:]), int(b[1:])) for a, b in joined)
        if u < v
        for pair in ((f"n{u}", f"n{v}"), (f"n{v}", f"n{u}"))
    ]
    assert len(joined) == len(instance.links)
    rates = {(link.start, link.end): link.rate for link in instance.links}
    full = 0.5 * 72.2e6 / 8
    assert all(0.1 * full <= rate < full for rate in rates.values() if rate)
    assert all(rates[u, v] == rates[v, u] for u, v in rates)
    assert all(link.name == f"{link.start}-{link.end}" for link in instance.links)
    assert networkx.is_strongly_connected(to_networkx(instance))
    assert why_unroutable(instance) == [None] * 4
    assert {node.queue for node in instance.nodes} | {e.queue for e in instance.links} == {0.0}
    assert {node.compute_budget for node in instance.nodes} == {None}


def test_nodes_are_the_three_boards_in_their_shares() -> None:
    boards = {"OPZ": (480e6, 128), "BAI": (300e6, 512), "RP3": (560e6, 512)}
    kinds: Counter[str] = Counter()
    for seed in range(20):
        made = generate(100, 0, seed=seed)
        for node, kind in zip(made.instance.nodes, made.boards, strict=True):
            assert (node.rate, node.memory) == (boards[kind][0], boards[kind][1] * 2**20)
            assert board_of(node.rate) == kind
        kinds.update(made.boards)
        assert made.report.boards == {board.name: made.boards.count(board.name) for board in BOARDS}
    # 2000 draws: 4 standard deviations are at most 0.045.
    for board, share in (("OPZ", 0.45), ("BAI", 0.45), ("RP3", 0.1)):
        assert kinds[board] / 2000 == pytest.approx(share, abs=0.045)
    assert board_of(1.0) is None
    assert board_of(None) is None


def test_sources_destinations_and_models_are_uniform_and_independent() -> None:
    instance = generate(10, 3000, radius=30, seed=5).instance
    for ends in ([j.source for j in instance.jobs], [j.destination for j in instance.jobs]):
        assert sorted(Counter(ends).values())[0] > 300 - 4 * 17
        assert sorted(Counter(ends).values())[-1] < 300 + 4 * 17
    same = sum(job.source == job.destination for job in instance.jobs)
    assert 300 - 4 * 17 < same < 300 + 4 * 17
    layers = Counter(job.number_of_layers for job in instance.jobs)
    assert set(layers) == {5, 8, 18}
    assert all(abs(count - 1000) < 4 * 26 for count in layers.values())


def test_link_rates_are_uniform() -> None:
    rates = np.array([link.rate for link in generate(200, 0, seed=2).instance.links])
    shares = rates / (72.2e6 / 8)
    assert shares.min() == pytest.approx(0.1, abs=0.005)
    assert shares.max() == pytest.approx(1.0, abs=0.005)
    assert shares.mean() == pytest.approx(0.55, abs=0.02)


def test_jobs_are_the_profiles_that_were_asked_for() -> None:
    made = generate(20, 6, models=["hourglass", "vgg16"], seed=3)
    profiles = read_profiles()
    for job, model in zip(made.instance.jobs, made.models, strict=True):
        assert job == profiles[model].job(job.name, job.source, job.destination)
    assert made.report.models == {name: made.models.count(name) for name in ("hourglass", "vgg16")}
    own = Profile("own", 3, ("all",), (7,), (2,), (1,))
    made = generate(20, 2, models=["own"], profiles={"own": own}, seed=3)
    assert [job.data.tolist() for job in made.instance.jobs] == [[3, 2]] * 2


def test_a_name_given_twice_is_twice_as_likely() -> None:
    made = generate(20, 600, models=["cnn5", "cnn5", "alexnet"], seed=0)
    assert made.report.models["cnn5"] == pytest.approx(400, abs=4 * 12)
    assert list(made.report.models) == ["cnn5", "alexnet"]


# Same arguments, same bytes; each argument changes only what it is about.


def without_rates(made: Generated) -> list[tuple[str, str]]:
    return [(link.start, link.end) for link in made.instance.links]


def test_same_arguments_same_bytes() -> None:
    texts = [to_json(generate(20, 5, seed=seed).instance) for seed in (4, 4, 5)]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize("gamma", [0.2, 0.5, 2.0])
def test_gamma_scales_the_link_rates_and_nothing_else(gamma: float) -> None:
    one, other = generate(20, 5, seed=6), generate(20, 5, gamma=gamma, seed=6)
    assert other.instance.nodes == one.instance.nodes
    assert other.instance.jobs == one.instance.jobs
    assert without_rates(other) == without_rates(one)
    assert other.instance.link_rate == pytest.approx(gamma * one.instance.link_rate, rel=1e-15)


def test_a_job_does_not_depend_on_the_number_of_jobs() -> None:
    few, many = generate(20, 3, seed=7).instance, generate(20, 50, seed=7).instance
    assert many.jobs[:3] == few.jobs
    assert (many.nodes, many.links) == (few.nodes, few.links)


def test_jobs_and_kinds_of_nodes_do_not_depend_on_the_square() -> None:
    one, other = generate(20, 5, seed=8), generate(20, 5, side=20, radius=9, seed=8)
    assert other.instance.jobs == one.instance.jobs
    assert other.boards == one.boards
    assert without_rates(other) != without_rates(one)
    assert generate(60, 0, seed=8).boards[:20] == one.boards


def test_the_compute_budget_is_in_seconds() -> None:
    made, plain = generate(20, 2, compute_seconds=3, seed=9), generate(20, 2, seed=9)
    assert all(node.compute_budget == 3 * (node.rate or 0) for node in made.instance.nodes)
    assert (made.instance.links, made.instance.jobs) == (plain.instance.links, plain.instance.jobs)


# Sizes.


def test_one_node_and_no_jobs() -> None:
    made = generate(1, 3)
    assert made.instance.links == ()
    assert {(job.source, job.destination) for job in made.instance.jobs} == {("n0", "n0")}
    assert generate(20, 0).instance.jobs == ()


@pytest.mark.parametrize("nodes", [2, 5, 10, 20])
def test_small_networks_are_redrawn_until_connected(nodes: int) -> None:
    for seed in range(5):
        made = generate(nodes, 1, seed=seed)
        assert networkx.is_strongly_connected(to_networkx(made.instance))
    assert any(generate(nodes, 0, seed=seed).report.redraws for seed in range(5))


def test_a_thousand_nodes() -> None:
    made = generate(1000, 1000, side=134.0, seed=0)
    assert made.instance.number_of_nodes == made.instance.number_of_jobs == 1000
    assert 8 < made.report.degree < 11


@given(st.integers(1, 30), st.floats(0.4, 3), st.integers(0, 2**32))
def test_pairs_are_those_closer_than_the_radius(number: int, radius: float, seed: int) -> None:
    rng = np.random.Generator(np.random.PCG64(seed))
    found = draw_points(number, 1.0, radius, rng)
    distance = np.linalg.norm(found.positions[:, None] - found.positions[None], axis=2)
    u, v = np.nonzero(np.triu(distance < radius, 1))
    assert found.pairs.tolist() == np.column_stack([u, v]).tolist()


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (
            {"nodes": 200, "radius": 0.1},
            "radius: in 5000 draws of 200 points in a square of side 30",
        ),
        ({"nodes": 3000, "radius": 40.0}, "radius: joins 44984"),
        ({"nodes": 0}, "nodes: must be a whole number, at least 1 (got 0)"),
        ({"nodes": 2.0}, "nodes: must be a whole number, at least 1 (got 2.0)"),
        ({"jobs": -1}, "jobs: must be a whole number, at least 0 (got -1)"),
        ({"jobs": True}, "jobs: must be a whole number, at least 0 (got true)"),
        ({"seed": -1}, "seed: must be a whole number, at least 0 (got -1)"),
        ({"gamma": 0.0}, "gamma: must be a number from 1e-06 to 1e+06 (got 0.0)"),
        ({"gamma": float("nan")}, "gamma: must be a number from"),
        ({"gamma": "1"}, 'gamma: must be a number (got "1")'),
        ({"side": -1}, "side: must be a number from"),
        ({"side": 1e7}, "side: must be a number from"),
        ({"radius": float("inf")}, "radius: must be a number from"),
        ({"compute_seconds": 0}, "compute_seconds: must be a number from"),
        ({"models": ["lenet"]}, "models: must be one of alexnet, alexnet_torchvision, vgg16"),
        ({"models": []}, "models: must not be empty"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(arguments: dict, rule: str) -> None:
    with pytest.raises(InputError) as caught:
        generate(**arguments)
    assert str(caught.value).startswith(rule)
    assert "\n" not in str(caught.value)


def test_the_report_says_what_was_assumed() -> None:
    report = generate(20, 5, gamma=0.2, side=28, radius=8, seed=3).report
    text = "\n".join(report.lines())
    for words in (
        "seed 3: 20 nodes",
        "square of 28 m, a link each way below 8 m",
        "0.2 * 72.2 Mbit/s * U(0.1, 1)",
        "OPZ 480 * 10^6 multiplications/s and 128 MiB (45%)",
        "compute budget of a node: none",
        "may be the same node",
        ", ".join(MODELS),
        f"not connected: {report.redraws}",
    ):
        assert words in text
    assert json.loads(json.dumps(report.as_dict()))["links"] == report.links
