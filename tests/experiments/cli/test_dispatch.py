"""The dispatch family on the command line: what each command answers, writes and refuses."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import highspy
import pytest

from experiments.cli.dispatch import DISPATCH
from models.dispatch import load_instance, load_schedule
from models.dispatch.generator import generate

ROW = "{} {} -1 {} 2 -1 -1 3 {} -1 1 1 1 1 1 1 -1 -1"


def job(name: str, cores: int = 4, **changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = {"name": name, "submit": 0, "duration": 60, "expected_wait": 60}
    return base | {"power": 10.0 * cores, "units": [{"cores": cores}]} | changes


def content(**changes: Any) -> dict[str, Any]:
    """An instance file: two nodes, a cap, three jobs that run in turn and one that never can."""
    base: dict[str, Any] = {
        "kind": "dispatch",
        "version": 1,
        "resources": ["cores", "gpus"],
        "power_cap": 300.0,
        "nodes": [
            {"name": "n0", "capacity": {"cores": 8, "gpus": 1}, "idle_power": 100.0},
            {"name": "n1", "capacity": {"cores": 8}, "idle_power": 50.5},
        ],
        "jobs": [
            job("a", 8, queue="debug", runtime=30, actual_power=90.0),
            job("b", 8),
            job("c", 2, submit=7, runtime=90),
            job("huge", 9),
        ],
    }
    return base | changes


@pytest.fixture
def dispatch(cli: Callable) -> Callable:
    """Run ``schedlab dispatch``."""
    return lambda *arguments: cli("dispatch", *arguments, families=(DISPATCH,))


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    path = folder / "instance.json"
    path.write_text(json.dumps(content()))
    return path


def rewrite(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def log(path: Path, rows: int = 3, end: str = "\n") -> Path:
    lines = ["; Version: 2.2", *(ROW.format(k + 1, 5 * k, 40, 60) for k in range(rows))]
    path.write_bytes((end.join(lines) + end).encode())
    return path


# generate, import, describe


def test_generate_writes_what_the_generator_draws(dispatch: Callable, out: Path) -> None:
    arguments = ("--nodes", 5, "--jobs", 7, "--cap", "50%", "--span", 90, "--seed", 3)
    result = dispatch("generate", *arguments, "-o", out / "a.json")
    assert (result.code, result.err) == (0, "")
    expected = generate(5, 7, cap="50%", span=90, seed=3).instance
    assert load_instance(out / "a.json") == expected
    assert result.out.startswith("seed 3: 5 nodes, 7 jobs")
    dispatch("generate", *arguments, "-o", out / "b.json")
    assert (out / "a.json").read_bytes() == (out / "b.json").read_bytes()


def test_import_reads_any_line_ends_and_gzip_alike(dispatch: Callable, out: Path) -> None:
    log(out / "unix.swf")
    log(out / "windows.swf", end="\r\n")
    (out / "packed.swf.gz").write_bytes(gzip.compress((out / "unix.swf").read_bytes()))
    written = []
    for name in ("unix.swf", "windows.swf", "packed.swf.gz"):
        arguments = ("--nodes", 4, "--cores-per-node", 2, "--cap", "50%")
        result = dispatch("import", out / name, *arguments, "-o", out / "i.json")
        assert (result.code, result.err) == (0, "")
        assert "rows: 3, usable: 3, jobs: 3, dropped: 0" in result.out
        written.append((out / "i.json").read_bytes())
    assert written[0] == written[1] == written[2]


def test_import_counts_and_lists_what_it_drops(dispatch: Callable, out: Path) -> None:
    path = log(out / "cut.swf")
    path.write_bytes(path.read_bytes()[:-20])  # the last row is truncated
    arguments = ("import", path, "--nodes", 4, "--cores-per-node", 2, "-o", out / "i.json")
    found = dispatch(*arguments, "--json").json
    assert found == {"jobs": 2, "dropped": [{"line": 4, "reason": "has 10 fields instead of 18"}]}
    assert "dropped, has 10 fields instead of 18: 1 (line 4)" in dispatch(*arguments).out
    assert len(load_instance(out / "i.json").jobs) == 2
    assert dispatch(*arguments, "--limit", 1, "--json").json["jobs"] == 1


def test_describe_names_what_is_impossible_and_why(dispatch: Callable, instance: Path) -> None:
    found = dispatch("describe", instance, "--json").json
    assert (found["nodes"], found["jobs"], found["units"], found["possible"]) == (2, 4, 4, 3)
    assert found["impossible"] == [{"name": "huge", "why": "unit 0 (9 cores) fits no node"}]
    assert found["infeasible"] is None
    shown = dispatch("describe", instance)
    assert (shown.code, shown.err) == (0, "")
    assert "power cap: 300 W, idle system: 150.5 W" in shown.out


IDLE = "the idle system draws 150.5 W, above the cap of 100 W"


def test_a_cap_below_the_idle_system_is_an_answer(
    dispatch: Callable, instance: Path, out: Path
) -> None:
    rewrite(instance, power_cap=100.0)
    described = dispatch("describe", instance, "--json")
    assert (described.code, described.json["infeasible"]) == (1, IDLE)
    assert described.err == f"infeasible: {IDLE}\n"
    for policy in ("prb", "fcfs", "easy", "hybrid"):
        for simulate in ((), ("--simulate",)):
            arguments = ("--policy", policy, *simulate, "-o", out / "a.json")
            result = dispatch("run", instance, *arguments)
            assert (result.code, result.out) == (1, "")
            assert result.err == f"no feasible solution: {IDLE}\n"
    found = dispatch("optimum", instance, "--json", "-o", out / "a.json")
    assert (found.code, found.json["status"]) == (1, "infeasible")
    assert list(out.iterdir()) == []


@pytest.mark.parametrize("simulate", [(), ("--simulate",)])
def test_no_jobs(dispatch: Callable, instance: Path, out: Path, simulate: tuple) -> None:
    rewrite(instance, jobs=[])
    assert dispatch("describe", instance).code == 0
    found = dispatch("run", instance, "--policy", "easy", *simulate, "-o", out / "a.json", "--json")
    assert (found.code, found.json["objective"]) == (0, 0.0)
    assert dispatch("audit", instance, out / "a.json").code == 0
    assert dispatch("plot", instance, out / "a.json", "-o", out / "a.svg").code == 0
    assert dispatch("optimum", instance, "--json").json["status"] == "optimal"


# run, compare


def test_run_plans_with_estimates_and_simulates_with_what_is_real(
    dispatch: Callable, instance: Path, out: Path
) -> None:
    def ends(*more: Any) -> list[tuple[Any, Any]]:
        answer = dispatch("run", instance, "--policy", "fcfs", "-o", out / "a.json", *more)
        assert (answer.code, answer.err) == (0, "")
        assert dispatch("audit", instance, out / "a.json").code == 0
        return [(entry.start, entry.end) for entry in load_schedule(out / "a.json").jobs]

    never = (None, None)
    assert ends() == [(0, 60), (60, 120), (60, 120), never]
    assert ends("--simulate") == [(0, 30), (30, 90), (30, 90), never]
    assert ends("--simulate", "--overrun", "extended") == [(0, 30), (30, 90), (30, 120), never]


def test_run_tells_why_jobs_wait(dispatch: Callable, instance: Path) -> None:
    result = dispatch("run", instance, "--policy", "fcfs", "--simulate")
    lines = result.out.splitlines()
    assert lines[0].split() == ["job", "queue", "submit", "start", "end", "waited", "for", "nodes"]
    assert lines[3].split() == ["b", "-", "0", "30", "90", "30", "power", "30", "n1"]
    assert lines[4].split() == ["c", "-", "7", "30", "90", "23", "priority", "23", "n0"]
    assert lines[5].endswith("impossible: unit 0 (9 cores) fits no node")
    assert "waited for: resource 0 s, power 30 s, priority 23 s" in lines
    answer = dispatch("run", instance, "--policy", "fcfs", "--simulate", "--json").json
    unset = dict.fromkeys(("overrun", "margin", "depth", "budget"))
    assert answer["options"] == {"simulate": True, **unset}
    assert answer["counters"]["killed"] == 1
    assert answer["solution"]["mode"] == "simulated"


def test_the_same_seed_gives_the_same_bytes(dispatch: Callable, instance: Path, out: Path) -> None:
    for policy in ("prb", "fcfs", "easy", "hybrid"):
        for name in ("a", "b"):
            dispatch("run", instance, "--policy", policy, "--simulate", "-o", out / name)
        assert (out / "a").read_bytes() == (out / "b").read_bytes()


def test_compare_and_plot(dispatch: Callable, instance: Path, out: Path) -> None:
    names = "prb,fcfs,easy"
    arguments = ("compare", instance, "--policies", names, "--seeds", 1, "--simulate", "--json")
    found = dispatch(*arguments)
    assert (found.code, found.json["sense"]) == (0, "min")
    assert [row["policy"] for row in found.json["policies"]] == names.split(",")
    dispatch("run", instance, "--policy", "prb", "-o", out / "a.json", "--plot", out / "a.svg")
    assert (out / "a.svg").read_text().count("<svg") == 1


# optimum, audit, schema


@pytest.mark.parametrize("suffix", ["lp", "mps"])
def test_optimum_writes_a_model_whose_optimum_it_finds(
    dispatch: Callable, instance: Path, out: Path, suffix: str
) -> None:
    jobs = [job("a", 8, duration=3), job("b", 8, duration=2, expected_wait=30), job("c", 2)]
    rewrite(instance, jobs=jobs, power_cap=240.0)
    model, schedule = out / f"model.{suffix}", out / "a.json"
    found = dispatch("optimum", instance, "--write-model", model, "-o", schedule, "--json")
    assert (found.code, found.json["status"], found.json["sense"]) == (0, "optimal", "min")
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(model))
    solver.run()
    assert solver.getInfo().objective_function_value == pytest.approx(found.json["upper"])
    assert found.json["lower"] == found.json["upper"] == load_schedule(schedule).objective
    assert dispatch("audit", instance, schedule).code == 0


def test_audit_names_what_is_violated(dispatch: Callable, instance: Path, out: Path) -> None:
    path = out / "a.json"
    dispatch("run", instance, "--policy", "prb", "-o", path)
    schedule = json.loads(path.read_text())
    schedule["jobs"][1] |= {"start": 0, "end": 60, "nodes": ["n0"]}
    schedule["jobs"][0] |= {"start": 0, "end": 60, "nodes": ["n0"]}
    path.write_text(json.dumps(schedule))
    result = dispatch("audit", instance, path, "--json")
    assert (result.code, result.json["feasible"]) == (1, False)
    found = {violation["constraint"] for violation in result.json["violations"]}
    assert found >= {"capacity", "power", "statement"}


def test_schema_and_help(dispatch: Callable) -> None:
    for option, kind in (((), "dispatch"), (("--solution",), "dispatch-schedule")):
        schema = dispatch("schema", *option).json
        assert schema["properties"]["kind"]["const"] == kind
    for command in ("generate", "import", "run", "compare", "optimum", "audit", "plot"):
        assert dispatch(command, "--help").code == 0
    assert "--simulate" in dispatch("run", "--help").out
    assert "easy" in dispatch("policies").out


# Bad input: one line, exit 2, nothing written.


def check_refusal(result: Any, message: str) -> None:
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    assert message in result.err


SYSTEM = "--nodes 2 --cores-per-node 2"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("generate --nodes 0 -o {out}/a", "--nodes"),
        ("generate --jobs -1 -o {out}/a", "--jobs"),
        ("generate --cap much -o {out}/a", "--cap: must be watts, per cent such as 50%, or none"),
        ("generate --cap nan -o {out}/a", '--cap: must be watts, per cent such as 50%, or none'),
        ("generate --cap -5% -o {out}/a", "--cap"),
        ("generate --span 99999999999 -o {out}/a", "--span: must be at most 10000000000"),
        ("generate", "Missing option '--output'"),
        ("run {instance} --policy best", "--policy: must be one of prb, "),
        ("run {instance} --policy fcfs --set a=1", "is not a parameter of fcfs, which has none"),
        ("run {instance} --policy prb --set jobs=best", "--set: jobs: must be 'urgency', "),
        ("run {instance} --policy prb --margin 0.1", "--margin: goes with --simulate only"),
        ("run {instance} --policy prb --depth 3", "--depth: goes with --simulate only (got 3)"),
        ("run {instance} --policy prb --simulate --depth 0", "--depth: must be greater than or"),
        ("run {instance} --policy prb --simulate --margin -1", "--margin: must be greater than"),
        ("run {instance} --policy prb --simulate --margin nan", "--margin: must be a finite"),
        ("run {instance} --policy prb --simulate --margin inf", "--margin: must be a finite"),
        ("run {instance} --policy prb --simulate --budget 9", "--budget: goes with the hybrid"),
        ("run {instance} --policy hybrid --budget 9", "--budget: goes with --simulate only"),
        ("run {instance} --policy hybrid --simulate --budget -1", "--budget: must be greater than"),
        ("run {instance} --policy prb --simulate --overrun no", "--overrun: must be 'killed' or"),
        ("run {instance} --policy prb -o {instance}", "-o: must not be the same file"),
        ("optimum {instance} --time-limit 0", "--time-limit: must be a positive, finite number"),
        ("optimum {instance} --write-model {out}/a.txt", "--write-model: must end in .lp or .mps"),
        ("audit {instance} {instance}", 'kind: must be "dispatch-schedule" (got "dispatch")'),
        ("describe {out}/missing.json", "missing.json: cannot be read: No such file"),
        (f"import {{out}}/no.swf {SYSTEM} -o {{out}}/a", "no.swf: cannot be read: No such file"),
        (f"import {{instance}} {SYSTEM} -o {{out}}/a", "instance.json: is not an SWF log: line 1"),
        (f"import {{log}} {SYSTEM} -o {{log}}", "-o: must not be the same file as an input file"),
        (f"import {{log}} {SYSTEM} --cap 1e99 -o {{out}}/a", "--cap: must be watts, per cent"),
        (f"import {{log}} {SYSTEM} --memory 0 -o {{out}}/a", "--memory: must be a positive"),
        (f"import {{log}} {SYSTEM} --limit 0 -o {{out}}/a", "--limit"),
        ("import {log} --nodes 0 --cores-per-node 2 -o {out}/a", "--nodes"),
        (f"import {{cut}} {SYSTEM} -o {{out}}/a", "cut.swf.gz: is a gzip file that is cut off"),
    ],
)  # fmt: skip
def test_refusals(
    dispatch: Callable, instance: Path, out: Path, arguments: str, message: str
) -> None:
    files = {"instance": instance, "out": out, "log": log(instance.with_name("log.swf"))}
    files["cut"] = instance.with_name("cut.swf.gz")
    files["cut"].write_bytes(gzip.compress(files["log"].read_bytes())[:-9])
    before = instance.read_bytes()
    check_refusal(dispatch(*[word.format(**files) for word in arguments.split()]), message)
    assert instance.read_bytes() == before
    assert list(out.iterdir()) == []


BROKEN = [
    ('"submit": 7', '"submit": -7', "jobs[2].submit: must be greater than or equal to 0 (got -7)"),
    ('"submit": 7', '"submit": 7.0', "jobs[2].submit: must be a valid integer (got 7.0)"),
    ('"duration": 60', '"duration": 0', "jobs[0].duration: must be greater than or equal to 1"),
    ('"runtime": 30', '"runtime": 0', "jobs[0].runtime: must be greater than or equal to 1"),
    ('"expected_wait": 60', '"expected_wait": 0', "jobs[0].expected_wait: must be greater than"),
    ('"power": 80.0', '"power": -1', "jobs[0].power: must be greater than or equal to 0"),
    ('"power": 80.0', '"power": NaN', "jobs[0].power: must be a finite number"),
    ('"power_cap": 300.0', '"power_cap": "300"', "power_cap: must be a valid number"),
    ('"power_cap": 300.0', '"power_cap": Infinity', "power_cap: must be a finite number"),
    (', "idle_power": 100.0', "", "nodes[0].idle_power: is required"),
    ('"idle_power": 100.0', '"idle_power": -1', "nodes[0].idle_power: must be greater than"),
    ('"units": [{"cores": 8}]', '"units": []', "jobs[0].units: must have at least 1 item"),
    ('{"cores": 8}]', '{"cpus": 8}]', "jobs[0].units[0]: is not a declared resource (got"),
    ('{"cores": 8}]', '{"cores": -8}]', "jobs[0].units[0].cores: must be greater than or equal"),
    ('"name": "b"', '"name": "a"', "jobs[1].name: names must be unique, but jobs[0]"),
    ('"name": "n1"', '"name": "n0"', "nodes[1].name: names must be unique"),
    ('"gpus"]', '"cores"]', "resources[1]: must be declared once"),
    ('"version": 1', '"version": 2', "version: must be 1 (got 2)"),
    ('"queue": "debug"', '"kueue": "debug"', "jobs[0].kueue: is not a known field"),
    ("{", "[", "is not JSON"),
]


@pytest.mark.parametrize(("old", "new", "message"), BROKEN)
@pytest.mark.parametrize("command", ["describe {0}", "run {0} --policy prb -o {1}/a --json"])
def test_broken_instances(
    dispatch: Callable, instance: Path, out: Path, command: str, old: str, new: str, message: str
) -> None:
    text = instance.read_text()
    assert old in text
    instance.write_text(text.replace(old, new, 1))
    check_refusal(dispatch(*command.format(instance, out).split()), message)
    assert list(out.iterdir()) == []
