"""Plugins: classes with a method for each extension point that they join, their inputs and answers. The names
of core with which plugins and cycles are written are here, too.

Filter, PreScore, Score and NormalizeScore get all nodes of a batch at once, as predicates and priorities do.
:func:`each_node` wraps a method that takes one node at a time. Upstream:
pkg/scheduler/framework/interface.go.

The methods, with ``pod: Template`` (``cycle.pod`` is the pod itself), ``nodes: Batch`` of n nodes and
``cycle: FrameworkCycle``:

* ``pre_enqueue(pod: Pod) -> Status | None``
* ``less(one: QueuedPod, other: QueuedPod) -> bool``
* ``pre_filter(pod, cycle) -> PreFilterResult | Status | None``; after ``SKIP`` the plugin's filter does not
  run
* ``filter(pod, nodes, cycle) -> Failures | None``
* ``post_filter(pod, found, cycle) -> PostFilterResult | Status | None``
* ``pre_score(pod, nodes, cycle) -> Status | None``; after ``SKIP`` the plugin gives no score
* ``score(pod, nodes, cycle) -> int64[n]``
* ``normalize_score(pod, raw, nodes, cycle) -> int64[n]``
* ``kept_score``, ``kept_normalize``: a cacheable form of score and normalize_score, for a plugin whose raw
  scores depend on which nodes are feasible. ``kept_score`` gives int64[n] (all 0: the plugin makes no
  difference), ``kept_normalize`` is a :class:`~kubeclassic.core.cycle.Reduction`
* ``reserve(pod: Pod, node_name, cycle) -> Status | None``; ``pre_bind`` and ``bind`` likewise
* ``permit(pod: Pod, node_name, cycle) -> Status | None``; after ``wait(timeout=30)`` the binding waits until
  the plugin allows it (:meth:`Handle.get_waiting_pod`), and after 30 seconds the pod is rejected. No timeout
  is longer than 15 minutes
* ``unreserve(pod: Pod, node_name, cycle) -> None``; ``post_bind`` likewise
* ``events_to_register() -> Sequence[ClusterEvent]``
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import cached_property, lru_cache
from math import inf
from typing import Any, ClassVar

import attrs
import msgspec
import numpy as np

from ..api.meaning import duration_text
from ..api.objects import Node, Pod
from ..core.arrays import *
from ..core.cluster.listings import Listings
from ..core.cluster.nominations import Nominations
from ..core.cycle import *
from ..core.decision import Extender, Preemption
from ..core.guard import WrongAnswer, described, whole_number
from ..core.pods.requests import *
from ..core.pods.template import *
from ..core.preemption import ClaimUsers, DryRuns, PodLayout
from ..core.release import DeviceCells, FrameworkCells, QueueingCells, Requests
from .queue.events import *

# --- Statuses -----------------------------------------------------------------------------------------------


OURS = f"{__package__}.plugins."
"""The package with upstream's plugins."""
POINTS: Mapping[str, str] = {
    "preEnqueue": "pre_enqueue",
    "queueSort": "less",
    "preFilter": "pre_filter",
    "filter": "filter",
    "postFilter": "post_filter",
    "preScore": "pre_score",
    "score": "score",
    "reserve": "reserve",
    "permit": "permit",
    "preBind": "pre_bind",
    "bind": "bind",
    "postBind": "post_bind",
}
"""Extension point as a configuration names it -> the method that makes a plugin join it."""
Points = Mapping[str, tuple[Any, ...]]
"""Extension point -> the plugins of a profile there, in running order. Filter and Score plugins run as rules:
``Profile.algorithm``."""


class Code(enum.Enum):
    """A code of a status; the names are upstream's."""

    SUCCESS = "Success"
    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    UNSCHEDULABLE_AND_UNRESOLVABLE = "UnschedulableAndUnresolvable"
    WAIT = "Wait"
    SKIP = "Skip"


