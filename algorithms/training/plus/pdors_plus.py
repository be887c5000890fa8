"""`pdors-plus`: PD-ORS's information, made into better decisions. Ours, not the paper's.

Like PD-ORS it knows a job from its arrival on and nothing of later ones, judges schedules by
utility minus price, and takes nothing on that it may not finish. Unlike it,

- numbers of workers are whole from the start: what each slot can hold is computed as a frontier
  by number of workers (`plus_kernels`), so no draw can fail, and the workload is spread over
  slots by a dynamic program over worker-slots;
- prices are what capacity was worth to the jobs seen so far (`past_prices`);
- what has not been executed is planned anew in every slot, among all jobs present
  (`plus_kernels`). A job that has had its first workers keeps its promise: it completes in the slot
  planned then or earlier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from algorithms.policy import Parameters, Policy, Run
from algorithms.training.outcome import WAITING_COUNTERS, BaselineLog, JobOutcome
from models.training import TrainingInstance

__all__ = ["PDORS_PLUS", "PdorsPlusLog", "PdorsPlusParameters", "PlusOutcome", "run_pdors_plus"]


class PdorsPlusParameters(Parameters):
    """Parameters of `pdors-plus`; each part can be switched off."""

    prices: Annotated[
        Literal["past", "paper", "none"],
        Field(
            description="past: worth of capacity to the jobs seen so far; paper: eq. 12 with U "
            "and L of the jobs seen so far; none: nothing has a price"
        ),
    ] = "past"
    replan: Annotated[
        Literal["slot", "never"],
        Field(description="slot: plan anew in every slot; never: decide each job once, on arrival"),
    ] = "slot"
    promise: Annotated[
        Literal["completion", "finish", "none"],
        Field(
            description="to a job with its first workers: completion: it ends in the slot planned "
            "then or earlier; finish: it ends within the horizon; none: it may be given up"
        ),
    ] = "completion"
    external: Annotated[
        bool, Field(description="whether a job may be spread over several machines in a slot")
    ] = True
    placement: Annotated[
        Literal["tightest", "first"],
        Field(description="machine of an internal allocation: that with the least room, or any"),
    ] = "tightest"
    levels: Annotated[
        int, Field(ge=1, le=10_000, description="most workload levels of the dynamic program")
    ] = 200
    rounds: Annotated[
        int, Field(ge=0, le=100_000, description="rounds of ruin and recreate in each slot")
    ] = 200


@dataclass(frozen=True)
class PlusOutcome(JobOutcome):
    """What became of one job, and what it was promised.

    Attributes
    ----------
    promised : int or None
        Completion slot planned when it got its first workers.
    payoff : float
        Utility minus price in that plan.
    """

    promised: int | None = None
    payoff: float = 0.0


@dataclass(frozen=True)
class PdorsPlusLog(BaselineLog):
    """The log of a run.

    Attributes
    ----------
    price_levels : tuple of float
        What a slot of the whole cluster was held to be worth to jobs to come, in each slot.
    """

    price_levels: tuple[float, ...] = ()


def run_pdors_plus(instance: TrainingInstance, parameters: PdorsPlusParameters, seed: int) -> Run:
    """Plan in every slot for the jobs present, execute the slot, and plan again.

    Parameters
    ----------
    instance : TrainingInstance
    parameters : PdorsPlusParameters
    seed : int
        Non-negative; of the search. Each slot has a stream of its own.

    Returns
    -------
    Run
        The schedule and a `PdorsPlusLog`.
    """
    # Compiled code is loaded only when it is needed: other policies do without.
    from algorithms.training.plus.scheduler import run_plus

    return run_plus(instance, parameters, seed)


PDORS_PLUS = Policy(
    name="pdors-plus",
    summary="PD-ORS's information, whole workers, prices of the past, plans renewed each slot",
    parameters=PdorsPlusParameters,
    run=run_pdors_plus,
    counters={
        **WAITING_COUNTERS,
        "rounds": "rounds of ruin and recreate",
        "promises_broken": "jobs that ended later than promised",
    },
)
