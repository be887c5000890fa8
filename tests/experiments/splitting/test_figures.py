"""Figures of splitting: grids, single rows against what is known, verdicts on known rows."""

import math

import numpy as np
import pandas as pd
import pytest

from experiments.splitting import example, fictitious_real, ladder
from experiments.splitting import greedy_optimal as optimal
from experiments.splitting import ilp_iqp as iqp
from experiments.splitting import service_times as times
from experiments.splitting.greedy_optimal_task import task as optimal_task
from experiments.splitting.ilp_iqp_task import task as iqp_task
from experiments.splitting.service_times_task import task as times_task


def rows_of(points, values, seeds=20):
    """Rows of every point and seed, a little different from seed to seed."""
    return pd.DataFrame(
        {
            **point,
            "seed": seed,
            **{
                name: value * (1 + 1e-3 * (seed % 5)) if isinstance(value, float) else value
                for name, value in values(point).items()
            },
        }
        for point in points
        for seed in range(seeds)
    )


def statuses(experiment, rows):
    return [verdict.status for _, verdict in experiment.judge(rows)]


# greedy-optimal


def gaps(found, proved, factor):
    def values(_point):
        return {
            "gap": found,
            "gap_high": proved,
            "status": "bounded",
            "greedy_seconds": 0.01,
            "opt_seconds": 0.01 * factor,
        }

    return rows_of(optimal.grid(False), values)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (gaps(3.0, 5.0, 500.0), ["reproduced", "reproduced"]),
        (gaps(3.0, 9.0, 50.0), ["partly", "not-reproduced"]),
        (gaps(8.0, 9.0, 500.0), ["not-reproduced", "reproduced"]),
    ],
)
def test_verdicts_on_the_gap_to_opt(rows, expected):
    assert statuses(optimal.GREEDY_OPTIMAL, rows) == expected


def test_opt_is_no_worse_than_the_policies_it_starts_from():
    row = optimal_task({"nodes": 6, "jobs": 3, "time_limit": 5.0}, 1)
    assert row["lower"] <= row["upper"] <= min(row["greedy"], row["nfs"])
    assert row["gap"] == pytest.approx(100 * (row["greedy"] / row["upper"] - 1))
    assert row["gap_high"] >= row["gap"] >= 0


# lp-ilp-time


def seconds(growth, small, columns, revisits):
    def values(point):
        crowd = point["jobs"] ** growth * (small if point["nodes"] == 15 else 1.0)
        return {
            "arcs_seconds": 0.1 * crowd,
            "lp_arcs_seconds": 0.1 * float(point["jobs"]),
            "lp_columns_seconds": 0.1 * float(point["jobs"]) / columns,
            "arcs_status": "optimal",
            "revisits": revisits * point["jobs"] / 12 * (point["nodes"] == 15),
        }

    return rows_of(times.grid(False), values)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (seconds(2.0, 3.0, 10.0, 8.0), ["reproduced"] * 4),
        (seconds(0.5, 0.5, 0.5, 0.0), ["not-reproduced"] * 4),
    ],
)
def test_verdicts_on_run_times(rows, expected):
    assert statuses(times.SERVICE_TIMES, rows) == expected


def test_both_ways_to_solve_an_instance_agree():
    row = times_task({"nodes": 7, "jobs": 3, "time_limit": 20.0}, 3)
    assert row["arcs_status"] == row["columns_status"] == "optimal"
    assert row["arcs_upper"] == pytest.approx(row["columns_upper"], rel=1e-7)
    assert row["lp"] <= row["arcs_upper"] * (1 + 1e-9)
    assert row["lp_arcs_seconds"] > 0
    assert 0 <= row["revisits"] <= 3


# ilp-iqp


def compared(gap, slow):
    def values(point):
        return {
            "gap": float(gap(point)),
            "ilp_seconds": 0.1,
            "linear_seconds": 0.1 * slow,
            "raw_seconds": 0.5 * slow if point["raw"] else math.nan,
            "ilp_status": "optimal",
            "linear_status": "optimal",
            "raw_status": "bounded" if point["raw"] else None,
        }

    return rows_of(iqp.grid(False), values)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (compared(lambda p: p["jobs"] / p["gamma"], 10.0), ["reproduced"] * 4),
        (
            compared(lambda p: p["gamma"] / p["jobs"], 0.1),
            ["reproduced", "not-reproduced", "not-reproduced", "not-reproduced"],
        ),
        (
            compared(lambda p: 0.0, 10.0),
            ["not-reproduced", "not-reproduced", "not-reproduced", "reproduced"],
        ),
    ],
)
def test_verdicts_on_the_iqp(rows, expected):
    assert statuses(iqp.ILP_IQP, rows) == expected


