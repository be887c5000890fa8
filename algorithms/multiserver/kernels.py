r"""The compiled parts of OGA: projections of one instance and resource, and runs of slots.

They stand in one file because a compiled function is kept on disk until its own file changes:
one that called functions of another file would go on using their old versions.

Projection onto 0 <= y <= a, sum y <= c (eqs. 5 and 6, problem 32):

.. math:: y = \mathrm{clip}(z - \tau, 0, a), \quad \tau \ge 0,

with tau = 0 if that fits, else the root of sum clip(z - tau, 0, a) = c.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from algorithms.compiled import compiled

__all__ = ["oga_slots", "port_totals", "project_newton", "project_paper", "project_sort", "reward"]

Reals = NDArray[np.float64]

NEWTON_ROUNDS = 60  # a handful is usual; the sort takes over after so many
CLOSE = 1e-13  # relative to the budget


@compiled
def load(point: Reals, caps: Reals, price: float) -> tuple[float, float, int]:
    """Return sum clip(z - tau, 0, a), the greatest z, and how many ports are at neither end."""
    total, largest, free = 0.0, -math.inf, 0
    for i in range(len(point)):
        largest = max(largest, point[i])
        amount = point[i] - price
        if amount >= caps[i]:
            total += caps[i]
        elif amount > 0.0:
            total += amount
            free += 1
    return total, largest, free


@compiled
def price_by_sort(point: Reals, caps: Reals, budget: float) -> float:
    """Root among the 2n breakpoints z - a and z: the segment by bisection, then a line.

    The caller has seen that the load at some lower price is above the budget.
    """
    n = len(point)
    breakpoints = np.empty(2 * n)
    breakpoints[:n] = point
    breakpoints[n:] = point - caps
    breakpoints.sort()
    low, high = 0, 2 * n - 1  # at the last breakpoint, max z, nothing is allocated
    if load(point, caps, breakpoints[0])[0] <= budget:
        high = 0
    while high - low > 1:
        middle = (low + high) // 2
        if load(point, caps, breakpoints[middle])[0] > budget:
            low = middle
        else:
            high = middle
    # On the segment below breakpoints[high] the ports that are free at its middle are free.
    middle_price = breakpoints[low] + 0.5 * (breakpoints[high] - breakpoints[low])
    total, _, free = load(point, caps, middle_price)
    if free == 0:
        return breakpoints[high]
    price = middle_price + (total - budget) / free
    return min(max(price, breakpoints[low]), breakpoints[high])


@compiled
def place(point: Reals, caps: Reals, budget: float, price: float, out: Reals) -> None:
    """Write clip(z - tau, 0, a), with a second root where the first one's digits do not suffice.

    Where z is much larger than what is allocated, tau has few digits of it. Differences from
    tau of the ports that matter are exact, so a projection of them has all digits.
    """
    total, _, _ = load(point, caps, price)
    if abs(total - budget) <= 1e-12 * budget:
        for i in range(len(point)):
            out[i] = min(max(point[i] - price, 0.0), caps[i])
        return
    rest = point - price
    correction = price_by_sort(rest, caps, budget)
    for i in range(len(point)):
        out[i] = min(max(rest[i] - correction, 0.0), caps[i])


@compiled
def fits(point: Reals, caps: Reals, budget: float, out: Reals) -> tuple[bool, float, float]:
    """Write clip(z, 0, a); tell whether that is all, the next Newton step and the greatest z."""
    total, largest, free = load(point, caps, 0.0)
    done = total <= budget
    for i in range(len(point)):
        out[i] = min(max(point[i], 0.0), caps[i]) if budget > 0.0 else 0.0
    step = (total - budget) / free if free > 0 else 0.5 * largest
    return done or budget <= 0.0, step, largest


@compiled
def project_sort(point: Reals, caps: Reals, budget: float, out: Reals) -> float:
    """Project by sorting the breakpoints; write y into `out` and return tau."""
    done, _, _ = fits(point, caps, budget, out)
    if done:
        return 0.0
    price = price_by_sort(point, caps, budget)
    place(point, caps, budget, price, out)
    return price


@compiled
def fill(point: Reals, caps: Reals, price: float, out: Reals) -> tuple[float, int]:
    """Write clip(z - tau, 0, a); return its sum and how many ports are at neither end.

    Three plain loops, each of which the processor can do several ports at a time; the sum has
    four parts of its own for the same reason.
    """
    n = len(point)
    for i in range(n):
        amount = point[i] - price
        amount = amount if amount > 0.0 else 0.0
        out[i] = amount if amount < caps[i] else caps[i]
    free = 0
    for i in range(n):
        free += (out[i] > 0.0) & (out[i] < caps[i])
    part_0, part_1, part_2, part_3 = 0.0, 0.0, 0.0, 0.0
    whole = n - n % 4
    for i in range(0, whole, 4):
        part_0 += out[i]
        part_1 += out[i + 1]
        part_2 += out[i + 2]
        part_3 += out[i + 3]
    for i in range(whole, n):
        part_0 += out[i]
    return (part_0 + part_1) + (part_2 + part_3), free


@compiled
def project_newton(point: Reals, caps: Reals, budget: float, warm: float, out: Reals) -> float:
    """Project by Newton's steps from `warm`, a guess of tau (0: none); return tau.

    The root is kept between `low` (load above the budget) and `high`; a step that leaves them is
    replaced by their middle. tau = 0 is asked only where a step points below it.
    """
    if budget <= 0.0:
        out[:] = 0.0
        return 0.0
    low, high = -1.0, math.inf
    price = warm if 0.0 < warm < math.inf else 0.0
    for _ in range(NEWTON_ROUNDS):
        total, free = fill(point, caps, price, out)
        excess = total - budget
        if price == 0.0 and excess <= 0.0:
            return 0.0
        if abs(excess) <= CLOSE * budget:
            return price
        if excess > 0.0:
            low = price
        else:
            high = price
        step = price + excess / free if free > 0 else math.inf
        if low < 0.0 and (excess < 0.0 and (step <= 0.0 or free == 0)):
            price = 0.0
            continue
        if not low < step < high or step == price:
            if high == math.inf:
                high = point.max()  # there nothing is allocated
            step = low + 0.5 * (high - low)
            if not low < step < high:
                price = high
                break
        price = step
    else:
        price = price_by_sort(point, caps, budget)
    place(point, caps, budget, price, out)
    return price


@compiled
def project_paper(point: Reals, caps: Reals, budget: float, out: Reals) -> float:
    """Do literally what the paper's fast projection does (steps 7 to 30); NOT a projection.

    Ports are sorted by z, descending. Inner loop: share rho evenly among the ports of B3, and
    put those that come out negative, a tail, into B2. Outer loop: if the FIRST port is over its
    cap, it alone goes to B1 and is at its cap. Nothing looks at other ports' caps, nor at
    rho < 0, with which the loop hands out what nobody asked for.
    """
    n = len(point)
    if n == 0:
        return 0.0
    order = np.argsort(-point)
    first, rho = 0, 0.0  # B1 is order[:first], B3 is order[first:last], B2 is order[last:]
    while True:
        last = n
        again = True
        while again and last > first:
            again = False
            total = 0.0
            for place_in_order in range(first, last):
                total += point[order[place_in_order]]
            left = budget - caps[order[0]] if first == 1 else budget
            rho = (total - left) / (last - first)
            for place_in_order in range(first, last):
                amount = point[order[place_in_order]] - rho
                if amount < 0.0:
                    last = place_in_order
                    again = True
                    break
                out[order[place_in_order]] = amount
        for place_in_order in range(last, n):
            out[order[place_in_order]] = 0.0
        if first == 1 or out[order[0]] <= caps[order[0]]:
            return rho
        first = 1
        out[order[0]] = caps[order[0]]


@compiled
def value(kind: int, scale: float, amount: float) -> float:
    """f(amount), as `models.multiserver.gains.gain_value`."""
    if kind == 0:
        return scale * amount
    if kind == 1:
        return scale * math.log1p(amount)
    if kind == 2:
        return scale * amount / (math.sqrt(1.0 + amount) + 1.0)
    return amount / (scale * (amount + scale))


@compiled
def slope(kind: int, scale: float, amount: float) -> float:
    """f'(amount), as `models.multiserver.gains.gain_slope`."""
    if kind == 0:
        return scale
    if kind == 1:
        return scale / (1.0 + amount)
    if kind == 2:
        return scale / (2.0 * math.sqrt(1.0 + amount))
    return 1.0 / (amount + scale) ** 2


