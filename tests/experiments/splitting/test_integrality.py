"""splitting/integrality: single points, verdicts on rows that are known, and the note."""

import numpy as np
import pandas as pd
import pytest

from experiments.splitting.integrality import INTEGRALITY, budget_cells, grid
from experiments.splitting.integrality_note import note
from experiments.splitting.integrality_task import task
from models.splitting.counterexamples import load_counterexample
from models.splitting.layered_graph import layered_graph

NEAR = {"part": "single", "source": "near", "spread": 0.1, "draws": 5}


def rows_of(ratio: float = 1.001, greedy: int = 0, near: int = 20, seeds: int = 50) -> pd.DataFrame:
    rows = []
    for point in grid(False):
        for seed in range(seeds):
            row = {**point, "seed": seed, "status": "optimal", "programs": 20}
            if point["part"] == "budgets":
                row |= {"ratio": ratio + 1e-5 * seed, "ratio_low": ratio}
            else:
                gaps = {"near": near, "greedy": greedy, "hostile": 0}[point["source"]]
                if point.get("layers") == 2:
                    gaps = 0
                row |= {"gaps": gaps, "largest": 25.0 if gaps else 0.0}
            rows.append(row)
    return pd.DataFrame(rows)


def test_the_neighbourhood_of_the_counterexample_has_gaps_of_a_quarter() -> None:
    row = task(NEAR, 0)
    assert (row["programs"], row["gaps"]) == (5, 5)
    assert 20 < row["largest"] < 30


@pytest.mark.parametrize("shape", ["shrinking", "u-shaped"])
def test_two_layers_never_have_a_gap(shape: str) -> None:
    hostile = {"part": "single", "source": "hostile", "shape": shape, "layers": 2}
    assert task({**hostile, "nodes": 5, "draws": 8}, 1)["gaps"] == 0


def test_the_greedy_meets_a_program_per_round_and_job_left() -> None:
    point = {"part": "single", "source": "greedy", "shape": "u-shaped", "layers": 3}
    row = task({**point, "nodes": 6, "jobs": 4}, 2)
    assert row["programs"] == 4 + 3 + 2 + 1


def test_a_service_instance_has_an_interval_over_its_lp() -> None:
    point = {"part": "budgets", "nodes": 8, "jobs": 4, "time_limit": 5.0, "most_columns": 3000}
    row = task(point, 0)
    assert 1 - 1e-9 <= row["ratio_low"] <= row["ratio"] < 1.2


@pytest.mark.parametrize(
    ("rows", "statuses"),
    [
        (rows_of(), ["reproduced", "not-reproduced", "reproduced"]),
        (rows_of(near=0), ["reproduced", "reproduced", "reproduced"]),
        (rows_of(greedy=1), ["reproduced", "not-reproduced", "partly"]),
        (rows_of(ratio=1.05), ["not-reproduced", "not-reproduced", "reproduced"]),
        (rows_of(seeds=19), ["not-run", "not-reproduced", "not-run"]),
    ],
)
def test_verdicts_on_known_rows(rows: pd.DataFrame, statuses: list[str]) -> None:
    assert [verdict.status for _, verdict in INTEGRALITY.judge(rows)] == statuses


def test_instances_without_a_solution_are_left_out_of_their_cell() -> None:
    rows = rows_of(seeds=20)
    at = rows.index[(rows["part"] == "budgets") & (rows["nodes"] == 20) & (rows["jobs"] == 5)][0]
    rows.loc[at, "ratio"] = None
    assert len(budget_cells(rows)[20, 5]) == 19


def test_the_submatrix_of_the_note_has_determinant_two() -> None:
    arcs = [((0, 0), (0, 1)), ((0, 2), (0, 3)), ((0, 0), (1, 0)), ((0, 2), (1, 2))]
    arcs += [((1, 0), (1, 1)), ((1, 1), (1, 2))]
    instance = load_counterexample("smallest")
    graph = layered_graph(instance, 0)
    there = {
        (divmod(t, 3)[::-1], divmod(h, 3)[::-1])
        for t, h in zip(graph.tail.tolist(), graph.head.tolist(), strict=True)
    }
    assert set(arcs) <= there
    flow = [
        [(v == tail) - (v == head) for tail, head in arcs] + [0]
        for v in [(0, 0), (1, 0), (1, 1), (0, 2), (1, 2)]
    ]
    charged = [[1, 0, 0, 0, 0, 0, -1], [0, 1, 0, 0, 0, 0, -1]]
    assert abs(np.linalg.det(np.array(flow + charged))) == pytest.approx(2)


def test_the_note_has_the_example_with_all_its_placements_and_what_was_counted() -> None:
    text = note(rows_of())
    assert "LP 8.111 s, integer optimum 10.111 s" in text
    assert "LP 8.643 s, integer optimum 8.889 s" in text
    assert text.count("| 0, 1, 1 | 10.111 |") == 1
    placements = [line for line in text.splitlines() if line.startswith("| ") and ", " in line[:8]]
    assert sum(line.count(" | | ") + 1 for line in placements[:9]) == 27
    assert "| near the example, spread 0.1 | 1000 of 1000 | 25.00 |" in text
    assert "| met by the greedy, L = 2, u-shaped | 0 of 1000 | 0.00 |" in text
