"""Kept compiled functions follow the files of what they call."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def answer(folder):
    """What ``upper(1)`` of a new process returns, and the names of the files it is kept in."""
    script = "from upper import upper; print(upper(1), upper.stats.cache_hits)"
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    found = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    return found.stdout.split()


def test_a_change_two_files_below_is_seen(tmp_path):
    head = "from algorithms.compiled import compiled\n"
    (tmp_path / "lowest.py").write_text(head + "@compiled\ndef lowest(x):\n    return x + 1\n")
    (tmp_path / "middle.py").write_text(
        head + "import lowest\n@compiled\ndef middle(x):\n    return lowest.lowest(x)\n"
    )
    (tmp_path / "upper.py").write_text(
        head + "from middle import middle\n"
        "@compiled\ndef inner(x):\n    return middle(x)\n"
        "@compiled\ndef upper(x):\n    return inner(x)\n"
    )
    assert answer(tmp_path) == ["2", "Counter()"]
    assert answer(tmp_path)[0] == "2"
    assert "Counter()" not in answer(tmp_path)  # kept
    (tmp_path / "lowest.py").write_text(head + "@compiled\ndef lowest(x):\n    return x + 10\n")
    assert answer(tmp_path)[0] == "11"
