"""The bench runs, small."""

from experiments.dispatch.bench import bench


def test_a_small_bench_has_its_rows() -> None:
    found = bench(nodes=4, jobs=20, log_jobs=200, log_days=2)
    assert [row["seconds"] > 0 for row in found["plans"].values()] == [True] * 3
    assert list(found["year"]) == [
        *("log made", "log imported", "easy simulated", "easy audited"),
        *("prb simulated", "prb audited"),
    ]
    assert all(row["memory_MB"] > 10 for row in found["year"].values())
    assert found["year"]["easy simulated"]["jobs"] >= 180
