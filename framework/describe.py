"""Releases, and the differences between two of them, as values and plain data.

Between two generations: the successors of each predicate and priority, at which extension points they run,
and the differences in behaviour, from the facts of the first release with plugins. Upstream:
framework/plugins/legacy_registry.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from ..algorithmprovider.gates import resolved_gates
from ..api.record import DocumentRecord, Names, Record, field, says
from ..choices import DEFAULT_RELEASE, NEWEST_RELEASE
from ..core.release import PolicyCells, Release
from ..core.release.fact import RuleFact, gates_that, rule_facts
from .config.fielderrors import Context
from .config.profiles import default_plugins
from .migrate.profiles import COUNTED_ELSEWHERE
from .plugin import POINTS
from .registry import DEFAULT_REGISTRY, registry_of
from .releases import (
    ALL_PATCH_LEVELS,
    ALL_RELEASES,
    FRAMEWORK_RELEASES,
    OTHER_PATCHES,
    OtherPatches,
    ReleaseFact,
    facts_between,
    facts_of,
    find_any_release,
)

Part = Literal["predicates", "priorities", "plugins", "gates"]
SAME = "the same"
STRATEGIES = ("MostRequestedPriority", "RequestedToCapacityRatioPriority")
"""Priorities that became arguments of a plugin."""
KINDS: Mapping[str, Literal["predicate", "priority", "priority argument"]] = {
    "predicate": "predicate",
    "priority": "priority",
    "argument": "priority argument",
}
"""Kind of a :class:`~kubeclassic.core.release.fact.RuleFact` -> its name in JSON."""


class PluginPoints(Record):
    """A plugin, and the extension points at which it takes the place of a rule."""

    plugin: str
    points: Names


class Successor(Record):
    """A predicate or priority, and its successors among plugins."""

    kind: Literal["predicate", "priority", "priority argument", "built in"]
    rule: str | None
    """The name of the rule; null if it was built in, or is new."""
    before: str | None
    """The way the rule is enabled, such as default or named by a Policy."""
    plugins: tuple[PluginPoints, ...]
    after: str | None
    """The way the plugins are enabled, such as default or named by a profile."""
    words: str
    """The difference in behaviour."""


DECIDING, EARLIER, IDLE, CLASSIC = map(
    gates_that, ("decides", "decided earlier", "changes no answer", "decides up to 1.16")
)
DECISIVE = frozenset((*DECIDING, *IDLE))
"""The gates that ``releases`` shows, besides those that are not modelled. It shows earlier ones where they
can be set."""

WITH_ARGUMENT = ("CheckNodeLabelPresence", "CheckServiceAffinity")
"""Predicates that a Policy configures by an argument, under a name of its own."""

Generation = Literal["predicates and priorities", "plugins"]
InWords = Annotated[Mapping[str, str], says("Name -> in words.")]
Facts = Annotated[
    tuple[ReleaseFact, ...], says("What it does differently from the release before it, one entry each.")
]


class ReleaseSummary(Record):
    """A release in a line."""

    release: str
    like: str
    """The patch level that it behaves like."""
    runs: Generation
    is_default: bool = field(name="default")
    """Whether it is the default with a Policy, or where no node has a version."""
    other_patches: OtherPatches = ""


class ReleaseList(DocumentRecord):
    """All releases, oldest first."""

    KIND = "ReleaseList"
    releases: tuple[ReleaseSummary, ...]


class DescribedPlugin(Record):
    """A plugin of a release."""

    points: Names
    weight: int | None
    """The weight of its scores; null for a plugin that does not score."""
    is_default: bool = field(name="default")


class ClassicRelease(DocumentRecord):
    """A release with predicates and priorities."""

    KIND = "Release"
    release: str
    like: str
    runs: Literal["predicates and priorities"]
    predicates: InWords
    """Name -> in words, in running order."""
    priorities: InWords
    gates: InWords
    facts: Facts = ()
    other_patches: OtherPatches = ""


class PluginRelease(DocumentRecord):
    """A release with plugins."""

    KIND = "Release"
    release: str
    like: str
    runs: Literal["plugins"]
    plugins: Mapping[str, DescribedPlugin]
    """Name -> plugin, in the order of the default profile."""
    gates: InWords
    facts: Facts = ()
    other_patches: OtherPatches = ""


class ReleaseDifference(Record):
    """One difference between two releases of a kind, in words: before and after are null where a release
    lacks the name."""

    about: Part
    what: str
    """The name of the rule or gate."""
    words: str | None
    """The effect of a gate; null for other names."""
    before: str | None
    after: str | None


class ReleaseDiff(DocumentRecord):
    """All differences between two releases."""

    KIND = "ReleaseDiff"
    before: str
    after: str
    differences: tuple[ReleaseDifference, ...] = ()
    """The differences in rules, their weights, and gates."""
    successors: tuple[Successor, ...] = ()
    """The successors of each rule, between a release with predicates and priorities and one with plugins.
    They always lead from the older to the newer release."""
    facts: tuple[ReleaseFact, ...] = ()
    """The facts of the releases after the older one, up to the newer one, oldest first."""

    @property
    def is_backwards(self) -> bool:
        """Whether the newer release of two generations was named first."""
        return bool(self.successors) and has_plugins(self.before)


ReleasesDocument = Annotated[
    ReleaseList | ClassicRelease | PluginRelease | ReleaseDiff,
    says("The list of releases, one release, or what two of them do differently."),
]


# --- one release --------------------------------------------------------------------------------------------


def summaries() -> tuple[ReleaseSummary, ...]:
    """Every release, oldest first."""
    return tuple(
        ReleaseSummary(
            name,
            ALL_PATCH_LEVELS[name],
            "plugins" if has_plugins(name) else "predicates and priorities",
            name in (DEFAULT_RELEASE, NEWEST_RELEASE),
            OTHER_PATCHES.get(name, ""),
        )
        for name in ALL_RELEASES
    )


def has_plugins(version: str) -> bool:
    """Whether the release *version* runs plugins."""
    return version in FRAMEWORK_RELEASES


def describe_any(name: str, *, all_gates: bool = False) -> ClassicRelease | PluginRelease:
    """The release called *name*: rules or plugins in running order, gates, and the facts of the release.

    Gates are those that decisions may depend on, or *all_gates*. Raises
    :class:`~kubeclassic.exceptions.UnknownNameError`.
    """
    release = find_any_release(name)
    version = release.version
    parts = _parts(release, all_gates)
    patch_level = ALL_PATCH_LEVELS[version]
    rest = (tuple(map(ReleaseFact.of, facts_of(version))), OTHER_PATCHES.get(version, ""))
    if has_plugins(version):
        return PluginRelease(version, patch_level, "plugins", _plugins(release), parts["gates"], *rest)
    return ClassicRelease(
        version,
        patch_level,
        "predicates and priorities",
        parts["predicates"],
        parts["priorities"],
        parts["gates"],
        *rest,
    )


def _predicates(release: Release) -> Iterator[tuple[str, str]]:
    """Each predicate in running order, and when it runs, in a few words."""
    effects = release.gate_effects
    added_names = {*release.default_predicates, *(name for effect in effects for name in effect.adds)}
    for name in dict.fromkeys(
        (*release.ordering, *release.predicates, *(name for effect in effects for name in effect.registers))
    ):
        gate = next((effect for effect in effects if name in (*effect.registers, *effect.unregisters)), None)
        switch = f" {'without' if name in gate.unregisters else 'with'} {gate.gate}" if gate else ""
        if name not in release.ordering:
            yield name, "accepted, never runs"
        elif name in release.default_predicates or (gate and name in added_names):
            yield name, f"default{switch}"
        elif name in release.predicates:
            yield name, f"named by a Policy{switch}"
        else:
            yield name, "with an argument only" if name in WITH_ARGUMENT else "no Policy can name it"


def _priorities(release: Release) -> Iterator[tuple[str, str]]:
    gated = {
        effect.registers_priority: effect for effect in release.gate_effects if effect.registers_priority
    }
    for name in dict.fromkeys((*release.priorities, *gated)):
        effect = gated.get(name)
        weight = release.default_priorities.get(name)
        how = "named by a Policy" if weight is None else f"default, weight {weight}"
        if effect is not None:
            how = (
                f"{'default, weight 1,' if effect.adds_priority else 'named by a Policy'} with {effect.gate}"
            )
        yield name, how


def _plugins(release: Release) -> dict[str, DescribedPlugin]:
    """Each plugin, in the order of the default profile, without priorities that some releases run like
    plugins."""
    defaults = weights(release)
    priorities = {name for name, rule in rule_facts().items() if rule.kind == "priority"}
    names = dict.fromkeys([*defaults, *(name for name in registry_of(release) if name not in priorities)])
    points = {name: points_in(release, name) for name in names}
    return {
        name: DescribedPlugin(
            joined, (defaults.get(name) or 1) if "score" in joined else None, name in defaults
        )
        for name, joined in points.items()
    }


def _gates(release: Release, all_gates: bool) -> Iterator[tuple[str, str]]:
    """Each gate that decisions may depend on, or all: its default, its stage, and whether it is locked."""
    cells = release.configuration
    is_older = not has_plugins(release.version)
    shown_gates = CLASSIC.keys() if is_older else DECISIVE.union(cells.not_modelled)
    for name in sorted({*release.gates, *(shown_gates & cells.settled_gates)}):
        if (gate := release.gates.get(name)) is None:
            yield name, "gone, always on"
        elif all_gates or name in shown_gates or (not is_older and name in EARLIER and not gate.locked):
            locked = (
                f"{', locked' if gate.locked else ''}{', not modelled' if name in cells.not_modelled else ''}"
            )
            yield name, f"{'on' if gate.default else 'off'}, {gate.stage or 'GA'}{locked}"


def gate_words(gate: str) -> str | None:
    """The effect of *gate* in the framework, or why it changes no answer; None for a gate that decisions do
    not read."""
    not_modelled = (release.configuration.not_modelled for release in FRAMEWORK_RELEASES.values())
    tables = (DECIDING, EARLIER, IDLE, CLASSIC, *not_modelled)
    return next((words for table in tables if (words := table.get(gate))), None)


def plugin_in_words(plugin: DescribedPlugin) -> str:
    """The times when a plugin runs, in a few words."""
    weight = f", weight {plugin.weight}" if plugin.weight is not None else ""
    return f"default{weight}" if plugin.is_default else "named by a profile"


# --- two releases -------------------------------------------------------------------------------------------


def diff_any(before: str, after: str, *, all_gates: bool = False) -> ReleaseDiff:
    """All differences between the releases *before* and *after*. Raises
    :class:`~kubeclassic.exceptions.UnknownNameError`."""
    releases = find_any_release(before), find_any_release(after)
    older, newer = sorted(releases, key=list(ALL_RELEASES.values()).index)
    facts = tuple(map(ReleaseFact.of, facts_between(older.version, newer.version)))
    sides = [_parts(release, all_gates) for release in releases]
    differ = sides[0].keys() != sides[1].keys()
    rules = tuple(successors(older, _parts(older, all_gates), newer)) if differ else ()
    differences = tuple(
        ReleaseDifference(part, name, gate_words(name) if part == "gates" else None, old_words, new_words)
        for part in sides[0]
        if part in sides[1]
        for name in dict.fromkeys((*sides[0][part], *sides[1][part]))
        if (old_words := sides[0][part].get(name)) != (new_words := sides[1][part].get(name))
    )
    return ReleaseDiff(releases[0].version, releases[1].version, differences, rules, facts)


def _parts(release: Release, all_gates: bool) -> Mapping[Part, Mapping[str, str]]:
    """The parts of a release: name -> in words."""
    gates = dict(_gates(release, all_gates))
    if has_plugins(release.version):
        return {
            "plugins": {name: plugin_in_words(plugin) for name, plugin in _plugins(release).items()},
            "gates": gates,
        }
    return {
        "predicates": dict(_predicates(release)),
        "priorities": dict(_priorities(release)),
        "gates": gates,
    }


# --- what took the place of a rule --------------------------------------------------------------------------


def _defaults(release: Release) -> Mapping[str, Mapping[str, int]]:
    """Extension point, or multiPoint -> plugin -> weight, of the default profile of *release*."""
    return {
        point: {plugin.name: plugin.weight for plugin in plugin_set.enabled}
        for point, plugin_set in default_plugins(Context(release, resolved_gates(release))).items()
    }


def weights(release: Release) -> dict[str, int]:
    """Default plugin of *release* -> weight; 0 for one that does not score, or has none of its own. Filter
    plugins are in their order."""
    points = _defaults(release)
    ordered = dict.fromkeys([*("queueSort", "filter"), *POINTS, *points])
    weight_by_plugin = {plugin: 0 for point in ordered for plugin in points.get(point, ())}
    return {**weight_by_plugin, **points.get("score", {}), **points.get("multiPoint", {})}


def points_of(plugin: str, among: Names = tuple(POINTS)) -> Names:
    """The extension points that *plugin* joins in the newest release, in order."""
    joined = DEFAULT_REGISTRY[plugin].joined()
    return tuple(point for point in among if point in joined)


def points_in(release: Release, plugin: str, among: Names = tuple(POINTS)) -> Names:
    """The points of a plugin in *release*: of its default profile, if that lists each point, else those that
    it can join."""
    points = _defaults(release)
    if release.configuration.lists_points and any(plugin in plugins for plugins in points.values()):
        return tuple(point for point in among if plugin in points.get(point, ()))
    return tuple(
        point for point in points_of(plugin, among) if (plugin, point) not in release.framework.points_lacked
    )


def successors(
    older: Release, described: Mapping[Part, Mapping[str, str]], newer: Release
) -> Iterator[Successor]:
    """The successors in *newer* of each rule that *older* knows; *described*: its ``predicates`` and
    ``priorities``."""
    defaults = weights(newer)
    rules = rule_facts()
    status_by_rule = {
        **described["predicates"],
        **described["priorities"],
        **{name: "named by a Policy" for name, rule in rules.items() if rule.kind == "argument"},
    }
    for name, status in status_by_rule.items():
        if name in rules:
            yield _successor(rules[name], status, older, newer, defaults)
    for name, rule in rules.items():
        if rule.kind == "built in" and name in defaults:
            yield Successor(
                "built in",
                None,
                None,
                (PluginPoints(name, points_in(newer, name)),),
                "default",
                rule.sentence,
            )


def _successor(
    rule: RuleFact, status: str, older: Release, newer: Release, defaults: Mapping[str, int]
) -> Successor:
    """The successor of one rule; *defaults*: default plugin -> weight."""
    filters = rule.kind == "predicate"
    points = ("preFilter", "filter") if filters else ("preScore", "score")
    plugins = _replacing_plugins(rule, newer, defaults)
    gone_plugins = [plugin for plugin in plugins if plugin in newer.configuration.gone_plugins]
    plugin_points = tuple(
        PluginPoints(plugin, points_in(newer, plugin, points))
        for plugin in plugins
        if plugin not in gone_plugins
    )
    after: str | None = (
        f"default, weight {defaults.get(plugins[0])}" if plugins and not filters else "default"
    )
    if not plugin_points:
        after = None
    elif rule.kind == "argument" or (rule.rule in STRATEGIES and plugins == rule.plugins):
        after = "by an argument of the plugin"
    elif any(entry.plugin not in defaults for entry in plugin_points):
        after = "named by a profile"
    if gone_plugins:
        words = f"gone with plugin {', '.join(gone_plugins)}: {COUNTED_ELSEWHERE}"
    else:
        words = _words(rule, plugins, older, newer)
    return Successor(KINDS[rule.kind], rule.rule, status, plugin_points, after, words)


def _replacing_plugins(rule: RuleFact, newer: Release, defaults: Mapping[str, int]) -> Names:
    """The plugins in place of a rule: those of a Policy, except where a later one already scores by
    default."""
    policies = newer.policies or PolicyCells()
    if rule.kind == "predicate":
        successor_names = policies.predicates.get(rule.rule)
        return rule.plugins if successor_names is None else tuple(successor_names.split())
    names = (rule.rule, policies.aliases.get(rule.rule, ""), *rule.first)
    plugin = next((policies.priorities[name] for name in names if name in policies.priorities), None)
    later = (
        rule.plugins[:1]
        if rule.kind == "priority" and rule.rule not in STRATEGIES and plugin not in defaults
        else ()
    )
    if plugin is None or any(name in defaults and "score" in points_in(newer, name) for name in later):
        return rule.plugins
    return (plugin,)


def _words(rule: RuleFact, plugins: Names, older: Release, newer: Release) -> str:
    """The difference in words; where Policies are still read, the changes of each release up to the newer
    one."""
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
