"""OGA and the baselines: audited, held against plain numpy, within the bound."""

import json
import math
from typing import Any

import numpy as np
import pytest

from algorithms.multiserver import POLICIES, run
from algorithms.multiserver.projection import project
from models.files import InputError
from models.multiserver import MultiserverInstance, arrival_table, audit
from models.multiserver.allocation import allocation_table
from models.multiserver.generator import generate
from models.multiserver.layout import edge_layout
from models.multiserver.reward import reward_gradient, slot_reward
from models.multiserver.stationary import job_counts, solve_stationary
from models.multiserver.streams import flip_arrivals, listed

STEPS = ("theory", "sqrt", "adagrad", "geometric")


def plain_oga(instance: MultiserverInstance, step: str, protocol: str) -> list[float]:
    """OGA without anything compiled but the projection by the sort."""
    layout = edge_layout(instance)
    table = arrival_table(instance.arrivals, layout.ports)
    y, squares, rewards = np.zeros((layout.edges, layout.resources)), 0.0, []
    ratio = instance.diameter / instance.gradient_bound
    for t, arrived in enumerate(table, start=1):
        if protocol == "committed":
            rewards.append(slot_reward(layout, y, arrived))
        g = reward_gradient(layout, y, arrived)
        squares += float((g**2).sum())
        eta = {
            "theory": ratio / math.sqrt(len(table)),
            "sqrt": ratio / math.sqrt(t),
            "adagrad": instance.diameter / math.sqrt(2 * squares) if squares else 0.0,
            "geometric": 0.99**t,
        }[step]
        z = y + eta * g
        for r in range(len(layout.capacity)):
            mine = slice(layout.first[r], layout.first[r + 1])
            for k in range(layout.resources):
                found = project(
                    z[mine, k], layout.cap[mine, k], float(layout.capacity[r, k]), method="sort"
                )
                y[mine, k] = found.amount
        if protocol == "lookahead":
            rewards.append(slot_reward(layout, y, arrived))
    return rewards


@pytest.mark.parametrize("form", ["sum", "channel"])
@pytest.mark.parametrize("protocol", ["committed", "lookahead"])
@pytest.mark.parametrize("step", STEPS)
def test_oga_is_what_plain_numpy_does(form: Any, protocol: str, step: str) -> None:
    instance = generate(6, 5, 4, degree=4, gain="mixed", form=form, slots=60, seed=3)
    solution = run(instance, "oga", step=step, protocol=protocol, history=True).solution
    np.testing.assert_allclose(solution.rewards, plain_oga(instance, step, protocol), rtol=1e-8)
    report = audit(instance, solution)
    assert report.violations == ()
    assert report.objective == pytest.approx(solution.objective, rel=1e-9)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("form", ["sum", "channel"])
@pytest.mark.parametrize("protocol", ["committed", "lookahead"])
@pytest.mark.parametrize("seed", range(3))
def test_policies_are_sound(policy: str, form: Any, protocol: str, seed: int) -> None:
    instance = generate(7, 6, 3, degree=4, gain="mixed", form=form, slots=40, seed=seed)
    with_history = run(instance, policy, protocol=protocol, history=True).solution
    assert audit(instance, with_history).violations == ()
    without = run(instance, policy, protocol=protocol).solution
    assert audit(instance, without).violations == ()
    assert without.objective == with_history.objective
    assert without.final == with_history.final


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "changes",
    [
        {"slots": 0},
        {"degree": 0},
        {"probability": 0.0},
        {"ports": 1},
        {"instances": 1},
        {"degree": 1, "ports": 9},  # isolated ports
    ],
)
def test_small_and_empty_instances(policy: str, changes: dict[str, Any]) -> None:
    instance = generate(**{"ports": 3, "instances": 4, "resources": 2, "slots": 6} | changes)
    solution = run(instance, policy, history=True).solution
    assert audit(instance, solution).violations == ()
    if changes in ({"slots": 0}, {"degree": 0}, {"probability": 0.0}):
        assert solution.objective == 0.0


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_to_hand_out(policy: str) -> None:
    drawn = generate(3, 2, 2, slots=9)
    empty = [server.model_copy(update={"capacity": {}}) for server in drawn.instances]
    instance = drawn.model_copy(update={"instances": tuple(empty)})
    solution = run(instance, policy, history=True).solution
    assert (solution.objective, solution.final) == (0.0, ())


