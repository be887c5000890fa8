from pathlib import Path

import highspy
import pyomo.environ as pyo
import pytest

from experiments.formulation import write_formulation
from models.files import InputError


def model() -> pyo.ConcreteModel:
    """Greatest value of x + 2 y with x + y <= 4, y <= 3 whole: 7, at (1, 3)."""
    built = pyo.ConcreteModel()
    built.x = pyo.Var(bounds=(0, None))
    built.y = pyo.Var(bounds=(0, 3), within=pyo.Integers)
    built.total = pyo.Constraint(expr=built.x + built.y <= 4)
    built.value = pyo.Objective(expr=built.x + 2 * built.y, sense=pyo.maximize)
    return built


@pytest.mark.parametrize("name", ["a.lp", "a.mps"])
def test_another_reader_finds_the_same_problem(tmp_path: Path, name: str) -> None:
    write_formulation(model(), tmp_path / name)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(tmp_path / name)) == highspy.HighsStatus.kOk
    solver.run()
    assert solver.getObjectiveValue() == pytest.approx(7.0)
    assert "total" in (tmp_path / name).read_text()
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["a.lp", "a.mps"])
def test_the_same_model_gives_the_same_bytes(tmp_path: Path, name: str) -> None:
    contents = set()
    for _ in range(2):
        write_formulation(model(), tmp_path / name)
        contents.add((tmp_path / name).read_bytes())
    assert len(contents) == 1


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_formulation(model(), tmp_path / "no" / "a.lp")
