"""Changes that might help, the disturbance of each kind, suggestions of those that help, and trials at the
pod's turn."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from itertools import chain, product
from typing import Literal, get_args

import attrs
from msgspec.structs import replace

from ...api.load import Originals
from ...api.meaning import ServerRules
from ...api.objects import Container, KubeObject, Map, Node, Pod, PodSpec, Quantity, ResourceRequirements
from ...api.reading import ResultDocument
from ...api.record import UNSET, Count, Names, Record, UnsetType
from ...api.words import amount, count_of, is_bytes, listed
from ...core.decision import Decision
from ...core.engine import Engine
from ...core.pods import CPU, Entry
from ...core.run import Run
from ...simulation.edits import LIKE, Edits, applied
from ...simulation.evictions import is_daemon
from ...simulation.explain.explain import explain
from ...simulation.explain.faileddemands import count_of_spec
from ...simulation.explain.values import FailedDemand, Lead, NodeReport, NodeShortage, RequestedResource
from ...simulation.fieldchanges import EditError
from ...simulation.input import SILENT
from ...simulation.nodekinds import HOSTNAME
from ...simulation.reasons import shortage_of

ChangeKind = Literal[
    "schedulingGates",
    "request",
    "toleration",
    "preference",
    "nodeSelector",
    "nodeAffinity",
    "spread",
    "podAffinity",
    "podAntiAffinity",
    "hostPort",
    "uncordon",
    "taint",
    "label",
    "allocatable",
    "device",
    "move",
    "otherAntiAffinity",
    "priority",
    "delete",
    "addNode",
]
DISTURBS: Mapping[ChangeKind, int] = dict(
    zip(get_args(ChangeKind), (*range(10, 25), *range(30, 34), 40), strict=True)
)
"""Kind of change -> how much it disturbs. The tens: the pod alone, a node, other pods, one more node."""
COSTLY = 5
"""The group of the suggestions that cost other pods their node, or do not last."""


@attrs.frozen
class Change:
    """Edits of the cluster that might help."""

    kind: ChangeKind
    words: str
    edits: Names
    """Edits, as ``--set`` takes them."""
    size: float = 0.0
    """The order among changes of a kind, smallest first."""
    evicts: bool = False
    """Whether it is enough that room is made, even if pods have to leave."""
    corrects: bool = False
    """Whether it corrects a name that nothing in the cluster has; such changes come before all others."""

    @property
    def is_of_template(self) -> bool:
        """Whether it changes all pods of a controller, for themselves; pods that run have to be replaced."""
        return not self.evicts and any(edit.startswith(f"pod {LIKE}") for edit in self.edits)

    @property
    def disturbs(self) -> int:
        """The disturbance that it causes; see :data:`DISTURBS`."""
        return min(DISTURBS.values()) if self.corrects else DISTURBS[self.kind]


class Effect(Record):
    """The effect of a change on all pods in the end, once each has had its turn."""

    pods: Count
    """Pods that have a turn."""
    placed: Count
    """How many of them have a node after the change."""
    placed_before: Count
    """How many have one without it."""
    without_node: Names
    """Other pods that find a node without the change, and none after it."""
    evicted: Names
    """Other pods that are evicted after the change, and not without it."""
    spared: Names = ()
    """Pods of other controllers that have a node in the end after the change, and none without it."""

    @property
    def words(self) -> str:
        """The effect in a sentence.

        >>> Effect(5, 3, 4, ("shop/b", "shop/c"), ("shop/a",), ("shop/d",)).words
        'no node for shop/b and shop/c, shop/a evicted, 1 other spared; 3 of 5 pods placed, 4 before'
        """
        harmed = [f"no node for {listed(self.without_node)}"] if self.without_node else []
        harmed += [f"{listed(self.evicted)} evicted"] if self.evicted else []
        harmed += [f"{count_of(len(self.spared), 'other')} spared"] if harmed and self.spared else []
        counts = f"{self.placed:,} of {count_of(self.pods, 'pod')} placed, {self.placed_before:,} before"
        return "; ".join(filter(None, [", ".join(harmed), counts]))


class Suggestion(Record, kw_only=True):
    """A change after which the pod has a host."""

    change: str
    """The change in words."""
    patch: Names
    """The change as edits for --set."""
    host: str
    """The node that the pod gets after it."""
    kind: ChangeKind
    disturbs: int
    """How much it disturbs. The tens: 1 the pod alone, 2 a node, 3 other pods, 4 one more node."""
    victims: Names = ()
    """The pods that have to leave."""
    verified: bool = True
    """The scheduler decided for host after the change."""
    evicted_by: str | None = None
    """The pod that preempts it later; null: it stays."""
    taken_by: str | UnsetType = UNSET
    """The earlier pod that would take the room if the change were made before anything runs; empty: not one
    pod alone."""
    placed: Count | UnsetType = UNSET
    """Of a workload: how many of its pods have a node after the change, once all have had their turn."""
    effect: Effect | UnsetType = UNSET
    """The effect on the other pods; absent where none has a turn."""

    @property
    def is_costly(self) -> bool:
        """Whether it costs more other pods their node than it spares, or does not last."""
        effect = self.effect
        if effect:
            harms = len(effect.without_node + effect.evicted) > len(effect.spared)
        else:
            harms = bool(self.victims)
        return harms or self.kind == "delete" or self.evicted_by is not None or self.taken_by is not UNSET

    @property
    def outcome(self) -> str:
        """The node that the pod gets, and the fates of the pod and of others then, in words."""
        texts = [self.host]
        if self.victims and not self.effect:  # else the effect says what becomes of all pods
            texts.append(f"; {listed(self.victims)} would have to leave")
        if self.evicted_by is not None:
            texts.append(f", until {self.evicted_by} preempts it")
        if self.taken_by is not UNSET:
            texts.append(f", but {self.taken_by or 'another pod'} would take the room first")
        if self.placed is not UNSET:
            finds = "finds" if self.placed == 1 else "find"
            texts.append(f"; then {count_of(self.placed, 'pod')} of the workload {finds} a node")
        return "".join(texts) + (f"; {self.effect.words}" if self.effect else "")

    @property
    def group(self) -> int:
        """The tens of ``disturbs``; costly suggestions come after all others."""
        return COSTLY if self.is_costly else self.disturbs // 10


REPLACING = ", and replace the pods like it that run"


@attrs.frozen
class HelpfulChange:
    """A change that was tried and helps."""

    suggestion: Suggestion
    change: Change
    is_enough: bool = True
    """Whether all pods of the workload have a node after it."""

    @classmethod
    def of(cls, change: Change, host: str, victims: Names = ()) -> HelpfulChange:
        """The suggestion that *change* makes *host* the pod's node."""
        suggestion = Suggestion(
            change=change.words,
            patch=change.edits,
            host=host,
            kind=change.kind,
            disturbs=change.disturbs,
            victims=victims,
        )
        return cls(suggestion, change)

    def with_replacements(self) -> HelpfulChange:
        """The same, where the pods of its controller that run have to be made anew, too."""
        words = f"{self.change.words.removesuffix(REPLACING)}{REPLACING}"
        return attrs.evolve(
            self,
            change=attrs.evolve(self.change, words=words),
            suggestion=replace(self.suggestion, change=words),
        )

    @property
    def rank(self) -> tuple[int, bool, int, float]:
        """The order of suggestions: by group, then those that are enough for all pods of a workload, then by
        disturbance and by size."""
        return self.suggestion.group, not self.is_enough, self.suggestion.disturbs, self.change.size


