"""The command that runs several policies with several seeds: compare."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from experiments.cli.arguments import choose_policies
from experiments.cli.families import Family
from experiments.cli.options import AsJson, InstanceFile
from experiments.cli.output import Table, answers_only, emit, emit_json, say
from experiments.cli.solving import attempt, audit_own

__all__ = ["compare"]


@dataclass
class Outcomes:
    """What one policy reached, seed by seed; an objective is None without a solution."""

    objectives: list[float | None] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    counts: list[Mapping[str, int]] = field(default_factory=list)

    def summary(self) -> dict[str, Any]:
        """Mean objective with its 95 % interval, and means of all else."""
        from experiments.intervals import mean_interval

        reached = [value for value in self.objectives if value is not None]
        mean, low, high = mean_interval(reached) if reached else (math.nan,) * 3
        names = dict.fromkeys(name for counts in self.counts for name in counts)
        return {
            "mean": mean,
            "low": low,
            "high": high,
            "seconds": _mean(self.seconds),
            "counts": {name: _mean([c.get(name, 0) for c in self.counts]) for name in names},
            "objectives": self.objectives,
        }


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def compare(
    family: Family,
    instance: InstanceFile,
    names: Annotated[
        str, typer.Option("--policies", metavar="A,B,C", help="Policies, with their defaults.")
    ],
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, help="Run each policy with seeds 0, 1, ...")
    ] = 5,
    as_json: AsJson = False,
    *,
    options: Mapping[str, Any],
) -> int:
    """Run several policies on one instance and show mean objectives with 95 % intervals.

    The interval is over the seeds of the policies' draws (and of the arrivals, where the family
    redraws them); it says nothing about other instances.
    """
    from tqdm import tqdm

    sound = True
    with answers_only():
        chosen = choose_policies(family.policies(), names)
        loaded = family.load_instance(instance)
        outcomes = {policy.name: Outcomes() for policy in chosen}
        with tqdm(
            total=len(chosen) * seeds, unit="run", file=sys.stderr, disable=None, leave=False
        ) as bar:
            for seed in range(seeds):
                drawn = family.redraw(loaded, seed)
                for policy in chosen:
                    started = time.perf_counter()
                    result, why_none = attempt(
                        family, policy, drawn, policy.parameters(), seed, options
                    )
                    found = outcomes[policy.name]
                    found.seconds.append(time.perf_counter() - started)
                    if result.solution is None:
                        say(f"{policy.name}, seed {seed}: {why_none}")
                        found.objectives.append(None)
                        sound = False
                    else:
                        sound &= audit_own(family, drawn, result.solution)
                        found.objectives.append(result.solution.objective)
                        found.counts.append(family.count(drawn, result.solution))
                    bar.update()
        summaries = {name: found.summary() for name, found in outcomes.items()}
    if as_json:
        rows = [{"policy": name, **summary} for name, summary in summaries.items()]
        emit_json({"sense": family.sense, "seeds": seeds, "policies": rows})
    else:
        emit(f"{family.objective} ({family.sense}imised), {seeds} seed(s)")
        emit(_table(summaries))
    return 0 if sound else 1


def _table(summaries: Mapping[str, Mapping[str, Any]]) -> Table:
    counts = dict.fromkeys(name for s in summaries.values() for name in s["counts"])
    rows = [
        [
            name,
            s["mean"],
            s["low"],
            s["high"],
            *(s["counts"].get(count, 0) for count in counts),
            s["seconds"],
        ]
        for name, s in summaries.items()
    ]
    return Table(("policy", "mean", "low", "high", *counts, "seconds"), rows)
