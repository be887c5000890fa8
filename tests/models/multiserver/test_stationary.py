"""y* against brute force on tiny cases; the projection QP against cases done by hand."""

from typing import Any

import numpy as np
import pytest

from models.multiserver import audit
from models.multiserver.generator import generate
from models.multiserver.layout import edge_layout
from models.multiserver.projection_qp import solve_projection_qp
from models.multiserver.stationary import job_counts, solve_stationary, stationary_run
from models.multiserver.stationary_lp import stationary_problem


@pytest.mark.parametrize("form", ["sum", "channel"])
@pytest.mark.parametrize("gain", ["linear", "log", "poly", "reciprocal"])
@pytest.mark.parametrize("overhead", [0.1, 3.0])
def test_brute_force(form: Any, gain: str, overhead: float) -> None:
    """Two ports, one instance, two resources: a grid of all allocations."""
    instance = generate(2, 1, 2, gain=gain, form=form, slots=30, overhead=overhead, seed=4)
    layout = edge_layout(instance)
    found = solve_stationary(layout, job_counts(instance))
    problem = stationary_problem(layout, job_counts(instance))
    # Where gain and overhead nearly cancel, the LP's tolerance is felt beside what is left.
    gap = found.upper - found.lower
    assert gap <= 1e-6 * max(found.upper, 10.0)
    pairs = []
    for k in range(2):
        a, b = np.meshgrid(*(np.linspace(0, cap, 11) for cap in problem.most[:, k]))
        inside = a + b <= layout.capacity[0, k]
        pairs.append(np.stack([a[inside], b[inside]], axis=1))
    best = 0.0
    for first in pairs[0]:
        for second in pairs[1]:
            best = max(best, problem.value(np.stack([first, second], axis=1)))
    assert best <= found.upper * (1 + 1e-9)
    # The grid's points are a tenth of a cap apart: it misses a little.
    assert found.lower >= best - gap - 1e-9
    assert best >= 0.7 * found.lower - 0.2


@pytest.mark.parametrize("form", ["sum", "channel"])
def test_file_is_sound_and_attains_lower(form: Any) -> None:
    instance = generate(4, 5, 2, gain="mixed", form=form, slots=40, seed=2)
    layout = edge_layout(instance)
    found = solve_stationary(layout, job_counts(instance))
    report = audit(instance, stationary_run(instance, found, layout))
    assert report.feasible
    assert report.objective == pytest.approx(found.lower, rel=1e-9)


def test_forms_agree_on_linear_gains() -> None:
    values = []
    for form in ("sum", "channel"):
        instance = generate(4, 5, 3, form=form, slots=40, seed=2)  # type: ignore[arg-type]
        values.append(solve_stationary(edge_layout(instance), job_counts(instance)).lower)
    assert values[0] == pytest.approx(values[1], rel=1e-6)


@pytest.mark.parametrize("changes", [{"slots": 0}, {"degree": 0}, {"probability": 0.0}])
def test_nothing_to_earn(changes: dict[str, Any]) -> None:
    instance = generate(3, 2, 2, **{"slots": 5, **changes})
    found = solve_stationary(edge_layout(instance), job_counts(instance))
    assert (found.lower, found.upper, found.status) == (0.0, 0.0, "optimal")


@pytest.mark.parametrize(
    ("point", "caps", "budget", "expected"),
    [
        ([10, 9], [10, 1], 10, [9, 1]),  # where the paper's loop gives (5.5, 4.5)
        ([1, 1, 5], [10, 10, 10], 3, [0, 0, 3]),
        ([-1, 2], [3, 3], 9, [0, 2]),
        ([4, 4], [3, 3], 0, [0, 0]),
    ],
)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_projection_qp(
    point: list[float], caps: list[float], budget: float, expected: list[float], scale: float
) -> None:
    z, a = scale * np.array(point, dtype=float), scale * np.array(caps, dtype=float)
    found = solve_projection_qp(z, a, scale * budget)
    np.testing.assert_allclose(found, scale * np.array(expected), atol=1e-7 * scale)