@compiled
def port_totals(port: Any, allocation: Reals, total: Reals) -> None:
    """Write S[k,l], what each port has of each resource."""
    total[:] = 0.0
    for k in range(total.shape[0]):
        for e in range(len(port)):
            total[k, port[e]] += allocation[k, e]


@compiled
def reward(
    arrived: Any,
    port: Any,
    allocation: Reals,
    total: Reals,
    overhead: Reals,
    per_channel: bool,
    kind: Any,
    scale: Reals,
) -> float:
    """q(x, y) of one slot (eq. 7); `total` belongs to `allocation`."""
    result = 0.0
    if len(port) == 0:
        return result
    for i in range(len(arrived)):
        if arrived[i]:
            most = 0.0
            for k in range(len(overhead)):
                most = max(most, overhead[k] * total[k, i])
                if not per_channel:
                    result += value(kind[k, 0], scale[k, 0], total[k, i])
            result -= most
    if per_channel:
        for k in range(len(overhead)):
            for e in range(len(port)):
                if arrived[port[e]]:
                    result += value(kind[k, e], scale[k, e], allocation[k, e])
    return result


@compiled
def port_slopes(
    arrived: Any,
    allocation_of_port: Reals,
    overhead: Reals,
    per_channel: bool,
    kind: Any,
    scale: Reals,
    degree: Reals,
    felt: Reals,
) -> float:
    """Write what all edges of a port have in common of the supergradient (eq. 26).

    `felt` is 0 for ports without a job. Returned is the square of the whole supergradient, which
    in the form channel is not known yet (0).
    """
    felt[:] = 0.0
    square = 0.0
    for i in range(len(arrived)):
        if arrived[i] and degree[i] > 0.0:
            dominant = 0  # the lowest index on ties
            for k in range(1, len(overhead)):
                burden = overhead[k] * allocation_of_port[k, i]
                if burden > overhead[dominant] * allocation_of_port[dominant, i]:
                    dominant = k
            felt[dominant, i] = -overhead[dominant]
            if not per_channel:
                for k in range(len(overhead)):
                    felt[k, i] += slope(kind[k, 0], scale[k, 0], allocation_of_port[k, i])
                    square += degree[i] * felt[k, i] * felt[k, i]
    return square


