"""The profile that a release makes of a Policy itself, written out plugin by plugin for a configuration.

Releases from 1.18 to 1.22 read both, and the profile is wanted before the upgrade that ends Policies.
"""

from __future__ import annotations

from ...algorithmprovider.config import AlgorithmConfiguration
from ...algorithmprovider.extenders import NANOSECONDS, ExtenderConfig
from ...algorithmprovider.policy import Policy
from ...api.objects import DEFAULT_SCHEDULER, JsonDict
from ...core.release import Release
from ..config.apiversions import NEW_HTTPS, cells_in
from ..config.args import RequestedToCapacityRatioArgs
from ..config.configuration import GROUP, KIND
from .profiles import Migration, Note, as_json, running, written_extenders


def listed(policy: Policy | None, config: AlgorithmConfiguration, target: Release) -> Migration:
    """The profile that *target* itself makes of *policy*; without one that of the provider of *config*."""
    made = running(policy, target, config, config.percentage)
    (profile,) = made.profiles
    cells = target.configuration
    version = cells.default_version
    for name in cells.api_versions:  # the newest that takes all plugins
        known = cells_in(target.configuration, name)
        if not made.plugin_names & known.refused_plugins:
            version = name
            cells = known
    notes: list[Note] = []
    if made.checks_all:
        notes.append(
            Note(
                "alwaysCheckAllPredicates",
                "left out: a profile cannot say it; the same nodes fit, with fewer reasons",
            )
        )
    if "VolumeBinding" in made.plugin_names and config.bind_timeout not in (0, 600):
        notes.append(Note("bindTimeoutSeconds", "left out: give it to plugin VolumeBinding as an argument"))
    notes += (
        Note(entry.name, "cpu and memory count, as a profile cannot be without resources")
        for entry in profile.plugin_config
        if isinstance(entry.args, RequestedToCapacityRatioArgs) and not entry.args.resources
    )
    extenders, faults = written_extenders(made.extenders)
    document: JsonDict = {"apiVersion": f"{GROUP}/{version}", "kind": KIND}
    if made.percentage:
        document["percentageOfNodesToScore"] = made.percentage
    plugins = {
        point: {
            "disabled": [{"name": "*"}],
            "enabled": [
                {"name": plugin.name, **({"weight": plugin.weight} if plugin.weight else {})}
                for plugin in profile.at(point).enabled
            ],
        }
        for point in {**cells.point_plugins, **profile.plugins}
        if f"profiles.plugins.{point}" not in cells.fields_lacked
    }
    arguments = [
        {"name": entry.name, "args": as_json(entry.args)}
        for entry in profile.plugin_config
        if entry.args is not None
    ]
    document["profiles"] = [
        {
            "schedulerName": profile.scheduler_name or DEFAULT_SCHEDULER,
            "plugins": plugins,
            **({"pluginConfig": arguments} if arguments else {}),
        }
    ]
    if extenders:
        document["extenders"] = (
            list(map(_as_in_a_policy, extenders, made.extenders))
            if NEW_HTTPS in cells.fields_lacked
            else extenders
        )
    return Migration(document, (*notes, *faults))


def _as_in_a_policy(written: JsonDict, extender: ExtenderConfig) -> JsonDict:
    """An extender as v1alpha2 has it: with the fields of a Policy."""
    found = {"enableHttps" if name == "enableHTTPS" else name: value for name, value in written.items()}
    if "httpTimeout" in found:
        return {**found, "httpTimeout": round(extender.timeout * NANOSECONDS)}
    return found
