"""Instances of experiments: a trace must suffice for every point that draws from it."""

from pathlib import Path

import pytest

from experiments.training.instances import check_arrivals
from models.files import InputError


def trace(path: Path, jobs: int) -> str:
    rows = [f"{(k + 1) * 1_000_000},,{k},0,u,{k % 4},a,b" for k in range(jobs)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


def test_a_trace_needs_a_submission_for_each_job(tmp_path: Path) -> None:
    arrivals = trace(tmp_path / "trace.csv", jobs=5)
    check_arrivals([{"jobs": 3, "arrivals": arrivals}, {"jobs": 5, "arrivals": arrivals}])
    with pytest.raises(InputError, match=r"trace.csv: must hold at least 6 .* \(got 5\)$"):
        check_arrivals([{"jobs": 3, "arrivals": arrivals}, {"jobs": 6, "arrivals": arrivals}])


def test_the_shipped_table_suffices_and_drawn_arrivals_need_none() -> None:
    check_arrivals([{"jobs": 100}])
    check_arrivals([{"jobs": 10**6, "mix": "default"}, {"jobs": 10**6, "mix": "google"}])
    with pytest.raises(InputError, match=r"google2011_submits\.csv"):
        check_arrivals([{"jobs": 10**6}])
