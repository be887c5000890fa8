"""Slot programs by curves: held to HiGHS, to exact arithmetic, and to what curves must be."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms.training.pdors.curves import JobCurves, slot_of_state
from algorithms.training.pdors.machine_groups import Grouping
from algorithms.training.pdors.polygons import corners
from algorithms.training.pdors.slot import JobSlots
from algorithms.training.pdors.slot_curve import slot_curve
from algorithms.training.pdors.slot_simplex import GAVE_UP, INFEASIBLE, OPTIMAL
from models.training import Job, Machine, SigmoidUtility, TrainingInstance
from tests.algorithms.training.pdors.test_slot import exact_optimum, make_instance

KINDS = (
    "plain",
    "ties",
    "zero prices",
    "zero rows",
    "exhausted",
    "alike",
    "real",
    "prices apart",
)


def random_case(seed, kind, most_machines=16):
    """A job and a slot that it meets, with R from 1 to 6."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    machines, resources = int(rng.integers(1, most_machines + 1)), int(rng.integers(1, 7))
    names = tuple(f"r{r}" for r in range(resources))
    whole = kind != "real"

    def demand(at_least=0):
        drawn = rng.uniform(0, 4, resources)
        return np.floor(drawn) + at_least if whole else drawn

    worker, ps = demand(), demand()
    if kind == "zero rows":
        worker[rng.random(resources) < 0.5] = 0
        ps[rng.random(resources) < 0.5] = 0
        if seed % 7 == 0:
            worker[:] = 0
        if seed % 11 == 0:
            ps[:] = 0
    job = Job(
        name="j",
        arrival=0,
        epochs=1,
        samples=100,
        batch=int(rng.integers(1, 31)),
        gradient=1.0,
        sample_time=0.1,
        workers_per_ps=float(rng.choice([0.7, 1.0, 2.5, 3.3, 100.0])),
        bandwidth_internal=2.0,
        bandwidth_external=1.0,
        worker=dict(zip(names, worker.tolist(), strict=True)),
        ps=dict(zip(names, ps.tolist(), strict=True)),
        utility=SigmoidUtility(kind="sigmoid", priority=1, decay=0, target=0),
    )
    capacity = rng.uniform(4, 16, (machines, resources))
    if whole:
        capacity = np.floor(capacity)
    if kind == "alike":
        capacity = capacity[rng.integers(0, min(3, machines), machines)]
    instance = TrainingInstance(
        slots=1,
        resources=names,
        machines=tuple(
            Machine(name=f"m{h}", capacity=dict(zip(names, row.tolist(), strict=True)))
            for h, row in enumerate(capacity)
        ),
        jobs=(job,),
    )
    slots = JobSlots(instance, 0)
    free = instance.capacity.copy()
    spread = 400.0 if kind == "prices apart" else 5.0
    log_price = -rng.uniform(0, spread, free.shape)
    if kind == "exhausted":
        free *= rng.choice([0.0, 0.5, 1.0], free.shape)
        free -= 1e-13 * (free == 0)  # what subtraction leaves
    elif kind != "alike":
        free *= rng.uniform(0.3, 1, free.shape)
        if kind == "ties":
            free = np.floor(free)
    if kind == "ties":
        log_price = np.round(log_price)
    if kind == "alike":
        log_price = np.repeat(-rng.uniform(0, 5, (1, resources)), machines, axis=0)
    if kind == "zero prices":
        log_price[rng.random(free.shape) < 0.6] = -np.inf
    return slots, slots.state(free, log_price), rng


def curves_of(slots, state, covers):
    return JobCurves(
        slots.job, slots.worker_demand, slots.ps_demand, [slot_of_state(state)], np.array(covers)
    )


def engine_value(slots, state, cover, expected):
    """ln of the optimum by HiGHS, at a scale at which its tolerance of 1e-9 is small.

    The engine's own choice of scale lets optima be of size 1e-3, which is right to 1e-6 only.
    """
    found = slots.external(state, cover)
    if found is None or not math.isfinite(found.log_cost):
        return None if found is None else found.log_cost
    best = found.log_cost
    for log_scale in (expected - math.log(1e3), expected - math.log(1e2), expected):
        sharper, _ = slots._solve(state, log_scale)
        if sharper is not None:
            best = min(best, sharper.log_cost)
    return best


