"""The audit finds what is wrong, names it, and measures it."""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.audit import Violation
from models.files import InputError
from models.training import (
    Job,
    Machine,
    TrainingInstance,
    TrainingSchedule,
    audit,
    build_schedule,
)
from models.training.audit import CONSTRAINTS

MakeInstance = Callable[..., TrainingInstance]
DONE = [(t, 0, 4, 2) for t in range(3)]  # 3 slots of 40 samples: 100 are needed


def schedule_of(instance: TrainingInstance, *placed: list[Any], **stated: Any) -> TrainingSchedule:
    """Build a schedule, then put other numbers into job 0's statement."""
    schedule = build_schedule(instance, "test", dict(enumerate(placed)))
    objective = stated.pop("objective", schedule.objective)
    first = schedule.jobs[0].model_copy(update=stated)
    return schedule.model_copy(update={"jobs": (first, *schedule.jobs[1:]), "objective": objective})


def with_counts(
    instance: TrainingInstance, slot: int, workers: float, ps: float
) -> TrainingSchedule:
    """A schedule with one allocation, whose counts `build_schedule` would not produce."""
    content = build_schedule(instance, "test", {0: [(0, 0, 1, 1)]}).model_dump(mode="json")
    content["jobs"][0]["allocation"] = [
        {"slot": slot, "machine": "m0", "workers": workers, "ps": ps}
    ]
    return TrainingSchedule.model_validate_json(json.dumps(content))


def only(instance: TrainingInstance, schedule: TrainingSchedule) -> Violation:
    (violation,) = audit(instance, schedule).violations
    return violation


def test_a_valid_schedule_passes_with_its_objective(make_instance: MakeInstance) -> None:
    instance = make_instance({}, {"arrival": 5})
    schedule = schedule_of(instance, DONE, [(t, 1, 4, 2) for t in (5, 7, 9)])
    report = audit(instance, schedule)
    assert report.feasible
    assert report.violations == ()
    # Durations 2 and 4, target 3, decay 0.5.
    expected = 10 / (1 + math.exp(-0.5)) + 10 / (1 + math.exp(0.5))
    assert report.objective == pytest.approx(expected, rel=1e-14)
    assert report.as_dict() == {
        "feasible": True,
        "objective": report.objective,
        "violations": [],
    }


def test_an_empty_schedule_passes(make_instance: MakeInstance) -> None:
    instance = make_instance({}, {})
    report = audit(instance, build_schedule(instance, "test", {}))
    assert report.feasible
    assert report.objective == 0
    assert audit(make_instance(), build_schedule(make_instance(), "test", {})).feasible


def test_integer(make_instance: MakeInstance) -> None:
    instance = make_instance({})
    violation = only(instance, with_counts(instance, 0, 1.25, 1))
    assert (violation.constraint, violation.where) == ("integer", "job j0, allocation 0, workers")
    assert violation.amount == pytest.approx(0.25)
    violation = only(instance, with_counts(instance, 0, 1, 1.5))
    assert (violation.constraint, violation.where) == ("integer", "job j0, allocation 0, ps")
    assert violation.amount == pytest.approx(0.5)


@pytest.mark.parametrize("count", [1 + 5e-7, 1 - 2e-9, 3.0000001])
def test_almost_whole_is_not_whole(make_instance: MakeInstance, count: float) -> None:
    instance = make_instance({})
    assert only(instance, with_counts(instance, 0, count, 2)).constraint == "integer"


def test_one_worker_over_a_large_batch(make_instance: MakeInstance) -> None:
    """A millionth of a batch of ten million would be ten workers."""
    batch = 10**7
    instance = make_instance({"batch": batch, "worker": {}, "ps": {}})
    for workers, excess in ((batch, []), (batch + 1, [1.0])):
        found = audit(instance, with_counts(instance, 0, workers, batch)).violations
        assert [v.amount for v in found if v.constraint == "batch"] == excess


def test_integer_means_not_negative(make_instance: MakeInstance) -> None:
    instance = make_instance({})
    assert only(instance, with_counts(instance, 0, -2, 0)) == Violation(
        "integer", "job j0, allocation 0, workers", 2.0
    )
    found = audit(instance, with_counts(instance, 0, 0, -1)).violations
    assert Violation("integer", "job j0, allocation 0, ps", 1.0) in found


