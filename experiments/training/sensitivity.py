"""training/sensitivity: one thing at a time, as small multiples. Not from the paper.

What is swept: PD-ORS's own G_delta, delta (with G_delta of Theorem 3 or 4), S and Q; and of the
workload the ratio of bandwidths, both bandwidths together (which is also the slot's length, since
sample times are given in slots), the class mix and the capacity; and ln(U/L) of the prices, which
the paper takes from the jobs (U and L of eqs. 13, 14): here L is raised, U stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from experiments.declaration import Experiment
from experiments.training.points import COMPARED, METRICS, REVISION, ROWS, TASK, point

if TYPE_CHECKING:
    import pandas

__all__ = ["SENSITIVITY", "SWEEPS", "Sweep", "base", "rows_of"]

OWN = ("pdors",)
COMPARED_HERE = tuple(p for p in COMPARED if p in ("pdors", "pdors-plus", "drf", "oasis"))
"""Two baselines are enough to see whether a change is PD-ORS's or everybody's."""


@dataclass(frozen=True)
class Sweep:
    """One panel.

    Attributes
    ----------
    title : str
    column : str
        What is changed.
    values : mapping of value to text
        In the order shown, with what stands at the tick.
    default : value
        The one at which `column` is not written: the common base.
    fixed : mapping
        Changed along the whole panel.
    policies : tuple of str
    """

    title: str
    column: str
    values: Mapping[Any, str]
    default: Any = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    policies: tuple[str, ...] = OWN

    def parameters(self, policy: str, value: Any, quick: bool) -> dict[str, Any]:
        """Return the grid point of one policy at one value."""
        changed = {} if value == self.default else {self.column: value}
        return point(policy, **{**base(quick), **self.fixed, **changed})


def _texts(*values: float) -> dict[float, str]:
    return {value: f"{value:g}" for value in values}


SWEEPS = (
    Sweep("gain G_delta", "set_gain", _texts(0.6, 0.9, 1.0, 1.1), 1.0),
    Sweep(
        "delta, G of Theorem 3 (< 1)",
        "set_delta",
        _texts(0.02, 0.1, 1.0),
        fixed={"set_theory": "packing"},
    ),
    Sweep(
        "delta, G of Theorem 4 (> 1)",
        "set_delta",
        _texts(0.02, 0.1, 1.0),
        fixed={"set_theory": "cover"},
    ),
    Sweep("feasible draws S", "set_draws", _texts(1, 3, 10, 30), 10),
    Sweep(
        "ln(U/L) of the prices",
        "set_log_price_ratio",
        {0.0: "jobs", 20.0: "20", 9.2: "9.2", 8.0: "8", 4.0: "4"},
        0.0,
    ),
    Sweep("levels Q", "set_levels", {5: "5", 20: "20", 40: "40", 0: "4(T - a)"}, 0),
    Sweep(
        "b_int / b_ext",
        "internal_factor",
        {0.1: "1", 0.3: "3", 1.0: "10", 3.0: "30", 6.0: "60"},
        1.0,
        policies=COMPARED_HERE,
    ),
    Sweep(
        "both bandwidths (or slot length), factor",
        "bandwidth_factor",
        _texts(0.1, 0.3, 1.0, 3.0, 10.0),
        1.0,
        policies=COMPARED_HERE,
    ),
    Sweep(
        "class mix",
        "mix",
        {"default": "10/55/35", "google": "30/69/1", "trace": "trace"},
        "default",
        policies=COMPARED_HERE,
    ),
    Sweep(
        "capacity, factor",
        "capacity_factor",
        _texts(0.25, 0.5, 1.0, 2.0, 4.0),
        1.0,
        policies=COMPARED_HERE,
    ),
)
CHANGED = (
    *("set_gain", "set_theory", "set_delta", "set_draws", "set_levels"),
    "set_log_price_ratio",
    *("internal_factor", "bandwidth_factor", "capacity_factor"),
)


def base(quick: bool) -> dict[str, Any]:
    """The setting that all panels have in common."""
    return (
        {"jobs": 6, "slots": 6, "machines": 3}
        if quick
        else {"jobs": 30, "slots": 20, "machines": 20}
    )


def grid(quick: bool) -> Sequence[dict[str, Any]]:
    """All panels; the base is in each and computed once."""
    found: list[dict[str, Any]] = []
    for sweep in SWEEPS:
        for value in sweep.values:
            for policy in sweep.policies:
                parameters = sweep.parameters(policy, value, quick)
                if parameters not in found:
                    found.append(parameters)
    return found


def rows_of(rows: pandas.DataFrame, parameters: Mapping[str, Any]) -> pandas.DataFrame:
    """Return the rows of exactly one grid point."""
    wanted = rows["policy"] == parameters["policy"]
    wanted &= rows["mix"] == parameters["mix"]
    for column in CHANGED:
        if column in parameters:
            wanted &= (rows[column] == parameters[column]) if column in rows else False
        elif column in rows:
            wanted &= rows[column].isna()
    return rows[wanted]


def finding(rows: pandas.DataFrame) -> str:
    """Say over which panels the mean utility of PD-ORS changes most and least."""
    spans = []
    for sweep in SWEEPS:
        means = [
            found["utility"].mean()
            for value in sweep.values
            for quick in (False, True)  # rows are of one of the two grids
            if len(found := rows_of(rows, sweep.parameters("pdors", value, quick)))
        ]
        if means and max(means) > 0:
            spans.append((min(means) / max(means), sweep.title, min(means), max(means)))
    if not spans:
        return "Nothing completes at any setting."
    _, most, *ends = min(spans)
    _, least, *near = max(spans)
    return (
        f"The mean utility of PD-ORS changes most with {most} ({ends[0]:.4g} to {ends[1]:.4g}), "
        f"least with {least} ({near[0]:.4g} to {near[1]:.4g})."
    )


SENSITIVITY = Experiment(
    name="training/sensitivity",
    revision=REVISION,
    summary="G_delta, delta, S, Q, ln(U/L), locality, bandwidth, mix and capacity, one at a time",
    paper="not in the paper",
    grid=grid,
    task=TASK,
    figure="experiments.training.sensitivity_drawing:draw",
    finding=finding,
    rows=ROWS,
    metrics=METRICS,
    cost="programs",
    policies=COMPARED_HERE,
    expected_seconds=1200.0,
    quick_seconds=15.0,
)
