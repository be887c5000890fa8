"""Reading logs: what is kept, what is dropped and why, and files that are no logs."""

import gzip
from pathlib import Path

import pytest

from models.dispatch.swf import import_swf, read_swf
from models.files import InputError

REAL = Path(__file__).parents[4] / "shared/data/swf/HPC2N-2002-alea-head.swf"

HEADER = "; Version: 2.2\n;\n"


def row(number: int = 1, **changes: object) -> str:
    text = "job submit wait run allocated cpu used requested time memory status user group "
    text += "executable queue partition preceding think"
    names = text.split()
    values = dict.fromkeys(names, "-1") | {"job": str(number), "submit": "10", "run": "60"}
    values |= {"requested": "3", "time": "100", "status": "1"}
    values |= {name: str(value) for name, value in changes.items()}
    return "  " + " ".join(values.values()) + "\n"


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "log.swf"
    path.write_bytes(text.encode())
    return path


def test_a_row_becomes_a_job(tmp_path: Path) -> None:
    log = write(tmp_path, HEADER + row(7, memory=524288))
    imported = import_swf(log, 4, 2, memory=8.0, cap="50%")
    instance = imported.instance
    job = instance.jobs[0]
    assert (job.name, job.submit, job.duration, job.runtime) == ("7", 10, 100, 60)
    assert [dict(unit) for unit in job.units] == [
        {"cores": 2, "memory": 1.0},
        {"cores": 1, "memory": 0.5},
    ]
    assert (job.queue, job.expected_wait, job.power) == ("debug", 1800, 27.0)
    assert instance.power_cap == 4 * 100 + 0.5 * 8 * 9
    assert instance.resources == ("cores", "memory")
    assert import_swf(log, 4, 2).instance.resources == ("cores",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (row(2, run=-1), "run time unknown"),
        (row(2, run=0, status=5), "cancelled before it ran"),
        (row(2, submit=-1), "submit time unknown"),
        (row(2, requested=-1), "number of processors unknown"),
        (row(2, requested=2.5), "number of processors unknown"),
        (row(2, time="x"), "has a field that is not a number"),
        (row(2, time="nan"), "has a number that is too large"),
        (row(1), "job number came before"),
        (row(2)[:30], "fields instead of 18"),
    ],
)
def test_dropped_rows_are_listed(tmp_path: Path, text: str, reason: str) -> None:
    records, dropped = read_swf(write(tmp_path, HEADER + row(1) + text))
    assert [record.number for record in records] == ["1"]
    assert [drop.line for drop in dropped] == [4]
    assert reason in dropped[0].reason
    notes = import_swf(write(tmp_path, HEADER + row(1) + text), 2, 2).notes
    assert notes[0] == "rows: 2, usable: 1, jobs: 1, dropped: 1"
    assert "(line 4)" in notes[1]


def test_unknown_and_fractional_fields(tmp_path: Path) -> None:
    text = (
        row(1, submit=20.9, run=0.2, time=-1)
        + row(2, submit="-0.0", requested=-1, allocated=2)
        + row(3, submit=5, run=500, time=100)
    )
    records, dropped = read_swf(write(tmp_path, text))
    assert dropped == []
    assert [(r.number, r.submit) for r in records] == [("2", 0), ("3", 5), ("1", 20)]
    assert [r.processors for r in records] == [2, 3, 3]
    assert (records[2].runtime, records[2].requested_time) == (1, 1)
    assert (records[1].runtime, records[1].requested_time) == (500, 100)  # outruns its estimate
    assert [job.name for job in import_swf(write(tmp_path, text), 2, 2, limit=2).instance.jobs] == [
        "2",
        "3",
    ]


def test_gzip_and_windows_line_ends_make_no_difference(tmp_path: Path) -> None:
    text = HEADER + row(1) + row(2, submit=3)
    expected = read_swf(write(tmp_path, text))
    assert read_swf(write(tmp_path, text.replace("\n", "\r\n"))) == expected
    packed = tmp_path / "log.swf.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert read_swf(packed) == expected
    packed.write_bytes(gzip.compress(text.encode())[:-12])
    with pytest.raises(InputError, match="cut off"):
        read_swf(packed)


@pytest.mark.parametrize("text", ["<html>\n<body>\n", "job,submit\n1,2\n", "\x00\xff\n"])
def test_other_files_are_refused_in_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="is not an SWF log: line 1 has") as caught:
        read_swf(write(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_a_log_without_rows_is_an_instance_without_jobs(tmp_path: Path) -> None:
    assert import_swf(write(tmp_path, HEADER), 2, 2).instance.jobs == ()
    with pytest.raises(InputError, match="cannot be read"):
        read_swf(tmp_path / "none.swf")


@pytest.mark.skipif(not REAL.exists(), reason="the shared HPC2N excerpt is not here")
def test_the_hpc2n_excerpt() -> None:
    records, dropped = read_swf(REAL)
    assert len(records) + len(dropped) == 3170
    assert {row.reason for row in dropped} == {"run time unknown"}
    assert [r.submit for r in records] == sorted(r.submit for r in records)
    instance = import_swf(REAL, 120, 2).instance
    assert instance.arrays.possible.all()


def test_zero_durations_and_equal_submits(tmp_path: Path) -> None:
    rows = "".join(row(k, run=0, time=0) for k in range(1, 4))
    instance = import_swf(write(tmp_path, HEADER + rows), 1, 3).instance
    assert [(job.submit, job.duration, job.runtime) for job in instance.jobs] == [(10, 1, 1)] * 3
    assert [job.name for job in instance.jobs] == ["1", "2", "3"]


def test_a_job_of_absurd_size_is_dropped_and_a_large_one_is_impossible(tmp_path: Path) -> None:
    path = write(tmp_path, HEADER + row(1, requested=10**9) + row(2, requested=9) + row(3))
    imported = import_swf(path, 2, 2)
    assert [(row.line, row.reason) for row in imported.dropped] == [
        (3, "needs more than 100000 nodes")
    ]
    assert imported.notes[0] == "rows: 3, usable: 2, jobs: 2, dropped: 1"
    assert imported.instance.arrays.possible.tolist() == [False, True]