def test_horizon(make_instance: MakeInstance) -> None:
    instance = make_instance({})
    assert only(instance, with_counts(instance, 10, 1, 1)) == Violation(
        "horizon", "job j0, slot 10", 1.0
    )
    assert only(instance, with_counts(instance, 12, 1, 1)).amount == 3.0
    assert audit(instance, with_counts(instance, 9, 1, 1)).feasible
    found = audit(instance, with_counts(instance, -2, 1, 1)).violations
    assert [(v.constraint, v.amount) for v in found] == [("horizon", 2.0), ("arrival", 2.0)]


def test_work_outside_the_horizon_does_not_count(make_instance: MakeInstance) -> None:
    instance = make_instance({})
    schedule = schedule_of(instance, [(8, 0, 4, 2), (9, 0, 4, 2), (10, 0, 4, 2)])
    assert schedule.jobs[0].completion == 10  # as a faulty policy would state it
    found = {v.constraint: v for v in audit(instance, schedule).violations}
    assert found["horizon"].amount == 1
    assert found["workload"].amount == pytest.approx(20)
    assert audit(instance, schedule).objective == 0


def test_arrival(make_instance: MakeInstance) -> None:
    instance = make_instance({"arrival": 3})
    assert only(instance, with_counts(instance, 1, 1, 1)) == Violation(
        "arrival", "job j0, slot 1", 2.0
    )
    assert audit(instance, with_counts(instance, 3, 1, 1)).feasible


def test_batch(make_instance: MakeInstance) -> None:
    instance = make_instance({}, capacities=({"gpu": 9, "cpu": 99}, {"gpu": 9, "cpu": 99}))
    schedule = schedule_of(instance, [(0, 0, 4, 2), (0, 1, 2, 1)])
    assert only(instance, schedule) == Violation("batch", "job j0, slot 0", 2.0)
    assert audit(instance, schedule_of(instance, [(0, 0, 2, 1), (0, 1, 2, 1)])).feasible


def test_ratio(make_instance: MakeInstance) -> None:
    instance = make_instance({})
    assert only(instance, schedule_of(instance, [(0, 0, 4, 1)])) == Violation(
        "ratio", "job j0, slot 0", 1.0
    )
    assert only(instance, schedule_of(instance, [(0, 0, 3, 0)])).amount == 2.0
    assert audit(instance, schedule_of(instance, [(0, 0, 4, 2)])).feasible
    # Together, not machine by machine.
    assert audit(instance, schedule_of(instance, [(0, 0, 4, 0), (0, 1, 0, 2)])).feasible


def test_ratio_forgives_rounding_in_the_quotient(make_instance: MakeInstance) -> None:
    instance = make_instance({"workers_per_ps": 0.1, "batch": 3, "ps": {}})
    assert 0.3 / 0.1 != 3  # why it matters
    assert audit(instance, schedule_of(instance, [(0, 0, 3, 30)])).feasible
    assert only(instance, schedule_of(instance, [(0, 0, 3, 29)])).constraint == "ratio"


def test_capacity(make_instance: MakeInstance) -> None:
    instance = make_instance({"batch": 9}, {"batch": 9})
    # Each alone fits into 4 GPUs and 8 CPUs; together 5 GPUs.
    schedule = schedule_of(instance, [(0, 0, 3, 2)], [(0, 0, 2, 1)])
    assert only(instance, schedule) == Violation("capacity", "machine m0, slot 0, gpu", 1.0)
    # CPUs: workers and PSs together.
    schedule = schedule_of(instance, [(0, 0, 4, 4)], [(0, 0, 0, 0)])
    assert audit(instance, schedule).feasible
    schedule = schedule_of(instance, [(0, 0, 4, 6)])
    assert only(instance, schedule) == Violation("capacity", "machine m0, slot 0, cpu", 2.0)
    # The same in different slots or on different machines is no conflict.
    assert audit(instance, schedule_of(instance, [(0, 0, 3, 2)], [(1, 0, 2, 1)])).feasible
    assert audit(instance, schedule_of(instance, [(0, 0, 3, 2)], [(0, 1, 2, 1)])).feasible


