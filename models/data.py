"""Find the tables of ``data/``: in the repository, or in an installed package."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

__all__ = ["data_file"]

_PACKAGE = Path(__file__).resolve().parent
_REPOSITORY = _PACKAGE.parent
_INSTALLED = _PACKAGE / "tables"


def data_file(name: str) -> Path:
    """Path of a table that comes with the project.

    The ``data/`` folder of the repository is looked at first; a wheel carries the same tables
    in ``models/tables/``.

    Parameters
    ----------
    name : str
        The table's path inside ``data/``, with forward slashes, such as ``"arrivals.csv"``.

    Returns
    -------
    Path
        An existing file.

    Raises
    ------
    ValueError
        If the name is empty, absolute or climbs out of the folder.
    FileNotFoundError
        If no such table is there; the message names the folders that were looked at.
    """
    relative = PurePosixPath(name)
    if not relative.parts or relative.is_absolute() or ".." in relative.parts:
        raise ValueError(f"a table's name is a path inside data/ (got {name!r})")
    folders = _folders()
    for folder in folders:
        path = folder.joinpath(*relative.parts)
        if path.is_file():
            return path
    looked_at = " and ".join(str(folder) for folder in folders)
    raise FileNotFoundError(
        f"no table {name!r} comes with this installation: looked in {looked_at}"
    )


def _folders() -> list[Path]:
    # Beside an installed package, a folder named data belongs to someone else: ours is known by
    # the project file next to it.
    in_repository = (_REPOSITORY / "pyproject.toml").is_file()
    return [_REPOSITORY / "data", _INSTALLED] if in_repository else [_INSTALLED]
