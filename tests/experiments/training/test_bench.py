"""The benchmark of the training family at a size that takes seconds."""

from experiments.side_by_side import ratios_of
from experiments.training.bench import bench


def test_all_parts_are_measured_and_the_ways_agree():
    found = bench(jobs=6, grid=((5, 6), (10, 6), (5, 12), (10, 12)), decisions=4, limit_machines=50)
    assert found["slot_programs"]["largest_difference"] < 1e-6
    assert found["slot_programs"]["programs"] > 50
    assert found["whole_run"]["curves"]["programs"] > 0
    assert found["decisions"]["H=10, T=12"]["kept_MB"] > 0
    assert set(found["growth"]) == {
        f"{quantile}_exponent_in_{axis}" for quantile in ("p50", "p99") for axis in "HT"
    }
    assert found["limit"]["iterations"] > 0
    assert found["start"]["help_s"] > 0
    names = [name for name, _ in ratios_of(found)]
    assert "slot_programs / ways / engine, warm / it_over_curves" in names
    assert "whole_run / slot programs / highs_over_curves" in names
