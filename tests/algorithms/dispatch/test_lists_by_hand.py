"""PRB, FCFS and EASY: worked by hand, audited on random instances, each against its definition."""

import numpy as np
import pytest

from algorithms.dispatch import POLICIES, run
from algorithms.policy import NoSolution
from models.dispatch import DispatchInstance, Node, audit
from models.dispatch.generator import generate
from models.files import InputError
from tests.dispatch_factories import make_instance, make_job, make_node, random_instance

LISTS = ("prb", "fcfs", "easy")


def starts(instance: DispatchInstance, policy: str, **options: str) -> dict[str, int | None]:
    schedule = run(instance, policy, **options).solution
    assert audit(instance, schedule).violations == ()
    return {job.name: job.start for job in schedule.jobs}


def hosts(instance: DispatchInstance, **options: str) -> dict[str, tuple[str, ...]]:
    return {job.name: job.nodes for job in run(instance, "prb", **options).solution.jobs}


def check_audit(seed: int) -> None:
    instance = random_instance(seed, jobs=seed % 17, nodes=1 + seed % 4)
    for policy in LISTS:
        assert audit(instance, run(instance, policy).solution).violations == (), policy
    for jobs in ("submit", "shortest", "smith"):
        for nodes in ("file", "emptiest"):
            found = run(instance, "prb", jobs=jobs, nodes=nodes)
            assert audit(instance, found.solution).violations == ()


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_random_schedules_pass_the_audit(first: int) -> None:
    for seed in range(first, first + 50):
        check_audit(seed)


@pytest.mark.slow
def test_a_thousand_random_schedules_pass_the_audit() -> None:
    for seed in range(1000):
        check_audit(seed)


@pytest.mark.parametrize("cap", ["none", "35%", "20%"])
def test_the_generated_system_under_caps(cap: str) -> None:
    instance = generate(64, 60, cap=cap, span=3600, seed=3).instance
    for policy in LISTS:
        assert audit(instance, run(instance, policy).solution).violations == ()


def test_who_overtakes_whom() -> None:
    # b needs the whole node, after a; c (short) ends before b can start, d (long) does not.
    instance = make_instance(
        [
            make_job("a", (10,), duration=100),
            make_job("b", (16,), duration=10, expected_wait=1),
            make_job("c", (4,), duration=100),
            make_job("d", (2,), duration=101),
        ]
    )
    assert starts(instance, "fcfs") == {"a": 0, "b": 100, "c": 110, "d": 110}
    assert starts(instance, "easy") == {"a": 0, "b": 100, "c": 0, "d": 110}
    # PRB has no reservations: b comes first by weight, and a, c, d follow it.
    assert starts(instance, "prb") == {"a": 10, "b": 0, "c": 10, "d": 10}


def test_backfilling_beside_the_reservation_in_capacity_and_power() -> None:
    jobs = [
        make_job("a", (10,), duration=100),
        make_job("b", (12,), duration=10),
        make_job("c", (4,), duration=500),
    ]
    assert starts(make_instance(jobs), "easy") == {"a": 0, "b": 100, "c": 0}
    tight = make_instance(jobs, power_cap=100 + 155.0)
    assert starts(tight, "easy") == {"a": 0, "b": 100, "c": 110}


def test_order_of_jobs_is_weight_then_work_then_file() -> None:
    jobs = [
        make_job("a", (16,), expected_wait=600),
        make_job("b", (16,), duration=61),
        make_job("c", (16,)),
        make_job("d", (16,)),
    ]
    assert starts(make_instance(jobs), "prb") == {"c": 0, "d": 60, "b": 120, "a": 181}


def test_order_of_nodes() -> None:
    nodes = [make_node("x"), make_node("y"), make_node("z", cores=4)]
    instance = make_instance([make_job("a", (8,)), make_job("b", (4,))], nodes)
    # b has less work and comes first; then its node is the fullest.
    assert hosts(instance) == {"a": ("x",), "b": ("x",)}
    assert hosts(instance, nodes="emptiest") == {"a": ("y",), "b": ("x",)}
    # A node with fewer resources counts as fuller: it keeps the others for who needs them.
    nodes = [make_node("g", gpus=2), make_node("p")]
    assert hosts(make_instance([make_job("a", (8,))], nodes))["a"] == ("p",)


