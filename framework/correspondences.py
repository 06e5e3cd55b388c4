"""Which plugins took the place of each predicate and priority, at which extension points, and what became different.

The plugins are those of :mod:`.migrate.equivalents`. Upstream: pkg/scheduler/framework/plugins/legacy_registry.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from ..algorithmprovider.gates import resolved_gates
from ..api.record import Record, says
from ..core.release import Release
from ..predicates import reasons
from ..predicates.reasons import insufficient
from .config.defaults import LATEST, default_plugins
from .config.fielderrors import Context
from .extensionpoints import POINTS
from .migrate.equivalents import COUNTED_ELSEWHERE, DIFFERENCES, FILTERS, GONE, SCORES
from .plugins.nodeaffinity import NOT_MATCHING
from .plugins.nodename import DIFFERENT_NODE
from .plugins.podtopologyspread import MISSING_LABEL
from .registry import DEFAULT_REGISTRY

FILTER_POINTS, SCORE_POINTS = ("preFilter", "filter"), ("preScore", "score")
STRATEGIES = ("MostRequestedPriority", "RequestedToCapacityRatioPriority")
"""Priorities that became arguments of a plugin."""
USAGE, SPREAD = ("NodeResourcesFit",), ("PodTopologySpread",)

PREDICATES: Mapping[str, tuple[str, ...]] = {**FILTERS, "CheckNodeLabelPresence": (), "CheckServiceAffinity": ()}
"""Predicate -> the plugins that took its place."""
PRIORITIES: Mapping[str, tuple[str, ...]] = {
    **{priority: (plugin,) for priority, plugin in SCORES.items()},
    **dict.fromkeys(("LeastRequestedPriority", *STRATEGIES), USAGE),
    **dict.fromkeys(("SelectorSpreadPriority", "ServiceSpreadingPriority", "EvenPodsSpreadPriority"), SPREAD),
    **dict.fromkeys(GONE, ()),
}
"""Priority -> the plugin that took its place."""
ARGUMENTS: Mapping[str, tuple[str, ...]] = {"labelPreference": ("NodeAffinity",), "serviceAntiAffinity": SPREAD}
"""Argument with which a Policy makes a priority of its own -> the plugin that comes nearest."""

SAME, SAME_SCALED = "the same", "the same, on a scale to 100"
WORDS: Mapping[str, str] = {
    "CheckNodeUnschedulable": SAME,
    "PodToleratesNodeTaints": "the same; the message names the first taint that is not tolerated",
    "HostName": "the same, in other words",
    "PodFitsHostPorts": SAME,
    "PodFitsPorts": "it was accepted and never ran; the plugin runs",
    "MatchNodeSelector": "a nodeSelector with an invalid value matches no node; it matched every node",
    "PodFitsResources": "quantities are added exactly and rounded once, overhead always counts, and the message for pods is another",
    "CheckNodeLabelPresence": "gone since 1.23; required terms of addedAffinity of NodeAffinity do the same",
    "CheckServiceAffinity": "gone since 1.23, and nothing does the same; write affinity into the pods",
    "BalancedResourceAllocation": "scores range over 50 to 100 only, and pods without requests count as asking for nothing",
    "RequestedToCapacityRatioPriority": "a profile has one strategy; utilization is rounded down instead of up",
    "TaintTolerationPriority": SAME_SCALED,
    "labelPreference": "plugin NodeLabel was removed in 1.23; preferred terms of addedAffinity come nearest",
    "serviceAntiAffinity": "plugin ServiceAffinity was removed in 1.23; a default constraint over the label comes nearest",
}
"""Rule -> what became different, where :data:`~.migrate.equivalents.DIFFERENCES` has nothing about it."""

BUILT_IN: Mapping[str, str] = {
    "PrioritySort": "the order of the queue, which was built in",
    "DefaultPreemption": "preemption, which was built in",
    "DefaultBinder": "binding, which was built in",
    "SchedulingGates": "new: holds pods with schedulingGates back",
}
"""Plugin without a predicate or priority before it -> what it does."""


class PluginPoints(Record):
    """A plugin, and the extension points at which it takes the place of a rule."""

    plugin: str
    points: tuple[str, ...]


class Successor(Record):
    """A predicate or priority, and what took its place."""

    kind: Literal["predicate", "priority", "priority argument", "built in"]
    rule: Annotated[str | None, says("null: it was built in, or is new.")]
    before: Annotated[str | None, says("How the rule comes to run.")]
    plugins: tuple[PluginPoints, ...]
    after: Annotated[str | None, says("How the plugins come to run.")]
    words: Annotated[str, says("What became different.")]


def weights(release: Release) -> dict[str, int]:
    """Default plugin of *release* -> weight; 0 for one that does not score, or has none of its own."""
    context = Context(release, resolved_gates(release))
    return {plugin.name: plugin.weight for plugin in default_plugins(LATEST, context)["multiPoint"].enabled}


def points_of(plugin: str, among: tuple[str, ...] = tuple(POINTS)) -> tuple[str, ...]:
    """The extension points that *plugin* joins, in order."""
    return tuple(point for point in among if DEFAULT_REGISTRY[plugin].joins(point))


def successors(older: Release, described: Mapping[str, Mapping[str, str]], newer: Release) -> Iterator[Successor]:
    """What took in *newer* the place of each rule that *older* knows; *described*: how it has its ``predicates`` and ``priorities``."""
    for name, how in described["predicates"].items():
        if name in PREDICATES:
            yield _successor("predicate", name, how, PREDICATES[name], FILTER_POINTS, newer)
    for name, how in described["priorities"].items():
        if name in PRIORITIES:
            yield _successor("priority", name, how, PRIORITIES[name], SCORE_POINTS, newer)
    for name, plugins in ARGUMENTS.items():
        yield _successor("priority argument", name, "named by a Policy", plugins, SCORE_POINTS, newer)
    for plugin, words in BUILT_IN.items():
        if plugin in weights(newer):
            yield Successor("built in", None, None, (PluginPoints(plugin, points_of(plugin)),), "default", words)


def _successor(
    kind: Literal["predicate", "priority", "priority argument"], name: str, how: str, plugins: tuple[str, ...], points: tuple[str, ...],
    newer: Release,
) -> Successor:  # fmt: skip
    gone = [plugin for plugin in plugins if plugin in newer.configuration.gone_plugins]
    words = WORDS.get(name) or DIFFERENCES.get(name) or f"gone: {GONE[name].removeprefix('left out: ')}"
    if gone:
        words = f"gone with plugin {', '.join(gone)}: {COUNTED_ELSEWHERE}"
    found = tuple(PluginPoints(plugin, points_of(plugin, points)) for plugin in plugins if plugin not in gone)
    is_argument = name in STRATEGIES or name in ARGUMENTS
    after = "by an argument of the plugin" if is_argument else _default([one.plugin for one in found], newer, scores=points == SCORE_POINTS)
    return Successor(kind, name, how, found, after, words)


def _default(plugins: Sequence[str], newer: Release, *, scores: bool) -> str | None:
    known = weights(newer)
    if not plugins:
        return None
    if any(plugin not in known for plugin in plugins):
        return "named by a profile"
    return f"default, weight {known[plugins[0]]}" if scores else "default"


TOO_MANY_PODS, UNTOLERATED = "Too many pods", "node(s) had untolerated taint {KEY: VALUE}"


class Change(Record):
    """One point that the framework changed."""

    about: str
    what: str
    older: Annotated[str | None, says("With predicates and priorities; null: there is no such thing.")]
    newer: Annotated[str | None, says("With plugins; null: there is no such thing.")]


CHANGES = (
    Change("configuration", "what runs", "a Policy, or a provider", "a KubeSchedulerConfiguration; Policies are gone since 1.23"),
    Change("configuration", "several schedulers in one process", None, "a profile for each schedulerName"),
    Change(
        "configuration", "prefer full nodes", "provider ClusterAutoscalerProvider, or MostRequestedPriority",
        "scoringStrategy MostAllocated of NodeResourcesFit",
    ),
    Change("configuration", "weight of required pod affinity in scores", "hardPodAffinitySymmetricWeight, 1 to 100",
           "hardPodAffinityWeight of InterPodAffinity, 0 to 100; 0 switches it off"),
    Change("configuration", "no preemption", "disablePreemption", "DefaultPreemption among the disabled plugins of postFilter"),
    Change("filtering", "which rule comes first", "resources, ports and selectors (GeneralPredicates), then taints",
           "taints, then affinity, ports and resources: a node with both is reported for its taint"),
    Change("filtering", "all rules that fail", "reported with alwaysCheckAllPredicates", "never: a node is reported for the first one"),
    Change("filtering", "before any node is asked", None, "PreFilter plugins may turn the whole pod down, or name the only nodes to ask"),
    Change("filtering", "the node that a pod waits for after preemption", "one among others", "tried first; if it fits, no other is asked"),
    Change("filtering", "conditions of nodes", "read by CheckNodeCondition and others, or as taints (TaintNodesByCondition)",
           "read as taints alone, which the node lifecycle controller sets"),
    Change("arithmetic", "score of a rule", "0 to 10", "0 to 100"),
    Change("arithmetic", "score of an extender", "times its weight", "times its weight, times 10"),
    Change("arithmetic", "pods without requests in BalancedResourceAllocation", "count 100m cpu and 200 MiB", "count nothing"),
    Change("arithmetic", "whether there is room", "requested and asked are added up, and a sum beyond 2^63 wraps around",
           "what is asked is compared with what is left"),
    Change("preemption", "disruption budgets", "a victim is protected once its budget allows no more disruptions",
           "each victim uses up one disruption that its budget allows"),
    Change("preemption", "nodes that are tried", "all", "10 % of them, 100 at least (arguments of DefaultPreemption)"),
    Change("preemption", "in the pod's message", None, "follows the reasons, after `preemption:`"),
    Change("queue", "when a pod that fits nowhere is tried again", "when anything moves pods",
           "when something happens for which one of the plugins waits that turned it down"),
    Change("queue", "pods with schedulingGates", "are tried", "are held back until the gates are gone"),
)  # fmt: skip
"""The changes that are not about a single rule, by subject."""

_GONE = (
    reasons.POD_AFFINITY_NOT_MATCH, reasons.NODE_LABEL_PRESENCE_VIOLATED, reasons.SERVICE_AFFINITY_VIOLATED,
    reasons.NODE_UNDER_MEMORY_PRESSURE, reasons.NODE_UNDER_DISK_PRESSURE, reasons.NODE_UNDER_PID_PRESSURE, reasons.NODE_OUT_OF_DISK,
    reasons.NODE_NOT_READY, reasons.NODE_NETWORK_UNAVAILABLE,
)  # fmt: skip
MESSAGES = (
    Change("messages", "no place for one more pod", insufficient("pods").text, TOO_MANY_PODS),
    Change("messages", "node selector and node affinity", reasons.NODE_SELECTOR_NOT_MATCH.text, NOT_MATCHING.text),
    Change("messages", "taints", reasons.TAINTS_TOLERATIONS_NOT_MATCH.text, UNTOLERATED),
    Change("messages", "node name", reasons.POD_NOT_MATCH_HOST_NAME.text, DIFFERENT_NODE.text),
    Change("messages", "a label that spread constraints need", reasons.TOPOLOGY_SPREAD_CONSTRAINTS_NOT_MATCH.text, MISSING_LABEL.text),
    *(Change("messages", "no longer given", reason.text, None) for reason in _GONE),
)
"""The reasons that are worded differently, or are gone; all others are the same."""
