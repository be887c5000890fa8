"""The compiled searches for one job's route, from a heap up to the label-setting search.

They stand in one file because a compiled function is kept on disk until its own file changes
(`algorithms.compiled`).

1. Heap of nodes, and shortest paths inside a layer.
2. Part: the nodes that a route as good as computing everything at one of them can pass.
3. Per visit: waiting at a node charged once per run of consecutive layers computed there.
4. Returns: which nodes a job may gain from coming back to, if any.
5. Labels: waiting charged once per node, exactly.
6. All of it, one after the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from algorithms.compiled import compiled
from algorithms.splitting.single.network_arrays import NetworkArrays, Part, Star

__all__ = ["BY_LABELS", "NO_ROUTE", "PROVED", "TOO_MANY_LABELS", "UNDOUBTED", "best_route"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

BITS = 62  # of a word of paid nodes; the sign stays out of it
ROUNDING = 1e-12  # relative; a route counts as better only beyond it
SURE = 1e-12  # relative, in favour of looking further: sums are rounded
SWEEPS = 8  # before the heap
FEW = 4  # a start from less than this share of many nodes does without sweeps
MANY = 200  # nodes

NO_ROUTE, UNDOUBTED, PROVED, BY_LABELS, TOO_MANY_LABELS = 0, 1, 2, 3, 4


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
    raised: Flags,
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
    for sweep in range(0 if nodes > MANY and FEW * open_nodes < nodes else SWEEPS):
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


# 2. Part


@compiled
def _part(
    network: NetworkArrays,
    wait_node: Floats,
    wait_link: Floats,
    compute: Floats,
    data: Floats,
    source: int,
    destination: int,
) -> Part:
    """Find the nodes that matter to a job, and what there is to beat.

    All layers at one node, with the shortest ways there and from there, give a time to beat. A
    node is left out if passing it takes longer even with the smallest of all outputs, the
    shortest queue, and all layers computed at the fastest node.

    Parameters
    ----------
    network : NetworkArrays
    wait_node, wait_link : arrays, shapes (nodes,) and (links,)
        Seconds of waiting.
    compute, data : arrays, shapes (L,) and (L + 1,)
    source, destination : int

    Returns
    -------
    Part
        Without nodes if the job has no route.
    """
    nodes = len(network.node_rate)
    out, into = network.out, network.into
    wait_out, wait_into = wait_link[out.link], wait_link[into.link]
    raised = np.empty(nodes, dtype=np.bool_)
    heap, place = np.empty(nodes, dtype=np.int64), np.empty(nodes, dtype=np.int64)
    nothing = np.zeros(nodes)
    total, smallest, last = compute.sum(), data.min(), data[-1]
    fastest = network.node_rate.max()
    quickest = np.inf
    if fastest > 0:
        quickest = (total / fastest + _calmest(network.node_rate, wait_node)) * (1 - SURE)

    there = np.full(nodes, np.inf)
    there[source] = 0.0
    _spread(out, wait_out, data[0], nothing, np.inf, there, raised, heap, place)
    below = np.inf
    if network.node_rate[destination] > 0:
        at_end = total / network.node_rate[destination]
        below = (there[destination] + wait_node[destination] + at_end) * (1 + SURE)
    left = np.full(nodes, np.inf)
    left[destination] = 0.0
    _spread(into, wait_into, last, there, below - quickest, left, raised, heap, place)
    for u in range(nodes):
        rate = network.node_rate[u]
        if rate > 0:
            seconds = there[u] + wait_node[u] + total / rate + left[u]
            below = min(below, seconds * (1 + SURE))
    kept = np.empty(nodes, dtype=np.int64)
    count = 0
    before = there
    if below < np.inf:
        limit = below - quickest
        if smallest < data[0]:
            before = np.full(nodes, np.inf)
            before[source] = 0.0
            _spread(out, wait_out, smallest, nothing, limit, before, raised, heap, place)
        if smallest < max(data[0], last):  # else it is what it would become
            left[:] = np.inf
            left[destination] = 0.0
            _spread(into, wait_into, smallest, before, limit, left, raised, heap, place)
        for u in range(nodes):
            if before[u] + left[u] <= limit:
                kept[count] = u
                count += 1
    kept = kept[:count]
    number = np.full(nodes, -1, dtype=np.int64)
    for i in range(count):
        number[kept[i]] = i
    new_out, part_out = _part_of_star(out, wait_out, kept, number)
    new_into, part_into = _part_of_star(into, wait_into, kept, number)
    return Part(
        kept,
        network.node_rate[kept],
        wait_node[kept],
        new_out,
        part_out,
        new_into,
        part_into,
        number[source],
        number[destination],
        below,
        before[kept],
        left[kept],
    )


@compiled
def _calmest(rate: Floats, wait: Floats) -> float:
    """Least waiting at a node that computes, which every route pays."""
    least = np.inf
    for u in range(len(rate)):
        if rate[u] > 0:
            least = min(least, wait[u])
    return least


@compiled
def _part_of_star(star: Star, waiting: Floats, kept: Ints, number: Ints) -> tuple[Star, Floats]:
    """The links between nodes that are kept, with their waiting."""
    if len(kept) == len(number):
        return star, waiting
    most = 0
    for u in kept:
        most += star.first[u + 1] - star.first[u]
    first = np.zeros(len(kept) + 1, dtype=np.int64)
    link, other = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    rate, waits = np.empty(most), np.empty(most)
    count = 0
    for i in range(len(kept)):
        for k in range(star.first[kept[i]], star.first[kept[i] + 1]):
            v = number[star.other[k]]
            if v >= 0:
                link[count], other[count] = star.link[k], v
                rate[count], waits[count] = star.rate[k], waiting[k]
                count += 1
        first[i + 1] = count
    return Star(first, link[:count], other[:count], rate[:count]), waits[:count]


# 3. Per visit


@compiled
def _per_visit(
    part: Part, compute: Floats, data: Floats, arrived: Floats, computed: Floats
) -> float:
    """Shortest path over 2 N (L + 1) vertices: node and layer, just computed there or not.

    Whoever cannot end below the time to beat, even if all that is left were computed here, or at
    the fastest node behind the shortest queue, is not followed; no best route is lost by that.

    Parameters
    ----------
    part : Part
    compute, data : arrays, shapes (L,) and (L + 1,)
    arrived : array, shape (L + 1, nodes)
        Filled: least seconds until the output of layer l is at node u, inf if not followed.
    computed : array, shape (L + 1, nodes)
        Filled: the same for outputs just made there.

    Returns
    -------
    float
        Least seconds until the last output is at the destination.
    """
    layers, nodes = len(compute), len(part.kept)
    raised = np.empty(nodes, dtype=np.bool_)
    heap, place = np.empty(nodes, dtype=np.int64), np.empty(nodes, dtype=np.int64)
    fastest, calm = part.node_rate.max(), _calmest(part.node_rate, part.wait_node)
    for layer in range(layers + 1):
        work = compute[layer:].sum()
        # What leaves a node waits again before it is computed on, so that staying may be cheaper.
        move = (work / fastest + calm if layer < layers else 0.0) * (1 - SURE)
        for u in range(nodes):
            seconds = np.inf
            if layer == 0:
                seconds = 0.0 if u == part.source else np.inf  # made at the source, so to speak
            elif part.node_rate[u] > 0:
                seconds = arrived[layer - 1, u] + part.wait_node[u]
                if layer > 1:
                    seconds = min(seconds, computed[layer - 1, u])
                seconds += compute[layer - 1] / part.node_rate[u]
                rest = min(move, work / part.node_rate[u] * (1 - SURE))
                if not seconds + part.left[u] <= part.below - rest:
                    seconds = np.inf
            computed[layer, u] = seconds
            arrived[layer, u] = seconds
        _spread(
            part.out,
            part.wait_out,
            data[layer],
            part.left,
            part.below - move,
            arrived[layer],
            raised,
            heap,
            place,
        )
    return arrived[layers, part.destination]


@compiled
def _walk_back(
    part: Part, data: Floats, arrived: Floats, computed: Floats, chosen: Ints, hops: Ints
) -> int:
    """Read the route off the tables of `_per_visit`.

    Ties: an output that can be made at a node is not fetched; else it is fetched from the node
    that has it first, then from that of lower index, then over the first link in file order.

    Parameters
    ----------
    part : Part
    data : array, shape (L + 1,)
    arrived, computed
        From `_per_visit`.
    chosen : array of int, shape (L,)
        Filled with the nodes that compute.
    hops : array of int, shape ((L + 1) nodes, 2)
        Filled with link and layer, last hop first.

    Returns
    -------
    int
        Number of hops.
    """
    into, waiting = part.into, part.wait_into
    count = 0
    u = part.destination
    layer = len(arrived) - 1
    while True:
        here, made = arrived[layer], computed[layer]
        while here[u] < made[u]:
            k = _fetched(into, waiting, data[layer], here, u)
            if k >= 0:
                hops[count, 0] = into.link[k]
                hops[count, 1] = layer
                count += 1
                u = into.other[k]
            else:
                number, u = _fetched_for_nothing(
                    into, waiting, data[layer], here, made, u, hops[count:]
                )
                hops[count : count + number, 1] = layer
                count += number
        if layer == 0:
            return count
        while True:
            chosen[layer - 1] = u
            stay = layer > 1 and (
                computed[layer - 1, u] <= arrived[layer - 1, u] + part.wait_node[u]
            )
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
        Rows of the tables.
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
def _completion(
    part: Part,
    wait_link: Floats,
    link_rate: Floats,
    compute: Floats,
    data: Floats,
    chosen: Ints,
    hops: Ints,
) -> float:
    """Seconds of a route: service, each node's waiting once, a link's per traversal (eq. 6)."""
    seconds = 0.0
    for layer in range(len(compute)):
        u = chosen[layer]
        seconds += compute[layer] / part.node_rate[u]
        again = False
        for before in range(layer):
            again = again or chosen[before] == u
        if not again:
            seconds += part.wait_node[u]
    for k in range(len(hops)):
        e = hops[k, 0]
        seconds += data[hops[k, 1]] / link_rate[e] + wait_link[e]
    return seconds


# 4. Returns


@compiled
def _find_returns(
    part: Part, compute: Floats, data: Floats, below: float, indices: Ints
) -> tuple[int, bool]:
    """Find the nodes that a better route may come back to, by what staying there would cost.

    Consider a best route with as few runs of layers as possible, and a node u that computes
    layers a and b and none between. Staying at u for the layers between must cost more than
    leaving, computing them elsewhere and coming back. The nodes computing between have not been
    waited for before if it is the route's first return. And waiting at u and one other node and
    computing at the faster of them, or at u and two others and computing at the fastest node,
    must take less than a known route.

    Parameters
    ----------
    part : Part
    compute, data : arrays, shapes (L,) and (L + 1,)
    below : float
        Seconds of a known route.
    indices : array of int, shape (nodes,)
        Filled: 0, 1, ... for nodes that may be returned to and have work to wait for, else -1.

    Returns
    -------
    count : int
        Number of such nodes.
    possible : bool
        Whether a first return is possible. If not, no better route needs any, and charging per
        visit is exact.
    """
    layers, nodes = len(compute), len(part.kept)
    indices[:] = -1
    done = np.zeros(layers + 1)  # operations of the first layers
    for layer in range(layers):
        done[layer + 1] = done[layer] + compute[layer]
    # Of the nodes that compute: the two fastest, the three with the shortest queues, and the two
    # that would be done first with all layers.
    fastest, second = 0.0, 0.0
    calm = np.full(3, np.inf)
    soonest, soonest_node, later = np.inf, -1, np.inf
    for u in range(nodes):
        rate, wait = part.node_rate[u], part.wait_node[u]
        if rate == 0:
            continue
        fastest, second = max(rate, fastest), max(second, min(rate, fastest))
        for place in range(3):
            wait, calm[place] = max(wait, calm[place]), min(wait, calm[place])
        alone = part.wait_node[u] + done[layers] / rate
        if alone < soonest:
            soonest, soonest_node, later = alone, u, soonest
        elif alone < later:
            later = alone
    count, possible = 0, False
    for u in range(nodes):
        rate = part.node_rate[u]
        elsewhere = second if rate == fastest else fastest
        if not 0 < rate < elsewhere or part.wait_node[u] == 0:
            continue
        own = part.wait_node[u]
        aside = calm[1] if own <= calm[0] else calm[0]  # shortest queue of the others
        both = aside + (calm[2] if own <= calm[1] else calm[1])  # the two shortest
        one_more = min(later if u == soonest_node else soonest, aside + done[layers] / rate)
        least = own + min(one_more, both + done[layers] / fastest)
        if (least + part.before[u] + part.left[u]) * (1 - SURE) >= below:
            continue
        quickest_out, soonest_out = _quickest(part.out, part.wait_out, u)
        quickest_in, soonest_in = _quickest(part.into, part.wait_into, u)
        if quickest_out == 0 or quickest_in == 0:
            continue
        gain = (1.0 / rate - 1.0 / elsewhere) * (1 + SURE)
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
                        if part.node_rate[v] > 0 and v != u:
                            there = min(there, part.wait_node[v] + work / part.node_rate[v])
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
def _shares(part: Part, compute: Floats) -> tuple[Floats, Floats]:
    """Shares of a node's waiting that layers are charged, and what the first ones then take.

    Shares that add up to 1 give a lower bound of charging it once. Those of the layers' work make
    computing everything at one node as dear as it is.

    Returns
    -------
    shares : array, shape (L,)
    least : array, shape (L + 1,)
        Lower bounds of the seconds of the first layers, ways not counted.
    """
    layers = len(compute)
    shares, least = np.empty(layers), np.zeros(layers + 1)
    total = compute.sum()
    for layer in range(layers):
        part_of_all = compute[layer] / total if total > 0 else 1.0 / layers
        shares[layer] = part_of_all * (1 - 1e-15 * layers)
        soonest = np.inf
        for u in range(len(part.kept)):
            if part.node_rate[u] > 0:
                here = compute[layer] / part.node_rate[u] + shares[layer] * part.wait_node[u]
                soonest = min(soonest, here)
        least[layer + 1] = least[layer] + soonest
    return shares, least


@compiled
def _least_rest(
    part: Part,
    shares: Floats,
    least: Floats,
    compute: Floats,
    data: Floats,
    below: float,
    rest: Floats,
) -> None:
    """Least seconds from every node and layer to the end, if layers wait for a share only.

    What no route of less than some seconds passes is left out, by the same argument as in
    `_per_visit`.

    Parameters
    ----------
    part : Part
    shares : array, shape (L,)
        Of a node's waiting, charged for a layer computed there.
    least : array, shape (L + 1,)
        Lower bounds of the seconds of the first layers, or of what is left out of all, ways not
        counted.
    compute, data : arrays, shapes (L,) and (L + 1,)
    below : float
        Seconds of a known route.
    rest : array, shape (L + 1, nodes)
        Filled; inf where it is left out.
    """
    layers, nodes = len(compute), len(part.kept)
    raised = np.empty(nodes, dtype=np.bool_)
    heap, place = np.empty(nodes, dtype=np.int64), np.empty(nodes, dtype=np.int64)
    for layer in range(layers, -1, -1):
        limit = below * (1 + SURE) - least[layer] * (1 - SURE)
        for u in range(nodes):
            seconds = np.inf
            if layer == layers:
                seconds = 0.0 if u == part.destination else np.inf
            elif part.node_rate[u] > 0:
                here = compute[layer] / part.node_rate[u] + shares[layer] * part.wait_node[u]
                seconds = rest[layer + 1, u] + here
                if not seconds + part.before[u] <= limit:
                    seconds = np.inf
            rest[layer, u] = seconds
        _spread(
            part.into,
            part.wait_into,
            data[layer],
            part.before,
            limit,
            rest[layer],
            raised,
            heap,
            place,
        )


# 5. Labels


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
def _search_labels(
    part: Part,
    compute: Floats,
    data: Floats,
    indices: Ints,
    count: int,
    rest: Floats,
    shared_rest: Floats,
    shares: Floats,
    below: float,
    most: int,
    chosen: Ints,
    hops: Ints,
) -> tuple[int, int, int]:
    """Find a best route that costs less than a known one, by labels in the order of A*.

    A label is a way to have the output of layer l at node u: its seconds and the nodes it has
    waited for. Label A makes label B superfluous if A's seconds, and the waiting for what only B
    has paid, are no more than B's seconds. Nodes outside of `indices` are charged per visit.

    Parameters
    ----------
    part : Part
    compute, data : arrays, shapes (L,) and (L + 1,)
    indices, count
        From `_find_returns`.
    rest, shared_rest : arrays, shape (L + 1, nodes)
        Two lower bounds of what is left, from `_least_rest` with shares 0 and `shares`.
    shares : array, shape (L,)
        Add up to no more than 1.
    below : float
        Seconds of the known route.
    most : int
        Labels to keep at most.
    chosen, hops
        Filled, as by `_walk_back`, if a better route is found.

    Returns
    -------
    outcome : int
        BY_LABELS if a better route was found, PROVED if there is none, or TOO_MANY_LABELS.
    number_of_hops : int
    labels : int
        Labels made.
    """
    layers, nodes = len(compute), len(part.kept)
    source, destination = part.source, part.destination
    out = part.out
    words = max(1, (count + BITS - 1) // BITS)
    waiting_of = np.zeros(words * BITS)
    for u in range(nodes):
        if indices[u] >= 0:
            waiting_of[indices[u]] = part.wait_node[u]
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
        return PROVED, 0, 1
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
            return BY_LABELS, number, made
        begin = out.first[u]
        computes = layer < layers and part.node_rate[u] > 0
        for k in range(begin - int(computes), out.first[u + 1]):
            if k < begin:  # compute the next layer here
                e, v, next_layer = -1, u, layer + 1
                service = compute[layer] / part.node_rate[u]
                index = indices[u]
                if index >= 0:  # noqa: SIM108 - a branch of a compiled function
                    paid = (bits[x, index // BITS] >> (index % BITS)) & 1 == 1
                else:
                    paid = there[x]
                new_cost = cost[x] + ((0.0 if paid else part.wait_node[u]) + service)
                new_shared = shared[x] + (service + shares[layer] * part.wait_node[u])
            else:
                e = out.link[k]
                v, next_layer = out.other[k], layer
                seconds = data[layer] / out.rate[k] + part.wait_out[k]
                new_cost = cost[x] + seconds
                new_shared = shared[x] + seconds
            new_bound = max(new_cost + rest[next_layer, v], new_shared + shared_rest[next_layer, v])
            if not new_bound < limit:
                continue
            if made == most:
                return TOO_MANY_LABELS, 0, made
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
            once = part.wait_node[v] if index < 0 else 0.0  # owed for having to begin anew at v
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
    return PROVED, 0, made


# 6. All of it


@compiled
def best_route(
    network: NetworkArrays,
    node_queue: Floats,
    link_queue: Floats,
    compute: Floats,
    data: Floats,
    source: int,
    destination: int,
    exact: bool,
    most_labels: int,
    chosen: Ints,
    hops: Ints,
) -> tuple[int, float, float, int, int]:
    """Find a job's best route behind given queues.

    Parameters
    ----------
    network : NetworkArrays
    node_queue, link_queue : arrays, shapes (nodes,) and (links,)
        Work of higher priority.
    compute, data : arrays, shapes (L,) and (L + 1,)
    source, destination : int
    exact : bool
        Charge waiting once per node (eq. 6); else per visit.
    most_labels : int
        Labels to keep at most.
    chosen : array of int, shape (L,)
        Filled with the nodes that compute.
    hops : array of int, shape ((L + 1) nodes, 2)
        Filled with link and layer, last hop first.

    Returns
    -------
    outcome : int
        NO_ROUTE, UNDOUBTED (per visit is the best), PROVED (the same, by bounds), BY_LABELS
        (another route is better) or TOO_MANY_LABELS (perhaps it is not the best).
    seconds : float
        Of the route, by eq. (6).
    charged : float
        Least seconds with waiting per visit.
    number_of_hops : int
    labels : int
        Labels made.
    """
    layers = len(compute)
    wait_node = _waiting(node_queue, network.node_rate)
    wait_link = _waiting(link_queue, network.link_rate)
    part = _part(network, wait_node, wait_link, compute, data, source, destination)
    nodes = len(part.kept)
    if nodes == 0:
        return NO_ROUTE, np.inf, np.inf, 0, 0
    arrived, computed = np.empty((layers + 1, nodes)), np.empty((layers + 1, nodes))
    charged = _per_visit(part, compute, data, arrived, computed)
    number = _walk_back(part, data, arrived, computed, chosen, hops)
    seconds = _completion(part, wait_link, network.link_rate, compute, data, chosen, hops[:number])
    outcome, labels = UNDOUBTED, 0
    if exact and layers > 2:
        indices = np.empty(nodes, dtype=np.int64)
        count, possible = _find_returns(part, compute, data, seconds, indices)
        if possible:
            shared_rest, rest = computed, arrived  # their contents are not needed any more
            shares, least = _shares(part, compute)
            outcome = PROVED
            _least_rest(part, shares, least, compute, data, seconds, shared_rest)
            if shared_rest[0, part.source] < seconds * (1 - ROUNDING):
                calm, fastest = _calmest(part.node_rate, part.wait_node), part.node_rate.max()
                for layer in range(layers + 1):
                    least[layer] = compute[:layer].sum() / fastest + calm
                _least_rest(part, np.zeros(layers), least, compute, data, seconds, rest)
                outcome, better, labels = _search_labels(
                    part,
                    compute,
                    data,
                    indices,
                    count,
                    rest,
                    shared_rest,
                    shares,
                    seconds,
                    most_labels,
                    chosen,
                    hops,
                )
                if outcome == BY_LABELS:
                    number = better
                    seconds = _completion(
                        part, wait_link, network.link_rate, compute, data, chosen, hops[:number]
                    )
    for layer in range(layers):
        chosen[layer] = part.kept[chosen[layer]]
    return outcome, seconds, charged, number, labels


@compiled
def _waiting(queue: Floats, rate: Floats) -> Floats:
    """Seconds behind a queue; 0 where the rate is 0 or infinite."""
    seconds = np.zeros(len(queue))
    for x in range(len(queue)):
        if rate[x] > 0:
            seconds[x] = queue[x] / rate[x]
    return seconds
