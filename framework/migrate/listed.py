"""What a release with Policies makes of one, as a profile of a version that lists plugins for each extension point."""

from __future__ import annotations

from typing import Any

import attrs

from ...algorithmprovider.config import AlgorithmConfiguration
from ...algorithmprovider.extenders import NANOSECONDS, ExtenderConfig
from ...algorithmprovider.policy import Policy
from ...api.objects.metadata import json_name
from ...api.objects.pods import DEFAULT_SCHEDULER
from ...api.record import plain
from ...core.release import Release
from ..config.apiversions import NEW_HTTPS
from ..config.args import RequestedToCapacityRatioArgs
from ..config.configuration import KIND
from ..config.defaults import GROUP, PluginSet
from ..tables.versions import cells_in
from .equivalents import Note
from .extenderargs import written_extenders
from .fromplugins import running
from .translation import Migration


def listed(policy: Policy | None, config: AlgorithmConfiguration, target: Release) -> Migration:
    """The profile that *target* itself makes of *policy*; without one that of the provider of *config*."""
    made = running(policy, target, config, config.percentage)
    version, cells = target.configuration.default_version, target.configuration
    for name in target.configuration.api_versions:  # the newest that takes all plugins
        known = cells_in(target.configuration, name)
        if not made.plugin_names & known.refused_plugins:
            version, cells = name, known
    notes: list[Note] = []
    if made.checks_all:
        notes.append(Note("alwaysCheckAllPredicates", "left out: a profile cannot say it; the same nodes fit, with fewer reasons"))
    if "VolumeBinding" in made.plugin_names and config.bind_timeout not in (0, 600):
        notes.append(Note("bindTimeoutSeconds", "left out: give it to plugin VolumeBinding as an argument"))
    ratios = (entry for entry in made.profiles[0].plugin_config if isinstance(entry.args, RequestedToCapacityRatioArgs))
    notes += (
        Note(entry.name, "cpu and memory count, as a profile cannot be without resources") for entry in ratios if not entry.args.resources
    )
    extenders, faults = written_extenders(made.extenders, [extender.weight for extender in made.extenders])
    (profile,) = made.profiles
    document: dict[str, Any] = {"apiVersion": f"{GROUP}/{version}", "kind": KIND}
    if made.percentage:
        document["percentageOfNodesToScore"] = made.percentage
    points = [point for point in {**cells.point_plugins, **profile.plugins} if f"profiles.plugins.{point}" not in cells.fields_lacked]
    plugins = {point: _written(profile.at(point)) for point in points}
    arguments = [{"name": entry.name, "args": as_json(entry.args)} for entry in profile.plugin_config if entry.args is not None]
    name = profile.scheduler_name or DEFAULT_SCHEDULER
    document["profiles"] = [{"schedulerName": name, "plugins": plugins, **({"pluginConfig": arguments} if arguments else {})}]
    if extenders:
        written = [plain(extender) for extender in extenders]
        as_before = NEW_HTTPS in cells.fields_lacked
        document["extenders"] = list(map(_as_in_a_policy, written, made.extenders)) if as_before else written
    return Migration(document, (*notes, *faults))


def _as_in_a_policy(written: dict[str, Any], extender: ExtenderConfig) -> dict[str, Any]:
    """An extender as v1alpha2 has it: with the fields of a Policy."""
    found = {"enableHttps" if name == "enableHTTPS" else name: value for name, value in written.items()}
    return {**found, "httpTimeout": round(extender.timeout * NANOSECONDS)} if "httpTimeout" in found else found


def _written(found: PluginSet) -> dict[str, Any]:
    """A point with these plugins alone."""
    named = [{"name": plugin.name, **({"weight": plugin.weight} if plugin.weight else {})} for plugin in found.enabled]
    return {"disabled": [{"name": "*"}], "enabled": named}


def as_json(value: Any) -> Any:
    """Arguments of a plugin in their JSON form, without what is not set."""
    if attrs.has(type(value)):
        fields = {json_name(field.name): getattr(value, field.name) for field in attrs.fields(type(value))}
        return {name: as_json(part) for name, part in fields.items() if part not in (None, (), "") and part is not False}
    return [as_json(part) for part in value] if isinstance(value, tuple) else value
