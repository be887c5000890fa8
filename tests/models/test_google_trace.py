"""The Google trace: raw parts, the counted table, and the table that the project ships."""

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from experiments.training.count_google_submits import counted_table, main
from models.data import data_file
from models.files import InputError
from models.google_table import (
    TABLE,
    TABLE_COLUMNS,
    read_arrivals,
    read_submit_table,
    submit_table,
)
from models.google_trace import MICROSECONDS_PER_MINUTE, MalformedRow, read_trace

RAW_PARTS = sorted(
    (Path(__file__).parents[3] / "shared" / "data" / "google2011").glob("*job_events*.csv.gz")
)
needs_raw_parts = pytest.mark.skipif(
    not RAW_PARTS, reason="the raw parts are not in ../shared/data/google2011"
)


def row(time: object = 1, job: object = 7, event: object = 0, scheduling_class: object = 2) -> str:
    return f"{time},,{job},{event},user,{scheduling_class},name,logical"


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(*rows: str, name: str = "part.csv", end: str = "\n", packed: bool = False) -> Path:
        path = tmp_path / name
        data = "".join(line + end for line in rows).encode()
        path.write_bytes(gzip.compress(data) if packed else data)
        return path

    return write


def test_first_submits_in_order_of_time(write: Write) -> None:
    submits = read_trace(
        write(
            row(30, job=1, scheduling_class=3),
            row(31, job=1, event=1),
            row(20, job=2, scheduling_class=0),
            row(40, job=1, scheduling_class=1),  # submitted again
            row(50, job=3, event=4, scheduling_class=1),  # never submitted
        )
    )
    assert submits.times.tolist() == [20, 30]
    assert submits.classes.tolist() == [0, 3]
    assert (submits.resolution, len(submits)) == (1, 2)
    report = submits.report
    assert report is not None
    assert (report.rows, report.submits, report.duplicates) == (5, 3, 1)
    assert (report.at_time_zero, report.malformed_rows, report.malformed) == (0, 0, ())
    assert "part.csv" in submits.source


def test_submits_cannot_be_changed(write: Write) -> None:
    submits = read_trace(write(row()))
    with pytest.raises(ValueError, match="read-only"):
        submits.times[0] = 5
    with pytest.raises(ValueError, match="read-only"):
        submits.classes[0] = 5


def test_jobs_of_time_zero_are_dropped_for_good(write: Write) -> None:
    submits = read_trace(write(row(0, job=1), row(5, job=2), row(9, job=1)))
    assert submits.times.tolist() == [5]
    report = submits.report
    assert report is not None
    assert (report.submits, report.duplicates, report.at_time_zero) == (3, 1, 1)


def test_the_order_of_parts_does_not_matter(write: Write) -> None:
    early = write(row(10, job=1), row(11, job=2), name="a.csv")
    late = write(row(20, job=1, scheduling_class=0), row(21, job=3), name="b.csv")
    one, other = read_trace([early, late]), read_trace([late, early])
    assert one.times.tolist() == other.times.tolist() == [10, 11, 21]
    assert one.classes.tolist() == other.classes.tolist() == [2, 2, 2]
    assert one.report == other.report


def test_of_two_submits_at_the_same_time_the_first_read_counts(write: Write) -> None:
    submits = read_trace(write(row(5, scheduling_class=1), row(5, scheduling_class=3)))
    assert submits.classes.tolist() == [1]


def test_equal_times_keep_the_order_read(write: Write) -> None:
    submits = read_trace(write(*(row(5, job=k, scheduling_class=k % 4) for k in range(40))))
    assert submits.classes.tolist() == [k % 4 for k in range(40)]


@pytest.mark.parametrize("name", ["part.csv", "part.csv.gz", "part"])
@pytest.mark.parametrize("packed", [False, True])
def test_gzip_is_told_by_content(write: Write, name: str, packed: bool) -> None:
    assert len(read_trace(write(row(), row(job=8), name=name, packed=packed))) == 2


