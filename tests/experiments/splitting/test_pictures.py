"""Pictures of routings: what they show adds up, and broken routings are refused."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from algorithms.splitting import run
from algorithms.splitting.simulation import simulate
from experiments.splitting.layered_picture import path_points
from experiments.splitting.network_picture import node_marker
from experiments.splitting.pictures import KINDS, draw_picture, order_of, plot_routing
from experiments.splitting.timeline_picture import fictitious_lanes, real_lanes
from models.files import InputError
from models.splitting import Route, build_routing, routes_of
from models.splitting.generator import generate
from tests.splitting_factories import make_instance, make_job


@pytest.fixture(scope="module", params=range(3))
def routed(request):
    made = generate(9, 6, gamma=0.2, models=["cnn5", "hourglass"], seed=request.param)
    return made.instance, run(made.instance, "greedy").solution


def test_fictitious_lanes_end_with_the_stated_completions(routed) -> None:
    instance, routing = routed
    order = order_of(instance, routing)
    lanes = fictitious_lanes(instance, routes_of(instance, routing), order, waits=True)
    for job, lane in zip(order, lanes, strict=True):
        assert lane[-1].end == pytest.approx(routing.jobs[job].completion, rel=1e-12)
        spent = [step.end - step.begin for step in lane if step.doing != "waiting"]
        assert sum(spent) == pytest.approx(routing.jobs[job].service, rel=1e-9)
        assert all(a.end == b.begin for a, b in itertools.pairwise(lane))


def test_real_lanes_have_all_service_and_end_as_simulated(routed) -> None:
    instance, routing = routed
    routes, order = routes_of(instance, routing), order_of(instance, routing)
    real = simulate(instance, routes, order)
    for job, lane in zip(order, real_lanes(instance, routes, order, real), strict=True):
        assert lane[-1].end == pytest.approx(real.completions[job], rel=1e-12)
        spent = [step.end - step.begin for step in lane if step.doing != "waiting"]
        assert sum(spent) == pytest.approx(routing.jobs[job].service, rel=1e-9)
        by_layer = np.zeros(instance.jobs[job].number_of_layers + 1)
        for step in lane:
            if step.doing == "computing":
                by_layer[step.layer] += step.end - step.begin
        rates = instance.node_rate[list(routes[job].nodes)]
        assert by_layer[1:] == pytest.approx(instance.jobs[job].compute / rates, rel=1e-9)


def test_a_path_goes_down_once_per_layer_and_ends_at_the_destination(routed) -> None:
    instance, routing = routed
    for job, route in enumerate(routes_of(instance, routing)):
        points = path_points(instance, job, route)
        last = instance.jobs[job].number_of_layers
        assert points[0] == (0, instance.source[job])
        assert points[-1] == (last, instance.destination[job])
        steps = list(itertools.pairwise(points))
        down = [(a, b) for a, b in steps if b[0] > a[0]]
        assert [b[0] for _, b in down] == list(range(1, last + 1))
        assert all(a[1] == b[1] for a, b in down)
        links = set(zip(instance.link_start.tolist(), instance.link_end.tolist(), strict=True))
        assert all((a[1], b[1]) in links for a, b in steps if a[0] == b[0])


def test_work_of_zero_and_a_queue_at_the_start_in_real_lanes() -> None:
    job = make_job(destination="n1", compute=[2.0, 0.0, 3.0], data=[1.0, 0.0, 0.0, 4.0])
    instance = make_instance([1.0, 1.0], [(0, 1, 2.0)], [job], queues=[5.0, 0.0])
    route = Route((0, 0, 0), ((0, 3),))
    (lane,) = real_lanes(instance, [route], [0], simulate(instance, [route], [0]))
    assert [(s.begin, s.end, s.doing, s.layer) for s in lane] == [
        (0, 5, "waiting", 1),
        (5, 7, "computing", 1),
        (7, 10, "computing", 3),
        (10, 12, "sending", 3),
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", ["png", "svg"])
def test_every_kind_is_drawn_the_same_twice(kind, ending, tmp_path: Path) -> None:
    instance = generate(7, 3, models=["cnn5"], seed=1).instance
    routing = run(instance, "greedy").solution
    contents = []
    for k in range(2):
        path = tmp_path / f"{k}.{ending}"
        draw_picture(kind, instance, routing, path)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    assert len(contents[0]) > 3000


def test_markers_are_those_of_the_boards() -> None:
    rates = [480e6, 300e6, 560e6, 0.0, None, 1.0]
    instance = make_instance(rates, [], [])
    assert [node_marker(instance, u) for u in range(6)] == ["o", "D", "s", "X", "o", "o"]


@pytest.mark.parametrize(
    ("hops", "rates", "words"),
    [
        ((), [1.0, 1.0], "path"),
        (((0, 1),), [0.0, 1.0], "layers"),
        (((0, 0),), [1.0, 1.0], "path"),
    ],
)
def test_what_no_job_can_do_is_not_drawn(hops, rates, words, tmp_path: Path) -> None:
    instance = make_instance(rates, [(0, 1, 2.0)], [make_job(destination="n1")])
    working = make_instance([1.0, 1.0], [(0, 1, 2.0)], [make_job(destination="n1")])
    routing = build_routing(working, "by hand", [Route((0,), hops)], [0])
    for draw in (
        lambda: plot_routing(instance, routing, tmp_path / "a.svg"),
        lambda: draw_picture("timeline", instance, routing, tmp_path / "a.svg"),
    ):
        with pytest.raises(InputError, match=f"^cannot be drawn: {words}: "):
            draw()
    assert not list(tmp_path.iterdir())


def test_an_instance_without_jobs_or_links_is_drawn(tmp_path: Path) -> None:
    instance = make_instance([1.0], [], [])
    routing = build_routing(instance, "none", [], [])
    for kind in KINDS:
        draw_picture(kind, instance, routing, tmp_path / f"{kind}.svg")
    draw_picture("layered", instance, None, tmp_path / "bare.svg")
    assert len(list(tmp_path.iterdir())) == 4
