"""Random splitting instances with the settings of splitting.md."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from models.files import InputError
from models.splitting.geometry import PointNetwork, draw_points
from models.splitting.instance import Job, Link, Node, SplittingInstance
from models.splitting.presets import (
    BOARDS,
    LINK_RATE,
    LOWEST_SHARE,
    MODELS,
    RADIUS,
    SIDE,
    Board,
)
from models.splitting.profiles import Profile, read_profiles

__all__ = ["Generated", "GeneratorReport", "generate"]

SMALLEST, LARGEST = 1e-6, 1e6  # of gamma, side, radius, compute_seconds
JOB_DRAWS = 3  # source, destination, model


@dataclass(frozen=True)
class GeneratorReport:
    """How an instance came about: everything that its file does not say.

    Attributes
    ----------
    nodes, jobs, links : int
    gamma : float
    side, radius : float
        [m].
    seed : int
    redraws : int
        Networks drawn and thrown away because they were not connected.
    degree : float
        Mean number of neighbours of a node.
    boards : dict of str to int
        Number of nodes of each kind.
    models : dict of str to int
        Number of jobs of each deep network that may be drawn.
    assumptions : tuple of str
        What the paper leaves open and is fixed here, in words.
    """

    nodes: int
    jobs: int
    links: int
    gamma: float
    side: float
    radius: float
    seed: int
    redraws: int
    degree: float
    boards: dict[str, int]
    models: dict[str, int]
    assumptions: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """Return the report for JSON."""
        return asdict(self)

    def lines(self) -> list[str]:
        """Return the report for people."""
        return [
            f"seed {self.seed}: {self.nodes} nodes, {self.links} directed links "
            f"({self.degree:.3g} neighbours on average), {self.jobs} jobs, gamma {self.gamma:g}",
            f"nodes: {_counts(self.boards)}",
            f"jobs: {_counts(self.models)}",
            f"networks redrawn because not connected: {self.redraws}",
            *(f"assumed: {assumption}" for assumption in self.assumptions),
        ]


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())


@dataclass(frozen=True)
class Generated:
    """A generated instance and how it came about.

    Attributes
    ----------
    instance : SplittingInstance
    report : GeneratorReport
    positions : array, shape (nodes, 2)
        Where the nodes lie [m].
    boards : tuple of str
        Kind of each node.
    models : tuple of str
        Deep network of each job.
    """

    instance: SplittingInstance
    report: GeneratorReport
    positions: NDArray[np.float64]
    boards: tuple[str, ...]
    models: tuple[str, ...]


def generate(
    nodes: int = 20,
    jobs: int = 5,
    *,
    gamma: float = 1.0,
    models: Sequence[str] = MODELS,
    side: float = SIDE,
    radius: float = RADIUS,
    compute_seconds: float | None = None,
    profiles: Mapping[str, Profile] | None = None,
    seed: int = 0,
) -> Generated:
    """Draw a splitting instance.

    Parameters
    ----------
    nodes, jobs : int
        N >= 1, J >= 0.
    gamma : float
        All link rates are multiplied by it.
    models : sequence of str
        Deep networks that a job may run, each as likely; one that is given twice is twice as
        likely.
    side : float
        Of the square that the nodes lie in [m].
    radius : float
        Nodes closer than this have a link each way, of the same rate [m].
    compute_seconds : float, optional
        Gives every node a compute budget of so many seconds of its rate (problem "service").
        Without it there is none.
    profiles : mapping of str to Profile, optional
        The deep networks by name; without it, the table of the project.
    seed : int

    Returns
    -------
    Generated
        Nodes n0, n1, ..., links ``n0-n1`` in both directions, jobs j0, j1, ....

    Raises
    ------
    InputError
        Naming the argument, its value and the rule; or if no connected network was found.

    Notes
    -----
    Same arguments, same instance. Points, kinds of nodes, link rates and jobs have their own
    random streams, the jobs one each. Hence across instances of one seed

    - gamma only scales the link rates;
    - job i does not depend on the number of jobs, nor on gamma, side and radius;
    - a node's kind does not depend on anything else.

    Nothing is scaled with the number of nodes: in the default square, 50 nodes have about 7
    neighbours each and 1000 have about 150, or 150,000 links. A side of 30 m * sqrt(N / 50) keeps
    the density of 50 nodes.
    """
    nodes = _whole("nodes", nodes, 1)
    jobs = _whole("jobs", jobs, 0)
    seed = _whole("seed", seed, 0)
    gamma = _real("gamma", gamma)
    side = _real("side", side)
    radius = _real("radius", radius)
    if compute_seconds is not None:
        compute_seconds = _real("compute_seconds", compute_seconds)
    known = read_profiles() if profiles is None else profiles
    for name in models:
        if name not in known:
            raise InputError(f"must be one of {', '.join(known)}", field="models", value=name)
    if not models:
        raise InputError("must not be empty", field="models")

    seeds = np.random.SeedSequence(seed).spawn(4)
    point_stream, board_stream, rate_stream = (_stream(child) for child in seeds[:3])
    network = draw_points(nodes, side, radius, point_stream)
    boards = [_board(draw) for draw in board_stream.random(nodes).tolist()]
    made_nodes = tuple(
        Node(
            name=f"n{u}",
            rate=board.rate,
            compute_budget=None if compute_seconds is None else compute_seconds * board.rate,
            memory=board.memory,
        )
        for u, board in enumerate(boards)
    )
    links = _links(network, gamma, rate_stream)
    drawn = [_job(i, nodes, models, known, child) for i, child in enumerate(seeds[3].spawn(jobs))]
    instance = SplittingInstance(nodes=made_nodes, links=links, jobs=tuple(job for job, _ in drawn))
    chosen = tuple(model for _, model in drawn)
    kinds = tuple(board.name for board in boards)
    report = GeneratorReport(
        nodes=nodes,
        jobs=jobs,
        links=len(links),
        gamma=gamma,
        side=side,
        radius=radius,
        seed=seed,
        redraws=network.redraws,
        degree=len(links) / nodes,
        boards={board.name: kinds.count(board.name) for board in BOARDS},
        models={name: chosen.count(name) for name in dict.fromkeys(models)},
        assumptions=_assumptions(gamma, side, radius, models, compute_seconds),
    )
    return Generated(instance, report, network.positions, kinds, chosen)


def _stream(seed: np.random.SeedSequence) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def _board(draw: float) -> Board:
    """Return the kind of a node, by the shares, from a number in [0, 1)."""
    reached = 0.0
    for board in BOARDS[:-1]:
        reached += board.share
        if draw < reached:
            return board
    return BOARDS[-1]


def _links(network: PointNetwork, gamma: float, stream: np.random.Generator) -> tuple[Link, ...]:
    shares = LOWEST_SHARE + (1 - LOWEST_SHARE) * stream.random(len(network.pairs))
    links = []
    for (u, v), share in zip(network.pairs.tolist(), shares.tolist(), strict=True):
        rate = gamma * (LINK_RATE * share)
        for start, end in ((f"n{u}", f"n{v}"), (f"n{v}", f"n{u}")):
            links.append(Link(name=f"{start}-{end}", start=start, end=end, rate=rate))
    return tuple(links)


def _job(
    index: int,
    nodes: int,
    models: Sequence[str],
    profiles: Mapping[str, Profile],
    seed: np.random.SeedSequence,
) -> tuple[Job, str]:
    source, destination, which = _stream(seed).random(JOB_DRAWS).tolist()
    model = models[int(which * len(models))]
    job = profiles[model].job(
        f"j{index}", f"n{int(source * nodes)}", f"n{int(destination * nodes)}"
    )
    return job, model


def _assumptions(
    gamma: float,
    side: float,
    radius: float,
    models: Sequence[str],
    compute_seconds: float | None,
) -> tuple[str, ...]:
    """State in words what the paper leaves open, with the numbers used."""
    boards = ", ".join(
        f"{board.name} {board.rate / 1e6:g} * 10^6 multiplications/s and {board.memory / 2**20:g} "
        f"MiB ({board.share:.0%})"
        for board in BOARDS
    )
    budget = "none" if compute_seconds is None else f"{compute_seconds:g} s of its rate"
    return (
        f"nodes uniform in a square of {side:g} m, a link each way below {radius:g} m, redrawn "
        "until connected",
        f"link rate {gamma:g} * 72.2 Mbit/s * U({LOWEST_SHARE:g}, 1), the same in both directions",
        f"nodes: {boards}; memory is half of the board's",
        f"compute budget of a node: {budget}",
        "source and destination uniform and independent, so they may be the same node",
        f"deep networks, each as likely: {', '.join(models)}; one operation is one multiply-add",
        "no queues at the start",
    )


def _whole(field: str, value: int, least: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < least:
        raise InputError(f"must be a whole number, at least {least}", field=field, value=value)
    return number


def _real(field: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise InputError("must be a number", field=field, value=value)
    if not SMALLEST <= value <= LARGEST:  # NaN too
        rule = f"must be a number from {SMALLEST:g} to {LARGEST:g}"
        raise InputError(rule, field=field, value=value)
    return float(value)