@attrs.frozen
class Status:
    """A plugin's answer: code, reasons in order, and the plugin's name, which the framework fills in."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""
    timeout: float = inf
    """With code Wait: seconds after which Permit rejects the pod, unless the plugin has allowed it by
    then."""

    @property
    def message(self) -> str:
        """The reasons as one text."""
        return ", ".join(self.reasons)

    @property
    def is_success(self) -> bool:
        return self.code is Code.SUCCESS

    @property
    def is_skip(self) -> bool:
        return self.code is Code.SKIP

    @property
    def is_rejection(self) -> bool:
        """Whether it rejects the pod, resolvable or not."""
        return self.code in (Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE)

    def as_reasons(self) -> tuple[Reason, ...]:
        """The reasons of a node with this status; one that is not said where there is none."""
        resolvable = self.code is Code.UNSCHEDULABLE
        unsaid = Reason("", resolvable, is_said=False)
        return tuple(reason(text, resolvable) for text in self.reasons) or (unsaid,)


SUCCESS = Status(Code.SUCCESS)
SKIP = Status(Code.SKIP)
"""From PreFilter: the plugin's Filter does not run in this cycle, nor its AddPod and RemovePod in trials.
From PreScore: its Score does not run, either."""


def unschedulable(*reasons: str) -> Status:
    """The pod does not fit, but removing pods may help."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """The pod does not fit, and removing pods cannot help."""
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)


def error(text: str) -> Status:
    """Something went wrong: the cycle fails with this text."""
    return Status(Code.ERROR, (text,))


def wait(*reasons: str, timeout: float = inf) -> Status:
    """From Permit: the binding waits until the plugin allows it, for *timeout* seconds and at most 15
    minutes."""
    return Status(Code.WAIT, reasons, timeout=timeout)


@lru_cache(1 << 12)
def reason(text: str, resolvable: bool = True) -> Reason:
    """A reason why a node does not fit; equal reasons are one object."""
    return Reason(text, resolvable)


def failing(status: Status | None, mask: Mask) -> Failures | None:
    """*status* as the failure of the nodes of *mask*: bool[n]; None for a status that is no failure."""
    if status is None or status.is_success:
        return None
    if status.is_rejection:
        return Failures.where(status.as_reasons(), mask)
    return Failures.error(status.message, mask)


# --- A cycle, and answers that are more than a status -------------------------------------------------------


@attrs.frozen(repr=False)
class PreFilterResult:
    """The nodes that a PreFilter leaves to be filtered; None: all."""

    node_names: frozenset[str] | None = None


@attrs.define(eq=False, repr=False)
class PostFilterResult:
    """The result of a PostFilter plugin. ``nominated``: the pod's nominated node, "" to clear it, None to
    leave it as it is."""

    nominated: str | None = None
    message: str = ""
    """The reason why there is no nominated node; empty on success."""
    is_error: bool = False
    plan: Preemption | None = None

    @classmethod
    def failed(cls, text: str) -> PostFilterResult:
        """The result of an attempt that ended with the error *text*."""
        return cls(message=text, is_error=True, plan=Preemption(error=text))


@attrs.frozen(eq=False, repr=False)
class PostFilterContext:
    """The tools of a PostFilter plugin besides its cycle."""

    pre_filters: Sequence[Any]
    """The PreFilter plugins of the profile, in running order."""
    nominations: Nominations
    extenders: Sequence[Extender]
    shortlists: bool
    """Whether preemption ends once it has as many candidates as its arguments say."""
    runs: DryRuns
    afterwards: list[Callable[[], object]] = attrs.field(init=False, factory=list)
    """The functions to call once all plugins were asked."""

    @property
    def layout(self) -> PodLayout:
        """The pods of each row as arrays."""
        return self.runs.layout


class FrameworkCycle(Cycle, eq=False, kw_only=True):
    """A cycle of the framework. A plugin keeps its state in ``notes``: upstream's CycleState."""

    skipped: set[str] = msgspec.field(default_factory=set)
    """Plugins whose PreFilter returned Skip: their filters do not run in this cycle, and not in its
    trials."""
    pre_filtered: set[str] = msgspec.field(default_factory=set)
    """Plugins whose PreFilter ran, or was not needed for this pod."""
    node_count: int = 0
    """Nodes in the snapshot."""
    post_filter: PostFilterContext | None = None
    """The context for PostFilter plugins; set before they run."""
    claim_users: ClaimUsers | None = None
    """The numbers of pods that use each claim, in releases whose trials change them; None: the pods on the
    nodes count."""
    hint: str = ""
    """The node to try first, the next best when an equal pod was scored; empty: none."""
    pods_to_activate: dict[str, Pod] = msgspec.field(default_factory=dict)
    """Key -> pod that a plugin activates: it leaves the backoff queue or the parked pods when this cycle, or
    its binding, ends well. Upstream: PodsToActivate."""

    @property
    def predicates(self) -> Sequence[Predicate]:
        rules = self.template.notes.get(self.algorithm.slot) or self.algorithm.predicates_for(self.template)
        skipped = self.skipped
        return [predicate for predicate in rules if predicate.name not in skipped] if skipped else rules


