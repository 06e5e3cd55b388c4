"""The cluster of a replay: the scheduler, its queue, the API objects that it watches, and a clock."""

from __future__ import annotations

import heapq
import random
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import attrs
import numpy as np
from msgspec.structs import replace

from ...api.objects import KubeObject, Node, Pod
from ...core.arrays.types import Floats
from ...core.driver import SchedulingState
from ...core.queue.backoff import SECOND, Clock, nanoseconds
from .inputs.times import as_timestamp, plain
from .journal import ReplayEvent, ReplayJournal
from .ledger import Fragmentation, Ledger


@attrs.frozen(kw_only=True, repr=False)
class Delays:
    """How long things take, in virtual seconds."""

    cycle: float = 0.0
    """From one scheduling cycle to the next: the scheduler does one thing at a time."""
    binding: float = 0.0
    """From the decision until the API has the pod on its node."""
    provisioning: float = 0.0
    """Until a volume is made."""
    startup: float = 0.0
    """From the binding until the pod runs."""
    termination: float = 0.0
    """From the deletion or eviction of a pod until it is gone."""
    failure: float = 300.0
    """From a node's failure or deletion until its pods are evicted."""


PERCENTILES = (50, 90, 95, 99)


@attrs.define(eq=False, repr=False)
class ReplayCounts:
    """Counts since the beginning, and every wait."""

    events: Counter[str] = attrs.field(factory=Counter)
    """Kind of event -> how many."""
    never_scheduled: int = 0
    """Pods that were deleted before they had a node."""
    deleted: int = 0
    attempts: int = 0
    failed_attempts: int = 0
    waits: array[float] = attrs.field(factory=lambda: array("d"))
    """Seconds from each scheduled pod's arrival to its node."""
    _areas: Floats | None = None
    """float64[2, R]: the totals of the ledger times seconds, summed up."""

    @property
    def evicted(self) -> int:
        """How often a pod had to leave its node."""
        return self.events["Evicted"] + self.events["Preempted"]

    def pass_time(self, seconds: float, ledger: Ledger) -> None:
        """The cluster stays as it is in *ledger* for that long."""
        if self._areas is None:
            self._areas = np.zeros(ledger.totals.shape)
        self._areas += ledger.totals * seconds

    def mean_use(self) -> Floats | None:
        """The share of each resource that was in use, averaged over time: float64[R]; None if no time has passed."""
        if self._areas is None:
            return None
        used, there = self._areas
        found: Floats = np.divide(used, there, out=np.zeros(len(used)), where=there > 0)
        return found

    def wait_record(self) -> dict[str, Any]:
        """Mean, percentiles and maximum of the waits in seconds; empty if no pod was scheduled."""
        if not self.waits:
            return {}
        ordered = sorted(self.waits)
        found = {"mean": float(np.frombuffer(self.waits, np.float64).mean())}
        found |= {f"p{share}": percentile(ordered, share) for share in PERCENTILES}
        return {name: plain(seconds) for name, seconds in {**found, "max": ordered[-1]}.items()}


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value below which that share of *ordered* lies, in percent, as ``np.percentile`` has it, which would import ``numpy.ma``.

    >>> percentile([1.0, 2.0, 4.0], 75)
    3.0
    """
    place = (len(ordered) - 1) * (share / 100)
    below, part = int(place), place % 1
    low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    # Counted from the nearer of the two, as numpy does it.
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)


Task = Callable[[], None]
"""Something to do."""


@attrs.define(eq=False, repr=False)
class Agenda:
    """Tasks by time, in nanoseconds; tasks of the same time come out in the order in which they were put in.

    >>> agenda = Agenda()
    >>> agenda.put(20, print), agenda.put(10, repr), agenda.put(5, str)
    (1, 2, 3)
    >>> agenda.cancel(3)
    >>> agenda.next_time, agenda.pop_due(5), agenda.pop_due(10) is repr
    (10, None, True)
    """

    _heap: list[tuple[int, int, Task]] = attrs.field(factory=list)
    _count: int = 0
    _cancelled: set[int] = attrs.field(factory=set)
    """The numbers of tasks that are in the heap still, but will not be done."""

    def __len__(self) -> int:
        """How many tasks are left."""
        return len(self._heap) - len(self._cancelled)

    @property
    def next_time(self) -> int | None:
        """When the next task is due; None if there is none."""
        while self._heap and self._heap[0][1] in self._cancelled:
            self._cancelled.remove(heapq.heappop(self._heap)[1])
        return self._heap[0][0] if self._heap else None

    def put(self, time: int, task: Task) -> int:
        """Do *task* at *time*. Returns its number."""
        self._count += 1
        heapq.heappush(self._heap, (time, self._count, task))
        return self._count

    def cancel(self, number: int) -> None:
        """Do not do the task of that number, which was not done yet."""
        self._cancelled.add(number)

    def pop_due(self, now: int) -> Task | None:
        """The next task if its time has come."""
        time = self.next_time
        return None if time is None or time > now else heapq.heappop(self._heap)[2]


K = TypeVar("K", bound=KubeObject)


@attrs.define(eq=False, repr=False)
class SimulatedCluster(SchedulingState):
    """Everything that changes as virtual time passes. ``changes`` counts what may let a pod fit that did not fit before."""

    resources: Sequence[str]
    delays: Delays
    seed: int
    origin: float
    """The clock's 0 in seconds since 1970."""
    scheduler_name: str
    """Pods that ask for this scheduler are scheduled; profiles have names of their own."""
    changes: int = 0
    passing_changes: int = 0
    """Those among ``changes`` that only made or ended the reservation of a pod that waits on Permit."""
    agenda: Agenda = attrs.field(factory=Agenda)
    tally: ReplayCounts = attrs.field(factory=ReplayCounts)
    journal: ReplayJournal = attrs.field(init=False)
    ledger: Ledger = attrs.field(init=False)
    fragmentation: Fragmentation = attrs.field(init=False)
    draw: random.Random = attrs.field(init=False)
    _version: int = 0
    """The highest resourceVersion that was seen."""
    _entered: int = -1
    """When the last pod entered the queue."""

    def __attrs_post_init__(self) -> None:
        self.begin(Clock(origin=nanoseconds(self.origin)), self.scheduler_name)
        self.journal = ReplayJournal(self.clock, self.tally.events)
        self.ledger = Ledger(self.resources)
        self.draw = random.Random(self.seed)
        self.fragmentation = Fragmentation(self.ledger, random.Random(self.seed))

    @property
    def now(self) -> int:
        """Virtual time in nanoseconds."""
        return self.clock.now

    @property
    def timestamp(self) -> str:
        """The time as the API writes it."""
        return as_timestamp((self.clock.origin + self.clock.now) // SECOND)

    @property
    def lasting_changes(self) -> int:
        """The changes that are more than a reservation made or ended."""
        return self.changes - self.passing_changes

    def after(self, seconds: float) -> int:
        """The time *seconds* from now, in nanoseconds."""
        return self.clock.now + nanoseconds(seconds)

    def later(self, seconds: float, task: Task) -> None:
        """Do *task* after *seconds*."""
        self.agenda.put(self.after(seconds), task)

    def note(self, event: ReplayEvent) -> None:
        """Log an event that happens now."""
        self.journal.note(event)

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
        self._entered = now if self._entered < now else self._entered + 1
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

    def write(self, item: KubeObject) -> None:
        """An object appears or changes, with a new resourceVersion."""
        self.put(self.written(item))

    def node(self, name: str) -> Node | None:
        """The node called *name*, or None."""
        return self.engine.node(name)

    def is_gated(self, key: str) -> bool:
        """Whether a PreEnqueue plugin keeps a pod out of the queue."""
        pod = self.pod(key)
        return pod is not None and self.queue.is_gated(pod)
