"""The cluster of a replay: the scheduler, its queue, the API objects that it watches, and a clock."""

from __future__ import annotations

import heapq
import random
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np
from attrs import Factory, define, field, frozen
from msgspec.structs import replace

from ...api.objects import KubeObject, Node, Pod
from ...api.record import plain as as_data
from ...core.arrays import Floats, Ints, Mask, grown
from ...core.driver import SchedulingState
from ...core.pods import PODS, of_node
from ...core.queue.backoff import SECOND, Clock, nanoseconds
from .journal import EventData, ReplayEnded, ReplayEvent, ReplaySummary, Sink
from .times import as_timestamp, plain

SAMPLE = 256
"""The size of the sample of pods that fragmentation is measured by."""


# --- what is in use, and how fragmented the free room is ----------------------------------------------------


@define(eq=False, repr=False)
class Ledger:
    """Sums over nodes and pods for each of *resources*, whose last one is ``pods``.

    ``allocatable``, ``used``: int64[R, N] by node, zero on free rows; ``waiting``: int64[R], the requests of
    pods without a node. cpu is in millicores, memory in bytes.
    """

    resources: Sequence[str]
    allocatable: Ints = field(init=False)
    used: Ints = field(init=False)
    waiting: Ints = field(init=False)
    totals: Ints = field(init=False)
    """int64[2, R]: the sum of ``used``, and the sum of ``allocatable``."""
    nodes: set[str] = Factory(set)
    """The nodes that exist now."""
    waiting_pods: int = 0
    columns: dict[str, int] = Factory(dict)
    """Node that exists, or did -> its column of the arrays."""
    pods: dict[str, tuple[int, Ints]] = Factory(dict)
    """Pod -> its node's column, -1 while it waits, and its requests."""
    touched: set[int] = Factory(set)
    """Columns that changed since fragmentation was last computed."""

    def __attrs_post_init__(self) -> None:
        self.allocatable, self.used = np.zeros((2, len(self.resources), 8), np.int64)
        self.waiting = np.zeros(len(self.resources), np.int64)
        self.totals = np.zeros((2, len(self.resources)), np.int64)

    def vector(self, amounts: Mapping[str, int]) -> Ints:
        """Amounts by name as int64[R]; the pod itself is one of ``pods``, and resources without a place in R
        are left out."""
        return np.array([amounts.get(name, int(name == PODS)) for name in self.resources], np.int64)

    @property
    def placed_pods(self) -> int:
        """The number of pods with a node."""
        return len(self.pods) - self.waiting_pods

    # --- nodes ----------------------------------------------------------------------------------------------

    def put_node(self, node: Node) -> None:
        """A node was added or changed."""
        self.nodes.add(node.name)
        self._set_node(node.name, of_node(node.status.allocatable))

    def drop_node(self, name: str) -> None:
        """A node is gone; its pods still exist."""
        self.nodes.discard(name)
        self._set_node(name, {})

    def _set_node(self, name: str, amounts: Mapping[str, int]) -> None:
        at = self._column(name)
        allocatable = np.array([amounts.get(resource, 0) for resource in self.resources], np.int64)
        self.totals[1] += allocatable - self.allocatable[:, at]
        self.allocatable[:, at] = allocatable

    def _column(self, name: str) -> int:
        at = self.columns.setdefault(name, len(self.columns))
        self.allocatable, self.used = grown(self.allocatable, at + 1), grown(self.used, at + 1)
        self.touched.add(at)
        return at

    # --- pods -----------------------------------------------------------------------------------------------

    def wait(self, key: str, requests: Ints) -> None:
        """A pod waits for a node."""
        self.leave(key)
        self.pods[key] = -1, requests
        self.waiting += requests
        self.waiting_pods += 1

    def place(self, key: str, node: str, requests: Ints) -> None:
        """A pod has a node."""
        self.leave(key)
        at = self._column(node)
        self.pods[key] = at, requests
        self.used[:, at] += requests
        self.totals[0] += requests

    def leave(self, key: str) -> None:
        """A pod is gone, from its node or while it waited."""
        at, requests = self.pods.pop(key, (-1, None))
        if requests is None:
            return
        if at < 0:
            self.waiting -= requests
            self.waiting_pods -= 1
        else:
            self.used[:, at] -= requests
            self.totals[0] -= requests
            self.touched.add(at)


