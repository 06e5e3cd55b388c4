"""Which plugins took the place of each predicate and priority, at which extension points, and what became different.

The plugins are those of :mod:`.migrate.equivalents`. Upstream: pkg/scheduler/framework/plugins/legacy_registry.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

import attrs

from ..algorithmprovider.gates import resolved_gates
from ..api.record import Record, says
from ..core.release import PolicyCells, Release
from .config.defaults import default_plugins
from .config.fielderrors import Context
from .facts.facttable import facts_between
from .migrate.equivalents import COUNTED_ELSEWHERE, FILTERS, PRIORITIES, SAME, SAME_SCALED, SPREAD, STRATEGIES, TOLD, USAGE
from .registry import DEFAULT_REGISTRY
from .status import POINTS

FILTER_POINTS, SCORE_POINTS = ("preFilter", "filter"), ("preScore", "score")
ARGUMENTS: Mapping[str, tuple[str, ...]] = {"labelPreference": ("NodeAffinity",), "serviceAntiAffinity": SPREAD}
"""Argument with which a Policy makes a priority of its own -> the plugin that comes nearest."""

STILL = frozenset({
    "GeneralPredicates", "CheckNodeCondition", "CheckNodeMemoryPressure", "CheckNodeDiskPressure", "CheckNodePIDPressure",
    "PodToleratesNodeNoExecuteTaints", "PodFitsPorts",
})  # fmt: skip
"""Rules whose words hold in every release with plugins."""

BUILT_IN: Mapping[str, str] = {
    "PrioritySort": "the order of the queue, which was built in",
    "DefaultPreemption": "preemption, which was built in",
    "DefaultBinder": "binding, which was built in",
    "SchedulingGates": "new: holds pods with schedulingGates back",
    "NodeDeclaredFeatures": "new: keeps pods off nodes that do not declare a feature which they need",
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


MULTI_POINT = "multiPoint"


def _defaults(release: Release) -> Mapping[str, Mapping[str, int]]:
    """Extension point, or multiPoint -> plugin -> weight, of the default profile of *release*."""
    context = Context(release, resolved_gates(release))
    points = default_plugins(context)
    return {point: {plugin.name: plugin.weight for plugin in found.enabled} for point, found in points.items()}


def weights(release: Release) -> dict[str, int]:
    """Default plugin of *release* -> weight; 0 for one that does not score, or has none of its own. Filter plugins are in their order."""
    points = _defaults(release)
    ordered = dict.fromkeys([*("queueSort", "filter"), *POINTS, *points])
    found = {plugin: 0 for point in ordered for plugin in points.get(point, ())}
    return {**found, **points.get("score", {}), **points.get(MULTI_POINT, {})}


def points_of(plugin: str, among: tuple[str, ...] = tuple(POINTS)) -> tuple[str, ...]:
    """The extension points that *plugin* joins in the newest release, in order."""
    return tuple(point for point in among if DEFAULT_REGISTRY[plugin].joins(point))


def points_in(release: Release, plugin: str, among: tuple[str, ...] = tuple(POINTS)) -> tuple[str, ...]:
    """Those of *release*: where its default profile has the plugin, if that lists each point, else those that it can join."""
    points = _defaults(release)
    if release.configuration.lists_points and any(plugin in found for found in points.values()):
        return tuple(point for point in among if plugin in points.get(point, ()))
    return tuple(point for point in points_of(plugin, among) if (plugin, point) not in release.framework.points_lacked)


def successors(older: Release, described: Mapping[str, Mapping[str, str]], newer: Release) -> Iterator[Successor]:
    """What took in *newer* the place of each rule that *older* knows; *described*: how it has its ``predicates`` and ``priorities``."""
    draft = _Successors(older, newer)
    for name, how in described["predicates"].items():
        if name in FILTERS:
            yield draft.of("predicate", name, how, draft.predicates[name])
    for name, how in described["priorities"].items():
        if name in PRIORITIES:
            yield draft.of("priority", name, how, draft.priorities[name])
    for name, plugins in draft.arguments.items():
        yield draft.of("priority argument", name, "named by a Policy", plugins)
    for plugin, words in BUILT_IN.items():
        if plugin in draft.weights:
            yield Successor("built in", None, None, (PluginPoints(plugin, points_in(newer, plugin)),), "default", words)


@attrs.frozen
class _Successors:
    older: Release
    newer: Release
    weights: Mapping[str, int] = attrs.field(init=False)
    """Default plugin -> weight."""
    policies: PolicyCells = attrs.field(init=False)
    """What the newer release makes of a Policy; empty where it reads none."""

    @weights.default
    def _weights(self) -> Mapping[str, int]:
        return weights(self.newer)

    @policies.default
    def _policies(self) -> PolicyCells:
        return self.newer.policies or PolicyCells(aliases={})

    @property
    def predicates(self) -> Mapping[str, tuple[str, ...]]:
        """Predicate -> the plugins that took its place."""
        return {**FILTERS, **{name: tuple(plugins.split()) for name, plugins in self.policies.predicates.items()}}

    @property
    def priorities(self) -> Mapping[str, tuple[str, ...]]:
        """Priority -> the plugin that took its place."""
        own = {name: (plugin,) for name, plugin in self.policies.priorities.items() if plugin not in self._replaced(name)}
        if "RequestedToCapacityRatio" in own:
            own = {"RequestedToCapacityRatioPriority": own["RequestedToCapacityRatio"], **own}
        gate = self.newer.gates.get(self.policies.spread_gate)
        if gate is not None and gate.default:
            own["SelectorSpreadPriority"] = SPREAD
        own |= {name: own[known] for name, known in self.policies.aliases.items() if known in own}
        return {**PRIORITIES, **own}

    def _replaced(self, name: str) -> tuple[str, ...]:
        """The plugin of a Policy's priority, if that of later releases scores by default already."""
        later = PRIORITIES.get(name, ())
        scores = later and name not in STRATEGIES and later[0] in self.weights and "score" in points_in(self.newer, later[0])
        plugin = self.policies.priorities[name]
        return (plugin,) if scores and plugin not in self.weights else ()

    @property
    def arguments(self) -> Mapping[str, tuple[str, ...]]:
        """Argument of a Policy's own priority -> the plugin that comes nearest."""
        return (
            ARGUMENTS if self.newer.policies is None else {"labelPreference": ("NodeLabel",), "serviceAntiAffinity": ("ServiceAffinity",)}
        )

    def of(self, kind: Literal["predicate", "priority", "priority argument"], name: str, how: str, plugins: tuple[str, ...]) -> Successor:
        """What took the place of one rule."""
        points = FILTER_POINTS if kind == "predicate" else SCORE_POINTS
        gone = [plugin for plugin in plugins if plugin in self.newer.configuration.gone_plugins]
        words = self._words(name, plugins, SAME if kind == "predicate" else SAME_SCALED)
        if gone:
            words = f"gone with plugin {', '.join(gone)}: {COUNTED_ELSEWHERE}"
        found = tuple(PluginPoints(plugin, points_in(self.newer, plugin, points)) for plugin in plugins if plugin not in gone)
        is_argument = name in ARGUMENTS or (name in STRATEGIES and plugins == USAGE)
        after = "by an argument of the plugin" if is_argument else self._default([one.plugin for one in found], points == SCORE_POINTS)
        return Successor(kind, name, how, found, after, words)

    def _words(self, name: str, plugins: tuple[str, ...], same: str) -> str:
        """What became different; where Policies are still read that is what each release up to the newer one changed."""
        if name in self.policies.predicates and not plugins:
            return "gone: as before it is accepted and never runs"
        if self.newer.policies is None or name in STILL or not plugins:
            return TOLD[name]
        facts = [
            f"{fact.release}: {fact.sentence}"
            for fact in facts_between(self.older.version, self.newer.version)
            if fact.decides and any(fact.is_about(rule) for rule in (name, *plugins))
        ]
        return "; ".join(facts) or same

    def _default(self, plugins: Sequence[str], scores: bool) -> str | None:
        if not plugins:
            return None
        if any(plugin not in self.weights for plugin in plugins):
            return "named by a profile"
        return f"default, weight {self.weights[plugins[0]]}" if scores else "default"
