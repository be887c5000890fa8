"""What the commands of a family answer, in both forms, and what they write."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.cli.families import Bounds, Description, Family, Generated
from experiments.cli.training import TRAINING
from models.training import TrainingInstance, load_instance, load_schedule
from models.training.generator import generate

STUB = ("--policy", "stub")


# generate


def test_generate_writes_what_the_generator_draws(cli: Callable, out: Path) -> None:
    result = cli("training", "generate", "--jobs", 3, "--seed", 7, "-o", out / "a.json")
    assert result.code == 0
    assert load_instance(out / "a.json") == generate(3, 10, 4, seed=7).instance
    assert result.out.startswith("preset calibrated, mix default, seed 7: 3 jobs, 10 slots, 4 mach")
    assert result.err == ""


def test_generate_passes_every_option_on(cli: Callable, out: Path) -> None:
    result = cli(
        *("training", "generate", "--jobs", 2, "--slots", 6, "--machines", 3),
        *("--preset", "paper", "--mix", "google", "--locality", 2.5, "-o", out / "a.json"),
    )
    assert result.code == 0
    expected = generate(2, 6, 3, preset="paper", mix="google", locality=2.5).instance
    assert load_instance(out / "a.json") == expected


def test_generate_reads_arrivals_of_a_trace(cli: Callable, out: Path) -> None:
    rows = [f"{1_000_000 * k},,{k},0,user,{k % 4},name,logical" for k in range(1, 30)]
    (out / "trace.csv").write_text("\n".join(rows))
    result = cli(
        *("training", "generate", "--arrivals", out / "trace.csv", "--jobs", 5),
        *("-o", out / "a.json"),
    )
    assert result.code == 0
    assert "trace.csv" in result.out
    assert len(load_instance(out / "a.json").jobs) == 5


def test_equal_options_and_seed_give_equal_bytes(cli: Callable, out: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        cli("training", "generate", "--seed", seed, "-o", out / name)
    contents = {name: (out / name).read_bytes() for name in "abc"}
    assert contents["a"] == contents["b"] != contents["c"]


# describe


def test_describe_names_what_is_impossible_and_why(cli: Callable, instance: Path) -> None:
    found = cli("training", "describe", instance, "--json").json
    assert (found["jobs"], found["possible"], found["machines"], found["slots"]) == (3, 2, 2, 3)
    (impossible,) = found["impossible"]
    assert impossible["name"] == "huge"
    assert impossible["why"].startswith("needs 250 slots alone")
    resource = found["resources"][0]
    assert (resource["name"], resource["capacity"], resource["largest_worker"]) == ("gpu", 16, 1)
    units = {quantity["name"]: quantity["unit"] for quantity in found["quantities"]}
    assert units["gradient"] == "MB"
    shown = cli("training", "describe", instance)
    assert shown.code == 0
    assert "slots: 3, machines: 2, jobs: 3, possible: 2" in shown.out
    assert f"huge  {impossible['why']}" in shown.out


def test_describe_an_instance_without_jobs(cli: Callable, instance: Path) -> None:
    content = json.loads(instance.read_text())
    instance.write_text(json.dumps({**content, "jobs": []}))
    assert cli("training", "describe", instance).code == 0
    assert cli("training", "describe", instance, "--json").json["impossible"] == []


# run


def test_run_answers_with_exactly_these_keys(cli: Callable, instance: Path, out: Path) -> None:
    result = cli(
        *("training", "run", instance, *STUB, "--set", "workers=2", "--set", "share=0.5"),
        *("--seed", 3, "--json", "-o", out / "a.json"),
    )
    answer = result.json
    assert list(answer) == [
        *("policy", "objective", "seconds", "seed", "options", "counters", "solution")
    ]
    assert result.code == 0
    assert result.err == ""
    assert answer["policy"] == "stub"
    assert answer["seed"] == 3
    assert answer["options"] == {"workers": 2, "share": 0.5, "strict": True, "mode": "up"}
    assert answer["counters"] == {"draws": 1}
    assert answer["objective"] == answer["solution"]["objective"] == pytest.approx(10.0)
    assert answer["seconds"] >= 0
    assert answer["solution"] == json.loads((out / "a.json").read_text())


def test_run_shows_what_became_of_each_job(cli: Callable, instance: Path) -> None:
    lines = cli("training", "run", instance, *STUB).out.splitlines()
    assert lines[0].split() == [
        *("job", "arrival", "completion", "utility", "outcome", "slots", "workers", "machines")
    ]
    rows = [line.split() for line in lines[2:5]]
    assert [row[0] for row in rows] == ["j0", "j1", "huge"]
    assert [row[4] for row in rows] == ["completed", "unfinished", "impossible"]
    assert "jobs: 3, completed: 1, unfinished: 1, impossible: 1" in lines
    assert any(line.startswith("total utility: 5") for line in lines)


def test_run_explains_decisions_that_are_in_the_log(cli: Callable, instance: Path) -> None:
    result = cli("training", "run", instance, "--policy", "pdors", families=(TRAINING,))
    heading = result.out.splitlines()[0].split()
    assert heading[-4:] == ["payoff", "LPs", "draws", "seconds"]
    assert "lps_solved:" in result.out


@pytest.mark.parametrize("policy", ["stub", "pdors"])
def test_equal_runs_write_equal_bytes(
    cli: Callable, instance: Path, out: Path, family: Family, policy: str
) -> None:
    families = (family if policy == "stub" else TRAINING,)
    for name in "ab":
        for form in ("json", "svg", "png"):
            arguments = ("--plot" if form != "json" else "-o", out / f"{name}.{form}")
            cli("training", "run", instance, "--policy", policy, *arguments, families=families)
    for form in ("json", "svg", "png"):
        assert (out / f"a.{form}").read_bytes() == (out / f"b.{form}").read_bytes()
    assert "seconds" not in (out / "a.json").read_text()


def test_a_seed_reaches_the_policy(cli: Callable, instance: Path) -> None:
    machines = {
        cli("training", "run", instance, *STUB, "--seed", seed, "--json").json["solution"]["jobs"][
            0
        ]["allocation"][0]["machine"]
        for seed in range(20)
    }
    assert machines == {"m0", "m1"}


def test_a_run_that_breaks_a_constraint_is_told_and_exits_with_1(
    cli: Callable, instance: Path, out: Path
) -> None:
    result = cli(
        "training", "run", instance, "--policy", "overload", "--json", "-o", out / "a.json"
    )
    assert result.code == 1
    assert "warning: the audit found" in result.err
    assert result.json["policy"] == "overload"
    assert cli("training", "audit", instance, out / "a.json").code == 1


def test_a_run_without_a_solution_exits_with_1(cli: Callable, instance: Path, out: Path) -> None:
    result = cli("training", "run", instance, "--policy", "give-up", "--json", "-o", out / "a.json")
    assert result.code == 1
    assert result.json["objective"] is None
    assert result.json["solution"] is None
    assert "no feasible solution" in result.err
    assert list(out.iterdir()) == []


# audit


@pytest.fixture
def solution(cli: Callable, instance: Path, out: Path) -> Path:
    path = out / "solution.json"
    assert cli("training", "run", instance, *STUB, "--set", "workers=2", "-o", path).code == 0
    return path


def test_audit_of_a_sound_schedule(cli: Callable, instance: Path, solution: Path) -> None:
    result = cli("training", "audit", instance, solution, "--json")
    assert result.code == 0
    assert result.json == {"feasible": True, "objective": pytest.approx(10.0), "violations": []}
    assert cli("training", "audit", instance, solution).out == ("feasible, total utility: 10\n")


def test_audit_of_a_broken_schedule(cli: Callable, instance: Path, solution: Path) -> None:
    content = json.loads(solution.read_text())
    content["jobs"][0]["allocation"][0]["workers"] = 100
    content["jobs"][1]["utility"] = 7.0
    solution.write_text(json.dumps(content))
    result = cli("training", "audit", instance, solution, "--json")
    assert result.code == 1
    assert result.json["feasible"] is False
    found = {violation["constraint"] for violation in result.json["violations"]}
    assert {"batch", "capacity", "ratio", "statement"} <= found
    assert all(list(v) == ["constraint", "where", "amount"] for v in result.json["violations"])
    shown = cli("training", "audit", instance, solution)
    assert shown.code == 1
    assert f"violated: {len(result.json['violations'])}" in shown.out


# plot, policies, schema


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.SVG", b"<?xml")])
def test_plot_draws(
    cli: Callable, instance: Path, solution: Path, out: Path, name: str, start: bytes
) -> None:
    assert cli("training", "plot", instance, solution, "-o", out / name).code == 0
    assert (out / name).read_bytes().startswith(start)


def test_policies_show_parameters_with_defaults_and_units(cli: Callable) -> None:
    shown = cli("training", "policies").out
    assert "stub: places each job once" in shown
    assert "    workers=1  workers of each job (whole number, >= 1, <= 50)" in shown
    assert "    share=null  a share [1/slot] (number or null, > 0, < 1)" in shown
    assert "    strict=true  (true|false)" in shown
    entries = {
        entry["policy"]: entry for entry in cli("training", "policies", "--json").json["policies"]
    }
    assert entries["crash"]["parameters"] == []
    assert entries["stub"]["parameters"][0]["default"] == 1


def test_every_parameter_of_the_real_policies_is_described(cli: Callable) -> None:
    found = cli("training", "policies", "--json", families=(TRAINING,)).json["policies"]
    assert {entry["policy"] for entry in found} >= {"pdors"}
    for entry in found:
        assert entry["summary"]
        assert all(parameter["description"] for parameter in entry["parameters"])


@pytest.mark.parametrize(
    ("option", "kind"), [((), "training"), (("--solution",), "training-schedule")]
)
def test_schema_is_json_schema_of_the_file(cli: Callable, option: tuple, kind: str) -> None:
    schema = cli("training", "schema", *option).json
    assert schema["properties"]["kind"]["const"] == kind
    assert schema["required"][:2] == ["kind", "version"]
    assert schema["additionalProperties"] is False
    assert "jobs" in schema["required"]


# compare


def test_compare_shows_means_with_intervals(cli: Callable, instance: Path) -> None:
    found = cli(
        "training", "compare", instance, "--policies", "stub,chatter", "--seeds", 3, "--json"
    ).json
    assert (found["sense"], found["seeds"]) == ("max", 3)
    stub, chatter = found["policies"]
    assert (stub["policy"], chatter["policy"]) == ("stub", "chatter")
    assert stub["objectives"] == [stub["mean"]] * 3
    assert stub["low"] == stub["mean"] == stub["high"]
    assert (stub["counts"]["completed"], chatter["counts"]["completed"]) == (1, 0)


def test_compare_with_one_seed_has_no_interval(cli: Callable, instance: Path) -> None:
    arguments = ("training", "compare", instance, "--policies", "stub", "--seeds", 1)
    (row,) = cli(*arguments, "--json").json["policies"]
    assert row["low"] is row["high"] is None
    line = cli(*arguments).out.splitlines()[-1].split()
    assert line[0] == "stub"
    assert line[2:4] == ["-", "-"]


def test_compare_tells_what_fails(cli: Callable, instance: Path) -> None:
    result = cli(
        "training", "compare", instance, "--policies", "stub,give-up,overload", "--seeds", 1
    )
    assert result.code == 1
    assert "give-up, seed 0: no feasible solution" in result.err
    assert "warning: the audit found" in result.err
    assert "stub" in result.out


# optimum


def test_optimum_answers_with_exactly_these_keys(cli: Callable, instance: Path, out: Path) -> None:
    result = cli("training", "optimum", instance, "--json", "-o", out / "a.json")
    assert result.code == 0
    assert result.json == {
        "sense": "max",
        "status": "bounded",
        "lower": pytest.approx(10.0),
        "upper": None,
        "seconds": 0.25,
    }
    assert load_schedule(out / "a.json").objective == result.json["lower"]
    assert "between 10 and ?" in cli("training", "optimum", instance).out


def test_the_real_optimum_is_proved_and_written(cli: Callable, instance: Path, out: Path) -> None:
    arguments = ("training", "optimum", instance, "--time-limit", 20, "-o", out / "a.json")
    result = cli(*arguments, "--json", families=(TRAINING,))
    assert result.code == 0
    assert result.json["status"] == "optimal"
    # Both jobs that are possible can be done in slot 0, and their utility is always 10 / 2.
    assert result.json["lower"] == pytest.approx(10.0)
    assert result.json["upper"] == pytest.approx(10.0)
    assert load_schedule(out / "a.json").objective == result.json["lower"]
    assert "starting from pdors's schedule" in result.err
    shown = cli(*arguments, families=(TRAINING,)).out.splitlines()
    assert shown[0].startswith("optimal after ")
    assert shown[1] == "largest total utility: 10, proved"
    assert shown[2].startswith("method: ")


def test_a_warm_start_that_would_take_too_long_is_left_out(
    cli: Callable, instance: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.cli.training.WARM_SECONDS", 1e6)
    result = cli("training", "optimum", instance, "--json", families=(TRAINING,))
    assert (result.code, result.json["status"]) == (0, "optimal")
    assert "starting from" not in result.err


def test_no_feasible_solution_exits_with_1(
    cli: Callable, instance: Path, out: Path, family: Family
) -> None:
    def none(_instance: TrainingInstance, _limit: float, _seed: int) -> Bounds:
        return Bounds("infeasible", None, None, None, 0.1)

    families = (replace(family, optimum=none, sense="min"),)
    result = cli("training", "optimum", instance, "--json", "-o", out / "a.json", families=families)
    assert result.code == 1
    assert result.json == {
        "sense": "min",
        "status": "infeasible",
        "lower": None,
        "upper": None,
        "seconds": 0.1,
    }
    assert list(out.iterdir()) == []
    assert "no feasible solution" in result.err


@pytest.mark.parametrize("name", ["a.lp", "a.mps", "a.LP"])
def test_optimum_writes_the_exact_model(
    cli: Callable, instance: Path, out: Path, name: str
) -> None:
    import highspy

    assert cli("training", "optimum", instance, "--write-model", out / name).code == 0
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    path = out / name.lower()
    (out / name).rename(path)
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    solver.run()
    # Both jobs that are possible can be done at once, in slot 0: 2 * 10 / (1 + e^0).
    assert solver.getObjectiveValue() == pytest.approx(10.0)


# a family's own


def test_an_infeasible_instance_is_said_so(cli: Callable, instance: Path, family: Family) -> None:
    def describe(_instance: object) -> Description:
        return Description({"infeasible": "a cap"}, [("", "text")], "a cap below idle power")

    result = cli("training", "describe", instance, families=(replace(family, describe=describe),))
    assert (result.code, result.out) == (1, "text\n")
    assert result.err == "infeasible: a cap below idle power\n"


def test_a_family_adds_options_to_each_command_and_commands(
    cli: Callable, instance: Path, out: Path, family: Family
) -> None:
    seen: dict[str, object] = {}

    def draw(seed: int, *, colour: str = "red") -> Generated:
        seen["generate"] = (seed, colour)
        return Generated(load_instance(instance), ["drawn"])

    def run(policy, loaded, parameters, seed, *, simulate: bool = False):
        seen["run"] = simulate
        return policy.run(loaded, parameters, seed)

    def optimum(_loaded, limit: float, _seed: int, *, problem: str = "completion") -> Bounds:
        seen["optimum"] = (limit, problem)
        return Bounds("optimal", 0.0, 0.0, None, 0.0)

    def formulation(_loaded, path: Path, *, problem: str) -> None:
        seen["formulation"] = (path.name, problem)

    def redraw(loaded, seed: int):
        seen.setdefault("redraw", []).append(seed)  # type: ignore[attr-defined]
        return loaded

    def more() -> int:
        return 1

    own = replace(
        family,
        name="own",
        generate=draw,
        run=run,
        optimum=optimum,
        write_formulation=formulation,
        redraw=redraw,
        commands={"import": more},
    )

    def command(*arguments: object) -> int:
        return cli("own", *arguments, families=(family, own)).code

    assert command("generate", "--colour", "blue", "--seed", 4, "-o", out / "a.json") == 0
    assert seen["generate"] == (4, "blue")
    result = cli("own", "run", instance, *STUB, "--simulate", "--json", families=(own,))
    assert seen["run"] is True
    assert result.json["options"]["simulate"] is True
    assert command("compare", instance, "--policies", "stub", "--seeds", 2) == 0
    assert (seen["run"], seen["redraw"]) == (False, [0, 1])
    arguments = ("--problem", "service", "--time-limit", 2, "--write-model", out / "a.lp")
    assert command("optimum", instance, *arguments) == 0
    assert (seen["optimum"], seen["formulation"]) == ((2.0, "service"), ("a.lp", "service"))
    assert command("import") == 1
    # The other family has none of it.
    assert cli("training", "run", instance, *STUB, "--simulate").code == 2
    assert cli("training", "import").code == 2
