"""The method of slot totals: against enumeration, its bound, its hull, its packings."""

import itertools

import numpy as np
import pytest

from algorithms.training.exact.best_pattern import best_pattern
from algorithms.training.exact.brute_force import brute_force
from algorithms.training.exact.machine_hull import machine_hull
from algorithms.training.exact.slot_by_slot import Placements, SlotBySlot
from models.training import TrainingInstance, audit, build_schedule
from models.training.generator import generate
from models.training.schedule import placements_of
from models.training.slot_packing import SlotItem, pack_slot
from tests.training_factories import make_instance, make_job, random_tiny


def settle(instance: TrainingInstance, seconds: float = 20.0) -> tuple[float, float]:
    """Run the method alone; returns the best audited value and the proved bound."""
    last = dict.fromkeys(instance.possible_jobs, instance.slots - 1)
    if not last:
        return 0.0, 0.0
    spent = itertools.count()
    method = SlotBySlot(instance, last, 1.0, lambda: seconds - 1e-3 * next(spent))
    assert method.possible
    best, bound = [0.0], [np.inf]

    def accept(placements: Placements) -> None:
        schedule = build_schedule(instance, "x", placements)
        if audit(instance, schedule).feasible:
            best[0] = max(best[0], schedule.objective)

    def take_bound(proved: float) -> bool:
        bound[0] = min(bound[0], proved)
        return bound[0] <= best[0] * (1 + 1e-9)

    method.run(dict, accept, take_bound)
    return best[0], max(bound[0], best[0])


@pytest.mark.parametrize("seed", range(25))
def test_agrees_with_enumeration(seed: int) -> None:
    instance = random_tiny(seed)
    lower, upper = settle(instance)
    best = brute_force(instance)
    assert lower == pytest.approx(best, rel=1e-6, abs=1e-12)
    assert upper == pytest.approx(best, rel=1e-6, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(25, 300))
def test_agrees_with_enumeration_on_many(seed: int) -> None:
    test_agrees_with_enumeration(seed)


@pytest.mark.parametrize("seed", range(6))
def test_what_fits_on_a_machine_is_in_its_hull(seed: int) -> None:
    """No cut is found for totals that come from a real slot, and cuts hold for them."""
    rng = np.random.default_rng(seed)
    instance = generate(5, 4, 3, seed=seed).instance
    jobs = list(instance.possible_jobs)
    hull = machine_hull(instance, jobs)
    assert hull is not None
    points = [packable(instance, jobs, rng) for _ in range(6)]
    cuts = [hull.separate(point) for point in points]
    assert cuts == [None] * len(points)
    for point in points:
        cut = hull.separate(np.vstack([2 * point[0], np.minimum(point[1], 1.0), 2 * point[2:]]))
        if cut is not None:
            assert all((cut.prices * other).sum() <= cut.most * (1 + 1e-9) for other in points)


def packable(instance: TrainingInstance, jobs: list[int], rng: np.random.Generator) -> np.ndarray:
    """Totals of a slot that is filled at random."""
    left = instance.capacity.copy()
    totals = np.zeros((4, len(jobs)))
    for x in rng.permutation(len(jobs)):
        i = jobs[x]
        workers, ps, internal = 0, 0, bool(rng.integers(2))
        h = 0
        for _ in range(40):
            machine = h if internal else int(rng.integers(len(left)))
            job = instance.jobs[i]
            more = job.ps_for(workers + 1) - ps
            need = instance.worker_demand[i] + more * instance.ps_demand[i]
            if workers < job.batch and np.all(need <= left[machine]):
                left[machine] -= need
                workers, ps = workers + 1, ps + more
        if workers:
            rows = (0, 1) if internal else (2, 3)
            totals[rows[0], x] = workers
            totals[rows[1], x] = 1 if internal else ps
    return totals


@pytest.mark.parametrize("seed", range(20))
def test_best_pattern_against_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, size=4)
    start = np.cumsum([0, *sizes])
    values = rng.uniform(-0.2, 1.0, start[-1])
    use = rng.uniform(0.0, 0.6, (start[-1], 3)) * (rng.random((start[-1], 3)) < 0.8)
    room = np.ones(3)
    best = 0.0
    for choice in itertools.product(*(range(size + 1) for size in sizes)):
        taken = [int(start[g]) + o - 1 for g, o in enumerate(choice) if o]
        if np.all(use[taken].sum(axis=0) <= room):
            best = max(best, float(values[taken].sum()))
    value, bound, taken_options = best_pattern(start, values, use, room, 0.0, 1e-9, 10**6)
    assert value == pytest.approx(best, abs=1e-8)
    assert best - 1e-12 <= bound <= best + 1e-8
    chosen = [o for o in taken_options if o >= 0]
    assert values[chosen].sum() == pytest.approx(best, abs=1e-8)
    # Stopped at once, the bound still holds.
    assert best_pattern(start, values, use, room, 0.0, 1e-9, 1)[1] >= best - 1e-12


def test_packing_by_hand() -> None:
    """Two machines of 4 cores hold two internal jobs of 3 cores, and one more core each."""
    jobs = [
        make_job(name, worker={"cpu": 1.0}, ps={"cpu": 1.0}, workers_per_ps=2.0, batch=8)
        for name in ("a", "b", "c")
    ]
    instance = make_instance(*jobs, capacities=({"cpu": 4.0}, {"cpu": 4.0}))
    two = [SlotItem(0, True, 2, 1), SlotItem(1, True, 2, 1)]
    assert pack_slot(instance, [*two, SlotItem(2, False, 1, 1)]).fits is True
    assert pack_slot(instance, [*two, SlotItem(2, True, 1, 1)]).fits is False
    assert pack_slot(instance, [SlotItem(0, True, 4, 2)]).fits is False
    assert pack_slot(instance, [SlotItem(0, False, 4, 2)]).fits is True
    assert pack_slot(instance, []).fits is True


def test_packing_is_what_the_audit_passes() -> None:
    instance = generate(6, 3, 2, seed=3).instance
    i = instance.possible_jobs[0]
    workers = instance.reach[i].external_workers
    item = SlotItem(i, False, workers, instance.jobs[i].ps_for(workers))
    packing = pack_slot(instance, [item])
    assert packing.fits is True
    one_more = item._replace(workers=workers + 1, ps=instance.jobs[i].ps_for(workers + 1))
    if workers < instance.jobs[i].batch:
        assert pack_slot(instance, [one_more]).fits is False
    use = np.zeros_like(instance.capacity)
    for job, h, w, s in packing.cells:
        use[h] += w * instance.worker_demand[job] + s * instance.ps_demand[job]
    assert np.all(use <= instance.capacity * (1 + 1e-6))


@pytest.mark.parametrize("seed", range(3))
def test_short_of_time_the_bound_holds(seed: int) -> None:
    """Above every audited schedule: of the policies, and of the method itself."""
    from algorithms.training import run

    instance = generate(8, 6, 3, seed=seed).instance
    lower, upper = settle(instance, 0.3)
    for policy in ("pdors-plus", "fifo", "drf"):
        schedule = run(instance, policy, seed=seed).solution
        assert audit(instance, schedule).feasible
        assert schedule.objective <= upper * (1 + 1e-6)
        assert placements_of(instance, schedule) is not None
    assert lower <= upper
