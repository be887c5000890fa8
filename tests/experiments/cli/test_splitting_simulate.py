"""schedlab splitting simulate: both times of a routing, or why there are none."""

import json

import pytest

from experiments.cli.splitting import SPLITTING
from tests.experiments.cli.splitting_kit import content

LAYER = {"compute": 1.0, "output": 0.0, "memory": 0}
# Job far reaches b when near and the queue are gone: 6 s, against 9 s in the fictitious system.
WORK_THAT_IS_OVER = content(
    nodes=[{"name": "a", "rate": 0}, {"name": "b", "rate": 1.0, "queue": 2.0}],
    links=[{"name": "ab", "from": "a", "to": "b", "rate": 1.0}],
    jobs=[
        {"name": "near", "source": "b", "destination": "b", "input": 0, "layers": [LAYER]},
        {"name": "far", "source": "a", "destination": "b", "input": 5, "layers": [LAYER]},
    ],
)


@pytest.fixture
def splitting(cli):
    return lambda *arguments: cli("splitting", *arguments, families=(SPLITTING,))


@pytest.fixture
def files(splitting, tmp_path):
    instance, routing = tmp_path / "instance.json", tmp_path / "routing.json"
    instance.write_text(json.dumps(WORK_THAT_IS_OVER))
    assert splitting("run", instance, "--policy", "greedy", "-o", routing).code == 0
    return instance, routing


def change(path, **fields):
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def test_both_times_of_every_job(splitting, files):
    found = splitting("simulate", *files, "--json")
    assert (found.code, found.err) == (0, "")
    assert (found.json["policy"], found.json["fictitious"], found.json["real"]) == ("greedy", 9, 6)
    assert found.json["jobs"] == [
        {"name": "near", "priority": 1, "fictitious": 3.0, "real": 3.0},
        {"name": "far", "priority": 2, "fictitious": 9.0, "real": 6.0},
    ]
    lines = splitting("simulate", *files).out.splitlines()
    assert lines[3].split() == ["far", "2", "9", "6", "0.666667"]
    assert "largest completion [s], real network: 6" in lines


def test_without_jobs(splitting, files):
    instance, routing = files
    change(instance, jobs=[])
    change(routing, jobs=[], objective=0.0)
    found = splitting("simulate", *files, "--json")
    assert (found.code, found.json["real"], found.json["jobs"]) == (0, 0.0, [])
    assert splitting("simulate", *files).code == 0


def test_what_the_audit_refuses_is_not_simulated(splitting, files):
    change(files[1], objective=8.0)
    found = splitting("simulate", *files)
    assert (found.code, found.out) == (1, "")
    assert found.err.startswith("not simulated: the audit found 1 violation(s), the first: state")


def test_service_has_no_priorities(splitting, files):
    instance, routing = files
    assert splitting("run", instance, "--policy", "ilp", "-o", routing).code == 0
    found = splitting("simulate", *files)
    assert (found.code, found.out) == (2, "")
    rule = "problem: must be completion: only then are there priorities to simulate"
    assert found.err == f'error: {routing}: {rule} (got "service")\n'


def test_a_routing_of_another_instance(splitting, files):
    routing = files[1]
    text = routing.read_text()
    for old, new, message in (
        ('"near"', '"nearer"', 'jobs[0].name: is not a job of the instance (got "nearer")'),
        ('"ab"', '"ba"', 'jobs[1].hops[0][0]: is not a link of the instance (got "ba")'),
        ("{", "", "is not JSON"),
    ):
        routing.write_text(text.replace(old, new, 1))
        found = splitting("simulate", *files)
        assert (found.code, found.out) == (2, "")
        assert found.err.startswith(f"error: {routing}: {message}")
        assert found.err.count("\n") == 1