def test_capacity_adds_up_entries_of_the_same_place(make_instance: MakeInstance) -> None:
    instance = make_instance({"batch": 9, "workers_per_ps": 3.0})
    content = build_schedule(instance, "test", {0: [(0, 0, 3, 1)]}).model_dump(mode="json")
    content["jobs"][0]["allocation"] *= 2
    schedule = TrainingSchedule.model_validate_json(json.dumps(content))
    assert only(instance, schedule) == Violation("capacity", "machine m0, slot 0, gpu", 2.0)


def test_a_resource_that_a_machine_lacks_has_capacity_zero(make_instance: MakeInstance) -> None:
    instance = make_instance({}, capacities=({"cpu": 8},))
    assert only(instance, schedule_of(instance, [(0, 0, 1, 1)])) == Violation(
        "capacity", "machine m0, slot 0, gpu", 1.0
    )


def test_what_a_job_does_not_need_a_machine_may_lack(make_instance: MakeInstance) -> None:
    instance = make_instance({"worker": {"cpu": 1.0}}, capacities=({"cpu": 6},))
    assert audit(instance, schedule_of(instance, DONE)).feasible


@pytest.mark.parametrize(("demand", "feasible"), [(0.9e-12, True), (1.1e-12, False)])
def test_an_empty_machine_is_forgiven_almost_nothing(
    make_instance: MakeInstance, demand: float, feasible: bool
) -> None:
    instance = make_instance({"worker": {"gpu": demand}}, capacities=({"cpu": 6},))
    assert audit(instance, schedule_of(instance, [(0, 0, 1, 1)])).feasible is feasible


@pytest.mark.parametrize(("count", "feasible"), [(-0.9e-9, True), (-1.1e-9, False)])
def test_a_sign_is_forgiven_a_billionth(
    make_instance: MakeInstance, count: float, feasible: bool
) -> None:
    instance = make_instance({})
    assert audit(instance, with_counts(instance, 0, count, 0)).feasible is feasible


@pytest.mark.parametrize(("excess", "feasible"), [(0.9e-9, True), (1.1e-9, False)])
def test_a_ratio_is_forgiven_a_billionth(
    make_instance: MakeInstance, excess: float, feasible: bool
) -> None:
    instance = make_instance({"workers_per_ps": 2 / (1 + excess)})
    assert audit(instance, schedule_of(instance, [(0, 0, 2, 1)])).feasible is feasible


@pytest.mark.parametrize(("excess", "feasible"), [(0.0, True), (0.9e-6, True), (1.1e-6, False)])
def test_capacity_is_forgiven_a_millionth(
    make_instance: MakeInstance, excess: float, feasible: bool
) -> None:
    instance = make_instance({"worker": {"gpu": 1 + excess}})
    assert audit(instance, schedule_of(instance, DONE)).feasible is feasible


def test_workload(make_instance: MakeInstance) -> None:
    instance = make_instance({})
    schedule = schedule_of(instance, DONE[:2], completion=1)
    assert only(instance, schedule) == Violation("workload", "job j0", pytest.approx(20.0))


@pytest.mark.parametrize(("missing", "feasible"), [(0.0, True), (0.9e-9, True), (3e-9, False)])
def test_workload_is_forgiven_a_billionth(
    make_instance: MakeInstance, missing: float, feasible: bool
) -> None:
    # 3 slots of 40*(1 - missing) samples against 120.
    instance = make_instance({"sample_time": 0.1 / (1 - missing), "epochs": 12})
    utility = instance.jobs[0].utility.value(2)
    schedule = schedule_of(instance, DONE, completion=2, utility=utility, objective=utility)
    report = audit(instance, schedule)
    assert report.feasible is feasible
    assert report.objective == pytest.approx(utility if feasible else 0)
    if not feasible:
        assert {v.constraint for v in report.violations} == {"workload", "statement"}


@pytest.mark.parametrize(
    ("stated", "where", "amount"),
    [
        ({"completion": 3}, "job j0, completion", 1.0),
        ({"completion": 0}, "job j0, completion", 2.0),
        ({"completion": None}, "job j0, completion", 3.0),
        ({"utility": 7.0}, "job j0, utility", 7.0 - 10 / (1 + math.exp(-0.5))),
        ({"utility": 0.0}, "job j0, utility", 10 / (1 + math.exp(-0.5))),
        ({"objective": 20.0}, "objective", 20.0 - 10 / (1 + math.exp(-0.5))),
        ({"objective": -1.0}, "objective", 1.0 + 10 / (1 + math.exp(-0.5))),
        ({"admitted": False}, "job j0, admitted", 3.0),
    ],
)
def test_lies_are_found(
    make_instance: MakeInstance, stated: dict[str, Any], where: str, amount: float
) -> None:
    instance = make_instance({})
    violation = only(instance, schedule_of(instance, DONE, **stated))
    assert violation == Violation("statement", where, pytest.approx(amount, rel=1e-9))


