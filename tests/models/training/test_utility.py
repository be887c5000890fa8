"""Utilities and their logarithms against arithmetic of 60 digits."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from models.training import SigmoidUtility


def utility(priority: float = 10.0, decay: float = 0.5, target: float = 3.0) -> SigmoidUtility:
    return SigmoidUtility(kind="sigmoid", priority=priority, decay=decay, target=target)


def exact_log(u: SigmoidUtility, duration: float) -> mpmath.mpf:
    # Where e^x is below 60 digits of 1, ln(1 + e^x) is e^x.
    with mpmath.workdps(60):
        exponent = mpmath.mpf(u.decay) * (mpmath.mpf(duration) - mpmath.mpf(u.target))
        power = mpmath.exp(exponent)
        softplus = power if exponent < -500 else mpmath.log(1 + power)
        return mpmath.log(mpmath.mpf(u.priority)) - softplus


EXTREMES = [
    (10.0, 0.5, 3.0, 0),
    (10.0, 0.5, 3.0, 3),
    (1.0, 6.0, 1.0, 80),  # the paper's steepest: e^-474
    (100.0, 6.0, 15.0, 0),
    (1.0, 0.0, 15.0, 79),  # time does not matter: half the priority
    (1.0, 100.0, 0.0, 1000),  # far below the smallest float
    (5e-324, 6.0, 1.0, 80),
    (1e200, 6.0, 1000.0, 0),
    (2.0, 1e-300, 1e10, 0),
    (1.0, 1e6, 5.0, 5),
]


@pytest.mark.parametrize(("priority", "decay", "target", "duration"), EXTREMES)
def test_logarithm_at_extremes(priority: float, decay: float, target: float, duration: int) -> None:
    u = utility(priority, decay, target)
    expected = exact_log(u, duration)
    assert math.isclose(u.log_value(duration), float(expected), rel_tol=1e-14, abs_tol=1e-15)


@given(
    st.floats(1e-3, 1e3),
    st.floats(0, 10),
    st.floats(0, 30),
    st.integers(0, 500),
)
def test_value_and_logarithm(priority: float, decay: float, target: float, duration: int) -> None:
    u = utility(priority, decay, target)
    expected = exact_log(u, duration)
    exponent = abs(decay * (duration - target))
    # The product in the exponent is rounded, which e^x amplifies by its size.
    assert math.isclose(
        u.log_value(duration), float(expected), rel_tol=1e-14, abs_tol=1e-14 + 1e-15 * exponent
    )
    assert math.isclose(
        u.value(duration), float(mpmath.exp(expected)), rel_tol=1e-13 + 1e-15 * exponent,
        abs_tol=1e-320,
    )  # fmt: skip


@given(st.floats(0, 10), st.floats(0, 30), st.integers(0, 100))
def test_later_is_never_better(decay: float, target: float, duration: int) -> None:
    u = utility(7.0, decay, target)
    assert u.log_value(duration + 1) <= u.log_value(duration)
    assert u.value(duration) <= 7.0


def test_known_values() -> None:
    assert utility(10.0, 0.5, 3.0).value(3) == pytest.approx(5.0, rel=1e-15)
    assert utility(8.0, 0.0, 3.0).value(77) == pytest.approx(4.0, rel=1e-15)


def test_values_are_value_entry_by_entry_in_the_same_shape() -> None:
    u = utility()
    durations = np.arange(6).reshape(2, 3)
    values = u.values(durations)
    assert values.shape == (2, 3)
    assert values.tolist() == [[u.value(d) for d in row] for row in durations.tolist()]
    assert u.values([]).shape == (0,)
    assert u.values(4).shape == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"priority": 0.0},
        {"priority": -1.0},
        {"priority": 1.1e200},
        {"decay": -0.1},
        {"target": -1.0},
        {"decay": math.nan},
        {"priority": math.inf},
        {"priority": "10"},
        {"kind": "linear"},
        {"weight": 1.0},
    ],
)
def test_wrong_parameters_are_refused(changes: dict[str, object]) -> None:
    fields = {"kind": "sigmoid", "priority": 10.0, "decay": 0.5, "target": 3.0}
    with pytest.raises(ValidationError):
        SigmoidUtility(**(fields | changes))


@pytest.mark.parametrize(
    "changes", [{"decay": 0.0}, {"target": 0.0}, {"priority": 5e-324}, {"priority": 1e200}]
)
def test_parameters_on_the_boundary_are_taken(changes: dict[str, float]) -> None:
    u = utility(**changes)
    assert math.isfinite(u.log_value(5))
