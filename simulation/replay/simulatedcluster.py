"""The cluster of a replay: the scheduler, its queue, the API objects that it watches, and a clock."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import TypeVar

import attrs
from msgspec.structs import replace

from ...api.objects import KubeObject, Node, Pod
from ...core.bindingcycle import BindingCycle
from ...core.cluster.listings import Listings
from ...core.engine import Engine
from ...core.queue.backoff import Clock
from ...core.queue.protocol import SchedulingQueue
from ...core.router import EventRouter
from .agenda import Agenda
from .inputs.times import as_timestamp
from .journal import ReplayJournal
from .ledger import Fragmentation, Ledger
from .settings import Delays
from .tally import ReplayCounts

K = TypeVar("K", bound=KubeObject)


@attrs.define(eq=False, repr=False)
class SimulatedCluster:
    """Everything that changes as virtual time passes. ``changes`` counts what may let a pod fit that did not fit before."""

    engine: Engine
    resources: Sequence[str]
    delays: Delays
    seed: int
    origin: float
    """The clock's 0 in seconds since 1970."""
    scheduler_name: str
    """Pods that ask for this scheduler are scheduled; profiles have names of their own."""
    clock: Clock = attrs.field(init=False)
    changes: int = 0
    passing_changes: int = 0
    """Those among ``changes`` that only made or ended the reservation of a pod that waits on Permit."""
    agenda: Agenda = attrs.field(factory=Agenda)
    tally: ReplayCounts = attrs.field(factory=ReplayCounts)
    queue: SchedulingQueue = attrs.field(init=False)
    router: EventRouter = attrs.field(init=False)
    binding: BindingCycle = attrs.field(init=False)
    journal: ReplayJournal = attrs.field(init=False)
    ledger: Ledger = attrs.field(init=False)
    fragmentation: Fragmentation = attrs.field(init=False)
    draw: random.Random = attrs.field(init=False)
    _version: int = 0
    """The highest resourceVersion that was seen."""
    _entered: float = -1.0
    """When the last pod entered the queue."""

    def __attrs_post_init__(self) -> None:
        self.clock = Clock(origin=self.origin)
        flow = self.engine.flow
        self.queue = flow.queue(self.clock)
        self.router, self.binding = flow.router(self.queue, self.scheduler_name), flow.binding
        self.journal = ReplayJournal(self.clock)
        self.ledger = Ledger(self.resources)
        self.draw = random.Random(self.seed)
        self.fragmentation = Fragmentation(self.ledger, random.Random(self.seed))

    @property
    def now(self) -> float:
        return self.clock.now

    @property
    def timestamp(self) -> str:
        """The time as the API writes it."""
        return as_timestamp(int(self.origin + self.clock.now))

    @property
    def lasting_changes(self) -> int:
        """The changes that are more than a reservation made or ended."""
        return self.changes - self.passing_changes

    def after(self, seconds: float) -> float:
        """The time *seconds* from now."""
        return self.clock.now + seconds

    # --- objects ----------------------------------------------------------------------------------------------------

    def put(self, item: KubeObject) -> None:
        """An object appears or changes."""
        self.changes += 1
        if item.metadata.resource_version.isdecimal():
            self._version = max(self._version, int(item.metadata.resource_version))
        if isinstance(item, Node):
            self.ledger.put_node(item)
        self.router.put(item)

    def enter(self, pod: Pod) -> None:
        """A new pod appears; its creation time is now if it has none.

        Pods that come at the same time enter the queue at slightly different times, as with real clocks.
        """
        now = self.clock.now
        if pod.metadata.creation_timestamp is None:
            pod = pod.created_at(self.timestamp)
        self._entered = now if self._entered < now else math.nextafter(self._entered, math.inf)
        self.clock.now = self._entered
        self.put(pod)
        self.clock.now = now

    def delete(self, item: KubeObject) -> None:
        """An object is deleted."""
        self.changes += 1
        if isinstance(item, Node):
            self.ledger.drop_node(item.name)
        self.router.delete(item)

    def written(self, item: K) -> K:
        """*item* as the API returns it after a change: with a new resourceVersion, if it had one."""
        if not item.metadata.resource_version.isdecimal():
            return item
        self._version += 1
        return replace(item, metadata=replace(item.metadata, resource_version=str(self._version)))

    @property
    def listings(self) -> Listings:
        """The objects that are neither nodes nor pods."""
        return self.engine.listings

    def node(self, name: str) -> Node | None:
        """The node called *name*, or None."""
        return self.engine.node(name)

    def is_gated(self, key: str) -> bool:
        """Whether a PreEnqueue plugin keeps a pod out of the queue."""
        pod = self.pod(key)
        return pod is not None and self.queue.is_gated(pod)

    def pod(self, key: str) -> Pod | None:
        """The pod called ``namespace/name`` as the API has it, None for one that is gone."""
        return self.router.pods.get(key)
