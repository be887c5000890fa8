"""Generated instances: ranges, shares, independence of streams, and what is said about them."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.data import data_file
from models.files import InputError, to_json
from models.google_table import TABLE, read_arrivals
from models.google_trace import MICROSECONDS_PER_MINUTE, Submits
from models.training import Job, TrainingInstance
from models.training.arrivals import alternating_arrivals, trace_arrivals
from models.training.generator import MOST_DRAWS, generate
from models.training.presets import (
    BODY_DRAWS,
    MIXES,
    PRESETS,
    job_from_draws,
    sensitivity_from_draw,
    utility_from_draws,
)


def stream(seed: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def submits_of(times: Any, classes: Any = None, resolution: int = 1) -> Submits:
    times = np.array(times, dtype=np.int64)
    classes = np.zeros(len(times)) if classes is None else np.array(classes)
    return Submits(times, classes.astype(np.int64), resolution, "a test")


def sensitivity_of(job: Job) -> str:
    decay = job.utility.decay
    return "insensitive" if decay == 0 else "sensitive" if decay <= 1 else "critical"


# The ranges.

UTILITY = utility_from_draws(0, (0.0, 0.0, 0.0))
JUST_BELOW_ONE = np.nextafter(1.0, 0.0)


def bodies(preset: str) -> tuple[Job, Job]:
    """The jobs of the lowest and the highest numbers."""
    return tuple(
        job_from_draws("j0", 0, UTILITY, [draw] * BODY_DRAWS, PRESETS[preset], 10.0)
        for draw in (0.0, JUST_BELOW_ONE)
    )  # type: ignore[return-value]


RANGES = {
    "epochs": (50, 200),
    "samples": (20_000, 500_000),
    "batch": (1, 200),
    "gradient": (30.0, 575.0),
    "sample_time": (1e-5, 1e-4),
    "workers_per_ps": (1.0, 10.0),
    # 0.1..4 Gbit/s * 125 MB/s * 3600 s (D10)
    "bandwidth_external": (45_000.0, 1_800_000.0),
    "bandwidth_internal": (450_000.0, 18_000_000.0),
}
DEMANDS = {
    "worker": {"gpu": (0, 4), "cpu": (1, 10), "memory": (2, 32), "storage": (5, 10)},
    "ps": {"cpu": (1, 10), "memory": (2, 32), "storage": (5, 10)},
}


def test_the_paper_s_ranges_end_where_they_should() -> None:
    low, high = bodies("paper")
    for field, (least, most) in RANGES.items():
        assert getattr(low, field) == pytest.approx(least, rel=1e-12)
        assert getattr(high, field) == pytest.approx(most, rel=1e-12)
    for side, demands in DEMANDS.items():
        assert getattr(low, side).keys() == demands.keys()
        for resource, (least, most) in demands.items():
            assert getattr(low, side)[resource] == least
            assert getattr(high, side)[resource] == pytest.approx(most, rel=1e-12)


def test_calibrated_has_a_tenth_of_the_samples_and_nothing_else() -> None:
    for paper, calibrated in zip(bodies("paper"), bodies("calibrated"), strict=True):
        assert calibrated.samples == paper.samples // 10
        assert calibrated.model_copy(update={"samples": paper.samples}) == paper


def test_whole_numbers_are_equally_likely() -> None:
    gpus = [
        job_from_draws("j", 0, UTILITY, [u] * BODY_DRAWS, PRESETS["paper"], 1.0).worker["gpu"]
        for u in (np.arange(1000) + 0.5) / 1000
    ]
    assert [gpus.count(k) for k in range(5)] == [200] * 5


def test_utilities_of_the_three_classes() -> None:
    ends = [[utility_from_draws(k, [u] * 3).decay for u in (0.0, JUST_BELOW_ONE)] for k in range(3)]
    assert ends == [[0, 0], pytest.approx([0.01, 1]), pytest.approx([4, 6])]
    low, high = (utility_from_draws(1, [u] * 3) for u in (0.0, JUST_BELOW_ONE))
    assert (low.priority, low.target) == (1, 1)
    assert (high.priority, high.target) == pytest.approx((100, 15))


@pytest.mark.parametrize(("mix", "ends"), [("default", (0.10, 0.65)), ("google", (0.30, 0.99))])
def test_shares_of_a_mix(mix: str, ends: tuple[float, float]) -> None:
    assert sum(MIXES[mix]) == pytest.approx(1)
    tiny = 1e-9
    draws = [0.0, ends[0] - tiny, ends[0] + tiny, ends[1] - tiny, ends[1] + tiny, JUST_BELOW_ONE]
    assert [sensitivity_from_draw(u, mix) for u in draws] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("preset", ["paper", "calibrated"])
def test_generated_jobs_are_within_the_ranges(preset: str) -> None:
    instance = generate(60, 20, 20, preset=preset, seed=3).instance
    divisor = 10 if preset == "calibrated" else 1
    for job in instance.jobs:
        assert 0 <= job.arrival < 20
        for field, (least, most) in RANGES.items():
            scale = divisor if field == "samples" else 1
            assert least / scale <= getattr(job, field) <= most / scale
        assert job.bandwidth_internal == pytest.approx(10 * job.bandwidth_external, rel=1e-15)
        for side, demands in DEMANDS.items():
            for resource, (least, most) in demands.items():
                amount = getattr(job, side)[resource]
                assert least <= amount <= most
                assert amount.is_integer() or resource in ("memory", "storage")
        assert 1 <= job.utility.priority <= 100
        assert 1 <= job.utility.target <= 15
    assert [machine.capacity for machine in instance.machines] == [
        {"gpu": 36, "cpu": 99, "memory": 306, "storage": 135}
    ] * 20
    assert [job.name for job in instance.jobs] == [f"j{i}" for i in range(60)]
    assert [machine.name for machine in instance.machines] == [f"m{h}" for h in range(20)]


def test_priorities_demands_and_classes_are_independent() -> None:
    jobs = generate(2000, 10, 1, preset="paper", seed=5).instance.jobs
    columns = np.array(
        [
            (
                job.epochs, job.samples, job.batch, job.gradient, job.sample_time,
                job.workers_per_ps, job.bandwidth_external, *job.worker.values(),
                *job.ps.values(), job.arrival, job.utility.priority, job.utility.decay,
                job.utility.target,
            )
            for job in jobs
        ]
    ).T  # fmt: skip
    correlations = np.corrcoef(columns) - np.eye(len(columns))
    assert np.abs(correlations).max() < 4.5 / math.sqrt(len(jobs))


# Presets.


@pytest.mark.parametrize(("slots", "machines"), [(1, 1), (10, 4), (20, 2), (13, 100)])
def test_calibrated_jobs_are_all_possible(slots: int, machines: int) -> None:
    generated = generate(30, slots, machines, seed=1)
    assert generated.instance.possible_jobs == tuple(range(30))
    assert generated.report.impossible == 0
    assert generated.report.redraws >= generated.report.most_redraws > 0


def test_paper_redraws_nothing_and_counts_the_impossible() -> None:
    generated = generate(50, 20, 100, preset="paper", seed=1)
    report = generated.report
    assert (report.redraws, report.most_redraws) == (0, 0)
    assert report.impossible == 50 - len(generated.instance.possible_jobs)
    # "Two thirds to nine tenths of these jobs are impossible at the paper's T and H."
    assert 0.6 < report.impossible / 50 < 0.95


def test_redraws_keep_arrival_and_utility() -> None:
    calibrated = generate(40, 10, 4, seed=2)
    paper = generate(40, 10, 4, seed=2, preset="paper")
    assert calibrated.report.redraws > 0
    for job, original in zip(calibrated.instance.jobs, paper.instance.jobs, strict=True):
        assert (job.arrival, job.utility) == (original.arrival, original.utility)


def test_redraws_are_counted() -> None:
    generated = generate(40, 10, 4, seed=2)
    # A job that was not redrawn is the paper's with a tenth of the samples.
    paper = generate(40, 10, 4, seed=2, preset="paper").instance.jobs
    kept = sum(
        job == original.model_copy(update={"samples": original.samples // 10})
        for job, original in zip(generated.instance.jobs, paper, strict=True)
    )
    assert 0 < kept < 40
    assert generated.report.redraws >= 40 - kept
    assert 1 <= generated.report.most_redraws <= generated.report.redraws


def test_a_cluster_on_which_nothing_is_possible() -> None:
    with pytest.raises(InputError) as caught:
        generate(1, 1, 1, scales=[0.01])
    message = str(caught.value)
    assert message.startswith("preset: ")
    assert str(MOST_DRAWS) in message
    assert "\n" not in message
    assert generate(0, 1, 1, scales=[0.01]).report.impossible == 0
    assert generate(3, 1, 1, scales=[0.0], preset="paper").report.impossible == 3


def test_machines_may_differ() -> None:
    machines = generate(0, 1, 5, scales=(1, 0.5)).instance.machines
    assert [machine.capacity["cpu"] for machine in machines] == [99, 49.5, 99, 49.5, 99]
    assert "scaled by 1, 0.5" in " ".join(generate(0, scales=(1, 0.5)).report.lines())


# Seeds and common random numbers.


def test_the_same_seed_gives_the_same_bytes() -> None:
    google = read_arrivals(data_file(TABLE))
    for options in ({}, {"preset": "paper", "mix": "google"}, {"arrivals": google}):
        one, other = (generate(20, 10, 4, seed=7, **options) for _ in range(2))  # type: ignore[arg-type]
        assert to_json(one.instance) == to_json(other.instance)
        assert one.report == other.report
        assert one.instance != generate(20, 10, 4, seed=8, **options).instance  # type: ignore[arg-type]


def test_generating_does_not_touch_numpy_s_global_state() -> None:
    before = np.random.get_state()[1].tolist()  # type: ignore[index,union-attr]  # noqa: NPY002
    generate(5)
    assert np.random.get_state()[1].tolist() == before  # type: ignore[index,union-attr]  # noqa: NPY002


def test_machines_do_not_change_the_paper_s_jobs() -> None:
    few, many = (generate(30, 20, h, preset="paper", seed=4).instance for h in (1, 50))
    assert few.jobs == many.jobs


@pytest.mark.parametrize("from_trace", [False, True])
@pytest.mark.parametrize("preset", ["paper", "calibrated"])
def test_more_jobs_keep_the_first_ones(preset: str, from_trace: bool) -> None:
    arrivals = read_arrivals(data_file(TABLE)) if from_trace else None
    few, many = (
        generate(i, 20, 20, preset=preset, seed=4, arrivals=arrivals).instance for i in (10, 60)
    )
    assert many.jobs[:10] == few.jobs


def test_calibrated_jobs_change_with_the_machines_only_where_a_redraw_did() -> None:
    few, many = (generate(60, 20, h, seed=4) for h in (20, 100))
    changed = sum(a != b for a, b in zip(few.instance.jobs, many.instance.jobs, strict=True))
    assert changed <= 6
    if few.report.redraws == many.report.redraws:
        assert changed == 0


def test_the_mix_changes_nothing_but_the_decay() -> None:
    default, google = (generate(60, 20, 20, mix=mix, seed=4) for mix in ("default", "google"))
    assert default.instance != google.instance
    for job, other in zip(default.instance.jobs, google.instance.jobs, strict=True):
        utility = other.utility.model_copy(update={"decay": job.utility.decay})
        assert other.model_copy(update={"utility": utility}) == job


def test_locality_changes_nothing_but_the_internal_bandwidth() -> None:
    one, thirty = (
        generate(30, 20, 20, preset="paper", locality=x, seed=4).instance for x in (1, 30)
    )
    for job, other in zip(one.jobs, thirty.jobs, strict=True):
        assert job.bandwidth_internal == job.bandwidth_external
        assert other.bandwidth_internal == pytest.approx(30 * other.bandwidth_external, rel=1e-15)
        assert other.model_copy(update={"bandwidth_internal": job.bandwidth_internal}) == job


@given(
    jobs=st.integers(0, 8),
    slots=st.integers(1, 12),
    machines=st.integers(1, 5),
    preset=st.sampled_from(["paper", "calibrated"]),
    mix=st.sampled_from(["default", "google"]),
    seed=st.integers(0, 10**6),
)
def test_anything_generated_is_a_valid_instance(
    jobs: int, slots: int, machines: int, preset: str, mix: str, seed: int
) -> None:
    generated = generate(jobs, slots, machines, preset=preset, mix=mix, seed=seed)
    instance = generated.instance
    assert TrainingInstance.model_validate_json(to_json(instance)) == instance
    assert len(instance.jobs) == jobs
    assert len(instance.machines) == machines
    assert sum(generated.report.sensitivities.values()) == jobs


# Arrivals.


def test_alternating_arrivals_have_the_paper_s_weights() -> None:
    jobs, slots = 60_000, 5
    drawn = alternating_arrivals(jobs, slots, stream(1)).slots
    # 1/3, 2/3, 1/3, 2/3, 1/3 of a total of 7/3; the paper's slot 1 is slot 0.
    expected = np.array([1, 2, 1, 2, 1]) / 7
    counts = np.bincount(drawn, minlength=slots)
    deviation = (counts - jobs * expected) / np.sqrt(jobs * expected * (1 - expected))
    assert np.abs(deviation).max() < 4


def test_alternating_arrivals_in_one_and_two_slots() -> None:
    assert set(alternating_arrivals(50, 1, stream()).slots.tolist()) == {0}
    two = alternating_arrivals(3000, 2, stream()).slots
    assert two.mean() == pytest.approx(2 / 3, abs=0.04)
    assert set(alternating_arrivals(50, 10**9, stream()).slots >= 0) == {True}


def test_trace_arrivals_stretch_the_window_over_the_slots() -> None:
    # One window, all of it sampled: first submit in slot 0, last in slot T-1.
    times = [100, 150, 199, 200, 299, 300]
    arrivals = trace_arrivals(submits_of(times), 6, 4, stream())
    # Shares 0, .25, .495, .5, .995, 1 of 4 slots.
    assert sorted(arrivals.slots.tolist()) == [0, 1, 1, 2, 3, 3]


def test_trace_arrivals_say_what_was_stretched() -> None:
    minute = MICROSECONDS_PER_MINUTE
    arrivals = trace_arrivals(submits_of([2 * minute, 3 * minute, 5 * minute]), 2, 4, stream())
    assert arrivals.source == (
        "a test: 2 of 3 consecutive submissions, 3 minutes stretched over 4 slots"
    )


def test_trace_arrivals_take_consecutive_submissions() -> None:
    times = np.cumsum(np.arange(1, 101))
    classes = np.arange(100) % 4
    seen = set()
    for seed in range(30):
        arrivals = trace_arrivals(submits_of(times, classes), 5, 1000, stream(seed), window=5)
        # The gaps grow by one each, so the middle one tells where the window lies.
        found = sorted(arrivals.slots.tolist())
        assert (found[0], found[-1]) == (0, 999)
        starts = [
            start
            for start in range(96)
            if [
                min(999, int((t - times[start]) / (times[start + 4] - times[start]) * 1000))
                for t in times[start : start + 5]
            ]
            == found
        ]
        assert starts
        seen.add(starts[0])
    assert len(seen) > 10


def test_trace_arrivals_bring_the_class_of_the_submission() -> None:
    # Class k is submitted at times of its own.
    times, classes = [0, 10, 20, 30], [3, 0, 2, 1]
    arrivals = trace_arrivals(submits_of(times, classes), 4, 4, stream(3))
    assert arrivals.sensitivities is not None
    found = dict(zip(arrivals.slots.tolist(), arrivals.sensitivities.tolist(), strict=True))
    # Slots 0, 1 (10/30*4 = 1.3), 2 (2.7), 3; classes 0 | 1, 2 | 3 are not | rather | very urgent.
    assert found == {0: 2, 1: 0, 2: 1, 3: 1}


def test_times_within_a_minute_are_drawn() -> None:
    minute = MICROSECONDS_PER_MINUTE
    table = submits_of([0] * 600 + [minute] * 600, [0] * 600 + [1] * 600, resolution=minute)
    arrivals = trace_arrivals(table, 1200, 12, stream(5), window=1200)
    counts = np.bincount(arrivals.slots, minlength=12)
    assert counts.min() > 60
    assert counts.max() < 140
    assert arrivals.sensitivities is not None
    assert set(arrivals.slots[arrivals.sensitivities == 0].tolist()) == set(range(6))


def test_a_window_that_cuts_a_minute_does_not_prefer_a_class() -> None:
    minute = MICROSECONDS_PER_MINUTE
    table = submits_of([0] * 100, [0] * 50 + [1] * 50, resolution=minute)
    first = [trace_arrivals(table, 50, 5, stream(s), window=50).sensitivities for s in range(20)]
    shares = [float(np.mean(found)) for found in first if found is not None]
    assert len(shares) == 20
    assert np.mean(shares) == pytest.approx(0.5, abs=0.1)


def test_all_submissions_at_once() -> None:
    arrivals = trace_arrivals(submits_of([7, 7, 7]), 3, 10, stream())
    assert arrivals.slots.tolist() == [0, 0, 0]


def test_the_trace_s_edges() -> None:
    submits = submits_of([1, 2, 3])
    assert len(trace_arrivals(submits, 0, 10, stream()).slots) == 0
    assert len(trace_arrivals(submits, 3, 10, stream(), window=3).slots) == 3
    with pytest.raises(InputError, match=r"jobs: must be at most 3, .* a test \(got 4\)"):
        trace_arrivals(submits, 4, 10, stream())
    for jobs, window in ((2, 1), (2, 4), (0, 0)):
        with pytest.raises(InputError, match="window: must be from"):
            trace_arrivals(submits, jobs, 10, stream(), window=window)


def test_generating_with_google_arrivals() -> None:
    google = read_arrivals(data_file(TABLE))
    generated = generate(100, 80, 30, arrivals=google, seed=1)
    report = generated.report
    found = dict.fromkeys(report.sensitivities, 0)
    for job in generated.instance.jobs:
        found[sensitivity_of(job)] += 1
    assert found == report.sensitivities
    assert 20 <= found["insensitive"] <= 50
    assert 45 <= found["sensitive"] <= 80
    assert found["critical"] <= 6
    assert report.mix == "trace"
    assert report.real == ("arrivals (time rescaled)", "time sensitivity (scheduling class)")
    assert "arrivals" not in report.drawn
    assert "100 of 1000 consecutive submissions" in report.arrivals
    # Arrivals of a trace spread over the horizon.
    assert len({job.arrival for job in generated.instance.jobs}) > 30


# The report.


def test_the_report_states_the_assumptions() -> None:
    report = generate(10, 10, 4, locality=12, seed=9).report
    text = "\n".join(report.lines())
    for words in (
        "preset calibrated, mix default, seed 9: 10 jobs, 10 slots, 4 machines",
        "a slot is one hour; 1 Gbit/s is 450000 MB per slot",
        "0.1..4 Gbit/s",
        "internal bandwidth 12 times the external",
        "36 gpu, 99 cpu, 306 memory, 135 storage",
        "divided by 10",
        "redrawn until the job is possible",
        f"redrawn because impossible: {report.redraws} ",
        "from a trace: nothing",
    ):
        assert words in text
    paper = "\n".join(generate(10, preset="paper").report.lines())
    assert "divided" not in paper
    assert "redrawn until" not in paper
    assert json.loads(json.dumps(report.as_dict()))["redraws"] == report.redraws


def test_counts_of_the_mix_in_the_report() -> None:
    generated = generate(50, mix="google", preset="paper", seed=3)
    kinds = [sensitivity_of(job) for job in generated.instance.jobs]
    assert generated.report.sensitivities == {
        name: kinds.count(name) for name in ("insensitive", "sensitive", "critical")
    }


# Arguments.


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"jobs": -1}, "jobs: must be a whole number, at least 0 (got -1)"),
        ({"jobs": 1.5}, "jobs: must be a whole number, at least 0 (got 1.5)"),
        ({"jobs": True}, "jobs: must be a whole number"),
        ({"jobs": "10"}, "jobs: must be a whole number"),
        ({"slots": 0}, "slots: must be a whole number, at least 1 (got 0)"),
        ({"machines": 0}, "machines: must be a whole number, at least 1 (got 0)"),
        ({"machines": None}, "machines: must be a whole number"),
        ({"seed": -1}, "seed: must be a whole number, at least 0 (got -1)"),
        ({"preset": "papre"}, 'preset: must be one of calibrated, paper (got "papre")'),
        ({"mix": "trace"}, 'mix: must be one of default, google (got "trace")'),
        ({"locality": 0.5}, "locality: must be a number from 1 to 1000000 (got 0.5)"),
        ({"locality": math.nan}, "locality: must be a number from 1 to"),
        ({"locality": math.inf}, "locality: must be a number from 1 to"),
        ({"locality": "10"}, "locality: must be a number"),
        ({"scales": []}, "scales: must not be empty"),
        ({"scales": [1, -1]}, "scales[1]: must be a number from 0 to 1000000 (got -1)"),
        ({"scales": [math.nan]}, "scales[0]: must be a number from 0"),
        ({"locality": 1e300}, "locality: must be a number from 1 to"),
        ({"locality": 10**400}, "locality: must be a number from 1 to"),
        ({"window": 5}, "window: is a part of a trace"),
        ({"window": 0}, "window: must be a whole number, at least 1 (got 0)"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], rule: str) -> None:
    with pytest.raises(InputError) as caught:
        generate(**arguments)
    assert str(caught.value).startswith(rule)


def test_arguments_on_the_boundary_are_taken() -> None:
    generated = generate(0, 1, 1, locality=1, seed=0)
    assert generated.instance.jobs == ()
    assert generated.report.most_redraws == 0
    assert generate(np.int64(2), np.int64(3), np.int64(1), preset="paper").report.jobs == 2