def violation(slots, state, optimum, cover):
    """The largest violation of a row or bound."""
    use = np.outer(optimum.workers, slots.worker_demand) + np.outer(optimum.ps, slots.ps_demand)
    room = np.maximum(state.free_capacity, 0)[optimum.machines]
    return max(
        float((use - room).max(initial=0.0)),
        cover - optimum.workers.sum(),
        optimum.workers.sum() - slots.job.batch,
        slots.job.ps_for(cover) - optimum.ps.sum(),
        float(-optimum.workers.min(initial=0.0)),
        float(-optimum.ps.min(initial=0.0)),
    )


def compare(seed, kind, most_covers):
    """Compare some covers of a random case; returns how many were feasible and infeasible."""
    slots, state, rng = random_case(seed, kind)
    batch = slots.job.batch
    covers = np.unique(rng.integers(1, batch + 1, most_covers))
    curves = curves_of(slots, state, covers)
    feasible = 0
    for q, cover in enumerate(covers.tolist()):
        assert curves.status[0, q] != GAVE_UP
        expected = float(curves.log_cost[0, q])
        value = engine_value(slots, state, cover, expected if math.isfinite(expected) else 0.0)
        found = curves.optimum(0, q)
        assert (found is None) == (value is None) == (curves.status[0, q] == INFEASIBLE)
        if found is None:
            continue
        feasible += 1
        assert violation(slots, state, found, cover) <= 1e-9
        assert len(np.unique(found.machines)) == len(found.machines)
        full = found.on_all(len(state.free_capacity))
        assert state.log_cost(full.workers, full.ps) == pytest.approx(expected, abs=1e-12)
        assert expected == value or abs(expected - value) <= 1e-9
    return feasible, len(covers) - feasible


@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_engine(kind):
    counts = np.array([compare(seed, kind, 4) for seed in range(40)]).sum(axis=0)
    assert counts[0] > 20
    assert counts[1] > 0 or kind == "alike"


def test_a_surplus_trimmed_off_the_only_machine_leaves_one_allocation():
    # PSs cost e^-281 of a worker here, and the LP's vertex holds more of them than are asked for.
    slots, state, _ = random_case(1208, "prices apart")
    found = curves_of(slots, state, [1]).optimum(0, 0)
    assert found is not None
    assert found.machines.tolist() == [0]
    assert found.workers.tolist() == [1.0]
    assert found.ps.tolist() == [1.0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_engine_on_ten_thousand_slot_programs(kind):
    solved = 0
    seed = 1000
    while solved < 1250:  # of each kind
        solved += sum(compare(seed, kind, 5))
        seed += 1


@pytest.mark.parametrize("spread", [0.0, 30.0, 400.0])
def test_equals_exact_arithmetic_over_any_price_range(spread):
    compared = 0
    for seed in range(8):
        rng = np.random.default_rng([seed, int(spread), 7])
        instance = make_instance(rng, machines=2, resources=int(rng.integers(1, 3)))
        slots = JobSlots(instance, 0)
        free = np.floor(instance.capacity * rng.uniform(0.2, 1, instance.capacity.shape))
        state = slots.state(free, -rng.uniform(0, spread, instance.capacity.shape))
        covers = [1, 2, 4]
        curves = curves_of(slots, state, covers)
        for q, cover in enumerate(covers):
            expected = exact_optimum(instance, state, cover)
            if expected is None:
                assert curves.status[0, q] == INFEASIBLE
            else:
                found = float(curves.log_cost[0, q])
                assert found == expected or abs(found - expected) <= 1e-11
                compared += 1
    assert compared >= 8


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(KINDS))
def test_the_curve_is_convex_and_its_corners_are_where_it_says(seed, kind):
    slots, state, rng = random_case(seed, kind)
    batch = slots.job.batch
    curve = slot_curve(slots, state, batch, batch / slots.job.workers_per_ps)
    assert curve.workers[0] == 0
    assert curve.log_cost[0] == -math.inf
    assert np.all(np.diff(curve.workers) > 0)
    top = max(curve.log_cost.max(initial=0.0), -1e300)
    cost = np.exp(curve.log_cost - top)
    slope = np.diff(cost) / np.diff(curve.workers)
    assert np.all(np.diff(slope) >= -1e-9 * np.abs(slope).max(initial=1e-300))
    if len(curve.workers) > 1:
        # Linear between two corners: a demand of its own gives what interpolation gives.
        n = int(rng.integers(1, len(curve.workers)))
        part = rng.random()
        at = (1 - part) * curve.workers[n - 1] + part * curve.workers[n]
        ps = (1 - part) * curve.ps[n - 1] + part * curve.ps[n]
        value = slot_curve(slots, state, at, ps).log_cost[-1]
        between = (1 - part) * cost[n - 1] + part * cost[n]
        assert math.exp(value - top) == pytest.approx(between, rel=1e-9, abs=1e-12)