# --- the whole answer ---------------------------------------------------------------------------------------


class Obstacles(Record):
    """The obstacles between a pod and a node."""

    fits: bool
    reasons: Names
    """Why the node does not fit."""
    short: tuple[RequestedResource, ...]
    total: int | None
    """The node's weighted sum, or the one that it would have."""
    against: str | None
    """The node that the pod gets."""
    leads: tuple[Lead, ...]
    """The differences between the scores of the wanted node and of the node that the pod gets."""


class WhatIfDocument(ResultDocument, kw_only=True):
    """The smallest changes after which a pod gets a node, least disturbing first; two together where no
    single one helps.

    Resources are in millicores, bytes or pieces.
    """

    KIND = "WhatIf"
    pod: str
    """namespace/name"""
    host: str | None
    """The node that the pod gets without any change."""
    error: str | None
    """The scheduler's message for a pod without a node."""
    release: str
    """The release that decides."""
    placed_on: str | None
    """The pod's present node; the decision ignores it."""
    ignored: str | None
    """Why the pod is not scheduled at all; null if it is."""
    workload: str | None
    """The given workload, to which the pod belongs, as Deployment shop/web."""
    workload_pods: Names
    """All pods of that workload; if some are pending, without finished ones."""
    workload_waiting: Names | UnsetType = UNSET
    """Of a workload: its pods without a node after each had its turn; `pod` is the first of them."""
    waiting_nodes: Names | UnsetType = UNSET
    """The nodes that these pods are for, if a DaemonSet made them."""
    want: str | None
    """The node that the pod should get; null: any."""
    fits: bool
    """The pod gets a node, or the wanted one, without any change."""
    keeps: Obstacles | None
    """The obstacles between the pod and the wanted node."""
    missing: Names
    """Objects that the pod needs and the input lacks: claims, volumes, classes; each in a sentence."""
    causes: tuple[FailedDemand, ...]
    """Requirements of the pod that nodes do not meet, and taints; most nodes first."""
    tried: Count
    """How many decisions were tried."""
    suggestions: tuple[Suggestion, ...]


