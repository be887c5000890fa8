"""Odd networks and jobs by every policy, as library and by the command line: right, or one line."""

import json
import math

import pytest

from algorithms.policy import NoSolution
from algorithms.splitting import POLICIES, run
from algorithms.splitting.exact.optimum import optimum
from experiments.cli.splitting import SPLITTING
from models.splitting import audit, save_instance
from models.splitting.reach import why_over_budget, why_unroutable
from tests.splitting_factories import make_instance, make_job

COMPLETION, SERVICE = ("greedy", "nfs", "optimal"), ("ilp", "iqp")
THERE_AND_BACK = [(0, 1, 2.0), (1, 0, 4.0)]
TWO_LAYERS = {"compute": (3.0, 1.0), "data": (2.0, 6.0, 4.0)}

# Name, instance, least largest completion and least total service, None for no solution.
CASES = {
    "no jobs": (make_instance([1.0, 1.0], THERE_AND_BACK, []), 0.0, 0.0),
    "no links, source is destination": (
        make_instance([2.0, 9.0], [], [make_job(**TWO_LAYERS)], [5.0, 0.0]),
        (5 + 4) / 2,
        4 / 2,
    ),
    "one node": (make_instance([2.0], [], [make_job(), make_job("j1")], [3.0]), 5 / 2, 1.0),
    "disconnected": (make_instance([1.0, 1.0], [], [make_job(destination="n1")]), None, None),
    "connected the wrong way": (
        make_instance([1.0, 1.0], [(1, 0, 1.0)], [make_job(destination="n1")]),
        None,
        None,
    ),
    "the fast part is not connected": (
        make_instance([1.0, 50.0], [], [make_job(**TWO_LAYERS)]),
        4.0,
        4.0,
    ),
    "there and back to a faster node": (  # there with 2 bytes, back with 4
        make_instance([0.1, 4.0], THERE_AND_BACK, [make_job(**TWO_LAYERS)]),
        2 / 2 + 4 / 4 + 4 / 4,
        2 / 2 + 4 / 4 + 4 / 4,
    ),
    "one layer": (
        make_instance([0.0, 2.0], [(0, 1, 1.0)], [make_job(destination="n1", data=(3.0, 9.0))]),
        3 + 1 / 2,
        3 + 1 / 2,
    ),
    "layers without work and data without bytes": (
        make_instance(
            [1.0, 1.0],
            [(0, 1, 1.0)],
            [make_job(destination="n1", compute=(0.0, 0.0), data=(0.0, 0.0, 0.0))],
        ),
        0.0,
        0.0,
    ),
    "no bytes wait too": (
        make_instance(
            [0.0, 1.0], [(0, 1, 2.0, 8.0)], [make_job(destination="n1", data=(0.0, 0.0))]
        ),
        8 / 2 + 1,
        1.0,
    ),
    "all rates zero": (make_instance([0.0, 0.0], THERE_AND_BACK, [make_job()]), None, None),
    "a link of rate zero": (
        make_instance([1.0, 1.0], [(0, 1, 0.0)], [make_job(destination="n1")]),
        None,
        None,
    ),
    "everything infinitely fast": (
        make_instance(
            [None, None],
            [(0, 1, None, 7.0)],
            [make_job(destination="n1"), make_job("j1")],
            [5.0, 5.0],
        ),
        0.0,
        0.0,
    ),
    "infinite links around a slow one": (
        make_instance(
            [0.0, 0.0, 2.0],
            [(0, 1, None), (1, 2, None), (0, 2, 0.001)],
            [make_job(destination="n2", data=(8.0, 8.0))],
        ),
        1 / 2,
        1 / 2,
    ),
    "parallel links, the second faster": (
        make_instance(
            [0.0, 1.0], [(0, 1, 1.0), (0, 1, 4.0)], [make_job(destination="n1", data=(4.0, 0.0))]
        ),
        2.0,
        2.0,
    ),
}
# The IQP takes the fewest hops, and the earlier of parallel links, however slow.
FEWEST_HOPS = {
    "infinite links around a slow one": 8 / 0.001 + 1 / 2,
    "parallel links, the second faster": 4 / 1.0 + 1,
}
FITS_NOWHERE = make_instance(
    [1.0, 1.0], THERE_AND_BACK, [make_job(**TWO_LAYERS)], memory=[0.5, 0.0]
)


