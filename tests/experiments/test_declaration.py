import subprocess
import sys
from pathlib import Path

import pytest

from experiments.declaration import Claim, Context, Experiment, Verdict, reference, resolve
from experiments.registry import EXPERIMENTS, find, select
from experiments.versions import PACKAGES, versions
from models.files import InputError

HERE = Path(__file__).parent
HEAVY = ["highspy", "pyomo", "matplotlib", "pandas", "numba", "scipy", "networkx", "tqdm"]


@pytest.fixture
def tasks(monkeypatch):
    monkeypatch.syspath_prepend(HERE)
    import sweep_tasks

    return sweep_tasks


def declare(name):
    return Experiment(name, 1, "summary", "Fig. 1", "no_such:grid", "no_such:task", "no_such:f")


KNOWN = {name: declare(name) for name in ("a/ratio", "a/gap", "b/gap")}


def test_functions_are_found_by_name_when_needed(tasks, tmp_path):
    experiment = tasks.make("sweep_tasks:draws", [{"x": 1}])
    assert resolve(experiment.task_reference) is tasks.draws
    assert tasks.make(tasks.draws, []).task_reference == "sweep_tasks:draws"
    experiment.draw([1, 2], tmp_path / "figure", Context(quick=True))
    assert (tmp_path / "figure").read_text() == "2 rows, quick=True"
    ((claim, verdict),) = experiment.judge([1, 2])
    assert (claim.id, verdict) == ("points", Verdict("2 rows", "partly", {"n": 2}))
    assert [verdict.status for _, verdict in experiment.judge([])] == ["not-run"]
    assert experiment.family == "selftest"


def test_naming_a_function_imports_nothing():
    assert declare("a/b").task_reference == "no_such:task"


def test_grids_are_copied(tasks):
    points = [{"x": 1}]
    tasks.make("sweep_tasks:draws", points).parameters()[0]["x"] = 2
    assert points == [{"x": 1}]


@pytest.mark.parametrize("task", [lambda parameters, seed: {}, Path.exists])
def test_tasks_must_stand_at_the_top_level(task):
    with pytest.raises(ValueError, match="top level"):
        reference(task)


@pytest.mark.parametrize("name", ["math", "math:", ":sqrt"])
def test_names_of_functions_need_both_parts(name):
    with pytest.raises(ValueError, match="module:function"):
        resolve(name)


@pytest.mark.parametrize(
    "wrong", [{"name": "ratio"}, {"name": "A/b"}, {"revision": 0}, {"seeds": 0}]
)
def test_wrong_declarations_are_refused(tasks, wrong):
    with pytest.raises(ValueError, match=r"family/name|at least 1"):
        tasks.make("sweep_tasks:draws", [], **wrong)


@pytest.mark.parametrize("ids", [["other"], ["points", "points"], ["points-x"]])
def test_claims_carry_the_name_of_their_figure_once(tasks, ids):
    claims = tuple(Claim(name, "", "", "no_such:judge") for name in ids)
    with pytest.raises(ValueError, match="claims must be named points"):
        tasks.make("sweep_tasks:draws", [], claims=claims)


def test_rows_are_stored_under_the_own_name_or_a_shared_one(tasks):
    assert tasks.make("sweep_tasks:draws", []).stored_as == "selftest/points"
    assert tasks.make("sweep_tasks:draws", [], rows="selftest/all").stored_as == "selftest/all"


@pytest.mark.parametrize(("name", "found"), [("ratio", "a/ratio"), ("b/gap", "b/gap")])
def test_experiments_are_found_by_long_and_short_names(name, found):
    assert find(name, KNOWN).name == found


@pytest.mark.parametrize(
    ("name", "listed"), [("gap", "one of a/gap, b/gap"), ("what", "a/ratio, a/gap, b/gap")]
)
def test_other_names_list_the_known_ones(name, listed):
    with pytest.raises(InputError, match=listed) as caught:
        find(name, KNOWN)
    assert name in str(caught.value)


def test_all_selects_every_experiment_once():
    assert [chosen.name for chosen in select(["ratio", "all"], KNOWN)] == list(KNOWN)
    assert [chosen.name for chosen in select(["b/gap", "ratio", "ratio"], KNOWN)] == [
        *("b/gap", "a/ratio")
    ]


def test_registered_experiments_are_complete():
    for name, experiment in EXPERIMENTS.items():
        assert name == experiment.name
        for function in ("grid", "task", "figure"):
            assert callable(resolve(getattr(experiment, function)))
        for claim in experiment.claims:
            assert callable(resolve(claim.judge))
            assert claim.statement.endswith(".")
            assert claim.statistic
        for quick in (True, False):
            assert experiment.parameters(quick)


@pytest.mark.parametrize("module", ["registry", "worker", "pool", "store", "versions"])
def test_loading_stays_light(module):
    script = f"import sys, experiments.{module}; print(*(set(sys.modules) & set({HEAVY})))"
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=HERE.parents[1]
    )
    assert (found.returncode, found.stdout.strip()) == (0, "")


def test_versions_are_those_installed():
    import numpy

    found = versions()
    assert found["numpy"] == numpy.__version__
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert set(found) == {"python", *PACKAGES}
