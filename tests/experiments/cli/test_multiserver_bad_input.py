"""Bad multiserver files and options: one line, exit 2, nothing written."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.experiments.cli.multiserver_kit import content
from tests.experiments.cli.test_multiserver import instance, multiserver, rewrite

__all__ = ["instance", "multiserver"]  # fixtures


def check_refusal(result: Any, message: str) -> None:
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    assert message in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("generate --ports 0 -o {out}/a", "'--ports': Input should be greater than or equal to 1"),
        ("generate --slots -1 -o {out}/a", "'--slots': Input should be greater than or equal to 0"),
        ("generate --degree 11 -o {out}/a", "--degree: must be in 0..10, the number of ports"),
        ("generate --contention 0 -o {out}/a", "--contention: must be in 1e-6..1e6 (got 0.0)"),
        ("generate --contention nan -o {out}/a", "--contention: must be in 1e-6..1e6 (got NaN)"),
        ("generate --overhead -1 -o {out}/a", "--overhead: must be in 1e-6..1e6 (got -1.0)"),
        ("generate --probability 1.1 -o {out}/a", "--probability: must be in 0..1 (got 1.1)"),
        ("generate --gain cubic -o {out}/a", "--gain: must be one of linear, log, poly, recip"),
        ("generate --form both -o {out}/a", "--form: must be one of sum, channel"),
        ("generate --graph tree -o {out}/a", "--graph: must be one of regular, random"),
        ("generate --stream wave -o {out}/a", "--stream: must be one of bernoulli, bursty, flip"),
        ("generate --stream flip -o {out}/a", "--ports: must be 2 with the flip stream (got 10)"),
        ("generate --stream bursty --probability 1 -o {out}/a", "--probability: must be above 0"),
        ("generate --stream bursty --slots 10000001 -o {out}/a", "--slots: must be at most 10,000"),
        ("generate --arrivals {table} --slots 10000001 -o {out}/a", "--slots: must be at most 10"),
        ("generate --slot-seconds 9 -o {out}/a", "--slot-seconds: is for --arrivals (got 9.0)"),
        ("generate --arrivals {out}/none -o {out}/a", "none: cannot be read: No such file"),
        ("generate --arrivals {table} --slot-seconds 0 -o {out}/a", "--slot-seconds: must be a"),
        ("generate --arrivals {table} --stream flip -o {out}/a", "--stream: must not be given"),
        ("generate --arrivals {instance} -o {out}/a", "instance.json: has no valid SUBMIT row"),
        ("run {instance} --policy ogre", "--policy: must be one of oga, fairness, drf, binpack"),
        ("run {instance} --policy oga --set step=big", "--set: step: must be 'theory', 'sqrt'"),
        ("run {instance} --policy oga --set decay=2", "--set: decay: must be less than or equal"),
        ("run {instance} --policy oga --set eta0=nan", "--set: eta0: must be a finite number"),
        ("run {instance} --policy oga --set eta=1", "is not a parameter of oga, which has protoc"),
        ("run {instance} --policy fairness --set per_job=1", "is not a parameter of fairness"),
        ("optimum {instance} --time-limit 0", "--time-limit: must be a positive, finite number"),
        ("optimum {instance} --write-model {out}/a.txt", "--write-model: must end in .lp or .mps"),
        ("compare {instance} --policies drf,drf", "must name each policy once"),
    ],
)
def test_bad_options(
    multiserver: Callable, instance: Path, out: Path, arguments: str, message: str
) -> None:
    from models.data import data_file
    from models.google_table import TABLE

    table = data_file(TABLE)
    words = arguments.format(instance=instance, out=out, table=table).split()
    check_refusal(multiserver(*words), message)
    assert list(out.iterdir()) == []


BROKEN = [
    ('"kind": "multiserver"', '"kind": "training"', 'kind: must be "multiserver" (got "training"'),
    ('"version": 1', '"version": 1.0', "version: must be 1 (got 1.0)"),
    ('"version": 1, ', "", "version: is required and must be 1"),
    ('"kind"', '"kind": "multiserver", "kind"', "kind: a key must not occur twice"),
    ("{", "[", "is not JSON"),
    ('"overhead"', '"overheads"', "overheads: is not a known field"),
    # Names.
    ('["cpu", "gpu"]', "[]", "resources: must have at least 1 item"),
    ('["cpu", "gpu"]', '["cpu", "cpu"]', 'resources[1]: names must be unique (got "cpu")'),
    ('["cpu", "gpu"]', '["cpu", " "]', "resources[1]: must not be blank"),
    ('"name": "l1"', '"name": "l0"', "ports[1].name: names must be unique, but ports[0]"),
    ('"name": "r1"', '"name": "r0"', "instances[1].name: names must be unique"),
    ('"name": "l1"', '"name": 1', "ports[1].name: must be a valid string (got 1)"),
    # Amounts.
    ('"cpu": 4', '"cpu": -4', "ports[0].request.cpu: must be greater than or equal to 0 (got -4"),
    ('"cpu": 4', '"cpu": "4"', 'ports[0].request.cpu: must be a valid number (got "4")'),
    ('"cpu": 4', '"cpu": true', "ports[0].request.cpu: must be a valid number (got true)"),
    ('"cpu": 4', '"cpu": NaN', "ports[0].request.cpu: must be a finite number"),
    ('"cpu": 4', '"cpu": 1e61', "ports[0].request.cpu: must be at most 1e+60"),
    ('"cpu": 4', '"tpu": 4', "ports[0].request.tpu: is not one of the declared resources (cpu,"),
    ('"cpu": 5', '"cpu": -5', "instances[0].capacity.cpu: must be greater than or equal to 0"),
    ('"cpu": 5', '"cpu": 1e999', "instances[0].capacity.cpu: must be a finite number"),
    ('"cpu": 0.25', '"cpu": -0.25', "overhead.cpu: must be greater than or equal to 0"),
    ('"cpu": 0.25', '"ram": 0.25', "overhead.ram: is not one of the declared resources"),
    # Edges.
    ('["l0", "r0"]', '["l9", "r0"]', 'edges[0][0]: is not a port (got "l9")'),
    ('["l0", "r0"]', '["l0", "r9"]', 'edges[0][1]: is not an instance (got "r9")'),
    ('["l0", "r0"]', '["r0", "l0"]', 'edges[0][0]: is not a port (got "r0")'),
    ('["l0", "r0"]', '["l1", "r0"]', 'edges[1]: must not repeat an edge (got ["l1", "r0"])'),
    ('["l0", "r0"]', '["l0"]', "edges[0][1]: is required"),
    # Gains.
    ('"form": "sum"', '"form": "product"', "gain.form: must be 'sum' or 'channel'"),
    ('"kind": "linear"', '"kind": "square"', "gain.resources.cpu.kind: must be 'linear', 'log'"),
    ('"scale": 1.2', '"scale": 0', "gain.resources.cpu.scale: must be greater than or equal to 1e"),
    ('"scale": 1.2', '"scale": -1', "gain.resources.cpu.scale: must be greater"),
    ('"cpu": {"kind"', '"ram": {"kind"', 'gain.resources: must name every resource (got "cpu")'),
    ('"form": "sum"', '"instances": {"r0": {}}, "form": "sum"',
     "gain.instances: is for the form channel only"),
    ('"form": "sum"', '"instances": {"r9": {}}, "form": "channel"',
     "gain.instances.r9: is not an instance"),
    # Arrivals.
    ('"slots": 4', '"slots": 5', "arrivals.ports: must have one row per slot (5) (got 4)"),
    ('"slots": 4', '"slots": 4.0', "arrivals.slots: must be a valid integer (got 4.0)"),
    ('"slots": 4', '"slots": -4', "arrivals.slots: must be greater than or equal to 0 (got -4)"),
    ("[2, 1]", "[2, 3]", "arrivals.ports[3][1]: must be the index of a port, 0..2 (got 3)"),
    ("[2, 1]", "[2, -1]", "arrivals.ports[3][1]: must be greater than or equal to 0 (got -1)"),
    ("[2, 1]", "[2, 2]", "arrivals.ports[3]: must not repeat a port (got [2, 2])"),
    ("[2, 1]", "[2, 1.0]", "arrivals.ports[3][1]: must be a valid integer (got 1.0)"),
    ('"kind": "list"', '"kind": "poisson"', "arrivals"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), BROKEN)
@pytest.mark.parametrize("command", ["describe {0}", "run {0} --policy oga -o {1}/a --json"])
def test_broken_instances(
    multiserver: Callable,
    instance: Path,
    out: Path,
    command: str,
    old: str,
    new: str,
    message: str,
) -> None:
    text = instance.read_text()
    assert old in text
    instance.write_text(text.replace(old, new, 1))
    result = multiserver(*command.format(instance, out).split())
    check_refusal(result, f"error: {instance}: {message}")
    assert list(out.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"probability": 1.5}, "arrivals.probability: must be less than or equal to 1 (got 1.5)"),
        ({"probability": [0.1, 0.2]}, "arrivals.probability: must be one number, or one per port"),
        ({"probability": [0.1, 0.2, -1]}, "arrivals.probability[2]: must be greater than or equal"),
        ({"seed": -1}, "arrivals.seed: must be greater than or equal to 0 (got -1)"),
        ({"slots": None}, "arrivals.slots: must be a valid integer (got null)"),
    ],
)
def test_broken_draws(multiserver: Callable, instance: Path, changes: dict, message: str) -> None:
    drawn = {"kind": "bernoulli", "slots": 4, "probability": 0.5, "seed": 0}
    instance.write_text(json.dumps(content(arrivals=drawn | changes)))
    check_refusal(multiserver("describe", instance), f"error: {instance}: {message}")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (None, "x.npz: cannot be read: No such file or directory"),
        (b"text", "x.npz: cannot be read: "),
        (np.zeros(4, dtype=bool), "x.npz: arrivals: must be a table of slots and ports (got [4])"),
        (np.zeros((4, 2), dtype=bool), "x.npz: arrivals: must have one column per port (3) (got 2"),
        (np.full((4, 3), 2), "x.npz: arrivals: must be bool, or integers 0 and 1"),
        (np.zeros((4, 3)), "x.npz: arrivals: must be bool, or integers 0 and 1"),
    ],
)
def test_broken_files_of_arrivals(
    multiserver: Callable, instance: Path, table: Any, message: str
) -> None:
    rewrite(instance, arrivals={"kind": "file", "path": "x.npz", "key": "arrivals"})
    path = instance.parent / "x.npz"
    if isinstance(table, bytes):
        path.write_bytes(table)
    elif table is not None:
        np.savez(path, arrivals=table)
    check_refusal(multiserver("run", instance, "--policy", "oga"), message)
    np.savez(path, other=np.zeros((4, 3), dtype=bool))
    check_refusal(multiserver("describe", instance), "x.npz: arrivals: is not in the file, which")


BROKEN_RUNS = [
    ('"policy": "oga"', '"policy": ""', "policy: "),
    ('"protocol": "committed"', '"protocol": "clairvoyant"', "protocol: must be 'committed' or"),
    ('"projection": "exact"', '"projection": "rough"', "projection: must be 'exact' or 'paper'"),
    ('"projection": "exact", ', "", "projection: is required"),
    ('"history": null', '"history": []', "history: must have one entry per slot (4) (got 0)"),
    ('"rewards": [', '"rewards": [0.0, ', "rewards: must have one entry per slot (4) (got 5)"),
    ('["l0", ', '["l9", ', 'final[0][0]: is not a port of the instance file (got "l9")'),
    ('["l0", "r0"', '["l0", "r9"', 'final[0][1]: is not a instance of the instance file'),
    ('"r0", "cpu"', '"r0", "ram"', 'final[0][2]: is not a resource of the instance file'),
    ('"objective"', '"objectiv"', "objectiv: is not a known field"),
    ('"version": 1', '"version": "1"', 'version: must be 1 (got "1")'),
    ('"multiserver-run"', '"multiserver"', 'kind: must be "multiserver-run" (got "multiserver")'),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), BROKEN_RUNS)
def test_broken_runs(
    multiserver: Callable, instance: Path, out: Path, old: str, new: str, message: str
) -> None:
    path = out / "run.json"
    multiserver("run", instance, "--policy", "oga", "-o", path)
    text = json.dumps(json.loads(path.read_text()))
    assert old in text
    path.write_text(text.replace(old, new, 1))
    check_refusal(multiserver("audit", instance, path, "--json"), f"error: {path}: {message}")


@pytest.mark.parametrize(
    ("entry", "constraint"),
    [
        (["l0", "r1", "cpu", 1.0], "edge"),
        (["l1", "r0", "gpu", 0.5], "cap"),
        (["l1", "r0", "cpu", 2.6], "cap"),
        (["l1", "r1", "cpu", 2.1], "capacity"),
        (["l1", "r1", "cpu", -0.1], "sign"),
    ],
)
def test_what_the_audit_finds(
    multiserver: Callable, instance: Path, out: Path, entry: list, constraint: str
) -> None:
    path = out / "run.json"
    multiserver("run", instance, "--policy", "drf", "-o", path)
    rewrite(path, final=[entry])
    found = multiserver("audit", instance, path, "--json")
    assert found.code == 1
    assert [violation["constraint"] for violation in found.json["violations"]] == [constraint]
    assert constraint in multiserver("audit", instance, path).out