@pytest.mark.parametrize("label", ["utility", "objective"])
@pytest.mark.parametrize("sign", [-1, 1])
def test_statements_are_forgiven_a_millionth(
    make_instance: MakeInstance, label: str, sign: int
) -> None:
    instance = make_instance({})
    value = build_schedule(instance, "test", {0: DONE}).objective
    close, far = value * (1 + sign * 0.99e-6), value * (1 + sign * 1.01e-6)
    assert audit(instance, schedule_of(instance, DONE, **{label: close})).feasible
    assert only(instance, schedule_of(instance, DONE, **{label: far})).constraint == "statement"


def test_a_tiny_utility_is_forgiven_a_billionth(make_instance: MakeInstance) -> None:
    utility = {"kind": "sigmoid", "priority": 1.0, "decay": 100.0, "target": 0.0}
    instance = make_instance({"utility": utility})
    assert audit(instance, schedule_of(instance, DONE, utility=0.9e-9)).feasible
    assert not audit(instance, schedule_of(instance, DONE, utility=1.1e-9)).feasible


def test_claims_about_a_job_that_has_nothing(make_instance: MakeInstance) -> None:
    instance = make_instance({})
    schedule = schedule_of(instance, [], completion=2, utility=5.0, objective=5.0)
    found = audit(instance, schedule).violations
    assert [(v.constraint, v.where, v.amount) for v in found] == [
        ("workload", "job j0", 100.0),
        ("statement", "job j0, utility", 5.0),
        ("statement", "objective", 5.0),
    ]


def place(
    instance: TrainingInstance, *items: tuple[int, str, int, int], completion: int | None
) -> Any:
    content = build_schedule(instance, "test", {0: [(0, 0, 1, 1)]}).model_dump(mode="json")
    utility = 0.0 if completion is None else instance.jobs[0].utility.value(completion)
    content["objective"] = utility
    content["jobs"][0] |= {
        "completion": completion,
        "utility": utility,
        "allocation": [
            dict(zip(("slot", "machine", "workers", "ps"), item, strict=True)) for item in items
        ],
    }
    return TrainingSchedule.model_validate_json(json.dumps(content))


def test_idle_parameter_servers_do_not_move_the_completion(make_instance: MakeInstance) -> None:
    instance = make_instance({})
    done = [(t, "m0", 4, 2) for t in range(3)]
    assert audit(instance, place(instance, *done, (7, "m0", 0, 2), completion=2)).feasible
    late = audit(instance, place(instance, *done, (7, "m0", 0, 2), completion=7))
    assert ("statement", 5.0) in {(v.constraint, v.amount) for v in late.violations}


def test_idle_parameter_servers_need_capacity(make_instance: MakeInstance) -> None:
    instance = make_instance({})
    done = [(t, "m0", 4, 2) for t in range(3)]
    assert only(instance, place(instance, *done, (7, "m0", 0, 9), completion=2)) == Violation(
        "capacity", "machine m0, slot 7, cpu", 1.0
    )


def test_one_stray_parameter_server_makes_a_slot_external(make_instance: MakeInstance) -> None:
    # 2*2*2/(b*4): 0.2 more a sample inside, 2 outside; 10 samples in 3 slots at 1/0.3 * 4.
    instance = make_instance({"gradient": 2.0, "epochs": 1, "samples": 40})
    inside = [(t, "m0", 4, 2) for t in range(3)]
    assert audit(instance, place(instance, *inside, completion=2)).feasible
    stray = audit(instance, place(instance, *inside, (1, "m1", 0, 1), completion=2))
    lost = 4 / 0.3 - 4 / 2.1
    assert [v for v in stray.violations if v.constraint == "workload"] == [
        Violation("workload", "job j0", pytest.approx(lost))
    ]
    # A row without workers and PSs is nothing.
    assert audit(instance, place(instance, *inside, (1, "m1", 0, 0), completion=2)).feasible
    # PSs on another machine, in a slot without any worker, change no rate.
    assert audit(instance, place(instance, *inside, (4, "m1", 0, 1), completion=2)).feasible


