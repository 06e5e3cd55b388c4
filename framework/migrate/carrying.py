"""A KubeSchedulerConfiguration of one release as another release reads it: as it is, in another version, or as other plugins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...api.reading.unknownfields import copied, removed, unknown_fields
from ...core.release import ConfigurationCells, Release
from ...exceptions import PolicyError
from ..config.apiversions import WEIGHT, with_profiles
from ..config.args import later_args
from ..config.configuration import KubeSchedulerConfiguration, fields_without, read_configuration
from ..config.defaults import GROUP
from ..policy.profile import SPREAD
from .equivalents import COUNTED_ELSEWHERE, Note
from .fromplugins import LEFT_OUT, LIMITS, OLD_SPREADS, migrate_profile
from .translation import Migration

Json = Mapping[str, Any]
WRITTEN_ANEW = frozenset({"apiVersion", "kind", "profiles", "extenders", "percentageOfNodesToScore"})
NAMES = {"DefaultPodTopologySpread": "SelectorSpread"}
"""Plugin -> what it is called later."""
PREEMPTION, TIMEOUT = "disablePreemption", "bindTimeoutSeconds"


def carried(document: Json, first: Release, target: Release, gates: Mapping[str, bool] | None = None) -> Migration:
    """*document*, which *first* reads with *gates*, as *target* reads it, with notes on what is not the same.

    It stays as it is where *target* takes it. In another version it decides by other defaults where these are listed otherwise; then the
    plugins that run are written out. Raises :class:`~kubeclassic.exceptions.PolicyError` for a configuration that *first* refuses.
    """
    config = read_configuration(document, gates, first)
    if target is first:
        return Migration(dict(document), ())
    document, notes = _portable(document, config)
    found = Migration(dict(document), ()) if _is_taken(document, target) else _carried(document, config, target)
    return Migration(found.document, (*notes, *found.notes))


def _carried(document: Json, config: KubeSchedulerConfiguration, target: Release) -> Migration:
    """*document*, which *target* does not take as it is."""
    before, after = config.context.cells, target.configuration
    if before.lists_points and not after.lists_points:
        configs = [profile.get("pluginConfig") or () for profile in _profiles(document, before)]
        moved = migrate_profile(config, target, [{entry["name"]: entry.get("args") or {} for entry in found} for found in configs])
        kept, notes = _fields(document, after)
        return Migration({**moved.document, **kept}, (*moved.notes, *notes))
    if before.lists_points != after.lists_points:
        raise PolicyError(f"to: {target.version} has no multiPoint, by which this profile names its plugins")
    # *document* in the newest version of *target*, which lists plugins as its own does.
    api_version, notes = f"{GROUP}/{after.default_version}", list[Note]()
    kept, about = _fields(document, after)
    profiles = []
    for profile in _profiles(document, before):
        points = (profile.get("plugins") or {}).items()
        plugins = {point: _plugins(found, after, notes, point != "multiPoint") for point, found in points}
        if document.get(PREEMPTION) is True:
            plugins["postFilter"] = {"disabled": [{"name": "*"}]}
        given = [*_given(profile, document, api_version, after, notes)]
        profiles.append({**profile, **({"plugins": plugins} if plugins else {}), **({"pluginConfig": given} if given else {})})
    later = with_profiles(document, before)
    shared = {name: later[name] for name in ("percentageOfNodesToScore", "extenders") if name in later}
    written = {"apiVersion": api_version, "kind": document["kind"], **kept, **shared, "profiles": profiles}
    if not _is_taken(written, target):
        read_configuration(written, None, target)
        raise PolicyError(f"to: {target.version} does not take this profile")
    return Migration(written, (*dict.fromkeys(notes), *about))


def _is_taken(document: Json, release: Release) -> bool:
    """Whether *release* reads *document*, and has all plugins that it names."""
    try:
        config = read_configuration(document, None, release)
    except PolicyError:
        return False
    return not config.plugin_names & config.context.cells.gone_plugins


def _portable(document: Json, config: KubeSchedulerConfiguration) -> tuple[Json, list[Note]]:
    """*document* without what its release ignores, with arguments as later releases write them; and notes."""
    kept: dict[str, Any] = copied(document)
    cells, unknown = config.context.cells, f"left out: {config.release.version} does not read the field"
    notes = [Note(path, unknown) for path in config.unread]
    for path in config.unread:
        removed(kept, path)
    for entry in kept.get("pluginConfig") or () if cells.first_args else ():
        entry["args"] = dict(later_args(entry["name"], entry.get("args") or {})[0])
    for point, found in (kept.get("plugins") or {}).items() if cells.adds_plugins_alone else ():
        if found and found.pop("disabled", None):
            notes.append(Note(f"plugins.{point}.disabled", "not disabled: nothing is by the configuration of this release"))
    return kept, notes


def _profiles(document: Json, cells: ConfigurationCells) -> Sequence[Json]:
    return with_profiles(document, cells).get("profiles") or ({},)


def _fields(document: Json, cells: ConfigurationCells) -> tuple[dict[str, Any], list[Note]]:
    """The fields besides profiles that a version with *cells* still has, and notes on the others."""
    own = {name: value for name, value in document.items() if name not in WRITTEN_ANEW}
    left = {path.partition(".")[0].partition("[")[0] for path in unknown_fields(own, fields_without(cells.fields_lacked))}
    gone = sorted(left - {"plugins", "pluginConfig", "schedulerName", PREEMPTION, WEIGHT, TIMEOUT, "algorithmSource"})
    notes = [Note(name, "left out: no such field any more") for name in gone]
    if document.get(TIMEOUT) not in (None, 600):
        notes.append(Note(TIMEOUT, "left out: give it to plugin VolumeBinding as an argument"))
    return {name: value for name, value in own.items() if name not in left}, notes


def _plugins(found: Json, cells: ConfigurationCells, notes: list[Note], is_point: bool) -> dict[str, Any]:
    """The plugins of one point without those that are gone, or refused at single points."""
    gone = cells.gone_plugins | (cells.refused_plugins if is_point else frozenset())
    kept = {}
    for kind, plugins in found.items():
        named = [{**plugin, "name": _called(plugin["name"], cells)} for plugin in plugins or ()]
        kept[kind] = [plugin for plugin in named if plugin["name"] not in gone]
        if kind == "enabled":
            notes += (Note(plugin["name"], _why(plugin["name"])) for plugin in named if plugin not in kept[kind])
    return kept


def _called(plugin: str, cells: ConfigurationCells) -> str:
    return NAMES.get(plugin, plugin) if plugin in cells.gone_plugins else plugin


def _why(plugin: str) -> str:
    if plugin in OLD_SPREADS:
        return f"left out: plugin {SPREAD} spreads pods, with the default constraints of the system"
    return LEFT_OUT.get(plugin, f"left out: {LIMITS} takes its place: {COUNTED_ELSEWHERE}")


def _given(profile: Json, document: Json, api_version: str, cells: ConfigurationCells, notes: list[Note]) -> Iterator[dict[str, Any]]:
    """The arguments of plugins that are still there, of the newer version."""
    for entry in profile.get("pluginConfig") or ():
        args, name = dict(entry.get("args") or {}), _called(entry["name"], cells)
        if name in cells.gone_plugins | cells.refused_plugins:
            continue
        if str(args.get("apiVersion", "")).startswith(f"{GROUP}/"):
            args["apiVersion"] = api_version
        yield {**entry, "name": name, "args": args}
    if document.get(WEIGHT) is not None:
        yield {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": document[WEIGHT]}}
