"""The projection: Newton, sort and a QP solver agree; the paper's loop does not."""

import numpy as np
import pytest

from algorithms.multiserver.projection import project
from models.files import InputError
from models.multiserver.projection_qp import solve_projection_qp

Case = tuple[np.ndarray, np.ndarray, float]


def random_case(rng: np.random.Generator, largest: int) -> Case:
    """Unequal caps, ties, zero caps, zero and slack budgets, scales 1e-6 to 1e6."""
    n = int(np.exp(rng.uniform(0, np.log(largest + 0.9))))
    scale = 10.0 ** rng.uniform(-6, 6)
    point, caps = rng.normal(1.0, 2.0, n), rng.uniform(0.0, 3.0, n)
    if rng.random() < 0.3:
        point = np.round(point)
    if rng.random() < 0.3:
        caps = np.round(caps)
    share = rng.choice([0.0, 0.01, 0.3, 0.7, 1.0, 2.0])
    if rng.random() < 0.1:
        point *= 1e3  # steps far beyond the set
    return scale * point, scale * caps, float(scale * share * caps.sum() * rng.random())


def check(case: Case, *, solver: bool) -> None:
    point, caps, budget = case
    scale = max(np.abs(point).max(), caps.max(), budget)
    newton, by_sort = project(point, caps, budget), project(point, caps, budget, method="sort")
    np.testing.assert_allclose(newton.amount, by_sort.amount, rtol=0, atol=1e-10 * scale)
    for found in (newton, by_sort):
        assert (found.amount >= 0).all()
        assert (found.amount <= caps).all()
        assert found.amount.sum() <= budget * (1 + 1e-11)
        assert found.price >= 0
    warm = project(point, caps, budget, warm=1.1 * newton.price)
    np.testing.assert_allclose(warm.amount, newton.amount, rtol=0, atol=1e-10 * scale)
    if solver:
        expected = solve_projection_qp(point, caps, budget)
        np.testing.assert_allclose(newton.amount, expected, rtol=0, atol=1e-6 * scale)


def test_the_ways_agree() -> None:
    rng = np.random.Generator(np.random.PCG64(1))
    for _ in range(1500):
        check(random_case(rng, 200), solver=False)
    for _ in range(20):
        check(random_case(rng, 10_000), solver=False)


def test_a_solver_agrees() -> None:
    rng = np.random.Generator(np.random.PCG64(2))
    for _ in range(60):
        check(random_case(rng, 12), solver=True)


def test_a_solver_agrees_where_it_went_round_in_circles() -> None:
    """HiGHS iterated for ever here, with the largest |z| as its unit."""
    steps = [4, 4, 4, -2, 0, 1, 1, -1, 1, 5, 1, 0, 2]
    caps = [386, 136, 140, 447, 263, 152, 164, 386, 398, 102, 508, 90, 184]
    check((19.41894783 * np.array(steps), 1e-4 * np.array(caps), 0.112033), solver=True)


@pytest.mark.slow
def test_the_ways_agree_on_10000_cases() -> None:
    rng = np.random.Generator(np.random.PCG64(3))
    for i in range(10_000):
        check(random_case(rng, 10_000 if i % 10 == 0 else 60), solver=i % 10 == 1)


@pytest.mark.parametrize("method", ["newton", "sort"])
@pytest.mark.parametrize("far", [1e3, 1e9, 1e15, 1e30])
def test_far_points_keep_the_budget(method: str, far: float) -> None:
    """Where z has no digits to spare for y, the budget is kept all the same."""
    rng = np.random.Generator(np.random.PCG64(4))
    point, caps = far + rng.uniform(0, 1, 50), rng.uniform(0.5, 1.5, 50)
    found = project(point, caps, 7.0, method=method)  # type: ignore[arg-type]
    assert found.amount.sum() == pytest.approx(7.0, rel=1e-11)
    assert (found.amount <= caps).all()


def test_counterexample_to_the_papers_loop() -> None:
    case = ([10.0, 9.0], [10.0, 1.0], 10.0)
    assert project(*case, method="paper").amount.tolist() == [5.5, 4.5]
    assert project(*case).amount.tolist() == [9.0, 1.0]


def test_the_papers_loop_hands_out_what_nobody_asked_for() -> None:
    found = project([1.0, 1.0], [9.0, 9.0], 10.0, method="paper")
    assert found.amount.tolist() == [5.0, 5.0]
    assert found.price == -4.0
    assert project([1.0, 1.0], [9.0, 9.0], 10.0).amount.tolist() == [1.0, 1.0]


def test_the_papers_loop_where_it_is_right() -> None:
    """Caps that do not bind and a budget that does."""
    rng = np.random.Generator(np.random.PCG64(5))
    for _ in range(200):
        point = rng.uniform(0, 4, 6)
        budget = 0.9 * float(point.sum()) * rng.random() + 1e-3
        caps = np.full(6, 10.0)
        found = project(point, caps, budget, method="paper")
        np.testing.assert_allclose(found.amount, project(point, caps, budget).amount, atol=1e-12)


@pytest.mark.parametrize("method", ["newton", "sort", "paper"])
def test_no_ports(method: str) -> None:
    assert project([], [], 1.0, method=method).amount.size == 0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("point", "caps", "budget", "field"),
    [
        ([float("nan")], [1.0], 1.0, "point"),
        ([1.0], [-1.0], 1.0, "caps"),
        ([1.0], [1.0], -1.0, "budget"),
        ([1.0], [1.0], float("inf"), "budget"),
        ([1.0, 2.0], [1.0], 1.0, "point"),
    ],
)
def test_bad_input(point: list[float], caps: list[float], budget: float, field: str) -> None:
    with pytest.raises(InputError, match=field):
        project(point, caps, budget)
