"""library: what is listed, what check finds wrong, and what improve takes and refuses."""

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments.cli.families import Bounds, Family
from experiments.cli.main import main
from experiments.cli.training import TRAINING
from experiments.library import records
from models.training import TrainingInstance, build_schedule

RECIPE = {"jobs": 3, "slots": 4, "machines": 2, "seed": 1}


def write_records(folder: Path, **changes: Any) -> None:
    entry = {"name": "one", "small": True, "recipe": RECIPE, **changes}
    content = {"kind": "library", "version": 1, "family": "training", "entries": [entry]}
    (folder / "training.json").write_text(json.dumps(content))


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library of one training instance of which nothing is known."""
    folder = tmp_path / "library"
    folder.mkdir()
    write_records(folder)
    monkeypatch.setattr(records, "data_file", lambda name: folder.parent / name)
    return folder


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """The library's file and solution, once all is known."""
    folder = tmp_path_factory.mktemp("solved") / "library"
    folder.mkdir()
    write_records(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "data_file", lambda name: folder.parent / name)
        assert main(["library", "improve", "training/one"], (TRAINING,)) == 0
    solution = folder / "training" / "one.json.gz"
    return (folder / "training.json").read_bytes(), solution.read_bytes()


@pytest.fixture
def solved(shelf: Path, files: tuple[bytes, bytes]) -> None:
    """Make the instance one of which all is known."""
    (shelf / "training").mkdir()
    (shelf / "training.json").write_bytes(files[0])
    (shelf / "training" / "one.json.gz").write_bytes(files[1])


@pytest.fixture
def real(cli: Callable) -> Callable:
    """Run the commands with the real family."""
    return lambda *arguments: cli("library", *arguments, families=(TRAINING,))


def recorded(shelf: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shelf / "training.json").read_text())["entries"][0]
    return found


def empty_schedule(instance: TrainingInstance) -> Any:
    return build_schedule(instance, "nobody", {})


def bounded(lower: float | None, upper: float | None, status: str = "bounded") -> Family:
    """The family with an exact method that says this."""
    return replace(
        TRAINING,
        optimum=lambda instance, time_limit, seed: Bounds(status, lower, upper, None, 0.1),  # type: ignore[arg-type]
    )


def test_computing_records_interval_solution_and_how(real: Callable, shelf: Path) -> None:
    shown = real("improve", "training/one", "--policies", "fifo")
    assert shown.code == 0
    assert "training/one: better lower and upper: " in shown.out
    entry = recorded(shelf)
    assert entry["lower"]["value"] == pytest.approx(entry["upper"]["value"])
    assert entry["lower"]["by"] == "schedlab"
    assert "optimum --time-limit 60, method: " in entry["upper"]["how"]
    assert "highspy" in entry["upper"]["how"]
    solution = json.loads(gzip.decompress((shelf / "training" / "one.json.gz").read_bytes()))
    assert solution["objective"] == entry["lower"]["value"]

    again = real("improve", "training/one")
    assert again.code == 1
    assert "no better" in again.out
    assert recorded(shelf) == entry

    checked = real("check")
    assert checked.code == 0
    assert checked.out.startswith("training/one: ok optimal ")
    assert "1 checked, 1 proved again, 0 not as recorded" in checked.err

    listed = real().out.splitlines()[2]
    assert listed.startswith("training/one  jobs 3, slots 4, machines 2, seed 1")
    assert listed.count(f"{entry['lower']['value']:.6g}") == 2
    assert real("list").out == real("list", "training").out == real().out
    content = real("--json").json["instances"][0]
    assert (content["proved"], content["sense"], content["gap"]) == (True, "max", 0.0)


@pytest.mark.usefixtures("solved")
def test_an_instance_and_its_solution_can_be_written(
    real: Callable, cli: Callable, shelf: Path, out: Path
) -> None:
    instance, solution = out / "i.json", out / "s.json"
    assert real("write", "training/one", "-o", instance, "--solution", solution).code == 0
    assert cli("training", "audit", instance, solution, families=(TRAINING,)).code == 0


@pytest.mark.usefixtures("solved")
def test_a_solution_is_taken_only_if_it_is_better_and_passes_the_audit(
    real: Callable, shelf: Path, out: Path
) -> None:
    best = recorded(shelf)["lower"]["value"]
    instance, solution = out / "i.json", out / "s.json"
    real("write", "training/one", "-o", instance, "--solution", solution)
    content = json.loads(solution.read_text())

    content["objective"] = best + 100
    solution.write_text(json.dumps(content))
    shown = real("improve", "training/one", solution, "--by", "a cheat")
    assert shown.code == 1
    assert "refused: the solution breaks statement" in shown.err
    assert recorded(shelf)["lower"]["value"] == best

    write_records(shelf, digest=recorded(shelf)["digest"])  # all is forgotten
    content["objective"] = best
    solution.write_text(json.dumps(content))
    shown = real("improve", "training/one", solution, "--by", "A. Author", "--how", "by hand")
    assert shown.code == 0
    assert recorded(shelf)["lower"] == {"value": best, "by": "A. Author", "how": "by hand"}
    assert recorded(shelf)["upper"] is None


