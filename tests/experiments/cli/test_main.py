"""The process around the commands: exit codes, streams, and what is imported when."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.cli.main import OUR_MISTAKE, main

ROOT = Path(__file__).parents[3]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
COMMAND = [sys.executable, "-m", "experiments.cli"]


def process(*arguments: object, **options) -> subprocess.CompletedProcess:
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, timeout=120, **options)


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["training", "run", "--help"]])
def test_help_is_an_answer(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("Usage: schedlab")
    assert captured.err == ""


def test_help_of_every_command_can_be_shown(cli: Callable) -> None:
    names = ["generate", "describe", "run", "compare", "optimum", "audit", "plot", "policies"]
    for command in [*(["training", name] for name in [*names, "schema"])]:
        assert cli(*command, "--help").code == 0
    for command in ("reproduce", "claims", "bench", "version", "report", "library", "results"):
        assert cli(command, "--help").code == 0


@pytest.mark.parametrize("arguments", [["--help"], ["training", "--help"], ["training", "run"]])
def test_help_and_usage_errors_load_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import sys\n"
        "from experiments.cli.main import main\n"
        f"code = main({arguments!r})\n"
        "heavy = {'numpy', 'pandas', 'scipy', 'pyomo', 'highspy', 'matplotlib', 'tqdm', 'rich'}\n"
        "heavy |= {'numba', 'networkx', 'ortools', 'llvmlite', 'sqlite3'}\n"
        "sys.stderr.write(' '.join(sorted(heavy & sys.modules.keys())))\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert [line for line in found.stderr.splitlines() if not line.startswith("error: ")] == []


def test_version_names_what_numbers_depend_on(cli: Callable) -> None:
    lines = cli("version").out.splitlines()
    assert lines[0].startswith("schedlab ")
    assert {line.split()[0] for line in lines} >= {"python", "numpy", "pyomo", "highspy"}
    assert cli("--version").out.splitlines() == lines


def test_interruption_exits_with_130(cli: Callable, instance: Path, out: Path) -> None:
    result = cli("training", "run", instance, "--policy", "interrupt", "-o", out / "a.json")
    assert (result.code, result.out) == (130, "")
    assert list(out.iterdir()) == []


def test_our_own_mistakes_show_a_traceback(cli: Callable, instance: Path) -> None:
    result = cli("training", "run", instance, "--policy", "crash", "--json")
    assert result.code == OUR_MISTAKE == 70
    assert result.out == ""
    assert "RuntimeError: a mistake of ours" in result.err


SCRIPT = """
import dataclasses, importlib.util, sys
place = importlib.util.spec_from_file_location("stubs", sys.argv[1])
stubs = importlib.util.module_from_spec(place)
place.loader.exec_module(stubs)
family = dataclasses.replace(stubs.TRAINING, policies=lambda: stubs.STUBS)
sys.exit(stubs.main(sys.argv[2:], [family]))
"""


def with_stubs(*arguments: object) -> list[str]:
    """The command line of a process that runs ``schedlab training`` with the stubs."""
    stubs = Path(__file__).with_name("conftest.py")
    return [sys.executable, "-c", SCRIPT, *map(str, (stubs, "training", *arguments))]


@pytest.mark.parametrize("as_json", [True, False])
def test_what_libraries_print_goes_to_stderr(instance: Path, as_json: bool) -> None:
    command = with_stubs("run", instance, "--policy", "chatter", *["--json"][: int(as_json)])
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert sorted(done.stderr.splitlines()) == ["a library's banner", "a line from C"]
    if as_json:
        assert json.loads(done.stdout)["policy"] == "chatter"
    else:
        assert done.stdout.startswith("job ")


def test_the_command_works_as_a_process(instance: Path, out: Path) -> None:
    arguments = ("training", "run", instance, "--policy", "pdors", "-o", out / "a.json", "--json")
    done = process(*arguments)
    assert (done.returncode, done.stderr) == (0, b"")
    answer = json.loads(done.stdout)
    assert answer["solution"] == json.loads((out / "a.json").read_text())
    audit = process("training", "audit", instance, out / "a.json", "--json")
    assert json.loads(audit.stdout)["objective"] == pytest.approx(answer["objective"])


def test_bad_input_in_a_process(instance: Path) -> None:
    done = process("training", "run", instance, "--policy", "none", "--json")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("arguments", [["training", "schema"], ["--help"]])
def test_a_reader_that_goes_away_is_no_error(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [*COMMAND, *arguments], env=ENVIRONMENT, stdout=writer, stderr=subprocess.PIPE
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_names_that_the_terminal_cannot_show(instance: Path) -> None:
    instance.write_text(instance.read_text().replace("huge", "größer ☃"), encoding="utf-8")
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [*COMMAND, "training", "describe", str(instance)], env=environment, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"gr\\xf6\\xdfer \\u2603" in done.stdout


@pytest.mark.parametrize("policy", ["wait", "grind"])
def test_ctrl_c_in_a_process_ends_it_with_130(
    policy: str, instance: Path, out: Path, heard_interrupts: None
) -> None:
    running = subprocess.Popen(
        with_stubs("run", instance, "--policy", policy, "-o", out / "a.json"),
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stderr is not None
    assert running.stderr.readline() == b"waiting\n"
    running.send_signal(signal.SIGINT)
    stdout, stderr = running.communicate(timeout=60)
    assert (running.returncode, stdout, stderr) == (130, b"", b"")
    assert list(out.iterdir()) == []
