"""The bench runs, small."""

from experiments.dispatch.bench import bench


def test_a_small_bench_has_its_rows() -> None:
    found = bench(nodes=4, jobs=20)
    assert [row["seconds"] > 0 for row in found["plans"].values()] == [True] * 3
