"""The bench measures methods that agree, or says that they do not."""

import pytest

from experiments.side_by_side import ratios_of
from experiments.splitting import bench_whole
from experiments.splitting.bench import bench


def test_a_small_bench_compares_all_methods_at_every_size():
    found = bench(nodes=(10,), small=((10, 3),), large=(), columns=((10, 3),))
    assert list(found["one_job"]) == ["N=10, L=8", "N=10, L=20"]
    for record in found["one_job"].values():
        assert all(number > 0 for number in record.values())
        assert record["low"] <= record["lp_over_exact"] <= record["high"]
    assert len(list(ratios_of(found))) == 2
    record = found["whole_greedy"]["N=10, J=3"]
    assert record["lazy_routes"] <= record["literal_routes"] == 6
    record = found["relaxation"]["N=10, J=3"]
    times = record["arcs_seconds"] / record["columns_seconds"]
    assert record["arcs_to_columns"] == pytest.approx(times)


def test_the_memory_of_a_large_greedy_is_that_of_its_own_process():
    found = bench_whole.large_greedy(40, 20, 0)
    assert found["lazy_routes"] >= 20
    assert 0 < found["before_mib"] <= found["peak_mib"]


def test_methods_that_disagree_are_not_timed(monkeypatch):
    monkeypatch.setattr(bench_whole, "_relaxed_by_columns", lambda _: (1.0, 1.0))
    with pytest.raises(AssertionError, match="columns and arcs disagree"):
        bench_whole.columns_against_arcs(6, 2, 0)