def test_all_units_or_none() -> None:
    nodes = [make_node("x"), make_node("y")]
    jobs = [
        make_job("a", (9,), expected_wait=1),
        make_job("b", (9, 9), duration=30),
        make_job("c", (16,), duration=70),
    ]
    # At 60 one unit of b would fit, and may not hold its node until c ends.
    assert starts(make_instance(jobs, nodes), "prb") == {"a": 0, "b": 70, "c": 0}


def test_what_only_an_exact_search_places() -> None:
    units = (2, 2, 2, 3, 3, 4)
    nodes = [make_node("x", 8), make_node("y", 8)]
    instance = make_instance([make_job("a", units), make_job("b", (8,))], nodes)
    for policy in LISTS:
        assert None not in starts(instance, policy).values()
    two = make_instance([make_job("a", units), make_job("b", units)], nodes)
    for policy in LISTS:
        assert starts(two, policy) == {"a": 0, "b": 60}


def test_a_node_order_of_unequal_empty_nodes_is_rescued_too() -> None:
    # The node without GPUs is fuller, comes first, and is taken by the unit that fits both.
    nodes = [make_node("g", 8, gpus=1), make_node("p", 16)]
    instance = make_instance([make_job("a", (8, 16))], nodes)
    for policy in LISTS:
        assert starts(instance, policy) == {"a": 0}


@pytest.mark.parametrize("policy", LISTS)
def test_borders(policy: str) -> None:
    assert run(make_instance(), policy).solution.jobs == ()
    with pytest.raises(NoSolution, match="above the cap"):
        run(make_instance([make_job()], power_cap=1.0), policy)
    found = run(make_instance([make_job("a", (99,)), make_job("b", submit=5)]), policy)
    assert [job.start for job in found.solution.jobs] == [None, 5]
    assert found.log.impossible[0][0] == "a"
    only = run(make_instance([make_job("a", (99,))]), policy)
    assert only.solution.objective == 0
    # Half-open: a job starts when another ends; submits out of order; equal submits by file.
    line = make_instance(
        [make_job(name, (16,), submit=submit) for name, submit in (("a", 9), ("b", 0), ("c", 9))]
    )
    assert starts(line, policy) == {"a": 60, "b": 0, "c": 120}


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InputError, match="policy"):
        run(make_instance(), "best")
    with pytest.raises(InputError, match="jobs"):
        run(make_instance(), "prb", jobs="tallest")


def test_easy_never_delays_the_first_job_that_waits() -> None:
    for seed in range(100):
        instance = random_instance(seed, jobs=8, nodes=2)
        fcfs, easy = (starts(instance, name) for name in ("fcfs", "easy"))
        arrays = instance.arrays
        order = np.argsort(arrays.submit, kind="stable")
        waits = [j for j in order if fcfs[f"j{j}"] not in (None, int(arrays.submit[j]))]
        if waits:  # up to the first that waits the two do the same
            name = f"j{waits[0]}"
            late, early = easy[name], fcfs[name]
            assert late is not None
            assert early is not None
            assert late <= early


def test_many_jobs_on_many_nodes_take_seconds() -> None:
    instance = generate(1000, 2000, cap="35%", seed=1).instance
    assert run(instance, "prb").counters["events"] > 0
    assert set(LISTS) <= set(POLICIES)


def test_equal_work_stays_equal_whatever_rounding_makes_of_it() -> None:
    # 3 * (0.1 + 0.2) and 3 * 0.3 of the memory: the file decides, though one sum is larger.
    nodes = [Node(name="x", capacity={"cores": 1.0, "memory": 0.3}, idle_power=0.0)]
    units = [({"memory": 0.1}, {"memory": 0.2}), ({"memory": 0.3},)]
    for first, second in (units, units[::-1]):
        jobs = [make_job("a", duration=3), make_job("b", duration=3)]
        made = [
            job.model_copy(update={"units": unit})
            for job, unit in zip(jobs, (first, second), strict=True)
        ]
        assert starts(make_instance(made, nodes), "prb") == {"a": 0, "b": 3}
