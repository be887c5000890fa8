"""The Gantt chart of dispatch: bars apart, the power is the audit's, odd input is drawn."""

from itertools import combinations
from pathlib import Path

import pytest

from algorithms.dispatch.exact.first_fit import first_fit
from experiments.dispatch.gantt import plot_schedule
from experiments.dispatch.gantt_lanes import bars_of, power_profile
from models.dispatch import DispatchInstance, DispatchSchedule, audit, build_schedule
from models.dispatch.generator import generate
from models.files import InputError
from tests.dispatch_factories import make_instance, make_job, random_instance


def planned(instance: DispatchInstance) -> DispatchSchedule:
    return build_schedule(instance, "first-fit", *first_fit(instance))


def test_bars_stay_in_their_lane_and_apart() -> None:
    for seed in range(40):
        instance = random_instance(seed, jobs=8)
        bars = bars_of(instance, planned(instance))
        assert all(bar.bottom >= 0 and bar.bottom + bar.height <= 1 + 1e-9 for bar in bars)
        for one, two in combinations(bars, 2):
            if one.node == two.node and one.start < two.end and two.start < one.end:
                above, below = max(one.bottom, two.bottom), min(one, two, key=lambda b: b.bottom)
                assert above >= below.bottom + below.height - 1e-9


def test_a_bar_is_as_high_as_the_largest_share() -> None:
    instance = make_instance([make_job("a", units=[8]), make_job("b", units=[4, 4])])
    bars = bars_of(instance, planned(instance))
    assert [(bar.job, bar.height) for bar in bars] == [(0, 0.5), (1, 0.25), (1, 0.25)]


def test_the_profile_peaks_where_the_audit_says() -> None:
    for seed in range(40):
        instance = random_instance(seed, jobs=8)
        schedule = planned(instance)
        times, watts = power_profile(instance, schedule)
        assert len(times) == len(watts) + 1
        assert max(watts) == pytest.approx(audit(instance, schedule).peak_power)


def test_power_of_a_simulation_is_real() -> None:
    instance = make_instance([make_job(power=80.0, actual_power=90.0)])
    start, nodes = first_fit(instance)
    simulated = build_schedule(instance, "p", start, nodes, end=[60])
    assert power_profile(instance, simulated) == ([0, 60], [190.0])


def test_same_schedule_same_bytes(tmp_path: Path) -> None:
    instance = generate(8, 20, seed=1).instance
    for name in ("one.svg", "two.svg"):
        plot_schedule(instance, planned(instance), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_odd_schedules_are_drawn(tmp_path: Path) -> None:
    empty = make_instance()
    plot_schedule(empty, planned(empty), tmp_path / "empty.png")
    # Above the cap, more queues than colours, a name with a dollar, an impossible job.
    jobs = [make_job(f"${k}$", units=[1], queue=f"q{k}") for k in range(12)]
    odd = make_instance([*jobs, make_job("big", units=[99])], power_cap=150.0)
    drawn = build_schedule(odd, "p", [0] * 12 + [-1], [0] * 13)
    figure = plot_schedule(odd, drawn, tmp_path / "odd.png")
    assert "above the cap" in {text.get_text() for text in figure.axes[1].get_legend().texts}
    assert any("1 impossible" in text.get_text() for text in figure.texts)


def test_foreign_names_are_refused() -> None:
    instance = make_instance([make_job()])
    other = make_instance([make_job("else")])
    with pytest.raises(InputError, match=r"jobs\[0\]\.name"):
        plot_schedule(instance, planned(other))
