import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from models import data
from models.data import data_file

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like the place where a wheel was unpacked."""
    package = tmp_path / "models"
    (package / "tables" / "traces").mkdir(parents=True)
    (package / "tables" / "traces" / "arrivals.csv").write_text("installed")
    monkeypatch.setattr(data, "_REPOSITORY", tmp_path)
    monkeypatch.setattr(data, "_INSTALLED", package / "tables")
    return tmp_path


def test_finds_a_table_of_the_repository() -> None:
    assert data_file("README.md") == ROOT / "data" / "README.md"


def test_finds_a_table_of_an_installed_wheel(installation: Path) -> None:
    assert data_file("traces/arrivals.csv").read_text() == "installed"


def test_repository_comes_before_installed(installation: Path) -> None:
    (installation / "data" / "traces").mkdir(parents=True)
    (installation / "data" / "traces" / "arrivals.csv").write_text("repository")
    (installation / "pyproject.toml").touch()
    assert data_file("traces/arrivals.csv").read_text() == "repository"


def test_another_package_called_data_is_not_ours(installation: Path) -> None:
    (installation / "data").mkdir()
    (installation / "data" / "other.csv").touch()
    with pytest.raises(FileNotFoundError, match="no table 'other"):
        data_file("other.csv")


def test_missing_table_names_what_was_looked_at() -> None:
    with pytest.raises(FileNotFoundError) as caught:
        data_file("no-such-table.csv")
    message = str(caught.value)
    assert "no-such-table.csv" in message
    assert str(ROOT / "data") in message
    assert "\n" not in message


def test_a_folder_is_not_a_table(installation: Path) -> None:
    with pytest.raises(FileNotFoundError):
        data_file("traces")


@pytest.mark.parametrize("name", ["", "/etc/hostname", "../pyproject.toml", "traces/../../x"])
def test_name_stays_inside_the_folder(name: str) -> None:
    with pytest.raises(ValueError, match="inside data/"):
        data_file(name)


@pytest.mark.slow
def test_wheel_carries_packages_tables_and_command(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation",
         "--wheel-dir", str(tmp_path), str(ROOT)],
        check=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("schedlab-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (points,) = [name for name in names if name.endswith("entry_points.txt")]
        assert b"schedlab = experiments.cli.start:start" in archive.read(points)
    tables = {
        path.relative_to(ROOT / "data").as_posix()
        for path in (ROOT / "data").rglob("*")
        if path.is_file() and "figures" not in path.parts
    }
    shipped = {name.removeprefix("models/tables/") for name in names if "models/tables/" in name}
    assert shipped == tables
    for package in ("models", "algorithms", "experiments"):
        assert f"{package}/__init__.py" in names
    assert not [name for name in names if name.startswith(("tests/", "data/"))]
