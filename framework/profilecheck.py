"""The meaning of a KubeSchedulerConfiguration on a release: plugins, weights, and all faults, not just the
first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from ..algorithmprovider.check import RunningPredicate, WeightedPriority
from ..algorithmprovider.extenders import names_in_calling_order
from ..algorithmprovider.gates import GivenGates, resolved_gates
from ..api.objects import JsonObject
from ..api.reading import Document, removed
from ..api.record import DocumentRecord, Names, Record, copied, replace
from ..api.words import count_of
from ..core.release import Release
from ..exceptions import PolicyError, UnknownNameError
from .config.apiversions import own_path, with_profiles
from .config.args import reads_args, takes_args
from .config.configuration import (
    KubeSchedulerConfiguration,
    as_read,
    decoded_configuration,
    fields_without,
    passes_over,
)
from .config.fielderrors import ConfigurationError, ProfileFault, fault_of
from .config.profiles import PluginEntry, PluginSet, default_plugins
from .options import default_release
from .plugin import Plugin
from .plugins.defaultbinder import DefaultBinder
from .plugins.prioritysort import PrioritySort
from .profile import Profile, build_profiles, faults_of
from .registry import DEFAULT_REGISTRY, registry_of, with_plugins
from .releases import FRAMEWORK_RELEASES, framework_release
from .userrules import hint_of_plugins

# --- plugins that are left out ------------------------------------------------------------------------------

# Plugins of a profile that no release has. The schedulers of others have them compiled in; here they can be
# left out.

_NEEDED = {"queueSort": PrioritySort, "bind": DefaultBinder}
"""Extension point that needs a plugin -> the default one."""


def without_unknown(
    config: KubeSchedulerConfiguration, plugins: Iterable[type[Plugin]] = ()
) -> KubeSchedulerConfiguration:
    """*config* without the plugins that no release has, except the user's own *plugins*. A note names those
    left out."""
    registry = {**DEFAULT_REGISTRY, **{plugin.name: plugin for plugin in plugins}}
    unknown = sorted(config.plugin_names - registry.keys())
    if not unknown:
        return config
    verb, clause = ("is", "it decides") if len(unknown) == 1 else ("are", "they decide")
    note = f"{count_of(len(unknown), 'plugin')} of the configuration {verb} left out, so what {clause} does not count: {', '.join(unknown)}"
    profiles = []
    for profile in config.profiles:
        sets = {
            point: attrs.evolve(
                plugin_set, enabled=tuple(entry for entry in plugin_set.enabled if entry.name in registry)
            )
            for point, plugin_set in profile.plugins.items()
        }
        everywhere = sets.get("multiPoint", PluginSet()).names
        for point, default in _NEEDED.items():
            plugin_set = sets.get(point, PluginSet())
            off = {entry.name for entry in plugin_set.disabled}
            multi_point_names = [
                name
                for name in everywhere
                if point in registry[name].joined() and off.isdisjoint((name, "*"))
            ]
            if not (plugin_set.enabled or multi_point_names):
                sets[point] = PluginSet((PluginEntry(default.name),))
        arguments = tuple(entry for entry in profile.plugin_config if entry.name in registry)
        profiles.append(attrs.evolve(profile, plugins=sets, plugin_config=arguments))
    return attrs.evolve(config, profiles=tuple(profiles), notes=(*config.notes, note))


FIT = "NodeResourcesFit"
MOST_FAULTS = 1000


class CheckedProfile(Record):
    """The plugins for the pods of one schedulerName."""

    scheduler_name: str
    filters: tuple[RunningPredicate, ...]
    """The Filter plugins, in running order."""
    scores: tuple[WeightedPriority, ...]
    """The Score plugins, in running order."""
    post_filters: Names
    """The plugins for pods that fit nowhere."""
    percentage: int
    """percentageOfNodesToScore; 0: by the size of the cluster."""


class ProfileCheck(DocumentRecord, kw_only=True):
    """The plugins that run under a KubeSchedulerConfiguration."""

    KIND = "ProfileCheck"
    release: str
    version: str
    """The apiVersion of the configuration."""
    faults: tuple[ProfileFault, ...] = ()
    """All errors for which the release refuses to start; empty if it starts."""
    profiles: tuple[CheckedProfile, ...] = ()
    extenders: Names = ()
    """The URLs of extenders, in calling order."""
    warnings: tuple[str, ...] = ()


def release_with_profiles(name: str | None, document: JsonObject) -> Release:
    """The release called *name*; None: the newest that reads the version of *document*.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError`.
    """
    if name is not None:
        reader = framework_release(name)
        if reader is None:
            raise UnknownNameError(
                f"--release: expected {', '.join(FRAMEWORK_RELEASES)}, got {name}, which reads no profiles"
            )
        return reader
    return FRAMEWORK_RELEASES[default_release({"profile": document}, among=FRAMEWORK_RELEASES)]


def check_profile(
    document: Document,
    release: Release,
    gates: GivenGates = None,
    plugins: Sequence[type[Plugin]] = (),
    *,
    leaves_out: bool = False,
) -> ProfileCheck:
    """The meaning of *document*, a KubeSchedulerConfiguration, on *release* with the user's *plugins*; faults
    are part of the report.

    *leaves_out*: plugins that no release has are left out.

    Gates that the release refuses raise :class:`~kubeclassic.exceptions.PolicyError`, as they are no part of
    the document.
    """
    resolved_gates(release, gates)
    report = ProfileCheck(release=release.version, version=str(document.data.get("apiVersion", "")))
    is_lenient = passes_over(document.data, release)
    faults = [ProfileFault(path, "duplicate field") for path in document.repeated if not is_lenient]
    config = _decoded(document.data, release, gates, faults)
    registry = with_plugins(registry_of(release), plugins)
    if config is not None and leaves_out:
        config = without_unknown(config, plugins)
    if config is not None:
        upstream_faults = [fault_of(text) for text in dict.fromkeys(config.faults())]
        faults += upstream_faults
        for i, profile in enumerate(config.profiles):
            for fault in faults_of(profile, config, registry):
                where = fault.where
                if not where.startswith("arguments of"):
                    where = f"profiles[{i}].{where}".rstrip(".")
                if not any(
                    where == upstream_fault.where and fault.got == upstream_fault.got
                    for upstream_fault in upstream_faults
                ):
                    faults.append(replace(fault, where=where))
    built = {}
    if config is not None and not faults:
        try:
            built = build_profiles(config, registry)
        except PolicyError as error:
            faults.append(fault_of(str(error)))
    if faults or config is None:
        placed = tuple(replace(fault, where=own_path(fault.where, document.data)) for fault in faults)
        # Possible sources of a missing plugin, or its replacement.
        hints: dict[str, None] = {}
        for placed_fault in placed:
            hint = hint_of_plugins(placed_fault.what)
            name = (placed_fault.got or "").strip('"')
            if hint is None and name in release.configuration.gone_plugins:
                hint = f"plugin {name} is one of other releases, not of {release.version}; `kubeclassic policy migrate` carries profiles over"
            if hint is not None:
                hints[hint] = None
        return replace(report, faults=placed, warnings=tuple(hints))
    defaults = {name for plugin_set in default_plugins(config.context).values() for name in plugin_set.names}
    return replace(
        report,
        profiles=tuple(
            CheckedProfile(
                scheduler_name=profile.scheduler_name,
                filters=tuple(
                    RunningPredicate(rule.name, "default" if rule.name in defaults else "profile")
                    for rule in profile.algorithm.predicates
                ),
                scores=tuple(
                    WeightedPriority(rule.name, weight) for rule, weight in profile.algorithm.priorities
                ),
                post_filters=tuple(plugin.name for plugin in profile.points["postFilter"]),
                percentage=profile.percentage,
            )
            for profile in built.values()
        ),
        extenders=names_in_calling_order(config.extenders, release),
        warnings=(
            *(f"{path}: given more than once, the last one counts" for path in document.repeated),
            *_warnings(document.data, config, built),
        ),
    )


def check_runs(config: KubeSchedulerConfiguration) -> list[str]:
    """The plugins of *config* that its release does not have; what they would reject is not known.

    Raises as the release does when it makes the profiles.
    """
    registry = registry_of(config.release)
    foreign = sorted(config.plugin_names - registry.keys())
    if not foreign:
        build_profiles(config, registry)
    for i, profile in enumerate(config.profiles if foreign else ()):
        for fault in faults_of(profile, config, registry):
            if (fault.got or "").strip('"') not in foreign:
                raise PolicyError(f"profiles[{i}].{fault.where}: {fault.what}")
    return foreign


def _decoded(
    data: JsonObject, release: Release, gates: GivenGates, faults: list[ProfileFault]
) -> KubeSchedulerConfiguration | None:
    """The configuration of *data* without the wrong fields, whose faults are added to *faults*; None if that
    leaves none."""
    rest = copied(data)
    for _ in range(MOST_FAULTS):
        try:
            return decoded_configuration(rest, gates, release)
        except ConfigurationError as error:
            faults += error.faults
            unremovable = [fault for fault in error.faults if not removed(rest, own_path(fault.where, data))]
            if unremovable:
                return None
        except PolicyError as error:
            faults.append(fault_of(str(error)))
            return None
    return None


# --- what runs ----------------------------------------------------------------------------------------------


def _warnings(
    data: JsonObject, config: KubeSchedulerConfiguration, built: Mapping[str, Profile]
) -> Iterator[str]:
    context = config.context
    version = config.release.version
    fields = fields_without(context.cells.fields_lacked)
    read_data = with_profiles(as_read(data, fields), context.cells)
    for i, profile_document in enumerate(read_data.get("profiles") or ()):
        for point, plugin_set in (profile_document.get("plugins") or {}).items():
            path = own_path(f"profiles[{i}].plugins.{point}", data)
            if point in context.cells.unread_points:
                yield f"{path}: ignored by {version}, as this apiVersion has it by mistake"
            elif context.cells.adds_plugins_alone and (plugin_set or {}).get("disabled"):
                yield f"{path}.disabled: ignored by {version}, where a configuration can only add plugins"
    yield from (f"{path}: unknown field, ignored" for path in config.unread)
    yield from config.notes
    for i, (profile, profile_config) in enumerate(zip(built.values(), config.profiles, strict=True)):
        path = own_path(f"profiles[{i}].", data)
        for entry in profile_config.plugin_config:
            if (
                takes_args(entry.name, context)
                and not reads_args(entry.name, context)
                and isinstance(entry.args, Mapping)
            ):
                yield f"{path}pluginConfig: arguments of {entry.name} are ignored: it has none in {version}"
            elif not entry.name:
                yield f"{path}pluginConfig: an entry without a name has no effect"
            elif entry.name not in profile.plugins():
                yield f"{path}pluginConfig: arguments of {entry.name} have no effect: it runs at no point"
        rules = {rule.name for rule in profile.algorithm.predicates}
        if FIT not in rules:
            yield f"{path}plugins: plugin {FIT} does not run: nothing checks what pods request"
        if not profile.points["postFilter"]:
            yield f"{path}plugins: no pod preempts others: no plugin runs at postFilter"
        if not profile.algorithm.priorities and not config.extenders:
            yield f"{path}plugins: no Score plugins and no extenders: all nodes are equally good"