# --- trials -------------------------------------------------------------------------------------------------

# Trials of changes at the moment when the pod's turn comes. After a trial all is as it was before.


@attrs.define(eq=False, slots=False)
class WhatIfContext:
    """*run* at the turn of *pod*, which is not decided yet."""

    run: Run
    pod: Pod
    objects: tuple[KubeObject, ...]
    """All objects at this moment, the pod among them."""
    defaults: bool
    """Whether edited objects get the API server's defaults."""
    server: ServerRules
    """Whether gate PodPriority is on."""
    want: str | None
    """The node that the pod should get; None: any."""
    reports: tuple[NodeReport, ...] = ()
    """Each node's part in the decision before any change, those that do not fit with the nearest first."""
    pause: Callable[[], object] = SILENT.pause
    """Called before each decision: it may end the search."""
    originals: Originals = attrs.field(factory=dict)
    tried: int = 0

    @property
    def engine(self) -> Engine:
        """The scheduler."""
        return self.run.engine

    # --- what is there --------------------------------------------------------------------------------------

    @cached_property
    def siblings(self) -> list[Pod]:
        """The other pods of its controller, on nodes or not; a change of the pod's template changes them
        too."""
        owner = self.pod.controller
        if owner is None:
            return []
        pods = (
            item for item in self.objects if isinstance(item, Pod) and item.namespace == self.pod.namespace
        )
        return [pod for pod in pods if pod.key != self.pod.key and pod.controller == owner]

    @cached_property
    def running(self) -> frozenset[str]:
        """The pods of its controller that run: they stay as they are until they are replaced."""
        return frozenset(pod.key for pod in self.siblings if pod.node_name)

    def targets(self) -> Iterator[tuple[NodeReport, Node]]:
        """The nodes that a change could make the host: those that do not fit, the nearest first, or only the
        wanted one."""
        for report in self.reports:
            node = self.engine.node(report.name)
            if node is not None and (report.name == self.want if self.want is not None else not report.fits):
                yield report, node

    def on(self, name: str) -> list[Entry]:
        """The pods on a node."""
        table = self.engine.fresh_table()
        return list(table.pods[table.row_of[name]])

    def nodes(self) -> list[Node]:
        """All nodes."""
        return [node for name in self.engine.node_names() if (node := self.engine.node(name)) is not None]

    @property
    def pin(self) -> str | None:
        """The hostname label of the wanted node, if it selects that node alone; else None."""
        node = None if self.want is None else self.engine.node(self.want)
        value = None if node is None else node.labels.get(HOSTNAME)
        if value and sum(other_node.labels.get(HOSTNAME) == value for other_node in self.nodes()) == 1:
            return value
        return None

    # --- changes --------------------------------------------------------------------------------------------

    def of_pod(
        self, kind: ChangeKind, words: str, *fields: str, size: float = 0.0, evicts: bool = False
    ) -> Change:
        """Changes of *fields* of the pod, and of all pods of its controller: they have one template."""
        name = f"{LIKE if self.siblings else ''}{self.pod.key}"
        return Change(kind, words, (" ".join(["pod", name, *map(_word, fields)]),), size=size, evicts=evicts)

    # --- trials ---------------------------------------------------------------------------------------------

    @contextmanager
    def after(self, *edits: str, but: Collection[str] = ()) -> Iterator[WhatIfContext]:
        """A context after *edits* of the cluster, *but* some pods. Raises :class:`EditError` if one does
        nothing."""
        parsed = Edits.parse(edits, defaults=self.defaults)
        known = dict(self.originals)  # it grows by the edited pods
        pairs, edits_made = parsed.pairs(self.objects, server=self.server, originals=known)
        for edited in edits_made:
            if not edited.changed:
                raise EditError(str(edited))
        if but:
            pairs = [(old, new) for old, new in pairs if not (isinstance(old, Pod) and old.key in but)]
        objects = applied(self.objects, pairs) if pairs else self.objects
        pod = next((item for item in objects if isinstance(item, Pod) and item.key == self.pod.key), self.pod)
        with self.run.edited(pairs):
            yield attrs.evolve(self, pod=pod, objects=objects, tried=0)

    def ask(self, pod: Pod | None = None, *, makes_room: bool = False) -> Decision:
        """The decision on *pod* now, by default on the pod of the context; *makes_room*: with the victims."""
        self.pause()
        target = self.pod if pod is None else pod
        self.tried += 1
        with self.engine.preserving_state(target):
            return self.engine.schedule(target, details=False, only_host=not makes_room)

    def helpful(self, change: Change) -> HelpfulChange | None:
        """The suggestion of *change*, if it helps; if another node than the wanted one wins, the pod is
        pinned to the wanted one as well."""
        try:
            for pins in (False, True):
                if pins:
                    if self.pin is None or any(
                        report.fits for report in self.reports if report.name == self.want
                    ):
                        return None  # or a pin alone would do
                    pin = self.of_pod(change.kind, "", f"nodeSelector.{HOSTNAME}={self.pin}")
                    words = f"{change.words}, and select {self.want} by its hostname"
                    change = attrs.evolve(change, edits=(*change.edits, *pin.edits), words=words)
                with self.after(*change.edits) as after:
                    decision = after.ask(makes_room=change.evicts)
                    helpful = after.outcome(change, decision)
                self.tried += after.tried
                if helpful is not None and self.needs_replacements(change):
                    return helpful.with_replacements()
                if helpful is not None or decision.host is None:
                    return helpful
        except EditError:
            pass
        return None

    def needs_replacements(self, change: Change) -> bool:
        """Whether *change* helps only if the pods of its controller that run are made anew, too: a rollout
        waits for the new pod before it removes one of them."""
        if not self.running or not change.is_of_template:
            return False
        with self.after(*change.edits, but=self.running) as after:
            host = after.ask().host
        self.tried += after.tried
        return host is None or self.want not in (None, host)

    def outcome(self, change: Change, decision: Decision) -> HelpfulChange | None:
        """The suggestion of *change* by the *decision* after it, with room made if it *evicts*; None if it
        does not help."""
        host = decision.host
        victims = tuple[Pod, ...]()
        if change.evicts:
            plan = decision.preemption
            if host is not None or plan is None or plan.node is None or self.want not in (None, plan.node):
                return None
            victims = tuple(plan.victims)
            with self.run.edited((victim, None) for victim in victims):
                host = self.ask().host
        if host is None or self.want not in (None, host):
            return None
        return HelpfulChange.of(change, host, tuple(pod.key for pod in victims))


