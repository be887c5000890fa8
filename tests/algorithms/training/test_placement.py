"""Bundles, gangs and compact placement on small clusters, held against counting by hand."""

import itertools
import math

import numpy as np
import pytest

from algorithms.training.baselines.compact_placement import place_compactly
from algorithms.training.placement import Cluster, fill
from tests.algorithms.training.kit import cluster, unit_job

PS_ON_CPU = {"ps": {"cpu": 1}}


def state_of(filled):
    return (
        filled.workers.tolist(),
        filled.ps.tolist(),
        list(filled.worker_count),
        list(filled.ps_count),
        filled.pointer,
    )


def test_round_robin_goes_on_where_it_stopped_also_after_clearing():
    machines = [{"gpu": 2.0, "cpu": 2.0}] * 3
    filled = Cluster(cluster(unit_job(workers_per_ps=1.0, **PS_ON_CPU), machines=machines))
    assert filled.add_bundle(0)
    assert filled.allocation(0) == [(0, 1, 0), (1, 0, 1)]
    filled.clear()
    assert filled.add_bundle(0)
    assert filled.allocation(0) == [(0, 0, 1), (2, 1, 0)]


def test_bundle_brings_the_ps_that_d2_then_requires():
    filled = Cluster(cluster(unit_job(workers_per_ps=1.5, **PS_ON_CPU)))
    needed = []
    while filled.add_bundle(0):
        needed.append((filled.worker_count[0], filled.ps_count[0]))
    assert needed == [(1, 1), (2, 2), (3, 2), (4, 3), (5, 4)]  # the batch is 5


def test_refused_bundle_leaves_everything_as_it_was():
    machines = [{"gpu": 3.0, "cpu": 1.0}, {"gpu": 3.0, "cpu": 0.0}]
    filled = Cluster(cluster(unit_job(**PS_ON_CPU), machines=machines))
    assert filled.add_bundle(0)
    assert filled.add_bundle(0)
    before, room = state_of(filled), filled.room.copy()
    assert not filled.add_bundle(0)  # a third worker needs a second PS, and there is one CPU
    assert state_of(filled) == before
    assert np.allclose(filled.room, room)


def test_worker_makes_way_for_its_ps():
    """Only m0 has room for the PS, and it has none beside a worker."""
    machines = [{"cpu": 3.0}, {"cpu": 1.0}]
    job = unit_job(worker={"cpu": 1}, ps={"cpu": 3}, batch=1, worker_slots=1)
    filled = Cluster(cluster(job, machines=machines))
    assert filled.add_bundle(0)
    assert filled.allocation(0) == [(0, 0, 1), (1, 1, 0)]


def test_gang_is_placed_as_a_whole_or_not_at_all():
    machines = [{"gpu": 2.0}, {"gpu": 2.0}]
    instance = cluster(unit_job("a", batch=3), unit_job("b", batch=4), machines=machines)
    filled = Cluster(instance)
    assert filled.add_gang(0, 3)
    before, room = state_of(filled), filled.room.copy()
    assert not filled.add_gang(1, 2)
    assert state_of(filled) == before
    assert np.allclose(filled.room, room)
    filled.release(0)
    assert filled.add_gang(1, 4)
    assert filled.worker_count == [0, 4]


def test_workers_that_need_nothing_come_as_many_as_the_ps_serve():
    free_workers = unit_job(worker={}, batch=10**9, workers_per_ps=2.5, **PS_ON_CPU)
    filled = Cluster(cluster(free_workers))
    counts = []
    while filled.add_bundle(0):
        counts.append((filled.worker_count[0], filled.ps_count[0]))
    assert counts == [(2, 1), (5, 2), (7, 3), (10, 4), (12, 5), (15, 6)]
    nothing = Cluster(cluster(unit_job(worker={}, batch=10**9)))
    assert nothing.add_bundle(0)
    assert nothing.worker_count == [10**9]
    assert nothing.ps_count == [5 * 10**8]
    assert not nothing.add_bundle(0)


