"""The grid points of policy runs: which instance, which policy, which of its parameters.

All figures that compare policies share one task and one set of rows: a point that two figures
have in common is computed once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = [
    "CAPTION",
    "COMPARED",
    "ENGINE_OF_ROWS",
    "LONG",
    "LONG_LEVELS",
    "METRICS",
    "REVISION",
    "ROWS",
    "TASK",
    "point",
    "points",
]

COMPARED = ("pdors", "fifo", "drf", "dorm", "oasis", "optimus", "pdors-plus")
"""The policies that figures compare, in the order of legends. A new policy is added here."""

CAPTION = "experiments.training.policy_caption:caption"
"""The caption of these figures, found when one is drawn."""
TASK = "experiments.training.policy_task:task"
ROWS = "training/policy"
"""Name under which the rows are stored."""
REVISION = 1

LONG = 40
LONG_LEVELS = 20
"""PD-ORS has Q = 20 workload levels where T > 40: at T = 80 the default takes 100 s per run."""

ENGINE_OF_ROWS = "highs"
"""How PD-ORS solves its slot programs in figures. LP optima that are not unique differ by engine,
and so may the decisions: the stored rows stay reproducible with the engine that computed them."""

METRICS = {
    "utility": "total utility of the completed jobs",
    "completed": "jobs completed within the horizon",
    "possible": "jobs that some schedule completes alone",
    "impossible": "jobs of the instance that no schedule completes alone (D5)",
    "redraws": "jobs redrawn by the generator because they were impossible",
    "median_time": "median over possible jobs of completion - arrival, T if unfinished [slots]",
    "unfinished_share": "part of the possible jobs that are not completed",
    "programs": "linear and integer programs solved",
}


def point(
    policy: str,
    *,
    jobs: int,
    slots: int,
    machines: int,
    mix: str = "default",
    locality: float = 10.0,
    preset: str = "calibrated",
    **changes: Any,
) -> dict[str, Any]:
    """Return one grid point.

    Parameters
    ----------
    policy : str
    jobs, slots, machines : int
    mix, locality, preset
        See `experiments.training.instances.draw_instance`.
    **changes
        Factors of `experiments.training.instances.changed_instance`, and the policy's own
        parameters as ``set_NAME``. Leave out what is at its default: points are equal only if
        they are written alike.
    """
    if policy == "pdors" and slots > LONG:
        changes.setdefault("set_levels", LONG_LEVELS)
    return {
        "policy": policy,
        "jobs": jobs,
        "slots": slots,
        "machines": machines,
        "mix": mix,
        "locality": locality,
        "preset": preset,
        **changes,
    }


def points(policies: Iterable[str], settings: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the points of some policies in some settings, setting by setting."""
    policies = tuple(policies)
    return [point(policy, **setting) for setting in settings for policy in policies]