def change_of_node(node: Node, kind: ChangeKind, words: str, *fields: str, size: float = 0.0) -> Change:
    """Changes of *fields* of *node*."""
    return Change(kind, words, (" ".join(["node", node.name, *map(_word, fields)]),), size=size)


def _word(change: str) -> str:
    """*change* as one word; quoted only if that is needed."""
    if not set(change) & set(" '\"\\\t\n"):
        return change
    return shlex.quote(change) if set(change) & set('"\\') else f'"{change}"'


def smallest(low: int, high: int, helps: Callable[[int], bool]) -> int | None:
    """The smallest number above *low* that helps, as all greater ones do; None if *high* does not."""
    if not helps(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if helps(middle) else (middle, high)
    return high


# --- changes of what a pod requests, so that a node has room ------------------------------------------------


_PROBE = Container(resources=ResourceRequirements(requests=Map({CPU: Quantity.of(1)})))
MIB = 1 << 20
MOST = 200
"""How many nodes are looked at, the nearest to fitting first."""


def lowered_requests(context: WhatIfContext) -> Iterator[Change]:
    """Requests lowered so far that the pod fits on a node where only resources are in the way.

    A node is left out if the same or more is missing there than on an earlier one where that helped.
    """
    shortfalls: list[dict[str, int]] = []
    tried: list[list[str]] = []
    count = 0
    for report, _ in context.targets():
        if not is_short_only(report) or count >= MOST or lacks_kind(context, report):
            continue
        count += 1
        missing = {short.resource: short.missing for short in report.shortages}
        if any(
            all(shortfall.get(name, 0) <= missing.get(name, 0) for name in {**shortfall, **missing})
            for shortfall in shortfalls
        ):
            continue
        # So much that one more fits, or all that wait; also where its pods of the same controller request
        # less, too.
        siblings = {pod.key for pod in context.siblings}
        beside = sum(entry.pod.key in siblings for entry in context.on(report.name))
        waiting = 0 if is_daemon(context.pod) else sum(not pod.spec.node_name for pod in context.siblings)
        for running, more in product(sorted({0, beside}), sorted({1, 1 + waiting})):
            shortages = []
            for short in report.shortages:
                free = (max(short.free, 0) + running * short.asked) // (running + more)
                rounded = free // MIB * MIB if is_bytes(short.resource) else free
                shortages.append(short if running + more == 1 else replace(short, free=rounded))
            edits = []
            reductions = []
            for short in shortages:
                name = short.resource
                edits.append(_lowering_edits(context, short))
                reductions.append(
                    f"{name} from {amount(name, short.asked)} to {amount(name, max(short.free, 0))}"
                )
            if None in edits or reductions in tried:
                continue
            tried.append(reductions)
            size = max(short.missing / max(short.asked, 1) for short in shortages) + bool(running)
            words = f"lower the request of {' and of '.join(reductions)}"
            change = context.of_pod("request", words, *chain.from_iterable(filter(None, edits)), size=size)
            if context.helpful(change) is not None:
                shortfalls.append(missing)
                yield change


def is_short_only(report: NodeReport) -> bool:
    """Whether shortages of resources are the only reasons against a node."""
    reasons = report.objected or report.reasons
    return bool(report.shortages) and all(shortage_of(reason) is not None for reason in reasons)


def given_more(node: Node, report: NodeReport, after: Node) -> Change:
    """*node* with what *report* misses on *after*, which is the node after earlier edits."""
    missing = Counter({short.resource: short.missing for short in report.shortages})
    has = {name: units(name, node.status.allocatable) for name in after.status.allocatable}
    for name, number in has.items():
        missing[name] += units(name, after.status.allocatable) - number
    missing = +missing
    amounts = (f"{amount(name, number)} more {name}" for name, number in missing.items())
    return change_of_node(
        node,
        "allocatable",
        f"give node {node.name} {' and '.join(amounts)}",
        *(
            f"allocatable.{name}={amount(name, has.get(name, 0) + number)}"
            for name, number in missing.items()
        ),
        size=max(number / max(has.get(name, 0), 1) for name, number in missing.items()),
    )


def enough_for_all(node: Node, engine: Engine, pod: Pod) -> Change | None:
    """The change of *node* after which *pod* has room beside the pods that *engine* now has there; None if it
    lacks more than room."""
    after = engine.node(node.name)
    reports = explain(engine, pod, node=node.name).answer.nodes
    report = next((report for report in reports if report.name == node.name), None)
    if after is None or report is None or not is_short_only(report):
        return None
    return given_more(node, report, after)


def lacks_kind(context: WhatIfContext, report: NodeReport) -> bool:
    """Whether the node has none of an extended resource that other nodes have: then it is the wrong node, not
    one with too little."""
    extended = (short.resource for short in report.shortages if "/" in short.resource)
    having = (
        {node.name for node in context.nodes() if units(name, node.status.allocatable)} for name in extended
    )
    return any(names and report.name not in names for names in having)


def _lowering_edits(context: WhatIfContext, short: NodeShortage) -> list[str] | None:
    """The edits with which the pod requests exactly the free amount of a resource; None if there are none.
    Sidecars stay as they are."""
    name = short.resource
    spec = context.pod.spec
    pair = PodSpec(init_containers=(replace(_PROBE, restart_policy="Always"), _PROBE))
    knows_sidecars = count_of_spec(context.engine, pair, CPU) > count_of_spec(
        context.engine, PodSpec(init_containers=(_PROBE,)), CPU
    )
    ending = []
    """The init containers that end, each with the requests of the sidecars before it."""
    running = 0
    for container in spec.init_containers:
        if knows_sidecars and container.is_sidecar:
            running += units(name, container.requests)
        else:
            ending.append((container, running))
    requests = [units(name, container.requests) for container in spec.containers]
    # The request of the pod as a whole counts, whatever its containers request.
    is_whole = name in spec.requests and count_of_spec(
        context.engine, PodSpec(resources=spec.resources), name
    )
    counted = [running + sum(requests), *(before + units(name, one.requests) for one, before in ending)]
    overhead = short.asked - (units(name, spec.requests) if is_whole else max(counted))
    # Upstream: where more is used than there is, a pod that requests nothing at all still fits.
    target = max(short.free, 0) - overhead
    if name == "pods" or target < running or overhead < 0:
        return None
    edits = [f"spec.resources.requests.{name}={amount(name, target)}"] if is_whole else []
    for init_container, before in ending:
        if units(name, init_container.requests) > target - before:
            edits += _request_edits("initContainers", init_container, name, target - before)
    excess = sum(requests) + running - target
    for at in sorted(range(len(requests)), key=lambda at: -requests[at]):
        if excess > 0 and requests[at]:
            request = max(requests[at] - excess, 0)
            excess -= requests[at] - request
            edits += _request_edits(
                "containers", spec.containers[at], name, request, alone=len(requests) == 1
            )
    return edits


def _request_edits(
    field: str, container: Container, name: str, number: int, *, alone: bool = False
) -> list[str]:
    """The edits of one container's request, and of its limit where the two must be equal."""
    before = "" if alone else f"spec.{field}[{container.name}].resources."
    sets_limit = name in container.limits and ("/" in name or name.startswith("hugepages-"))
    return [
        f"{before}{which}.{name}={amount(name, number)}"
        for which in ("requests", *(["limits"] if sets_limit else []))
    ]


def units(name: str, amounts: Map[Quantity]) -> int:
    """The amount of the resource *name* in millicores, bytes or pieces."""
    quantity = amounts.get(name)
    if quantity is None:
        return 0
    return quantity.milli_value() if name == CPU else quantity.value()
