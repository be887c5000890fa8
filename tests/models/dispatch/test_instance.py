"""Instances, their arrays, and the schedule file."""

import json
from pathlib import Path

import numpy as np
import pytest

from models.dispatch import (
    build_schedule,
    load_instance,
    load_schedule,
    save_instance,
    save_schedule,
)
from models.files import InputError
from tests.dispatch_factories import make_instance, make_job, make_node, random_instance

EXAMPLE = {
    "kind": "dispatch",
    "version": 1,
    "resources": ["cores", "gpus"],
    "power_cap": 1000.0,
    "nodes": [{"name": "n0", "capacity": {"cores": 16, "gpus": 2}, "idle_power": 100.0}],
    "jobs": [
        {
            "name": "j0",
            "queue": "debug",
            "submit": 0,
            "duration": 3600,
            "expected_wait": 1800,
            "power": 450.0,
            "runtime": None,
            "actual_power": None,
            "units": [{"cores": 8, "gpus": 1}],
        }
    ],
}


def refused(tmp_path: Path, *path: str | int, value: object) -> str:
    content = json.loads(json.dumps(EXAMPLE))
    place = content
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    file = tmp_path / "i.json"
    file.write_text(json.dumps(content))
    with pytest.raises(InputError) as caught:
        load_instance(file)
    return str(caught.value)


def test_a_file_comes_back_as_it_was(tmp_path: Path) -> None:
    for seed in range(5):
        instance = random_instance(seed)
        save_instance(instance, tmp_path / "i.json")
        assert load_instance(tmp_path / "i.json") == instance


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("jobs", 0, "duration"), 0, "jobs[0].duration: must be"),
        (("jobs", 0, "duration"), 1.0, "jobs[0].duration: must be"),
        (("jobs", 0, "duration"), 2**60, "jobs[0].duration: must be"),
        (("jobs", 0, "submit"), -1, "jobs[0].submit: must be"),
        (("jobs", 0, "expected_wait"), 0, "jobs[0].expected_wait: must be"),
        (("jobs", 0, "power"), -1, "jobs[0].power: must be"),
        (("jobs", 0, "runtime"), 0, "jobs[0].runtime: must be"),
        (("jobs", 0, "units"), [], "jobs[0].units: must have at least 1 item"),
        (("jobs", 0, "units"), [{"mics": 1}], "jobs[0].units[0]: is not a declared resource"),
        (("nodes", 0, "capacity"), {"x": 1}, "nodes[0].capacity: is not a declared resource"),
        (("nodes",), [], "nodes: must have at least 1 item"),
        (("nodes",), EXAMPLE["nodes"] * 2, "nodes[1].name: names must be unique"),
        (("jobs",), EXAMPLE["jobs"] * 2, "jobs[1].name: names must be unique"),
        (("resources",), ["cores", "gpus", "cores"], "resources[2]: must be declared once"),
        (("power_cap",), "12", "power_cap: must be"),
        (("deadline",), 3, "deadline: is not a known field"),
    ],
)
def test_a_wrong_field_is_named(
    tmp_path: Path, path: tuple[str | int, ...], value: object, expected: str
) -> None:
    message = refused(tmp_path, *path, value=value)
    assert expected in message
    assert message.count("\n") == 0


def test_times_that_add_up_to_too_much_are_refused(tmp_path: Path) -> None:
    job = EXAMPLE["jobs"][0] | {"submit": 2**50, "duration": 2**50}
    assert "jobs: submits and durations add up" in refused(tmp_path, "jobs", value=[job])


def test_optional_fields_may_be_left_out(tmp_path: Path) -> None:
    content = json.loads(json.dumps(EXAMPLE))
    for name in ("queue", "runtime", "actual_power"):
        del content["jobs"][0][name]
    del content["power_cap"]
    file = tmp_path / "i.json"
    file.write_text(json.dumps(content))
    job = load_instance(file).jobs[0]
    assert (job.queue, job.real_duration, job.real_power) == (None, 3600, 450.0)


def test_arrays_hold_the_numbers_of_the_file() -> None:
    jobs = [
        make_job("a", (2, 3), expected_wait=10, runtime=5, actual_power=7.0),
        make_job("b", (4,), expected_wait=40, submit=3),
    ]
    instance = make_instance(jobs, [make_node("x"), make_node("y", gpus=2)], power_cap=500.0)
    arrays = instance.arrays
    assert arrays.weight.tolist() == [4.0, 1.0]
    assert arrays.unit_first.tolist() == [0, 2, 3]
    assert arrays.unit_job.tolist() == [0, 0, 1]
    assert arrays.unit_demand[:, 0].tolist() == [2, 3, 4]
    assert arrays.job_demand[:, 0].tolist() == [5, 4]
    assert arrays.total_capacity.tolist() == [32, 2, 0, 32]
    assert arrays.headroom == 300.0
    assert arrays.real_duration.tolist() == [5, 60]
    assert arrays.real_power.tolist() == [7.0, 40.0]
    with pytest.raises(ValueError, match="read-only"):
        arrays.capacity[0, 0] = 1.0


def test_no_jobs_and_no_cap_are_an_instance() -> None:
    arrays = make_instance().arrays
    assert arrays.unit_demand.shape == (0, 4)
    assert arrays.headroom == np.inf
    assert arrays.possible.tolist() == []
    assert build_schedule(make_instance(), "prb", [], []).objective == 0.0


def test_a_schedule_comes_back_as_it_was(tmp_path: Path) -> None:
    instance = make_instance([make_job("a", (2, 3)), make_job("b", (99,))])
    schedule = build_schedule(instance, "prb", [5, -1], [0, 0, -1])
    assert schedule.jobs[0].end == 65
    assert schedule.jobs[1].reason == "impossible"
    assert schedule.objective == 5.0
    save_schedule(schedule, tmp_path / "s.json")
    assert load_schedule(tmp_path / "s.json") == schedule