def test_harmless_differences_in_the_text(write: Write, tmp_path: Path) -> None:
    assert len(read_trace(write(row(), row(job=8), end="\r\n"))) == 2
    assert len(read_trace(write(row(), "", row(job=8), "   "))) == 2
    path = tmp_path / "bom.csv"
    path.write_bytes(b"\xef\xbb\xbf" + row().encode() + b"\n" + row(job=8).encode())
    assert len(read_trace(path)) == 2
    quoted = '5,,"9",0,"a user, with a comma",1,"name",'
    assert len(read_trace(write(row(), quoted))) == 2


BAD_ROWS = [
    ("", None),
    ("1,,7,0,user,2,name", "must have 8 columns (got 7)"),
    (row() + ",", "must have 8 columns (got 9)"),
    ("just words", "must have 8 columns (got 1)"),
    (row(time=""), "time must be a whole number"),
    (row(time="-5"), "time must be a whole number from 0 to 9223372036854775807 (got '-5')"),
    (row(time="1.5"), "time must be"),
    (row(time="1e6"), "time must be"),
    (row(time="nan"), "time must be"),
    (row(time=" 1"), "time must be"),
    (row(time="1_0"), "time must be"),
    (row(time="٣"), "time must be"),  # a digit, but not one of ours
    (row(time=2**63), "time must be"),
    (row(time="9" * 10_000), "time must be"),
    (row(time=2**63 - 1), "after the trace's end"),
    (row(job="x"), "job id must be"),
    (row(job=""), "job id must be"),
    (row(event=9), "event type must be a whole number from 0 to 8 (got '9')"),
    (row(event="SUBMIT"), "event type must be"),
    (row(scheduling_class=4), "scheduling class must be a whole number from 0 to 3 (got '4')"),
    (row(scheduling_class=""), "scheduling class must be"),
    ('"1,,7,0,user,2,name,logical', "must be one CSV row"),
]


@pytest.mark.parametrize(("bad", "rule"), BAD_ROWS, ids=range(len(BAD_ROWS)))
def test_bad_rows_are_listed_and_the_others_kept(write: Write, bad: str, rule: str | None) -> None:
    submits = read_trace(write(row(1, job=1), bad, row(3, job=3)))
    assert submits.times.tolist() == [1, 3]
    report = submits.report
    assert report is not None
    if rule is None:  # a blank line is no row
        assert (report.rows, report.malformed) == (2, ())
        return
    assert (report.rows, report.submits, report.malformed_rows) == (3, 2, 1)
    (found,) = report.malformed
    assert (found.file, found.line) == ("part.csv", 2)
    assert rule in found.rule
    assert len(found.rule) < 150


def test_the_class_matters_only_where_it_is_used(write: Write) -> None:
    report = read_trace(write(row(), row(event=4, scheduling_class=""))).report
    assert report is not None
    assert report.malformed == ()


def test_line_numbers_count_blank_lines_and_start_anew_in_each_file(write: Write) -> None:
    first = write(row(), "", "bad", name="a.csv")
    second = write("bad", row(), name="b.csv")
    report = read_trace([first, second]).report
    assert report is not None
    rule = "must have 8 columns (got 1)"
    assert report.malformed == (MalformedRow("a.csv", 3, rule), MalformedRow("b.csv", 1, rule))


