"""The Gantt chart: what is where, that everything is said, and that odd input is drawn too."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from experiments.training.gantt import plot_schedule
from experiments.training.gantt_bands import (
    GAP,
    THINNEST,
    bands_of,
    cells_of,
    runs_of,
    share_in_use,
    styles_of,
)
from experiments.training.gantt_page import KEY, shortened, text_width
from models.files import InputError
from models.training import Job, Machine, TrainingInstance, TrainingSchedule, build_schedule
from models.training.schedule import Placement


def job(name: str, **changes: Any) -> Job:
    """4 samples, of which a worker does one in a slot; a worker needs 1 gpu, a PS 1 cpu."""
    values: dict[str, Any] = {
        "name": name,
        "arrival": 0,
        "epochs": 1,
        "samples": 4,
        "batch": 10,
        "gradient": 0.0,
        "sample_time": 1.0,
        "workers_per_ps": 10.0,
        "bandwidth_internal": 1.0,
        "bandwidth_external": 1.0,
        "worker": {"gpu": 1.0},
        "ps": {"cpu": 1.0},
        "utility": {"kind": "sigmoid", "priority": 10.0, "decay": 0.0, "target": 1.0},
    }
    return Job(**{**values, **changes})


def cluster(
    names: Iterable[str], machines: int = 2, slots: int = 4, **fields: Any
) -> TrainingInstance:
    values: dict[str, Any] = {
        "slots": slots,
        "resources": ("gpu", "cpu"),
        "machines": tuple(
            Machine(name=f"m{h}", capacity={"gpu": 10.0, "cpu": 10.0}) for h in range(machines)
        ),
        "jobs": tuple(job(name) for name in names),
    }
    return TrainingInstance(**{**values, **fields})


def schedule(
    instance: TrainingInstance, placements: dict[int, list[Placement]]
) -> TrainingSchedule:
    return build_schedule(instance, "test", placements)


def texts(figure: Figure) -> list[str]:
    found = [text.get_text() for text in figure.texts]
    found += [text.get_text() for axes in figure.axes for text in axes.texts]
    for legend in [*figure.legends, *(axes.get_legend() for axes in figure.axes)]:
        if legend is not None:
            found += [text.get_text() for text in legend.get_texts()]
    return found


# Bands


def test_a_band_is_as_high_as_the_dominant_share() -> None:
    instance = cluster("ab")
    cells = cells_of(instance, schedule(instance, {0: [(1, 0, 5, 2)], 1: [(1, 0, 1, 3)]}))
    lower, upper = bands_of(instance, cells)
    assert [(b.job, b.machine, b.start, b.stop) for b in (lower, upper)] == [
        (0, 0, 1, 2),
        (1, 0, 1, 2),
    ]
    assert lower.bottom == 1 - GAP
    assert lower.bottom - lower.top == pytest.approx(0.5 * (1 - 2 * GAP))
    assert upper.bottom == lower.top
    assert upper.bottom - upper.top == pytest.approx(0.3 * (1 - 2 * GAP))


def test_thin_bands_can_be_seen_and_all_stay_in_the_row() -> None:
    names = [f"j{i}" for i in range(12)]
    instance = cluster(names)
    placed = {i: [(0, 1, 1 if i else 10, 1)] for i in range(len(names))}
    bands = bands_of(instance, cells_of(instance, schedule(instance, placed)))
    heights = np.array([b.bottom - b.top for b in bands])
    assert heights.min() / heights.max() == pytest.approx(THINNEST)
    assert heights.sum() == pytest.approx(1 - 2 * GAP)
    assert bands[0].bottom == pytest.approx(2 - GAP)
    assert bands[-1].top == pytest.approx(1 + GAP)


def test_equal_neighbours_become_one_band_and_a_break_ends_a_run() -> None:
    instance = cluster("a", slots=6)
    placed: list[Placement] = [(0, 0, 2, 1), (1, 0, 2, 1), (2, 0, 3, 1), (4, 0, 3, 1)]
    bands = bands_of(instance, cells_of(instance, schedule(instance, {0: placed})))
    assert [(b.start, b.stop, b.workers) for b in bands] == [(0, 2, 2), (2, 3, 3), (4, 5, 3)]
    assert [[b.start for b in run] for run in runs_of(bands)] == [[0, 2], [4]]


def test_jobs_that_begin_earlier_lie_lower() -> None:
    instance = cluster("ab")
    placed: dict[int, list[Placement]] = {0: [(1, 0, 2, 1)], 1: [(0, 0, 2, 1), (1, 0, 2, 1)]}
    bands = bands_of(instance, cells_of(instance, schedule(instance, placed)))
    assert [(b.job, b.start, b.stop) for b in bands] == [(1, 0, 2), (0, 1, 2)]
    assert bands[1].bottom == bands[0].top


def test_a_demand_without_capacity_fills_the_machine() -> None:
    instance = cluster("a").model_copy(
        update={"machines": (Machine(name="m0", capacity={"cpu": 10.0}),)}
    )
    (band,) = bands_of(instance, cells_of(instance, schedule(instance, {0: [(0, 0, 1, 1)]})))
    assert band.bottom - band.top == pytest.approx(1 - 2 * GAP)


def test_share_in_use_is_over_all_machines() -> None:
    instance = cluster("ab", resources=("gpu", "cpu", "nowhere"))
    placed: dict[int, list[Placement]] = {0: [(0, 0, 5, 1), (0, 1, 3, 1)], 1: [(0, 0, 2, 2)]}
    share = share_in_use(instance, cells_of(instance, schedule(instance, placed)))
    assert share.tolist() == [[0.5, 0.2, 0.0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]


def test_styles_repeat_only_after_48_jobs() -> None:
    names = [f"j{i}" for i in range(49)]
    instance = cluster(names, machines=49)
    placed: dict[int, list[Placement]] = {i: [(0, i, 1, 1)] for i in range(49)}
    styles = styles_of(bands_of(instance, cells_of(instance, schedule(instance, placed))))
    assert len({styles[i] for i in range(48)}) == 48
    assert styles[48] == styles[0]


@pytest.mark.parametrize(
    ("jobs", "machines", "message"),
    [
        ("ab", 1, 'jobs[1].name: is not a job of the instance (got "b")'),
        ("a", 2, 'jobs[0].allocation[1].machine: is not a machine of the instance (got "m1")'),
    ],
)
def test_a_schedule_of_another_instance_is_refused(
    jobs: str, machines: int, message: str, tmp_path: Path
) -> None:
    other = cluster(jobs, machines)
    placed: list[Placement] = [(0, h, 1, 1) for h in range(machines)]
    with pytest.raises(InputError) as caught:
        plot_schedule(cluster("a", 1), schedule(other, {0: placed}), tmp_path / "a.png")
    assert str(caught.value) == message
    assert list(tmp_path.iterdir()) == []


# The chart


def test_titles_and_labels_say_what_happened() -> None:
    instance = cluster("abcd", slots=8)
    done: list[Placement] = [(0, 0, 5, 1), (1, 0, 5, 1)]
    made = build_schedule(
        instance,
        "some-policy",
        {0: done, 1: [(3, 1, 10, 10)], 2: [(5, 1, 1, 1)]},
        {2: "unfinished", 3: "price"},
    )
    found = texts(plot_schedule(instance, made))
    assert "some-policy: total utility 10" in found  # two jobs, utility 10 / (1 + e^0) each
    assert "2 of 4 jobs completed, 1 rejected (price 1), 1 unfinished" in found
    assert KEY in found
    assert "a 5+1" in found
    assert {"gpu", "cpu"} <= set(found)


def test_every_placed_job_is_named_in_a_band_or_in_the_legend() -> None:
    names = [f"a-rather-long-name-{i}" if i % 2 else f"j{i}" for i in range(10)]
    instance = cluster(names, machines=10, slots=30)
    placed: dict[int, list[Placement]] = {i: [(i, i, 1 + i % 9, 1)] for i in range(10)}
    figure = plot_schedule(instance, schedule(instance, placed))
    assert figure.legends
    drawn = texts(figure)
    for name in names:
        in_band = f"{name} "  # with the counts after it
        assert any(text == shortened(name, 70.0) or text.startswith(in_band) for text in drawn)


def test_a_completed_job_ends_in_a_bar_on_each_of_its_machines() -> None:
    instance = cluster("ab", slots=4)
    placed: dict[int, list[Placement]] = {0: [(1, 0, 2, 1), (1, 1, 2, 0)], 1: [(2, 0, 1, 1)]}
    made = schedule(instance, placed)
    assert [outcome.completion for outcome in made.jobs] == [1, None]
    bars = plot_schedule(instance, made).axes[0].collections[-1].get_paths()
    assert [float(path.vertices[:, 0].max()) for path in bars] == [2.0, 2.0]
    assert all(float(np.ptp(path.vertices[:, 0])) < 0.2 for path in bars)


def test_what_is_outside_the_horizon_is_counted_not_drawn() -> None:
    longer = cluster("a", slots=9)
    made = schedule(longer, {0: [(0, 0, 1, 1), (7, 0, 1, 1), (8, 0, 2, 1)]})
    figure = plot_schedule(cluster("a", slots=4), made)
    assert any("2 allocations outside the horizon are not drawn" in text for text in texts(figure))
    assert len(bands_of(cluster("a", slots=4), cells_of(cluster("a", slots=4), made))) == 1


@pytest.mark.parametrize(("machines", "slots"), [(1, 1), (1, 80), (100, 1), (100, 80), (250, 30)])
def test_every_size_can_be_drawn(machines: int, slots: int, tmp_path: Path) -> None:
    instance = cluster("ab", machines, slots)
    placed: list[Placement] = [(slots - 1, h, 10, 1) for h in range(0, machines, 3)]
    figure = plot_schedule(instance, schedule(instance, {0: placed}), tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    wide, high = figure.get_size_inches()
    assert 5 < wide < 18
    assert 2 < high < 18
    for axes in figure.axes:
        box = axes.get_position()
        assert 0 < box.x0 < box.x1 < 1
        assert 0 < box.y0 < box.y1 < 1


def test_nothing_to_draw_is_drawn(tmp_path: Path) -> None:
    instance = cluster("", machines=3)
    figure = plot_schedule(instance, schedule(instance, {}), tmp_path / "a.svg")
    assert "0 of 0 jobs completed" in texts(figure)
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize("name", ["$\\alpha$ {", "_hidden", "作業", "line\nbreak", "n" * 100_000])
def test_names_are_only_names(name: str, tmp_path: Path) -> None:
    base = cluster("a", machines=1, slots=20)
    instance = TrainingInstance(
        slots=20,
        resources=("gpu", "cpu", name),
        machines=(Machine(name=name, capacity=base.machines[0].capacity),),
        jobs=(job(name), job("b")),
    )
    placed: dict[int, list[Placement]] = {0: [(0, 0, 1, 1)], 1: [(k, 0, 1, 1) for k in range(20)]}
    figure = plot_schedule(instance, schedule(instance, placed), tmp_path / "a.svg")
    assert figure.get_size_inches()[0] < 16
    shown = shortened(name, 70.0)
    assert sum(text.strip() == shown for text in texts(figure)) >= 2  # as a job, as a resource


def test_shortened_names_keep_both_ends() -> None:
    assert shortened("j0", 70.0) == "j0"
    names = [shortened(f"a-rather-long-name-{i}", 50.0) for i in range(3)]
    assert [name[0] + name[-1] for name in names] == ["a0", "a1", "a2"]
    assert all("…" in name and text_width(name) <= 50.0 for name in names)
    assert shortened("name", 0.0) == "…"


def test_fractions_and_negative_counts_are_drawn_as_far_as_they_can_be() -> None:
    instance = cluster("a")
    content = schedule(instance, {0: [(0, 0, 1, 1)]}).model_dump_json()
    content = content.replace('"workers":1,"ps":1', '"workers":2.5,"ps":-1')
    made = TrainingSchedule.model_validate_json(content)
    (band,) = bands_of(instance, cells_of(instance, made))
    assert (band.workers, band.ps) == (2.5, 0)
    assert "a 2.5+0" in texts(plot_schedule(cluster("a", machines=1), made))


@pytest.mark.parametrize("name", ["a.svg", "a.png"])
def test_the_same_schedule_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    instance = cluster([f"j{i}" for i in range(20)], machines=5)
    placed: dict[int, list[Placement]] = {i: [(i % 4, i % 5, 2, 1)] for i in range(20)}
    made = schedule(instance, placed)
    contents = set()
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        plot_schedule(instance, made, tmp_path / folder / name)
        contents.add((tmp_path / folder / name).read_bytes())
    assert len(contents) == 1