def test_workers_apart_from_their_parameter_servers_are_external(
    make_instance: MakeInstance,
) -> None:
    instance = make_instance({"gradient": 2.0, "epochs": 1, "samples": 4})
    apart = [(t, machine, w, s) for t in range(3) for machine, w, s in (("m0", 4, 0), ("m1", 0, 2))]
    assert audit(instance, place(instance, *apart, completion=2)).feasible  # 3*4/2.1 = 5.7
    assert not audit(instance, place(instance, *apart[:4], completion=1)).feasible  # 3.8


def test_a_schedule_of_another_instance(make_instance: MakeInstance) -> None:
    instance, other = make_instance({}, {}), make_instance({})
    with pytest.raises(InputError, match=r"jobs: every job .* must be listed .*j1"):
        audit(instance, build_schedule(other, "test", {}))
    with pytest.raises(InputError, match=r"jobs\[1\].name: is not a job .*j1"):
        audit(other, build_schedule(instance, "test", {}))
    smaller = make_instance({}, capacities=({"gpu": 4, "cpu": 8},))
    with pytest.raises(InputError, match=r"jobs\[0\].allocation\[0\].machine: .*m1"):
        audit(smaller, build_schedule(other, "test", {0: [(0, 1, 1, 1)]}))


def test_the_order_of_jobs_in_the_file_does_not_matter(make_instance: MakeInstance) -> None:
    instance = make_instance({}, {})
    schedule = schedule_of(instance, DONE, [])
    turned = schedule.model_copy(update={"jobs": schedule.jobs[::-1]})
    assert audit(instance, turned) == audit(instance, schedule)


def test_violations_come_in_the_order_of_the_constraints(make_instance: MakeInstance) -> None:
    instance = make_instance({"arrival": 1})
    schedule = schedule_of(instance, [(0, 0, 5, 1)], completion=2, utility=1.0, objective=3.0)
    names = [v.constraint for v in audit(instance, schedule).violations]
    assert set(names) == {"arrival", "batch", "ratio", "capacity", "workload", "statement"}
    assert names == sorted(names, key=CONSTRAINTS.index)


# A random schedule that is valid by construction, and ways to break it.


def random_case(seed: int) -> tuple[TrainingInstance, dict[int, list[tuple[int, int, int, int]]]]:
    """A small instance and placements that respect every constraint but maybe the workload."""
    rng = np.random.Generator(np.random.PCG64(seed))
    slots, machines = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    jobs = []
    for i in range(int(rng.integers(1, 5))):
        external = float(rng.uniform(0.5, 5))
        jobs.append(
            Job(
                name=f"j{i}",
                arrival=int(rng.integers(slots)),
                epochs=int(rng.integers(1, 8)),
                samples=int(rng.integers(1, 4)),
                batch=int(rng.integers(1, 8)),
                gradient=float(rng.uniform(0, 3)),
                sample_time=float(rng.uniform(0.05, 0.5)),
                workers_per_ps=float(rng.choice([0.5, 1.0, 1.7, 3.0])),
                bandwidth_internal=external * float(rng.uniform(1, 10)),
                bandwidth_external=external,
                worker={"gpu": float(rng.integers(0, 3)), "cpu": float(rng.uniform(0.1, 2))},
                ps={"cpu": float(rng.uniform(0.1, 2))},
                utility={
                    "kind": "sigmoid",
                    "priority": float(rng.uniform(1, 100)),
                    "decay": float(rng.uniform(0, 3)),
                    "target": float(rng.uniform(1, 5)),
                },
            )
        )
    instance = TrainingInstance(
        slots=slots,
        resources=("gpu", "cpu"),
        machines=tuple(
            Machine(name=f"m{h}", capacity={"gpu": 6.0, "cpu": float(rng.uniform(4, 12))})
            for h in range(machines)
        ),
        jobs=tuple(jobs),
    )
    free = np.repeat(instance.capacity[None], slots, axis=0).copy()
    placements: dict[int, list[tuple[int, int, int, int]]] = {}
    for i, job in enumerate(instance.jobs):
        for slot in range(job.arrival, slots):
            taken = free[slot].copy()
            cells = np.zeros((machines, 2), dtype=int)
            workers = ps = 0
            for _ in range(int(rng.integers(0, job.batch + 1))):
                short = ps < job.ps_for(workers + 1)
                kind = 1 if short else 0
                demand = (instance.ps_demand if short else instance.worker_demand)[i]
                h = int(rng.integers(machines))
                if (demand <= taken[h]).all():
                    taken[h] -= demand
                    cells[h, kind] += 1
                    workers, ps = workers + (kind == 0), ps + (kind == 1)
            if workers:
                free[slot] = taken
                placements.setdefault(i, []).extend(
                    (slot, h, int(w), int(s)) for h, (w, s) in enumerate(cells) if w or s
                )
    return instance, placements


