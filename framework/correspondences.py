"""Which plugins took the place of each predicate and priority, at which extension points, and what became
different.

What the rules became is told by the facts of the first release with plugins. Upstream:
framework/plugins/legacy_registry.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from ..algorithmprovider.gates import resolved_gates
from ..api.record import Record
from ..core.release import PolicyCells, Release
from ..core.release.fact import RuleFact, rule_facts
from .config.defaults import default_plugins
from .config.fielderrors import Context
from .facts.facttable import facts_between
from .migrate.draft import COUNTED_ELSEWHERE
from .registry import DEFAULT_REGISTRY
from .status import POINTS

Part = Literal["predicates", "priorities", "plugins", "gates"]
SAME = "the same"
STRATEGIES = ("MostRequestedPriority", "RequestedToCapacityRatioPriority")
"""Priorities that became arguments of a plugin."""
KINDS: Mapping[str, Literal["predicate", "priority", "priority argument"]] = {
    "predicate": "predicate", "priority": "priority", "argument": "priority argument",
}  # fmt: skip
"""Kind of a :class:`~kubeclassic.core.release.fact.RuleFact` -> what JSON calls it."""


class PluginPoints(Record):
    """A plugin, and the extension points at which it takes the place of a rule."""

    plugin: str
    points: tuple[str, ...]


class Successor(Record):
    """A predicate or priority, and what took its place."""

    kind: Literal["predicate", "priority", "priority argument", "built in"]
    rule: str | None
    """null: it was built in, or is new."""
    before: str | None
    """How the rule comes to run."""
    plugins: tuple[PluginPoints, ...]
    after: str | None
    """How the plugins come to run."""
    words: str
    """What became different."""


def _defaults(release: Release) -> Mapping[str, Mapping[str, int]]:
    """Extension point, or multiPoint -> plugin -> weight, of the default profile of *release*."""
    context = Context(release, resolved_gates(release))
    points = default_plugins(context)
    return {
        point: {plugin.name: plugin.weight for plugin in found.enabled} for point, found in points.items()
    }


def weights(release: Release) -> dict[str, int]:
    """Default plugin of *release* -> weight; 0 for one that does not score, or has none of its own. Filter plugins are in their order."""
    points = _defaults(release)
    ordered = dict.fromkeys([*("queueSort", "filter"), *POINTS, *points])
    found = {plugin: 0 for point in ordered for plugin in points.get(point, ())}
    return {**found, **points.get("score", {}), **points.get("multiPoint", {})}


def points_of(plugin: str, among: tuple[str, ...] = tuple(POINTS)) -> tuple[str, ...]:
    """The extension points that *plugin* joins in the newest release, in order."""
    return tuple(point for point in among if DEFAULT_REGISTRY[plugin].joins(point))


def points_in(release: Release, plugin: str, among: tuple[str, ...] = tuple(POINTS)) -> tuple[str, ...]:
    """Those of *release*: where its default profile has the plugin, if that lists each point, else those that it can join."""
    points = _defaults(release)
    if release.configuration.lists_points and any(plugin in found for found in points.values()):
        return tuple(point for point in among if plugin in points.get(point, ()))
    return tuple(
        point for point in points_of(plugin, among) if (plugin, point) not in release.framework.points_lacked
    )


def successors(
    older: Release, described: Mapping[Part, Mapping[str, str]], newer: Release
) -> Iterator[Successor]:
    """What took in *newer* the place of each rule that *older* knows; *described*: how it has its ``predicates`` and ``priorities``."""
    known, rules = weights(newer), rule_facts()
    arguments = (name for name, rule in rules.items() if rule.kind == "argument")
    named = {
        **described["predicates"],
        **described["priorities"],
        **dict.fromkeys(arguments, "named by a Policy"),
    }
    for name, how in named.items():
        if name in rules:
            yield _successor(rules[name], how, older, newer, known)
    for name, rule in rules.items():
        if rule.kind == "built in" and name in known:
            yield Successor(
                "built in",
                None,
                None,
                (PluginPoints(name, points_in(newer, name)),),
                "default",
                rule.sentence,
            )


def _successor(
    rule: RuleFact, how: str, older: Release, newer: Release, known: Mapping[str, int]
) -> Successor:
    """What took the place of one rule; *known*: default plugin -> weight."""
    filters = rule.kind == "predicate"
    points = ("preFilter", "filter") if filters else ("preScore", "score")
    plugins = _plugins(rule, newer, known)
    gone = [plugin for plugin in plugins if plugin in newer.configuration.gone_plugins]
    found = tuple(
        PluginPoints(plugin, points_in(newer, plugin, points)) for plugin in plugins if plugin not in gone
    )
    after: str | None = f"default, weight {known.get(plugins[0])}" if plugins and not filters else "default"
    if not found:
        after = None
    elif rule.kind == "argument" or (rule.rule in STRATEGIES and plugins == rule.plugins):
        after = "by an argument of the plugin"
    elif any(one.plugin not in known for one in found):
        after = "named by a profile"
    words = (
        f"gone with plugin {', '.join(gone)}: {COUNTED_ELSEWHERE}"
        if gone
        else _words(rule, plugins, older, newer)
    )
    return Successor(KINDS[rule.kind], rule.rule, how, found, after, words)


def _plugins(rule: RuleFact, newer: Release, known: Mapping[str, int]) -> tuple[str, ...]:
    """The plugins in place of a rule: those of a Policy, but where a later one scores by default already."""
    policies = newer.policies or PolicyCells()
    if rule.kind == "predicate":
        named = policies.predicates.get(rule.rule)
        return rule.plugins if named is None else tuple(named.split())
    names = (rule.rule, policies.aliases.get(rule.rule, ""), *rule.first)
    plugin = next((policies.priorities[name] for name in names if name in policies.priorities), None)
    later = (
        rule.plugins[:1]
        if rule.kind == "priority" and rule.rule not in STRATEGIES and plugin not in known
        else ()
    )
    if plugin is None or any(name in known and "score" in points_in(newer, name) for name in later):
        return rule.plugins
    return (plugin,)


def _words(rule: RuleFact, plugins: tuple[str, ...], older: Release, newer: Release) -> str:
    """What became different; where Policies are still read that is what each release up to the newer one changed."""
    if newer.policies is not None and not plugins and rule.rule in newer.policies.predicates:
        return "gone: as before it is accepted and never runs"
    if newer.policies is None or rule.holds_always or not plugins:
        return rule.sentence
    facts = [
        f"{fact.release}: {fact.sentence}"
        for fact in facts_between(older.version, newer.version)
        if fact.decides and any(fact.is_about(name) for name in (rule.rule, *plugins))
    ]
    return "; ".join(facts) or (SAME if rule.kind == "predicate" else f"{SAME}, on a scale to 100")
