"""The bench measures methods that agree, or says that they do not."""

from experiments.splitting.bench import bench


def test_a_small_bench_compares_all_methods_at_every_size():
    found = bench(nodes=(10,), greedy=((10, 3),))
    assert len(found["one_job"]) == 10
    assert all(record["ms"] > 0 for record in found["one_job"].values())
    record = found["whole_greedy"]["N=10, J=3"]
    assert record["lazy_routes"] <= record["literal_routes"] == 6
