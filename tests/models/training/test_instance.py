"""Instances: what is accepted, what is refused and with which words, and that nothing changes."""

import copy
import json
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.files import InputError
from models.training import Job, Machine, TrainingInstance, load_instance, save_instance

# The example of the file format.
CONTENT: dict[str, Any] = {
    "kind": "training",
    "version": 1,
    "slots": 10,
    "resources": ["gpu", "cpu", "memory", "storage"],
    "machines": [
        {"name": "m0", "capacity": {"gpu": 36, "cpu": 99, "memory": 306, "storage": 135}},
        {"name": "m1", "capacity": {"cpu": 99.5}},
    ],
    "jobs": [
        {
            "name": "j0",
            "arrival": 0,
            "epochs": 100,
            "samples": 20000,
            "batch": 64,
            "gradient": 120.5,
            "sample_time": 2.5e-6,
            "workers_per_ps": 2.5,
            "bandwidth_internal": 4500000.0,
            "bandwidth_external": 450000.0,
            "worker": {"gpu": 1, "cpu": 4, "memory": 8, "storage": 5},
            "ps": {"cpu": 2, "memory": 8, "storage": 5},
            "utility": {"kind": "sigmoid", "priority": 50, "decay": 0.5, "target": 6},
        },
        {
            "name": "j1",
            "arrival": 9,
            "epochs": 1,
            "samples": 1,
            "batch": 1,
            "gradient": 0,
            "sample_time": 1,
            "workers_per_ps": 1,
            "bandwidth_internal": 1,
            "bandwidth_external": 1,
            "worker": {},
            "ps": {},
            "utility": {"kind": "sigmoid", "priority": 1, "decay": 0, "target": 0},
        },
    ],
}
REMOVED = object()


def changed(path: str, value: Any) -> dict[str, Any]:
    """The example with one field set, or removed."""
    content = copy.deepcopy(CONTENT)
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place: Any = content
    for part in parents:
        place = place[part]
    if value is REMOVED:
        del place[last]
    else:
        place[last] = value
    return content


def error_of(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        load_instance(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message.removeprefix(f"{path}: ")


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Any], Path]:
    def write(content: Any) -> Path:
        path = tmp_path / "instance.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


def test_the_example_is_read(written: Callable[[Any], Path]) -> None:
    instance = load_instance(written(CONTENT))
    assert (instance.slots, instance.number_of_machines, instance.number_of_jobs) == (10, 2, 2)
    assert instance.capacity.tolist() == [[36, 99, 306, 135], [0, 99.5, 0, 0]]
    assert instance.worker_demand.tolist() == [[1, 4, 8, 5], [0, 0, 0, 0]]
    assert instance.ps_demand.tolist() == [[0, 2, 8, 5], [0, 0, 0, 0]]
    job = instance.jobs[0]
    assert job.workload == 2_000_000
    # D1, by hand: 2*120.5*2.5 = 602.5 MB per batch of 64 samples.
    assert job.rate_internal == pytest.approx(1 / (2.5e-6 + 602.5 / (4.5e6 * 64)), rel=1e-14)
    assert job.rate_external == pytest.approx(1 / (2.5e-6 + 602.5 / (4.5e5 * 64)), rel=1e-14)
    assert [job.ps_for(workers) for workers in (0, 1, 2, 3, 5, 6)] == [0, 1, 1, 2, 2, 3]


