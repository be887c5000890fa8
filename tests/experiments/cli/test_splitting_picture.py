"""schedlab splitting picture: what it writes, and one line for what it cannot draw."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.experiments.cli.splitting_kit import FAMILY, content


@pytest.fixture
def picture(cli: Callable) -> Callable:
    return lambda *arguments: cli("splitting", "picture", *arguments, families=(FAMILY,))


@pytest.fixture
def files(cli: Callable, tmp_path: Path) -> tuple[Path, Path]:
    instance, solution = tmp_path / "instance.json", tmp_path / "solution.json"
    instance.write_text(json.dumps(content()))
    ran = cli(
        *("splitting", "run", instance, "--policy", "first", "-o", solution), families=(FAMILY,)
    )
    assert ran.code == 0
    return instance, solution


@pytest.mark.parametrize("kind", ["network", "layered", "timeline"])
def test_every_kind_is_written(kind: str, picture: Callable, files: tuple, tmp_path: Path) -> None:
    result = picture(kind, *files, "-o", tmp_path / "a.svg")
    assert (result.code, result.out, result.err) == (0, "", "")
    assert (tmp_path / "a.svg").stat().st_size > 3000


def test_without_a_solution_there_are_the_network_and_the_layers(
    picture: Callable, files: tuple, tmp_path: Path
) -> None:
    for kind in ("network", "layered"):
        assert picture(kind, files[0], "-o", tmp_path / "a.png").code == 0
    result = picture("timeline", files[0], "-o", tmp_path / "b.png")
    assert (result.code, result.err) == (2, "error: SOLUTION: is needed for a timeline\n")
    assert not (tmp_path / "b.png").exists()


def test_only_the_named_jobs_are_shown(picture: Callable, files: tuple, tmp_path: Path) -> None:
    sizes = []
    for jobs in ("j0, j1", "j1"):
        result = picture("timeline", *files, "--jobs", jobs, "-o", tmp_path / "a.svg")
        assert result.code == 0
        sizes.append((tmp_path / "a.svg").stat().st_size)
    assert sizes[1] < sizes[0]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("cube",), 'KIND: must be one of network, layered, timeline (got "cube")'),
        (("network", "--jobs", "j9"), '--jobs: must be one of j0, j1 (got "j9")'),
        (("network", "-o", "a.pdf"), '-o: must end in .png or .svg (got "a.pdf")'),
    ],
)
def test_bad_usage_is_one_line(
    arguments: tuple, error: str, picture: Callable, files: tuple, tmp_path: Path
) -> None:
    kind, *options = arguments
    if "-o" not in options:
        options += ["-o", tmp_path / "a.svg"]
    result = picture(kind, *files, *options)
    assert (result.code, result.out, result.err) == (2, "", f"error: {error}\n")
    assert not (tmp_path / "a.svg").exists()


def test_a_broken_path_is_named_with_its_file(
    picture: Callable, files: tuple, tmp_path: Path
) -> None:
    instance, solution = files
    found = json.loads(solution.read_text())
    found["jobs"][0]["hops"] = []
    solution.write_text(json.dumps(found))
    result = picture("timeline", instance, solution, "-o", tmp_path / "a.svg")
    assert result.code == 2
    assert result.err.startswith(f"error: {solution}: cannot be drawn: path: job j0")
    assert result.err.count("\n") == 1


def test_a_network_that_is_too_large_for_layers_is_refused(
    picture: Callable, files: tuple, tmp_path: Path
) -> None:
    nodes = [{"name": f"n{u}", "rate": 1.0} for u in range(61)]
    files[0].write_text(json.dumps(content(nodes=nodes, links=[], jobs=[])))
    result = picture("layered", files[0], "-o", tmp_path / "a.svg")
    assert (result.code, result.err) == (
        2,
        f"error: {files[0]}: nodes: can be drawn in layers up to 60 (got 61)\n",
    )
