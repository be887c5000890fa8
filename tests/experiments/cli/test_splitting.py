"""The splitting family on the command line: what each command answers and writes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import highspy
import pytest

from experiments.cli.splitting import SPLITTING
from models.splitting import load_instance, load_routing
from models.splitting.generator import generate
from tests.experiments.cli.splitting_kit import FAMILY, content


@pytest.fixture
def splitting(cli: Callable) -> Callable:
    """Run ``schedlab splitting``, with stubs for policies."""
    return lambda *arguments, family=FAMILY: cli("splitting", *arguments, families=(family,))


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    path = folder / "instance.json"
    path.write_text(json.dumps(content()))
    return path


def rewrite(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def cut_off(path: Path) -> None:
    """Take the link away that leads to c: job j0 cannot be routed."""
    found = json.loads(path.read_text())
    found["links"][1]["rate"] = 0
    path.write_text(json.dumps(found))


WHY = "no path of usable links leads from a to c"


# generate


def test_generate_writes_what_the_generator_draws(splitting: Callable, out: Path) -> None:
    result = splitting("generate", "--seed", 3, "-o", out / "a.json")
    assert (result.code, result.err) == (0, "")
    assert load_instance(out / "a.json") == generate(20, 5, seed=3).instance
    assert result.out.startswith("seed 3: 20 nodes, ")


def test_generate_passes_every_option_on(splitting: Callable, out: Path) -> None:
    result = splitting(
        *("generate", "--nodes", 9, "--jobs", 4, "--gamma", 0.5, "--models", "vgg16, hourglass"),
        *("--side", 20, "--radius", 9, "-o", out / "a.json"),
    )
    assert result.code == 0
    expected = generate(9, 4, gamma=0.5, models=["vgg16", "hourglass"], side=20, radius=9)
    assert load_instance(out / "a.json") == expected.instance
    assert "assumed: " in result.out


def test_equal_options_and_seed_give_equal_bytes(splitting: Callable, out: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        splitting("generate", "--seed", seed, "-o", out / name)
    contents = {name: (out / name).read_bytes() for name in "abc"}
    assert contents["a"] == contents["b"] != contents["c"]


# describe


def test_describe_shows_sizes_units_and_budgets(splitting: Callable, instance: Path) -> None:
    found = splitting("describe", instance, "--json").json
    assert {name: found[name] for name in ("nodes", "links", "jobs", "layers", "routable")} == {
        **{"nodes": 3, "links": 3, "jobs": 2, "layers": 3, "routable": 2}
    }
    assert found["special"] == {
        "unusable_nodes": 1,
        "infinitely_fast_nodes": 1,
        "unusable_links": 0,
        "infinitely_fast_links": 1,
        "jobs_from_a_node_to_itself": 1,
    }
    quantities = {entry["name"]: entry for entry in found["quantities"]}
    assert quantities["node rate"]["unit"] == "operations/s"
    assert quantities["link rate"]["unit"] == "bytes/s"
    assert (quantities["input of a job"]["least"], quantities["input of a job"]["most"]) == (
        1.5,
        20,
    )
    assert [(b["name"], b["nodes"], b["total"], b["needed"]) for b in found["budgets"]] == [
        ("compute budget", 1, None, 26.0),
        ("memory", 1, None, 8.0),
    ]
    assert (found["unroutable"], found["over_budget"]) == ([], [])
    shown = splitting("describe", instance)
    assert (shown.code, shown.err) == (0, "")
    assert "nodes: 3, links: 3, jobs: 2, layers: 3, routable: 2" in shown.out
    assert "unusable nodes: 1" in shown.out


def test_describe_names_jobs_that_cannot_be_routed_and_why(
    splitting: Callable, instance: Path
) -> None:
    cut_off(instance)
    result = splitting("describe", instance, "--json")
    assert result.code == 1
    assert result.json["unroutable"] == [{"name": "j0", "why": WHY}]
    assert result.err == f"infeasible: 1 job(s) cannot be routed, the first: j0, {WHY}\n"
    assert f"j0    {WHY}" in splitting("describe", instance).out


def test_describe_names_layers_that_fit_no_budget(splitting: Callable, instance: Path) -> None:
    nodes = [{"name": name, "rate": 1, "memory": 2.5} for name in "abc"]
    rewrite(instance, nodes=nodes)
    result = splitting("describe", instance, "--json")
    assert result.code == 0  # problem completion has no budgets
    assert [entry["name"] for entry in result.json["over_budget"]] == ["j0", "j1"]
    assert "fit no budget" in splitting("describe", instance).out


@pytest.mark.parametrize("changes", [{"jobs": []}, {"jobs": [], "links": []}])
def test_describe_without_jobs(splitting: Callable, instance: Path, changes: dict) -> None:
    rewrite(instance, **changes)
    assert splitting("describe", instance).code == 0
    assert splitting("describe", instance, "--json").json["unroutable"] == []


# run, compare


def test_run_shows_what_became_of_each_job(splitting: Callable, instance: Path) -> None:
    result = splitting("run", instance, "--policy", "first")
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    columns = ["job", "priority", "completion", "service", "waiting", "layers", "at", "way"]
    assert lines[0].split() == columns
    # All of j0 at a: 16/2 + 2/5 + 2/4, waiting for 4/2 + 1/5.
    assert lines[2].split() == ["j0", "1", "11.1", "8.9", "2.2", "1-2", "a", "a", "b", "c"]
    assert lines[3].split() == ["j1", "2", "0", "0", "0", "1", "b", "b"]
    assert "jobs: 2, nodes used: 2, links used: 2, jobs split over nodes: 0, hops: 2" in lines
    assert any(line.startswith("objective [s]: 11.1") for line in lines)


def test_run_writes_a_routing_that_the_audit_accepts(
    splitting: Callable, instance: Path, out: Path
) -> None:
    for policy, problem in (("first", "completion"), ("first-service", "service")):
        path = out / f"{policy}.json"
        answer = splitting("run", instance, "--policy", policy, "-o", path, "--json").json
        assert answer["solution"] == json.loads(path.read_text())
        assert answer["solution"]["problem"] == problem
        assert answer["objective"] == load_routing(path).objective
        audited = splitting("audit", instance, path, "--json")
        assert audited.code == 0
        assert audited.json["objective"] == pytest.approx(answer["objective"])
    table = splitting("run", instance, "--policy", "first-service").out.splitlines()
    assert table[2].split()[:5] == ["j0", "-", "-", "8.9", "-"]


def test_a_run_over_budget_is_told_and_exits_with_1(splitting: Callable, instance: Path) -> None:
    nodes = content()["nodes"]
    nodes[0]["memory"] = 1
    rewrite(instance, nodes=nodes)
    assert splitting("run", instance, "--policy", "first").code == 0
    result = splitting("run", instance, "--policy", "first-service")
    assert result.code == 1
    assert "warning: the audit found 1 violation(s)" in result.err
    assert "memory, node a, by 4" in result.err


def test_no_solution_is_an_answer_of_one_line(
    splitting: Callable, instance: Path, out: Path
) -> None:
    cut_off(instance)
    result = splitting("run", instance, "--policy", "first", "-o", out / "a.json")
    assert (result.code, result.out) == (1, "")
    assert result.err == f"no feasible solution: job j0: {WHY}\n"
    answer = splitting("run", instance, "--policy", "first", "--json", "-o", out / "a.json")
    assert answer.code == 1
    assert (answer.json["objective"], answer.json["solution"]) == (None, None)
    assert list(out.iterdir()) == []


def test_compare(splitting: Callable, instance: Path) -> None:
    names = "first,first-service"
    found = splitting("compare", instance, "--policies", names, "--seeds", 2, "--json")
    assert found.code == 0
    assert found.json["sense"] == "min"
    assert [row["policy"] for row in found.json["policies"]] == names.split(",")
    assert found.json["policies"][0]["objectives"] == pytest.approx([11.1, 11.1])
    cut_off(instance)
    result = splitting("compare", instance, "--policies", "first", "--seeds", 1, "--json")
    assert result.code == 1
    assert f"first, seed 0: no feasible solution: job j0: {WHY}\n" in result.err
    assert result.json["policies"][0]["objectives"] == [None]


# optimum


@pytest.mark.parametrize("problem", ["completion", "service"])
@pytest.mark.parametrize("suffix", ["lp", "mps"])
def test_optimum_writes_a_model_whose_optimum_it_finds(
    splitting: Callable, instance: Path, out: Path, problem: str, suffix: str
) -> None:
    model, routing = out / f"model.{suffix}", out / "a.json"
    arguments = ("--problem", problem, "--write-model", model, "-o", routing, "--json")
    found = splitting("optimum", instance, *arguments)
    assert (found.code, found.json["status"], found.json["sense"]) == (0, "optimal", "min")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(model))
    solver.run()
    assert solver.getInfo().objective_function_value == pytest.approx(found.json["upper"])
    written = load_routing(routing)
    assert written.policy == {"completion": "optimal", "service": "ilp"}[problem]
    assert written.objective == found.json["upper"]
    assert splitting("audit", instance, routing).code == 0


@pytest.mark.parametrize("problem", ["completion", "service"])
def test_optimum_of_an_instance_without_a_solution(
    splitting: Callable, instance: Path, out: Path, problem: str
) -> None:
    cut_off(instance)
    arguments = ("--problem", problem, "--write-model", out / "a.lp", "-o", out / "a.json")
    found = splitting("optimum", instance, *arguments, "--json")
    assert (found.code, found.json["status"]) == (1, "infeasible")
    assert (found.json["lower"], found.json["upper"]) == (None, None)
    assert found.err == "no feasible solution\n"
    assert [path.name for path in out.iterdir()] == ["a.lp"]
    assert "job j0 has no route" in splitting("optimum", instance, "--problem", problem).out


# audit, schema


def test_audit_names_what_is_violated(splitting: Callable, instance: Path, out: Path) -> None:
    path = out / "a.json"
    splitting("run", instance, "--policy", "first", "-o", path)
    routing = json.loads(path.read_text())
    routing["jobs"][0]["hops"][0][1] = 0
    path.write_text(json.dumps(routing))
    result = splitting("audit", instance, path, "--json")
    assert result.code == 1
    assert result.json["feasible"] is False
    assert {v["constraint"] for v in result.json["violations"]} == {"path", "statement"}
    shown = splitting("audit", instance, path)
    assert shown.code == 1
    assert f"violated: {len(result.json['violations'])}; objective [s] recomputed: " in shown.out


@pytest.mark.parametrize(
    ("option", "kind"), [((), "splitting"), (("--solution",), "splitting-routing")]
)
def test_schema_is_json_schema_of_the_file(splitting: Callable, option: tuple, kind: str) -> None:
    schema = splitting("schema", *option).json
    assert schema["properties"]["kind"]["const"] == kind
    assert {"kind", "version", "jobs"} <= set(schema["required"])
    if not option:
        assert "from" in schema["$defs"]["Link"]["properties"]
        assert "queue" not in schema["$defs"]["Link"]["required"]


def test_help_of_every_command(splitting: Callable) -> None:
    for command in ("generate", "describe", "run", "compare", "optimum", "audit", "plot"):
        assert splitting(command, "--help").code == 0
    assert "completion|service" in splitting("optimum", "--help").out


# Bad input: one line, exit 2, nothing written.


def check_refusal(result: Any, message: str) -> None:
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    assert message in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("generate --nodes 0 -o {out}/a", "'--nodes': Input should be greater than or equal to 1"),
        ("generate --jobs -1 -o {out}/a", "'--jobs': Input should be greater than or equal to 0"),
        ("generate --gamma 0 -o {out}/a", "--gamma: must be a number from 1e-06 to 1e+06 (got"),
        ("generate --gamma nan -o {out}/a", "--gamma: must be a number from"),
        ("generate --side -3 -o {out}/a", "--side: must be a number from"),
        ("generate --radius 1e9 -o {out}/a", "--radius: must be a number from"),
        ("generate --radius 0.01 -o {out}/a", "--radius: in 50000 draws of 20 points"),
        ("generate --models lenet -o {out}/a", "--models: must be one of alexnet, "),
        ("generate --models , -o {out}/a", '--models: must be one of alexnet, alexnet_torchvision'),
        ("generate --models cnn5,x -o {out}/a", '(got "x")'),
        ("generate", "Missing option '--output'"),
        ("run {instance} --policy best", '--policy: must be one of first, first-service (got'),
        ("run {instance} --policy first --set a=1", 'is not a parameter of first, which has none'),
        ("run {instance} --policy first --plot {out}/a.pdf", "--plot: must end in .png or .svg"),
        ("run {instance} --policy first -o {instance}", "-o: must not be the same file"),
        ("compare {instance} --policies first,first", "must name each policy once"),
        ("optimum {instance} --problem time -o {out}/a", "--problem: must be one of completion"),
        ("optimum {instance} --time-limit 0", "--time-limit: must be a positive, finite number"),
        ("optimum {instance} --write-model {out}/a.txt", "--write-model: must end in .lp or .mps"),
        ("audit {instance} {instance}", 'kind: must be "splitting-routing" (got "splitting")'),
        ("describe {out}/missing.json", "missing.json: cannot be read: No such file"),
    ],
)  # fmt: skip
def test_refusals(
    splitting: Callable, instance: Path, out: Path, arguments: str, message: str
) -> None:
    before = instance.read_bytes()
    words = [word.format(instance=instance, out=out) for word in arguments.split()]
    check_refusal(splitting(*words), message)
    assert instance.read_bytes() == before
    assert list(out.iterdir()) == []


BROKEN = [
    # Fields: missing, unknown, of another type.
    ('"rate": 2.0, ', "", "nodes[0].rate: is required"),
    ('"rate": 5.0, ', "", "links[0].rate: is required"),
    ('"input": 20, ', "", "jobs[0].input: is required"),
    ('"memory": 3', '"ram": 3', "jobs[0].layers[0].ram: is not a known field"),
    ('"rate": 2.0', '"rate": 2.0, "speed": 1', "nodes[0].speed: is not a known field"),
    ('"from": "a"', '"start": "a"', "links[0].start: is not a known field"),
    ('"rate": 2.0', '"rate": "2.0"', 'nodes[0].rate: must be a valid number (got "2.0")'),
    ('"rate": 2.0', '"rate": true', "nodes[0].rate: must be a valid number (got true)"),
    ('"name": "a"', '"name": 7', "nodes[0].name: must be a valid string (got 7)"),
    ('"queue": 4.0', '"queue": null', "nodes[0].queue: must be a valid number (got null)"),
    ('"input": 20', '"input": null', "jobs[0].input: must be a valid number (got null)"),
    ('"version": 1', '"version": 1.0', "version: must be 1 (got 1.0)"),
    ('"version": 1', '"version": 2', "version: must be 1 (got 2)"),
    ('"splitting"', '"training"', 'kind: must be "splitting" (got "training")'),
    # Numbers out of range.
    ('"rate": 2.0', '"rate": -2.0', "nodes[0].rate: must be greater than or equal to 0 (got -2.0)"),
    ('"rate": 4}', '"rate": -4}', "links[1].rate: must be greater than or equal to 0 (got -4"),
    ('"queue": 1.0', '"queue": -1.0', "links[0].queue: must be greater than or equal to 0"),
    ('"compute_budget": 50', '"compute_budget": -1', "nodes[0].compute_budget: must be greater"),
    ('"memory": 8', '"memory": -8', "nodes[0].memory: must be greater than or equal to 0"),
    ('"compute": 10', '"compute": -1', "jobs[0].layers[0].compute: must be greater than or equal"),
    ('"output": 2', '"output": -2', "jobs[0].layers[1].output: must be greater than or equal"),
    ('"input": 1.5', '"input": NaN', "jobs[1].input: must be a finite number"),
    ('"rate": 5.0', '"rate": Infinity', "links[0].rate: must be a finite number"),
    ('"rate": 5.0', '"rate": 1e999', "links[0].rate: must be a finite number"),
    ('"rate": 5.0', '"rate": 1e-308', "links[0].rate: is too small for the work that there is"),
    # Names.
    ('"name": "b", "rate"', '"name": "a", "rate"', "nodes[1].name: names must be unique"),
    ('"name": "bc"', '"name": "ab"', "links[1].name: names must be unique, but links[0]"),
    ('"name": "j1"', '"name": "j0"', "jobs[1].name: names must be unique, but jobs[0]"),
    ('"name": "a"', '"name": ""', "nodes[0].name: "),
    ('"name": "a"', '"name": " "', "nodes[0].name: must not be blank"),
    ('"from": "a"', '"from": "z"', 'links[0].from: is not a node of the network (got "z")'),
    ('"to": "c"', '"to": "z"', 'links[1].to: is not a node of the network (got "z")'),
    ('"to": "b"', '"to": "a"', 'links[0].to: must differ from the node it comes from (got "a")'),
    ('"source": "b"', '"source": "z"', 'jobs[1].source: is not a node of the network (got "z")'),
    ('"destination": "c"', '"destination": "z"', "jobs[0].destination: is not a node"),
    # Lists.
    ('"layers": [{"compute": 10, "output": 4, "memory": 3}]', '"layers": []',
     "jobs[1].layers: must have at least 1 item"),
    ('"layers": [{"compute": 10, "output": 4, "memory": 3}]', '"layers": null',
     "jobs[1].layers: must be a valid "),
    ('"kind"', '"kind": "splitting", "kind"', "kind: a key must not occur twice"),
    ("{", "[", "is not JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), BROKEN)
@pytest.mark.parametrize("command", ["describe {0}", "run {0} --policy first -o {1}/a --json"])
def test_broken_instances(
    splitting: Callable,
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
    result = splitting(*command.format(instance, out).split())
    check_refusal(result, f"error: {instance}: {message}")
    assert list(out.iterdir()) == []


BROKEN_ROUTINGS = [
    ('"problem": "completion"', '"problem": "time"', "problem: must be 'completion' or 'service'"),
    ('"policy": "first"', '"policy": ""', "policy: "),
    ('"priority": 1', '"priority": 1.0', "jobs[0].priority: must be a valid integer (got 1.0)"),
    ('"priority": 1', '"priority": "1"', "jobs[0].priority: must be a valid integer"),
    ('"priority": 1, ', "", "jobs[0].priority: is required"),
    ('"hops": [["ab", 2]', '"hops": [["ab", "2"]', "jobs[0].hops[0][1]: must be a valid integer"),
    ('"hops": [["ab", 2]', '"hops": [["ab"]', "jobs[0].hops[0][1]: is required"),
    ('"hops": [["ab", 2]', '"hops": [["ab", 2, 3]', "jobs[0].hops[0]"),
    ('"hops": [["ab", 2]', '"hops": [["zz", 2]',
     'jobs[0].hops[0][0]: is not a link of the instance (got "zz")'),
    ('"nodes": ["a", "a"]', '"nodes": ["a", "z"]',
     'jobs[0].nodes[1]: is not a node of the instance (got "z")'),
    ('"name": "j1"', '"name": "j7"', 'jobs[1].name: is not a job of the instance (got "j7")'),
    ('"name": "j1"', '"name": "j0"', "jobs[1].name: names must be unique"),
    ('"objective"', '"objectiv"', "objectiv: is not a known field"),
    ('"version": 1', '"version": "1"', 'version: must be 1 (got "1")'),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), BROKEN_ROUTINGS)
def test_broken_routings(
    splitting: Callable, instance: Path, out: Path, old: str, new: str, message: str
) -> None:
    path = out / "routing.json"
    splitting("run", instance, "--policy", "first", "-o", path)
    text = json.dumps(json.loads(path.read_text()))
    assert old in text
    path.write_text(text.replace(old, new, 1))
    check_refusal(splitting("audit", instance, path, "--json"), f"error: {path}: {message}")


def test_a_routing_without_a_job(splitting: Callable, instance: Path, out: Path) -> None:
    path = out / "routing.json"
    splitting("run", instance, "--policy", "first", "-o", path)
    routing = json.loads(path.read_text())
    path.write_text(json.dumps(routing | {"jobs": routing["jobs"][:1]}))
    result = splitting("audit", instance, path)
    check_refusal(result, 'jobs: every job of the instance must be listed (got "j1")')


def test_the_family_is_registered() -> None:
    from experiments.cli.main import FAMILIES

    assert SPLITTING in FAMILIES