# Each row breaks one rule: place, value, the field that the message must name, words of the rule.
BROKEN = [
    # Numbers of the wrong kind.
    ("slots", 10.0, "slots", "integer"),
    ("slots", "10", "slots", "integer"),
    ("slots", True, "slots", "integer"),
    ("slots", None, "slots", "integer"),
    ("jobs.0.batch", 1.0, "jobs[0].batch", "integer"),
    ("jobs.0.epochs", 2.5, "jobs[0].epochs", "integer"),
    ("jobs.1.arrival", False, "jobs[1].arrival", "integer"),
    ("jobs.0.gradient", "120.5", "jobs[0].gradient", "number"),
    ("jobs.0.gradient", True, "jobs[0].gradient", "number"),
    ("jobs.0.gradient", None, "jobs[0].gradient", "number"),
    ("jobs.0.gradient", [1.0], "jobs[0].gradient", "number"),
    ("jobs.0.worker.gpu", "1", "jobs[0].worker.gpu", "number"),
    ("jobs.0.worker.gpu", True, "jobs[0].worker.gpu", "number"),
    ("machines.1.capacity.cpu", "99", "machines[1].capacity.cpu", "number"),
    ("jobs.0.utility.decay", "0.5", "jobs[0].utility.decay", "number"),
    # NaN and infinity, which Python's own JSON reader would take.
    ("jobs.0.gradient", math.nan, "jobs[0].gradient", "finite"),
    ("jobs.0.sample_time", math.inf, "jobs[0].sample_time", "finite"),
    ("jobs.0.bandwidth_internal", math.inf, "jobs[0].bandwidth_internal", "finite"),
    ("machines.0.capacity.gpu", math.inf, "machines[0].capacity.gpu", "finite"),
    ("machines.0.capacity.gpu", math.nan, "machines[0].capacity.gpu", "finite"),
    ("jobs.0.ps.cpu", -math.inf, "jobs[0].ps.cpu", "finite"),
    ("jobs.0.utility.target", math.nan, "jobs[0].utility.target", "finite"),
    ("jobs.0.arrival", math.nan, "jobs[0].arrival", "integer"),
    # Wrong signs and ranges.
    ("slots", 0, "slots", "greater than or equal to 1"),
    ("jobs.0.arrival", -1, "jobs[0].arrival", "greater than or equal to 0"),
    ("jobs.0.arrival", 10, "jobs[0].arrival", "slot of the horizon, 0..9"),
    ("jobs.0.epochs", 0, "jobs[0].epochs", "greater than or equal to 1"),
    ("jobs.0.samples", 0, "jobs[0].samples", "greater than or equal to 1"),
    ("jobs.0.batch", 0, "jobs[0].batch", "greater than or equal to 1"),
    ("jobs.0.gradient", -0.5, "jobs[0].gradient", "greater than or equal to 0"),
    ("jobs.0.sample_time", 0, "jobs[0].sample_time", "greater than 0"),
    ("jobs.0.workers_per_ps", 0, "jobs[0].workers_per_ps", "greater than 0"),
    ("jobs.0.bandwidth_external", 0, "jobs[0].bandwidth_external", "greater than 0"),
    ("jobs.0.bandwidth_internal", 1.0, "jobs[0].bandwidth_internal", "bandwidth_external = 450000"),
    ("jobs.0.worker.gpu", -1, "jobs[0].worker.gpu", "greater than or equal to 0"),
    ("jobs.0.ps.cpu", -1, "jobs[0].ps.cpu", "greater than or equal to 0"),
    ("machines.0.capacity.gpu", -36, "machines[0].capacity.gpu", "greater than or equal to 0"),
    ("jobs.0.utility.priority", 0, "jobs[0].utility.priority", "greater than 0"),
    ("jobs.0.utility.priority", 1e201, "jobs[0].utility.priority", "equal to 1e+200 (got 1e+201"),
    ("jobs.0.utility.decay", -1, "jobs[0].utility.decay", "greater than or equal to 0"),
    # Numbers that arithmetic cannot hold.
    ("slots", 10**400, "slots", "less than or equal to"),
    ("jobs.0.batch", 10**400, "jobs[0].batch", "less than or equal to"),
    ("jobs.0.epochs", 2**53, "jobs[0].epochs", "at most 2^53"),
    ("jobs.0.gradient", 10**400, "jobs[0].gradient", "finite"),
    ("jobs.0.gradient", 1e308, "jobs[0].sample_time", "rate of zero"),
    ("jobs.0.sample_time", 1e308, "jobs[0].sample_time", "forever"),
    ("jobs.0.workers_per_ps", 1e-300, "jobs[0].workers_per_ps", "too small"),
    ("jobs.0.utility.decay", 1e308, "jobs[0].utility.decay", "too large"),
    ("machines.1.capacity.gpu", 1e308, "machines[1].capacity.gpu", "total over machines and slots"),
    # Names.
    ("machines.1.name", "m0", "machines[1].name", "machines[0] has the same name"),
    ("jobs.1.name", "j0", "jobs[1].name", "jobs[0] has the same name"),
    ("resources.3", "gpu", "resources[3]", "unique"),
    ("jobs.0.name", "", "jobs[0].name", "at least 1 character"),
    ("jobs.0.name", "  ", "jobs[0].name", "blank"),
    ("jobs.0.name", 7, "jobs[0].name", "string"),
    ("resources.0", "", "resources[0]", "at least 1 character"),
    # Resources that are not declared.
    ("jobs.0.worker.tpu", 1, "jobs[0].worker.tpu", "declared resources (gpu, cpu"),
    ("jobs.1.ps.tpu", 0, "jobs[1].ps.tpu", "declared resources"),
    ("machines.1.capacity.tpu", 8, "machines[1].capacity.tpu", "declared resources"),
    # Structure.
    ("machines", [], "machines", "must have at least 1 item (got [])"),
    ("resources", [], "resources", "must have at least 1 item (got [])"),
    ("machines", {}, "machines", "array"),
    ("jobs", None, "jobs", "array"),
    ("jobs.0", "j0", "jobs[0]", "object"),
    ("jobs.0.worker", [1, 4], "jobs[0].worker", "object"),
    ("jobs.0.utility", 5, "jobs[0].utility", "object"),
    ("jobs.0.utility.kind", "linear", "jobs[0].utility.kind", "'sigmoid'"),
    # Unknown and missing fields.
    ("jobs.0.deadline", 3, "jobs[0].deadline", "not a known field"),
    ("comment", "x", "comment", "not a known field"),
    ("jobs.0.utility.theta", 3, "jobs[0].utility.theta", "not a known field"),
    ("jobs.0.batch", REMOVED, "jobs[0].batch", "required"),
    ("jobs", REMOVED, "jobs", "required"),
    ("jobs.1.utility", REMOVED, "jobs[1].utility", "required"),
    ("machines.0.capacity", REMOVED, "machines[0].capacity", "required"),
    ("kind", "dispatch", "kind", 'must be "training"'),
    ("kind", REMOVED, "kind", "required"),
    ("version", 2, "version", "must be 1"),
    ("version", "1", "version", "must be 1"),
    ("version", 1.0, "version", "must be 1"),
    ("version", True, "version", "must be 1"),
    ("version", REMOVED, "version", "required"),
]


