"""Theta of one slot: the engine against exact rational arithmetic and a fresh Pyomo solve."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pyomo.environ as pyo
import pytest

from algorithms.training.pdors.slot import JobSlots, SlotState
from models.training import Job, Machine, SigmoidUtility, TrainingInstance
from models.training.slot_program import build_slot_program


def make_instance(rng, machines=2, resources=2, batch=6):
    names = tuple(f"r{r}" for r in range(resources))
    job = Job(
        name="j",
        arrival=0,
        epochs=1,
        samples=100,
        batch=batch,
        gradient=1.0,
        sample_time=0.1,
        workers_per_ps=float(rng.choice([0.7, 1.0, 2.5])),
        bandwidth_internal=2.0,
        bandwidth_external=1.0,
        worker={name: float(rng.integers(0, 4)) for name in names},
        ps={name: float(rng.integers(0, 4)) for name in names},
        utility=SigmoidUtility(kind="sigmoid", priority=1, decay=0, target=0),
    )
    return TrainingInstance(
        slots=1,
        resources=names,
        machines=tuple(
            Machine(name=f"m{h}", capacity={n: float(rng.integers(4, 16)) for n in names})
            for h in range(machines)
        ),
        jobs=(job,),
    )


def exact_optimum(instance, state, cover):
    """Least ln cost over all vertices of the slot program, in rational arithmetic.

    Costs are exponentials taken with 400 digits and turned into fractions, so that prices e^-400
    and e^0 side by side lose nothing.
    """
    job = instance.jobs[0]
    machines, resources = instance.capacity.shape
    size = 2 * machines
    rows, sides = [], []  # row . x >= side

    def add(row, side):
        rows.append([Fraction(v) for v in row])
        sides.append(Fraction(side))

    unit = np.eye(size)
    for k in range(size):
        add(unit[k], 0)
    for h in range(machines):
        for r in range(resources):
            row = np.zeros(size)
            row[h] = -instance.worker_demand[0, r]
            row[machines + h] = -instance.ps_demand[0, r]
            if row.any():
                add(row, -state.free_capacity[h, r])
    ones = np.ones(machines)
    add(np.concatenate([-ones, 0 * ones]), -job.batch)
    add(np.concatenate([ones, 0 * ones]), cover)
    add(np.concatenate([0 * ones, ones]), job.ps_for(cover))
    # A unit that does not fit is closed (D7); the LP alone would allow a fraction of it.
    closed = set()
    for h in range(machines):
        for offset, demand in ((0, instance.worker_demand[0]), (machines, instance.ps_demand[0])):
            if np.any(demand > state.free_capacity[h]):
                closed.add(offset + h)
                row = np.zeros(size)
                row[offset + h] = -1
                add(row, 0)
    with mpmath.workdps(400):
        log_costs = np.concatenate([state.log_worker_price, state.log_ps_price])
        costs = []
        for c in log_costs:
            value = mpmath.exp(mpmath.mpf(float(c))) if np.isfinite(c) else mpmath.mpf(0)
            man, exp = value.man_exp
            costs.append(Fraction(int(man)) * Fraction(2) ** int(exp))
    best = None
    for chosen in itertools.combinations(range(len(rows)), size):
        point = solve_exactly([rows[k] for k in chosen], [sides[k] for k in chosen])
        if point is None:
            continue
        if all(
            sum(a * x for a, x in zip(row, point, strict=True)) >= side
            for row, side in zip(rows, sides, strict=True)
        ):
            cost = sum(c * x for c, x in zip(costs, point, strict=True))
            if best is None or cost < best:
                best = cost
    if best is None:
        return None
    with mpmath.workdps(400):
        value = mpmath.mpf(best.numerator) / best.denominator
        return float(mpmath.log(value)) if best > 0 else -math.inf


def solve_exactly(matrix, right):
    """Gauss elimination in fractions; None if singular."""
    size = len(right)
    table = [[*row, side] for row, side in zip(matrix, right, strict=True)]
    for k in range(size):
        pivot = next((i for i in range(k, size) if table[i][k] != 0), None)
        if pivot is None:
            return None
        table[k], table[pivot] = table[pivot], table[k]
        scale = table[k][k]
        table[k] = [v / scale for v in table[k]]
        for i in range(size):
            if i != k and table[i][k] != 0:
                factor = table[i][k]
                table[i] = [v - factor * p for v, p in zip(table[i], table[k], strict=True)]
    return [row[-1] for row in table]


@pytest.mark.parametrize("spread", [0.0, 5.0, 30.0, 100.0, 400.0])
def test_equals_exact_arithmetic_over_any_price_range(spread):
    """D6: also where prices lie e^400 apart and where only dear machines have room."""
    compared = infeasible = 0
    for seed in range(12):
        rng = np.random.default_rng([seed, int(spread)])
        instance = make_instance(rng, machines=2, resources=int(rng.integers(1, 3)))
        slots = JobSlots(instance, 0)
        free = np.floor(instance.capacity * rng.uniform(0.2, 1, instance.capacity.shape))
        log_price = -rng.uniform(0, spread, instance.capacity.shape)
        state = slots.state(free, log_price)
        for cover in (1, 2, 4):
            expected = exact_optimum(instance, state, cover)
            found = slots.external(state, cover)
            if expected is None:
                assert found is None
                infeasible += 1
            elif expected == -math.inf:
                assert found.log_cost == -math.inf
            else:
                assert found.log_cost == pytest.approx(expected, abs=1e-7)
                compared += 1
    assert compared >= 10
    assert infeasible >= 1


def random_state(slots, instance, rng, spread=5.0):
    free = instance.capacity * rng.uniform(0.3, 1, instance.capacity.shape)
    log_price = -rng.uniform(0, spread, instance.capacity.shape)
    return slots.state(free, log_price)


def test_equals_a_fresh_pyomo_solve():
    rng = np.random.default_rng(5)
    compared = 0
    for _ in range(15):
        instance = make_instance(rng, machines=6, resources=4, batch=12)
        slots = JobSlots(instance, 0)
        for _ in range(3):
            state = random_state(slots, instance, rng)
            cover = int(rng.integers(1, 8))
            open_workers = np.all(state.free_capacity >= slots.worker_demand, axis=1)
            open_ps = np.all(state.free_capacity >= slots.ps_demand, axis=1)
            with np.errstate(over="ignore"):
                model = build_slot_program(
                    worker_cost=np.exp(state.log_worker_price),
                    ps_cost=np.exp(state.log_ps_price),
                    free_capacity=state.free_capacity,
                    worker_demand=slots.worker_demand,
                    ps_demand=slots.ps_demand,
                    most_workers=12 * open_workers,
                    most_ps=100 * open_ps,
                    batch=12,
                    worker_cover=cover,
                    ps_cover=slots.job.ps_for(cover),
                )
            outcome = pyo.SolverFactory("appsi_highs").solve(model, load_solutions=False)
            found = slots.external(state, cover)
            if outcome.solver.termination_condition == pyo.TerminationCondition.optimal:
                value = float(outcome.problem.upper_bound)
                cost = 0.0 if found.log_cost == -math.inf else math.exp(found.log_cost)
                assert cost == pytest.approx(value, rel=1e-7, abs=1e-12)
                compared += 1
            else:
                assert found is None
    assert compared > 20


def test_warm_equals_cold():
    rng = np.random.default_rng(8)
    for _ in range(10):
        instance = make_instance(rng, machines=8, resources=3, batch=20)
        warm, cold = JobSlots(instance, 0, "warm"), JobSlots(instance, 0, "cold")
        for _ in range(4):
            state = random_state(warm, instance, rng, spread=50)
            for cover in (1, 3, 9, 15):
                first, second = warm.external(state, cover), cold.external(state, cover)
                assert (first is None) == (second is None)
                if first is not None:
                    assert first.log_cost == pytest.approx(second.log_cost, abs=1e-8) or (
                        first.log_cost == second.log_cost
                    )


def test_external_optimum_satisfies_every_row():
    rng = np.random.default_rng(3)
    seen = 0
    for _ in range(30):
        instance = make_instance(rng, machines=5, resources=3, batch=15)
        slots = JobSlots(instance, 0)
        state = random_state(slots, instance, rng, spread=200)
        found = slots.external(state, 4)
        if found is None:
            continue
        seen += 1
        assert found.workers.sum() >= 4 - 1e-7
        assert found.workers.sum() <= 15 + 1e-7
        assert found.ps.sum() >= slots.job.ps_for(4) - 1e-7
        use = np.outer(found.workers, slots.worker_demand) + np.outer(found.ps, slots.ps_demand)
        assert np.all(use <= state.free_capacity + 1e-6)
    assert seen > 10


def internal_by_hand(instance, state, samples):
    """D8 for one level: machines in order of price, the first that fits."""
    job = instance.jobs[0]
    workers = math.ceil(samples / job.rate_internal - 1e-9)
    ps = math.ceil(workers / job.workers_per_ps - 1e-9)
    if workers > job.batch:
        return None
    keys = np.exp(state.log_worker_price) * job.workers_per_ps + np.exp(state.log_ps_price)
    for h in np.argsort(keys, kind="stable"):
        use = workers * instance.worker_demand[0] + ps * instance.ps_demand[0]
        if np.all(use <= state.free_capacity[h] + 1e-9):
            return int(h), workers, ps
    return None


def test_internal_case_against_a_plain_loop():
    rng = np.random.default_rng(4)
    found_some = 0
    for _ in range(40):
        instance = make_instance(rng, machines=4, resources=2, batch=5)
        slots = JobSlots(instance, 0)
        state = random_state(slots, instance, rng)
        samples = np.array([1.0, 5.0, 9.0, 20.0, 45.0])
        for value, allocation in zip(samples, slots.internal(state, samples), strict=True):
            expected = internal_by_hand(instance, state, value)
            if expected is None:
                assert allocation is None
                continue
            found_some += 1
            machine, workers, ps = expected
            assert np.flatnonzero(allocation.workers).tolist() == [machine]
            assert allocation.workers[machine] == workers
            assert allocation.ps[machine] == ps
            cost = workers * math.exp(state.log_worker_price[machine]) + ps * math.exp(
                state.log_ps_price[machine]
            )
            assert math.exp(allocation.log_cost) == pytest.approx(cost, rel=1e-12)
    assert found_some > 20


def test_smallest_packing_leaves_out_closed_machines():
    rng = np.random.default_rng(0)
    instance = make_instance(rng, machines=2, resources=1, batch=50)
    slots = JobSlots(instance, 0)
    slots.worker_demand = np.array([2.0])
    slots.ps_demand = np.array([1.0])
    state = SlotState(np.array([[1.5], [7.0]]), np.zeros(2), np.zeros(2))
    # Workers: only machine 1 is open, 7/2; PSs: both, 1.5/1 is the smallest.
    assert slots.smallest_packing(state) == 1.5
