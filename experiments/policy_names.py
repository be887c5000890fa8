"""How policies and mixes are called in figures and texts."""

from __future__ import annotations

__all__ = ["MIX_LABELS", "label"]

_LABELS = {
    "pdors": "PD-ORS",
    "pdors-plus": "PD-ORS+",
    "fifo": "FIFO",
    "drf": "DRF",
    "dorm": "Dorm",
    "oasis": "OASiS",
    "optimus": "Optimus",
}

MIX_LABELS = {
    "default": "10/55/35 % insensitive/sensitive/critical",
    "google": "30/69/1 % insensitive/sensitive/critical",
}


def label(name: str) -> str:
    """Return the name in print of a policy or mix; others are returned as they are."""
    return _LABELS.get(name) or MIX_LABELS.get(name, name)
