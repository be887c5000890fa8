"""The one list of experiments: everything that runs, draws or judges them starts here.

To add an experiment, import its declaration and add it to `_DECLARED`. The modules imported here
must stay light (no solver, no plotting, no pandas at their top): ``schedlab --help`` loads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from experiments.declaration import Experiment
from experiments.dispatch.gantt_figure import GANTT
from experiments.dispatch.online import ONLINE
from experiments.dispatch.parts import ANYTIME, FEEDBACK
from experiments.dispatch.plans import CAP, HYBRID_PRB
from experiments.multiserver.comparisons import ARRIVAL, CONTENTION, REWARD, UTILITIES
from experiments.multiserver.prices import PRICES
from experiments.multiserver.projection import PROJECTION
from experiments.multiserver.regret import REGRET
from experiments.multiserver.scale import SCALE
from experiments.multiserver.steps import STEPS
from experiments.splitting.example import EXAMPLE
from experiments.splitting.fictitious_real import FICTITIOUS_REAL
from experiments.splitting.greedy_nfs import GREEDY_NFS
from experiments.splitting.greedy_optimal import GREEDY_OPTIMAL
from experiments.splitting.ilp_iqp import ILP_IQP
from experiments.splitting.integrality import INTEGRALITY
from experiments.splitting.ladder import LADDER
from experiments.splitting.service_times import SERVICE_TIMES
from experiments.training.ablation import ABLATION
from experiments.training.feasibility import FEASIBILITY
from experiments.training.gain_figure import GAIN
from experiments.training.google_figures import GOOGLE_JOBS, GOOGLE_MACHINES
from experiments.training.locality_figure import LOCALITY
from experiments.training.mix_figures import MIX_JOBS, MIX_MACHINES
from experiments.training.ratio import RATIO
from experiments.training.ratio_certified import RATIO_CERTIFIED
from experiments.training.sensitivity import SENSITIVITY
from experiments.training.theory import ALLOCATION_COST, SCALING, THEORY
from experiments.training.training_time import TRAINING_TIME
from experiments.training.utility_figures import OASIS_JOBS, UTILITY_JOBS, UTILITY_MACHINES
from models.files import InputError

__all__ = ["EXPERIMENTS", "find", "select"]

_DECLARED: tuple[Experiment, ...] = (
    FEASIBILITY,
    RATIO,
    RATIO_CERTIFIED,
    UTILITY_MACHINES,
    UTILITY_JOBS,
    OASIS_JOBS,
    TRAINING_TIME,
    GAIN,
    GOOGLE_MACHINES,
    GOOGLE_JOBS,
    MIX_MACHINES,
    MIX_JOBS,
    LOCALITY,
    SENSITIVITY,
    ABLATION,
    THEORY,
    ALLOCATION_COST,
    SCALING,
    EXAMPLE,
    GREEDY_NFS,
    INTEGRALITY,
    ILP_IQP,
    SERVICE_TIMES,
    GREEDY_OPTIMAL,
    LADDER,
    FICTITIOUS_REAL,
    REGRET,
    STEPS,
    PROJECTION,
    REWARD,
    UTILITIES,
    CONTENTION,
    ARRIVAL,
    PRICES,
    SCALE,
    ONLINE,
    HYBRID_PRB,
    CAP,
    FEEDBACK,
    ANYTIME,
    GANTT,
)

EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _DECLARED}


def find(name: str, experiments: Mapping[str, Experiment] = EXPERIMENTS) -> Experiment:
    """Return the experiment with this name, ``family/name`` or ``name`` alone.

    Raises
    ------
    InputError
        If no experiment, or more than one, has the name; the known names are listed.
    """
    if name in experiments:
        return experiments[name]
    matches = [known for known in experiments if known.split("/")[1] == name]
    if len(matches) == 1:
        return experiments[matches[0]]
    if matches:
        rule = f"must be one of {', '.join(matches)}"
    else:
        rule = f"must be one of the known experiments: {', '.join(experiments) or 'none yet'}"
    raise InputError(rule, source="FIGURE", value=name)


def select(
    names: Iterable[str], experiments: Mapping[str, Experiment] = EXPERIMENTS
) -> list[Experiment]:
    """Return the named experiments, each once and in the given order; ``all`` is every one."""
    chosen: dict[str, Experiment] = {}
    for name in names:
        found = experiments.values() if name == "all" else [find(name, experiments)]
        chosen.update({experiment.name: experiment for experiment in found})
    return list(chosen.values())
