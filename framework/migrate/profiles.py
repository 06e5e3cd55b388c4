"""Profiles that are being written, and a configuration of one release as another release reads it.

It stays as it is, or is written in another version, or as other plugins. A Policy of the first releases of
the framework is such a configuration, too; see :mod:`kubeclassic.framework.policy`.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import attrs

from ...algorithmprovider.config import AlgorithmConfiguration
from ...algorithmprovider.extenders import ExtenderConfig
from ...algorithmprovider.gates import resolved_gates
from ...algorithmprovider.policy import DEFAULT_PROVIDER, Policy
from ...api.meaning import duration_text
from ...api.objects import DEFAULT_SCHEDULER, JsonDict, JsonObject, json_names
from ...api.reading import TYPE_META, removed, unknown_fields
from ...api.record import UNSET, Record, UnsetType, plain
from ...core.release import ConfigurationCells, Release
from ...core.release.fact import rule_facts
from ...exceptions import PolicyError, UnknownNameError
from ..config.apiversions import WEIGHT, cells_in, is_flat, newest_taking, with_profiles
from ..config.args import (
    NodeLabelArgs,
    RequestedToCapacityRatioArgs,
    later_args,
    passes_over_args,
    takes_args,
    unknown_args,
)
from ..config.configuration import KubeSchedulerConfiguration, as_read, fields_without, read_configuration
from ..config.fielderrors import Context
from ..config.profiles import GROUP, ProfileConfig
from ..plugin import POINTS
from ..policy import (
    AFFINITY,
    DEFAULT_AFFINITY_WEIGHT,
    SPREAD,
    configuration_of_policy,
    configuration_of_provider,
)
from ..releases import ADDRESSES, ALL_RELEASES, FRAMEWORK_RELEASES, framework_release


class Note(Record):
    """One part of a Policy without an exact equivalent, and what replaces it."""

    subject: str
    """A predicate, a priority, a plugin, or a field of the Policy."""
    text: str
    upstream: str | None = None
    """The result of upstream's own translation, where it differs."""

    def __str__(self) -> str:
        upstream_text = f" (upstream's translation {self.upstream})" if self.upstream else ""
        return f"{self.subject}: {self.text}{upstream_text}"


RULES = rule_facts()
"""Predicate, priority or built-in feature -> its successor."""
SELECTOR_SPREAD = "SelectorSpread"
"""The plugin with the formula of SelectorSpreadPriority."""
PRE_SCORERS = frozenset({"InterPodAffinity", "NodeAffinity", "NodeResourcesBalancedAllocation"})
PRE_SCORERS |= {"NodeResourcesFit", "PodTopologySpread", "TaintToleration"}
"""The plugins with a PreScore, in some release."""
SCORERS = PRE_SCORERS | {"ImageLocality", "VolumeBinding"}
"""The plugins that score if they are enabled under multiPoint."""
OWN_CONSTRAINTS = "EvenPodsSpreadPriority"
PEER_SPREADING = ("SelectorSpreadPriority", "ServiceSpreadingPriority")
"""The priorities that prefer few peers."""


def left_out(rule: str) -> str:
    """The reason why no plugin replaces *rule*, for a migration that leaves it out."""
    return RULES[rule].sentence.replace("gone: ", "left out: ")


COUNTED_ELSEWHERE = (
    "NodeVolumeLimits counts such volumes where they are migrated, up to the limit that the CSINode names"
)
"""A note, in words, on the limits of built-in disks in releases without their plugins."""
OLDER_RULES = "refuses it, so that a Policy of an older release would not start"
NODE_LABEL = "has plugin NodeLabel, which was removed in 1.23"
OWN_DEFAULTS = "takes those of its own release, constraints of topology spread among them, PodTopologySpread with weight 2"


# --- extenders ----------------------------------------------------------------------------------------------


def written_extenders(extenders: Sequence[ExtenderConfig]) -> list[JsonDict]:
    """*extenders* as items of ``extenders``."""
    items = [as_json(extender) | {"httpTimeout": duration_text(extender.timeout)} for extender in extenders]
    return [{name: part for name, part in item.items() if part} for item in items]


