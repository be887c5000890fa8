"""How many workers fit, against enumeration on tiny cases."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.training import Job
from models.training.throughput import (
    _kinds,
    ceil_count,
    fits,
    floor_count,
    job_reach,
    most_colocated_workers,
    most_units,
    ps_beside_workers,
)


def job(batch: int = 4, gamma: float = 2.0, gradient: float = 0.0, epochs: int = 10) -> Job:
    return Job(
        name="j",
        arrival=0,
        epochs=epochs,
        samples=1,
        batch=batch,
        gradient=gradient,
        sample_time=0.1,
        workers_per_ps=gamma,
        bandwidth_internal=10.0,
        bandwidth_external=1.0,
        worker={},
        ps={},
        utility={"kind": "sigmoid", "priority": 1.0, "decay": 0.0, "target": 1.0},
    )


@pytest.mark.parametrize(
    ("x", "up", "down"),
    [
        (3.0, 3, 3),
        (3 + 0.9e-9, 3, 3),
        (3 - 0.9e-9, 3, 3),
        (3 + 1.1e-9, 4, 3),
        (3 - 1.1e-9, 3, 2),
        (0.0, 0, 0),
        (0.3 / 0.1, 3, 3),
    ],
)
def test_counts_forgive_a_billionth(x: float, up: int, down: int) -> None:
    assert ceil_count(x) == up
    assert floor_count(x) == down


def test_a_fit_is_forgiven_a_billionth_and_no_more() -> None:
    capacity = np.array([1.0, 300.0])
    assert fits(np.array([0.1 + 0.2 + 0.7, 300.0]), capacity)
    assert fits(capacity * (1 + 5e-10), capacity)
    assert not fits(capacity * np.array([1.0, 1 + 1e-8]), capacity)
    assert fits(np.array([0.0]), np.array([0.0]))
    assert fits(np.array([0.9e-12]), np.array([0.0]))
    assert not fits(np.array([1.1e-12]), np.array([0.0]))


def test_most_units_takes_the_scarcest_resource_of_each_row() -> None:
    demand = np.array([1.0, 0.0, 2.5])
    capacity = np.array([[4.0, 0.0, 10.0], [4.0, 7.0, 5.0], [0.5, 1.0, 5.0], [9.0, 9.0, 0.0]])
    assert most_units(demand, capacity, 100).tolist() == [4, 2, 0, 0]
    assert most_units(demand, capacity, 3).tolist() == [3, 2, 0, 0]


def test_most_units_of_one_row_and_of_a_grid() -> None:
    demand = np.array([1.0])
    assert most_units(demand, np.array([3.0]), 9) == 3
    assert most_units(demand, np.full((2, 3, 1), 3.0), 9).shape == (2, 3)


def test_a_unit_without_demand_fits_as_often_as_allowed() -> None:
    assert most_units(np.zeros(2), np.zeros((3, 2)), 7).tolist() == [7, 7, 7]


def test_slightly_negative_free_capacity_is_empty_and_breaks_nothing() -> None:
    for demand in (1.0, 1e-4):
        assert most_units(np.array([demand]), np.array([[-1e-15], [-0.5]]), 7).tolist() == [0, 0]


def test_rounded_sums_do_not_lose_a_unit() -> None:
    assert most_units(np.array([0.1]), np.array([0.3]), 10) == 3
    free = np.array([1.0 - 0.1 - 0.2])  # 0.7000000000000001 or below
    assert most_units(np.array([0.7]), free, 10) == 1
    assert most_units(np.array([0.7]), np.array([0.7 * (1 - 1e-7)]), 10) == 0


@pytest.mark.parametrize("demand", [5e-324, 1e-300])
def test_a_tiny_demand_fits_as_often_as_allowed(demand: float) -> None:
    assert most_units(np.array([demand]), np.array([1e9]), 2**53) == 2**53


def test_capacities_near_the_largest_float() -> None:
    assert most_units(np.array([1.0]), np.array([1.7976931348623157e308]), 5) == 5


def test_ps_beside_workers_counts_down_as_workers_take_the_room() -> None:
    beside = ps_beside_workers(
        job(batch=8, gamma=1.0), np.array([2.0]), np.array([1.0]), np.array([7.0])
    )
    # 0..3 workers leave 7, 5, 3, 1; 8 PSs would serve a full batch.
    assert beside.tolist() == [7, 5, 3, 1]


def test_ps_beside_workers_stops_at_what_a_full_batch_needs() -> None:
    beside = ps_beside_workers(
        job(batch=3, gamma=2.0), np.array([1.0]), np.array([1.0]), np.array([9.0])
    )
    assert beside.tolist() == [2, 2, 2, 2]


def test_workers_beside_their_parameter_servers() -> None:
    # 4 workers need 2 PSs: 4*1 + 2*2 = 8.
    assert (
        most_colocated_workers(
            job(batch=9, gamma=2.0), np.array([1.0]), np.array([2.0]), np.array([8.0])
        )
        == 4
    )


# Demands and capacities are quarters, so that sums are exact and enumeration is beyond doubt.
QUARTERS = st.integers(0, 12).map(lambda k: k / 4)


@st.composite
def tiny_clusters(draw: st.DrawFn) -> tuple[Job, np.ndarray, np.ndarray, np.ndarray]:
    resources = draw(st.integers(1, 2))
    kinds = draw(st.lists(st.tuples(*[QUARTERS] * resources), min_size=1, max_size=2))
    machines = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3))
    worker = draw(st.tuples(*[QUARTERS] * resources))
    ps = draw(st.tuples(*[QUARTERS] * resources))
    some_job = job(
        batch=draw(st.integers(1, 5)),
        gamma=draw(st.sampled_from([0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 10.0])),
        gradient=draw(st.sampled_from([0.0, 0.3, 5.0])),
        epochs=draw(st.integers(1, 200)),
    )
    return some_job, np.array(machines), np.array(worker), np.array(ps)


def enumerated(some_job: Job, capacity: np.ndarray, worker: np.ndarray, ps: np.ndarray) -> list:
    """Most workers beside their PSs on one machine, and over all machines, by trying all."""
    most_ps = math.ceil(some_job.batch / some_job.workers_per_ps)
    choices = [
        [
            (w, s)
            for w in range(some_job.batch + 1)
            for s in range(most_ps + 1)
            if (w * worker + s * ps <= row).all()
        ]
        for row in capacity
    ]

    def enough(w: int, s: int) -> bool:
        return w <= some_job.batch and s * some_job.workers_per_ps >= w - 1e-9

    internal = max(w for row in choices for w, s in row if enough(w, s))
    external = max(
        sum(w for w, _ in placed)
        for placed in itertools.product(*choices)
        if enough(sum(w for w, _ in placed), sum(s for _, s in placed))
    )
    return [internal, external]


@settings(max_examples=150, deadline=None)
@given(tiny_clusters(), st.integers(1, 6))
def test_reach_is_what_enumeration_finds(
    cluster: tuple[Job, np.ndarray, np.ndarray, np.ndarray], slots: int
) -> None:
    some_job, capacity, worker, ps = cluster
    internal, external = enumerated(some_job, capacity, worker, ps)
    reach = job_reach(slots, capacity, some_job, worker, ps)
    assert [reach.internal_workers, reach.external_workers] == [internal, external]
    per_slot = max(internal * some_job.rate_internal, external * some_job.rate_external)
    assert reach.samples_per_slot == per_slot
    assert reach.possible == (slots * per_slot >= some_job.workload * (1 - 1e-9))
    if per_slot == 0:
        assert reach.slots_needed is None
    else:
        assert reach.slots_needed is not None
        assert reach.slots_needed * per_slot >= some_job.workload * (1 - 1e-9)
        assert (reach.slots_needed - 1) * per_slot < some_job.workload


def test_many_equal_machines_count_as_often_as_they_are_there() -> None:
    # No machine holds a worker and a PS; half of 100 machines hold 2 workers or 1 PS each.
    capacity = np.vstack([np.full((50, 1), 2.0), np.zeros((50, 1))])
    reach = job_reach(1, capacity, job(batch=1000, gamma=4.0), np.array([1.0]), np.array([2.0]))
    # 2x workers and 50 - x PSs: 2x <= 4(50 - x), so 33 machines of workers, 66 <= 4*17.
    assert (reach.internal_workers, reach.external_workers) == (0, 66)


def test_a_full_batch_is_found_without_the_long_way() -> None:
    capacity = np.tile([36.0, 99.0], (100, 1))
    reach = job_reach(
        1, capacity, job(batch=200, gamma=1.5), np.array([1.0, 2.0]), np.array([0.0, 1.0])
    )
    assert reach.external_workers == 200
    assert reach.internal_workers == 36


def test_batches_of_billions_do_no_harm() -> None:
    huge = 10**12
    free, cpu = np.zeros(1), np.ones(1)
    capacity = np.array([[3.0], [4.0]])
    # Workers cost nothing: 3 + 4 PSs of 1.5 workers each: 10.5 together.
    reach = job_reach(1, capacity, job(batch=huge, gamma=1.5), free, cpu)
    assert (reach.internal_workers, reach.external_workers) == (6, 10)
    reach = job_reach(1, capacity, job(batch=huge, gamma=1.3), free, cpu)
    assert (reach.internal_workers, reach.external_workers) == (5, 9)  # 5.2, 9.1
    reach = job_reach(1, capacity, job(batch=huge, gamma=1.9), free, cpu)
    assert (reach.internal_workers, reach.external_workers) == (7, 13)  # alone 5 + 7
    # Their PSs together make a full batch although those of each machine alone do not.
    reach = job_reach(1, capacity, job(batch=9, gamma=1.3), free, cpu)
    assert (reach.internal_workers, reach.external_workers) == (5, 9)
    reach = job_reach(1, np.ones((2, 1)), job(batch=1, gamma=0.5), free, cpu)
    assert (reach.internal_workers, reach.external_workers) == (0, 1)
    # Neither costs anything.
    reach = job_reach(1, capacity, job(batch=huge), free, free)
    assert (reach.internal_workers, reach.external_workers) == (huge, huge)


def test_arrival_shortens_what_is_left() -> None:
    late = job(epochs=80).model_copy(update={"arrival": 8})  # 40 samples a slot: 2 slots
    capacity, demand = np.array([[8.0]]), np.array([1.0])
    assert job_reach(10, capacity, late, demand, demand).possible
    reach = job_reach(9, capacity, late, demand, demand)
    assert not reach.possible
    assert "needs 2 slots" in reach.why_impossible(late, 9)
    assert "1 are left" in reach.why_impossible(late, 9)


def test_a_job_that_never_fits_says_so() -> None:
    never = job()
    reach = job_reach(10, np.array([[0.5]]), never, np.array([1.0]), np.array([0.0]))
    assert reach.slots_needed is None
    assert "no worker fits" in reach.why_impossible(never, 10)


def test_a_possible_job_has_no_reason() -> None:
    possible = job()
    reach = job_reach(10, np.array([[9.0]]), possible, np.array([1.0]), np.array([0.0]))
    assert reach.why_impossible(possible, 10) == ""


def test_the_workload_is_reached_within_the_tolerance_of_d11() -> None:
    # 0.1 + ... : three slots of 40 samples give 120, whatever the rounding of 1/0.1.
    exact = job(epochs=120)
    capacity, demand = np.array([[8.0]]), np.array([1.0])
    assert job_reach(3, capacity, exact, demand, demand).slots_needed == 3
    assert job_reach(9, capacity, job(epochs=121), demand, demand).slots_needed == 4


@pytest.mark.parametrize("seed", range(20))
def test_kinds_of_machines_are_the_different_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    capacity = rng.integers(0, 3, (rng.integers(1, 9), rng.integers(1, 4))).astype(float)
    for rows in (capacity, np.repeat(capacity[:1], 5, axis=0)):
        kinds, counts = _kinds(rows)
        expected, times = np.unique(rows, axis=0, return_counts=True)
        assert np.array_equal(kinds, expected)
        assert np.array_equal(counts, times)
