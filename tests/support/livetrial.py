"""A live cluster with faults, from begin to end on virtual time: pods come and go, schedulers are killed, and what became of the pods.

The outcome is judged by what the server stored, never by what a scheduler believes.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Any

import attrs

from tests.apiserver.answers import Object
from tests.apiserver.cluster import Kubelets, User
from tests.apiserver.storage import Storage
from tests.apiserver.watcher import Load, Watcher, amounts, requests
from tests.live.scheduler.worlds import World, live
from tests.support.livefaults import Faults, Process

SIZES = (100, 200, 300, 500, 900)
"""The thousandths of a core that pods ask for."""
LOOK, QUIET_LOOKS, MOST_LOOKS = 30.0, 12, 400
"""At the end: seconds between two looks, how many of them without a change make an end, and how many there are at most."""
PAUSE_BEFORE_START = 5.0
"""Seconds between a kill and the next start."""


@attrs.frozen(kw_only=True)
class Plan:
    """What happens in a trial. Times are virtual."""

    release: str
    nodes: int
    pods: int
    seed: int = 0
    share: float = 0.05
    """Of all requests, those that fail."""
    rate: float = 20.0
    """New pods a second."""
    fill: float = 0.9
    """What all pods ask for, as a share of what all nodes have."""
    leaving: float = 0.1
    """The share of pods that are deleted again."""
    urgent: float = 0.0
    """The share of pods of high priority, which may preempt others."""
    kills: int = 3
    restarts: int = 2
    """Of the API server: all watches end, and what changed before is forgotten."""
    replicas: int = 1
    """Schedulers at once; more than one elect a leader."""


@attrs.define
class Outcome:
    """What became of the pods: ``namespace/name`` each."""

    lost: list[str]
    """Gone, though neither the user nor a preemption deleted them."""
    bound_twice: list[str]
    over_capacity: list[str]
    idle: list[str]
    """Pods without a node though one has room for them, or would have without the pods that they may preempt."""
    waiting: int
    """Pods without a node."""
    bound: int
    preempted: int
    seconds: float
    """Virtual seconds from begin to end."""
    took: float
    """Seconds of processor time."""
    faults: Counter[str]
    reports: list[str]

    @property
    def is_clean(self) -> bool:
        """Whether nothing happened that must not."""
        return not (self.lost or self.bound_twice or self.over_capacity or self.idle)


@attrs.define(eq=False)
class Trial:
    """One run of a plan."""

    plan: Plan
    world: World
    faults: Faults
    watcher: Watcher = attrs.field(init=False)
    dice: random.Random = attrs.field(init=False)
    processes: list[Process] = attrs.field(init=False)
    made: set[str] = attrs.field(factory=set)
    dropped: set[str] = attrs.field(factory=set)
    """By the user."""

    def __attrs_post_init__(self) -> None:
        self.watcher, self.dice = Watcher(self.world.store.storage), random.Random(self.plan.seed)
        count = self.plan.replicas
        self.processes = [Process(self.world, f"scheduler-{number}", elects=count > 1) for number in range(count)]

    async def run(self) -> None:
        """All of it."""
        self._add_nodes()
        kubelets = asyncio.get_running_loop().create_task(Kubelets(User(self.world.store)).run())
        for process in self.processes:
            process.start()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._come_and_go())
            group.create_task(self._kill())
            group.create_task(self._restart())
        self.faults.end()
        await self._settle()
        for process in self.processes:
            await process.kill()
        kubelets.cancel()

    def _add_nodes(self) -> None:
        total = sum(SIZES) / len(SIZES) * self.plan.pods / self.plan.fill
        cpu = max(max(SIZES), round(total / self.plan.nodes))
        for number in range(self.plan.nodes):
            self.world.add_node(f"node-{number}", cpu=f"{cpu}m", pods="250")

    # --- what happens -----------------------------------------------------------------------------------------------

    async def _come_and_go(self) -> None:
        dice, names = self.dice, []
        for number in range(self.plan.pods):
            name, is_urgent = f"pod-{number}", dice.random() < self.plan.urgent
            urgent = {"priorityClassName": "system-node-critical"} if is_urgent else {}
            self.world.add_pod(name, cpu=f"{dice.choice(SIZES)}m", **urgent)
            self.made.add(f"default/{name}")
            names.append(name)
            await asyncio.sleep(dice.expovariate(self.plan.rate))
            if dice.random() < self.plan.leaving:
                leaver = names.pop(dice.randrange(len(names)))
                self.dropped.add(f"default/{leaver}")
                self.world.drop_pod(leaver)

    async def _moments(self, count: int) -> AsyncIterator[None]:
        """Wait for each of *count* moments while pods come."""
        length = self.plan.pods / self.plan.rate
        for moment in sorted(self.dice.uniform(0, length) for _ in range(count)):
            await asyncio.sleep(max(0.0, moment - asyncio.get_running_loop().time()))
            yield

    async def _restart(self) -> None:
        async for _ in self._moments(self.plan.restarts):
            self.world.store.storage.compact()
            self.world.store.storage.restart()

    async def _kill(self) -> None:
        async for _ in self._moments(self.plan.kills):
            victim = next((process for process in self.processes if process.leads), self.processes[0])
            await victim.kill()
            await asyncio.sleep(self.dice.uniform(0, PAUSE_BEFORE_START))
            victim.start()

    async def _settle(self) -> None:
        """Wait until nothing has changed for a while, or nobody waits."""
        quiet, before = 0, -1
        for _ in range(MOST_LOOKS):
            await asyncio.sleep(LOOK)
            waiting = self.watcher.waiting()
            quiet, before = (quiet + 1 if len(waiting) == before else 0), len(waiting)
            if not waiting or quiet == QUIET_LOOKS:
                return

    # --- what became of it ------------------------------------------------------------------------------------------

    def outcome(self, took: float, seconds: float) -> Outcome:
        """The judgement."""
        storage = self.world.store.storage
        gone = self.made - {"/".join(key) for key in storage.of("pods")} - self.dropped
        victims = {path.rpartition("/")[2] for path in self.faults.unwanted}
        lost = sorted(name for name in gone if name.partition("/")[2] not in victims)
        return Outcome(
            lost=lost,
            bound_twice=self.watcher.bound_twice,
            over_capacity=self.watcher.over_capacity,
            idle=with_room(storage, self.watcher),
            waiting=len(self.watcher.waiting()),
            bound=self.watcher.bound,
            preempted=len(gone) - len(lost),
            seconds=seconds,
            took=took,
            faults=self.faults.counts,
            reports=self.world.reports,
        )


def with_room(storage: Storage, watcher: Watcher) -> list[str]:
    """The pods that wait though a node of their selector has room, or would have without the pods that they may preempt."""
    pods = storage.of("pods")
    waiting = {name: pods[namespace, short] for name in watcher.waiting() for namespace, short in [tuple(name.split("/"))]}
    return [name for name, pod in waiting.items() if any(_rooms(pod, storage, watcher))]


def _rooms(pod: Object, storage: Storage, watcher: Watcher) -> Iterator[bool]:
    """For each node that *pod* selects whether it has room."""
    wanted, selector = requests(pod), (pod["spec"].get("nodeSelector") or {}).items()
    for (_, name), node in storage.of("nodes").items():
        if selector <= node["metadata"]["labels"].items():
            room, taken = amounts(node["status"]["allocatable"]), _staying(watcher.loads.get(name, Load()), _priority(pod))
            yield all(wanted[each] + taken[each] <= room[each] for each in wanted)


def _staying(load: Load, priority: int) -> Counter[str]:
    """What those pods of a node take that a pod of *priority* may not preempt."""
    if not priority:
        return load.total
    return sum((requests(each) for each in load.pods.values() if _priority(each) >= priority), Counter())


def _priority(pod: Object) -> int:
    return int(pod["spec"].get("priority") or 0)


def tried(plan: Plan) -> Outcome:
    """The outcome of *plan*."""
    faults = Faults(plan.seed, plan.share, latency=0.005)
    found: list[tuple[Trial, float]] = []
    begun = time.process_time()

    async def play(world: World) -> None:
        trial = Trial(plan, world, faults)
        await trial.run()
        found.append((trial, asyncio.get_running_loop().time()))

    live(plan.release, play, faults)
    trial, seconds = found[0]
    return trial.outcome(time.process_time() - begun, seconds)


def shown(outcome: Outcome) -> dict[str, Any]:
    """*outcome* as JSON, with counts of what is usual and the names of what must not be."""
    bad = {name: getattr(outcome, name) for name in ("lost", "bound_twice", "over_capacity", "idle")}
    counts = {name: getattr(outcome, name) for name in ("bound", "waiting", "preempted")}
    times = {"virtual_seconds": round(outcome.seconds), "processor_seconds": round(outcome.took, 1)}
    return {**bad, **counts, **times, "faults": dict(sorted(outcome.faults.items())), "reports": len(outcome.reports)}