# --- Pods that have a node, and wait until Permit plugins allow or reject their binding ---------------------
# Upstream: pkg/scheduler/framework/runtime/waiting_pods_map.go.


MAX_TIMEOUT = 900.0
"""The longest wait, in seconds; longer timeouts are cut to it."""


@attrs.define(eq=False, repr=False)
class WaitingPod:
    """A reserved pod whose binding waits for Permit plugins. The wait ends when the last of them allows it,
    or the first rejects it.

    >>> waiting = WaitingPod(Pod(), {"Gang": 30.0, "Quota": 10.0})
    >>> waiting.allow("Quota")
    >>> waiting.pending_plugins, waiting.timeout, waiting.is_over
    (('Gang',), 30.0, False)
    >>> waiting.pass_time(30.0)
    >>> waiting.verdict.message
    'rejected due to timeout after waiting 30s at plugin Gang'
    """

    pod: Pod
    """The pod with its node."""
    _timeouts: dict[str, float]
    """Pending plugin -> the seconds of waiting after which it rejects the pod."""
    verdict: Status | None = None
    """The end of the wait; None while it lasts."""
    on_end: Callable[[], None] | None = None
    """Called once, when the wait ends. It must not use the scheduler, which may be in the middle of another
    pod's cycle."""

    @property
    def pending_plugins(self) -> tuple[str, ...]:
        """The plugins that have not allowed it yet, in running order."""
        return tuple(self._timeouts)

    @property
    def is_over(self) -> bool:
        return self.verdict is not None

    @property
    def timeout(self) -> float:
        """The seconds of waiting after which it is rejected: the shortest of the pending plugins'
        timeouts."""
        return min(self._timeouts.values(), default=0.0)

    def allow(self, plugin: str) -> None:
        """*plugin* allows the binding. The wait ends when the last pending plugin does so."""
        self._timeouts.pop(plugin, None)
        if not self._timeouts:
            self._end(SUCCESS)

    def reject(self, plugin: str, message: str) -> None:
        """*plugin* rejects the pod; this ends the wait, whatever the others say."""
        self._end(Status(Code.UNSCHEDULABLE, (message,), plugin))

    def pass_time(self, waited: float) -> None:
        """Reject the pod if *waited*, in seconds since the wait began, has reached a pending plugin's
        timeout."""
        timeout = self.timeout
        if not self.is_over and timeout <= waited:
            plugin = next(name for name, seconds in self._timeouts.items() if seconds == timeout)
            self.reject(
                plugin, f"rejected due to timeout after waiting {duration_text(timeout)} at plugin {plugin}"
            )

    def copy(self) -> WaitingPod:
        """A copy in the same state, whose end is not reported."""
        return WaitingPod(self.pod, dict(self._timeouts), self.verdict)

    def _end(self, verdict: Status) -> None:
        if self.verdict is None:
            self.verdict = verdict
            if self.on_end is not None:
                self.on_end()


