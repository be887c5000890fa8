"""The instances of the multiserver figures, by their parameters and seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.multiserver import MultiserverInstance
from models.multiserver.generator import generate
from models.multiserver.streams import named_stream

__all__ = ["coin_instance", "draw_instance"]

COIN_AMOUNT = 4.0


def draw_instance(parameters: Mapping[str, Any], seed: int) -> MultiserverInstance:
    """Draw the instance of a grid point.

    Parameters
    ----------
    parameters : mapping
        ``slots``; optionally ``stream`` ("bernoulli", "flip" or "coin") and the arguments of
        `models.multiserver.generator.generate`; others are ignored.
    seed : int
        Of the instance and of its arrivals.
    """
    stream = parameters.get("stream", "bernoulli")
    slots = parameters["slots"]
    if stream == "coin":
        return coin_instance(slots, seed)
    if stream == "flip":
        listed = named_stream("flip", slots, 2)
        return generate(2, 1, 1, slots=slots, arrivals=listed, seed=seed)
    names = (
        *("ports", "instances", "resources", "degree", "contention", "gain", "form"),
        *("probability", "overhead"),
    )
    given = {name: parameters[name] for name in names if name in parameters}
    return generate(**given, slots=slots, seed=seed)


def coin_instance(slots: int, seed: int) -> MultiserverInstance:
    """Two equal ports with fair coins, and one instance with room for one job.

    Which port y* prefers is known in hindsight only: its advantage grows like the square root
    of T, and no committed policy has any of it on average.
    """
    drawn = generate(2, 1, 1, slots=slots, probability=0.5, seed=seed)
    amounts = {drawn.resources[0]: COIN_AMOUNT}
    ports = tuple(port.model_copy(update={"request": amounts}) for port in drawn.ports)
    servers = tuple(s.model_copy(update={"capacity": amounts}) for s in drawn.instances)
    return drawn.model_copy(update={"ports": ports, "instances": servers})
