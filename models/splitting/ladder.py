"""The ladder: instances on which the greedy is about 2^(J-1) against an optimum of at most J."""

from __future__ import annotations

from models.files import InputError
from models.splitting.instance import Job, Layer, Link, Node, SplittingInstance

__all__ = ["MOST_JOBS", "ladder"]

# Link rates fall like 2^(-J^2/2), and times must stay numbers.
MOST_JOBS = 30


def ladder(jobs: int, epsilon: float = 0.125) -> SplittingInstance:
    r"""Make the instance with J rungs r_1..r_J.

    Parameters
    ----------
    jobs : int
        J, from 1 to `MOST_JOBS`.
    epsilon : float
        How much shorter a job's own rung is than what waiting makes of the others; in (0, 1/2).

    Returns
    -------
    SplittingInstance
        Job k (k = 1..J) is "j{k}". It either sends its data over its own slow rung r_k, with a
        service of 2^(k-1) (1 - epsilon) seconds, or over all faster rungs r_1, ..., r_{k-1}, with
        a total service of one second. All else is free.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Notes
    -----
    With all own rungs taken by the jobs before it, job k would end after
    1 + sum_{i<k} 2^(i-1) (1 - epsilon) = 2^(k-1) (1 - epsilon) + epsilon on the faster rungs: later
    than on its own. So the greedy gives every job its own rung, and the last one ends after
    2^(J-1) (1 - epsilon). Sent over the faster rungs, all but job 1, which has none, need one
    second of service each, and nobody waits for more than all the others: at most J seconds.

    With S_k = sum_{i<k} 1/mu_i, job k has 1/S_k bytes, and 1/mu_k = 2^(k-1) (1 - epsilon) S_k.
    """
    if isinstance(jobs, bool) or not isinstance(jobs, int) or not 1 <= jobs <= MOST_JOBS:
        raise InputError(f"must be a whole number from 1 to {MOST_JOBS}", field="jobs", value=jobs)
    if not 0 < epsilon < 0.5:
        raise InputError("must be between 0 and 1/2", field="epsilon", value=epsilon)
    nodes: list[str] = []
    links: list[Link] = []
    made: list[Job] = []
    faster = 0.0  # S_k: seconds per byte on all faster rungs
    for k in range(1, jobs + 1):
        source, destination, start, end = f"s{k}", f"t{k}", f"p{k}", f"q{k}"
        nodes += [source, destination, start, end]
        size = 1 / faster if k > 1 else 1.0
        seconds = 2.0 ** (k - 1) * (1 - epsilon) / size  # per byte
        links.append(Link(name=f"r{k}", start=start, end=end, rate=1 / seconds))
        links += [_free(source, start), _free(end, destination)]
        if k > 1:
            links += [
                _free(f"q{k - 1}", start),
                _free(source, "p1"),
                _free(f"q{k - 1}", destination),
            ]
        layer = Layer(compute=0.0, output=size, memory=0.0)
        made.append(
            Job(name=f"j{k}", source=source, destination=destination, input=size, layers=(layer,))
        )
        faster += seconds
    return SplittingInstance(
        # Computing costs nothing here; the rate only has to be positive and finite.
        nodes=tuple(Node(name=name, rate=1.0) for name in nodes),
        links=tuple(links),
        jobs=tuple(made),
    )


def _free(start: str, end: str) -> Link:
    return Link(name=f"{start}-{end}", start=start, end=end, rate=None)
