"""The node lifecycle controller of a replay: it taints nodes that do not answer, one after another in each
zone, and evicts pods that do not tolerate taints.

Upstream: pkg/controller/nodelifecycle/node_lifecycle_controller.go and pkg/controller/tainteviction.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial

from attrs import Factory, define
from msgspec.structs import replace

from ...api.controlplane import DEFAULT_TOLERATIONS
from ...api.meaning import toleration_tolerates
from ...api.objects import Node, Pod, Taint
from ...core.queue.backoff import nanoseconds
from ...simulation.evictions import is_mirror
from .podlifecycles import ENOUGH, PodLifecycle, PodLifecycles
from .simulatedcluster import SimulatedCluster

UNREACHABLE = (
    Taint(key="node.kubernetes.io/unreachable", effect="NoSchedule"),
    Taint(key="node.kubernetes.io/unreachable", effect="NoExecute"),
)
NO_EXECUTE = UNREACHABLE[1]
NOT_READY = replace(NO_EXECUTE, key="node.kubernetes.io/not-ready")
INTERVAL = 10.0
"""Seconds between two nodes of a zone: ``--node-eviction-rate``."""
LONG_INTERVAL = 100.0
"""The same in a large zone that is disrupted: ``--secondary-node-eviction-rate``."""
LARGE_ZONE = 50
"""``--large-cluster-size-threshold``."""
DISRUPTED = 0.55
"""The share of failed nodes from which a zone is disrupted: ``--unhealthy-zone-threshold``."""

EXCLUDED = "node.kubernetes.io/exclude-disruption"
"""The label of nodes that do not count in their zone."""


@define(eq=False, repr=False)
class ZoneTaints:
    """The failed nodes of a zone that are not tainted yet, in order, and when the next one may be."""

    waiting: dict[str, None] = Factory(dict)
    interval: float = INTERVAL
    """0: no node is tainted."""
    is_partial: bool = False
    """Whether most of its nodes have failed, but not all."""
    next: int = 0

    def slow_down(self, interval: float, now: int) -> None:
        """Taint one node every *interval* seconds."""
        if interval == self.interval:
            return
        if not self.interval or self.next > now:
            self.next = now + nanoseconds(interval)
        self.interval = interval


@define(eq=False, repr=False)
class NodeLifecycle:
    """The taints of failed nodes, and evictions by taints of nodes."""

    cluster: SimulatedCluster
    pods: PodLifecycles
    goes_on: Callable[[], bool]
    """Whether anything from outside is to come."""
    _zones: dict[str, ZoneTaints] = Factory(dict)
    _stopped: bool = False
    """Whether all nodes have failed, which stops all evictions."""
    _planned: int = -1
    """The time of the next look."""
    _evictions: dict[PodLifecycle, int] = Factory(dict)
    """Pods that will be evicted -> the task that does it."""
    _evicted: defaultdict[str, Counter[str]] = Factory(lambda: defaultdict(Counter))
    """Node -> pod that came first -> how often it or its replacements were evicted by the node's taints."""

    # --- failed nodes ---------------------------------------------------------------------------------------

    def fail(self, node: Node) -> None:
        """Taint *node* when its turn comes, unless it is back by then."""
        self._zone(node).waiting[node.name] = None
        self._plan(self.cluster.now)

    def forget(self, node: Node) -> None:
        """Do not taint *node*, which is back or new."""
        self._zone(node).waiting.pop(node.name, None)
        self._count()

    def remove(self, node: Node) -> None:
        """The *node* is gone: it keeps its turn, before those that are there."""
        # Upstream: markNodeForTainting puts these at the end of the queue in each pass.
        zone = self._zone(node)
        if node.name in zone.waiting:
            zone.waiting = {node.name: None, **zone.waiting}
        self._count()

    def _count(self) -> None:
        if self.pods.failures or any(zone.waiting for zone in self._zones.values()):
            self._plan(self.cluster.now)

    def _zone(self, node: Node) -> ZoneTaints:
        return self._zones.setdefault(self.cluster.engine.release.zone_key(node.labels), ZoneTaints())

    def _plan(self, time: int) -> None:
        """Look at *time*, once everything from outside has happened."""
        if self._planned < self.cluster.now or time < self._planned:
            self._planned = time
            self.cluster.agenda.put(time, self._look)

    def _look(self) -> None:
        """Count failed nodes by zone, and taint those whose turn it is."""
        cluster = self.cluster
        now = cluster.now
        self._planned = -1
        sizes = Counter[int]()
        failed = Counter[int]()
        nodes = cluster.engine.nodes()
        for node in nodes:
            if EXCLUDED in node.labels:
                continue
            key = id(self._zone(node))
            sizes[key] += 1
            failed[key] += node.name in self.pods.failures or _is_not_ready(node)
        was_stopped, self._stopped = self._stopped, bool(sizes) and failed == sizes
        if self._stopped:
            for node in nodes if not was_stopped else ():
                self._zone(node).interval = 0.0
                if node.name in self.pods.failures:
                    self._zone(node).waiting[node.name] = None
                self._with_taints(node, [taint for taint in node.spec.taints if taint != NO_EXECUTE])
            return
        for zone in self._zones.values():
            key = id(zone)
            is_partial = 2 < failed[key] < sizes[key] and failed[key] / sizes[key] >= DISRUPTED
            if was_stopped or is_partial != zone.is_partial:
                slow = LONG_INTERVAL if sizes[key] > LARGE_ZONE else 0.0
                zone.is_partial = is_partial
                zone.slow_down(slow if is_partial else INTERVAL, now)
            while zone.waiting and zone.interval and zone.next <= now:
                name = next(iter(zone.waiting))
                del zone.waiting[name]
                zone.next = now + nanoseconds(zone.interval)
                if (found := cluster.node(name)) is not None:
                    self._with_taints(found, [*found.spec.taints, NO_EXECUTE])
            if zone.waiting and zone.interval:
                self._plan(zone.next)

    def _with_taints(self, node: Node, taints: list[Taint]) -> None:
        if (unique := tuple(dict.fromkeys(taints))) != node.spec.taints:
            changed = replace(node, spec=replace(node.spec, taints=unique))
            self.cluster.write(changed)
            self.changed(node, changed)

    # --- evictions ------------------------------------------------------------------------------------------

    def changed(self, before: Node | None, node: Node) -> None:
        """Evict pods from *node*, which is new or had other taints *before*, or keep them."""
        taints = no_execute(node)
        if taints != (() if before is None else no_execute(before)):
            self._evicted.pop(node.name, None)
            for life in [life for life in self.pods.all.values() if life.node == node.name]:
                self._judge(life, taints)

    def placed(self, life: PodLifecycle) -> None:
        """Evict a pod that is on a node, if the node has such taints."""
        node = self.cluster.node(life.node)
        if node is not None and node.spec.taints and (taints := no_execute(node)):
            self._judge(life, taints)

    def _judge(self, life: PodLifecycle, taints: tuple[Taint, ...]) -> None:
        pod = self.cluster.pod(life.key)
        task = self._evictions.get(life)
        stays = pod is None or not pod.node_name or is_mirror(pod)
        seconds = None if pod is None or stays else self._tolerated(pod, taints)
        if task is not None and not seconds:
            self.cluster.agenda.cancel(self._evictions.pop(life))
        elif task is not None or seconds is None:
            return
        # Otherwise pods that come back again and again would keep the replay going for ever.
        is_endless = not self.goes_on() or seconds == 0
        if is_endless and self._evicted[life.node][life.original.key] >= ENOUGH:
            return
        if seconds is not None:
            reason = "node failed" if NO_EXECUTE in taints else "node tainted"
            time = self.cluster.after(seconds)
            self._evictions[life] = self.cluster.agenda.put(time, partial(self._evict, life, reason))

    def _evict(self, life: PodLifecycle, reason: str) -> None:
        del self._evictions[life]
        self._evicted[life.node][life.original.key] += 1
        self.pods.evict(life, reason=reason)

    def _tolerated(self, pod: Pod, taints: tuple[Taint, ...]) -> float | None:
        """The seconds for which *pod* tolerates *taints*; None: for ever."""
        shortest = None
        for taint in taints:
            # Upstream: of several tolerations of a taint the first counts, GetMatchingTolerations in
            # pkg/apis/core/v1/helper/helpers.go.
            found = (each for each in pod.spec.tolerations if toleration_tolerates(each, taint))
            toleration = next(found, None)
            # What every pod gets is the flag of an API server, whose place the option takes.
            is_default = (
                taint in (NO_EXECUTE, NOT_READY) if toleration is None else toleration in DEFAULT_TOLERATIONS
            )
            if is_default:
                seconds: float | None = self.cluster.delays.failure
            else:
                seconds = 0.0 if toleration is None else toleration.toleration_seconds
                seconds = None if seconds is None else max(seconds, 0.0)
            if seconds is not None:
                shortest = seconds if shortest is None else min(shortest, seconds)
        return shortest


def no_execute(node: Node) -> tuple[Taint, ...]:
    """The taints of *node* that evict pods."""
    return tuple(taint for taint in node.spec.taints if taint.effect == "NoExecute")


def _is_not_ready(node: Node) -> bool:
    return any(each.type == "Ready" and each.status != "True" for each in node.status.conditions)
