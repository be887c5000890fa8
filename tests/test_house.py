"""The rules that hold for the whole repository: imports, docstrings, pins, what is committed."""

import ast
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("models", "algorithms", "experiments")  # each imports only those before it
FAMILIES = ("training", "splitting", "multiserver", "dispatch")


def source_of(path: Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def modules(*packages: str) -> list[Path]:
    return [
        path.relative_to(ROOT)
        for package in packages
        for path in sorted((ROOT / package).rglob("*.py"))
    ]


def imported(tree: ast.AST, module: tuple[str, ...]) -> Iterator[str]:
    """Dotted names that the module imports, wherever in it; ``from a import b`` gives ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # A relative import counts from the folder: one dot drops the module's own name.
            base = list(module[: -node.level]) if node.level else []
            base += (node.module or "").split(".") if node.module else []
            yield from (".".join([*base, alias.name]) for alias in node.names)


def broken_rules(path: Path, source: str) -> list[str]:
    """What the imports of one module break: the order of packages, the families' independence."""
    module = path.with_suffix("").parts
    allowed = PACKAGES[: PACKAGES.index(module[0]) + 1]
    families = set(module) & set(FAMILIES)
    broken = []
    for name in imported(ast.parse(source), module):
        parts = name.split(".")
        if parts[0] not in PACKAGES:
            continue
        other_families = set(parts) & set(FAMILIES) - families
        if parts[0] not in allowed:
            broken.append(f"{path} imports {name}")
        elif families and other_families:
            broken.append(f"{path} imports {name}, of another family")
    return broken


def without_docstring(path: Path, source: str) -> list[str]:
    """Public functions, classes and methods of one module that say nothing about themselves."""
    missing = []

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            if node.name.startswith("_"):
                continue
            # An overload's text is at the implementation, a setter's at its property.
            decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
            if "overload" in decorators or f"{node.name}.setter" in decorators:
                continue
            if not (ast.get_docstring(node) or "").strip():
                missing.append(f"{path}:{node.lineno} {prefix}{node.name}")
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{prefix}{node.name}.")

    visit(ast.parse(source).body, "")
    return missing


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_go_one_way_and_families_stay_apart(package: str) -> None:
    paths = modules(package)
    assert paths
    assert [rule for path in paths for rule in broken_rules(path, source_of(path))] == []


@pytest.mark.parametrize(
    ("path", "source", "broken"),
    [
        ("models/audit.py", "import algorithms.training", 1),
        ("models/audit.py", "from experiments import store", 1),
        ("models/audit.py", "def f():\n    from algorithms.policy import Policy", 1),
        ("models/audit.py", "import numpy\nfrom models import files\nfrom . import data", 0),
        ("algorithms/policy.py", "from experiments.store import Store", 1),
        ("algorithms/policy.py", "import models.audit, algorithms", 0),
        ("algorithms/training/pdors/slot.py", "from models.splitting.instance import load", 1),
        ("algorithms/training/pdors/slot.py", "from models import dispatch, training", 1),
        ("algorithms/training/pdors/slot.py", "from ..multiserver import oga", 1),
        ("algorithms/training/pdors/slot.py", "from . import prices\nfrom .. import policy", 0),
        ("algorithms/training/__init__.py", "from .slot import Slot\nfrom ..policy import Run", 0),
        ("experiments/cli/training.py", "import experiments.dispatch", 1),
        ("experiments/cli/main.py", "from experiments.cli import dispatch, training", 0),
        ("experiments/store.py", "import models, algorithms", 0),
    ],
)
def test_import_rules_see_what_breaks_them(path: str, source: str, broken: int) -> None:
    assert len(broken_rules(Path(path), source)) == broken


def test_what_is_public_says_what_it_is() -> None:
    paths = modules("models", "algorithms")
    assert [text for path in paths for text in without_docstring(path, source_of(path))] == []


def test_docstring_rule_sees_what_breaks_it() -> None:
    source = (
        "def bare(): pass\n"
        "def _private(): pass\n"
        "class Described:\n"
        "    '''Described.'''\n"
        "    def method(self): pass\n"
        "    def __len__(self): return 0\n"
        "async def blank():\n"
        "    '''  '''\n"
        "@overload\n"
        "def overloaded(x: int): ...\n"
    )
    found = [text.rpartition(" ")[2] for text in without_docstring(Path("m.py"), source)]
    assert found == ["bare", "Described.method", "blank"]


def test_constraints_pin_every_declared_dependency() -> None:
    lines = source_of(Path("constraints.txt")).splitlines()
    line = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[0-9][0-9A-Za-z.+!]*)( *;.+)?")
    pins: dict[str, str] = {}
    for text in lines:
        match = line.fullmatch(text)
        assert match, f"not a pin: {text!r}"
        pins[canonicalize_name(match["name"])] = match["version"]
    assert len(pins) == len(lines)

    pyproject = tomllib.loads(source_of(Path("pyproject.toml")))
    project = pyproject["project"]
    declared = [
        *pyproject["build-system"]["requires"],
        *project["dependencies"],
        *(text for extra in project["optional-dependencies"].values() for text in extra),
    ]
    for requirement in map(Requirement, declared):
        if requirement.name == project["name"]:  # an extra that holds others of our own
            assert requirement.extras <= project["optional-dependencies"].keys()
            continue
        pinned = pins.get(canonicalize_name(requirement.name))
        assert pinned, f"{requirement} has no pin"
        assert requirement.specifier.contains(pinned, prereleases=True), f"{requirement}: {pinned}"


# Joined here, so that this file does not contain what it looks for.
PACKAGE_INDEXES = re.compile(
    "|".join(
        re.escape(".".join(parts))
        for parts in [
            ("pypi", "org"),
            ("pythonhosted", "org"),
            ("registry", "npmjs"),
            ("deb", "debian"),
            ("conda", "anaconda"),
        ]
    )
)
MACHINE_PATHS = re.compile(r"(?<![\w.$~/:-])/(?:root|home|Users|work|tmp|opt|mnt|srv)/\w")


def committed_files() -> list[str]:
    # Git's own variables are set inside its hooks, and may name another repository.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    listing = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    # A file that was removed and not yet committed is still listed.
    return [name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout: nothing is committed")
def test_committed_files_name_no_machine_and_no_package_index() -> None:
    names = committed_files()
    assert "pyproject.toml" in names
    found = []
    for name in names:
        try:
            text = source_of(Path(name))
        except UnicodeDecodeError:  # a picture or an archive
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            match = PACKAGE_INDEXES.search(line) or MACHINE_PATHS.search(line)
            if match:
                found.append(f"{name}:{number}: {match.group()}")
    assert found == []


@pytest.mark.parametrize(
    ("line", "is_machine_path"),
    [
        ("open('" + "/home" + "/someone/x.csv')", True),
        ("PATH=" + "/opt" + "/tool/bin", True),
        ("results in " + "/tmp" + "/x", True),
        ("make PYTHON=/path/to/python3.12", False),
        ("https://example.com/home/index.html", False),
        ("models/work/x", False),
    ],
)
def test_machine_path_rule(line: str, is_machine_path: bool) -> None:
    assert bool(MACHINE_PATHS.search(line)) == is_machine_path
