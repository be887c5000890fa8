"""Schedules: built from placements, read from files."""

import copy
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from models.files import InputError
from models.training import (
    Job,
    TrainingInstance,
    TrainingSchedule,
    build_schedule,
    load_schedule,
    placements_of,
    save_schedule,
)
from models.training.schedule import samples_in_slot

MakeInstance = Callable[..., TrainingInstance]


def test_samples_follow_the_two_rates(make_job: Callable[..., Job]) -> None:
    job = make_job(gradient=2.0)  # 2*2*2/(b*4): 0.2 internal, 2 external, plus 0.1 a sample
    inside, outside = 1 / 0.3, 1 / 2.1
    assert samples_in_slot(job, [(0, 4, 2)]) == pytest.approx(4 * inside)
    assert samples_in_slot(job, [(0, 2, 1), (1, 2, 1)]) == pytest.approx(4 * outside)
    # A PS elsewhere makes it external, an empty machine does not.
    assert samples_in_slot(job, [(0, 4, 1), (1, 0, 1)]) == pytest.approx(4 * outside)
    assert samples_in_slot(job, [(0, 4, 2), (1, 0, 0)]) == pytest.approx(4 * inside)
    # More PSs than needed change nothing (D2).
    assert samples_in_slot(job, [(0, 4, 3)]) == pytest.approx(4 * inside)
    assert samples_in_slot(job, []) == 0


def test_a_finished_job(make_instance: MakeInstance) -> None:
    instance = make_instance({"arrival": 1})
    placements = [(4, 0, 4, 2), (2, 1, 4, 2), (3, 0, 2, 1)]  # 40 + 40 + 20 samples
    schedule = build_schedule(instance, "test", {0: placements})
    (job,) = schedule.jobs
    assert (job.admitted, job.completion, job.reason) == (True, 4, None)
    assert job.utility == pytest.approx(10 / (1 + math.exp(0.5 * (3 - 3))))
    assert schedule.objective == job.utility
    assert [(a.slot, a.machine, a.workers, a.ps) for a in job.allocation] == [
        (2, "m1", 4, 2),
        (3, "m0", 2, 1),
        (4, "m0", 4, 2),
    ]


def test_repeated_places_are_added_up(make_instance: MakeInstance) -> None:
    schedule = build_schedule(
        make_instance({}), "test", {0: [(0, 1, 1, 1), (0, 0, 1, 0), (0, 1, 2, 0)]}
    )
    assert [(a.machine, a.workers, a.ps) for a in schedule.jobs[0].allocation] == [
        ("m0", 1, 0),
        ("m1", 3, 1),
    ]


def test_idle_parameter_servers_are_dropped(make_instance: MakeInstance) -> None:
    placements = [(t, 0, 4, 2) for t in range(3)] + [(5, 0, 0, 2), (6, 1, 0, 0)]
    schedule = build_schedule(make_instance({}), "test", {0: placements})
    assert schedule.jobs[0].completion == 2
    assert {a.slot for a in schedule.jobs[0].allocation} == {0, 1, 2}


def test_only_idle_parameter_servers_are_no_admission(make_instance: MakeInstance) -> None:
    (job,) = build_schedule(make_instance({}), "test", {0: [(0, 0, 0, 2)]}).jobs
    assert (job.admitted, job.allocation, job.reason) == (False, (), "not-selected")


def test_reasons(make_instance: MakeInstance) -> None:
    impossible = {"worker": {"gpu": 99.0}}
    instance = make_instance({}, impossible, {}, {}, {})
    done = [(t, 0, 4, 2) for t in range(3)]
    schedule = build_schedule(
        instance, "test", {0: [(0, 0, 1, 1)], 4: done}, {3: "price", 4: "price"}
    )
    assert [job.reason for job in schedule.jobs] == [
        "unfinished",
        "impossible",
        "not-selected",
        "price",
        None,  # it completes: no reason is needed, whatever was given
    ]
    assert [job.admitted for job in schedule.jobs] == [True, False, False, False, True]
    assert [job.completion for job in schedule.jobs[:4]] == [None] * 4
    assert [job.utility for job in schedule.jobs[:4]] == [0.0] * 4


def test_no_jobs(make_instance: MakeInstance) -> None:
    schedule = build_schedule(make_instance(), "test", {})
    assert schedule.jobs == ()
    assert schedule.objective == 0


