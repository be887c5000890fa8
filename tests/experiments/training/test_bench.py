"""The benchmark of the training family at a size that takes seconds."""

from experiments.bench_reference import BenchReference
from experiments.side_by_side import ratios_of
from experiments.training.bench import bench
from models.data import data_file
from models.files import read_model


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
    assert set(names) == set(stored_ratios())


def stored_ratios():
    return read_model(BenchReference, data_file("bench/training.json")).families["training"]


def test_the_stored_reference_holds_what_the_issue_asks_for():
    """At H = 100, R = 4 and 20 levels at least 20 times the warm engine, and over a whole run."""
    stored = stored_ratios()
    assert stored["slot_programs / ways / engine, warm / it_over_curves"].least >= 20
    assert stored["whole_run / slot programs / highs_over_curves"].least >= 20
