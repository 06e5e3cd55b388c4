"""The profiles of a configuration with their defaults, as ``/configz`` shows them: plugins by extension point, and the arguments of each.

Upstream: setDefaults_KubeSchedulerProfile in pkg/scheduler/apis/config/v1/defaults.go, and the internal types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from ...api.meaning.durations import duration_text
from ...framework.config.args import ScoringStrategy, reads_args
from ...framework.config.configuration import KubeSchedulerConfiguration
from ...framework.config.defaults import PluginEntry, PluginSet
from ...framework.config.fielderrors import Context
from ...framework.config.profiles import ProfileConfig
from ...framework.extensionpoints import POINTS
from ..process.metrictables import camel

_VERBATIM = ("addedAffinity", "defaultConstraints")
"""Arguments that are objects of the API: they are shown as they were given."""


def _title(name: str) -> str:
    return name[:1].upper() + name[1:]


def titled(value: Any, spelled: Mapping[str, str]) -> Any:
    """JSON with its keys as Go fields are called; *spelled*: those that are called otherwise."""
    if isinstance(value, Mapping):
        return {spelled.get(key, _title(key)): titled(item, spelled) for key, item in value.items()}
    return [titled(item, spelled) for item in value] if isinstance(value, list) else value


def shown_profiles(config: KubeSchedulerConfiguration, given: Any, *, has_percentage: bool) -> list[dict[str, Any]]:
    """The profiles of *config*, which were *given* so; *has_percentage*: each profile has a percentageOfNodesToScore of its own."""
    raw = given if isinstance(given, list) else []
    return [
        _profile(profile, raw[i] if i < len(raw) else {}, config.context, has_percentage=has_percentage)
        for i, profile in enumerate(config.profiles)
    ]


def _profile(profile: ProfileConfig, given: Mapping[str, Any], context: Context, *, has_percentage: bool) -> dict[str, Any]:
    points = (point for point in (*POINTS, "multiPoint") if f"profiles.plugins.{point}" not in context.cells.fields_lacked)
    sets = {point: profile.plugins.get(point, PluginSet()) for point in points}
    raw = {str(entry.get("name")): entry.get("args") or {} for entry in given.get("pluginConfig") or () if isinstance(entry, Mapping)}
    return {
        "SchedulerName": profile.scheduler_name or "",
        **({"PercentageOfNodesToScore": profile.percentage} if has_percentage else {}),
        "Plugins": {_title(point): _set(found) for point, found in sets.items()},
        "PluginConfig": [
            {"Name": name, "Args": _args(name, profile.args_of(name, context), raw.get(name, {}), context)}
            for name in _with_args(profile, sets.values(), context)
        ] or None,
    }  # fmt: skip


def _with_args(profile: ProfileConfig, sets: Any, context: Context) -> list[str]:
    """The plugins whose arguments are shown: those with given ones first, then the others in alphabetical order."""
    given = [entry.name for entry in profile.plugin_config]
    names = {plugin.name for found in sets for plugin in found.enabled}
    return [*given, *sorted(name for name in names if name not in given and reads_args(name, context))]


def _set(found: PluginSet) -> dict[str, Any]:
    return {"Enabled": _entries(found.enabled), "Disabled": _entries(found.disabled)}


def _entries(plugins: Sequence[PluginEntry]) -> list[dict[str, Any]] | None:
    return [{"Name": plugin.name, "Weight": plugin.weight} for plugin in plugins] or None


def _args(plugin: str, args: Any, given: Mapping[str, Any], context: Context) -> Any:
    """The arguments of *plugin*: those of a plugin of one's own as they were given, of others by the fields that the release has."""
    if not attrs.has(type(args)):
        return dict(given)
    lacked = {field for owner, _, field in (name.partition(".") for name in context.cells.args_lacked) if owner == plugin}
    found = {}
    for field in attrs.fields(type(args)):
        name = camel(field.name)
        if name not in lacked:
            found[_title(name)] = given.get(name) if name in _VERBATIM else _value(field.name, getattr(args, field.name))
    return found


def _value(name: str, value: Any) -> Any:
    if isinstance(value, ScoringStrategy):
        ratio = None if value.shape is None else {"Shape": _value("shape", value.shape)}
        return {"Type": value.type, "Resources": _value("resources", value.resources), "RequestedToCapacityRatio": ratio}
    if attrs.has(type(value)):
        return {_title(camel(field.name)): getattr(value, field.name) for field in attrs.fields(type(value))}
    if isinstance(value, tuple):
        return [_value(name, item) for item in value] or None
    return duration_text(value) if name.endswith("_timeout") and value is not None else value