def test_share_is_that_of_the_dominant_resource():
    job = unit_job(worker={"gpu": 1, "cpu": 1}, ps={"cpu": 3})
    filled = Cluster(cluster(job, machines=[{"gpu": 4.0, "cpu": 12.0}] * 2))
    assert filled.share(0) == 0
    assert filled.share(0, workers=1, ps=1) == pytest.approx(4 / 24)
    assert filled.add_gang(0, 2)
    assert filled.share(0) == pytest.approx(max(2 / 8, 5 / 24))


def test_fill_follows_the_keys_and_leaves_out_what_no_longer_fits():
    instance = cluster(
        unit_job("wide", worker={"gpu": 4}), unit_job("slim", batch=9), machines=[{"gpu": 7.0}]
    )
    filled = Cluster(instance)
    order = []

    def key(i):
        order.append(i)
        return (filled.worker_count[i],)

    fill(filled, [0, 1], key)
    assert filled.worker_count == [1, 3]
    # Both are asked at first, then each after its own bundles.
    assert order == [0, 1, 0, 1, 1, 1]


def test_fill_stops_when_a_job_wants_no_more():
    filled = Cluster(cluster(unit_job()))
    fill(filled, [0], lambda i: None if filled.worker_count[i] == 2 else (0.0,))
    assert filled.worker_count == [2]


@pytest.mark.parametrize(
    ("gpus", "wanted", "expected"),
    [
        ([4, 3, 6], 3, [(1, 3, 2)]),  # the tightest of those that hold it all
        ([4, 3, 6], 5, [(2, 5, 3)]),
        ([2, 3, 2], 5, [(0, 2, 1), (1, 3, 2)]),  # the largest, then the tightest for the rest
        ([1, 1, 2], 9, [(0, 1, 1), (1, 1, 0), (2, 2, 1)]),  # no more than there is
    ],
)
def test_compact_placement(gpus, wanted, expected):
    machines = [{"gpu": float(gpu), "cpu": 9.0} for gpu in gpus]
    filled = Cluster(cluster(unit_job(batch=9, **PS_ON_CPU), machines=machines))
    assert place_compactly(filled, 0, wanted) == sum(w for _, w, _ in expected)
    assert filled.allocation(0) == expected


def test_compact_placement_uses_machines_that_hold_only_a_worker_or_only_a_ps():
    machines = [{"gpu": 2.0}, {"cpu": 1.0}]
    filled = Cluster(cluster(unit_job(**PS_ON_CPU), machines=machines))
    assert place_compactly(filled, 0, 5) == 2
    assert filled.allocation(0) == [(0, 2, 0), (1, 0, 1)]


def fewest_machines(rooms, job, wanted):
    """Machines (of GPUs and CPUs) that hold so many workers with their PSs, by enumeration."""
    for size in range(1, len(rooms) + 1):
        for chosen in itertools.combinations(rooms, size):
            gpus = sum(room[0] for room in chosen)
            cpus = sum(room[1] for room in chosen)
            if gpus >= wanted and cpus >= math.ceil(wanted / job.workers_per_ps - 1e-9):
                return size
    return None


@pytest.mark.parametrize("seed", range(10))
def test_compact_placement_is_feasible_and_internal_wherever_it_can_be(seed):
    rng = np.random.Generator(np.random.PCG64(seed))
    rooms = rng.integers(0, 6, (4, 2)).tolist()
    machines = [{"gpu": float(g), "cpu": float(c)} for g, c in rooms]
    job = unit_job(batch=12, worker_slots=1, workers_per_ps=float(rng.uniform(0.8, 4)), **PS_ON_CPU)
    filled = Cluster(cluster(job, machines=machines))
    if not filled.instance.reach[0].possible:
        assert filled.most_workers == [0]
        return
    for wanted in range(1, filled.most_workers[0] + 1):
        filled.clear()
        placed = place_compactly(filled, 0, wanted)
        assert 0 < placed <= wanted
        assert filled.ps_count[0] == job.ps_for(placed)
        assert np.all(filled.workers[0] <= [g for g, _ in rooms])
        assert np.all(filled.ps[0] <= [c for _, c in rooms])
        fewest = fewest_machines(rooms, job, wanted)
        assert fewest is not None
        if fewest == 1:
            assert (placed, len(filled.allocation(0))) == (wanted, 1)