@pytest.mark.parametrize(
    ("place", "value", "field", "rule"),
    BROKEN,
    ids=[
        f"{place}={'removed' if value is REMOVED else str(value)[:12]}"
        for place, value, _, _ in BROKEN
    ],
)
def test_a_broken_field_is_named(
    written: Callable[[Any], Path], place: str, value: Any, field: str, rule: str
) -> None:
    message = error_of(written(changed(place, value)))
    assert message.startswith(f"{field}: ")
    assert rule in message
    if value is not REMOVED and "known field" not in rule and "rate of zero" not in rule:
        assert "(got " in message or "required" in message


def test_the_value_is_shown(written: Callable[[Any], Path]) -> None:
    message = error_of(written(changed("jobs.0.batch", 0)))
    assert message == "jobs[0].batch: must be greater than or equal to 1 (got 0)"


def test_a_long_value_is_shown_shortened(written: Callable[[Any], Path]) -> None:
    assert len(error_of(written(changed("jobs.0.gradient", "x" * 10_000)))) < 200


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("jobs.0.arrival", 9),
        ("jobs.0.batch", 2**53),
        ("jobs.0.gradient", 0),
        ("jobs.0.bandwidth_internal", 450000),
        ("jobs.0.worker", {}),
        ("jobs.0.worker.gpu", 0),
        ("machines.0.capacity", {}),
        ("jobs.0.utility.decay", 0),
        ("jobs.0.sample_time", 5e-324),
        ("jobs", []),
        ("jobs.0.name", "Größe 日本"),
    ],
)
def test_the_boundary_is_accepted(written: Callable[[Any], Path], place: str, value: Any) -> None:
    instance = load_instance(written(changed(place, value)))
    assert len(instance.reach) == instance.number_of_jobs