@compiled
def channel_gradient(
    arrived: Any,
    port: Any,
    first: Any,
    allocation: Reals,
    kind: Any,
    scale: Reals,
    felt: Reals,
    out: Reals,
) -> float:
    """Write the supergradient in the form channel and return its square."""
    square = 0.0
    for r in range(len(first) - 1):
        low, high = first[r], first[r + 1]
        if low == high:
            continue
        for k in range(len(felt)):
            code, unit = kind[k, low], scale[k, low]  # the same on all edges of an instance
            for e in range(low, high):
                i = port[e]
                if arrived[i]:
                    amount = felt[k, i] + slope(code, unit, allocation[k, e])
                    out[k, e] = amount
                    square += amount * amount
                else:
                    out[k, e] = 0.0
    return square


@compiled
def step_and_project(
    arrived: Any,
    port: Any,
    first: Any,
    cap: Reals,
    capacity: Reals,
    per_channel: bool,
    paper: bool,
    eta: float,
    felt: Reals,
    point: Reals,
    price: Reals,
    allocation: Reals,
    total: Reals,
) -> None:
    """Move along the gradient, project every instance and resource, and sum up by port.

    The gradient is in `point` in the form channel and in `felt` by port else. Where no port of
    an instance has a job, z = y is in the set already: nothing is done, except by the paper's
    loop, which changes such allocations too.
    """
    total[:] = 0.0
    for r in range(len(first) - 1):
        low, high = first[r], first[r + 1]
        moved = paper
        for e in range(low, high):
            if arrived[port[e]]:
                moved = True
                break
        ports = port[low:high]
        # Where the ports follow each other, nothing need be looked up one by one.
        following = high > low and port[high - 1] - port[low] == high - 1 - low
        for k in range(len(cap)):
            z, a, y = point[k, low:high], cap[k, low:high], allocation[k, low:high]
            if moved:
                if per_channel:
                    for j in range(high - low):
                        z[j] = y[j] + eta * z[j]
                elif following:
                    slopes = felt[k, port[low] : port[low] + high - low]
                    for j in range(high - low):
                        z[j] = y[j] + eta * slopes[j]
                else:
                    slopes = felt[k]
                    for j in range(high - low):
                        z[j] = y[j] + eta * slopes[ports[j]]
                if paper:
                    price[k, r] = project_paper(z, a, capacity[k, r], y)
                else:
                    price[k, r] = project_newton(z, a, capacity[k, r], price[k, r], y)
            if following:
                sums = total[k, port[low] : port[low] + high - low]
                for j in range(high - low):
                    sums[j] += y[j]
            else:
                sums = total[k]
                for j in range(high - low):
                    sums[ports[j]] += y[j]


