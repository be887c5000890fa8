"""PRB, FCFS and EASY on-line, written as slowly and plainly as the definitions read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from models.dispatch import DispatchInstance, pack_job
from models.dispatch.arrays import with_slack

TOLERANCE = 1e-9


@dataclass
class World:
    """All that a dispatcher may look at, and the two things that it may not: ends and draws."""

    instance: DispatchInstance
    margin: float
    overrun: str
    time: int = 0
    waiting: list[int] = field(default_factory=list)
    running: dict[int, list[str]] = field(default_factory=dict)
    start: dict[int, int] = field(default_factory=dict)
    seen: dict[int, float] = field(default_factory=dict)

    def real_end(self, j: int) -> int:
        job = self.instance.jobs[j]
        length = job.real_duration
        return self.start[j] + (min(length, job.duration) if self.overrun == "killed" else length)

    def planned_end(self, j: int) -> int:
        return max(self.start[j] + self.instance.jobs[j].duration, self.time + 1)

    def headroom(self) -> float:
        cap = self.instance.power_cap
        return float("inf") if cap is None else float(with_slack(cap)) - self.instance.idle_power

    def asked(self, j: int) -> float:
        power, cap = self.instance.jobs[j].power, self.instance.power_cap
        most = float("inf") if cap is None else cap - self.instance.idle_power
        return max(power, min(power * (1 + self.margin), most))

    def draw(self, j: int) -> float:
        """As far as it is known: real for those seen running."""
        return self.seen.get(j, self.asked(j))

    def free(self, gone: set[int]) -> dict[str, dict[str, float]]:
        """What the nodes have left when these have ended."""
        free = {
            node.name: {r: node.capacity.get(r, 0.0) for r in self.instance.resources}
            for node in self.instance.nodes
        }
        for j, nodes in self.running.items():
            if j not in gone:
                take(self.instance, j, nodes, free)
        return free

    def power_left(self, gone: set[int]) -> float:
        return self.headroom() - sum(self.draw(j) for j in self.running if j not in gone)


def take(instance: DispatchInstance, j: int, nodes: list[str], free: Any) -> None:
    for unit, name in zip(instance.jobs[j].units, nodes, strict=True):
        for resource, amount in unit.items():
            free[name][resource] -= amount


def place(instance: DispatchInstance, j: int, free: Any) -> list[str] | None:
    """First fit over the nodes, fullest first as they are before the job."""

    def fullness(k: int) -> tuple[float, int]:
        node = instance.nodes[k]
        share = sum(free[node.name][r] / c for r, c in node.capacity.items() if c > 0)
        return round(share, 7), k

    order = sorted(range(len(instance.nodes)), key=fullness)
    free = {name: dict(amounts) for name, amounts in free.items()}
    found = []
    for unit in instance.jobs[j].units:
        for k in order:
            name = instance.nodes[k].name
            if all(amount <= free[name][r] + TOLERANCE for r, amount in unit.items()):
                for resource, amount in unit.items():
                    free[name][resource] -= amount
                found.append(name)
                break
        else:
            return None
    return found


def fits_on(instance: DispatchInstance, j: int, nodes: list[str], free: Any) -> bool:
    free = {name: dict(amounts) for name, amounts in free.items()}
    take(instance, j, nodes, free)
    return all(amount >= -TOLERANCE for name in nodes for amount in free[name].values())


@dataclass
class Reservation:
    job: int
    time: int
    nodes: list[str]


class Literal:
    """One run of a policy."""

    def __init__(
        self,
        instance: DispatchInstance,
        policy: str,
        *,
        margin: float = 0.0,
        overrun: str = "killed",
        depth: int | None = None,
    ) -> None:
        self.instance, self.policy = instance, policy
        self.depth = 10**9 if depth is None else depth
        self.world = World(instance, margin, overrun)
        self.kept: Reservation | None = None
        self.stale = True
        self.promised: dict[int, int] = {}
        self.waited = {j: {"resource": 0, "power": 0, "priority": 0} for j in range(self.number)}
        self.reason: dict[int, str] = {}
        self.hosts: dict[int, list[str]] = {}

    @property
    def number(self) -> int:
        return self.instance.number_of_jobs

    def run(self) -> None:
        world, jobs = self.world, self.instance.jobs
        ahead = [j for j in range(self.number) if self.instance.why_impossible[j] is None]
        ahead.sort(key=lambda j: (jobs[j].submit, j))
        while ahead or world.waiting:
            times = [jobs[ahead[0]].submit] if ahead else []
            times += [world.real_end(j) for j in world.running]
            before, world.time = world.time, max(world.time, min(times))
            for j in world.waiting:
                self.waited[j][self.reason[j]] += world.time - before
            for j in [j for j in world.running if world.real_end(j) <= world.time]:
                del world.running[j]
                self.stale = True
            while ahead and jobs[ahead[0]].submit <= world.time:
                world.waiting.append(ahead.pop(0))
                self.reason[world.waiting[-1]] = "priority"
            begun = self.decide(bool(ahead))
            for j in begun:
                if jobs[j].real_power != world.asked(j):
                    self.stale = True
                world.seen[j] = jobs[j].real_power

    def ordered(self) -> list[int]:
        """The waiting jobs, first to last."""
        jobs, now = self.instance.jobs, self.world.time
        if self.policy != "prb":
            return list(self.world.waiting)
        total = {
            r: sum(node.capacity.get(r, 0.0) for node in self.instance.nodes)
            for r in self.instance.resources
        }

        def key(j: int) -> tuple[float, float, int]:
            job = jobs[j]
            demand = sum(
                sum(unit.get(r, 0.0) for unit in job.units) / total[r] for r in total if total[r]
            )
            return (-(now - job.submit + 1) / job.expected_wait, round(job.duration * demand, 9), j)

        return sorted(self.world.waiting, key=key)

    def begin(self, j: int, nodes: list[str]) -> None:
        self.world.waiting.remove(j)
        self.world.running[j] = self.hosts[j] = nodes
        self.world.start[j] = self.world.time

    def decide(self, more_ahead: bool) -> list[int]:
        world, begun = self.world, []
        order = self.ordered()
        head: int | None = None
        for place_in_line, j in enumerate(order):
            if place_in_line >= self.depth:
                for other in order[place_in_line:]:
                    self.reason[other] = "priority"
                break
            nodes, why = None, "power"
            if world.asked(j) > world.power_left(set()) + TOLERANCE:
                pass
            elif head is not None and self.takes_power(j):
                why = "priority"
            else:
                why = "resource"
                nodes = place(self.instance, j, world.free(set()))
                kept = self.kept
                if nodes is None and kept is not None and kept.job == j:
                    now = world.free(set())
                    nodes = kept.nodes if fits_on(self.instance, j, kept.nodes, now) else None
                if nodes is None and self.policy != "prb" and not world.running:
                    nodes = self.packed(j)
            if nodes is not None and head is not None and self.delays(j, nodes):
                nodes, why = None, "priority"
            if nodes is not None:
                self.begin(j, nodes)
                begun.append(j)
                continue
            self.reason[j] = why
            if self.policy == "fcfs":
                break
            if self.policy == "easy" and head is None:
                head = j
                self.reserve(j)
        if self.policy == "prb" and not world.running and not more_ahead and world.waiting:
            begun.append(order[0])
            self.begin(order[0], self.packed(order[0]))
            return begun + self.decide(more_ahead)
        return begun

    def packed(self, j: int) -> list[str]:
        found = pack_job(self.instance, j)
        assert found is not None
        return [self.instance.nodes[n].name for n in found]

    def gone_by(self, time: int) -> set[int]:
        return {j for j in self.world.running if self.world.planned_end(j) <= time}

    def reserve(self, head: int) -> None:
        """The earliest planned end at which the head fits; an older promise if none is earlier."""
        world, kept = self.world, self.kept
        if kept is not None and kept.job != head:
            kept, self.stale = None, True
        if kept is not None and not self.stale and kept.time > world.time:
            return
        self.kept, self.stale = None, False
        for time in sorted({world.planned_end(j) for j in world.running}):
            if kept is not None and kept.time < time:
                gone = self.gone_by(kept.time)
                power = world.asked(head) <= world.power_left(gone) + TOLERANCE
                if power and fits_on(self.instance, head, kept.nodes, world.free(gone)):
                    self.kept = kept
                    break
                kept = None
            gone = self.gone_by(time)
            if world.asked(head) > world.power_left(gone) + TOLERANCE:
                continue
            nodes = place(self.instance, head, world.free(gone))
            if nodes is None and len(gone) == len(world.running):
                nodes = self.packed(head)
            if nodes is not None:
                self.kept = Reservation(head, time, nodes)
                break
        assert self.kept is not None
        self.promised[head] = min(self.promised.get(head, 2**62), self.kept.time)

    def outlasts(self, j: int) -> bool:
        """Whether job j, from now on, runs when the head is to start."""
        assert self.kept is not None
        return self.world.time + self.instance.jobs[j].duration > self.kept.time

    def takes_power(self, j: int) -> bool:
        """Whether job j, from now on, takes power that is kept for the head."""
        world, kept = self.world, self.kept
        assert kept is not None
        asked = world.asked(kept.job) + world.asked(j)
        left = world.power_left(self.gone_by(kept.time))
        return self.outlasts(j) and asked > left + TOLERANCE

    def delays(self, j: int, nodes: list[str]) -> bool:
        """Whether job j, there from now on, is in the way of the reservation."""
        kept = self.kept
        assert kept is not None
        if not self.outlasts(j):
            return False
        free = self.world.free(self.gone_by(kept.time))
        take(self.instance, kept.job, kept.nodes, free)
        return self.takes_power(j) or not fits_on(self.instance, j, nodes, free)