def as_json(value: Any) -> Any:
    """A value of a configuration in its JSON form, without unset fields; bytes are in base64."""
    if attrs.has(type(value)):
        fields = {name: getattr(value, attribute) for attribute, name in json_names(type(value)).items()}
        return {
            name: as_json(part)
            for name, part in fields.items()
            if part not in (None, (), "", b"") and part is not False
        }
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return [as_json(part) for part in value] if isinstance(value, tuple) else value


# --- as data ------------------------------------------------------------------------------------------------

SORTER = "PrioritySort"
BINDER = "DefaultBinder"
GATES = "SchedulingGates"
DEVICES = "DynamicResources"
TARGETS: Mapping[str, Release] = {
    version: release
    for version, release in FRAMEWORK_RELEASES.items()
    if not release.configuration.lists_points
}
"""The releases that can name plugins for all points at once."""
LISTING: Mapping[str, Release] = {
    version: release
    for version, release in FRAMEWORK_RELEASES.items()
    if release.configuration.lists_points and not is_flat(release.configuration)
}
"""The releases with profiles that list plugins for each point."""


def target_release(name: str, argument: str) -> Release:
    """The release called *name*, which can run a profile.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError` about *argument* if it cannot.
    """
    reader = framework_release(name)
    if reader is None or reader.version not in (*LISTING, *TARGETS):
        reason = "runs the plugins of a Policy or a provider, to which a configuration can only add some"
        if reader is None:
            reason = "has no profiles"
        is_older = reader is not None or name in ALL_RELEASES
        hint = f"; {name} {reason}: give it the Policy itself, which it reads" if is_older else ""
        raise UnknownNameError(f"{argument}: expected {', '.join((*LISTING, *TARGETS))}, got {name}{hint}")
    return reader


ALONE = ("queueSort", "preFilter", "reserve", "permit", "preBind", "bind", "postBind")
"""The extension points at which only a user's own plugins run without a filter or a score."""


class WrittenConfiguration(Record, kw_only=True):
    """A KubeSchedulerConfiguration; fields without a value are omitted."""

    api_version: str
    """The apiVersion of Kubernetes."""
    kind: Literal["KubeSchedulerConfiguration"] = "KubeSchedulerConfiguration"
    percentage_of_nodes_to_score: int | UnsetType = UNSET
    profiles: tuple[JsonDict, ...] | UnsetType = UNSET
    """As Kubernetes has them."""
    extenders: tuple[JsonDict, ...] | UnsetType = UNSET
    """As Kubernetes has them."""


# --- the draft ----------------------------------------------------------------------------------------------

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
NODES = "NodeAffinity"
CHECKS_ALL = (
    "left out, as its code was removed in 1.24: only the first plugin that rejects a node gives its reasons"
)


@attrs.frozen(repr=False)
class Migration:
    """A configuration in its JSON form, and notes to read before it is used."""

    document: JsonDict
    notes: tuple[Note, ...]


