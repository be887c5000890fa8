"""splitting/greedy-nfs: its points, one row by hand, and verdicts on rows that are known."""

import pandas as pd
import pytest

from algorithms.splitting import run
from experiments.splitting.greedy_nfs import GREEDY_NFS, along, grid, task
from models.splitting.generator import generate


def rows_of(excess, seeds=20):
    return pd.DataFrame(
        {**point, "seed": seed, "excess": excess(point) + 0.01 * (seed % 5)}
        for point in grid(False)
        for seed in range(seeds)
    )


def test_the_middle_point_is_there_once_and_on_every_axis():
    points = grid(False)
    assert len(points) == 4 + 3 + 5
    rows = rows_of(lambda point: 10 / point["gamma"])
    assert list(along(rows, "gamma")) == [0.2, 0.5, 1.0, 2.0]
    assert list(along(rows, "nodes")) == [20, 30, 40, 50]
    assert list(along(rows, "jobs")) == [5, 10, 20, 30, 40, 50]


def test_a_row_holds_both_policies_on_one_instance():
    row = task({"nodes": 8, "jobs": 3, "gamma": 0.5}, 4)
    instance = generate(8, 3, gamma=0.5, seed=4).instance
    greedy, nfs = (run(instance, name).solution.objective for name in ("greedy", "nfs"))
    assert (row["greedy"], row["nfs"]) == (greedy, nfs)
    assert row["excess"] == pytest.approx(100 * (nfs - greedy) / greedy)


@pytest.mark.parametrize(
    ("excess", "better", "grows"),
    [
        (lambda point: 10 / point["gamma"], "reproduced", "reproduced"),
        (lambda point: 10 * point["gamma"], "reproduced", "not-reproduced"),
        (lambda point: -10 / point["gamma"], "not-reproduced", "not-reproduced"),
    ],
)
def test_verdicts_on_known_rows(excess, better, grows):
    found = [verdict.status for _, verdict in GREEDY_NFS.judge(rows_of(excess))]
    assert found == [better, grows]


def test_below_twenty_seeds_nothing_is_judged():
    judged = GREEDY_NFS.judge(rows_of(lambda point: 10 / point["gamma"], seeds=19))
    assert {verdict.status for _, verdict in judged} == {"not-run"}