@attrs.define(eq=False, repr=False)
class WaitingPods:
    """The waiting pods of one profile, in the order in which they began to wait."""

    by_uid: dict[str, WaitingPod] = attrs.Factory(dict)

    def __iter__(self) -> Iterator[WaitingPod]:
        """The waiting pods; they may come and go during the iteration."""
        return iter(tuple(self.by_uid.values()))

    def reject(self, uid: str) -> bool:
        """Reject a deleted pod. Returns whether it was waiting. Upstream: RejectWaitingPod."""
        waiting_pod = self.by_uid.get(uid)
        if waiting_pod is not None:
            waiting_pod.reject("", "removed")
        return waiting_pod is not None

    @contextmanager
    def preserving_state(self) -> Iterator[None]:
        """A context after which all waiting pods are as before it, whatever plugins did with them."""
        previous = self.by_uid
        self.by_uid = {uid: waiting_pod.copy() for uid, waiting_pod in previous.items()}
        try:
            yield
        finally:
            self.by_uid = previous

    def replace(self, waiting: Iterable[WaitingPod]) -> None:
        """Replace the waiting pods by *waiting*, as in a copy of a scheduler."""
        self.by_uid = {waiting_pod.pod.uid: waiting_pod for waiting_pod in waiting}


# --- Plugins ------------------------------------------------------------------------------------------------


MAX_NODE_SCORE = 100
"""The best score of a plugin after normalising."""
_OF_FILTER = {
    "concerns",
    "pre_filter_by_class",
    "pre_filter_skips",
    "pre_filter_reads_volumes",
    "filter_reads",
    "filter_key",
    "filter_clauses",
}
_OF_SCORE = {
    "kept_score",
    "kept_normalize",
    "score_concerns",
    "pre_score_by_class",
    "pre_score_skips",
    "score_reads",
    "score_key",
    "score_sums",
}
DECLARED: Mapping[str, Set[str]] = {
    "pre_filter": _OF_FILTER,
    "filter": _OF_FILTER,
    "pre_score": _OF_SCORE,
    "score": _OF_SCORE,
    "normalize_score": _OF_SCORE,
}
"""Method -> the declarations about it, by which its answers can be cached."""


class Plugin:
    """The base class of all plugins. A plugin joins the extension points whose methods it defines; the base
    class joins none.

    It is constructed once for each profile. A user's plugin only has to declare ``name``: its answers are
    then never cached.
    """

    name: ClassVar[str] = ""
    filter_reads: ClassVar[Reads] = Reads.EFFECTS
    """The state that answers of ``filter`` depend on besides the pod. They are cached until it changes, so a
    missing flag is a bug."""
    score_reads: Reads = Reads.EFFECTS
    """The same for ``score``. Cached scores must not depend on which nodes are feasible."""
    scores_together: ClassVar[bool] = False
    """Whether ``score`` depends on all feasible nodes together."""
    without_pre_filter: str | None = None
    """The error of ``filter`` where the plugin's PreFilter is disabled; None: it works without it."""
    binds_without_pre_filter: str | None = None
    """The error of ``reserve`` and ``pre_bind`` in the same case."""
    without_pre_score: str | None = None
    """The error of ``score`` where the plugin's PreScore is disabled; None: it works without it."""
    scores_after: ClassVar[str] = "preScore"
    """The extension point that this error is about, if not PreScore."""
    follows_pods: str | None = None
    """The error of a trial that adds or removes pods where PreFilter did not run; None: the plugin has no
    AddPod and RemovePod."""
    pre_filter_by_class: ClassVar[bool] = False
    """Whether ``pre_filter`` depends on the pod's template alone and stores nothing in the cycle. It then
    runs once for a template."""
    pre_filter_skips: ClassVar[bool] = False
    """Whether ``pre_filter`` only answers Skip (no objection) or None (run the filter), where the template
    alone does not decide."""
    pre_filter_reads_volumes: ClassVar[bool] = False
    """Whether ``pre_filter`` depends on the template, volumes and claims alone, as long as no claim is for
    one pod only."""
    pre_score_by_class: ClassVar[bool] = False
    """Whether ``pre_score`` depends on the pod's template alone and stores nothing in the cycle that
    ``score`` needs."""
    pre_score_skips: ClassVar[bool] = False
    """Whether a Skip of ``pre_score`` means that ``score`` with ``normalize_score`` would give every node the
    same. Hosts can then be found without asking. Whether it skips must depend only on what ``score`` reads.
    Unless it is ``by_class``, it answers Skip or None, or always the same error for a template."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Limit the declarations of a base class to its own methods: a subclass with another method declares
        it again, or nothing is cached."""
        super().__init_subclass__(**options)
        if not cls.__module__.startswith(OURS):
            methods = vars(cls)
            for name in {
                name for method, names in DECLARED.items() if method in methods for name in names
            } - methods.keys():
                setattr(cls, name, vars(Plugin).get(name))

    def __init__(self, args: Any, handle: Handle) -> None:
        """*args*: the decoded arguments (``framework/config/args.py``), or None; a user's plugin gets them as
        plain data."""
        self.args = args
        self.handle = handle
        self.pre_filter_slot: StateKey[PreFilterResult | Status | None] = StateKey(f"{self.name} pre_filter")

    @cached_property
    def cells(self) -> FrameworkCells:
        """The cells of the release; a user's plugin may use this name for something else."""
        return self.handle.cells

    concerns: Callable[[Template], bool] = staticmethod(every_pod)
    """False for pods that ``pre_filter`` and ``filter`` never reject: neither runs for them."""

    def filter_key(self, pod: Template) -> Hashable:
        """The part of the pod that the answer of ``filter`` depends on: pods with equal keys share cached
        answers."""
        return pod

    score_concerns: Callable[[Template], bool] = staticmethod(every_pod)
    """False for pods for which every node gets the same score, whatever happens to the cluster."""

    def score_key(self, pod: Template) -> Hashable:
        """The part of the pod that the raw scores depend on."""
        return pod

    def filter_without_state(self, pod: Template, nodes: Batch, cycle: Any) -> Failures | None:
        """The nodes that ``filter`` rejects before it reads the state of PreFilter; None: none."""
        return None

    def passes_over(self, pod: Template) -> bool:
        """Whether ``score`` gives every node 0 for *pod*, and reads nothing that PreScore left."""
        return False

    def unreserve(self, pod: Pod, node_name: str, cycle: Any) -> None:
        """The end of a reservation; nothing is to be done by default."""

    @classmethod
    def joined(cls) -> Set[str]:
        """The extension points that the plugin joins, named as in a configuration."""
        return {point for point, method in POINTS.items() if hasattr(cls, method)}