def test_equal_machines_are_as_good_as_different_ones():
    """Grouping is exact: one group of n machines, and n groups of one, have the same values."""
    for seed in range(30):
        slots, state, _ = random_case(seed, "alike")
        view = slot_of_state(state)
        group = view.grouping.machine_group
        covers = np.arange(1, slots.job.batch + 1)
        grouped = curves_of(slots, state, covers)
        apart = type(view)(
            Grouping(np.arange(len(group), dtype=np.int32)),
            np.ones(len(group)),
            view.free[group],
            view.log_worker_price[group],
            view.log_ps_price[group],
        )
        single = JobCurves(slots.job, slots.worker_demand, slots.ps_demand, [apart], covers)
        assert np.array_equal(grouped.status, single.status)
        solved = grouped.status[0] == OPTIMAL
        assert grouped.log_cost[0, solved] == pytest.approx(single.log_cost[0, solved], abs=1e-11)


def test_several_slots_in_one_call_are_the_slots_one_by_one():
    slots, state, rng = random_case(5, "real")
    others = [
        slots.state(state.free_capacity * part, rng.normal(size=state.free_capacity.shape))
        for part in (0.4, 0.7, 1.0)
    ]
    covers = np.arange(1, slots.job.batch + 1)
    views = [slot_of_state(other) for other in others]
    together = JobCurves(slots.job, slots.worker_demand, slots.ps_demand, views, covers)
    for k, other in enumerate(others):
        alone = curves_of(slots, other, covers)
        assert np.array_equal(together.status[k], alone.status[0])
        assert np.array_equal(together.log_cost[k], alone.log_cost[0])
        for q in range(len(covers)):
            one, two = together.optimum(k, q), alone.optimum(0, q)
            assert (one is None) == (two is None)
            if one is not None:
                assert np.array_equal(one.workers, two.workers)
                assert np.array_equal(one.machines, two.machines)


def test_the_internal_case_is_the_engines():
    seen = 0
    for kind in KINDS:
        for seed in range(10):
            slots, state, rng = random_case(seed, kind)
            samples = np.sort(rng.uniform(1, 30, 12))
            workers = np.array(
                [max(math.ceil(v / slots.job.rate_internal - 1e-9), 1) for v in samples]
            )
            ps = np.array([slots.job.ps_for(int(w)) for w in workers])
            machine, log_cost = curves_of(slots, state, [1]).internal(workers, ps)
            for q, expected in enumerate(slots.internal(state, samples)):
                if expected is None:
                    assert machine[0, q] == -1
                    assert log_cost[0, q] == math.inf
                else:
                    seen += 1
                    assert expected.workers[machine[0, q]] == workers[q]
                    assert log_cost[0, q] == expected.log_cost
    assert seen > 100


def polygon(alpha, beta, free, most_workers, most_ps):
    room = len(alpha) + 5
    workers, ps = np.empty(room), np.empty(room)
    n = corners(
        np.array(alpha, float),
        np.array(beta, float),
        np.array(free, float),
        float(most_workers),
        float(most_ps),
        workers,
        ps,
    )
    return list(zip(workers[:n].tolist(), ps[:n].tolist(), strict=True))


def test_corners_of_known_polygons():
    assert polygon([1], [0], [3], 10, 2) == [(0, 0), (3, 0), (0, 2), (3, 2)]
    assert polygon([1], [1], [4], 10, 10) == [(0, 0), (4, 0), (0, 4)]
    assert polygon([1, 2], [1, 0], [4, 4], 10, 10) == [(0, 0), (2, 0), (0, 4), (2, 2)]
    assert polygon([1], [1], [0], 10, 10) == [(0, 0)]
    assert polygon([0], [0], [0], 2, 1) == [(0, 0), (2, 0), (0, 1), (2, 1)]
    assert polygon([2, 1], [1, 2], [6, 6], 9, 9) == [(0, 0), (3, 0), (0, 3), (2, 2)]


def test_prices_too_far_apart_are_left_to_the_engine():
    instance = make_instance(np.random.default_rng(2))
    slots = JobSlots(instance, 0)
    free = np.full(instance.capacity.shape, 20.0)
    state = slots.state(free, np.array([[-3000.0], [0.0]]) + np.zeros(free.shape))
    assert np.isfinite(state.log_worker_price).all()
    curves = curves_of(slots, state, [1])
    assert curves.status[0, 0] == GAVE_UP
    assert np.isnan(curves.log_cost[0, 0])