def test_very_many_bad_rows_are_counted_but_not_all_listed(write: Write) -> None:
    report = read_trace(write(row(), *["bad"] * 1500)).report
    assert report is not None
    assert (report.malformed_rows, len(report.malformed)) == (1500, 1000)


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_trace(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert len(message) < len(str(path)) + 250
    return message


def test_files_that_are_no_trace(write: Write, tmp_path: Path) -> None:
    assert "has no rows" in refusal(write())
    assert "has no rows" in refusal(write("", "  "))
    assert "has no rows" in refusal(write(packed=True))
    assert "has no valid SUBMIT row" in refusal(write(row(event=1), row(event=4)))
    assert "1 malformed rows, the first in line 1: must have 8" in refusal(write("time,job"))
    assert "every job was submitted at time 0" in refusal(write(row(0), row(0, job=8)))
    assert "cannot be read: Is a directory" in refusal(tmp_path)
    assert "cannot be read: No such file" in refusal(tmp_path / "missing.csv")


def test_binary_files(tmp_path: Path) -> None:
    path = tmp_path / "binary"
    path.write_bytes(bytes(range(256)) * 10)
    assert "UTF-8" in refusal(path)
    path.write_bytes(row().encode() + b"\n\x00\x00\n")
    assert "line 2 is not text" in refusal(path)
    path.write_bytes(b"a" * 1_000_000)
    assert "line 1 is longer" in refusal(path)
    path.write_bytes(gzip.compress(gzip.compress(row().encode())))
    assert "UTF-8" in refusal(path)


def test_broken_gzip_files(tmp_path: Path) -> None:
    path = tmp_path / "part.csv.gz"
    whole = gzip.compress("".join(row(k, job=k) + "\n" for k in range(1, 2000)).encode())
    for length in (2, 5, 12, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert "truncated gzip" in refusal(path)
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 0xFF
    path.write_bytes(damaged)
    assert "gzip" in refusal(path) or "line" in refusal(path)
    path.write_bytes(whole[:-5] + b"\0\0\0\0" + whole[-1:])
    assert "damaged gzip" in refusal(path)
    path.write_bytes(whole + b"rubbish")
    assert "damaged gzip" in refusal(path)


def test_one_bad_part_among_good_ones_is_named(write: Write) -> None:
    good, bad = write(row(), "bad", name="good.csv"), write("bad", name="bad.csv")
    with pytest.raises(InputError, match=r"bad.csv: has no valid SUBMIT .*; 1 malformed"):
        read_trace([good, bad])
    with pytest.raises(InputError, match="at least one"):
        read_trace([])


# The counted table.

TABLE_TEXT = "# a comment\nminute,class0,class1,class2,class3\n3,1,0,2,0\n5,0,0,0,1\n"


def test_a_table_is_read(write: Write) -> None:
    submits = read_submit_table(write(TABLE_TEXT))
    assert submits.times.tolist() == [3 * 60_000_000] * 3 + [5 * 60_000_000]
    assert submits.classes.tolist() == [0, 2, 2, 3]
    assert submits.resolution == 60_000_000
    assert "part.csv" in submits.source


def test_counting_and_reading_agree(write: Write) -> None:
    minute = MICROSECONDS_PER_MINUTE
    times = (minute - 1, minute, 3 * minute + 5, 3 * minute + 6)
    raw = read_trace(write(*(row(t, job=t, scheduling_class=t % 4) for t in times)))
    text = submit_table(raw, ["head"])
    assert text.splitlines() == [
        "# head",
        "minute,class0,class1,class2,class3",
        "0,0,0,0,1",
        "1,1,0,0,0",
        "2,0,0,0,0",
        "3,0,1,1,0",
    ]
    table = read_submit_table(write(text, name="table.csv"))
    assert (table.times // minute).tolist() == (raw.times // minute).tolist()
    assert submit_table(table, ["head"]) == text


def test_a_table_begins_with_the_first_submission(write: Write) -> None:
    raw = read_trace(write(row(7 * MICROSECONDS_PER_MINUTE), row(8 * MICROSECONDS_PER_MINUTE, 8)))
    assert submit_table(raw) == "minute,class0,class1,class2,class3\n7,0,0,1,0\n8,0,0,1,0\n"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "has no submits"),
        ("# only a comment\n", "has no submits"),
        (TABLE_TEXT.split("3,1")[0], "has no submits"),
        (TABLE_TEXT.split("3,1")[0] + "3,0,0,0,0\n", "has no submits"),
        ("minute,class0\n3,1\n", "line 1: the columns must be minute,class0"),
        (TABLE_TEXT.replace("minute", "hour"), "line 2: the columns must be"),
        (TABLE_TEXT + "6,1,0\n", "line 5: must have 5 columns"),
        (TABLE_TEXT + "6,1,0,0,0,0\n", "line 5: must have 5 columns"),
        (TABLE_TEXT + "5,1,0,0,0\n", "line 5, minute: minutes must ascend (got 5)"),
        (TABLE_TEXT + "4,1,0,0,0\n", "line 5, minute: minutes must ascend"),
        (TABLE_TEXT + "6,-1,0,0,0\n", "line 5, class0: must be a whole number"),
        (TABLE_TEXT + "6,0,1.0,0,0\n", "line 5, class1: must be a whole number"),
        (TABLE_TEXT + "6,0,0,nan,0\n", "line 5, class2: must be a whole number"),
        (TABLE_TEXT + "6,0,0,0,\n", "line 5, class3: must be a whole number"),
        (TABLE_TEXT + f"6,0,0,0,{10**9}\n", "line 5, class3: must be a whole number"),
        (TABLE_TEXT + "-1,0,0,0,0\n", "line 5, minute: must be a whole number"),
    ],
)
def test_a_broken_table(write: Write, text: str, rule: str) -> None:
    path = write(text, end="")
    with pytest.raises(InputError) as caught:
        read_submit_table(path)
    assert str(caught.value).startswith(f"{path}: {rule}")
    assert "\n" not in str(caught.value)


