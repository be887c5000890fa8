"""Small experiments with a drawn figure, and a store with rows of them."""

import json
from pathlib import Path
from typing import Any

from experiments.declaration import Claim, Experiment, Verdict
from experiments.store import Failure, Key, Store, canonical
from experiments.worker import command

POINTS = ({"x": 1}, {"x": 2})
VERSIONS = json.dumps({"schedlab": "1.2.3", "python": "3.11.0"})


def draw(rows: Any, destination: Path, context: Any) -> None:
    destination.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="300pt" height="150pt">'
        f"<title>{len(rows)} rows, quick={context.quick}</title>"
        '<rect width="100%" height="100%" fill="white"/>'
        '<circle cx="75" cy="75" r="40" fill="#0072B2"/></svg>'
    )
    destination.with_suffix(".csv").write_text(rows[["x", "seed", "cost"]].to_csv(index=False))


def draw_without_table(rows: Any, destination: Path, context: Any) -> None:
    draw(rows, destination, context)
    destination.with_suffix(".csv").unlink()


def draw_badly(rows: Any, destination: Path, context: Any) -> None:
    raise ZeroDivisionError("no <axis> & no scale")


def make(name: str = "splitting/points", statuses: Any = ("partly",), **fields: Any) -> Experiment:
    """Build an experiment whose claims get these verdicts."""
    short = name.split("/")[1]

    def claim(number: int, status: Any) -> Claim:
        numbers = {"estimate": float(10 - number), "low": 1.0, "high": 11.0, "n": 2 + number}
        return Claim(
            f"{short}/{number}",
            f"Statement <{number}> holds",
            "a & b",
            lambda rows: Verdict(f"{len(rows)} rows.", status, numbers),
        )

    given: dict[str, Any] = {
        "name": name,
        "revision": 1,
        "summary": "points of the tests",
        "paper": "a paper & more",
        "grid": lambda quick: POINTS[:1] if quick else POINTS,
        "task": "report_kit:task",
        "figure": draw,
        "claims": tuple(claim(number, status) for number, status in enumerate(statuses)),
        "metrics": {"value": "a value [s]"},
        "policies": ("one", "other"),
        "seeds": 2,
    }
    return Experiment(**{**given, **fields})


def fill(
    store: Store, experiment: Experiment, *, points: Any = POINTS, seeds: int = 2, **row: Any
) -> None:
    """Write rows as a sweep would."""
    for seed in range(seeds):
        for point in points:
            values = json.dumps({"value": point.get("x", 0) + seed, "cost": 3, **row})
            key = Key(canonical(point), seed)
            store.put_row(
                experiment.stored_as,
                experiment.revision,
                key,
                values,
                seconds=0.5,
                versions=VERSIONS,
            )


def fail(store: Store, experiment: Experiment, x: int = 9) -> Failure:
    """Record a failed task."""
    key = Key(canonical({"x": x}), 0)
    failure = Failure(
        experiment.stored_as,
        experiment.revision,
        key,
        "ValueError: <b>bold</b> & bad",
        "Traceback",
        command("report_kit:task", *key),
    )
    store.put_failure(failure)
    return failure
