"""Writing a Pyomo model as an LP or MPS file."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from models.files import write_atomic

__all__ = ["write_formulation"]


def write_formulation(model: Any, path: str | Path) -> None:
    """Write a model for other solvers; variables and rows keep their names.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
    path : path
        Ends in ``.lp`` or ``.mps``.
    """
    path = Path(path)
    with tempfile.TemporaryDirectory() as folder:
        # Pyomo chooses the format by the ending, so the file is made elsewhere under a name
        # with that ending, and put in place as every other file is.
        place = os.path.join(folder, "model" + path.suffix.lower())
        model.write(place, io_options={"symbolic_solver_labels": True})
        write_atomic(path, Path(place).read_bytes())
