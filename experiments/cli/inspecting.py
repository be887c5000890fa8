"""Commands that look at files: describe, audit, plot, policies, schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from experiments.cli.arguments import FIGURES, check_outputs, check_suffix
from experiments.cli.families import Family
from experiments.cli.options import AsJson, InstanceFile, SolutionFile
from experiments.cli.output import Table, answers_only, emit, emit_json, say
from models.files import InputError

__all__ = ["audit", "describe", "plot", "policies", "schema"]


def describe(family: Family, instance: InstanceFile, as_json: AsJson = False) -> int:
    """Show sizes, units, and what is impossible and why."""
    with answers_only():
        description = family.describe(family.load_instance(instance))
    if as_json:
        emit_json(description.content)
    else:
        emit("\n\n".join(f"{head}\n{body}".strip() for head, body in description.sections))
    if description.infeasible:
        say(f"infeasible: {description.infeasible}")
        return 1
    return 0


def audit(
    family: Family, instance: InstanceFile, solution: SolutionFile, as_json: AsJson = False
) -> int:
    """Check a solution against its instance, independently of the algorithms."""
    with answers_only():
        loaded = family.load_instance(instance)
        candidate = family.load_solution(solution)
        try:
            report = family.audit(loaded, candidate)
        except InputError as error:
            raise error.within(str(solution)) from None
    if as_json:
        emit_json(report.as_dict())
    elif report.feasible:
        emit(f"feasible, {family.objective}: {report.objective:.10g}")
    else:
        rows = [(v.constraint, v.where, v.amount) for v in report.violations]
        emit(Table(("constraint", "where", "excess"), rows))
        emit(f"violated: {len(rows)}; {family.objective} recomputed: {report.objective:.10g}")
    return 0 if report.feasible else 1


FigureFile = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="Picture to write (.png or .svg).")
]


def plot(family: Family, instance: InstanceFile, solution: SolutionFile, output: FigureFile) -> int:
    """Draw a solution."""
    check_suffix("-o", output, FIGURES)
    check_outputs({"-o": output}, inputs=(instance, solution))
    with answers_only():
        loaded = family.load_instance(instance)
        candidate = family.load_solution(solution)
        try:
            family.plot(loaded, candidate, output)
        except InputError as error:
            raise error.within(str(solution)) from None
    return 0


def policies(family: Family, as_json: AsJson = False) -> int:
    """List the policies: parameters with defaults and units, and what their runs count."""
    with answers_only():
        known = family.policies()
        parameters = {name: _parameters(policy.parameters) for name, policy in known.items()}
    if as_json:
        content = [
            {
                "policy": name,
                "summary": policy.summary,
                "parameters": parameters[name],
                "counters": dict(policy.counters),
            }
            for name, policy in known.items()
        ]
        emit_json({"policies": content})
        return 0
    for name, policy in known.items():
        emit(f"{name}: {policy.summary}")
        for entry in parameters[name]:
            limits = ", ".join(part for part in (entry["type"], entry["rule"]) if part)
            shown = f"{entry['name']}={json.dumps(entry['default'])}"
            emit(f"    {shown}  {entry['description']} ({limits})".replace("   (", "  ("))
        if policy.counters:
            emit("  counts")
        for counter, meaning in policy.counters.items():
            emit(f"    {counter}  {meaning}")
    return 0


LIMITS = {
    "minimum": ">=",
    "exclusiveMinimum": ">",
    "maximum": "<=",
    "exclusiveMaximum": "<",
}


def _parameters(model: Any) -> list[dict[str, Any]]:
    """Describe the fields of a parameter set, from its JSON schema."""
    document = model.model_json_schema()
    found = []
    for name, field in document.get("properties", {}).items():
        choices = [_resolved(choice, document) for choice in field.get("anyOf", [field])]
        types = [_type(choice) for choice in choices]
        limits = [
            f"{sign} {choice[key]:g}"
            for choice in choices
            for key, sign in LIMITS.items()
            if key in choice
        ]
        found.append(
            {
                "name": name,
                "default": field.get("default"),
                "type": " or ".join(types),
                "rule": ", ".join(limits),
                "description": field.get("description", ""),
            }
        )
    return found


def _resolved(choice: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    name = choice.get("$ref", "").removeprefix("#/$defs/")
    resolved: dict[str, Any] = document["$defs"][name] if name else choice
    return resolved


def _type(choice: dict[str, Any]) -> str:
    if "enum" in choice:
        return "|".join(str(value) for value in choice["enum"])
    if "const" in choice:
        return str(choice["const"])
    names = {"integer": "whole number", "boolean": "true|false", "string": "text"}
    kind = str(choice.get("type", "any"))
    return names.get(kind, kind)


def schema(
    family: Family,
    solution: Annotated[
        bool, typer.Option("--solution", help="The solution file's schema instead.")
    ] = False,
) -> int:
    """Print the JSON Schema of the instance file."""
    with answers_only():
        model = family.solution_model() if solution else family.instance_model()
        document = model.model_json_schema()
        # Both have defaults in Python, but must stand in a file.
        labels = [name for name in ("kind", "version") if name in document["properties"]]
        document["required"] = [
            *labels,
            *(name for name in document.get("required", ()) if name not in labels),
        ]
        document["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    emit_json(document)
    return 0