def test_placements_come_back(make_instance: MakeInstance) -> None:
    instance = make_instance({}, {"arrival": 2})
    placements = {0: [(0, 0, 2, 1), (0, 1, 1, 1)], 1: [(2, 1, 4, 2), (3, 1, 4, 2)]}
    assert placements_of(instance, build_schedule(instance, "test", placements)) == placements


@pytest.mark.parametrize(("field", "value"), [("name", "j9"), ("machine", "m9")])
def test_placements_of_another_instance(
    make_instance: MakeInstance, field: str, value: str
) -> None:
    instance = make_instance({})
    content = content_of(build_schedule(instance, "test", {0: [(0, 0, 1, 1)]}))
    place = content["jobs"][0]
    (place if field == "name" else place["allocation"][0])[field] = value
    with pytest.raises(InputError, match=rf"{field}: is not a .*{value}"):
        placements_of(instance, TrainingSchedule.model_validate_json(json.dumps(content)))


def content_of(schedule: TrainingSchedule) -> dict[str, Any]:
    return schedule.model_dump(mode="json")


@pytest.fixture
def content(make_instance: MakeInstance) -> dict[str, Any]:
    instance = make_instance({}, {})
    return content_of(build_schedule(instance, "test", {0: [(t, 0, 4, 2) for t in range(3)]}))


def test_writing_and_reading_gives_the_same_schedule(
    content: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "schedule.json"
    path.write_text(json.dumps(content))
    schedule = load_schedule(path)
    save_schedule(schedule, path)
    assert load_schedule(path) == schedule
    assert json.loads(path.read_text()) == content


BROKEN = [
    ("kind", "training", "kind"),
    ("version", 2, "version"),
    ("policy", "", "policy"),
    ("objective", "10", "objective"),
    ("objective", math.nan, "objective"),
    ("objective", None, "objective"),
    ("total", 1, "total"),
    ("jobs", None, "jobs"),
    ("jobs.1.name", "j0", "jobs[1].name"),
    ("jobs.0.admitted", 1, "jobs[0].admitted"),
    ("jobs.0.completion", 2.0, "jobs[0].completion"),
    ("jobs.0.completion", 10**400, "jobs[0].completion"),
    ("jobs.0.utility", math.inf, "jobs[0].utility"),
    ("jobs.0.reason", "laziness", "jobs[0].reason"),
    ("jobs.0.allocation.0.slot", 0.0, "jobs[0].allocation[0].slot"),
    ("jobs.0.allocation.0.slot", 10**400, "jobs[0].allocation[0].slot"),
    ("jobs.0.allocation.0.machine", 0, "jobs[0].allocation[0].machine"),
    ("jobs.0.allocation.0.workers", 4.0, "jobs[0].allocation[0].workers"),
    ("jobs.0.allocation.0.workers", "4", "jobs[0].allocation[0].workers"),
    ("jobs.0.allocation.0.workers", True, "jobs[0].allocation[0].workers"),
    ("jobs.0.allocation.0.workers", math.nan, "jobs[0].allocation[0].workers"),
    ("jobs.0.allocation.0.workers", 10**400, "jobs[0].allocation[0].workers"),
    ("jobs.0.allocation.0.ps", None, "jobs[0].allocation[0].ps"),
    ("jobs.0.allocation.0.ps", math.inf, "jobs[0].allocation[0].ps"),
    ("jobs.0.allocation.0.gpu", 1, "jobs[0].allocation[0].gpu"),
]


@pytest.mark.parametrize(
    ("place", "value", "field"), BROKEN, ids=[f"{b[0]}={str(b[1])[:9]}" for b in BROKEN]
)
def test_a_broken_field_is_named(
    content: dict[str, Any], tmp_path: Path, place: str, value: Any, field: str
) -> None:
    *parents, last = [int(part) if part.isdigit() else part for part in place.split(".")]
    broken: Any = copy.deepcopy(content)
    inner = broken
    for part in parents:
        inner = inner[part]
    inner[last] = value
    path = tmp_path / "schedule.json"
    path.write_text(json.dumps(broken))
    with pytest.raises(InputError) as caught:
        load_schedule(path)
    assert str(caught.value).startswith(f"{path}: {field}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("place", "value"),
    [("slot", -3), ("slot", 99), ("workers", 1.5), ("workers", -1), ("ps", 2**53)],
)
def test_what_the_audit_is_to_judge_is_read(
    content: dict[str, Any], tmp_path: Path, place: str, value: float
) -> None:
    content["jobs"][0]["allocation"][0][place] = value
    path = tmp_path / "schedule.json"
    path.write_text(json.dumps(content))
    assert getattr(load_schedule(path).jobs[0].allocation[0], place) == value