def test_without_jobs_arrays_keep_their_shape(written: Callable[[Any], Path]) -> None:
    instance = load_instance(written(changed("jobs", [])))
    assert instance.worker_demand.shape == instance.ps_demand.shape == (0, 4)
    assert instance.reach == ()


NOT_JSON = [
    ("", "not JSON"),
    (json.dumps(CONTENT)[:-20], "not JSON"),
    (json.dumps(CONTENT) + "}", "not JSON"),
    ("[]", "JSON object"),
    ("null", "JSON object"),
    ('"training"', "JSON object"),
    ("{" * 100_000, "not JSON"),
    ("[" * 100_000, "nested too deeply"),
    (json.dumps(CONTENT).replace('"slots": 10', '"slots": ' + "9" * 5000), "not JSON"),
    (json.dumps(CONTENT).replace('"j0"', '"\\ud800"'), "not JSON"),
    (json.dumps(CONTENT).replace('"slots"', '"slots": 3, "slots"'), "slots: a key must not"),
    (json.dumps(CONTENT).replace('"gpu": 1,', '"gpu": 1, "gpu": 2,'), "gpu: a key must not"),
]


@pytest.mark.parametrize(("text", "rule"), NOT_JSON, ids=range(len(NOT_JSON)))
def test_text_that_is_no_strict_json(written: Callable[[Any], Path], text: str, rule: str) -> None:
    message = error_of(written(text))
    assert rule in message
    assert len(message) < 200


def test_truncation_anywhere_is_an_error(tmp_path: Path) -> None:
    text = json.dumps(CONTENT)
    path = tmp_path / "instance.json"
    for length in range(0, len(text), 7):
        path.write_text(text[:length])
        assert "JSON" in error_of(path)


def test_infinity_by_overflow_is_named(written: Callable[[Any], Path]) -> None:
    message = error_of(written(json.dumps(CONTENT).replace("120.5", "1e999")))
    assert message.startswith("jobs[0].gradient: must be a finite number")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    binary = tmp_path / "binary.json"
    binary.write_bytes(bytes(range(256)))
    assert "UTF-8" in error_of(binary)
    latin = tmp_path / "latin.json"
    latin.write_bytes(json.dumps(CONTENT, ensure_ascii=False).replace("j0", "ü").encode("latin-1"))
    assert "UTF-8" in error_of(latin)
    assert "cannot be read" in error_of(tmp_path)
    assert "cannot be read" in error_of(tmp_path / "missing.json")


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "instance.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(CONTENT).encode())
    assert load_instance(path).slots == 10


def test_writing_and_reading_gives_the_same_instance_and_bytes(
    written: Callable[[Any], Path], tmp_path: Path
) -> None:
    instance = load_instance(written(CONTENT))
    again = tmp_path / "again.json"
    save_instance(instance, again)
    assert load_instance(again) == instance
    first = again.read_bytes()
    save_instance(load_instance(again), again)
    assert again.read_bytes() == first


def test_writing_where_nothing_can_be_written(
    written: Callable[[Any], Path], tmp_path: Path
) -> None:
    instance = load_instance(written(CONTENT))
    with pytest.raises(InputError, match="cannot be written"):
        save_instance(instance, tmp_path / "no" / "such" / "folder.json")
    assert [path.name for path in tmp_path.iterdir()] == ["instance.json"]


def test_an_instance_cannot_be_changed(make_instance: Callable[..., TrainingInstance]) -> None:
    instance = make_instance({})
    with pytest.raises(ValueError, match="frozen"):
        instance.slots = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="frozen"):
        instance.jobs[0].batch = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="frozen"):
        instance.jobs[0].utility.decay = 3.0  # type: ignore[misc]
    amounts: Any = instance.machines[0].capacity
    for change in (
        lambda: amounts.update(gpu=1.0),
        lambda: amounts.__setitem__("gpu", 1.0),
        lambda: amounts.pop("gpu"),
        lambda: amounts.setdefault("tpu", 1.0),
        lambda: amounts.__ior__({"gpu": 1.0}),
        amounts.clear,
        amounts.popitem,
    ):
        with pytest.raises(TypeError, match="cannot be changed"):
            change()
    for table in (instance.capacity, instance.worker_demand, instance.ps_demand):
        with pytest.raises(ValueError, match="read-only"):
            table[0, 0] = 1.0
    assert instance == make_instance({})


