"""The multiserver problem (arXiv 2305.06572): instance, arrivals, gains, rewards."""

from models.multiserver.arrivals import (
    BernoulliArrivals,
    FileArrivals,
    ListArrivals,
    arrival_table,
)
from models.multiserver.gains import GainFunction
from models.multiserver.instance import (
    ComputingInstance,
    Gain,
    MultiserverInstance,
    Port,
    load_instance,
    save_instance,
)

__all__ = [
    "BernoulliArrivals",
    "ComputingInstance",
    "FileArrivals",
    "Gain",
    "GainFunction",
    "ListArrivals",
    "MultiserverInstance",
    "Port",
    "arrival_table",
    "load_instance",
    "save_instance",
]