def prepare_nothing(*arguments: Any) -> None:
    """A PreFilter or PreScore with nothing to prepare. A profile can still disable it, and then the filter or
    the score fails."""


def _no_time() -> float:
    return -inf


@attrs.define(eq=False, kw_only=True, repr=False)
class Handle:
    """The handle for the plugins of a profile, given to each when it is constructed."""

    gates: Mapping[str, bool] = attrs.Factory(dict)
    cells: FrameworkCells = attrs.Factory(FrameworkCells)
    """The cells of the release."""
    queueing: QueueingCells = attrs.Factory(QueueingCells)
    """The cells of the release about events."""
    requests: Callable[[Pod], Requests] = attrs.field(factory=lambda: functools.partial(exact_sums, gates={}))
    """The requests of a pod that is scheduled, as the release counts them."""
    counted: Callable[[Pod], Requests] = attrs.field(factory=lambda: functools.partial(exact_sums, gates={}))
    """The requests of a pod on a node, which may be resized."""
    devices: DeviceCells = attrs.Factory(DeviceCells)
    """The release's cells about devices."""
    listings: Listings | None = None
    """The other objects of the cluster, for plugins that have no cycle; None before there is a scheduler."""
    max_pd_vols: int | None = None
    """The most cloud disks of each type on a node without a limit of its own; None: the type's default."""
    waiting_pods: WaitingPods = attrs.Factory(WaitingPods)
    now: Callable[[], float] = _no_time
    """The time, in seconds since 1970, for time limits; without a clock nothing is late."""

    def enabled(self, gate: str) -> bool:
        """Whether a feature gate is on; an unknown one is off."""
        return bool(self.gates.get(gate, False))

    @property
    def gives_hints(self) -> bool:
        """Whether hints decide if an event moves a pod."""
        return self.enabled("SchedulerQueueingHints")

    def node_event(self, changes: Action, earlier: Action, hint: Hint | None = None) -> ClusterEvent:
        """The event for a plugin that reads these *changes* of nodes. Where events are not narrow it waits
        for *earlier* ones."""
        if not self.queueing.narrow_events:
            return ClusterEvent("Node", changes if self.queueing.own_changes_of_nodes else earlier, hint=hint)
        # Upstream: without hints a node that the kubelet's checks refuse wakes no pod, so a later change of
        # taints or labels has to.
        label_changes = Action.UPDATE_NODE_TAINT | Action.UPDATE_NODE_LABEL
        return ClusterEvent("Node", changes if self.gives_hints else changes | label_changes, hint=hint)

    @property
    def hints_see_pods(self) -> bool:
        """Whether hints decide about updates of the waiting pods themselves."""
        return self.gives_hints and self.queueing.hints_for_pods

    def pod_update(self, change: Action) -> Action:
        """The *change* of a pod; any update where events are not narrow."""
        return change if self.queueing.narrow_events else Action.UPDATE

    @property
    def peer_changes(self) -> Action:
        """The changes of other pods that wake a plugin which reads their labels."""
        narrow = Action.ADD | Action.UPDATE_POD_LABEL | Action.DELETE
        return narrow if self.queueing.pod_changes else Action.ALL

    def labels_and_taints(self, changes: Action) -> Action:
        """The *changes* of nodes that wake a plugin that reads labels, with changed taints where these
        wake it, too."""
        return changes | Action.UPDATE_NODE_TAINT if self.queueing.taints_wake else changes

    def compares(self, plugin: str) -> bool:
        """Whether the hints of *plugin* compare a node with its earlier state."""
        return plugin in self.queueing.comparing_hints

    def get_waiting_pod(self, uid: str) -> WaitingPod | None:
        """The pod of that UID if its binding waits for Permit plugins; else None."""
        return self.waiting_pods.by_uid.get(uid)

    def iterate_over_waiting_pods(self) -> Iterator[WaitingPod]:
        """The profile's pods that wait for Permit plugins, in the order in which they began; each may be
        allowed or rejected."""
        return iter(self.waiting_pods)

    def reject_waiting_pod(self, uid: str) -> bool:
        """Reject a waiting pod because it is removed. Returns whether it was waiting."""
        return self.waiting_pods.reject(uid)


