"""Which plugins took the place of each predicate and priority, at which extension points, and what became different.

The plugins are those of :mod:`.migrate.equivalents`. Upstream: pkg/scheduler/framework/plugins/legacy_registry.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from ...algorithmprovider.gates import resolved_gates
from ...api.record import Record, says
from ...core.release import Release
from ..config.defaults import LATEST, default_plugins
from ..config.fielderrors import Context
from ..extensionpoints import POINTS
from ..migrate.equivalents import COUNTED_ELSEWHERE, DIFFERENCES, FILTERS, GONE, SCORES
from ..registry import DEFAULT_REGISTRY

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
