"""The multiserver family on the command line: what each command answers and writes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.cli.multiserver import MULTISERVER
from models.data import data_file
from models.google_table import TABLE
from models.multiserver import arrival_table, load_instance, load_run
from models.multiserver.generator import generate
from tests.experiments.cli.multiserver_kit import content

BASELINES = ("fairness", "drf", "binpacking", "spreading")


@pytest.fixture
def multiserver(cli: Callable) -> Callable:
    """Run ``schedlab multiserver``."""
    return lambda *arguments: cli("multiserver", *arguments, families=(MULTISERVER,))


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    path = folder / "instance.json"
    path.write_text(json.dumps(content()))
    return path


def rewrite(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


# generate


def test_generate_writes_what_the_generator_draws(multiserver: Callable, out: Path) -> None:
    result = multiserver("generate", "--seed", 3, "-o", out / "a.json")
    assert (result.code, result.err) == (0, "")
    assert load_instance(out / "a.json") == generate(seed=3)
    assert result.out.startswith("seed 3: 10 ports, 20 instances, 6 resources, 200 edges, 1000 slo")
    assert "assumed: " in result.out


def test_generate_passes_every_option_on(multiserver: Callable, out: Path) -> None:
    result = multiserver(
        *("generate", "--ports", 6, "--instances", 5, "--resources", 2, "--degree", 3),
        *("--graph", "random", "--contention", 4, "--gain", "mixed", "--form", "channel"),
        *("--overhead", 2, "--slots", 7, "--probability", 0.5, "-o", out / "a.json"),
    )
    assert result.code == 0
    assert load_instance(out / "a.json") == generate(
        *(6, 5, 2),
        degree=3,
        graph="random",
        contention=4,
        gain="mixed",
        form="channel",
        overhead=2,
        slots=7,
        probability=0.5,
    )


def test_equal_options_and_seed_give_equal_bytes(multiserver: Callable, out: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        multiserver("generate", "--stream", "bursty", "--seed", seed, "-o", out / name)
    contents = {name: (out / name).read_bytes() for name in "abc"}
    assert contents["a"] == contents["b"] != contents["c"]


def test_generate_the_flip(multiserver: Callable, out: Path) -> None:
    multiserver("generate", "--ports", 2, "--stream", "flip", "--slots", 8, "-o", out / "a")
    arrivals = load_instance(out / "a").arrivals
    assert arrivals.ports == ((0,), (0,), *((1,),) * 6)


def test_arrivals_of_the_trace_by_class(multiserver: Callable, out: Path) -> None:
    path = data_file(TABLE)
    for name in "ab":
        options = ("--ports", 6, "--slots", 40, "--arrivals", path, "-o", out / name)
        assert multiserver("generate", *options).code == 0
    assert (out / "a").read_bytes() == (out / "b").read_bytes()
    table = arrival_table(load_instance(out / "a").arrivals, 6)
    jobs = table.sum(axis=0)
    # Classes 0 to 3 of the trace have 35, 32, 31 and 1.3 % of its jobs; ports 0 and 4 share
    # class 0, ports 1 and 5 class 1.
    assert table.shape == (40, 6)
    assert jobs[3] < jobs.min(initial=40, where=np.arange(6) != 3)
    assert table[0].any()
    assert table[-1].any()
    # In slots of a second there are no two jobs of a class in most of them.
    options = ("--ports", 4, "--slots", 500, "--slot-seconds", 1, "--arrivals", path)
    assert multiserver("generate", *options, "-o", out / "c").code == 0
    assert load_instance(out / "c").slots == 500


# describe


def test_describe(multiserver: Callable, instance: Path) -> None:
    result = multiserver("describe", instance, "--json")
    assert result.code == 0
    found = result.json
    sizes = ("slots", "ports", "instances", "resources", "edges", "jobs_per_slot")
    assert [found[name] for name in sizes] == [4, 3, 2, 2, 3, 5 / 4]
    assert found["worthless"] == [{"name": "l2", "why": "has no edge"}]
    # D^2 = 2 (4 * 7 + 1 * 1), G^2 = 3 (0.25^2 + 2 * 2^2)
    assert found["theorem_1"]["D"] == pytest.approx(58**0.5)
    assert found["theorem_1"]["G"] == pytest.approx((3 * (0.0625 + 8)) ** 0.5)
    assert found["theorem_1"]["bound"] == pytest.approx((58 * 3 * 8.0625 * 4) ** 0.5)
    cpu, gpu = found["resource"]
    assert (cpu["contention"], cpu["request_most"]) == (pytest.approx(9 / 7), 4)
    assert (gpu["contention"], gpu["gain"]) == (1, "log")
    shown = multiserver("describe", instance)
    assert "slots: 4, ports: 3, instances: 2, resources: 2, edges: 3" in shown.out
    assert "l2    has no edge" in shown.out


def test_describe_says_which_ports_can_earn_nothing(multiserver: Callable, instance: Path) -> None:
    rewrite(
        instance,
        overhead={"cpu": 1.2, "gpu": 1.0},
        ports=[
            {"name": "l0", "request": {"cpu": 4, "gpu": 1}},  # 1.2/1.2 + 2/1 > 1
            {"name": "l1", "request": {"cpu": 2.5}},  # 1.2/1.2 is not above 1
            {"name": "l2", "request": {}},
            {"name": "l3", "request": {"gpu": 1}},
        ],
        edges=[["l0", "r0"], ["l1", "r0"], ["l2", "r1"], ["l3", "r1"]],
    )
    found = multiserver("describe", instance, "--json").json["worthless"]
    assert found == [
        {"name": "l1", "why": "the overhead is never below the gain"},
        {"name": "l2", "why": "requests nothing"},
        {"name": "l3", "why": "its instances have none of what it requests"},
    ]
    assert multiserver("optimum", instance, "--json").json["lower"] > 0


@pytest.mark.parametrize(
    "changes",
    [
        {"ports": [], "edges": [], "arrivals": {"kind": "list", "slots": 1, "ports": [[]]}},
        {"instances": [], "edges": []},
        {"edges": []},
        {"arrivals": {"kind": "list", "slots": 0, "ports": []}},
        {"instances": [{"name": "r0", "capacity": {}}, {"name": "r1", "capacity": {}}]},
    ],
)
def test_instances_with_nothing_to_do(
    multiserver: Callable, instance: Path, out: Path, changes: dict
) -> None:
    rewrite(instance, **changes)
    assert multiserver("describe", instance).code == 0
    assert multiserver("optimum", instance, "--json", "-o", out / "y").json["upper"] == 0
    assert multiserver("audit", instance, out / "y").code == 0
    assert multiserver("plot", instance, out / "y", "-o", out / "y.svg").code == 0
    for policy in ("oga", *BASELINES):
        options = ("--policy", policy, "--set", "history=1", "-o", out / policy)
        assert multiserver("run", instance, *options).code == 0
        found = multiserver("audit", instance, out / policy, "--json")
        assert (found.code, found.json["objective"]) == (0, 0)
    assert multiserver("plot", instance, out / "oga", "-o", out / "a.svg").code == 0


# run, compare, optimum, audit


def test_run_by_hand(multiserver: Callable, instance: Path, out: Path) -> None:
    """fairness in the four slots: l0 alone; l0 and l1 share r0; nobody; l1."""
    result = multiserver("run", instance, "--policy", "fairness", "-o", out / "a.json", "--json")
    assert (result.code, result.err) == (0, "")
    log = 2 * np.log(2)
    alone, shared = 4 * 0.95 + log, 5 * 4 / 6.5 * 0.95 + log
    second = (5 * 2.5 / 6.5 + 2) * 0.95
    solution = result.json["solution"]
    assert solution["rewards"] == pytest.approx([alone, shared + second, 0, 4.5 * 0.95])
    assert result.json["objective"] == pytest.approx(sum(solution["rewards"]))
    assert (solution["step"], solution["projection"], solution["history"]) == (None, None, None)
    assert solution["final"] == [["l1", "r0", "cpu", 2.5], ["l1", "r1", "cpu", 2.0]]
    assert load_run(out / "a.json").model_dump(mode="json") == solution
    shown = multiserver("run", instance, "--policy", "fairness")
    assert "protocol: lookahead, gain form: sum" in shown.out
    assert "slots: 4, jobs: 5, channels in use at the end: 2" in shown.out
    assert shown.out.splitlines()[0].split()[:5] == ["port", "edges", "jobs", "cpu", "gpu"]


def test_run_of_oga_says_what_it_is(multiserver: Callable, instance: Path) -> None:
    shown = multiserver("run", instance, "--policy", "oga").out
    assert "protocol: committed, gain form: sum, step: theory, projection: exact" in shown
    assert "Theorem 1: at most D G sqrt(T) = " in shown
    other = multiserver("run", instance, "--policy", "oga", "--set", "protocol=lookahead").out
    assert "protocol: lookahead" in other
    assert "Theorem 1" not in other


@pytest.mark.parametrize("policy", ["oga", *BASELINES])
def test_runs_are_audited_with_and_without_history(
    multiserver: Callable, instance: Path, out: Path, policy: str
) -> None:
    for history in (0, 1):
        options = ("--policy", policy, "--set", f"history={history}", "-o", out / "a.json")
        assert multiserver("run", instance, *options).code == 0
        audited = multiserver("audit", instance, out / "a.json", "--json")
        assert (audited.code, audited.json["violations"]) == (0, [])
        assert audited.json["rewards_checked"] is bool(history)
        assert multiserver("plot", instance, out / "a.json", "-o", out / "a.svg").code == 0


def test_equal_runs_give_equal_bytes(multiserver: Callable, instance: Path, out: Path) -> None:
    for name in "ab":
        options = ("--policy", "oga", "--set", "history=1", "--seed", 1)
        multiserver("run", instance, *options, "-o", out / name, "--plot", out / f"{name}.svg")
    assert (out / "a").read_bytes() == (out / "b").read_bytes()
    assert (out / "a.svg").read_bytes() == (out / "b.svg").read_bytes()


def test_a_run_by_the_papers_loop_is_refused_by_the_audit(multiserver: Callable, out: Path) -> None:
    path = out / "i.json"
    multiserver("generate", "--contention", 1.2, "--slots", 50, "-o", path)
    result = multiserver("run", path, "--policy", "oga", "--set", "projection=paper")
    assert result.code == 1
    assert "warning: the audit found" in result.err
    assert "cap, final, " in result.err


def test_optimum_is_the_stationary_allocation(
    multiserver: Callable, instance: Path, out: Path
) -> None:
    options = ("-o", out / "y.json", "--write-model", out / "m.lp", "--json")
    result = multiserver("optimum", instance, *options)
    found = result.json
    # N = (2, 2, 1): l0 is worth 2 (0.95 a + 2 ln(1 + g)), l1 2 * 0.95 b; all capacity is used.
    assert (found["sense"], found["status"]) == ("max", "optimal")
    assert found["lower"] == pytest.approx(2 * (0.95 * (5 + 2) + 2 * np.log(2)), rel=1e-6)
    assert found["lower"] <= found["upper"] <= found["lower"] * (1 + 1e-6)
    assert "capacity" in (out / "m.lp").read_text()
    stated = load_run(out / "y.json")
    assert (stated.policy, stated.history, stated.objective) == (
        *("stationary", None),
        pytest.approx(found["lower"]),
    )
    audited = multiserver("audit", instance, out / "y.json", "--json")
    assert (audited.code, audited.json["rewards_checked"]) == (0, False)
    # Though there is no history, what the allocation earns is known in every slot.
    rewards = [2 * reward for reward in stated.rewards or ()]
    rewrite(out / "y.json", rewards=rewards, objective=2 * stated.objective)
    audited = multiserver("audit", instance, out / "y.json", "--json")
    assert audited.code == 1
    assert {violation["constraint"] for violation in audited.json["violations"]} == {"statement"}
    assert audited.json["objective"] == pytest.approx(found["lower"])


def test_compare_redraws_drawn_arrivals_and_no_others(
    multiserver: Callable, instance: Path, out: Path
) -> None:
    def objectives(path: Path) -> list[float]:
        options = ("--policies", "fairness,drf", "--seeds", 3, "--json")
        found = multiserver("compare", path, *options).json["policies"]
        return list(found[0]["objectives"])

    assert len(set(objectives(instance))) == 1
    path = out / "drawn.json"
    drawn = {"kind": "bernoulli", "slots": 40, "probability": [0.2, 0.9, 0.5], "seed": 7}
    path.write_text(json.dumps(content(arrivals=drawn)))
    found = objectives(path)
    assert len(set(found)) == 3
    single = multiserver("run", path, "--policy", "fairness", "--seed", 5, "--json").json
    assert single["objective"] == found[0]  # --seed never redraws; compare begins with the file's


def test_arrivals_in_a_file_beside_the_instance(
    multiserver: Callable, instance: Path, out: Path
) -> None:
    table = arrival_table(load_instance(instance).arrivals, 3)
    expected = multiserver("run", instance, "--policy", "oga", "--json").json["objective"]
    rewrite(instance, arrivals={"kind": "file", "path": "x.npz", "key": "arrivals"})
    np.savez(instance.parent / "x.npz", arrivals=table)
    result = multiserver("run", instance, "--policy", "oga", "-o", out / "a.json", "--json")
    assert result.json["objective"] == expected
    assert multiserver("audit", instance, out / "a.json").code == 0
    assert multiserver("describe", instance, "--json").json["jobs_per_slot"] == 5 / 4


def test_plot_refuses_what_is_not_there(multiserver: Callable, instance: Path, out: Path) -> None:
    multiserver("run", instance, "--policy", "drf", "-o", out / "a.json")
    rewrite(out / "a.json", final=[["l0", "r1", "cpu", 1.0]])
    result = multiserver("plot", instance, out / "a.json", "-o", out / "a.svg")
    assert result.code == 2
    assert result.err.startswith(f"error: {out / 'a.json'}: has an entry that is on no edge")


@pytest.mark.parametrize(
    ("option", "kind"), [((), "multiserver"), (("--solution",), "multiserver-run")]
)
def test_schema(multiserver: Callable, option: tuple, kind: str) -> None:
    schema = multiserver("schema", *option).json
    assert schema["properties"]["kind"]["const"] == kind
    assert {"kind", "version"} <= set(schema["required"])


def test_policies_and_help(multiserver: Callable) -> None:
    found = {entry["policy"]: entry for entry in multiserver("policies", "--json").json["policies"]}
    assert set(found) == {"oga", *BASELINES}
    defaults = {name: entry["parameters"][0]["default"] for name, entry in found.items()}
    assert defaults == {"oga": "committed", **dict.fromkeys(BASELINES, "lookahead")}
    for command in ("generate", "describe", "run", "compare", "optimum", "audit", "plot"):
        assert multiserver(command, "--help").code == 0


def test_the_family_is_registered() -> None:
    from experiments.cli.main import FAMILIES

    assert MULTISERVER in FAMILIES
