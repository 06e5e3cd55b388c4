"""A cluster as read from files, and a simulation: its pending pods, one after another, while the cluster
fills up."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import compress, count
from operator import is_not
from typing import TYPE_CHECKING, Literal

from attrs import Factory, define, evolve, field, frozen

from ..api.controlplane import with_new_volumes
from ..api.garbage import no_garbage_collection
from ..api.load import NO_KIND, TABLE_HINT, ByKey, Inventory, Loaded, Originals, load, take_in
from ..api.meaning import NEWEST_SERVER, ServerRules
from ..api.objects import (
    DEFAULT_SCHEDULER,
    ON_A_NODE,
    JsonObject,
    KubeObject,
    Node,
    Pod,
    of_kind,
    why_not_waiting,
)
from ..api.reading import Notice, PathLike, Paths, each_path, grouped
from ..core.cluster.cache import Cache
from ..core.decision import Decision, reasons_in
from ..core.engine import Engine
from ..core.run import EventFeed, Run
from ..exceptions import ManifestError
from .evictions import Replacements, give_back, new_claims, with_claims

if TYPE_CHECKING:
    from .edits import Edited, Edits


# --- a cluster as read from files ---------------------------------------------------------------------------


GONE = "its node is not in the input"
CLUSTER = "cluster"
"""The name of a cluster without known files, in messages."""


@frozen(repr=False)
class Scenario:
    """A cluster and its pending pods, both in the order in which they were given."""

    objects: tuple[KubeObject, ...]
    """Nodes, pods with a node, and everything else that the scheduler reads."""
    pending: tuple[Pod, ...]
    ignored: Mapping[str, int] = Factory(dict)
    """Reason -> how many objects are ignored for it."""
    warnings: tuple[Notice, ...] = ()
    config_maps: Mapping[tuple[str, str], JsonObject] = Factory(dict)
    """Manifests of ConfigMaps, by namespace and name."""
    set_aside: tuple[Pod, ...] = ()
    """The pods that are ignored."""
    refused_pods: tuple[tuple[Pod, str], ...] = ()
    """The pods that the API server would refuse, and why."""
    edited: tuple[Edited, ...] = ()
    """The effect of each edit, in order; edits of pods come last."""
    daemon_sets: tuple[JsonObject, ...] = ()
    """Manifests of DaemonSets, which would make pods for more nodes."""
    jobs: tuple[JsonObject, ...] = ()
    """Manifests of Jobs, which end after some failures."""
    originals: Originals = field(factory=dict, eq=False)

    @property
    def nodes(self) -> list[Node]:
        """The nodes."""
        return of_kind(Node, self.objects)

    @property
    def node_count(self) -> int:
        """The number of nodes."""
        return len(self.nodes)


@frozen(repr=False)
class Files:
    """The contents of files, before a scheduler is chosen."""

    loaded: Loaded
    defaults: bool = True
    edits: Edits | None = None
    """All edits; :meth:`scenario` still has to make those of pods."""
    edited: tuple[Edited, ...] = ()
    """The effects of the other edits."""
    where: str = CLUSTER
    """The files, for messages."""

    @classmethod
    def read(
        cls,
        paths: Paths,
        pods: Iterable[PathLike] = (),
        *,
        defaults: bool = True,
        strict_fields: bool = False,
        keeps_manifests: bool = False,
        edits: Iterable[str] = (),
    ) -> Files:
        """Read *paths*, then the pending *pods*, and make *edits*, such as ``pod web/* requests.cpu=500m``.

        With *defaults* objects are completed as the API server would; *strict_fields* refuses unknown fields;
        *keeps_manifests*: for extenders.

        Raises :class:`~kubeclassic.exceptions.ManifestError`, and :class:`~.edits.EditError` for edits.
        """
        parsed = parsed_edits(edits, defaults)
        where = named(paths)
        loaded_files = load(
            [*each_path(paths), *pods],
            defaults=defaults,
            strict_fields=strict_fields,
            keeps_manifests=keeps_manifests,
        )
        if parsed is None:
            return cls(loaded_files, defaults, where=where)
        (loaded,), edited = parsed.of_loaded([loaded_files])
        return cls(loaded, defaults, parsed, tuple(edited), where)

    @property
    def nodes(self) -> list[Node]:
        """The nodes."""
        return self.loaded.of(Node)

    def scenario(
        self,
        scheduler_name: str | Collection[str] = DEFAULT_SCHEDULER,
        *,
        cron_jobs: bool = False,
        server: ServerRules = NEWEST_SERVER,
    ) -> Scenario:
        """The scenario for schedulers of these names; *server*: how objects are admitted.

        Workloads count as the pods that their controllers would still create, CronJobs only with *cron_jobs*.
        Pods that have finished, are being deleted or ask for another scheduler are not pending. Raises
        :class:`~kubeclassic.exceptions.ManifestError` without nodes.
        """
        names = frozenset([scheduler_name] if isinstance(scheduler_name, str) else scheduler_name)
        inventory = take_in(
            [self.loaded], defaults=self.defaults, cron_jobs=cron_jobs, server=server, whole=True
        )
        if self.edits is None:
            return sorted_out(inventory, names, self.where)
        objects, edited = self.edits.of_pods(
            inventory.objects, server=server, originals=inventory.originals, jobs=inventory.jobs
        )
        all_edited = (*self.edited, *edited)
        warnings = (*inventory.warnings, *idle_notices(all_edited))
        return evolve(
            sorted_out(evolve(inventory, objects=objects, warnings=warnings), names, self.where),
            edited=all_edited,
        )


def idle_notices(edited: Iterable[Edited]) -> Iterator[Notice]:
    """A warning for each edit that changed nothing."""
    return (Notice("", str(edit)) for edit in edited if not edit.changed)


def parsed_edits(texts: Iterable[str], defaults: bool) -> Edits | None:
    """The edits in *texts*; None for none, so that most runs need not import the module of edits."""
    edit_texts = tuple(texts)
    if not edit_texts:
        return None
    from .edits import Edits

    return Edits.parse(edit_texts, defaults=defaults)


def named(paths: Paths) -> str:
    """The files that were given, as messages name them."""
    files = each_path(paths)
    return ", ".join(
        "standard input" if os.fspath(path) == "-" else os.fspath(path) for path in files[:3]
    ) + ", ..." * (len(files) > 3)


UNPLACED = "its class binds at once and names no place, so its new volume counts as reachable from every node"


def sorted_out(inventory: Inventory, scheduler_names: Collection[str], where: str = CLUSTER) -> Scenario:
    """The scenario of *inventory*: the objects that exist, and the pods that are pending for one of
    *scheduler_names*. *where*: its files, for the error that there is no node."""
    nodes = {item.name for item in of_kind(Node, inventory.objects)}
    if not nodes:
        hint = "".join(
            f" ({group})"
            for group in grouped(inventory.warnings)
            if group.notices[0].what in (NO_KIND, TABLE_HINT)
        )
        raise ManifestError(f"{where or CLUSTER}: expected at least one Node, got none{hint}")
    objects, unplaced = with_new_volumes(inventory.objects)
    existing = []
    pending = []
    set_aside = []
    ignored = Counter(inventory.ignored)
    warnings = list(inventory.warnings)
    for item in objects:
        reason = why_not_waiting(item, scheduler_names) if isinstance(item, Pod) else ON_A_NODE
        if reason == ON_A_NODE:
            existing.append(item)
        elif reason is not None:
            ignored[reason] += 1
            set_aside += [item] if isinstance(item, Pod) else []
        elif isinstance(item, Pod):
            pending.append(item)
    warnings += gone_notices(of_kind(Pod, existing), nodes)
    warnings += (Notice(f"PersistentVolumeClaim {key}", UNPLACED) for key in unplaced)
    return Scenario(
        tuple(existing),
        tuple(pending),
        dict(ignored),
        tuple(warnings),
        inventory.config_maps,
        tuple(set_aside),
        inventory.refused_pods,
        daemon_sets=inventory.daemon_sets,
        jobs=inventory.jobs,
        originals=inventory.originals,
    )


def gone_notices(pods: Iterable[Pod], nodes: Collection[str]) -> list[Notice]:
    """A warning for each of *pods* that is on none of *nodes*."""
    return [
        Notice(f"Pod {pod.key} on {pod.node_name}", GONE, about=f"Pod {pod.key}")
        for pod in pods
        if pod.node_name not in nodes
    ]


ORDERS = ("input", "priority", "queue")
"""``input``: as they came; ``priority``: the higher one first, equal ones as they came; ``queue``: as the
scheduler pops them.

Where the release queues without priorities, as some do without gate PodPriority, ``priority`` is ``input``.
"""

MOMENT = 1000
"""Nanoseconds between the arrivals of two pods: enough to tell them apart, too few for a back-off to end."""


def in_order(pods: Sequence[Pod], order: str, engine: Engine) -> list[Pod]:
    """*pods* in one of :data:`ORDERS`, as if all had come, one after another, before the first is tried.

    Pods that the queue of *engine* gates come last.
    """
    if order == "priority":
        if engine.queues_by_priority:
            return sorted(pods, key=lambda pod: -pod.priority)
        return list(pods)
    if order != "queue":
        return list(pods)
    from ..core.queue.backoff import Clock

    clock = Clock()
    ordered = []
    queue = engine.flow.queue(clock, apart=True)
    for pod in pods:
        queue.add(pod)
        clock.now += MOMENT
    while (item := queue.pop()) is not None:
        ordered.append(item.pod)
    return [*ordered, *queue.pods()]


# --- differences of two clusters ----------------------------------------------------------------------------


Event = tuple[str, KubeObject]
"""``put``, ``replace`` or ``delete``, and the object."""


def differing(before: Sequence[KubeObject], now: Sequence[KubeObject]) -> tuple[ByKey, ByKey]:
    """The objects only in *before*, and those only in *now*."""
    if before is now:
        return {}, {}
    # Without the objects that both begin with, and those that both end with.
    most = min(len(before), len(now))
    start = next(compress(count(), map(is_not, before, now)), most)
    end = min(next(compress(count(), map(is_not, reversed(before), reversed(now))), most), most - start)
    before = before[start : len(before) - end]
    now = now[start : len(now) - end]
    now_ids = set(map(id, now))
    before_ids = set(map(id, before))
    removed = {item.identity: item for item in before if id(item) not in now_ids}
    added = {item.identity: item for item in now if id(item) not in before_ids}
    for key in [key for key, item in added.items() if removed.get(key) == item]:
        del removed[key], added[key]
    return removed, added


def is_handed_on(item: KubeObject) -> bool:
    """Whether a scheduler hands *item* on to the next one: nodes, and pods that are on one."""
    return isinstance(item, Node) or (isinstance(item, Pod) and bool(item.node_name))


def pods_of_nodes(names: Collection[str], objects: Iterable[KubeObject]) -> Iterator[Pod]:
    """The pods of *objects* on the nodes of these *names*, in order."""
    return (item for item in of_kind(Pod, objects) if item.node_name in names)


def events_between(
    before: Sequence[KubeObject], now: Sequence[KubeObject], cache: Cache
) -> list[Event] | None:
    """Events after which a scheduler knows nodes and pods as if it had been told of *now* alone; *cache*
    knows *before*.

    None where no events lead there. If the list of a node's pods changes, all are deleted and put again in
    order.
    """
    removed, added = differing(before, now)
    nodes = of_kind(Node, added.values())
    new = [node for node in nodes if node.identity not in removed]
    if any(isinstance(item, Node) and key not in added for key, item in removed.items()):
        return None
    if new and (of_kind(Node, now)[-len(new) :] != new or any(node.name in cache.infos for node in new)):
        return None
    replaced = [node for node in nodes if node.identity in removed]
    for node in replaced:
        # It must have the zone and the images of the old one: otherwise the order of nodes, or of counts of
        # images, would be another.
        old = removed[node.identity]
        assert isinstance(old, Node)
        if (
            cache.zone_key(node.labels) != cache.zone_key(old.labels)
            or node.status.images != old.status.images
        ):
            return None
    events: list[Event] = [*(("put", node) for node in new), *(("replace", node) for node in replaced)]
    if mixed := {item.node_name for item in of_kind(Pod, (*removed.values(), *added.values()))}:
        events += [
            *(("delete", pod) for pod in pods_of_nodes(mixed, before)),
            *(("put", pod) for pod in pods_of_nodes(mixed, now)),
        ]
    return events


def tell(feed: EventFeed, events: Iterable[Event]) -> None:
    """Let *feed* deliver the events."""
    for verb, item in events:
        if verb == "delete":
            feed.delete(item)
        elif verb == "put":
            feed.put(item)
        elif isinstance(item, Node):
            feed.engine.replace_node(item)


# --- simulations --------------------------------------------------------------------------------------------


WAITS = 'one or more plugins asked to wait and no plugin rejected pod "{}"'
"""Upstream's words for a pod that waits on Permit."""
OutcomeWord = Literal["placed", "unschedulable", "evicted", "gated", "waiting"]


@define(eq=False, repr=False)
class Eviction:
    """A pod that had to leave a node, to make room for another."""

    pod: Pod
    by: str
    """The pod that takes its place."""
    node: str
    """The node that it left."""
    replacement: str | None = None
    """The pod that its owner made in its place, if evicted pods are rescheduled."""


@frozen(repr=False)
class Outcome:
    """The end of a pod: a host, or why it has none."""

    pod: Pod
    host: str | None = None
    error: str | None = None
    reasons: Mapping[str, int] = Factory(dict)
    """Why it fits on no node, as the decision has it: reason -> nodes, that of most nodes first."""
    is_gated: bool = False
    """Whether it was not tried, as a PreEnqueue plugin holds it back."""
    is_waiting: bool = False
    """Whether it has a host, but Permit plugins still make it wait."""
    tries: int = 1
    victims: tuple[str, ...] = ()
    """The pods that had to leave for it, whether or not it has their place now."""
    eviction: Eviction | None = None
    """The eviction from the node that it had found."""
    replaces: str | None = None
    """The evicted pod that it replaces."""

    @property
    def has_successor(self) -> bool:
        """Whether it was evicted and another pod was made in its place."""
        return self.eviction is not None and self.eviction.replacement is not None

    @property
    def word(self) -> OutcomeWord:
        """``placed``, ``evicted`` after it was placed, ``waiting``: has a host that Permit plugins have not
        allowed yet, ``gated``: held back and not tried, or ``unschedulable``."""
        if self.eviction is not None:
            return "evicted"
        if self.is_waiting:
            return "waiting"
        return "placed" if self.host is not None else "gated" if self.is_gated else "unschedulable"


@define(eq=False, repr=False)
class Simulation:
    """The pods of *scenario*, tried in *order* by *engine*, which must be new.

    >>> from kubeclassic.algorithmprovider import RELEASES, resolve
    >>> from kubeclassic.api.objects import Node, ObjectMeta
    >>> from kubeclassic.core.classic import classic_engine
    >>> scenario = Scenario(objects=(Node(metadata=ObjectMeta(name="a")),), pending=(Pod(metadata=ObjectMeta(name="web")),))
    >>> simulation = Simulation(scenario, classic_engine(resolve(RELEASES["1.15"])))
    >>> [decision.error for decision in simulation.decisions()]
    ['0/1 nodes are available: 1 Insufficient pods.']
    """

    scenario: Scenario
    engine: Engine
    order: str = "input"
    details: bool = False
    """Whether decisions keep feasible nodes, reasons and scores."""
    replacements: Replacements | None = None
    """Makes the pods that owners put in place of evicted ones; None: evicted pods do not come back."""
    outcomes: dict[str, Outcome] = Factory(dict)
    """Pod -> its outcome, for the pods tried so far."""
    evictions: list[Eviction] = Factory(list)
    """The evictions, in order."""
    taken_back: list[Pod] = Factory(list)
    """Pods that waited on Permit and were rejected, in order."""
    cycles: int = 0
    on_begin: Callable[[], None] | None = None
    """Called when the scheduler knows the cluster, before the first cycle."""
    _origins: dict[str, str] = Factory(dict)
    """Replacement -> the evicted pod."""
    _run: Run | None = None
    _seen: int = 0
    """The number of evictions whose replacements were made."""

    def decisions(self) -> Iterator[Decision]:
        """Each cycle's decision, in order; pods that preempted others are tried again after the others, then
        replacements.

        Pods that have had their turn already are left out.
        """
        run = self._run or self.begin()
        if self.on_begin is not None:
            self.on_begin()
        pods: Sequence[Pod] = [pod for pod in self.pods() if pod.key not in self.outcomes]
        while pods:
            for pod in pods:
                yield self.note(run.cycle(pod))
            for pod in run.retries():
                yield self.note(run.cycle(pod, retry=True))
            pods = self._replace(run)

    def finish(self) -> Mapping[str, Outcome]:
        """Take all decisions that are left. Returns the outcome of each pod."""
        for _ in self.decisions():
            pass
        return self.outcomes

    def begin(self) -> Run:
        """Tell the scheduler the part of the cluster that it does not know yet."""
        run = self._run = Run(self.engine, self.details)
        known_objects = self.engine.told
        objects = self.scenario.objects
        with no_garbage_collection():
            if known_objects is not None:
                events = events_between(known_objects, objects, self.engine.cache)
                assert events is not None
                tell(run.feed, events)
            for item in (*(objects if known_objects is None else ()), *self.scenario.pending):
                run.put(item)
        return run

    def pods(self) -> list[Pod]:
        """The pending pods in the order in which they are tried."""
        return in_order(self.scenario.pending, self.order, self.engine)

    def note(self, decision: Decision) -> Decision:
        """Record the outcome of *decision*, and its victims."""
        outcomes = self.outcomes
        self.cycles += not decision.is_gated
        pod = decision.pod
        plan = decision.preemption
        run = self._run
        assert run is not None
        key = pod.key
        before = outcomes.get(key)
        victims = before.victims if before else ()
        if plan is not None and plan.node is not None:
            victims += tuple(victim.key for victim in plan.victims)
            for victim in plan.victims:
                if victim.key not in run.evicted:
                    continue
                eviction = Eviction(victim, key, plan.node)
                self.evictions.append(eviction)
                give_back(victim, run)
                if (victim_outcome := outcomes.get(victim.key)) is not None:
                    error = f"evicted to make room for {key}"
                    outcomes[victim.key] = evolve(
                        victim_outcome, pod=victim, host=None, error=error, eviction=eviction
                    )
        # Made anew, as each pod has one: copying the one before would take twice the time.
        outcomes[key] = Outcome(
            pod=pod,
            host=decision.host,
            error=WAITS.format(pod.name) if decision.is_waiting else decision.error,
            reasons=decision.reasons if decision.host is None else {},
            is_gated=decision.is_gated,
            is_waiting=decision.is_waiting,
            tries=(before.tries if before else 0) + (not decision.is_gated),
            victims=victims,
            eviction=before.eviction if before else None,
            replaces=before.replaces if before else self._origins.get(key),
        )
        for ended, failure in run.take_ended() if run.may_hold else ():
            # Plugins allowed a waiting pod, or rejected it.
            waited = outcomes[ended.pod.key]
            if failure is None:
                after = evolve(waited, is_waiting=False, error=None)
            else:
                text = waited.error if waited.eviction else failure.text
                after = evolve(
                    waited, is_waiting=False, host=None, error=text, reasons=reasons_in(failure.text)
                )
                self.taken_back.append(ended.pod)
            outcomes[ended.pod.key] = after
        return decision

    def _replace(self, run: Run) -> Sequence[Pod]:
        """The replacements of the pods evicted since the last call, in the order in which they are tried."""
        if self.replacements is None:
            return ()
        new = self.evictions[self._seen :]
        self._seen = len(self.evictions)
        new_pods = []
        for eviction in new:
            pod = self.replacements.of(eviction.pod)
            if pod is None:
                continue
            eviction.replacement = pod.key
            self._origins[pod.key] = eviction.pod.key
            self.outcomes.pop(pod.key, None)  # a StatefulSet's new pod has the name of the old one
            pod, claims = with_claims(pod, self.engine) if pod.spec.resource_claims else (pod, [])
            new_pods.append(pod)
            for item in (*claims, *new_claims([pod], self.engine)[0], pod):
                run.put(item)
        return in_order(new_pods, self.order, self.engine)

    @property
    def evicted(self) -> dict[str, str]:
        """Pods that had to leave -> the pod that took their place."""
        return {eviction.pod.key: eviction.by for eviction in self.evictions}

    @property
    def all_placed(self) -> bool:
        """Whether each pod that was tried, or its replacement, has a host without waiting on Permit."""
        return all(outcome.word == "placed" or outcome.has_successor for outcome in self.outcomes.values())
