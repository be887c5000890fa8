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
    "oga": "OGA",
    "oga-lookahead": "OGA, sees x(t)",
    "fairness": "fairness",
    "binpacking": "bin packing",
    "spreading": "spreading",
    "gain-linear": "linear gains",
    "gain-log": "log gains",
    "gain-mixed": "the four kinds by turns",
    "exact": "exact projection",
    "regret": "regret of OGA",
    "bound": "D G sqrt(T)",
    "best": "reward of y*",
    "step-theory": "D/(G sqrt T)",
    "step-sqrt": "D/(G sqrt t)",
    "step-adagrad": "D/sqrt(2 sum |g|^2)",
    "step-geometric": "0.99^t",
    "step-geometric-slow": "0.999^t",
    "hybrid": "hybrid",
    "prb": "PRB",
    "prb-margin-10": "PRB, margin 10 %",
    "prb-margin-20": "PRB, margin 20 %",
    "easy": "EASY",
    "fcfs": "FCFS",
    "engine-none": "PRB's plan, no engine",
    "engine-set-times": "set times",
    "engine-time-indexed": "time-indexed LP",
    "engine-cp-sat": "CP-SAT",
    "lower-bound": "lower bound",
}

MIX_LABELS = {
    "default": "10/55/35 % insensitive/sensitive/critical",
    "google": "30/69/1 % insensitive/sensitive/critical",
}


def label(name: str) -> str:
    """Return the name in print of a policy or mix; others are returned as they are."""
    return _LABELS.get(name) or MIX_LABELS.get(name, name)
