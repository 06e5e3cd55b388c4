"""What a plugin is: a class with the extension points that it wants, in upstream's names.

Filter, PreScore, Score and NormalizeScore see all nodes of a batch at once, as the predicates and priorities do; :func:`each_node` makes
a method that sees one node at a time into such a one. Upstream: pkg/scheduler/framework/interface.go.

The points, with ``pod: Template`` (``cycle.pod`` is the very pod), ``nodes: Batch`` of n nodes and ``cycle: FrameworkCycle``:

* ``pre_enqueue(pod: Pod) -> Status | None``
* ``less(one: QueuedPod, other: QueuedPod) -> bool``
* ``pre_filter(pod, cycle) -> PreFilterResult | Status | None``; ``SKIP`` leaves the plugin's filter out
* ``filter(pod, nodes, cycle) -> Failures | None``
* ``post_filter(pod, found, cycle) -> PostFilterResult | Status | None``
* ``pre_score(pod, nodes, cycle) -> Status | None``
* ``score(pod, nodes, cycle) -> int64[n]``
* ``normalize_score(pod, raw, nodes, cycle) -> int64[n]``
* ``kept_score``, ``kept_normalize``: score and normalize_score in a form that does not depend on which nodes are feasible, for a plugin
  whose own does: int64[n], all 0 where it makes no difference, and a :class:`~kubeclassic.core.rule.Reduction`
* ``reserve(pod: Pod, node_name, cycle) -> Status | None``, and so ``permit``, ``pre_bind``, ``bind``
* ``unreserve(pod: Pod, node_name, cycle) -> None``, and so ``post_bind``
* ``events_to_register() -> Sequence[ClusterEvent]``
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, ClassVar

import attrs
import numpy as np

from ..api.objects import Node, Pod
from ..core.arrays.batch import Batch
from ..core.failures import Failures
from ..core.pods.notes import Slot
from ..core.pods.template import Entry, Template
from ..core.rule import Reads, Scores
from .cycle.state import FrameworkCycle, PreFilterResult
from .extensionpoints import POINTS
from .status import Code, Status

MAX_NODE_SCORE = 100
"""The best score of a plugin after normalising."""


class Plugin:
    """The base of all plugins. What is not there below is not there: a plugin joins the extension points whose methods it defines.

    Constructed once a profile. A user's plugin need declare nothing but ``name``: what it answers is then never kept.
    """

    name: ClassVar[str] = ""
    filter_reads: ClassVar[Reads] = Reads.EFFECTS
    """What the answers of ``filter`` depend on besides the pod, so that they can be kept until that changes. Undeclared reads are bugs."""
    score_reads: ClassVar[Reads] = Reads.EFFECTS
    """The same for ``score``, which then must not depend on which nodes are feasible."""
    scores_together: ClassVar[bool] = False
    """``score`` is a function of all feasible nodes together."""
    without_pre_filter: str | None = None
    """What ``filter`` errs with where its PreFilter is disabled; None: it does without."""
    without_pre_score: ClassVar[str | None] = None
    """What ``score`` errs with where its PreScore is disabled."""
    follows_pods: str | None = None
    """A plugin whose PreFilter state follows pods put on and taken off in trials: what that errs with where PreFilter did not run."""
    pre_filter_by_class: ClassVar[bool] = False
    """``pre_filter`` depends on the pod's template alone and leaves nothing in the cycle: it is asked once a template."""

    pre_filter_skips: ClassVar[bool] = False
    """Beside what it says of the pod's template, ``pre_filter`` only ever tells *nothing to object* (Skip) from *ask the filter* (None)."""
    pre_score_by_class: ClassVar[bool] = False
    """``pre_score`` depends on the pod's template alone and leaves nothing in the cycle that ``score`` needs."""

    def __init__(self, args: Any, handle: Handle) -> None:
        """*args*: the plugin's decoded arguments (``framework/config/args.py``), None for a plugin without; a user's gets plain data."""
        self.args = args
        self.handle = handle
        self.pre_filter_slot: Slot[PreFilterResult | Status | None] = Slot(f"{self.name} pre_filter")

    def concerns(self, pod: Template) -> bool:
        """False for pods that neither ``pre_filter`` nor ``filter`` ever has anything to say about: they are not asked."""
        return True

    def filter_key(self, pod: Template) -> Hashable:
        """What of the pod the answer of ``filter`` depends on."""
        return pod

    def score_key(self, pod: Template) -> Hashable:
        """What of the pod the raw scores depend on."""
        return pod

    @classmethod
    def joins(cls, point: str) -> bool:
        """Whether the plugin has the extension point, named as in a configuration."""
        return hasattr(cls, POINTS[point])


@attrs.define(eq=False, kw_only=True)
class Handle:
    """What plugins are given when they are constructed."""

    gates: Mapping[str, bool] = attrs.field(factory=dict)
    environ: Mapping[str, str] = attrs.field(factory=dict)
    """The scheduler's environment variables that plugins read."""

    def enabled(self, gate: str) -> bool:
        """Whether a feature gate is on; one that does not exist is off."""
        return bool(self.gates.get(gate, False))


# --- one node at a time ---------------------------------------------------------------------------------------------


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
        """The pods on it with their classes."""
        return tuple(self.nodes.pods(self.index))

    def allocatable(self, resource: str) -> int:
        """Allocatable of *resource*, cpu in millicores."""
        return int(self.nodes.allocatable(resource)[self.index])

    def requested(self, resource: str) -> int:
        """The sum of *resource* over its pods."""
        return int(self.nodes.requested(resource)[self.index])


def each_node(method: Callable[..., Any]) -> Callable[..., Any]:
    """The slow and easy form of ``filter`` and ``score``: a method of (pod: Pod, node: NodeView, cycle), asked node by node.

    As ``filter`` it answers a :class:`~.status.Status` or None; as ``score`` a whole number.
    """
    if method.__name__ == "score":
        return _score_each(method)

    def check(self: Plugin, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Failures | None:
        return Failures.of_rows([_outcome(method(self, cycle.pod, view, cycle)) if view else None for view in _views(nodes)])

    check.__name__, check.__doc__ = method.__name__, method.__doc__
    return check


def _score_each(method: Callable[..., int]) -> Callable[..., Scores]:
    def score(self: Plugin, pod: Template, nodes: Batch, cycle: FrameworkCycle) -> Scores:
        return np.array([method(self, cycle.pod, view, cycle) if view else 0 for view in _views(nodes)], np.int64)

    score.__name__, score.__doc__ = method.__name__, method.__doc__
    return score


def _views(nodes: Batch) -> list[NodeView | None]:
    found = (nodes.node(i) for i in range(nodes.n))
    return [None if node is None else NodeView(nodes, i, node) for i, node in enumerate(found)]


def _outcome(status: Status | None) -> Any:
    if status is None or status.code is Code.SUCCESS:
        return None
    return status.as_reasons() if status.is_rejection else status.message
