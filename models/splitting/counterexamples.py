"""Two instances on which Theorem 1 is false: the LP (6)-(10) lies below its integer optimum."""

from __future__ import annotations

from models.data import data_file
from models.splitting.instance import SplittingInstance, load_instance

__all__ = ["COUNTEREXAMPLES", "load_counterexample"]

# Files in data/.
COUNTEREXAMPLES = {
    "smallest": "splitting/counterexample-smallest.json",
    "greedy": "splitting/counterexample-greedy.json",
}


def load_counterexample(name: str) -> SplittingInstance:
    """Read a counterexample.

    Parameters
    ----------
    name : {"smallest", "greedy"}
        The smallest one known, 3 nodes and 3 layers: LP 8.111, ILP 10.111 seconds. Or one with
        queues that the greedy itself made, 10 nodes and 9 layers: LP 8.643, ILP 8.889.

    Returns
    -------
    SplittingInstance
        One job, with queues at the start.
    """
    return load_instance(data_file(COUNTEREXAMPLES[name]))