@pytest.mark.parametrize("step", STEPS)
def test_forms_agree_on_linear_gains(step: str) -> None:
    totals = [
        run(generate(5, 4, 3, form=form, slots=200, seed=1), "oga", step=step).solution.objective
        for form in ("sum", "channel")
    ]
    assert totals[0] == pytest.approx(totals[1], rel=1e-9)


@pytest.mark.parametrize("gain", ["linear", "log", "poly", "reciprocal"])
@pytest.mark.parametrize("form", ["sum", "channel"])
def test_regret_within_the_bound(gain: str, form: Any) -> None:
    for seed in range(2):
        instance = generate(
            4, 3, 2, gain=gain, form=form, slots=2000, probability=0.5, overhead=3.0, seed=seed
        )
        best = solve_stationary(edge_layout(instance), job_counts(instance))
        regret = best.upper - run(instance, "oga").solution.objective
        bound = instance.diameter * instance.gradient_bound * math.sqrt(instance.slots)
        assert regret <= bound


def test_the_papers_loop_breaks_requests() -> None:
    instance = generate(6, 4, 2, contention=1.2, slots=50, seed=0)
    report = audit(instance, run(instance, "oga", projection="paper", history=True).solution)
    assert {violation.constraint for violation in report.violations} == {"cap"}


def test_geometric_steps_do_not_unlearn() -> None:
    """On the flip stream they end where they were; theory's steps turn round."""

    def reward(step: str) -> float:
        instance = generate(2, 1, 1, contention=2.0, arrivals=flip_arrivals(8000))
        return float(run(instance, "oga", step=step).solution.objective)

    assert reward("theory") > 1.5 * reward("geometric")


def served(policy: str, **options: Any) -> list[list[float]]:
    """Three ports, two instances (c = 10, 6), one resource, requests 4, 8, 2; all arrive."""
    drawn = generate(3, 2, 1, slots=1, arrivals=listed([[True, True, True]]))
    content = drawn.model_dump(mode="json")
    for port, amount in zip(content["ports"], (4.0, 8.0, 2.0), strict=True):
        port["request"]["k0"] = amount
    for server, amount in zip(content["instances"], (10.0, 6.0), strict=True):
        server["capacity"]["k0"] = amount
    instance = MultiserverInstance.model_validate_json(json.dumps(content))
    solution = run(instance, policy, history=True, **options).solution
    assert audit(instance, solution).violations == ()
    table = allocation_table(instance, edge_layout(instance), solution.final)
    return [[round(x, 9) for x in row] for row in table[:, 0].reshape(2, 3).tolist()]


def test_baselines_by_hand() -> None:
    """Rows are instances, columns ports."""
    assert served("fairness") == [
        [round(10 * a / 14, 9) for a in (4, 8, 2)],
        [round(6 * a / 14, 9) for a in (4, 8, 2)],
    ]
    assert served("drf") == [[4, 4, 2], [4, 0, 2]]  # ports 2, 0, 1
    assert served("binpacking") == served("spreading") == [[4, 6, 0], [4, 2, 0]]
    # The second job goes on where the first one is, or where it is not.
    assert served("binpacking", per_job=True) == [[4, 6, 0], [0, 2, 2]]
    assert served("spreading", per_job=True) == [[4, 2, 2], [0, 6, 0]]
    assert served("drf", per_job=True) == [[4, 4, 2], [0, 4, 0]]


def test_long_runs_keep_no_rewards() -> None:
    instance = generate(2, 2, 1, slots=150_000)
    solution = run(instance, "oga").solution
    assert solution.rewards is None
    assert solution.objective > 0


def test_bad_options() -> None:
    instance = generate(2, 2, 1, slots=2)
    with pytest.raises(InputError, match="oga, fairness"):
        run(instance, "ogre")
    with pytest.raises(InputError, match="step"):
        run(instance, "oga", step="large")
    with pytest.raises(InputError, match="is not a parameter of fairness"):
        run(instance, "fairness", per_job=True)


def test_histories_that_no_memory_holds_are_refused() -> None:
    instance = generate(10, 10, 2, slots=100_001)
    for policy in POLICIES:
        with pytest.raises(InputError, match=r"history: must be off .* \(got 20000200\)"):
            run(instance, policy, history=True)
