"""A small multiserver instance file for tests of the command line."""

from __future__ import annotations

from typing import Any


def content(**changes: Any) -> dict[str, Any]:
    """Three ports (one without edges), two instances, two resources, four slots."""
    base: dict[str, Any] = {
        "kind": "multiserver",
        "version": 1,
        "resources": ["cpu", "gpu"],
        "ports": [
            {"name": "l0", "request": {"cpu": 4, "gpu": 1}},
            {"name": "l1", "request": {"cpu": 2.5}},
            {"name": "l2", "request": {"cpu": 3}},
        ],
        "instances": [
            {"name": "r0", "capacity": {"cpu": 5, "gpu": 1}},
            {"name": "r1", "capacity": {"cpu": 2}},
        ],
        "edges": [["l0", "r0"], ["l1", "r0"], ["l1", "r1"]],
        "gain": {
            "form": "sum",
            "resources": {
                "cpu": {"kind": "linear", "scale": 1.2},
                "gpu": {"kind": "log", "scale": 2.0},
            },
        },
        "overhead": {"cpu": 0.25},
        "arrivals": {"kind": "list", "slots": 4, "ports": [[0], [1, 0], [], [2, 1]]},
    }
    return base | changes
