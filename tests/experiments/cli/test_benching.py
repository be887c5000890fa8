"""bench: what it prints, what it keeps as a reference, and what it says of one."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.bench_reference import BenchReference
from experiments.cli.main import main
from experiments.cli.training import TRAINING
from models.files import read_model


@pytest.fixture
def bench(capsys: pytest.CaptureFixture) -> Callable:
    """Run the command on a stub benchmark in which ours is `times` as fast."""

    def call(times: float, *arguments: str) -> tuple[int, str, str]:
        content = {
            "seed": 0,
            "table": {
                "ours": {"ms": 2.0},
                "theirs": {
                    "ms": 2.0 * times,
                    "it_over_ours": times,
                    "low": 0.9 * times,
                    "high": 1.1 * times,
                },
            },
            "deep": {"a": 1, "ways": {"x": {"z_over_y": 7.0}}},
        }
        family = replace(TRAINING, bench=lambda: content)
        code = main(["bench", *arguments], families=(family,))
        return code, *capsys.readouterr()

    return call


def test_tables_and_json(bench: Callable) -> None:
    code, out, _ = bench(8.0)
    assert code == 0
    assert "theirs" in out
    assert "deep a: 1" not in out  # numbers beside tables have their own line
    assert "deep, a: 1" in out
    code, out, _ = bench(8.0, "training", "--json")
    content = json.loads(out)
    assert content["families"]["training"]["table"]["theirs"]["it_over_ours"] == 8.0
    assert content["versions"]["numpy"]
    assert content["against"] == []


def test_a_reference_holds_ratios_and_versions_and_no_times(bench: Callable, out: Path) -> None:
    file = out / "reference.json"
    assert bench(8.0, "-o", str(file))[0] == 0
    stored = read_model(BenchReference, file)
    assert set(stored.families["training"]) == {
        "table / theirs / it_over_ours",
        "deep / ways / x / z_over_y",
    }
    assert stored.families["training"]["table / theirs / it_over_ours"].low == 7.2
    assert '"ms"' not in file.read_text()


@pytest.mark.parametrize(
    ("now", "code", "verdict"),
    [(8.0, 0, "as before"), (6.0, 0, "as before"), (4.0, 1, "fallen"), (20.0, 0, "risen")],
)
def test_compared_by_ratio(bench: Callable, out: Path, now: float, code: int, verdict: str) -> None:
    file = out / "reference.json"
    bench(8.0, "-o", str(file))
    found, text, _ = bench(now, "--against", str(file))
    assert found == code
    line = next(line for line in text.splitlines() if "it_over_ours" in line and "training" in line)
    assert line.rstrip().endswith(verdict)
    found, text, _ = bench(now, "--against", str(file), "--json")
    assert found == code
    rows = {row["ratio"]: row for row in json.loads(text)["against"]}
    assert rows["training / table / theirs / it_over_ours"] == {
        "ratio": "training / table / theirs / it_over_ours",
        "then": 8.0,
        "now": now,
        "verdict": verdict,
    }


def test_ratios_that_came_or_went_are_named(bench: Callable, out: Path) -> None:
    file = out / "reference.json"
    bench(8.0, "-o", str(file))
    content = json.loads(file.read_text())
    ratios = content["families"]["training"]
    ratios["old_over_it"] = ratios.pop("deep / ways / x / z_over_y")
    file.write_text(json.dumps(content))
    code, text, _ = bench(8.0, "--against", str(file))
    assert code == 0
    assert "not measured" in text
    assert text.rstrip().endswith("new")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda c: c.pop("kind"), 'kind: is required and must be "bench"'),
        (lambda c: c.update(version=2), "version: must be 1 (got 2)"),
        (lambda c: c["families"]["training"]["a_over_b"].update(ratio=0), "ratio: must be greater"),
        (lambda c: c["families"]["training"]["a_over_b"].update(low=9), "low and high must both"),
        (
            lambda c: c["families"]["training"]["a_over_b"].update(low=9, high=10),
            "must be from low to high (got 2",
        ),
        (lambda c: c["families"].clear(), "families: must hold ratios of every family"),
    ],
)
def test_bad_references_are_refused_in_one_line(
    bench: Callable, out: Path, change: Callable, fault: str
) -> None:
    file = out / "reference.json"
    content = {
        "kind": "bench",
        "version": 1,
        "versions": {},
        "families": {"training": {"a_over_b": {"ratio": 2.0}}},
    }
    change(content)
    file.write_text(json.dumps(content))
    code, text, error = bench(8.0, "training", "--against", str(file))
    assert code == 2
    assert text == ""
    assert "reference.json" in error
    assert fault in error
    assert error.count("\n") == 1


def test_the_reference_is_not_overwritten_by_itself(bench: Callable, out: Path) -> None:
    file = out / "reference.json"
    bench(8.0, "-o", str(file))
    code, _, error = bench(4.0, "--against", str(file), "-o", str(file))
    assert code == 2
    assert "must not be the same file as an input file" in error
    code, _, error = bench(4.0, "--against", str(out / "no.json"))
    assert code == 2
    assert "no.json: cannot be read" in error
