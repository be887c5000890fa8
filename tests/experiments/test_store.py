import json
import math
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.declaration import META
from experiments.store import FILE_NAME, Failure, Key, Store, canonical
from models.files import InputError

ROOT = Path(__file__).parents[2]


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "deep" / "results") as opened:
        yield opened


def put(store, parameters, seed, row, revision=1):
    store.put_row("f/a", revision, Key(canonical(parameters), seed), json.dumps(row))


def failure(parameters="{}", seed=0, error="ValueError: no"):
    return Failure("f/a", 1, Key(parameters, seed), error, "Traceback ...", "python -m ...")


def test_parameters_have_one_text():
    assert canonical({"b": 1, "a": [1, {"y": None, "x": 0.1}]}) == canonical(
        {"a": (1, {"x": 0.1, "y": None}), "b": 1}
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"x", object()])
def test_parameters_must_be_json_values(value):
    with pytest.raises(InputError, match="JSON values"):
        canonical({"a": value})


@pytest.mark.parametrize("name", ["seed", *META])
def test_parameters_may_not_take_the_stores_columns(name):
    with pytest.raises(InputError, match=name):
        canonical({name: 1})


def test_rows_come_back_in_an_order_of_their_own(store):
    points = [(x, seed) for x in (2, 10, 1) for seed in (1, 0)]
    for x, seed in points:
        put(store, {"x": x, "kind": "k"}, seed, {"value": x + seed})
    rows = store.rows("f/a", 1)
    assert list(zip(rows["x"], rows["seed"], strict=True)) == sorted(points)
    assert list(rows["value"]) == [x + seed for x, seed in sorted(points)]
    assert list(rows.columns) == ["kind", "x", "seed", "value", *META]


def test_rows_of_given_keys_come_in_the_order_given(store):
    keys = [Key(canonical({"x": x}), 0) for x in (3, 1, 2)]
    for key in reversed(keys):
        store.put_row("f/a", 1, key, "{}")
    chosen = [keys[0], Key("{}", 5), keys[2]]
    assert list(store.rows("f/a", 1, chosen)["x"]) == [3, 2]


def test_parameters_of_mixed_kinds_can_be_ordered(store):
    values = [None, 2, 10, 2.5, "10", "a", [1], {"k": 1}, True]
    for value in reversed(values):
        put(store, {"x": value}, 0, {})
    assert list(store.rows("f/a", 1)["x"]) == [
        *(None, True, 2, 2.5, 10, "10", "a"),
        *([1], {"k": 1}),
    ]


def test_no_rows_give_an_empty_table(store):
    rows = store.rows("f/a", 1)
    assert len(rows) == 0
    assert list(rows.columns) == ["seed", *META]


def test_special_numbers_are_stored_faithfully(store):
    row = {"nan": math.nan, "up": math.inf, "down": -math.inf, "zero": -0.0, "sum": 0.1 + 0.2}
    put(store, {}, 0, row)
    found = store.rows("f/a", 1).iloc[0]
    assert math.isnan(found["nan"])
    assert (found["up"], found["down"], found["sum"]) == (math.inf, -math.inf, 0.1 + 0.2)
    assert math.copysign(1, found["zero"]) == -1


def test_experiments_and_revisions_are_kept_apart(store):
    put(store, {}, 0, {"value": 1})
    put(store, {}, 0, {"value": 2}, revision=2)
    store.put_row("f/b", 1, Key("{}", 0), '{"value": 3}')
    found = [store.rows(*which)["value"].item() for which in (("f/a", 1), ("f/a", 2), ("f/b", 1))]
    assert found == [1, 2, 3]
    assert store.keys("f/a", 3) == set()


def test_a_row_is_written_once(store):
    put(store, {}, 0, {"value": 1})
    put(store, {}, 0, {"value": 2})
    assert list(store.rows("f/a", 1)["value"]) == [1]
    assert store.keys("f/a", 1) == {Key("{}", 0)}
    assert store.has("f/a", 1, Key("{}", 0))
    assert not store.has("f/a", 1, Key("{}", 1))


def test_a_row_ends_the_failure_of_its_key_only(store):
    for seed in (0, 1):
        store.put_failure(failure(seed=seed, error="first"))
        store.put_failure(failure(seed=seed))
    put(store, {}, 0, {})
    assert store.failures("f/a", 1) == [failure(seed=1)]
    assert store.failures("f/a", 1, [Key("{}", 0)]) == []
    assert store.failures("f/a", 2) == []


def test_a_store_opens_again(tmp_path):
    with Store.open(tmp_path) as first:
        put(first, {}, 0, {"value": 1})
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]
    with Store.open(tmp_path, create=False) as second:
        assert list(second.rows("f/a", 1)["value"]) == [1]


def test_a_missing_store_is_not_made_for_readers(tmp_path):
    with pytest.raises(InputError, match="no results yet"):
        Store.open(tmp_path / "none", create=False)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    "content", [b"not a database, whatever its name", b"SQLite format 3\0" * 99]
)
def test_a_file_that_is_no_database_is_refused(tmp_path, content):
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(InputError, match=FILE_NAME) as caught:
        Store.open(tmp_path)
    assert "\n" not in str(caught.value)
    assert (tmp_path / FILE_NAME).read_bytes() == content


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE addresses (name)"],
        ["CREATE TABLE schema (number)", "CREATE TABLE rows (a)", "CREATE TABLE failures (a)"],
    ],
)
def test_a_foreign_database_is_refused_and_left_alone(tmp_path, statements):
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    for statement in statements:
        connection.execute(statement)
    connection.close()
    before = (tmp_path / FILE_NAME).read_bytes()
    with pytest.raises(InputError, match="results store with schema 1"):
        Store.open(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == before


def test_another_schema_is_refused(tmp_path):
    Store.open(tmp_path).close()
    connection = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    connection.execute("UPDATE schema SET version = 99")
    connection.close()
    with pytest.raises(InputError, match=r"schema 1 \(got 99\)"):
        Store.open(tmp_path)


def test_a_damaged_store_is_an_input_error(tmp_path):
    with Store.open(tmp_path) as store:
        for x in range(300):
            put(store, {"x": x}, 0, {"text": "x" * 100})
    content = bytearray((tmp_path / FILE_NAME).read_bytes())
    content[5 * 4096 :] = b"\xff" * (len(content) - 5 * 4096)
    (tmp_path / FILE_NAME).write_bytes(content)
    with Store.open(tmp_path) as store, pytest.raises(InputError, match=FILE_NAME):
        store.rows("f/a", 1)


def test_a_folder_that_cannot_be_made_is_an_input_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be opened"):
        Store.open(tmp_path / "file" / "results")


def test_processes_create_and_fill_one_store_together(tmp_path):
    script = (
        "import sys; from experiments.store import Key, Store\n"
        "with Store.open(sys.argv[1]) as store:\n"
        "    for seed in range(50):\n"
        "        store.put_row('f/a', 1, Key('{}', seed), '{\"value\": 0}')\n"
        "        store.put_row('f/a', 1, Key(sys.argv[2], seed), '{}')\n"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, tmp_path / "results", f'{{"x":{n}}}'], cwd=ROOT
        )
        for n in range(4)
    ]
    assert [process.wait(60) for process in processes] == [0] * 4
    with Store.open(tmp_path / "results") as store:
        assert len(store.keys("f/a", 1)) == 50 + 4 * 50
