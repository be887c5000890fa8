"""Rows of the smallest grids, computed once for all tests of a process."""

import json
from typing import Any

import pandas as pd

from experiments.declaration import Experiment
from experiments.tasks import tasks_of
from experiments.worker import Outcome, execute

_OUTCOMES: dict[tuple[str, str, int], Outcome] = {}  # experiments share points


def outcome_of(experiment: Experiment, parameters: str, seed: int) -> Outcome:
    """What a worker process would return for this task."""
    place = (experiment.task_reference, parameters, seed)
    if place not in _OUTCOMES:
        _OUTCOMES[place] = execute(experiment.task_reference, parameters, seed, experiment.required)
    return _OUTCOMES[place]


def rows_for(experiment: Experiment, seeds: int = 1) -> pd.DataFrame:
    """Rows of the quick grid, as the store would return them."""
    rows: list[dict[str, Any]] = []
    for key in tasks_of(experiment, quick=True, seeds=seeds):
        outcome = outcome_of(experiment, *key)
        assert outcome.row is not None, outcome.traceback
        rows.append({**json.loads(key.parameters), "seed": key.seed, **json.loads(outcome.row)})
    return pd.DataFrame(rows)