@define(eq=False, repr=False)
class Fragmentation:
    """The share of the free room that lies on nodes where pods like those seen so far would not fit.

    It is the expected share for a pod drawn from a sample of the arrivals (as in "Beware of Fragmentation",
    USENIX ATC 2023).
    """

    ledger: Ledger
    draw: random.Random
    sample: Ints = field(init=False)
    """int64[k, R]: the requests of the pods of the sample."""
    seen_count: int = 0
    """The number of pods so far, in the sample or not."""
    _misfits: Mask = field(init=False)
    """bool[k, N]: the pod does not fit on the node."""
    _weights: Ints = Factory(lambda: np.zeros(8, np.int64))
    """int64[N]: how many pods of the sample do not fit on the node."""
    _room: Ints = field(init=False)
    """int64[R, N]: the free amounts of the node when it was last compared."""
    _total: Ints = field(init=False)
    _lost: list[int] = field(init=False)
    """By resource, the sum of the free room, and of that times the weights. Running sums, as few nodes change
    between two calls."""
    _unjudged: set[int] = Factory(set)
    """The places of the sample that changed since the last call."""

    def __attrs_post_init__(self) -> None:
        count = len(self.ledger.resources)
        self.sample = np.zeros((0, count), np.int64)
        self._misfits = np.zeros((0, 8), np.bool_)
        self._room = np.zeros((count, 8), np.int64)
        self._total = np.zeros(count, np.int64)
        self._lost = [0] * count

    def see(self, requests: Ints) -> None:
        """A pod arrived. Reservoir sampling: each pod seen so far is in the sample with the same chance."""
        self.seen_count += 1
        if len(self.sample) < SAMPLE:
            self.sample = np.concatenate([self.sample, requests[None]])
            self._misfits = np.concatenate([self._misfits, np.zeros((1, self._misfits.shape[1]), np.bool_)])
            self._unjudged.add(len(self.sample) - 1)
        elif (place := self.draw.randrange(self.seen_count)) < SAMPLE:
            self.sample[place] = requests
            self._unjudged.add(place)

    def by_resource(self) -> Floats:
        """The share for each resource: float64[R], 0 if nothing is free or no pod was seen."""
        # Compare the nodes that changed, then the pods of the sample that did, and update the sums.
        ledger = self.ledger
        count = len(self.ledger.columns)
        self._misfits, self._weights, self._room = (
            grown(amounts, count) for amounts in (self._misfits, self._weights, self._room)
        )
        if ledger.touched:
            rows = np.array(sorted(ledger.touched), np.intp)
            before = self._room[:, rows]
            room = np.maximum(ledger.allocatable[:, rows] - ledger.used[:, rows], 0)
            misfits = self._misfits[:, rows] = _misfits(self.sample, room)
            weights = misfits.sum(axis=0)
            changes = room * weights - before * self._weights[rows]
            self._lost = [
                lost + sum(change) for lost, change in zip(self._lost, changes.tolist(), strict=True)
            ]
            self._total += (room - before).sum(axis=1)
            self._room[:, rows], self._weights[rows] = room, weights
            ledger.touched.clear()
        for place in self._unjudged:
            pod_misfits = _misfits(self.sample[place, None], self._room)[0]
            self._weights += pod_misfits.astype(np.int64) - self._misfits[place]
            self._misfits[place] = pod_misfits
        if self._unjudged:
            # In two parts, as bytes of many nodes times pods can be more than an int64 holds.
            high = (self._room >> 20) @ self._weights
            low = (self._room & 0xFFFFF) @ self._weights
            self._lost = [(more << 20) + less for more, less in zip(high.tolist(), low.tolist(), strict=True)]
            self._unjudged.clear()
        return shares_of(np.array(self._lost, np.float64), self._total * max(len(self.sample), 1.0))


def shares_of(part: Floats, whole: Any) -> Floats:
    """The share of *part* in *whole*, 0 where there is none."""
    shares: Floats = np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)
    return shares


def _misfits(requests: Ints, room: Ints) -> Mask:
    """bool[k, N]: which pods with *requests* do not fit on which nodes with *room*, which is never below
    0."""
    misfits: Mask = np.any(requests[:, None] > room.T, axis=2)
    return misfits


# --- delays and counts --------------------------------------------------------------------------------------


@frozen(kw_only=True, repr=False)
class Delays:
    """The delays of a cluster, in virtual seconds."""

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
    """From a node's failure until its pods are evicted; from its deletion, at most a minute."""


PERCENTILES = (50, 90, 95, 99)