@attrs.define(repr=False)
class ProfileDraft:
    """A profile for *target*, and notes on what is not the same as before."""

    target: Release
    filters: dict[str, None] = attrs.Factory(dict)
    """The filter plugins, in order."""
    weights: dict[str, int] = attrs.Factory(dict)
    """Plugin -> the weight of its scores."""
    args: dict[str, Any] = attrs.Factory(dict)
    notes: list[Note] = attrs.Factory(list)

    def note(self, subject: str, text: str, upstream: str | None = None) -> None:
        """Add a note on something that is not the same as before."""
        self.notes.append(Note(subject, text, upstream))

    def is_gone(self, plugin: str) -> bool:
        """Whether the target has no such plugin."""
        return plugin in self.target.configuration.gone_plugins

    def require(
        self,
        subject: str,
        labels: Sequence[Mapping[str, str]],
        upstream: str | None = None,
        added_affinity: JsonObject | None = None,
    ) -> None:
        """Make NodeAffinity require *labels* of every node, besides the *added_affinity* of its arguments."""
        required = (added_affinity or {}).get(REQUIRED)
        terms = [{}] if required is None else required.get("nodeSelectorTerms") or ()
        combined = [
            {**term, "matchExpressions": [*(term.get("matchExpressions") or ()), *labels]}
            for term in terms
            if required is None or (term and any(term.values()))  # an empty one matches no node
        ]
        self.args[NODES] = {
            "addedAffinity": {**(added_affinity or {}), REQUIRED: {"nodeSelectorTerms": combined}}
        }
        terms_text = ", ".join(f"{label['key']} {label['operator']}" for label in labels)
        self.note(
            subject,
            f"replaced by addedAffinity of plugin {NODES}: required {terms_text}; the reason that users see is another",
            upstream,
        )
        if NODES not in self.filters:
            text = f"{NODES} also checks nodeSelector and required node affinity of pods, ignored before"
            self.note(subject, text)
        self.filters[NODES] = None

    def document(
        self,
        scheduler_name: str,
        percentage: int,
        extenders: Sequence[JsonDict],
        post_filters: Sequence[str],
        alone: Mapping[str, Sequence[str]] | None = None,
        absent: Collection[str] = (),
    ) -> JsonDict:
        """A KubeSchedulerConfiguration with the profile, in its JSON form.

        *post_filters*: the plugins that come after those that filter; *percentage* 0 is left out. *alone*:
        extension point -> plugins that run there alone. *absent*: plugins that are usually there and do not
        run.
        """
        last = (name for name in (BINDER, GATES) if not self.is_gone(name))
        plugins = [name for name in (SORTER, *self.filters, *post_filters, *last) if name not in absent]
        alone = alone or {}
        scored = {name: weight for name, weight in self.weights.items() if name != SELECTOR_SPREAD}
        lacked = self.target.framework.points_lacked
        pre_scorers = {name for name in PRE_SCORERS if (name, "preScore") not in lacked}
        everywhere = _entries(plugins)
        disabled_scores = ["*"]
        if SELECTOR_SPREAD in self.weights:
            # Upstream: validation refuses this plugin at every single extension point, but does not look
            # under multiPoint.
            everywhere.append({"name": SELECTOR_SPREAD, "weight": self.weights[SELECTOR_SPREAD]})
            disabled_scores = [name for name in plugins if name in SCORERS and name not in scored]
        disabled = {
            "multiPoint": ["*"],
            "preScore": [name for name in disabled_scores if name in ("*", *pre_scorers)],
            "score": disabled_scores,
        }
        enabled = {
            "multiPoint": everywhere,
            "preScore": _entries(
                [*(name for name in scored if name in pre_scorers), *alone.get("preScore", ())]
            ),
            "score": [{"name": name, "weight": weight} for name, weight in scored.items()],
            **{point: _entries(alone[point]) for point in ALONE if alone.get(point)},
        }
        profile: JsonDict = {
            "schedulerName": scheduler_name,
            "plugins": {
                point: {"disabled": _entries(disabled.get(point, ())), "enabled": enabled[point]}
                for point in ("multiPoint", *POINTS)
                if point in enabled
            },
        }
        if self.args:
            profile["pluginConfig"] = [
                {"name": name, "args": args} for name, args in sorted(self.args.items())
            ]
        document: JsonDict = plain(
            WrittenConfiguration(
                api_version=f"{GROUP}/{self.target.configuration.default_version}",
                percentage_of_nodes_to_score=percentage or UNSET,
                profiles=(profile,),
                extenders=tuple(extenders) or UNSET,
            )
        )
        return document


def _entries(names: Iterable[str]) -> list[JsonDict]:
    return [{"name": name} for name in names]


# --- From plugins -------------------------------------------------------------------------------------------


CONSTRAINTS = "defaultConstraints"
FIT = "NodeResourcesFit"
LIMITS = "NodeVolumeLimits"
LABELS = "NodeLabel"
SERVICES = "ServiceAffinity"
STRATEGIES: Mapping[str, str] = {
    "NodeResourcesLeastAllocated": "LeastAllocated",
    "NodeResourcesMostAllocated": "MostAllocated",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
    "RequestedToCapacityRatioPriority": "RequestedToCapacityRatio",
}
"""Plugin -> the scoring strategy of NodeResourcesFit that replaces it."""
OLD_SPREADS = (SELECTOR_SPREAD, "DefaultPodTopologySpread", "ServiceSpreadingPriority")
LEFT_OUT = {
    "NodePreferAvoidPods": left_out("NodePreferAvoidPodsPriority"),
    "NodeResourceLimits": left_out("ResourceLimitsPriority"),
    "ResourceLimitsPriority": left_out("ResourceLimitsPriority"),
    LABELS: "left out: plugins no longer prefer nodes by labels alone; give pods preferred node affinity",
    SERVICES: "left out: no plugin considers services like this; give pods affinity, or topology spread constraints",
    **dict.fromkeys(
        OLD_SPREADS, f"left out: plugin {SPREAD} spreads pods, with the default constraints of the system"
    ),
}
"""Plugin -> why nothing replaces it."""


