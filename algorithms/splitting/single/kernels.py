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
from algorithms.splitting.single.network_arrays import NetworkArrays, Star, Waiting

__all__ = ["completion", "find_returns", "least_rest", "per_visit", "search_labels", "walk_back"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BITS = 62  # of a word of paid nodes; the sign stays out of it
ROUNDING = 1e-12  # relative; a route counts as better only beyond it
SURE = 1e-12  # relative, in favour of looking further: sums are rounded
SWEEPS = 8  # before the heap


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
    star: Star,
    waiting: Floats,
    size: float,
    left: Floats,
    limit: float,
    distance: Floats,
    raised: NDArray[np.bool_],
    heap: Ints,
    place: Ints,
) -> None:
    """Shortest paths inside a layer from all nodes with a finite distance.

    Few hops are the rule, so some sweeps over the nodes that were lowered, to and fro, are
    quicker than a heap. What is open after them is closed by Dijkstra's algorithm.

    Parameters
    ----------
    star : Star
        Links of each node.
    waiting : array, shape (usable links,)
        Seconds of waiting at each, in the star's order.
    size : float
        Bytes that are sent.
    left : array, shape (nodes,)
        At least so many seconds are left from a node on.
    limit : float
        No way is followed on which distance and what is left exceed it.
    distance : array, shape (nodes,)
        Lowered.
    raised : array of bool, shape (nodes,)
    heap, place : arrays of int, shape (nodes,)
        Scratch space.
    """
    nodes = len(distance)
    open_nodes = 0
    for u in range(nodes):
        raised[u] = distance[u] < np.inf
        open_nodes += raised[u]
    for sweep in range(SWEEPS):
        if open_nodes == 0:
            return
        for i in range(nodes):
            u = i if sweep % 2 == 0 else nodes - 1 - i
            if not raised[u]:
                continue
            raised[u] = False
            open_nodes -= 1
            here = distance[u]
            for k in range(star.first[u], star.first[u + 1]):
                v = star.other[k]
                found = here + (size / star.rate[k] + waiting[k])
                if found < distance[v] and found + left[v] <= limit:
                    distance[v] = found
                    if not raised[v]:
                        raised[v] = True
                        open_nodes += 1
    count = 0
    for u in range(nodes):
        place[u] = -1
        if raised[u]:
            heap[count] = u
            place[u] = count
            count += 1
    for at in range(count // 2 - 1, -1, -1):
        _sink(heap, place, distance, count, at)
    while count > 0:
        u = heap[0]
        place[u] = -1
        count -= 1
        if count > 0:
            heap[0] = heap[count]
            _sink(heap, place, distance, count, 0)
        for k in range(star.first[u], star.first[u + 1]):
            v = star.other[k]
            found = distance[u] + (size / star.rate[k] + waiting[k])
            if found < distance[v] and found + left[v] <= limit:
                distance[v] = found
                if place[v] < 0:
                    heap[count] = v
                    place[v] = count
                    count += 1
                _rise(heap, place, distance, place[v])


# 2. Per visit


@compiled
def per_visit(
    network: NetworkArrays,
    waiting: Waiting,
    compute: Floats,
    data: Floats,
    source: int,
    destination: int,
    arrived: Floats,
    computed: Floats,
) -> float:
    """Shortest path over 2 N (L + 1) vertices: node and layer, just computed there or not.

    All layers at one node give a time to beat. Whoever cannot, even if all that is left were
    computed at the fastest node, is not followed; no best route is lost by that.

    Parameters
    ----------
    network : NetworkArrays
    waiting : Waiting
    compute, data : arrays, shapes (L,) and (L + 1,)
    source, destination : int
    arrived : array, shape (L + 1, nodes)
        Filled: least seconds until the output of layer l is at node u, inf if not followed.
    computed : array, shape (L + 1, nodes)
        Filled: the same for outputs just made there.

    Returns
    -------
    float
        Least seconds until the last output is at the destination, inf if there is no route.
    """
    layers, nodes = len(compute), len(network.node_rate)
    out = network.out
    raised = np.empty(nodes, dtype=np.bool_)
    heap, place = np.empty(nodes, dtype=np.int64), np.empty(nodes, dtype=np.int64)
    left = np.zeros(nodes)
    computed[0] = np.inf
    computed[0, source] = 0.0  # so to speak
    arrived[0] = computed[0]
    _spread(out, waiting.out, data[0], left, np.inf, arrived[0], raised, heap, place)
    _ways(network.into, waiting.into, data[layers], destination, left, raised, heap, place)
    work, fastest = compute.sum(), network.node_rate.max()
    best = np.inf
    for u in range(nodes):
        rate = network.node_rate[u]
        if rate > 0:
            best = min(best, arrived[0, u] + waiting.node[u] + work / rate + left[u])
    if best == np.inf:
        return best
    best *= 1 + SURE
    if data[layers] > data.min():
        _ways(network.into, waiting.into, data.min(), destination, left, raised, heap, place)
    for layer in range(1, layers + 1):
        work -= compute[layer - 1]
        limit = best - max(work, 0.0) / fastest * (1 - SURE)
        for u in range(nodes):
            rate = network.node_rate[u]
            seconds = np.inf
            if rate > 0:
                seconds = arrived[layer - 1, u] + waiting.node[u]
                if layer > 1:
                    seconds = min(seconds, computed[layer - 1, u])
                seconds += compute[layer - 1] / rate
                if not seconds + left[u] <= limit:
                    seconds = np.inf
            computed[layer, u] = seconds
            arrived[layer, u] = seconds
        _spread(out, waiting.out, data[layer], left, limit, arrived[layer], raised, heap, place)
    return arrived[layers, destination]


@compiled
def _ways(
    star: Star,
    waiting: Floats,
    size: float,
    end: int,
    left: Floats,
    raised: NDArray[np.bool_],
    heap: Ints,
    place: Ints,
) -> None:
    """Fill `left` with the seconds in which so many bytes go between a node and any other."""
    nothing = np.zeros(len(left))
    left[:] = np.inf
    left[end] = 0.0
    _spread(star, waiting, size, nothing, np.inf, left, raised, heap, place)


@compiled
def walk_back(
    network: NetworkArrays,
    waiting: Waiting,
    data: Floats,
    destination: int,
    arrived: Floats,
    computed: Floats,
    chosen: Ints,
    hops: Ints,
) -> int:
    """Read the route off the tables of `per_visit`.

    Ties: an output that can be made at a node is not fetched; else it is fetched from the node
    that has it first, then from that of lower index, then over the first link in file order.

    Parameters
    ----------
    network : NetworkArrays
    waiting : Waiting
    data : array, shape (L + 1,)
    destination : int
        Reached, by the tables.
    arrived, computed
        From `per_visit`.
    chosen : array of int, shape (L,)
        Filled with the nodes that compute.
    hops : array of int, shape ((L + 1) nodes, 2)
        Filled with link and layer, last hop first.

    Returns
    -------
    int
        Number of hops.
    """
    into = network.into
    count = 0
    u = destination
    layer = len(arrived) - 1
    while True:
        here, made = arrived[layer], computed[layer]
        while here[u] < made[u]:
            k = _fetched(into, waiting.into, data[layer], here, u)
            if k >= 0:
                hops[count, 0] = into.link[k]
                hops[count, 1] = layer
                count += 1
                u = into.other[k]
            else:
                number, u = _fetched_for_nothing(
                    into, waiting.into, data[layer], here, made, u, hops[count:]
                )
                hops[count : count + number, 1] = layer
                count += number
        if layer == 0:
            return count
        while True:
            chosen[layer - 1] = u
            stay = layer > 1 and (computed[layer - 1, u] <= arrived[layer - 1, u] + waiting.node[u])
            layer -= 1
            if not stay:
                break


@compiled
def _fetched(into: Star, waiting: Floats, size: float, here: Floats, u: int) -> int:
    """Place in the star of the link over which an output came in more than no time, else -1."""
    best = -1
    for k in range(into.first[u], into.first[u + 1]):
        v = into.other[k]
        if here[v] < here[u] and here[v] + (size / into.rate[k] + waiting[k]) == here[u]:
            known = into.other[best]
            if best < 0 or here[v] < here[known] or (here[v] == here[known] and v < known):
                best = k
    return best


@compiled
def _fetched_for_nothing(
    into: Star, waiting: Floats, size: float, here: Floats, made: Floats, u: int, hops: Ints
) -> tuple[int, int]:
    """Go back over links that take no time to a node that has the output otherwise.

    Over as few as possible; ties go to the node of lower index.

    Parameters
    ----------
    into, waiting, size
        Of the links, and of what is sent.
    here, made : arrays, shape (nodes,)
        Rows of `arrived` and `computed`.
    u : int
    hops : array of int, shape (rest, 2)
        Filled with links, last hop first.

    Returns
    -------
    number_of_hops : int
    node : int
    """
    over = np.full(len(here), -1, dtype=np.int64)  # place in the star of the link to go on over
    ahead = np.full(len(here), -1, dtype=np.int64)
    found = np.empty(len(here), dtype=np.int64)
    found[0], ahead[u] = u, u
    begin, count, x = 0, 1, -1
    while x < 0:
        end = count
        if begin == end:
            raise AssertionError("the tables hold no way back")  # never, rather than for ever
        for at in range(begin, end):
            w = found[at]
            for k in range(into.first[w], into.first[w + 1]):
                v = into.other[k]
                tight = here[v] + (size / into.rate[k] + waiting[k]) == here[w]
                if tight and ahead[v] < 0:
                    over[v], ahead[v] = k, w
                    found[count] = v
                    count += 1
                    known = here[v] == made[v] or _fetched(into, waiting, size, here, v) >= 0
                    if known and (x < 0 or v < x):
                        x = v
        begin = end
    number = 0
    y = x
    while y != u:
        number += 1
        y = ahead[y]
    y = x
    for back in range(number):
        hops[number - 1 - back, 0] = into.link[over[y]]
        y = ahead[y]
    return number, x


@compiled
def completion(
    network: NetworkArrays,
    waiting: Waiting,
    compute: Floats,
    data: Floats,
    chosen: Ints,
    hops: Ints,
) -> float:
    """Seconds of a route: service, each node's waiting once, a link's per traversal (eq. 6)."""
    seconds = 0.0
    for layer in range(len(compute)):
        u = chosen[layer]
        seconds += compute[layer] / network.node_rate[u]
        again = False
        for before in range(layer):
            again = again or chosen[before] == u
        if not again:
            seconds += waiting.node[u]
    for k in range(len(hops)):
        e = hops[k, 0]
        seconds += data[hops[k, 1]] / network.link_rate[e] + waiting.link[e]
    return seconds


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
    fastest, second = 0.0, 0.0
    calmest, calmest_node, calm = np.inf, -1, np.inf  # least waiting, and that of the others
    for u in range(nodes):
        rate, wait = network.node_rate[u], waiting.node[u]
        if rate > fastest:
            fastest, second = rate, fastest
        elif rate > second:
            second = rate
        if rate > 0 and wait < calmest:
            calmest, calmest_node, calm = wait, u, calmest
        elif rate > 0 and wait < calm:
            calm = wait
    done = np.zeros(layers + 1)  # operations of the first layers
    for layer in range(layers):
        done[layer + 1] = done[layer] + compute[layer]
    count, possible = 0, False
    for u in range(nodes):
        rate = network.node_rate[u]
        elsewhere = second if rate == fastest else fastest
        if not 0 < rate < elsewhere or waiting.node[u] == 0:
            continue
        quickest_out, soonest_out = _quickest(network.out, waiting.out, u)
        quickest_in, soonest_in = _quickest(network.into, waiting.into, u)
        if quickest_out == 0 or quickest_in == 0:
            continue
        gain = (1.0 / rate - 1.0 / elsewhere) * (1 + SURE)
        aside = calm if u == calmest_node else calmest
        for a in range(1, layers - 1):
            leave = (data[a] / quickest_out + soonest_out + soonest_in) * (1 - SURE)
            if leave >= (done[layers - 1] - done[a]) * gain:
                continue
            for b in range(a + 2, layers + 1):  # layers a + 1 .. b - 1 are computed elsewhere
                work = done[b - 1] - done[a]
                travel = leave + data[b - 1] / quickest_in * (1 - SURE)
                if travel >= work * gain:
                    continue
                if indices[u] < 0:
                    indices[u] = count
                    count += 1
                if possible:
                    break
                if travel + aside * (1 - SURE) < work * gain:
                    there = np.inf
                    for v in range(nodes):
                        if network.node_rate[v] > 0 and v != u:
                            there = min(there, waiting.node[v] + work / network.node_rate[v])
                    possible = travel + there * (1 - SURE) < work / rate
            if possible and indices[u] >= 0:
                break
    return count, possible


@compiled
def _quickest(star: Star, waiting: Floats, u: int) -> tuple[float, float]:
    """Largest rate and least waiting of a node's links; rate 0 if it has none."""
    rate, soonest = 0.0, np.inf
    for k in range(star.first[u], star.first[u + 1]):
        rate = max(rate, star.rate[k])
        soonest = min(soonest, waiting[k])
    return rate, soonest


@compiled
def least_rest(
    network: NetworkArrays,
    waiting: Waiting,
    share: float,
    compute: Floats,
    data: Floats,
    source: int,
    destination: int,
    below: float,
    rest: Floats,
) -> None:
    """Least seconds from every node and layer to the end, if layers wait for a share only.

    What no route of less than some seconds passes is left out, by the same argument as in
    `per_visit`.

    Parameters
    ----------
    network : NetworkArrays
    waiting : Waiting
    share : float
        Of a node's waiting, charged for every layer computed there. With up to 1 / L this is a
        lower bound of charging it once.
    compute, data : arrays, shapes (L,) and (L + 1,)
    source, destination : int
    below : float
        Seconds of a known route.
    rest : array, shape (L + 1, nodes)
        Filled; inf where it is left out.
    """
    layers, nodes = len(compute), len(network.node_rate)
    into = network.into
    raised = np.empty(nodes, dtype=np.bool_)
    heap, place = np.empty(nodes, dtype=np.int64), np.empty(nodes, dtype=np.int64)
    before = np.zeros(nodes)
    _ways(network.out, waiting.out, data.min(), source, before, raised, heap, place)
    done, fastest = compute.sum(), network.node_rate.max()
    below *= 1 + SURE
    rest[:] = np.inf
    rest[layers, destination] = 0.0
    for layer in range(layers, -1, -1):
        if layer < layers:
            done -= compute[layer]
        limit = below - max(done, 0.0) / fastest * (1 - SURE)
        if layer < layers:
            for u in range(nodes):
                rate = network.node_rate[u]
                if rate > 0:
                    here = compute[layer] / rate + share * waiting.node[u]
                    seconds = rest[layer + 1, u] + here
                    if seconds + before[u] <= limit:
                        rest[layer, u] = seconds
        _spread(into, waiting.into, data[layer], before, limit, rest[layer], raised, heap, place)


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
    out = network.out
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
        begin = out.first[u]
        computes = layer < layers and network.node_rate[u] > 0
        for k in range(begin - int(computes), out.first[u + 1]):
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
                e = out.link[k]
                v, next_layer = out.other[k], layer
                seconds = data[layer] / out.rate[k] + waiting.out[k]
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
