"""The versions of the component configuration: the fields of each, and the first versions in the form of
later ones.

Upstream: the types of each version in k8s.io/kube-scheduler/config, and
pkg/scheduler/apis/config/v1alpha1/conversion.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from msgspec.structs import replace

from ...api.objects import DEFAULT_SCHEDULER, JsonDict
from ...api.reading import Fields, Mismatch, flag, named, whole
from ...api.record import copied
from ...core.release import ConfigurationCells
from ...exceptions import PolicyError

Json = Mapping[str, Any]
ONE_PROFILE = ("schedulerName", "plugins", "pluginConfig")
"""The fields of a profile that v1alpha1 has in the configuration itself."""
RENAMED = {"postFilter": "preScore"}
"""Extension point of v1alpha1 -> its later name."""
_FIRST_NAMES = {later: name for name, later in RENAMED.items()}
UNRESERVE = "unreserve"
_FIRST = "profiles[0]."
WEIGHT = "hardPodAffinitySymmetricWeight"
FAILURE_DOMAINS = "failureDomains"
NEW_HTTPS = "extenders.enableHTTPS"
_SOURCE = named("provider", policy=named("", file=named("path"), configMap=named("namespace name")))


def cells_in(cells: ConfigurationCells, version: str) -> ConfigurationCells:
    """*cells* as *version* of the configuration has them."""
    overrides = cells.versions.get(version)
    return replace(cells, **overrides) if overrides else cells


def newest_taking(cells: ConfigurationCells, plugins: Set[str]) -> str:
    """The newest version of the configuration that takes *plugins* and lists them as *cells* do; the default
    version if none does."""
    version = cells.default_version
    for name in cells.api_versions:
        found = cells_in(cells, name)
        if found.lists_points == cells.lists_points and not plugins & found.refused_plugins:
            version = name
    return version


def is_flat(cells: ConfigurationCells) -> bool:
    """Whether a configuration itself has the fields of its only profile: v1alpha1."""
    return "profiles" in cells.fields_lacked


def with_profiles(document: Json, cells: ConfigurationCells) -> Json:
    """*document* with a list of profiles, also where its version has none. Raises
    :class:`~kubeclassic.exceptions.PolicyError`, or :class:`~kubeclassic.api.reading.Mismatch`."""
    if not is_flat(cells):
        extenders = document.get("extenders")
        if NEW_HTTPS not in cells.fields_lacked or not isinstance(extenders, list):
            return document
        # Extenders are written as in a Policy there.
        return {
            **document,
            "extenders": [
                _extender(i, extender) if isinstance(extender, Mapping) else extender
                for i, extender in enumerate(extenders)
            ],
        }
    source = document.get("algorithmSource")
    for name, value in source.items() if isinstance(source, Mapping) else ():
        if value not in (None, "DefaultProvider"):
            raise PolicyError(f"algorithmSource.{name}: expected option --{name} in its place")
    profile = {
        "schedulerName": DEFAULT_SCHEDULER,
        **{name: document[name] for name in ONE_PROFILE if document.get(name) is not None},
    }
    if isinstance(plugins := profile.get("plugins"), Mapping):
        profile["plugins"] = {RENAMED.get(point, point): plugin_set for point, plugin_set in plugins.items()}
    return {
        **{name: value for name, value in document.items() if name not in cells.fields_lacked},
        "profiles": [profile],
    }


def _extender(place: int, extender: Json) -> JsonDict:
    fields = {"enableHTTPS" if name == "enableHttps" else name: value for name, value in extender.items()}
    timeout = fields.get("httpTimeout")
    if timeout is None:
        return fields
    try:
        return {**fields, "httpTimeout": f"{whole(timeout)}ns"}
    except Mismatch as mismatch:
        raise mismatch.under("httpTimeout").under(f"extenders[{place}]") from None


def without_unreserve(document: Json, cells: ConfigurationCells) -> Json:
    """*document* without the extension point that is not modelled, where it has no plugins.

    Raises :class:`~kubeclassic.exceptions.PolicyError` where it has some.
    """
    if not cells.has_unreserve:
        return document
    result: JsonDict = copied(document)
    profiles = [result] if is_flat(cells) else result.get("profiles")
    for i, profile in enumerate(profiles if isinstance(profiles, list) else ()):
        plugins = profile.get("plugins") if isinstance(profile, dict) else None
        plugin_set = plugins.pop(UNRESERVE, None) if isinstance(plugins, dict) else None
        if plugin_set is not None and (not isinstance(plugin_set, dict) or plugin_set.get("enabled")):
            path = own_path(f"profiles[{i}].plugins.{UNRESERVE}.enabled", document)
            raise PolicyError(f"{path}: not modelled: a plugin's unreserve runs where its reserve is enabled")
    return result


def own_path(path: str, document: Json) -> str:
    """*path* as it is in *document*; one of v1alpha1 is itself one profile."""
    if not str(document.get("apiVersion")).endswith("/v1alpha1") or not path.startswith(_FIRST):
        return path
    head, _, rest = path.removeprefix(_FIRST).partition(".")
    point, *more = rest.split(".", 1)
    if head == "plugins":
        return ".".join([head, _FIRST_NAMES.get(point, point), *more])
    return path.removeprefix(_FIRST)


def disables_preemption(document: Json, cells: ConfigurationCells) -> bool:
    """Whether *document* disables preemption, in versions with a field for that."""
    value = document.get("disablePreemption")
    if value is None or "disablePreemption" in cells.fields_lacked:
        return False
    try:
        return flag(value)
    except Mismatch as mismatch:
        raise PolicyError(f"disablePreemption: {mismatch}") from None


def with_plugins(plugins: Json, cells: ConfigurationCells) -> JsonDict:
    """The fields of a configuration whose one profile has *plugins*, by extension point."""
    if not is_flat(cells):
        return {"profiles": [{"plugins": dict(plugins)}]}
    return {"plugins": {_FIRST_NAMES.get(point, point): plugin_set for point, plugin_set in plugins.items()}}


def of_all_versions(newest: Fields) -> Fields:
    """The fields that a configuration has in any version, from those of the *newest* one."""
    profile = newest["profiles"] or {}
    flat = {name: profile[name] for name in ONE_PROFILE}
    extenders = {**(newest["extenders"] or {}), **named("enableHttps")}
    old_fields = named(
        f"disablePreemption bindTimeoutSeconds {FAILURE_DOMAINS} {WEIGHT}", algorithmSource=_SOURCE
    )
    return {**newest, **old_fields, **flat, "extenders": extenders}


def without(fields: Fields, lacked: frozenset[str], path: str = "") -> Fields:
    """*fields* without those *lacked*, which are paths."""
    kept_fields = {name: part for name, part in fields.items() if f"{path}{name}" not in lacked}
    return {name: part and without(part, lacked, f"{path}{name}.") for name, part in kept_fields.items()}
