"""Commands that make something new: generate, run, optimum."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments.cli.arguments import (
    FIGURES,
    MODELS,
    check_outputs,
    check_positive,
    check_suffix,
    choose_policy,
    read_parameters,
)
from experiments.cli.families import Family
from experiments.cli.options import AsJson, InstanceFile, Output, Seed
from experiments.cli.output import answers_only, emit, emit_json, plain, say
from models.files import InputError, write_model

if TYPE_CHECKING:
    from algorithms.policy import Parameters, Policy, Run

__all__ = ["attempt", "audit_own", "generate", "optimum", "run"]

InstanceOutput = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="Instance file to write.")
]


def generate(
    family: Family, output: InstanceOutput, seed: Seed = 0, *, options: Mapping[str, Any]
) -> int:
    """Draw an instance; the same options and seed give the same file."""
    check_outputs({"-o": output})
    with answers_only():
        try:
            generated = family.generate(seed, **options)
        except InputError as error:
            if error.source == "" and error.field in options:
                raise InputError(f"--{error}") from None  # the argument is an option here
            raise
        write_model(generated.instance, output)
    for note in generated.notes:
        emit(note)
    return 0


Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Set a parameter of the policy; may be repeated."
    ),
]


def run(
    family: Family,
    instance: InstanceFile,
    policy: Annotated[str, typer.Option("--policy", metavar="NAME", help="The policy to run.")],
    settings: Settings = None,
    seed: Seed = 0,
    output: Output = None,
    figure: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the solution (.png or .svg)."),
    ] = None,
    as_json: AsJson = False,
    *,
    options: Mapping[str, Any],
) -> int:
    """Run a policy on an instance and audit what it returns."""
    check_suffix("--plot", figure, FIGURES)
    check_outputs({"-o": output, "--plot": figure}, inputs=(instance,))
    with answers_only():
        chosen = choose_policy(family.policies(), policy)
        parameters = read_parameters(chosen, settings or [])
        loaded = family.load_instance(instance)
        started = time.perf_counter()
        result, why_none = attempt(family, chosen, loaded, parameters, seed, options)
        seconds = time.perf_counter() - started
        solution = result.solution
        sound = solution is not None and audit_own(family, loaded, solution)
        if solution is not None:
            if output is not None:
                write_model(solution, output)
            if figure is not None:
                family.plot(loaded, solution, figure)
    objective = None if solution is None else solution.objective
    if as_json:
        emit_json(
            {
                "policy": policy,
                "objective": objective,
                "seconds": seconds,
                "seed": seed,
                "options": {**parameters.model_dump(mode="json"), **plain(options)},
                "counters": result.counters,
                "solution": solution,
            }
        )
    elif solution is not None:
        emit(family.outcome_table(loaded, result))
        emit("")
        emit(f"policy: {policy}, seed {seed}, {seconds:.3g} s")
        emit(f"{family.objective}: {objective:.10g}")
        emit(", ".join(f"{name}: {n}" for name, n in family.count(loaded, solution).items()))
        for remark in family.remarks(loaded, result):
            emit(remark)
        if result.counters:
            emit(", ".join(f"{name}: {value:g}" for name, value in result.counters.items()))
    if solution is None:
        say(why_none)
    return 0 if sound else 1


def attempt(
    family: Family,
    policy: Policy,
    instance: Any,
    parameters: Parameters,
    seed: int,
    options: Mapping[str, Any],
) -> tuple[Run, str]:
    """Run a policy; an instance without solution is an answer: a run without one, and why."""
    from algorithms.policy import NoSolution, Run

    try:
        return family.run(policy, instance, parameters, seed, **options), "no feasible solution"
    except NoSolution as reason:
        return Run(None), f"no feasible solution: {reason}"


def audit_own(family: Family, instance: Any, solution: Any) -> bool:
    """Audit what our own algorithm returned; tell the user if it does not hold."""
    report = family.audit(instance, solution)
    for violation in report.violations[:1]:
        say(
            f"warning: the audit found {len(report.violations)} violation(s) in what "
            f"{solution.policy} returned, the first: {violation.constraint}, {violation.where}, "
            f"by {violation.amount:.6g}"
        )
    return report.feasible


def optimum(
    family: Family,
    instance: InstanceFile,
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", help="When to stop proving.")
    ] = 60.0,
    output: Output = None,
    model_file: Annotated[
        Path | None,
        typer.Option(
            "--write-model", metavar="FILE", help="Write the exact model too (.lp or .mps)."
        ),
    ] = None,
    as_json: AsJson = False,
    *,
    options: Mapping[str, Any],
) -> int:
    """Find an interval that is proved to hold the optimum."""
    check_positive("--time-limit", time_limit)
    check_suffix("--write-model", model_file, MODELS)
    check_outputs({"-o": output, "--write-model": model_file}, inputs=(instance,))
    with answers_only():
        loaded = family.load_instance(instance)
        if model_file is not None:
            family.write_formulation(loaded, model_file, **options)
        bounds = family.optimum(loaded, time_limit, 0, **options)
        sound = bounds.solution is None or audit_own(family, loaded, bounds.solution)
        if output is not None and bounds.solution is not None:
            write_model(bounds.solution, output)
    if as_json:
        emit_json(
            {
                "sense": family.sense,
                "status": bounds.status,
                "lower": bounds.lower,
                "upper": bounds.upper,
                "seconds": bounds.seconds,
            }
        )
    else:
        emit(f"{bounds.status} after {bounds.seconds:.3g} s")
        if bounds.status != "infeasible":
            sense = {"max": "largest", "min": "smallest"}[family.sense]
            low, high = _number(bounds.lower), _number(bounds.upper)
            where = f"{low}, proved" if bounds.status == "optimal" else f"between {low} and {high}"
            emit(f"{sense} {family.objective}: {where}")
        for note in bounds.notes:
            emit(note)
    if bounds.status == "infeasible":
        say("no feasible solution")
    return 0 if sound and bounds.status != "infeasible" else 1


def _number(value: float | None) -> str:
    return "?" if value is None or not math.isfinite(value) else f"{value:.10g}"
