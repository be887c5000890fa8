"""The audit finds each kind of fault, and nothing else."""

from typing import Any

import pytest

from models.dispatch import DispatchInstance, DispatchSchedule, audit, build_schedule
from models.dispatch.audit import CONSTRAINTS
from models.files import InputError
from tests.dispatch_factories import make_instance, make_job, make_node

INSTANCE = make_instance(
    [
        make_job("a", (8, 8), expected_wait=30),
        make_job("b", (8,), submit=10),
        make_job("c", (16,), submit=10),
        make_job("d", (17,)),
    ],
    [make_node("x"), make_node("y")],
    power_cap=520.0,
)
GOOD = build_schedule(INSTANCE, "test", [0, 10, 60, -1], [0, 0, 1, 0, -1])


def changed(job: int, schedule: DispatchSchedule = GOOD, **changes: Any) -> DispatchSchedule:
    jobs = list(schedule.jobs)
    jobs[job] = jobs[job].model_copy(update=changes)
    return schedule.model_copy(update={"jobs": tuple(jobs)})


def found(schedule: DispatchSchedule, instance: DispatchInstance = INSTANCE) -> list[str]:
    return [violation.constraint for violation in audit(instance, schedule).violations]


def test_a_good_schedule_passes_and_its_power_is_told() -> None:
    report = audit(INSTANCE, GOOD)
    assert report.violations == ()
    assert report.objective == 50.0
    assert report.peak_power == 200 + 240
    assert report.as_dict()["seconds_over_cap"] == 0


def test_an_end_leaves_room_for_a_start_at_the_same_time() -> None:
    assert INSTANCE.jobs[2].units[0]["cores"] == 16
    assert found(GOOD) == []  # c starts on x at 60, when a ends there
    early = build_schedule(INSTANCE, "test", [0, 10, 59, -1], [0, 0, 1, 0, -1])
    violations = audit(INSTANCE, early).violations
    assert [v.constraint for v in violations] == ["capacity", "power"]
    assert violations[0].where == "node x, cores at 59 s"
    assert violations[0].amount == 16
    assert violations[1].amount == 80  # 200 idle, 160 + 80 + 160


@pytest.mark.parametrize(
    ("schedule", "constraints"),
    [
        (changed(0, nodes=("x",)), ["units"]),
        (changed(0, nodes=("x", "z")), ["units"]),
        (changed(0, end=61), ["capacity", "power", "statement"]),
        (changed(0, end=None), ["statement"]),
        (changed(1, start=9, end=69), ["submit", "statement"]),  # and the objective
        (changed(1, start=None, end=None, nodes=()), ["complete"]),
        (changed(1, reason="impossible"), ["statement"]),
        (changed(3, reason=None), ["statement"]),
        (changed(3, nodes=("x",)), ["statement"]),
        (
            changed(3, start=0, end=60, reason=None, nodes=("y",)),
            ["capacity", "power", "complete"],
        ),
        (GOOD.model_copy(update={"objective": 50.001}), ["statement"]),
        (GOOD.model_copy(update={"objective": 50 + 1e-6}), []),
    ],
)
def test_each_fault_is_found(schedule: DispatchSchedule, constraints: list[str]) -> None:
    assert found(schedule) == constraints
    assert set(constraints) <= set(CONSTRAINTS)


def test_jobs_must_be_those_of_the_instance() -> None:
    with pytest.raises(InputError, match="every job of the instance must be listed"):
        audit(INSTANCE, GOOD.model_copy(update={"jobs": GOOD.jobs[:3]}))
    with pytest.raises(InputError, match=r"jobs\[1\].name: is not a job"):
        audit(INSTANCE, changed(1, name="nobody"))


def test_a_cap_below_idle_breaks_every_schedule() -> None:
    instance = make_instance([make_job()], power_cap=99.0)
    assert "idle system draws 100 W" in instance.why_infeasible
    schedule = build_schedule(instance, "test", [-1], [-1])
    assert found(schedule, instance) == ["power"]
    assert instance.arrays.possible.tolist() == [False]


def test_a_simulated_schedule_is_audited_with_what_really_happened() -> None:
    job = make_job("a", (8,), duration=60, runtime=80, actual_power=500.0)
    instance = make_instance([job], power_cap=300.0)
    extended = build_schedule(instance, "test", [0], [0], end=[80])
    killed = build_schedule(instance, "test", [0], [0], end=[60])
    report = audit(instance, extended)
    assert report.violations == ()
    assert report.peak_power == 600.0
    assert report.seconds_over_cap == 80
    assert report.energy_over_cap == 80 * 300.0
    assert found(killed, instance) == []
    assert found(build_schedule(instance, "test", [0], [0], end=[70]), instance) == ["statement"]
