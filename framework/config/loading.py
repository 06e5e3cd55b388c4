"""A configuration as users give it: a file, its JSON form, or only their own plugins."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import attrs

from ...core.release import Release
from ...exceptions import PolicyError
from ..plugin import Plugin
from ..releases import DEFAULT_FRAMEWORK, FRAMEWORK_RELEASES
from .configuration import KIND, KubeSchedulerConfiguration, load_configuration, read_configuration
from .defaults import GROUP

GivenProfile: TypeAlias = "KubeSchedulerConfiguration | Mapping[str, Any] | str | os.PathLike[str]"
"""A KubeSchedulerConfiguration, its JSON form, or its file."""


def given_configuration(
    profile: GivenProfile | None = None,
    *,
    gates: Mapping[str, bool] | str | None = None,
    percentage: int | None = None,
    plugins: Iterable[type[Plugin]] = (),
    release: str = DEFAULT_FRAMEWORK,
) -> KubeSchedulerConfiguration:
    """The configuration in *profile*; without it the default profile, with *plugins* at all of their points.

    *release* reads it, unless *profile* has been read already. *gates* are the changes to the default gates, if it has not. A *percentage*
    replaces that of the profiles. Raises :class:`~kubeclassic.exceptions.PolicyError` with upstream's text.
    """
    found = _read(profile, gates, [plugin.name for plugin in plugins], FRAMEWORK_RELEASES[release])
    if percentage is None:
        return found
    profiles = tuple(attrs.evolve(profile, percentage=None) for profile in found.profiles)
    changed = attrs.evolve(found, percentage=percentage, profiles=profiles)
    changed.validate()
    return changed


def _read(
    profile: GivenProfile | None, gates: Mapping[str, bool] | str | None, plugins: list[str], release: Release
) -> KubeSchedulerConfiguration:
    if isinstance(profile, KubeSchedulerConfiguration):
        if gates:
            raise PolicyError("gates: got some beside a configuration that was read with its own, wanted them there")
        return profile
    if isinstance(profile, str | os.PathLike):
        return load_configuration(profile, gates, release)
    return read_configuration(_default(plugins) if profile is None else profile, gates, release)


def _default(plugins: list[str]) -> dict[str, Any]:
    enabled = {"multiPoint": {"enabled": [{"name": name} for name in plugins]}}
    return {"apiVersion": f"{GROUP}/v1", "kind": KIND, "profiles": [{"plugins": enabled}]}