def running(
    policy: Policy | None, release: Release, config: AlgorithmConfiguration, percentage: int = 0
) -> KubeSchedulerConfiguration:
    """The configuration that *release* runs with *policy*, or without one with the provider of *config*.
    *percentage*: percentageOfNodesToScore."""
    flags: dict[str, Any] = {
        "gates": config.gates,
        "percentage": percentage,
        "hard_pod_affinity_weight": config.hard_pod_affinity_weight or DEFAULT_AFFINITY_WEIGHT,
    }
    if policy is None:
        return configuration_of_provider(config.source.provider or DEFAULT_PROVIDER, release, **flags)
    return configuration_of_policy(
        policy, release, scheduler_name=config.scheduler_name or DEFAULT_SCHEDULER, **flags
    )


def migrate_profile(
    config: KubeSchedulerConfiguration, target: Release, written: Sequence[JsonObject] = ()
) -> Migration:
    """The profiles of *config* as a KubeSchedulerConfiguration for *target*, with notes on what is not the
    same.

    *written*: for each of them plugin -> its arguments, as they were given.
    """
    extenders = written_extenders(config.extenders)
    documents = list[JsonDict]()
    notes = dict[Note, None]()
    for i, profile in enumerate(config.profiles):
        draft = _PluginsDraft(target, config=config, profile=profile, given=written[i] if written else {})
        draft.filter()
        draft.score()
        draft.keep_arguments()
        documents.append(
            draft.document(
                profile.scheduler_name or DEFAULT_SCHEDULER,
                config.percentage,
                extenders,
                draft.enabled("postFilter"),
                draft.alone(),
                [
                    name
                    for point, name in (("queueSort", SORTER), ("bind", BINDER))
                    if name not in draft.enabled(point)
                ],
            )
        )
        notes |= dict.fromkeys(draft.notes)
    all_notes = [*notes]
    if config.checks_all:
        all_notes.append(Note("alwaysCheckAllPredicates", CHECKS_ALL))
    if not written and not draft.enabled("postFilter"):
        all_notes.append(
            Note(
                "DefaultPreemption",
                f"not enabled, as {config.release.version} does not preempt under a Policy",
            )
        )
    return Migration(
        {**documents[0], "profiles": [profile for document in documents for profile in document["profiles"]]},
        tuple(all_notes),
    )


