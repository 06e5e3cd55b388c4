"""Other weights for the priorities of an algorithm, or for the plugins of profiles."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from ...algorithmprovider.catalogue import Catalogue
from ...algorithmprovider.registry import Registry
from ...core.rule import Algorithm
from ...exceptions import UnknownNameError, did_you_mean
from ...framework.config.configuration import KubeSchedulerConfiguration
from ...framework.config.defaults import PluginEntry, PluginSet
from ...framework.config.profiles import ProfileConfig
from ...framework.plugin import Plugin
from ...framework.registry import registry_of
from ..compare.contestants import SUCCESSORS

Weights = Mapping[str, int]
"""Name -> weight; 0: the rule does not count at all."""


def weighed_algorithm(algorithm: Algorithm, weights: Weights, catalogue: Catalogue) -> Algorithm:
    """*algorithm* with these *weights*; a priority that it does not have comes on top.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError` for one that the release does not have.
    """
    known = Registry.of(algorithm.release, algorithm.gates, catalogue).priorities
    found = {priority.name: (priority, weight) for priority, weight in algorithm.priorities}
    for name, weight in weights.items():
        if name not in found and name not in known:
            raise _unknown(name, algorithm.release.version, {**found, **known})
        found[name] = (found[name][0] if name in found else known[name](), weight)
    return attrs.evolve(algorithm, priorities=tuple(found[name] for name in sorted(found) if found[name][1]))


def weighed_profiles(
    config: KubeSchedulerConfiguration, weights: Weights, plugins: tuple[type[Plugin], ...], version: str
) -> KubeSchedulerConfiguration:
    """*config* with these *weights* in each of its profiles.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError` for a plugin that there is not.
    """
    known = (*registry_of(config.release), *(plugin.name for plugin in plugins))
    for name in weights:
        if name not in known:
            raise _unknown(name, version, known)
    return attrs.evolve(config, profiles=tuple(_weighed(profile, weights) for profile in config.profiles))


def _weighed(profile: ProfileConfig, weights: Weights) -> ProfileConfig:
    score = profile.plugins.get("score", PluginSet())
    # What a point enables or disables itself counts before multiPoint.
    enabled = [plugin for plugin in score.enabled if plugin.name not in weights]
    disabled = [plugin for plugin in score.disabled if plugin.name not in weights]
    enabled += [PluginEntry(name, weight) for name, weight in weights.items() if weight]
    disabled += [PluginEntry(name) for name, weight in weights.items() if not weight]
    return attrs.evolve(profile, plugins={**profile.plugins, "score": PluginSet(tuple(enabled), tuple(disabled))})


def _unknown(name: str, version: str, known: object) -> UnknownNameError:
    names = list(known) if isinstance(known, Mapping | tuple) else []
    instead = next((successor for successor in SUCCESSORS.get(name, ()) if successor in names), None)
    hint = f"; {instead} took its place" if instead else did_you_mean(name, names)
    return UnknownNameError(f"weights.{name}: release {version} has no rule by that name that scores{hint}")
