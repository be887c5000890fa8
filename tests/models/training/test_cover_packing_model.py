"""The general cover/packing program, by hand."""

import numpy as np
import pytest

from models.solver import Engine, Status
from models.training.cover_packing import build_cover_packing

COSTS = np.array([1.0, 3.0])
COVER = np.array([[1.0, 1.0]])
PACKING = np.array([[2.0, 0.0], [0.0, 0.0]])  # the second row asks for nothing


def solve(least, most, integer):
    model = build_cover_packing(
        COSTS, COVER, np.array([least]), PACKING, np.array([most, 1.0]), integer=integer
    )
    return Engine(model).solve()


@pytest.mark.parametrize(("integer", "cost"), [(False, 1.5 + 3 * 1.5), (True, 1 + 3 * 2)])
def test_the_cheap_column_is_used_as_far_as_it_fits(integer, cost):
    result = solve(3.0, 3.0, integer)  # at most 1.5, or 1, of the cheap column
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(cost)


def test_infeasible():
    model = build_cover_packing(
        COSTS[:1], COVER[:, :1], np.array([3.0]), PACKING[:1, :1], np.array([3.0])
    )
    assert Engine(model).solve().status is Status.INFEASIBLE