@define(eq=False, repr=False)
class ReplayCounts:
    """Counts since the beginning, and every wait."""

    events: Counter[str] = Factory(Counter)
    """Kind of event -> how many."""
    never_scheduled: int = 0
    """Pods that were deleted before they had a node."""
    deleted: int = 0
    attempts: int = 0
    failed_attempts: int = 0
    waits: array[float] = Factory(lambda: array("d"))
    """Seconds from each scheduled pod's arrival to its node."""
    _areas: Floats | None = None
    """float64[2, R]: the totals of the ledger times seconds, summed up."""

    @property
    def evicted(self) -> int:
        """The number of times that a pod had to leave its node."""
        return self.events["Evicted"] + self.events["Preempted"]

    def pass_time(self, seconds: float, ledger: Ledger) -> None:
        """Count *seconds* in which the cluster stays as it is in *ledger*."""
        if self._areas is None:
            self._areas = np.zeros(ledger.totals.shape)
        self._areas += ledger.totals * seconds

    def mean_use(self, resources: Sequence[str]) -> dict[str, float]:
        """The share of each of *resources* that was in use, averaged over time; empty if no time has
        passed."""
        if self._areas is None:
            return {}
        shares = shares_of(*self._areas).tolist()
        return {name: round(share, 6) for name, share in zip(resources, shares, strict=True)}

    def wait_record(self) -> dict[str, Any]:
        """Mean, percentiles and maximum of the waits in seconds; empty if no pod was scheduled."""
        if not self.waits:
            return {}
        ordered = sorted(self.waits)
        record = {"mean": float(np.frombuffer(self.waits, np.float64).mean())}
        record |= {f"p{share}": percentile(ordered, share) for share in PERCENTILES}
        return {name: plain(seconds) for name, seconds in {**record, "max": ordered[-1]}.items()}


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value below which *share* percent of *ordered* lie. ``np.percentile`` computes the same, but would
    import ``numpy.ma``.

    >>> percentile([1.0, 2.0, 4.0], 75)
    3.0
    """
    place = (len(ordered) - 1) * (share / 100)
    below = int(place)
    part = place % 1
    low = ordered[below]
    high = ordered[min(below + 1, len(ordered) - 1)]
    # Counted from the nearer of the two, as numpy does it.
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)


# --- tasks --------------------------------------------------------------------------------------------------

Task = Callable[[], None]
"""Something to do."""


@define(eq=False, repr=False)
class Agenda:
    """Tasks by time, in nanoseconds; tasks of the same time come out in the order in which they were put in.

    >>> agenda = Agenda()
    >>> agenda.put(20, print), agenda.put(10, repr), agenda.put(5, str)
    (1, 2, 3)
    >>> agenda.cancel(3)
    >>> agenda.next_time, agenda.pop_due(5), agenda.pop_due(10) is repr
    (10, None, True)
    """

    _heap: list[tuple[int, int]] = Factory(list)
    """Time and number of each task, also of cancelled ones."""
    _tasks: dict[int, Task] = Factory(dict)
    """The tasks that are left, by number."""
    _count: int = 0

    def __len__(self) -> int:
        """The number of tasks that are left."""
        return len(self._tasks)

    @property
    def next_time(self) -> int | None:
        """The time of the next task; None if there is none."""
        while self._heap and self._heap[0][1] not in self._tasks:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def put(self, time: int, task: Task) -> int:
        """Do *task* at *time*. Returns its number."""
        self._count += 1
        self._tasks[self._count] = task
        heapq.heappush(self._heap, (time, self._count))
        return self._count

    def cancel(self, number: int) -> None:
        """Cancel the task with this number, which was not done yet."""
        del self._tasks[number]

    def pop_due(self, now: int) -> Task | None:
        """The next task if its time has come."""
        time = self.next_time
        return None if time is None or time > now else self._tasks.pop(heapq.heappop(self._heap)[1])


# --- the cluster --------------------------------------------------------------------------------------------

K = TypeVar("K", bound=KubeObject)


@define(eq=False, repr=False)
class SimulatedCluster(SchedulingState):
    """The state that changes as virtual time passes. ``changes`` counts changes that may let a pod fit that
    did not fit before."""

    resources: Sequence[str]
    delays: Delays
    seed: int
    origin: float
    """The clock's 0 in seconds since 1970."""
    scheduler_name: str
    """Pods that ask for this scheduler are scheduled; profiles have names of their own."""
    changes: int = 0
    passing_changes: int = 0
    """The ``changes`` that only made or ended the reservation of a pod that waits on Permit."""
    agenda: Agenda = Factory(Agenda)
    tally: ReplayCounts = Factory(ReplayCounts)
    observers: list[Sink] = Factory(list)
    """Each gets every event of the log, in order of time, as plain data."""
    ledger: Ledger = field(init=False)
    fragmentation: Fragmentation = field(init=False)
    draw: random.Random = field(init=False)
    _version: int = 0
    """The highest resourceVersion that was seen."""
    _entered: int = -1
    """When the last pod entered the queue."""

    def __attrs_post_init__(self) -> None:
        self.begin(Clock(origin=nanoseconds(self.origin)), self.scheduler_name)
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
        """The number of ``changes`` other than ``passing_changes``."""
        return self.changes - self.passing_changes

    def after(self, seconds: float) -> int:
        """The time *seconds* from now, in nanoseconds."""
        return self.clock.now + nanoseconds(seconds)

    def later(self, seconds: float, task: Task) -> None:
        """Do *task* after *seconds*."""
        self.agenda.put(self.after(seconds), task)

    def note(self, event: ReplayEvent) -> None:
        """Log an event that happens now."""
        self._tell({**msgspec.to_builtins(event), "time": plain(self.clock.seconds)})

    def end(self, summary: ReplaySummary) -> None:
        """Log the last event."""
        last = ReplayEnded(plain(self.clock.seconds), "Summary", **msgspec.structs.asdict(summary))
        self._tell(as_data(last))

    def _tell(self, event: EventData) -> None:
        self.tally.events[event["event"]] += 1
        for observe in self.observers:
            observe(event)

    # --- objects --------------------------------------------------------------------------------------------

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
            pod = replace(pod, metadata=replace(pod.metadata, creation_timestamp=self.timestamp))
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
