"""Random multiserver instances: who may use what, how scarce it is, and who arrives when.

The paper states ranges for some of the data only; what is fixed here in its place is in
`ASSUMPTIONS`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.files import InputError
from models.multiserver.arrivals import BernoulliArrivals, ListArrivals
from models.multiserver.gains import KINDS, GainFunction
from models.multiserver.instance import ComputingInstance, Gain, MultiserverInstance, Port

__all__ = ["ASSUMPTIONS", "GAINS", "bipartite_edges", "generate", "regular_edges"]

GAINS = (*KINDS, "mixed")
FORMS = ("sum", "channel")
GRAPHS = ("regular", "random")
REQUEST = (1.0, 8.0)
SCALE = (1.0, 1.5)
OVERHEAD = (0.3, 0.5)
SPREAD = (0.75, 1.25)
ASSUMPTIONS = (
    "requests a[l,k] are uniform in 1..8, gain scales in 1..1.5, overheads in 0.3..0.5",
    "c[r,k] = (sum of a[l,k] over the ports of r) / contention, times uniform in 0.75..1.25",
    "gain 'mixed' takes the four kinds by turns over the resources",
)

Edges = NDArray[np.bool_]


def regular_edges(rng: np.random.Generator, ports: int, instances: int, degree: int) -> Edges:
    """Right d-regular graph: every instance serves `degree` ports, drawn without replacement.

    Returns
    -------
    array of bool, shape (ports, instances)
    """
    edges = np.zeros((ports, instances), dtype=bool)
    for r in range(instances):
        edges[rng.choice(ports, size=degree, replace=False), r] = True
    return edges


def bipartite_edges(
    rng: np.random.Generator, ports: int, instances: int, probability: float
) -> Edges:
    """Random bipartite graph: every edge independently; shape (ports, instances)."""
    return rng.random((ports, instances)) < probability


def generate(
    ports: int = 10,
    instances: int = 20,
    resources: int = 6,
    *,
    degree: int | None = None,
    graph: str = "regular",
    contention: float = 2.0,
    gain: str = "linear",
    form: str = "sum",
    slots: int = 1000,
    probability: float = 0.7,
    overhead: float = 1.0,
    arrivals: ListArrivals | None = None,
    seed: int = 0,
) -> MultiserverInstance:
    """Draw an instance.

    Parameters
    ----------
    ports, instances, resources : int
        L, R, K.
    degree : int, optional
        Ports of an instance, on average with `graph` "random"; by default all.
    graph : "regular" or "random"
    contention : float
        What all ports of an instance request, over what it has.
    gain : str
        One of `GAINS`.
    form : "sum" or "channel"
    slots : int
        T.
    probability : float
        Of a job, for each port and slot.
    overhead : float
        All beta_k are multiplied by it.
    arrivals : ListArrivals, optional
        Instead of Bernoulli arrivals.
    seed : int

    Returns
    -------
    MultiserverInstance

    Raises
    ------
    InputError
        Naming the argument.
    """
    degree = ports if degree is None else degree
    for name, value, low in (("ports", ports, 1), ("instances", instances, 1)):
        if value < low:
            raise InputError(f"must be at least {low}", field=name, value=value)
    if resources < 1:
        raise InputError("must be at least 1", field="resources", value=resources)
    if not 0 <= degree <= ports:
        raise InputError(
            f"must be in 0..{ports}, the number of ports", field="degree", value=degree
        )
    for name, number in (("contention", contention), ("overhead", overhead)):
        if not 1e-6 <= number <= 1e6:
            raise InputError("must be in 1e-6..1e6", field=name, value=number)
    if not 0 <= probability <= 1:
        raise InputError("must be in 0..1", field="probability", value=probability)
    if gain not in GAINS:
        raise InputError(f"must be one of {', '.join(GAINS)}", field="gain", value=gain)
    if form not in FORMS:
        raise InputError(f"must be one of {', '.join(FORMS)}", field="form", value=form)
    if graph not in GRAPHS:
        raise InputError(f"must be one of {', '.join(GRAPHS)}", field="graph", value=graph)
    if slots < 0:
        raise InputError("must be at least 0", field="slots", value=slots)
    rng = np.random.Generator(np.random.PCG64(seed))
    request = rng.uniform(*REQUEST, size=(ports, resources))
    scale = rng.uniform(*SCALE, size=resources)
    beta = overhead * rng.uniform(*OVERHEAD, size=resources)
    spread = rng.uniform(*SPREAD, size=(instances, resources))
    if graph == "regular":
        edges = regular_edges(rng, ports, instances, degree)
    else:
        edges = bipartite_edges(rng, ports, instances, degree / ports)
    capacity = spread * (edges.T @ request) / contention
    names = [f"k{k}" for k in range(resources)]
    kinds = [KINDS[k % len(KINDS)] if gain == "mixed" else gain for k in range(resources)]
    return MultiserverInstance(
        resources=tuple(names),
        ports=tuple(
            Port(name=f"l{i}", request=_amounts(names, row)) for i, row in enumerate(request)
        ),
        instances=tuple(
            ComputingInstance(name=f"r{r}", capacity=_amounts(names, row))
            for r, row in enumerate(capacity)
        ),
        edges=tuple((f"l{i}", f"r{r}") for i, r in zip(*edges.nonzero(), strict=True)),
        gain=Gain(
            form=form,  # type: ignore[arg-type]
            resources={
                name: GainFunction(kind=kind, scale=float(alpha))  # type: ignore[arg-type]
                for name, kind, alpha in zip(names, kinds, scale, strict=True)
            },
        ),
        overhead=_amounts(names, beta),
        arrivals=arrivals
        or BernoulliArrivals(kind="bernoulli", slots=slots, probability=probability, seed=seed),
    )


def _amounts(names: list[str], row: NDArray[np.float64]) -> dict[str, float]:
    return {name: float(value) for name, value in zip(names, row, strict=True)}