@given(st.integers(0, 10**6))
def test_random_valid_schedules_pass(seed: int) -> None:
    instance, placements = random_case(seed)
    schedule = build_schedule(instance, "random", placements)
    report = audit(instance, schedule)
    assert report.violations == ()
    assert report.objective == pytest.approx(schedule.objective, rel=1e-12)


def test_random_schedules_are_worth_auditing() -> None:
    cases = [random_case(seed) for seed in range(60)]
    schedules = [build_schedule(instance, "random", placed) for instance, placed in cases]
    outcomes = [job for schedule in schedules for job in schedule.jobs]
    assert sum(job.completion is not None for job in outcomes) > 20
    assert sum(job.reason == "unfinished" for job in outcomes) > 20


def overfill(instance: TrainingInstance, content: Any, job: int, item: Any) -> str:
    machine = next(m for m in instance.machines if m.name == item["machine"])
    demand = instance.jobs[job].ps["cpu"]
    item["ps"] += math.ceil(machine.capacity["cpu"] / demand) + 1
    return "capacity"


def crowd(instance: TrainingInstance, content: Any, job: int, item: Any) -> str:
    item["workers"] += instance.jobs[job].batch
    return "batch"


def strip(instance: TrainingInstance, content: Any, job: int, item: Any) -> str:
    for other in content["jobs"][job]["allocation"]:
        if other["slot"] == item["slot"]:
            other["ps"] = 0
    return "ratio"


def split(instance: TrainingInstance, content: Any, job: int, item: Any) -> str:
    item["workers"] += 0.5
    return "integer"


def too_early(instance: TrainingInstance, content: Any, job: int, item: Any) -> str:
    item["slot"] = instance.jobs[job].arrival - 1
    return "arrival"


def too_late(instance: TrainingInstance, content: Any, job: int, item: Any) -> str:
    item["slot"] = instance.slots
    return "horizon"


def boast(instance: TrainingInstance, content: Any, job: int, item: Any) -> str:
    content["jobs"][job]["utility"] += 1.0
    return "statement"


def exaggerate(instance: TrainingInstance, content: Any, job: int, item: Any) -> str:
    content["objective"] *= 1.001
    content["objective"] += 0.001
    return "statement"


def claim_completion(instance: TrainingInstance, content: Any, job: int, item: Any) -> str:
    outcome = content["jobs"][job]
    if outcome["completion"] is None:
        outcome["completion"] = instance.slots - 1
        return "workload"
    outcome["completion"] += 1
    return "statement"


def deny(instance: TrainingInstance, content: Any, job: int, item: Any) -> str:
    content["jobs"][job]["admitted"] = False
    return "statement"


@pytest.mark.parametrize(
    "perturb",
    [
        overfill,
        crowd,
        strip,
        split,
        too_early,
        too_late,
        boast,
        exaggerate,
        claim_completion,
        deny,
    ],
)
def test_every_perturbation_is_caught(perturb: Callable[..., str]) -> None:
    tried = 0
    for seed in range(40):
        instance, placements = random_case(seed)
        content = build_schedule(instance, "random", placements).model_dump(mode="json")
        with_workers = [
            (job, item)
            for job, outcome in enumerate(content["jobs"])
            for item in outcome["allocation"]
            if item["workers"]
        ]
        if not with_workers:
            continue
        job, item = with_workers[seed % len(with_workers)]
        expected = perturb(instance, content, job, item)
        report = audit(instance, TrainingSchedule.model_validate_json(json.dumps(content)))
        assert expected in {violation.constraint for violation in report.violations}
        tried += 1
    assert tried > 20
