"""The notebooks run from a clean kernel, hold no outputs, and refuse wrong answers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from experiments.views import STATIC

nbformat = pytest.importorskip("nbformat", reason="pip install -e '.[notebooks]'")
nbclient = pytest.importorskip("nbclient", reason="pip install -e '.[notebooks]'")

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SECONDS_PER_CELL = 120  # a stop for a kernel that hangs, not a measure of speed

pytestmark = [
    # What the kernel's own packages announce is not ours.
    pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(not NOTEBOOKS, reason="no notebooks beside the tests"),
]


def read(path: Path):
    return nbformat.read(path, as_version=4)


def execute(notebook) -> None:
    client = nbclient.NotebookClient(
        notebook,
        timeout=SECONDS_PER_CELL,
        kernel_name="python3",
        resources={"metadata": {"path": str(FOLDER.parent)}},
    )
    client.execute()


@pytest.fixture(autouse=True)
def static_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STATIC, "1")


def exercises(notebook) -> list[str]:
    """Names of the answers that a notebook asks for."""
    return [
        found.group(1)
        for cell in notebook.cells
        if cell.cell_type == "code"
        and (found := re.search(r"^(answer_\d+) = None", cell.source, re.MULTILINE))
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_runs_from_top_to_bottom(path: Path) -> None:
    execute(read(path))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_is_stored_without_outputs(path: Path) -> None:
    for cell in read(path).cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_exercise_has_a_hidden_solution_and_a_check(path: Path) -> None:
    notebook = read(path)
    cells = notebook.cells
    asked = exercises(notebook)
    assert len(asked) >= 3
    for name in asked:
        solutions = [
            n
            for n, cell in enumerate(cells)
            if "solution" in cell.metadata.get("tags", []) and f"if {name} is None" in cell.source
        ]
        assert len(solutions) == 1, name
        assert cells[solutions[0]].metadata["jupyter"]["source_hidden"] is True
        checks = [
            cell.source
            for cell in cells[solutions[0] + 1 :]
            if cell.cell_type == "code" and name in cell.source and "assert" in cell.source
        ]
        assert checks, f"nothing looks at {name}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_begins_with_what_is_learnt(path: Path) -> None:
    first = read(path).cells[0]
    assert first.cell_type == "markdown"
    assert "You will be able to" in first.source


def answered(path: Path, name: str, wrong: str):
    """The notebook with a wrong answer given."""
    notebook = read(path)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.source = re.sub(
                rf"^{name} = None", f"{name} = {wrong}", cell.source, flags=re.MULTILINE
            )
    return notebook


def test_a_wrong_answer_fails() -> None:
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="AssertionError"):
        execute(answered(NOTEBOOKS[0], "answer_1", "(1.0, 1.0)"))


WRONG = "type('Wrong', (float,), {'__call__': lambda self, *given: self})(-98765.4321)"
"""A number, and a function that returns it: wrong wherever something is asked."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "name"),
    [(path, name) for path in NOTEBOOKS for name in exercises(read(path))],
    ids=lambda value: getattr(value, "stem", value),
)
def test_every_wrong_answer_fails(path: Path, name: str) -> None:
    with pytest.raises(nbclient.exceptions.CellExecutionError):
        execute(answered(path, name, WRONG))
