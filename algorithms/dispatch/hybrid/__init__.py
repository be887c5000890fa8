"""The hybrid: relaxed scheduling and strict mapping in rounds, then a search on single nodes.

Every round schedules on all nodes as one, puts that on nodes, and learns from jobs that could not
be mapped. The best schedule on nodes is kept, from PRB's on; the polish goes on from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from algorithms.dispatch.hybrid.engines import CpSat, Engine, Relaxed, SetTimes, TimeIndexed
from algorithms.dispatch.hybrid.mapping import (
    Mapped,
    conflicts_of,
    map_strictly,
    start_from,
    violated,
)
from algorithms.dispatch.hybrid.polish import polish
from algorithms.dispatch.lists import make_problem, submit_order
from algorithms.dispatch.rules import NODE_RULES, make_order
from algorithms.policy import Parameters, Policy, Run
from models.dispatch import DispatchInstance, build_schedule

__all__ = ["HYBRID", "HybridLog", "HybridParameters", "Round", "run_hybrid"]


class HybridParameters(Parameters):
    """Parts of the hybrid, each of which can be switched off, and their budgets in iterations."""

    engine: Literal["set-times", "time-indexed", "cp-sat", "none"] = Field(
        default="set-times",
        description="relaxed stage: random lists, the LP of the time-indexed model, CP-SAT, or "
        "none (PRB's schedule is polished)",
    )
    rounds: int = Field(
        default=4, ge=0, le=10_000, description="rounds of relaxed scheduling and mapping"
    )
    draws: int = Field(
        default=5_000, ge=1, le=10**9, description="lists per round (set-times, time-indexed)"
    )
    bias: Literal["weight", "smith"] = Field(
        default="smith",
        description="set-times: drawn early by weight (the source), or sharply by weight per work",
    )
    starts: int = Field(
        default=6_000, ge=1, le=10**6, description="time-indexed: most jobs times slots"
    )
    work: float = Field(
        default=2.0, gt=0, le=1e6, description="cp-sat: its deterministic time per round"
    )
    feedback: bool = Field(default=True, description="learn conflict sets from failed mappings")
    tighten: bool = Field(
        default=True, description="ask for relaxed schedules below the best mapped one"
    )
    polish: int = Field(
        default=20_000, ge=0, le=10**9, description="orders that the search on nodes tries"
    )
    nodes: Literal["fullest", "file"] = Field(
        default="fullest", description="which node is filled first"
    )


@dataclass(frozen=True)
class Round:
    """What a round did.

    Attributes
    ----------
    relaxed, mapped : float
        Objective (5.2) [s] of the relaxed schedule and on nodes; NaN if nothing was found.
    postponed : int
        Jobs that started later than planned.
    learned : int
        New conflict sets.
    """

    relaxed: float
    mapped: float
    postponed: int
    learned: int


@dataclass(frozen=True)
class HybridLog:
    """What happened.

    Attributes
    ----------
    prb : float
        Objective (5.2) [s] of PRB, from which the search starts.
    rounds : tuple of Round
    after_rounds : float
        The best objective [s] before the polish.
    trace : tuple of float
        The best objective [s] after 1, 2, 4, 8, ... orders of the polish.
    impossible : tuple of (str, str)
        Jobs that can never run, and why.
    """

    prb: float
    rounds: tuple[Round, ...]
    after_rounds: float
    trace: tuple[float, ...]
    impossible: tuple[tuple[str, str], ...]


def _make_engine(parameters: HybridParameters) -> Engine | None:
    if parameters.engine == "set-times":
        return SetTimes(parameters.draws, parameters.bias)
    if parameters.engine == "time-indexed":
        return TimeIndexed(parameters.draws, parameters.starts)
    if parameters.engine == "cp-sat":
        return CpSat(parameters.work)
    return None


def run_hybrid(instance: DispatchInstance, parameters: HybridParameters, seed: int) -> Run:
    """Run the hybrid; never worse than PRB with its default rules.

    The result depends on instance, parameters and seed alone: budgets are in iterations.

    Raises
    ------
    NoSolution
        If the idle system is above the cap.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    first = _by_prb(instance)
    best, rounds = first, []
    sets: dict[tuple[int, ...], None] = {}
    engine = _make_engine(parameters) if instance.arrays.possible.any() else None
    sign = NODE_RULES[parameters.nodes].sign
    problem = make_problem(instance, sign)
    for _ in range(parameters.rounds if engine is not None else 0):
        assert engine is not None
        # The hint satisfies what is asked for: sets that the best schedule violates are none (P5).
        asked = Relaxed(
            instance,
            [conflict for conflict in sets if not violated(instance, conflict, best.start)],
            best.objective if parameters.tighten else np.inf,
            best.start,
        )
        planned = engine.schedule(asked, rng)
        if planned is None:  # unknown or infeasible: stop (P5)
            rounds.append(Round(np.nan, np.nan, 0, 0))
            break
        mapped = map_strictly(instance, problem, planned, sign)
        known = len(sets)
        if parameters.feedback:
            sets |= dict.fromkeys(conflicts_of(instance, planned, mapped))
        rounds.append(
            Round(
                Mapped.of(instance, planned, mapped.unit_node).objective,
                mapped.objective,
                int((mapped.start > planned).sum()),
                len(sets) - known,
            )
        )
        best = min(best, mapped, key=lambda found: found.objective)
    before = best.objective
    decoded, trace = 0, tuple[float, ...]()
    if parameters.polish:
        best, decoded, trace = polish(instance, best, parameters.polish, parameters.nodes, rng)
    reasons = zip(instance.jobs, instance.why_impossible, strict=True)
    return Run(
        build_schedule(instance, "hybrid", best.start, best.unit_node),
        HybridLog(
            first.objective,
            tuple(rounds),
            before,
            trace,
            tuple((job.name, why) for job, why in reasons if why is not None),
        ),
        {"rounds": len(rounds), "conflict_sets": len(sets), "decoded": decoded},
    )


def _by_prb(instance: DispatchInstance) -> Mapped:
    order = make_order(instance.arrays, "urgency", "fullest")
    problem = make_problem(instance, order.sign)
    submit = np.array(instance.arrays.submit)
    return start_from(instance, problem, order, submit, submit_order(instance))


HYBRID = Policy(
    name="hybrid",
    summary="relaxed scheduling and strict mapping in rounds, then a search on single nodes",
    parameters=HybridParameters,
    run=run_hybrid,
    counters={
        "rounds": "rounds of relaxed scheduling and mapping",
        "conflict_sets": "sets of jobs learned from failed mappings",
        "decoded": "orders of jobs that the polish decoded on nodes",
    },
)