def test_a_caller_s_mapping_is_copied() -> None:
    capacity = {"gpu": 1.0}
    machine = Machine(name="m", capacity=capacity)
    capacity["gpu"] = 99.0
    assert machine.capacity["gpu"] == 1.0


@pytest.mark.parametrize("used_before", [False, True])
def test_pickling_and_copying_keep_an_instance(
    make_instance: Callable[..., TrainingInstance], used_before: bool
) -> None:
    instance = make_instance({}, {"arrival": 3})
    if used_before:
        assert len(instance.reach) == 2
        assert instance.capacity.size == 4
    for twin in (
        pickle.loads(pickle.dumps(instance)),
        copy.copy(instance),
        copy.deepcopy(instance),
        instance.model_copy(),
    ):
        assert twin == instance
        assert hash(twin) == hash(instance)
        assert twin.reach == instance.reach
        np.testing.assert_array_equal(twin.capacity, instance.capacity)
        assert not twin.capacity.flags.writeable
        with pytest.raises(TypeError, match="cannot be changed"):
            twin.machines[0].capacity["gpu"] = 0.0


def test_a_changed_copy_computes_its_tables_anew(
    make_instance: Callable[..., TrainingInstance],
) -> None:
    instance = make_instance({})
    assert instance.capacity.shape == (2, 2)
    smaller = instance.model_copy(update={"machines": instance.machines[:1]})
    assert smaller.capacity.shape == (1, 2)
    assert smaller != instance
    with pytest.raises(ValueError, match="slots"):
        instance.model_copy(update={"slots": 0})


def test_equality_looks_at_fields_and_types(
    make_instance: Callable[..., TrainingInstance],
) -> None:
    assert make_instance({}) == make_instance({})
    assert make_instance({}) != make_instance({"arrival": 1})
    assert make_instance({}) != make_instance({}, slots=11)
    assert make_instance({}) != "instance"
    assert len({make_instance({}), make_instance({}), make_instance()}) == 2


def test_construction_in_python_is_validated_too(fields: Callable[..., dict[str, Any]]) -> None:
    with pytest.raises(ValueError, match="batch"):
        Job(**fields(batch=0))
    with pytest.raises(ValueError, match="batch"):
        Job(**fields(batch=1.0))
    with pytest.raises(ValueError, match="bandwidth"):
        Job(**fields(bandwidth_external=11.0))


def test_a_rate_must_be_finite(make_job: Callable[..., Job]) -> None:
    assert math.isfinite(make_job(gradient=0.0, sample_time=1e-300).rate_internal)
    with pytest.raises(ValueError, match="rate of zero or infinity"):
        make_job(gradient=0.0, sample_time=5e-324)


def test_d2_counts_parameter_servers(make_job: Callable[..., Job]) -> None:
    # 0.3 / 0.1 is above 3 only by rounding; D2 forgives that.
    assert make_job(workers_per_ps=0.1).ps_for(1) == 10
    assert make_job(workers_per_ps=1 / 3).ps_for(1) == 3
    assert make_job(workers_per_ps=2.0).ps_for(4) == 2
    assert make_job(workers_per_ps=2.0).ps_for(5) == 3
    assert make_job(workers_per_ps=100.0).ps_for(1) == 1
    assert make_job().ps_for(0) == 0


def test_d11_forgives_a_billionth_of_the_workload(make_job: Callable[..., Job]) -> None:
    job = make_job(epochs=10, samples=10)
    assert job.workload_reached(100.0)
    assert job.workload_reached(100.0 * (1 - 0.9e-9))
    assert not job.workload_reached(100.0 * (1 - 2e-9))


def test_possible_jobs(make_instance: Callable[..., TrainingInstance]) -> None:
    # 4 workers do 40 samples in a slot: 100 samples take 3 slots.
    instance = make_instance({"arrival": 7}, {"arrival": 8}, {"worker": {"gpu": 5.0}})
    assert instance.possible_jobs == (0,)
    assert [reach.slots_needed for reach in instance.reach] == [3, 3, None]
