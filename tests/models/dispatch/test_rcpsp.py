"""The cumulative core proves the published optima of PSPLIB."""

from pathlib import Path

import pytest

from models.dispatch.cp_sat import solve_cp_sat
from models.dispatch.rcpsp import build_rcpsp, read_psplib
from models.files import InputError

FOLDER = Path(__file__).parents[4] / "shared/data/psplib"
SLOW = {"j3013_1", "j3013_4", "j3013_7", "j3025_1", "j3029_1", "j3029_4", "j3029_9"}


def published() -> dict[str, int]:
    """Optimal makespans by name of the file."""
    table = {}
    if FOLDER.exists():
        for line in (FOLDER / "j30opt.sm").read_text().splitlines():
            words = line.split()
            if len(words) == 4 and words[0].isdigit():
                table[f"j30{words[0]}_{words[1]}"] = int(words[2])
    return table


OPTIMA = published()
NAMES = sorted(path.stem for path in FOLDER.glob("*_*.sm"))


@pytest.mark.skipif(not FOLDER.exists(), reason="the shared PSPLIB instances are not here")
def test_all_25_are_here() -> None:
    assert len(NAMES) == 25
    assert OPTIMA.keys() >= set(NAMES)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in NAMES],
)
def test_the_optimal_makespan_is_proved(name: str) -> None:
    project = read_psplib(FOLDER / f"{name}.sm")
    model, start = build_rcpsp(project)
    result = solve_cp_sat(model, start)
    assert result.status == "optimal"
    assert result.objective == result.bound == OPTIMA[name]
    assert result.values is not None
    starts = result.values
    ends = starts + project.duration
    for a, later in enumerate(project.successors):
        assert all(starts[b] >= ends[a] for b in later)
    for time in range(OPTIMA[name]):
        running = (starts <= time) & (time < ends)
        assert (project.demand[running].sum(axis=0) <= project.capacity).all()


def test_other_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.sm"
    file.write_text("PRECEDENCE RELATIONS:\n1 1 0\n")
    with pytest.raises(InputError, match="is not a PSPLIB project"):
        read_psplib(file)
