"""A Pyomo model as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


@dataclass
class CompiledModel:
    """Arrays of one linear or mixed-integer model, and the way back to its Pyomo components."""

    model: Any

    def columns(
        self, component: Any, keys: Iterable[Any] | None = None
    ) -> NDArray[np.int32]:
        """Column indices of a Pyomo Var, in its index order."""
        raise NotImplementedError

    def rows(self, component: Any, keys: Iterable[Any] | None = None) -> NDArray[np.int32]:
        """Row indices of a Pyomo Constraint, in its index order."""
        raise NotImplementedError


def compile_model(model: Any) -> CompiledModel:
    """Turn a Pyomo ConcreteModel into arrays."""
    raise NotImplementedError
