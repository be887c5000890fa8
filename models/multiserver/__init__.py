"""The multiserver problem (arXiv 2305.06572): instance, arrivals, gains, rewards."""

from models.multiserver.allocation import MultiserverRun, build_run, load_run, save_run
from models.multiserver.arrivals import (
    BernoulliArrivals,
    FileArrivals,
    ListArrivals,
    arrival_table,
)
from models.multiserver.audit import CONSTRAINTS, audit
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
    "CONSTRAINTS",
    "BernoulliArrivals",
    "ComputingInstance",
    "FileArrivals",
    "Gain",
    "GainFunction",
    "ListArrivals",
    "MultiserverInstance",
    "MultiserverRun",
    "Port",
    "arrival_table",
    "audit",
    "build_run",
    "load_instance",
    "load_run",
    "save_instance",
    "save_run",
]