@attrs.define(repr=False, kw_only=True)
class _PluginsDraft(ProfileDraft):
    config: KubeSchedulerConfiguration
    profile: ProfileConfig
    given: Mapping[str, Any]
    """Plugin -> its arguments, as they were written."""

    def enabled(self, point: str) -> list[str]:
        """The plugins at an extension point."""
        return self.profile.at(point).names

    def _args(self, plugin: str) -> Any:
        return self.profile.args_of(plugin, self.config.context)

    def _given(self, plugin: str) -> JsonObject:
        """The arguments of *plugin* as they were written, if they are read."""
        return {} if passes_over_args(plugin, self.config.context) else self.given.get(plugin, {})

    def alone(self) -> dict[str, list[str]]:
        """Extension point -> the plugins of the profile that run there, and neither filter nor score."""
        handled = {*self.filters, *self.weights, *self.enabled("postFilter"), *OLD_SPREADS, *PRE_SCORERS}
        handled |= {SORTER, BINDER, GATES}
        return {
            point: [name for name in self.enabled(point) if name not in handled and not self.is_gone(name)]
            for point in (*ALONE, "preScore")
        }

    def filter(self) -> None:
        """Take the Filter plugins, and what replaces those that are gone."""
        for name in self.enabled("filter"):
            if name == LABELS:
                args = self._args(name) or NodeLabelArgs()
                labels = [{"key": label, "operator": "Exists"} for label in args.present_labels]
                labels += [{"key": label, "operator": "DoesNotExist"} for label in args.absent_labels]
                if labels:
                    self.require(LABELS, labels, added_affinity=self._given(NODES).get("addedAffinity"))
            elif name == SERVICES:
                self.note(
                    name,
                    "left out: nothing keeps a service's pods on one value of a label; give them required podAffinity on it",
                )
            elif self.is_gone(name):
                self.filters[LIMITS] = None
                self.note(
                    name,
                    f"{self.target.version} has no such plugin: {COUNTED_ELSEWHERE}; other volumes have no limit",
                )
            else:
                self.filters[name] = None

    def score(self) -> None:
        """Take the Score plugins with their weights, and what replaces those that are gone."""
        last_weights = self.profile.weights_of_last_points()
        for plugin in self.profile.at("score").enabled:
            name = plugin.name
            weight = plugin.weight or 1
            if self.config.release.configuration.weight_of_last_point:
                weight = last_weights[name]
            if name in STRATEGIES:
                self._strategy(name, weight)
            elif name in OLD_SPREADS and SPREAD in self.enabled("score"):
                origin = "that it has" if self._given(SPREAD).get(CONSTRAINTS) else "of the system"
                self.note(
                    name, f"left out: plugin {SPREAD} spreads pods, with the default constraints {origin}"
                )
            elif name in OLD_SPREADS:
                self.weights[SPREAD] = weight
                self.note(
                    name,
                    f"replaced by the default constraints of plugin {SPREAD}, which have another formula",
                )
            elif name in LEFT_OUT:
                self.note(name, LEFT_OUT[name])
            else:
                self.weights[name] = self.weights.get(name, 0) + weight
        affinity = self._args(AFFINITY)
        spread = self._args(SPREAD)
        if AFFINITY in self.weights and affinity.hard_pod_affinity_weight != 1:
            self.args[AFFINITY] = {"hardPodAffinityWeight": affinity.hard_pod_affinity_weight}
        if (
            SPREAD in self.weights
            and set(OLD_SPREADS).isdisjoint(self.enabled("score"))
            and spread.defaulting_type == "List"
            and not spread.default_constraints
        ):
            self.args[SPREAD] = {"defaultingType": "List", "defaultConstraints": []}

    def _strategy(self, name: str, weight: int) -> None:
        if FIT in self.weights:
            self.note(name, f"left out: {FIT} has one scoring strategy, that of the plugin before it")
            return
        args = self._args(name)
        strategy: JsonDict = {"type": STRATEGIES[name]}
        if resources := as_json(getattr(args, "resources", ())):
            strategy["resources"] = resources
        if isinstance(args, RequestedToCapacityRatioArgs):
            strategy["requestedToCapacityRatio"] = {"shape": as_json(args.shape)}
        elif strategy["type"] == "RequestedToCapacityRatio":
            strategy["requestedToCapacityRatio"] = {
                "shape": [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]
            }
        self.weights[FIT] = weight
        self.args[FIT] = {"scoringStrategy": strategy}
        self.note(name, f"replaced by scoring strategy {strategy['type']} of plugin {FIT}")

    def keep_arguments(self) -> None:
        """Take the arguments that were written, for plugins that the target still has."""
        context = Context(self.target, resolved_gates(self.target))
        for name, args in self.given.items():
            if self.is_gone(name) or name in OLD_SPREADS:
                continue
            if passes_over_args(name, self.config.context):
                self.note(name, f"arguments left out: {self.config.release.version} does not read them")
                continue
            if not isinstance(args, Mapping):  # for a user's own plugin, in any form
                self.args[name] = args
                continue
            kept_args = {key: value for key, value in args.items() if key not in TYPE_META}
            for field in [*unknown_args(name, kept_args, context)] if takes_args(name, context) else ():
                kept_args.pop(field, None)
            if name == SPREAD and kept_args.get(CONSTRAINTS):
                kept_args = {"defaultingType": "List", **kept_args}
            if kept_args:
                self.args[name] = {**kept_args, **self.args.get(name, {})}


# --- a configuration ----------------------------------------------------------------------------------------

WRITTEN_ANEW = frozenset({"apiVersion", "kind", "profiles", "extenders", "percentageOfNodesToScore"})
NAMES = {"DefaultPodTopologySpread": "SelectorSpread"}
"""Plugin -> its later name."""
PREEMPTION = "disablePreemption"
TIMEOUT = "bindTimeoutSeconds"


