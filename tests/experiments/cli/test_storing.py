"""results list, show, export and prune."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from experiments import registry
from experiments.declaration import Experiment
from experiments.store import Failure, Key, Store, canonical

NAME = "selftest/points"
COMMAND = "python -m experiments.worker a:b '{}' 0"


def _grid(_quick: bool) -> list[dict[str, int]]:
    return [{"x": 1}]


@pytest.fixture(autouse=True)
def declared(monkeypatch: pytest.MonkeyPatch) -> None:
    fields = {"summary": "s", "paper": "p", "grid": _grid, "task": "a:b", "figure": "a:c"}
    made = [Experiment(name=NAME, revision=2, **fields)]
    made.append(Experiment(name="selftest/other", revision=2, rows=NAME, **fields))
    monkeypatch.setattr(registry, "EXPERIMENTS", {e.name: e for e in made})


@pytest.fixture
def store(out: Path) -> Iterator[Store]:
    """Revisions 1 to 3 of a declared experiment whose revision is 2, and an undeclared one."""
    with Store.open(out) as opened:
        for name, revision in ((NAME, 1), (NAME, 2), (NAME, 3), ("gone/away", 1)):
            for x in (10, 2):
                row = json.dumps({"cost": 0.1 + 0.2, "share": float("nan")})
                key = Key(canonical({"x": x, "mix": [1, x]}), 0)
                opened.put_row(name, revision, key, row, seconds=1.5, versions='{"a":"1"}')
            opened.put_failure(
                Failure(name, revision, Key('{"x":3}', 0), "E: no", "trace", COMMAND)
            )
        yield opened


def held(store: Store) -> list[tuple[str, int, int, int]]:
    return [(h.experiment, h.revision, h.rows, h.failures) for h in store.holdings()]


def test_list(cli: Callable, store: Store, out: Path) -> None:
    lines = cli("results", "list", "--results", out).out.splitlines()[2:]
    assert [line.split()[:6] for line in lines] == [
        ["gone/away", "1", "unknown", "2", "1", "3"],
        [NAME, "1", "old", "2", "1", "3"],
        [NAME, "2", "current", "2", "1", "3"],
        [NAME, "3", "newer", "2", "1", "3"],
    ]
    first = cli("results", "list", "--json", "--results", out).json["holdings"][0]
    assert (first["experiment"], first["state"], first["seconds"]) == ("gone/away", "unknown", 3.0)


@pytest.mark.parametrize("name", [NAME, "points", "other", "selftest/other"])
def test_show(cli: Callable, store: Store, out: Path, name: str) -> None:
    shown = cli("results", "show", name, "--limit", 1, "--results", out)
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert lines[0].split() == ["mix", "x", "seed", "cost", "share", "seconds", "finished_at"]
    assert lines[2].startswith("[1, 2]")  # numbers by size
    assert lines[3:] == ["failed: E: no", f"  again: {COMMAND}"]
    assert shown.err.startswith("1 of 2 rows;")


def test_show_json(cli: Callable, store: Store, out: Path) -> None:
    found = cli("results", "show", "points", "--revision", 3, "--json", "--results", out).json
    assert (found["experiment"], found["revision"], found["total"]) == (NAME, 3, 2)
    first = found["rows"][0]
    assert (first["x"], first["cost"], first["share"], first["seed"]) == (2, 0.1 + 0.2, None, 0)
    assert first["versions"] == '{"a":"1"}'
    assert found["failures"] == [
        {"x": 3, "seed": 0, "error": "E: no", "traceback": "trace", "command": COMMAND}
    ]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_export(cli: Callable, store: Store, out: Path, suffix: str) -> None:
    import pandas

    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    target = out / f"rows.{suffix}"
    assert cli("results", "export", "points", target, "--results", out).code == 0
    read = pandas.read_csv(target) if suffix == "csv" else pandas.read_parquet(target)
    assert list(read["x"]) == [2, 10]
    assert list(read["cost"]) == [0.1 + 0.2] * 2  # to the last digit
    assert read["share"].isna().all()
    assert [json.loads(v) if isinstance(v, str) else list(v) for v in read["mix"]] == [
        [1, 2],
        [1, 10],
    ]
    assert list(read.columns[-3:]) == ["seconds", "finished_at", "versions"]


def test_parquet_refuses_mixed_kinds(cli: Callable, out: Path) -> None:
    pytest.importorskip("pyarrow")
    with Store.open(out) as opened:
        for x in (1, "one"):
            opened.put_row(NAME, 2, Key(canonical({"x": x}), 0), "{}")
    target = out / "rows.parquet"
    refused = cli("results", "export", "points", target, "--results", out)
    assert refused.code == 2
    assert "cannot hold these rows" in refused.err
    assert not target.exists()
    assert cli("results", "export", "points", out / "rows.csv", "--results", out).code == 0


def test_prune_says_what_it_would_remove(cli: Callable, store: Store, out: Path) -> None:
    before = held(store)
    shown = cli("results", "prune", "--results", out)
    assert [line.split() for line in shown.out.splitlines()[2:]] == [[NAME, "1", "old", "2", "1"]]
    assert "--yes" in shown.err
    assert held(store) == before


def test_prune_keeps_what_is_in_use(cli: Callable, store: Store, out: Path) -> None:
    assert cli("results", "prune", "--yes", "--results", out).code == 0
    kept = [("gone/away", 1, 2, 1), (NAME, 2, 2, 1), (NAME, 3, 2, 1)]
    assert held(store) == kept
    assert cli("results", "prune", "points", "--failures", "--yes", "--results", out).code == 0
    assert held(store) == [kept[0], (NAME, 2, 2, 0), (NAME, 3, 2, 0)]
    assert cli("results", "prune", "--unknown", "--yes", "--results", out).code == 0
    assert held(store) == [(NAME, 2, 2, 0), (NAME, 3, 2, 0)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show", "nothing"), f'EXPERIMENT: must be one of gone/away, {NAME} (got "nothing")'),
        (("show", "points", "--revision", 9), "--revision: must be a stored one: 1, 2, 3 (got 9)"),
        (("export", "points", "rows.xls"), "must end in .csv or .parquet"),
        (("list", "--results", "nowhere"), "there are no results yet"),
    ],
)
def test_bad_input(cli: Callable, store: Store, out: Path, arguments: tuple, message: str) -> None:
    where = () if "--results" in arguments else ("--results", out)
    refused = cli("results", *arguments, *where)
    assert refused.code == 2
    assert message in refused.err
    assert refused.err.count("\n") == 1