# --- one node at a time -------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class NodeView:
    """One node of a batch, for plugins that look at one node at a time."""

    nodes: Batch
    index: int
    node: Node

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def pods(self) -> list[Pod]:
        """The pods on it, in the node's own order."""
        return [entry.pod for entry in self.entries]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The pods on it with their templates."""
        return tuple(self.nodes.pods(self.index))

    def allocatable(self, resource: str) -> int:
        """Allocatable of *resource*, cpu in millicores."""
        return int(self.nodes.allocatable(resource)[self.index])

    def requested(self, resource: str) -> int:
        """The sum of *resource* over its pods."""
        return int(self.nodes.requested(resource)[self.index])


def each_node(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for the simple, slow form of ``filter`` and ``score``: a method of *pod*, *node* and *cycle*,
    called node by node.

    *node* is a :class:`NodeView`. As ``filter`` it returns a :class:`Status` or None; as ``score`` a whole
    number.
    """
    if method.__name__ == "score":

        @functools.wraps(method)
        def score(self: Plugin, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
            scores = (
                whole_number(method(self, cycle.pod, view, cycle), view.name) if view else 0
                for view in _views(nodes)
            )
            return np.fromiter(scores, np.int64, nodes.n)

        return score

    @functools.wraps(method)
    def check(self: Plugin, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        return Failures.of_rows(
            [_outcome(method(self, cycle.pod, view, cycle), view) if view else None for view in _views(nodes)]
        )

    return check


def _views(nodes: Batch) -> list[NodeView | None]:
    node_objects = (nodes.node(i) for i in range(nodes.n))
    return [None if node is None else NodeView(nodes, i, node) for i, node in enumerate(node_objects)]


def _outcome(status: Any, node: NodeView) -> Any:
    if status is None:
        return None
    if not isinstance(status, Status):
        raise WrongAnswer(f'{described(status)} for node "{node.name}"', "a Status or None")
    if not isinstance(status.reasons, tuple) or not all(isinstance(reason, str) for reason in status.reasons):
        raise WrongAnswer(
            f'a Status with the reasons {described(status.reasons)} for node "{node.name}"',
            "a tuple of texts",
        )
    if status.code is Code.SUCCESS:
        return None
    return status.as_reasons() if status.is_rejection else status.message