def carried(
    document: JsonObject, first: Release, target: Release, gates: Mapping[str, bool] | None = None
) -> Migration:
    """*document* of *first*, with *gates*, as a configuration for *target*, and notes on the differences.

    The document stays as it is where *target* takes it. In another version it would get other defaults where
    these are listed differently; then the running plugins are written out. Raises
    :class:`~kubeclassic.exceptions.PolicyError` for a configuration that *first* refuses.
    """
    config = read_configuration(document, gates, first)
    if gone_plugins := sorted(config.plugin_names & first.configuration.gone_plugins):
        raise PolicyError(f"plugins: expected those of {first.version}, got {', '.join(gone_plugins)}")
    if target is first:
        return Migration(dict(document), ())
    # Without fields that its release ignores, and with arguments as later releases write them.
    cells = config.context.cells
    new_document = as_read(document, fields_without(cells.fields_lacked))
    notes = [Note(path, f"left out: {first.version} does not read the field") for path in config.unread]
    for path in config.unread:
        removed(new_document, path)
    for entry in new_document.get("pluginConfig") or () if cells.first_args else ():
        entry["args"] = dict(later_args(entry["name"], entry.get("args") or {})[0])
    for point, plugin_set in (new_document.get("plugins") or {}).items() if cells.adds_plugins_alone else ():
        if plugin_set and plugin_set.pop("disabled", None):
            text = "not disabled: nothing is by the configuration of this release"
            notes.append(Note(f"plugins.{point}.disabled", text))
    if new_config := _accepted(new_document, target):
        return Migration(new_document, (*notes, *_default_notes(config, new_config)))
    translated = _translated(new_document, config, target)
    return Migration(translated.document, (*notes, *translated.notes))


def _translated(document: JsonObject, config: KubeSchedulerConfiguration, target: Release) -> Migration:
    """*document*, which *target* does not take as it is."""
    old_cells = config.context.cells
    new_cells = target.configuration
    if old_cells.lists_points and not new_cells.lists_points:
        configs = [profile.get("pluginConfig") or () for profile in _profiles(document, old_cells)]
        translated = migrate_profile(
            config, target, [{entry["name"]: entry.get("args") or {} for entry in items} for items in configs]
        )
        kept, notes = _fields(document, new_cells)
        return Migration({**translated.document, **kept}, (*translated.notes, *notes))
    if old_cells.lists_points != new_cells.lists_points:
        raise PolicyError(f"to: {target.version} has no multiPoint, by which this profile names its plugins")
    # *document* in the newest version of *target* that takes its plugins, listed as its own lists them.
    names = {entry.name for profile in config.profiles for entry in profile.plugin_config}
    names |= {
        entry["name"]
        for profile in _profiles(document, old_cells)
        for point, plugin_set in (profile.get("plugins") or {}).items()
        for entry in (plugin_set or {}).get("enabled") or ()
        if point != "multiPoint"
    }
    version = newest_taking(new_cells, names)
    new_cells = cells_in(target.configuration, version)
    api_version = f"{GROUP}/{version}"
    notes = list[Note]()
    kept, field_notes = _fields(document, new_cells)
    profiles = []
    for profile in _profiles(document, old_cells):
        plugins = {}
        for point, plugin_set in (profile.get("plugins") or {}).items():
            if point not in old_cells.unread_points:
                plugins[point] = _plugins(plugin_set or {}, new_cells, notes, point != "multiPoint")
            elif plugin_set:
                notes.append(Note(f"plugins.{point}", f"left out: {config.release.version} does not read it"))
        if document.get(PREEMPTION) is True:
            plugins["postFilter"] = {"disabled": [{"name": "*"}]}
        plugin_config = [*_later_arguments(profile, document, api_version, new_cells, config.context)]
        parts = {"plugins": plugins, "pluginConfig": plugin_config}
        fields = {**profile, **parts}.items()
        profiles.append({name: part for name, part in fields if part or name not in parts})
    normalized = with_profiles(document, old_cells)
    shared = {
        name: normalized[name] for name in ("percentageOfNodesToScore", "extenders") if name in normalized
    }
    result = {"apiVersion": api_version, "kind": document["kind"], **kept, **shared, "profiles": profiles}
    if not _accepted(result, target):
        read_configuration(result, None, target)
        raise PolicyError(f"to: {target.version} does not take this profile")
    return Migration(result, (*dict.fromkeys(notes), *field_notes))