def test_tables_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.csv"):
        for read in (read_submit_table, read_arrivals):
            with pytest.raises(InputError, match="cannot be read"):
                read(path)
    binary = tmp_path / "binary.csv"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        read_submit_table(binary)


def test_arrivals_are_read_from_a_trace_or_a_table(write: Write) -> None:
    assert read_arrivals(write(row(), packed=True)).resolution == 1
    assert read_arrivals(write(row())).resolution == 1
    assert read_arrivals(write(TABLE_TEXT)).resolution == MICROSECONDS_PER_MINUTE
    without_comment = TABLE_TEXT.split("\n", 1)[1]
    assert read_arrivals(write(without_comment)).resolution == MICROSECONDS_PER_MINUTE
    assert read_arrivals(write("\ufeff" + TABLE_TEXT)).resolution == MICROSECONDS_PER_MINUTE


# The script, and the table that it made.


def test_the_script_writes_the_table(write: Write, tmp_path: Path) -> None:
    late, early = write(row(10**9, job=9), name="b.csv"), write(row(), row(0, job=8), name="a.csv")
    output = tmp_path / "table.csv"
    assert main([str(late), str(early), "-o", str(output)]) == 0
    text = output.read_text()
    assert text == counted_table([early, late])
    assert str(tmp_path) not in text
    for words in (
        "CC-BY 4.0",
        "Reiss",
        "Wilkes",
        "Hellerstein",
        "# part: a.csv\n# part: b.csv\n",
        "count_google_submits",
        "rows read: 3; SUBMIT rows: 3; submissions counted: 2",
        "1 jobs submitted at time 0",
    ):
        assert words in text
    assert len(read_submit_table(output)) == 2


def test_the_script_refuses_bad_input_without_writing(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "table.csv"
    assert main([str(write("bad")), "-o", str(output)]) == 2
    assert not output.exists()
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_the_shipped_table() -> None:
    path = data_file(TABLE)
    submits = read_submit_table(path)
    assert ",".join(TABLE_COLUMNS) in path.read_text().splitlines()
    assert len(submits) == 2161
    # Shares of about 36/63/1 % (training.md, section 4).
    shares = np.bincount(submits.classes, minlength=4) / len(submits)
    assert shares[0] == pytest.approx(0.36, abs=0.01)
    assert shares[1] + shares[2] == pytest.approx(0.63, abs=0.01)
    assert shares[3] == pytest.approx(0.01, abs=0.005)


@needs_raw_parts
def test_the_shipped_table_is_what_the_raw_parts_give() -> None:
    assert counted_table(RAW_PARTS).encode() == data_file(TABLE).read_bytes()


@needs_raw_parts
def test_the_raw_parts_have_no_bad_rows() -> None:
    report = read_trace(RAW_PARTS).report
    assert report is not None
    assert (report.rows, report.submits, report.malformed) == (6459, 2161, ())