@compiled
def oga_slots(
    arrivals: Any,
    port: Any,
    first: Any,
    cap: Reals,
    capacity: Reals,
    overhead: Reals,
    per_channel: bool,
    kind: Any,
    scale: Reals,
    degree: Reals,
    lookahead: bool,
    paper: bool,
    rule: int,
    rates: Reals,
    slots: int,
    clock: Reals,
    allocation: Reals,
    price: Reals,
    total: Reals,
    felt: Reals,
    point: Reals,
    rewards: Reals,
) -> None:
    """Run consecutive slots; what goes on from one call to the next is in the arrays.

    `rule` is the place of the step rule in `algorithms.multiserver.oga.STEPS`, `rates` are D / G,
    D, eta0 and decay, `clock` counts slots and sums up squares of gradients. After the last
    slot of all nothing moves any more, so that the allocation left is the last one rewarded.
    """
    for t in range(len(arrivals)):
        arrived = arrivals[t]
        clock[0] += 1.0
        if not lookahead:
            rewards[t] = reward(
                arrived, port, allocation, total, overhead, per_channel, kind, scale
            )
        if lookahead or clock[0] < slots:
            square = port_slopes(arrived, total, overhead, per_channel, kind, scale, degree, felt)
            if per_channel:
                square = channel_gradient(
                    arrived, port, first, allocation, kind, scale, felt, point
                )
            clock[1] += square
            if rule == 0:
                eta = rates[0] / math.sqrt(slots)
            elif rule == 1:
                eta = rates[0] / math.sqrt(clock[0])
            elif rule == 2:
                eta = rates[1] / math.sqrt(2.0 * clock[1]) if clock[1] > 0.0 else 0.0
            else:
                eta = rates[2] * rates[3] ** clock[0]
            step_and_project(
                arrived,
                port,
                first,
                cap,
                capacity,
                per_channel,
                paper,
                eta,
                felt,
                point,
                price,
                allocation,
                total,
            )
        if lookahead:
            rewards[t] = reward(
                arrived, port, allocation, total, overhead, per_channel, kind, scale
            )
