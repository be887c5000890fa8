"""The audit of a run: each constraint is found where it is broken, and nothing else."""

from typing import Any

import numpy as np
import pytest

from models.files import InputError
from models.multiserver import MultiserverInstance, MultiserverRun, audit, build_run
from models.multiserver.arrivals import arrival_table
from models.multiserver.generator import generate
from models.multiserver.layout import edge_layout
from models.multiserver.reward import slot_reward


def feasible_run(instance: MultiserverInstance, seed: int = 0) -> MultiserverRun:
    """Allocations within (5) and (6), other ones in each slot."""
    rng = np.random.default_rng(seed)
    layout = edge_layout(instance)
    history, rewards = [], []
    for arrived in arrival_table(instance.arrivals, layout.ports):
        table = layout.cap * rng.random(layout.cap.shape)
        used = np.zeros_like(layout.capacity)
        np.add.at(used, layout.instance, table)
        table *= np.minimum(1, layout.capacity / np.maximum(used, 1e-300))[layout.instance]
        history.append(table)
        rewards.append(slot_reward(layout, table, arrived))
    return build_run(
        instance,
        layout,
        history[-1],
        policy="any",
        protocol="committed",
        objective=float(np.sum(rewards)),
        rewards=np.array(rewards),
        history=history,
    )


@pytest.fixture
def instance() -> MultiserverInstance:
    return generate(4, 3, 2, degree=2, slots=12, gain="mixed", seed=3)


def change(run: MultiserverRun, amount: float, **names: str) -> MultiserverRun:
    """Put another amount into the first entry, in the last slot and in final."""
    port, server, resource, _ = run.final[0]
    entry = (
        names.get("port", port),
        names.get("server", server),
        names.get("resource", resource),
        amount,
    )
    table = (entry, *run.final[1:])
    history = run.history or ()
    return run.model_copy(update={"final": table, "history": (*history[:-1], table)})


def constraints(instance: MultiserverInstance, run: MultiserverRun) -> set[str]:
    return {violation.constraint for violation in audit(instance, run).violations}


@pytest.mark.parametrize("form", ["sum", "channel"])
@pytest.mark.parametrize("gain", ["linear", "log", "poly", "reciprocal", "mixed"])
def test_own_arithmetic_agrees(form: Any, gain: str) -> None:
    instance = generate(5, 4, 3, degree=3, slots=15, gain=gain, form=form, seed=1)
    run = feasible_run(instance)
    report = audit(instance, run)
    assert report.violations == ()
    assert report.objective == pytest.approx(run.objective, rel=1e-12)
    assert report.as_dict()["rewards_checked"] is True


def test_cap_capacity_sign(instance: MultiserverInstance) -> None:
    run = feasible_run(instance)
    assert {"cap", "capacity"} <= constraints(instance, change(run, 1e3))
    assert "sign" in constraints(instance, change(run, -1e-6))
    assert "sign" not in constraints(instance, change(run, -1e-10))


def test_edge(instance: MultiserverInstance) -> None:
    run = feasible_run(instance)
    port = run.final[0][0]
    server = next(s.name for s in instance.instances if (port, s.name) not in instance.edges)
    assert "edge" in constraints(instance, change(run, 1e-3, server=server))


def test_statements(instance: MultiserverInstance) -> None:
    run = feasible_run(instance)
    off = run.model_copy(update={"objective": run.objective * 1.001})
    assert constraints(instance, off) == {"statement"}
    rewards = list(run.rewards or ())
    rewards[0], rewards[1] = rewards[0] + 1, rewards[1] - 1
    swapped = run.model_copy(update={"rewards": tuple(rewards)})
    assert len(audit(instance, swapped).violations) == 2
    unseen = swapped.model_copy(update={"history": None})
    report = audit(instance, unseen)  # what nobody can check is said not to be checked
    assert report.feasible
    assert report.as_dict()["rewards_checked"] is False
    twice = run.model_copy(update={"final": (*run.final, run.final[0]), "history": None})
    assert "statement" in constraints(instance, twice)
    other = run.model_copy(update={"final": run.final[1:]})
    assert constraints(instance, other) == {"statement"}
    silent = run.model_copy(update={"rewards": None})
    assert constraints(instance, silent) == {"statement"}


@pytest.mark.parametrize(("place", "what"), [(0, "port"), (1, "instance"), (2, "resource")])
def test_unknown_names(instance: MultiserverInstance, place: int, what: str) -> None:
    run = feasible_run(instance)
    entry = list(run.final[0])
    entry[place] = "nobody"
    with pytest.raises(InputError, match=rf"final\[0\]\[{place}\]: is not a {what}"):
        audit(instance, run.model_copy(update={"final": (tuple(entry),)}))


def test_wrong_number_of_slots(instance: MultiserverInstance) -> None:
    run = feasible_run(instance)
    with pytest.raises(InputError, match="rewards: must have one entry per slot"):
        audit(instance, run.model_copy(update={"rewards": (1.0,)}))
