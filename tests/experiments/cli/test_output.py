import math
from types import MappingProxyType

import numpy as np
import pytest

from experiments.cli.output import Table, answers_only, emit_json, plain
from models.files import FileModel


def test_table_sets_numbers_to_the_right_and_leaves_gaps_for_nothing() -> None:
    table = Table(("name", "value"), [("a", 1.23456789), ("long name", None), ("b", 10)])
    assert str(table).splitlines() == [
        "name         value",
        "---------  -------",
        "a          1.23457",
        "long name        -",
        "b               10",
    ]


def test_table_without_rows_is_its_heading() -> None:
    assert str(Table(("a", "bc"), [])) == "a  bc\n-  --"


def test_a_column_of_missing_numbers_stands_like_numbers():
    lines = str(Table(("job", "completion"), [("a", None), ("b", None)])).splitlines()
    assert lines[2:] == ["a             -", "b             -"]


def test_cells_stay_on_their_line() -> None:
    text = str(Table(("a", "b", "c"), [("x\ny\tz", True, math.nan)]))
    assert text.splitlines()[2] == "x y z  yes  -"


class Point(FileModel):
    """A model with a number."""

    x: float


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("inf"), None),
        (float("nan"), None),
        (1.5, 1.5),
        (np.float64("nan"), None),
        (np.int64(3), 3),
        (np.array([1.0, math.inf]), [1.0, None]),
        ({1: (math.nan, "a")}, {"1": [None, "a"]}),
        (MappingProxyType({"a": True}), {"a": True}),
        (Point(x=2.0), {"x": 2.0}),
        (None, None),
    ],
)
def test_plain_values_are_what_json_holds(value: object, expected: object) -> None:
    assert plain(value) == expected
    assert type(plain(value)) is type(expected)


def test_json_is_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    emit_json({"name": "größer", "value": -math.inf})
    assert capsys.readouterr().out == '{\n "name": "gr\\u00f6\\u00dfer",\n "value": null\n}\n'


def test_answers_only_also_when_streams_are_captured(capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    with answers_only():
        sys.stdout.write("aside")
    sys.stdout.write("answer")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("answer", "aside")
