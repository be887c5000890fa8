"""Networks from and to networkx."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError as PydanticError

from models.files import FileModel, first_error
from models.splitting.instance import Job, Link, Node, SplittingInstance

if TYPE_CHECKING:
    import networkx

__all__ = ["from_networkx", "to_networkx"]

NODE_FIELDS = ("rate", "queue", "compute_budget", "memory")
LINK_FIELDS = ("rate", "queue")
LARGEST_PLACE = 2**53


def to_networkx(instance: SplittingInstance) -> networkx.MultiDiGraph:
    """Return the network as a graph, without the jobs.

    Returns
    -------
    networkx.MultiDiGraph
        Nodes are named as in the instance and have the attributes rate [operations/s], queue
        [operations], compute_budget [operations] and memory [bytes]; edges have their link's
        name as key, and the attributes rate [bytes/s], queue [bytes] and place, the link's place
        in the instance, since a graph keeps edges by node and ties go to the first link. None
        means infinite, or no budget, as in a file. Nodes are in the instance's order.
    """
    import networkx

    graph = networkx.MultiDiGraph()
    for node in instance.nodes:
        graph.add_node(node.name, **{label: getattr(node, label) for label in NODE_FIELDS})
    for place, link in enumerate(instance.links):
        attributes = {label: getattr(link, label) for label in LINK_FIELDS}
        graph.add_edge(link.start, link.end, key=link.name, place=place, **attributes)
    return graph


def from_networkx(graph: Any, jobs: Iterable[Job] = ()) -> SplittingInstance:
    """Make an instance of a graph and jobs.

    Parameters
    ----------
    graph : networkx graph of any kind
        With the attributes of `to_networkx`; ``rate`` is required, other attributes of the graph
        are ignored. Links with a place come first, in that order, then the others in the graph's.
        None and infinity both mean infinite, or no budget. A node is named
        ``str(node)``. A link is named by its key where that is a text, else ``"a-b"``, and
        ``"a-b-1"``, ``"a-b-2"`` for further ones. An undirected edge becomes one link each way.
    jobs : iterable of Job

    Raises
    ------
    InputError
        One line naming node or edge, attribute, rule and value.
    """
    nodes = [
        _build(Node, f"node {node!r}", attributes, NODE_FIELDS, name=str(node))
        for node, attributes in graph.nodes(data=True)
    ]
    taken: set[str] = set()
    links = []
    for start, end, key, attributes in _edges(graph):
        name = _link_name(start, end, key, taken)
        taken.add(name)
        links.append(
            _build(
                Link,
                f"edge {start!r} to {end!r}",
                attributes,
                LINK_FIELDS,
                name=name,
                start=str(start),
                end=str(end),
            )
        )
    try:
        return SplittingInstance(nodes=tuple(nodes), links=tuple(links), jobs=tuple(jobs))
    except PydanticError as error:
        raise first_error(error) from None


def _edges(graph: Any) -> Iterable[tuple[Any, Any, Any, Mapping[str, Any]]]:
    """Start, end, key and attributes of every link; an undirected edge is two links."""
    if graph.is_multigraph():
        edges = list(graph.edges(keys=True, data=True))
    else:
        edges = [(start, end, None, data) for start, end, data in graph.edges(data=True)]
    for start, end, key, attributes in sorted(edges, key=_place):
        if graph.is_directed():
            yield start, end, key, attributes
        else:
            # One key cannot name both directions.
            yield start, end, None, attributes
            yield end, start, None, attributes


def _place(edge: tuple[Any, Any, Any, Mapping[str, Any]]) -> float:
    place = edge[3].get("place")
    if isinstance(place, int | float) and abs(place) <= LARGEST_PLACE:  # not NaN
        return place
    return math.inf


def _link_name(start: Any, end: Any, key: Any, taken: set[str]) -> str:
    if isinstance(key, str):
        return key
    name, number = f"{start}-{end}", 0
    while name in taken:
        number += 1
        name = f"{start}-{end}-{number}"
    return name


def _build(
    model: type[Any],
    where: str,
    attributes: Mapping[str, Any],
    labels: Iterable[str],
    **names: str,
) -> Any:
    given = {label: _value(attributes[label]) for label in labels if label in attributes}
    try:
        built: FileModel = model(**names, **given)
    except PydanticError as error:
        raise first_error(error).within(where) from None
    return built


def _value(value: Any) -> Any:
    """Turn numpy's numbers into Python's, and infinity into None; leave the rest to the model."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            return value
        return None if number == math.inf else number
    return value
