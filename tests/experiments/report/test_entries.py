"""What the report says of an experiment follows from the store's rows, and from them alone."""

import pytest

from experiments.report.entries import entry_of
from experiments.report.figures import article, finding_of
from experiments.store import Store
from tests.experiments.report import kit


def test_without_rows_there_is_no_figure_but_the_way_to_it(store: Store) -> None:
    for given in (None, store):
        entry = entry_of(kit.make(), given)
        assert entry.drawing is entry.made is None
        assert entry.missing == "No rows in the results store yet."
        assert [claim.verdict.status for claim in entry.claims] == ["not-run"]
        assert entry.command == "schedlab reproduce splitting/points"


def test_the_whole_grid_is_drawn_and_judged(store: Store) -> None:
    experiment = kit.make(statuses=("reproduced", "not-reproduced"))
    kit.fill(store, experiment)
    entry = entry_of(experiment, store)
    assert not entry.missing
    assert not entry.fault
    assert [claim.verdict.status for claim in entry.claims] == ["reproduced", "not-reproduced"]
    assert entry.claims[0].verdict.text == "4 rows."
    assert entry.drawing is not None
    assert (entry.drawing.width, entry.drawing.height) == (400, 200)
    assert [a.name for a in entry.drawing.attachments] == ["splitting-points.csv"]
    assert entry.drawing.attachments[0].content.count(b"\n") == 5
    made = entry.made
    assert made is not None
    assert (made.rows, made.seeds, made.seconds, made.cost) == (4, 2, 2.0, 12.0)
    assert made.versions == (("schedlab 1.2.3, python 3.11.0", 4),)
    assert made.command == "schedlab reproduce splitting/points"
    assert made.first <= made.last


def test_more_seeds_are_used_and_named(store: Store) -> None:
    experiment = kit.make()
    kit.fill(store, experiment, seeds=5)
    made = entry_of(experiment, store).made
    assert made is not None
    assert made.command.endswith("points --seeds 5")


def test_too_few_seeds_are_drawn_but_not_judged(store: Store) -> None:
    experiment = kit.make(seeds=3)
    kit.fill(store, experiment)
    entry = entry_of(experiment, store)
    assert entry.drawing is not None
    assert entry.missing == "Only 2 of 3 seeds have the whole grid."
    assert entry.claims[0].verdict.status == "not-run"


def test_the_quick_grid_stands_in_and_says_so(store: Store) -> None:
    experiment = kit.make()
    kit.fill(store, experiment, points=kit.POINTS[:1])
    entry = entry_of(experiment, store)
    assert entry.quick
    assert entry.drawing is not None
    assert b"2 rows, quick=True" in entry.drawing.svg
    assert entry.claims[0].verdict.status == "not-run"
    assert entry.made is not None
    assert entry.made.command.endswith("--quick")
    assert finding_of(entry).startswith("Quick grid. ")


def test_rows_of_no_whole_grid_are_counted(store: Store) -> None:
    experiment = kit.make()
    kit.fill(store, experiment, points=kit.POINTS[1:])
    entry = entry_of(experiment, store)
    assert entry.drawing is None
    assert "(2 rows of splitting/points)" in entry.missing


def test_rows_of_another_revision_do_not_count(store: Store) -> None:
    kit.fill(store, kit.make())
    assert entry_of(kit.make(revision=2), store).drawing is None


def test_a_figure_that_fails_is_a_fault_and_not_the_end(store: Store) -> None:
    experiment = kit.make(figure=kit.draw_badly)
    kit.fill(store, experiment)
    entry = entry_of(experiment, store)
    assert entry.fault == "ZeroDivisionError: no <axis> & no scale"
    assert entry.drawing is None
    assert entry.made is not None


def test_data_are_attached_even_if_the_figure_writes_none(store: Store) -> None:
    experiment = kit.make(figure=kit.draw_without_table)
    kit.fill(store, experiment)
    drawing = entry_of(experiment, store).drawing
    assert drawing is not None
    assert drawing.attachments[0].name == "splitting-points.csv"
    assert b"value" in drawing.attachments[0].content


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ((), "Points of the tests (2 seeds). No claim of a paper is judged by it."),
        (
            ("partly", "reproduced"),
            "Points of the tests (2 seeds). Statement <0> holds. This is partly. "
            "Statement <1> holds. This is reproduced.",
        ),
        (
            ("partly", "partly", "partly", "not-reproduced"),
            "Points of the tests (2 seeds). Of 4 statements 3 partly, 1 not reproduced.",
        ),
    ],
)
def test_the_alternative_text_states_the_finding(
    store: Store, statuses: tuple[str, ...], expected: str
) -> None:
    experiment = kit.make(statuses=statuses)
    kit.fill(store, experiment)
    assert finding_of(entry_of(experiment, store)) == expected


def test_a_finding_of_its_own_comes_first(store: Store) -> None:
    experiment = kit.make(statuses=(), finding=lambda rows: f"Found in {len(rows)} rows.")
    kit.fill(store, experiment)
    expected = "Points of the tests (2 seeds). Found in 4 rows."
    assert finding_of(entry_of(experiment, store)) == expected


def test_the_note_below_a_figure_is_shown(store: Store) -> None:
    experiment = kit.make(note=lambda rows: f"# A head\n\n1. a < b\n2. **{len(rows)}** rows")
    kit.fill(store, experiment)
    shown = article(entry_of(experiment, store))
    assert "<h5>A head</h5>" in shown
    assert "<ol><li>a &lt; b\n</li><li><strong>4</strong> rows</li></ol>" in shown