def _accepted(document: JsonObject, release: Release) -> KubeSchedulerConfiguration | None:
    """The configuration of *document* if *release* reads it, and has all plugins that it names."""
    try:
        config = read_configuration(document, None, release)
    except PolicyError:
        return None
    return None if config.plugin_names & config.context.cells.gone_plugins else config


def _default_notes(old: KubeSchedulerConfiguration, new: KubeSchedulerConfiguration) -> Iterator[Note]:
    """Notes on the plugins that filter, score or run at all points in one of two releases."""
    for point in ("filter", "score", "multiPoint"):
        before, after = (
            {name for p in config.profiles for name in p.at(point).names} for config in (old, new)
        )
        for name in sorted(before ^ after):
            has, lacks = (old, new) if name in before else (new, old)
            text = f"runs at {point} by default in {has.release.version}, not in {lacks.release.version}"
            yield Note(name, text)


def _profiles(document: JsonObject, cells: ConfigurationCells) -> Sequence[JsonObject]:
    return with_profiles(document, cells).get("profiles") or ({},)


def _fields(document: JsonObject, cells: ConfigurationCells) -> tuple[JsonDict, list[Note]]:
    """The fields besides profiles that a version with *cells* still has, and notes on the others."""
    fields = {name: value for name, value in document.items() if name not in WRITTEN_ANEW}
    gone_fields = {
        path.partition(".")[0].partition("[")[0]
        for path in unknown_fields(fields, fields_without(cells.fields_lacked))
    }
    moved = {"plugins", "pluginConfig", "schedulerName", PREEMPTION, WEIGHT, TIMEOUT, "algorithmSource"}
    notes = [Note(name, "left out: the field is gone") for name in sorted(gone_fields - moved)]
    election = fields.get("leaderElection") or {}
    if cells.locks_leases_alone and election.get("resourceLock") not in (None, "", "leases"):
        fields["leaderElection"] = {name: value for name, value in election.items() if name != "resourceLock"}
        notes.append(Note("leaderElection.resourceLock", "left out: a leader is elected by a lease"))
    for name in sorted(ADDRESSES) if cells.closes_addresses else ():
        if fields.get(name) and name not in gone_fields:
            gone_fields.add(name)
            notes.append(Note(name, "left out: it is served at the secure port alone"))
    if document.get(TIMEOUT) not in (None, 600):
        notes.append(Note(TIMEOUT, "left out: give it to plugin VolumeBinding as an argument"))
    return {name: value for name, value in fields.items() if name not in gone_fields}, notes


def _plugins(
    plugin_set: JsonObject, cells: ConfigurationCells, notes: list[Note], is_point: bool
) -> JsonDict:
    """The plugins of one point without those that are gone, or refused at single points."""
    gone_plugins = cells.gone_plugins | (cells.refused_plugins if is_point else frozenset())
    kept_plugins = {}
    for kind, plugins in plugin_set.items():
        renamed = [{**plugin, "name": _later_name(plugin["name"], cells)} for plugin in plugins or ()]
        kept_plugins[kind] = [plugin for plugin in renamed if plugin["name"] not in gone_plugins]
        if kind == "enabled":
            text = f"left out: {LIMITS} takes its place: {COUNTED_ELSEWHERE}"
            names = [plugin["name"] for plugin in renamed if plugin not in kept_plugins[kind]]
            notes += (Note(name, LEFT_OUT.get(name, text)) for name in names)
    return kept_plugins


def _later_name(plugin: str, cells: ConfigurationCells) -> str:
    return NAMES.get(plugin, plugin) if plugin in cells.gone_plugins else plugin


def _later_arguments(
    profile: JsonObject, document: JsonObject, api_version: str, cells: ConfigurationCells, context: Context
) -> Iterator[JsonDict]:
    """The arguments of plugins that are still there, of the newer version; *context*: that of *document*."""
    for entry in profile.get("pluginConfig") or ():
        args = entry.get("args") or {}
        name = _later_name(entry["name"], cells)
        if name in cells.gone_plugins | cells.refused_plugins or passes_over_args(entry["name"], context):
            continue
        if isinstance(args, Mapping) and str(args.get("apiVersion", "")).startswith(f"{GROUP}/"):
            args = {**args, "apiVersion": api_version}
        yield {**entry, "name": name, "args": args}
    if document.get(WEIGHT) is not None:
        yield {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": document[WEIGHT]}}
