"""The instances that come with the project: enough of them, as recorded, with audited solutions."""

import pytest

from experiments.cli.families import Family
from experiments.cli.main import FAMILIES
from experiments.library.checking import attained, check_entry
from experiments.library.records import read_library, solution_path

AT_LEAST = {"training": 30, "splitting": 20, "multiserver": 10, "dispatch": 20}
KNOWN = {family.name: family for family in FAMILIES}
EACH = pytest.mark.parametrize("family", [KNOWN[name] for name in AT_LEAST], ids=AT_LEAST)
PROOF_SECONDS = 120.0


@EACH
def test_there_are_enough_with_both_ends_known(family: Family) -> None:
    entries = read_library(family.name).entries
    assert len(entries) >= AT_LEAST[family.name]
    for entry in entries:
        assert attained(family, entry) is not None, entry.name
        assert entry.gap is not None, entry.name
        for side in (entry.lower, entry.upper):
            assert side is not None
            assert side.by
            assert side.how
        assert entry.proved or not entry.small, f"{entry.name} is small and not solved"


@EACH
def test_instances_and_solutions_are_as_recorded(family: Family) -> None:
    for entry in read_library(family.name).entries:
        assert check_entry(family, entry, None).faults == (), entry.name


@EACH
def test_no_solution_lies_about_without_its_instance(family: Family) -> None:
    entries = read_library(family.name).entries
    folder = solution_path(family.name, entries[0]).parent
    found = {path.name for path in folder.iterdir()}
    assert found == {f"{entry.name}.json.gz" for entry in entries}


def test_full_size_is_there() -> None:
    recipes = [entry.recipe for entry in read_library("training").entries]
    assert any(recipe["jobs"] == 100 and recipe["slots"] == 80 for recipe in recipes)


@pytest.mark.slow
@EACH
def test_small_instances_are_proved_again(family: Family) -> None:
    small = [entry for entry in read_library(family.name).entries if entry.small]
    assert small
    for entry in small:
        found = check_entry(family, entry, PROOF_SECONDS)
        assert found.faults == (), entry.name
        assert found.proof.startswith("optimal")