@pytest.fixture
def splitting(cli):
    return lambda *arguments: cli("splitting", *arguments, families=(SPLITTING,))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", CASES)
def test_library(name, policy):
    instance, completion, service = CASES[name]
    expected = completion if policy in COMPLETION else service
    if expected is None:
        with pytest.raises(NoSolution, match="job j0 has no route"):
            run(instance, policy)
        assert why_unroutable(instance)[0] is not None
        return
    outcome = run(instance, policy)
    value = FEWEST_HOPS.get(name, expected) if policy == "iqp" else expected
    assert outcome.solution.objective == pytest.approx(value, rel=1e-9, abs=1e-12)
    assert audit(instance, outcome.solution).feasible
    problem = "completion" if policy in COMPLETION else "service"
    found = optimum(instance, problem=problem)
    assert (found.status, found.upper) == ("optimal", pytest.approx(expected, rel=1e-9, abs=1e-12))


@pytest.mark.parametrize("name", CASES)
def test_command_line(splitting, tmp_path, name):
    instance, completion, service = CASES[name]
    path, solution = tmp_path / "instance.json", tmp_path / "solution.json"
    save_instance(instance, path)
    possible = completion is not None
    described = splitting("describe", path)
    assert described.code == (0 if possible else 1)
    for policy, expected in (("greedy", completion), ("ilp", service)):
        answer = splitting("run", path, "--policy", policy, "-o", solution, "--json")
        assert answer.code == (0 if possible else 1)
        if not possible:
            assert answer.json["solution"] is None
            assert answer.err.count("\n") == 1
            assert answer.err.startswith("no feasible solution: job j0 has no route")
            assert not solution.exists()
            continue
        assert answer.json["objective"] == pytest.approx(expected, abs=1e-12)
        assert splitting("audit", path, solution, "--json").json["feasible"]
        picture = tmp_path / f"{policy}.svg"
        assert splitting("plot", path, solution, "-o", picture).code == 0
        if policy == "greedy":
            real = splitting("simulate", path, solution, "--json").json
            assert real["real"] <= expected * (1 + 1e-9)
    names = ",".join(COMPLETION)
    assert splitting("compare", path, "--policies", names).code == (0 if possible else 1)
    found = splitting("optimum", path, "--json")
    assert found.json["status"] == ("optimal" if possible else "infeasible")


@pytest.mark.parametrize("policy", SERVICE)
def test_a_job_that_fits_nowhere(splitting, tmp_path, policy):
    """Budgets count for service only: each layer takes one byte, and no node has that much."""
    path = tmp_path / "instance.json"
    save_instance(FITS_NOWHERE, path)
    with pytest.raises(NoSolution, match="job j0 has no route within the nodes' budgets"):
        run(FITS_NOWHERE, policy)
    assert why_over_budget(FITS_NOWHERE)[0] is not None
    answer = splitting("run", path, "--policy", policy)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "no feasible solution: job j0 has no route within the nodes' budgets\n"
    assert splitting("optimum", path, "--problem", "service", "--json").json["status"] == (
        "infeasible"
    )
    assert splitting("run", path, "--policy", "greedy").code == 0


def test_a_job_without_layers_is_bad_input(splitting, tmp_path):
    path = tmp_path / "instance.json"
    save_instance(FITS_NOWHERE, path)
    content = json.loads(path.read_text())
    content["jobs"][0]["layers"] = []
    path.write_text(json.dumps(content))
    answer = splitting("describe", path)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"error: {path}: jobs[0].layers: must have at least 1 item")


def test_times_too_large_for_numbers_are_bad_input():
    with pytest.raises(ValueError, match="times overflow"):
        make_instance([1e-300], [], [make_job(compute=(1e300,))])
    assert math.isfinite(
        run(make_instance([1e-100], [], [make_job()]), "greedy").solution.objective
    )
