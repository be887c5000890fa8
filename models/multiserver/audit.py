"""The audit of a run, computed from the two files with its own arithmetic.

Nothing here calls the formulas that the algorithms use: gains, overheads and sums are written
out again, by name, so that a mistake there is found here.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator

from models.audit import AuditReport, Violation, statement_differs
from models.files import InputError
from models.multiserver.allocation import LONGEST_WRITTEN, Entry, MultiserverRun
from models.multiserver.gains import GainFunction
from models.multiserver.instance import MultiserverInstance

__all__ = ["CONSTRAINTS", "audit"]

CONSTRAINTS = ("edge", "cap", "capacity", "sign", "statement")
RELATIVE = 1e-6
ABSOLUTE = 1e-12
LEAST = -1e-9


def audit(instance: MultiserverInstance, run: MultiserverRun) -> AuditReport:
    """Check every allocation in the file against (5) and (6), and what the file states.

    Parameters
    ----------
    instance : MultiserverInstance
    run : MultiserverRun

    Returns
    -------
    AuditReport
        With the total reward recomputed from the history, and from the stationary allocation,
        which is the same in all slots. Elsewhere it is the sum of the stated rewards. As the
        file format has it, the note ``rewards_checked`` is true if there is a history.

    Raises
    ------
    InputError
        If the file is not one of this instance: an unknown port, instance or resource, or
        another number of slots.
    """
    data = _Data(instance)
    _check_belongs(instance, run)
    found = list(_allocation(data, run.final, "final"))
    for t, entries in enumerate(run.history or ()):
        found += _allocation(data, entries, f"slot {t}")
    stationary = run.history is None and run.policy == "stationary"
    if run.history is not None or stationary:
        rewards = list(_recomputed(data, run))
        found += _rewards(run, rewards)
        objective, size = math.fsum(r for r, _ in rewards), math.fsum(s for _, s in rewards)
    elif run.rewards is not None:
        objective, size = math.fsum(run.rewards), math.fsum(map(abs, run.rewards))
    else:
        objective, size = run.objective, 0.0
    if abs(run.objective - objective) > RELATIVE * size + 1e-9:
        found.append(Violation("statement", "objective", abs(run.objective - objective)))
    if run.rewards is None and instance.slots <= LONGEST_WRITTEN:
        found.append(Violation("statement", "rewards are not stated", float(instance.slots)))
    if run.history:
        found += _final(run.final, run.history[-1])
    order = {name: k for k, name in enumerate(CONSTRAINTS)}
    found.sort(key=lambda violation: order[violation.constraint])
    return AuditReport(objective, tuple(found), {"rewards_checked": run.history is not None})


class _Data:
    """The instance by name."""

    def __init__(self, instance: MultiserverInstance) -> None:
        self.instance = instance
        self.edges = set(instance.edges)
        self.request = {port.name: port.request for port in instance.ports}
        self.capacity = {server.name: server.capacity for server in instance.instances}

    def gain(self, server: str | None, resource: str) -> GainFunction:
        """f_k, or f_rk where an instance is named."""
        own = self.instance.gain.instances.get(server, {}) if server is not None else {}
        return own.get(resource, self.instance.gain.resources[resource])

    def port_reward(self, mine: Iterable[Entry]) -> float:
        """What one arrived job earns with these entries (eq. 7)."""
        amounts = [(server, resource, max(amount, 0.0)) for _, server, resource, amount in mine]
        total: dict[str, list[float]] = defaultdict(list)
        for _, resource, amount in amounts:
            total[resource].append(amount)
        sums = {resource: math.fsum(parts) for resource, parts in total.items()}
        beta = self.instance.overhead
        overhead = max((beta.get(k, 0.0) * amount for k, amount in sums.items()), default=0.0)
        if self.instance.gain.form == "sum":
            gains = [_worth(self.gain(None, k), amount) for k, amount in sums.items()]
        else:
            channel: dict[tuple[str, str], float] = defaultdict(float)
            for server, resource, amount in amounts:
                channel[server, resource] += amount
            gains = [_worth(self.gain(r, k), amount) for (r, k), amount in channel.items()]
        return math.fsum([*gains, -overhead])


def _worth(function: GainFunction, amount: float) -> float:
    alpha = function.scale
    if function.kind == "linear":
        return alpha * amount
    if function.kind == "log":
        return alpha * math.log1p(amount)
    if function.kind == "poly":
        return alpha * math.expm1(0.5 * math.log1p(amount))
    return (amount / (amount + alpha)) / alpha


def _check_belongs(instance: MultiserverInstance, run: MultiserverRun) -> None:
    known = (
        ("port", {port.name for port in instance.ports}),
        ("instance", {server.name for server in instance.instances}),
        ("resource", set(instance.resources)),
    )
    tables = [("final", run.final)]
    tables += [(f"history[{t}]", entries) for t, entries in enumerate(run.history or ())]
    for field, entries in tables:
        for i, entry in enumerate(entries):
            for place, (what, names) in enumerate(known):
                if entry[place] not in names:
                    raise InputError(
                        f"is not a {what} of the instance file",
                        field=f"{field}[{i}][{place}]",
                        value=entry[place],
                    )
    for field, rows in (("rewards", run.rewards), ("history", run.history)):
        if rows is not None and len(rows) != instance.slots:
            rule = f"must have one entry per slot ({instance.slots})"
            raise InputError(rule, field=field, value=len(rows))


def _allocation(data: _Data, entries: Iterable[Entry], where: str) -> Iterator[Violation]:
    """One allocation: on edges, within (5) and (6), each entry once."""
    amounts: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for port, server, resource, amount in entries:
        amounts[port, server, resource].append(amount)
    used: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (port, server, resource), parts in amounts.items():
        amount = math.fsum(parts)
        place = f"{where}, {port} at {server}, {resource}"
        used[server, resource].append(amount)
        if len(parts) > 1:
            yield Violation("statement", f"{place}, stated {len(parts)} times", len(parts) - 1.0)
        if (port, server) not in data.edges:
            yield Violation("edge", place, abs(amount))
        cap = data.request[port].get(resource, 0.0)
        if amount > cap * (1 + RELATIVE) + ABSOLUTE:
            yield Violation("cap", place, amount - cap)
        if amount < LEAST:
            yield Violation("sign", place, -amount)
    for (server, resource), parts in used.items():
        amount, capacity = math.fsum(parts), data.capacity[server].get(resource, 0.0)
        if amount > capacity * (1 + RELATIVE) + ABSOLUTE:
            yield Violation("capacity", f"{where}, {server}, {resource}", amount - capacity)


def _recomputed(data: _Data, run: MultiserverRun) -> Iterator[tuple[float, float]]:
    """Each slot's reward, and the sum of what its ports have without sign."""
    names = [port.name for port in data.instance.ports]
    values = _by_port(data, run.final)
    t = 0
    for chunk in data.instance.arrivals.chunks(len(names)):
        for row in chunk:
            if run.history is not None:
                values = _by_port(data, run.history[t])
            earned = [values.get(names[i], 0.0) for i in row.nonzero()[0]]
            yield math.fsum(earned), math.fsum(map(abs, earned))
            t += 1


def _by_port(data: _Data, entries: Iterable[Entry]) -> dict[str, float]:
    mine: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        mine[entry[0]].append(entry)
    return {port: data.port_reward(own) for port, own in mine.items()}


def _rewards(run: MultiserverRun, rewards: list[tuple[float, float]]) -> Iterator[Violation]:
    for t, (stated, (computed, size)) in enumerate(zip(run.rewards or (), rewards, strict=False)):
        if abs(stated - computed) > RELATIVE * size + 1e-9:
            yield Violation("statement", f"slot {t}, reward", abs(stated - computed))


def _final(final: Iterable[Entry], last: Iterable[Entry]) -> Iterator[Violation]:
    """The final allocation is the history's last."""
    one, other = ({entry[:3]: entry[3] for entry in table} for table in (final, last))
    for key in sorted(one.keys() | other.keys()):
        stated, expected = one.get(key, 0.0), other.get(key, 0.0)
        if statement_differs(stated, expected):
            where = "final, {} at {}, {}".format(*key)
            yield Violation("statement", where, abs(stated - expected))
