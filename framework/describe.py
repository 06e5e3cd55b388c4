"""What any release is, and what two of them differ in, as values and plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from ..algorithmprovider.description import describe, gate_in_words
from ..api.record import DocumentRecord, Record, field, says
from ..choices import DEFAULT_RELEASE, NEWEST_RELEASE
from ..core.release import Release
from ..core.release.fact import rule_facts
from ..core.release.gates import gates_that
from .correspondences import Successor, points_in, successors, weights
from .facts.facttable import OtherPatches, ReleaseFact, facts_between, facts_of
from .registry import registry_of
from .releases import ALL_PATCH_LEVELS, ALL_RELEASES, FRAMEWORK_RELEASES, OTHER_PATCHES, find_any_release

DECIDING, EARLIER, IDLE, CLASSIC = map(gates_that, ("decides", "decided earlier", "changes no answer", "decides up to 1.16"))
DECISIVE = frozenset((*DECIDING, *IDLE))
"""The gates that ``releases`` shows, besides those that are not modelled; earlier ones are shown where they can be switched."""

Json = dict[str, Any]
Part = Literal["predicates", "priorities", "plugins", "gates"]

Generation = Literal["predicates and priorities", "plugins"]
InWords = Annotated[Mapping[str, str], says("Name -> in words.")]
Facts = Annotated[tuple[ReleaseFact, ...], says("What it does otherwise than the release before it, one entry each.")]


class ReleaseSummary(Record):
    """A release in a line."""

    release: str
    like: Annotated[str, says("The patch level that it is like.")]
    runs: Generation
    is_default: Annotated[bool, says("Taken by default with a Policy, or where no node says one.")] = field(name="default")
    other_patches: OtherPatches = ""


class ReleaseList(DocumentRecord):
    """All releases, oldest first."""

    KIND = "ReleaseList"
    releases: tuple[ReleaseSummary, ...]


class DescribedPlugin(Record):
    """A plugin of a release."""

    points: tuple[str, ...]
    weight: Annotated[int | None, says("Null for a plugin that does not score.")]
    is_default: bool = field(name="default")


class ClassicRelease(DocumentRecord):
    """A release with predicates and priorities."""

    KIND = "Release"
    release: str
    like: str
    runs: Literal["predicates and priorities"]
    predicates: Annotated[InWords, says("Name -> in words, in running order.")]
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
    plugins: Annotated[Mapping[str, DescribedPlugin], says("In the order of the default profile.")]
    gates: InWords
    facts: Facts = ()
    other_patches: OtherPatches = ""


class ReleaseDifference(Record):
    """One name in which two releases of a kind differ, in words; null where one of them does not have it."""

    about: Part
    what: Annotated[str, says("The name of the rule or gate.")]
    words: Annotated[str | None, says("What a gate decides; null for other names.")]
    before: str | None
    after: str | None


class ReleaseDiff(DocumentRecord):
    """Everything in which two releases differ."""

    KIND = "ReleaseDiff"
    before: str
    after: str
    differences: Annotated[tuple[ReleaseDifference, ...], says("In rules, their weights, and gates.")] = ()
    successors: Annotated[
        tuple[Successor, ...],
        says(
            "Between a release with predicates and priorities and one with plugins: what took the place of each rule. "
            "It is always from the older to the newer release."
        ),
    ] = ()
    facts: Annotated[
        tuple[ReleaseFact, ...], says("What the releases after the older one, up to the newer one, do otherwise, oldest first.")
    ] = ()

    @property
    def is_backwards(self) -> bool:
        """Whether the newer release of two generations was named first."""
        return bool(self.successors) and has_plugins(self.before)


ReleasesDocument = Annotated[
    ReleaseList | ClassicRelease | PluginRelease | ReleaseDiff,
    says("The list of releases, one release, or what two of them do differently."),
]


# --- one release ----------------------------------------------------------------------------------------------------


def summaries() -> tuple[ReleaseSummary, ...]:
    """Every release, oldest first."""
    defaults = (DEFAULT_RELEASE, NEWEST_RELEASE)
    return tuple(
        ReleaseSummary(
            name,
            ALL_PATCH_LEVELS[name],
            "plugins" if has_plugins(name) else "predicates and priorities",
            name in defaults,
            OTHER_PATCHES.get(name, ""),
        )
        for name in ALL_RELEASES
    )


def has_plugins(version: str) -> bool:
    """Whether the release *version* runs plugins."""
    return version in FRAMEWORK_RELEASES


def describe_any(name: str, *, all_gates: bool = False) -> ClassicRelease | PluginRelease:
    """The release called *name*: rules or plugins in running order, gates, and the facts of the release.

    Gates are those that decisions may depend on, or *all_gates*. Raises :class:`~kubeclassic.exceptions.UnknownNameError`.
    """
    release = find_any_release(name)
    found = _described(release, all_gates)
    like, facts = ALL_PATCH_LEVELS[release.version], tuple(map(ReleaseFact.of, facts_of(release.version)))
    rest = found["gates"], facts, OTHER_PATCHES.get(release.version, "")
    if "plugins" in found:
        return PluginRelease(release.version, like, "plugins", found["plugins"], *rest)
    return ClassicRelease(release.version, like, "predicates and priorities", found["predicates"], found["priorities"], *rest)


def _described(release: Release, all_gates: bool) -> Json:
    """As :func:`~kubeclassic.algorithmprovider.description.describe`, for both generations."""
    if not has_plugins(release.version):
        return describe(release.version, all_gates=all_gates)
    # Each plugin, in the order of the default profile; not the priorities that some releases run as if they were plugins.
    known, priorities = weights(release), {name for name, rule in rule_facts().items() if rule.kind == "priority"}
    names = dict.fromkeys([*known, *(name for name in registry_of(release) if name not in priorities)])
    points = {name: points_in(release, name) for name in names}
    return {
        "release": release.version,
        "plugins": {name: DescribedPlugin(found, _weight(found, known.get(name, 0)), name in known) for name, found in points.items()},
        "gates": dict(_gates(release, all_gates)),
    }


def _gates(release: Release, all_gates: bool) -> Iterator[tuple[str, str]]:
    cells = release.configuration
    shown = DECISIVE.union(cells.not_modelled)
    for name in sorted({*release.gates, *(shown & cells.settled_gates)}):
        if name in cells.settled_gates:
            yield name, "gone, always on"
        elif all_gates or name in shown or (name in EARLIER and not release.gates[name].locked):
            yield name, gate_in_words(release.gates[name]) + (", not modelled" if name in cells.not_modelled else "")


def gate_words(gate: str) -> str | None:
    """What *gate* decides in the framework, or why it changes no answer; None for one that decisions do not ask."""
    missing = next((found for release in FRAMEWORK_RELEASES.values() if (found := release.configuration.not_modelled.get(gate))), None)
    return next((found for table in (DECIDING, EARLIER, IDLE, CLASSIC) if (found := table.get(gate))), missing)


def plugin_in_words(plugin: DescribedPlugin) -> str:
    """When a plugin runs, in a few words."""
    weight = f", weight {plugin.weight}" if plugin.weight is not None else ""
    return f"default{weight}" if plugin.is_default else "named by a profile"


def _weight(points: Sequence[str], weight: int) -> int | None:
    return (weight or 1) if "score" in points else None


# --- two releases ---------------------------------------------------------------------------------------------------


def diff_any(before: str, after: str, *, all_gates: bool = False) -> ReleaseDiff:
    """Everything in which the releases *before* and *after* differ. Raises :class:`~kubeclassic.exceptions.UnknownNameError`."""
    releases = find_any_release(before), find_any_release(after)
    old, new = (_described(release, all_gates) for release in releases)
    older, newer = sorted(releases, key=list(ALL_RELEASES.values()).index)
    facts = tuple(map(ReleaseFact.of, facts_between(older.version, newer.version)))
    pair = releases[0].version, releases[1].version
    if "plugins" in old and "plugins" in new:
        for side in (old, new):
            side["plugins"] = {name: plugin_in_words(plugin) for name, plugin in side["plugins"].items()}
        return ReleaseDiff(*pair, tuple(_differences(("plugins", "gates"), old, new)), facts=facts)
    if "predicates" in old and "predicates" in new:
        return ReleaseDiff(*pair, tuple(_differences(("predicates", "priorities", "gates"), old, new)), facts=facts)
    rules = tuple(successors(older, old if "predicates" in old else new, newer))
    return ReleaseDiff(*pair, tuple(_differences(("gates",), old, new)), rules, facts)


def _differences(parts: tuple[Part, ...], old: Json, new: Json) -> Iterator[ReleaseDifference]:
    for about in parts:
        for what in dict.fromkeys((*old[about], *new[about])):
            before, after = old[about].get(what), new[about].get(what)
            if before != after:
                yield ReleaseDifference(about, what, gate_words(what) if about == "gates" else None, before, after)