def test_the_raw_form_is_asked_for_where_jobs_are_few():
    points = iqp.grid(False)
    assert len(points) == 4 + 2 + 1
    assert sorted(p["jobs"] for p in points if p["raw"]) == [2, 4]
    rows = compared(lambda p: p["gamma"], 1.0)
    assert list(iqp.along(rows, "gamma", "gap")) == [0.2, 0.5, 1.0, 2.0]
    assert list(iqp.along(rows, "jobs", "gap")) == [2, 4, 8]
    assert list(iqp.along(rows, "nodes", "gap")) == [15, 20]
    assert list(iqp.along(rows, "jobs", "raw_seconds")) == [2, 4]


def test_all_three_ways_to_place_layers_agree_where_they_must():
    point = {"nodes": 6, "jobs": 2, "gamma": 0.5, "ilp_limit": 9.0, "time_limit": 9.0, "raw": True}
    row = iqp_task(point, 2)
    assert row["ilp_status"] == row["linear_status"] == row["raw_status"] == "optimal"
    assert row["iqp"] >= row["ilp"] * (1 - 1e-9)
    assert row["gap"] == pytest.approx(100 * (row["iqp"] / row["ilp"] - 1))


# ladder


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_a_ladder_row_is_as_constructed(jobs):
    row = ladder.task({"jobs": jobs, "epsilon": 0.125, "time_limit": 9.0}, 0)
    assert row["greedy"] == pytest.approx(2 ** (jobs - 1) * 0.875)
    assert row["opt"] <= row["shared"] <= jobs
    assert row["ratio"] >= min(ladder.predicted(jobs), 1.0)
    rows = pd.DataFrame([{"jobs": jobs, "epsilon": 0.125, "seed": 0, **row}])
    assert statuses(ladder.LADDER, rows) == ["reproduced"]
    assert statuses(ladder.LADDER, rows.assign(greedy=1.5)) == ["not-reproduced"]


# fictitious-vs-real


def test_nobody_is_late_in_the_real_network():
    row = fictitious_real.task({"nodes": 10, "jobs": 8, "gamma": 0.2}, 0)
    assert row["late"] <= 1e-7
    assert row["greedy_real"] <= row["greedy"] * (1 + 1e-9)
    assert row["greedy_slack"] == pytest.approx(100 * (row["greedy"] / row["greedy_real"] - 1))


@pytest.mark.parametrize(
    ("late", "excess", "expected"),
    [
        (0.0, 3.0, ["reproduced", "reproduced"]),
        (1.0, -3.0, ["not-reproduced", "not-reproduced"]),
    ],
)
def test_verdicts_on_the_real_network(late, excess, expected):
    from experiments.splitting.greedy_nfs import grid

    values = {"late": late, "greedy_slack": 2.0, "nfs_slack": 4.0, "excess_real": excess}
    rows = rows_of(grid(False), lambda _point: values)
    assert statuses(fictitious_real.FICTITIOUS_REAL, rows) == expected


# example


@pytest.mark.parametrize(
    ("whole", "expected"),
    [([80, 60, 100, 80], "reproduced"), ([100] * 4, "partly"), ([40] * 4, "not-reproduced")],
)
def test_verdicts_on_the_example(whole, expected):
    rows = pd.DataFrame({"seed": range(20), "whole": np.tile(whole, 5) * 1.0, "split": 1})
    assert statuses(example.EXAMPLE, rows) == [expected]


def test_the_example_shows_the_first_telling_seed():
    rows = pd.DataFrame({"seed": [0, 1, 2, 3], "split": [0, 1, 2, 1], "loops": [1, 0, 1, 1]})
    assert example.shown_seed(rows) == 2
    assert example.shown_seed(rows.assign(loops=0)) == 0