@pytest.mark.usefixtures("solved")
def test_a_worse_solution_changes_nothing(real: Callable, shelf: Path, out: Path) -> None:
    before = recorded(shelf)
    packed = (shelf / "training" / "one.json.gz").read_bytes()
    instance = out / "i.json"
    real("write", "training/one", "-o", instance)
    loaded = TRAINING.load_instance(instance)
    worse = out / "w.json"
    worse.write_text(json.dumps(empty_schedule(loaded).model_dump(mode="json")))
    shown = real("improve", "training/one", worse)
    assert (shown.code, shown.err) == (1, "")
    assert recorded(shelf) == before
    assert (shelf / "training" / "one.json.gz").read_bytes() == packed


@pytest.mark.usefixtures("solved")
def test_an_audited_value_beyond_the_bound_is_not_taken_silently(
    real: Callable, cli: Callable, shelf: Path, out: Path
) -> None:
    best = recorded(shelf)
    packed = gzip.decompress((shelf / "training" / "one.json.gz").read_bytes())
    wrong = {"value": best["upper"]["value"] / 2, "by": "x", "how": "y"}
    write_records(shelf, digest=best["digest"], upper=wrong)
    solution = out / "s.json"
    solution.write_bytes(packed)
    shown = real("improve", "training/one", solution)
    assert shown.code == 1
    assert "is beyond the bound" in shown.err
    assert recorded(shelf).get("lower") is None


@pytest.mark.usefixtures("solved")
def test_a_bound_that_contradicts_the_audited_value_is_refused(
    real: Callable, cli: Callable, shelf: Path
) -> None:
    before = recorded(shelf)
    lower = before["lower"]["value"] - 1
    shown = cli("library", "improve", "training/one", families=(bounded(0.0, lower),))
    assert shown.code == 1
    assert "contradicts the audited" in shown.err
    assert recorded(shelf) == before


@pytest.mark.usefixtures("solved")
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda e: {**e, "digest": "0" * 64}, "gives another instance"),
        (lambda e: {**e, "recipe": {**RECIPE, "seed": 2}}, "gives another instance"),
        (lambda e: {**e, "lower": {**e["lower"], "value": 1.0}}, "the solution is worth"),
        (lambda e: {**e, "requires": {"policy": "mine"}}, "the solution's policy must be mine"),
        (lambda e: {**e, "lower": None}, "no value is recorded"),
        (lambda e: {**e, "digest": None}, "nothing is recorded yet"),
    ],
)
def test_check_finds_what_is_wrong(real: Callable, shelf: Path, spoil: Callable, said: str) -> None:
    write_records(shelf, **spoil(recorded(shelf)))
    shown = real("check", "training", "--time-limit", 0)
    assert shown.code == 1
    assert said in shown.out
    assert real("check", "--json", "--time-limit", 0).json["checked"][0]["ok"] is False


@pytest.mark.usefixtures("solved")
@pytest.mark.parametrize(
    ("lower", "upper", "status", "said"),
    [
        (0.0, 1.0, "bounded", "1 is proved as upper value, below"),
        (1e6, 2e6, "bounded", "1000000 is proved as lower value, above"),
        (None, None, "infeasible", "is said to have no solution"),
        (0.0, 1e6, "bounded", "not proved again within 60 s: between 0 and 1000000"),
    ],
)
def test_check_compares_the_new_proof(
    real: Callable, cli: Callable, shelf: Path, lower: Any, upper: Any, status: str, said: str
) -> None:
    shown = cli("library", "check", families=(bounded(lower, upper, status),))
    assert shown.code == 1
    assert said in shown.out


@pytest.mark.usefixtures("solved")
def test_check_finds_a_missing_or_broken_solution(real: Callable, shelf: Path) -> None:
    path = shelf / "training" / "one.json.gz"
    for content in (b"no gzip", gzip.compress(b"{}"), gzip.compress(b"\xff"), None):
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content)
        shown = real("check", "--time-limit", 0)
        assert shown.code == 1
        assert "one.json.gz" in shown.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check", "training/two"), "training/NAME: must be one of one"),
        (("check", "nothing"), "FAMILY: must be one of training"),
        (("improve", "one"), "FAMILY/NAME: must be FAMILY/NAME"),
        (("improve", "training/one", "--policies", "none"), "--policies: must be one of"),
        (("improve", "training/one", "missing.json"), "missing.json: cannot be read"),
        (("write", "training/one", "-o", "none/x.json"), "--output: must be in an existing"),
    ],
)
def test_bad_usage(real: Callable, shelf: Path, arguments: tuple[str, ...], said: str) -> None:
    shown = real(*arguments)
    assert (shown.code, len(shown.err.splitlines())) == (2, 1)
    assert said in shown.err


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"recipe": {"jobs": 3}}, "recipe"),
        ({"recipe": {**RECIPE, "jobs": [3]}}, "recipe"),
        ({"name": "../x"}, "name"),
        ({"digest": "abc"}, "digest"),
        ({"more": 1}, "more"),
        ({"lower": {"value": 2.0, "by": "a", "how": "b"},
          "upper": {"value": 1.0, "by": "a", "how": "b"}}, "upper"),
    ],
)  # fmt: skip
def test_a_broken_file_is_named_with_its_field(
    real: Callable, shelf: Path, changes: dict[str, Any], field: str
) -> None:
    write_records(shelf, **changes)
    shown = real()
    assert (shown.code, len(shown.err.splitlines())) == (2, 1)
    assert "training.json: entries[0]" in shown.err
    assert field in shown.err


def test_an_option_that_the_generator_lacks_is_named(real: Callable, shelf: Path) -> None:
    write_records(shelf, recipe={**RECIPE, "colour": 1})
    shown = real("check")
    assert shown.code == 2
    assert "is no recipe of training" in shown.err
