"""The compiled searches for one job's route, from a heap up to the label-setting search.

They stand in one file because a compiled function is kept on disk until its own file changes
(`algorithms.compiled`).

1. Heap of nodes, and shortest paths inside a layer.
2. Per visit: waiting at a node charged once per run of consecutive layers computed there.
3. Returns: which nodes a job may gain from coming back to, if any.
4. Labels: waiting charged once per node, exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from algorithms.compiled import compiled
from algorithms.splitting.single.network_arrays import NetworkArrays, Waiting

__all__ = ["find_returns", "least_rest", "per_visit", "search_labels", "walk_back"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BITS = 62  # of a word of paid nodes; the sign stays out of it
ROUNDING = 1e-12  # relative; a route counts as better only beyond it


# 1. Heap


@compiled
def _before(key: Floats, u: int, v: int) -> bool:
    return key[u] < key[v] or (key[u] == key[v] and u < v)


@compiled
def _rise(heap: Ints, place: Ints, key: Floats, at: int) -> None:
    u = heap[at]
    while at > 0:
        above = (at - 1) // 2
        if not _before(key, u, heap[above]):
            break
        heap[at] = heap[above]
        place[heap[at]] = at
        at = above
    heap[at] = u
    place[u] = at


@compiled
def _sink(heap: Ints, place: Ints, key: Floats, size: int, at: int) -> None:
    u = heap[at]
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and _before(key, heap[below + 1], heap[below]):
            below += 1
        if not _before(key, heap[below], u):
            break
        heap[at] = heap[below]
        place[heap[at]] = at
        at = below
    heap[at] = u
    place[u] = at


@compiled
def _spread(
    links: Ints,
    first: Ints,
    other: Ints,
    rate: Floats,
    waiting: Floats,
    size: float,
    distance: Floats,
    via: Ints,
    heap: Ints,
    place: Ints,
) -> None:
    """Shortest paths inside a layer from all nodes with a finite distance (Dijkstra).

    Ties go to the node of lower index, then to the first link in file order.

    Parameters
    ----------
    links, first, other
        Links of each node, and where they lead.
    rate, waiting : arrays, shape (links,)
    size : float
        Bytes that are sent.
    distance : array, shape (nodes,)
        Lowered.
    via : array of int, shape (nodes,)
        Set to the last link of the path where the distance was lowered.
    heap, place : arrays of int, shape (nodes,)
        Scratch space.
    """
    count = 0
    for u in range(len(distance)):
        if distance[u] < np.inf:
            heap[count] = u
            place[u] = count
            count += 1
        else:
            place[u] = -1
    for at in range(count // 2 - 1, -1, -1):
        _sink(heap, place, distance, count, at)
    while count > 0:
        u = heap[0]
        count -= 1
        if count > 0:
            heap[0] = heap[count]
            _sink(heap, place, distance, count, 0)
        for k in range(first[u], first[u + 1]):
            e = links[k]
            v = other[e]
            found = distance[u] + (size / rate[e] + waiting[e])
            if found < distance[v]:
                if distance[v] == np.inf:
                    heap[count] = v
                    place[v] = count
                    count += 1
                distance[v] = found
                via[v] = e
                _rise(heap, place, distance, place[v])


# 2. Per visit


@compiled
def per_visit(
    network: NetworkArrays,
    waiting: Waiting,
    compute: Floats,
    data: Floats,
    source: int,
    arrived: Floats,
    via: Ints,
    computed: Floats,
    stayed: NDArray[np.bool_],
) -> None:
    """Shortest paths over 2 N (L + 1) vertices: node and layer, just computed there or not.

    Parameters
    ----------
    network : NetworkArrays
    waiting : Waiting
    compute, data : arrays, shapes (L,) and (L + 1,)
    source : int
    arrived : array, shape (L + 1, nodes)
        Filled: least seconds until the output of layer l is at node u.
    via : array of int, shape (L + 1, nodes)
        Filled: the link it came over, -1 if it was made there.
    computed : array, shape (L + 1, nodes)
        Filled: the same for outputs just made there.
    stayed : array of bool, shape (L + 1, nodes)
        Filled: whether layer l - 1 was computed there too.
    """
    layers, nodes = len(compute), len(network.node_rate)
    heap = np.empty(nodes, dtype=np.int64)
    place = np.empty(nodes, dtype=np.int64)
    computed[0] = np.inf
    arrived[0] = np.inf
    arrived[0, source] = 0.0
    for layer in range(layers + 1):
        if layer > 0:
            for u in range(nodes):
                rate = network.node_rate[u]
                if rate > 0:
                    stay = computed[layer - 1, u]
                    begin = arrived[layer - 1, u] + waiting.node[u]
                    stayed[layer, u] = stay <= begin
                    computed[layer, u] = min(stay, begin) + compute[layer - 1] / rate
                else:
                    computed[layer, u] = np.inf
                arrived[layer, u] = computed[layer, u]
        via[layer] = -1
        _spread(
            network.leaving,
            network.first_leaving,
            network.end,
            network.link_rate,
            waiting.link,
            data[layer],
            arrived[layer],
            via[layer],
            heap,
            place,
        )


@compiled
def walk_back(
    network: NetworkArrays,
    destination: int,
    via: Ints,
    stayed: NDArray[np.bool_],
    chosen: Ints,
    hops: Ints,
) -> int:
    """Read the route off the tables of `per_visit`.

    Parameters
    ----------
    network : NetworkArrays
    destination : int
        Reached, by the tables.
    via, stayed
        From `per_visit`.
    chosen : array of int, shape (L,)
        Filled with the nodes that compute.
    hops : array of int, shape ((L + 1) nodes, 2)
        Link and layer, last hop first.

    Returns
    -------
    int
        Number of hops.
    """
    count = 0
    u = destination
    layer = len(via) - 1
    while True:
        while via[layer, u] >= 0:
            hops[count, 0] = via[layer, u]
            hops[count, 1] = layer
            count += 1
            u = network.start[via[layer, u]]
        if layer == 0:
            return count
        while True:
            chosen[layer - 1] = u
            stay = stayed[layer, u]
            layer -= 1
            if not stay:
                break


# 3. Returns


@compiled
def find_returns(
    network: NetworkArrays, waiting: Waiting, compute: Floats, data: Floats, indices: Ints
) -> tuple[int, bool]:
    """Find the nodes that a best route may come back to, by what staying there would cost.

    Consider a best route with as few runs of layers as possible, and a node u that computes
    layers a and b and none between. Staying at u for the layers between must cost more than
    leaving, computing them elsewhere and coming back. The nodes computing between have not been
    waited for before if it is the route's first return.

    Parameters
    ----------
    network : NetworkArrays
    waiting : Waiting
    compute, data : arrays, shapes (L,) and (L + 1,)
    indices : array of int, shape (nodes,)
        Filled: 0, 1, ... for nodes that may be returned to and have work to wait for, else -1.

    Returns
    -------
    count : int
        Number of such nodes.
    possible : bool
        Whether a first return is possible. If not, no best route needs any, and charging per
        visit is exact.
    """
    layers, nodes = len(compute), len(network.node_rate)
    indices[:] = -1
    fastest_out, soonest_out = np.zeros(nodes), np.full(nodes, np.inf)
    fastest_in, soonest_in = np.zeros(nodes), np.full(nodes, np.inf)
    for e in network.leaving:
        u, v = network.start[e], network.end[e]
        fastest_out[u] = max(fastest_out[u], network.link_rate[e])
        soonest_out[u] = min(soonest_out[u], waiting.link[e])
        fastest_in[v] = max(fastest_in[v], network.link_rate[e])
        soonest_in[v] = min(soonest_in[v], waiting.link[e])
    fastest, second = 0.0, 0.0
    for u in range(nodes):
        rate = network.node_rate[u]
        if rate > fastest:
            fastest, second = rate, fastest
        elif rate > second:
            second = rate
    count, possible = 0, False
    for a in range(1, layers - 1):
        work = 0.0
        for b in range(a + 2, layers + 1):  # layers a + 1 .. b - 1 are computed elsewhere
            work += compute[b - 2]
            best, best_node, runner_up = np.inf, -1, np.inf
            for u in range(nodes):
                rate = network.node_rate[u]
                elsewhere = second if rate == fastest else fastest
                if rate == 0 or fastest_out[u] == 0 or fastest_in[u] == 0 or elsewhere == 0:
                    continue
                if waiting.node[u] == 0:
                    continue
                if indices[u] >= 0 and possible:
                    continue
                travel = (data[a] / fastest_out[u] + soonest_out[u]) + (
                    data[b - 1] / fastest_in[u] + soonest_in[u]
                )
                if travel + work / elsewhere >= work / rate:
                    continue
                if indices[u] < 0:
                    indices[u] = count
                    count += 1
                if best_node < 0:
                    for v in range(nodes):
                        if network.node_rate[v] > 0:
                            there = waiting.node[v] + work / network.node_rate[v]
                            if there < best:
                                best, best_node, runner_up = there, v, best
                            elif there < runner_up:
                                runner_up = there
                there = runner_up if best_node == u else best
                if travel + there < work / rate:
                    possible = True
    return count, possible


@compiled
def least_rest(
    network: NetworkArrays,
    waiting: Waiting,
    share: float,
    compute: Floats,
    data: Floats,
    destination: int,
    rest: Floats,
) -> None:
    """Least seconds from every node and layer to the end, if layers wait for a share only.

    Parameters
    ----------
    network : NetworkArrays
    waiting : Waiting
    share : float
        Of a node's waiting, charged for every layer computed there. With up to 1 / L this is a
        lower bound of charging it once.
    compute, data : arrays, shapes (L,) and (L + 1,)
    destination : int
    rest : array, shape (L + 1, nodes)
        Filled.
    """
    layers, nodes = len(compute), len(network.node_rate)
    heap = np.empty(nodes, dtype=np.int64)
    place = np.empty(nodes, dtype=np.int64)
    via = np.empty(nodes, dtype=np.int64)
    rest[:] = np.inf
    rest[layers, destination] = 0.0
    for layer in range(layers, -1, -1):
        if layer < layers:
            for u in range(nodes):
                rate = network.node_rate[u]
                if rate > 0:
                    here = compute[layer] / rate + share * waiting.node[u]
                    rest[layer, u] = rest[layer + 1, u] + here
        _spread(
            network.reaching,
            network.first_reaching,
            network.start,
            network.link_rate,
            waiting.link,
            data[layer],
            rest[layer],
            via,
            heap,
            place,
        )


# 4. Labels


@compiled
def _owed(waiting_of: Floats, bits: Ints, one: int, other: int, limit: float) -> float:
    """Waiting for nodes that label `other` has paid and label `one` has not, cut at `limit`."""
    owed = 0.0
    for word in range(bits.shape[1]):
        missing = bits[other, word] & ~bits[one, word]
        index = word * BITS
        while missing > 0:
            if missing & 1:
                owed += waiting_of[index]
                if owed > limit:
                    return owed
            missing >>= 1
            index += 1
    return owed


@compiled
def _longer(values: Floats, size: int) -> Floats:
    grown = np.empty(size, dtype=values.dtype)
    grown[: len(values)] = values
    return grown


@compiled
def search_labels(
    network: NetworkArrays,
    waiting: Waiting,
    compute: Floats,
    data: Floats,
    source: int,
    destination: int,
    indices: Ints,
    count: int,
    rest: Floats,
    shared_rest: Floats,
    share: float,
    below: float,
    most: int,
    chosen: Ints,
    hops: Ints,
) -> tuple[int, float, int, int]:
    """Find a best route that costs less than a known one, by labels in the order of A*.

    A label is a way to have the output of layer l at node u: its seconds and the nodes it has
    waited for. Label A makes label B superfluous if A's seconds, and the waiting for what only B
    has paid, are no more than B's seconds. Nodes outside of `indices` are charged per visit.

    Parameters
    ----------
    network : NetworkArrays
    waiting : Waiting
    compute, data : arrays, shapes (L,) and (L + 1,)
    source, destination : int
    indices, count
        From `find_returns`.
    rest, shared_rest : arrays, shape (L + 1, nodes)
        Two lower bounds of what is left, from `least_rest` with shares 0 and `share`.
    share : float
        At most 1 / L.
    below : float
        Seconds of a known route.
    most : int
        Labels to keep at most.
    chosen, hops
        Filled, as by `walk_back`, if a better route is found.

    Returns
    -------
    outcome : int
        1 a better route was found, 0 there is none, -1 there were too many labels.
    seconds : float
        Of the better route.
    number_of_hops : int
    labels : int
        Labels made.
    """
    layers, nodes = len(compute), len(network.node_rate)
    words = max(1, (count + BITS - 1) // BITS)
    waiting_of = np.zeros(words * BITS)
    for u in range(nodes):
        if indices[u] >= 0:
            waiting_of[indices[u]] = waiting.node[u]
    limit = below * (1 - ROUNDING)

    room = 256
    cost, shared, bound = np.empty(room), np.empty(room), np.empty(room)
    state = np.empty(room, dtype=np.int64)
    parent = np.empty(room, dtype=np.int64)
    link = np.empty(room, dtype=np.int64)
    following = np.empty(room, dtype=np.int64)
    heap = np.empty(room, dtype=np.int64)
    place = np.empty(room, dtype=np.int64)
    alive = np.empty(room, dtype=np.bool_)
    there = np.empty(room, dtype=np.bool_)  # the label's layer was just computed at its node
    bits = np.zeros((room, words), dtype=np.int64)
    newest = np.full((layers + 1) * nodes, -1, dtype=np.int64)

    made, waiting_labels = 1, 1
    cost[0], shared[0] = 0.0, 0.0
    bound[0] = max(rest[0, source], shared_rest[0, source])
    state[0], parent[0], link[0], following[0] = source, -1, -1, -1
    alive[0], there[0] = True, False
    heap[0], place[0] = 0, 0
    newest[source] = 0
    if not bound[0] < limit:
        return 0, 0.0, 0, 1
    while waiting_labels > 0:
        x = heap[0]
        waiting_labels -= 1
        if waiting_labels > 0:
            heap[0] = heap[waiting_labels]
            _sink(heap, place, bound, waiting_labels, 0)
        if not alive[x]:
            continue
        layer, u = state[x] // nodes, state[x] % nodes
        if layer == layers and u == destination:
            number = 0
            y = x
            while parent[y] >= 0:
                level = state[y] // nodes
                if link[y] >= 0:
                    hops[number, 0] = link[y]
                    hops[number, 1] = level
                    number += 1
                else:
                    chosen[level - 1] = state[y] % nodes
                y = parent[y]
            return 1, cost[x], number, made
        begin = network.first_leaving[u]
        computes = layer < layers and network.node_rate[u] > 0
        for k in range(begin - int(computes), network.first_leaving[u + 1]):
            if k < begin:  # compute the next layer here
                e, v, next_layer = -1, u, layer + 1
                service = compute[layer] / network.node_rate[u]
                index = indices[u]
                if index >= 0:  # noqa: SIM108 - a branch of a compiled function
                    paid = (bits[x, index // BITS] >> (index % BITS)) & 1 == 1
                else:
                    paid = there[x]
                new_cost = cost[x] + ((0.0 if paid else waiting.node[u]) + service)
                new_shared = shared[x] + (service + share * waiting.node[u])
            else:
                e = network.leaving[k]
                v, next_layer = network.end[e], layer
                seconds = data[layer] / network.link_rate[e] + waiting.link[e]
                new_cost = cost[x] + seconds
                new_shared = shared[x] + seconds
            new_bound = max(new_cost + rest[next_layer, v], new_shared + shared_rest[next_layer, v])
            if not new_bound < limit:
                continue
            if made == most:
                return -1, 0.0, 0, made
            if made == room:
                room *= 2
                cost, shared, bound = (
                    _longer(cost, room),
                    _longer(shared, room),
                    _longer(bound, room),
                )
                state, parent = _longer(state, room), _longer(parent, room)
                link, following = _longer(link, room), _longer(following, room)
                heap, place = _longer(heap, room), _longer(place, room)
                alive, there = _longer(alive, room), _longer(there, room)
                grown = np.zeros((room, words), dtype=np.int64)
                grown[:made] = bits
                bits = grown
            new = made
            bits[new] = bits[x]
            there[new] = e < 0
            index = indices[v]
            if e < 0 and index >= 0:
                bits[new, index // BITS] |= np.int64(1) << (index % BITS)
            once = waiting.node[v] if index < 0 else 0.0  # owed for having to begin anew at v
            at = next_layer * nodes + v
            kept = True
            previous = -1
            y = newest[at]
            while y >= 0:
                if cost[y] <= new_cost:
                    spare = new_cost - cost[y]
                    if there[new] and not there[y]:
                        spare -= once
                    if spare >= 0 and _owed(waiting_of, bits, y, new, spare) <= spare:
                        kept = False
                        break
                if new_cost <= cost[y]:
                    spare = cost[y] - new_cost
                    if there[y] and not there[new]:
                        spare -= once
                    if spare >= 0 and _owed(waiting_of, bits, new, y, spare) <= spare:
                        alive[y] = False
                        if previous < 0:
                            newest[at] = following[y]
                        else:
                            following[previous] = following[y]
                        y = following[y]
                        continue
                previous = y
                y = following[y]
            if not kept:
                continue
            made += 1
            cost[new], shared[new], bound[new] = new_cost, new_shared, new_bound
            state[new], parent[new], link[new] = at, x, e
            alive[new] = True
            following[new] = newest[at]
            newest[at] = new
            heap[waiting_labels] = new
            place[new] = waiting_labels
            waiting_labels += 1
            _rise(heap, place, bound, waiting_labels - 1)
    return 0, 0.0, 0, made
