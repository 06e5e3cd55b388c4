"""What goes wrong between a live scheduler and its API server, by chance but repeatable; and schedulers that
are killed and start again."""

import asyncio
import random
from collections import Counter

import attrs

from kubeclassic.exceptions import KubeclassicError
from kubeclassic.live.client.api import Api
from kubeclassic.live.informers.informers import informers_of, retries_of
from kubeclassic.live.scheduler.election import Elector, LeaderLostError, LeaseLock, LeaseTimes
from kubeclassic.live.scheduler.scheduler import LiveScheduler
from kubeclassic.live.scheduler.writes import ClusterApi
from kubeclassic.simulation.conform import engine_for
from tests.apiserver import (
    NO_FAULT,
    Answer,
    Fault,
    Load,
    StoreTransport,
    amounts,
    refused,
    requests,
    timed_out,
)

KINDS = {
    "409": refused(409, "Conflict"),
    "429": Fault(answer=Answer(429, "too many requests", {"retry-after": "1"})),
    "500": refused(500, "InternalError"),
    "503": refused(503, "ServiceUnavailable"),
    "dropped": Fault(is_dropped=True),
    "lost answer": Fault(is_lost=True),
    "slow before": Fault(delay=1.5),
    "slow after": Fault(slow=1.5),
    "timed out before": Fault(delay=30.0, is_dropped=True),
    "timed out after": Fault(slow=30.0, is_lost=True),
    "504 after": timed_out(),
    "500 of etcd after": timed_out(500, "InternalError", "etcdserver: request timed out"),
}
"""What may go wrong with a request that is no watch."""
CUTS = 10
"""So many times the share of other requests that fail is the share of watches that break."""
MOST_EVENTS = 200
"""A watch that breaks does so before it has had that many events."""


def wrongs(world, watcher):
    """What must never happen: pods bound twice, and full nodes.

    Upstream: up to 1.16 a bound pod that no informer sees for half a minute loses its place, and then a node
    may get too many.
    """
    has_expired = any("was not confirmed in time" in text for text in world.reports)
    return watcher.bound_twice if has_expired else watcher.faults


def with_room(storage, watcher):
    """The pods that wait though a node of their selector has room, or would have without the pods that they
    may preempt."""
    pods = storage.of("pods")
    waiting = {
        name: pods[namespace, short]
        for name in watcher.waiting()
        for namespace, short in [tuple(name.split("/"))]
    }
    return [name for name, pod in waiting.items() if any(_rooms(pod, storage, watcher))]


def _rooms(pod, storage, watcher):
    """For each node that *pod* selects whether it has room."""
    wanted = requests(pod)
    selector = (pod["spec"].get("nodeSelector") or {}).items()
    for (_, name), node in storage.of("nodes").items():
        if selector <= node["metadata"]["labels"].items():
            room = amounts(node["status"]["allocatable"])
            taken = _staying(watcher.loads.get(name, Load()), _priority(pod))
            yield all(wanted[each] + taken[each] <= room[each] for each in wanted)


def _staying(load, priority):
    """What those pods of a node take that a pod of *priority* may not preempt."""
    if not priority:
        return load.total
    return sum((requests(each) for each in load.pods.values() if _priority(each) >= priority), Counter())


def _priority(pod):
    return int(pod["spec"].get("priority") or 0)


@attrs.define
class Faults:
    """Decides which requests fail: a *share* of all, until :attr:`is_over`. Others take up to *latency*
    seconds."""

    seed: int
    share: float
    latency: float = 0.0
    is_over: bool = False
    counts: Counter = attrs.field(factory=Counter, init=False)
    """How often each thing went wrong."""
    unwanted: set = attrs.field(factory=set, init=False)
    """The paths that schedulers asked to delete: those of victims."""
    _random: object = attrs.field(init=False)

    def __attrs_post_init__(self):
        self._random = random.Random(self.seed)

    def __call__(self, request):
        """The fault of *request*."""
        if request.method == "DELETE":
            self.unwanted.add(request.path)
        is_watch = "watch=true" in request.query
        if not self.is_over and is_watch and self._random.random() < CUTS * self.share:
            return self._cut()
        if self.is_over or self._random.random() >= self.share:
            return Fault(delay=self._random.uniform(0, self.latency)) if self.latency else NO_FAULT
        return self._fault(self._random.choice(sorted(KINDS)), request)

    def end(self):
        """From now on nothing fails."""
        self.is_over = True

    def _cut(self):
        is_expired = self._random.random() < 0.3
        self.counts["watch expired" if is_expired else "watch cut"] += 1
        return Fault(cut_after=self._random.randrange(MOST_EVENTS), is_expired=is_expired)

    def _fault(self, kind, request):
        name = f"{kind}, binding" if request.path.endswith("/binding") else kind
        self.counts[name] += 1
        return KINDS[kind]


@attrs.define(eq=False)
class Process:
    """A scheduler that can be killed at any moment; with *elects* it is one replica of several, of which one
    leads."""

    world: object
    name: str
    elects: bool = False
    scheduler_name: str = "default-scheduler"
    config: dict = attrs.field(factory=dict)
    lives: int = 0
    elector: Elector = None
    _task: object = None

    def start(self):
        """Start it."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def kill(self):
        """End it at once, as by kill -9. A defect that had ended it before is raised."""
        if self.elector is not None:
            self.elector.leads = False  # it does not give its lease back
        self._task.cancel()
        (ended,) = await asyncio.gather(self._task, return_exceptions=True)
        if isinstance(ended, BaseException) and not isinstance(ended, asyncio.CancelledError):
            raise ended

    @property
    def leads(self):
        """Whether it schedules."""
        return self.elector is None or self.elector.leads

    async def _run(self):
        while True:
            try:
                await self._live()
            except* LeaderLostError:
                self.world.reports.append(f"{self.name}: lost its lease")

    async def _live(self):
        """One life. It is over when the lease is lost."""
        self.lives += 1
        transport = StoreTransport(self.world.store, self.world.faults)
        algorithm = engine_for(self.world.release, {}).algorithm
        release = algorithm.release
        api = ClusterApi(Api(transport, retries_of(release.client)))
        scheduler = LiveScheduler(self.world.state(api, self.config, scheduler_name=self.scheduler_name))
        informers = informers_of(
            algorithm.release, algorithm.gates, transport, scheduler.state, self.world.reports.append
        )
        self.elector = self._elector(transport) if self.elects else None
        async with asyncio.TaskGroup() as group:
            group.create_task(informers.run())
            await informers.synced()
            await (scheduler.run() if self.elector is None else self.elector.lead(scheduler.run))
            raise KubeclassicError(f"{self.name}: the scheduler ended")

    def _elector(self, transport):
        identity = f"{self.name}-{self.lives}"
        wall = asyncio.get_running_loop().time
        lock = LeaseLock(transport, "kube-system", "kube-scheduler", LeaseTimes().request)
        return Elector(lock, LeaseTimes(), identity, wall=wall, dice=random.Random(identity))
