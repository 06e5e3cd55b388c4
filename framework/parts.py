"""The parts of a scheduler that a copy or a checkpoint holds by name only, as the options give them again: algorithm, profiles, plugins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..core.engine import Engine
from ..core.guard import RuleGuard
from .plugin import Plugin
from .registry import DEFAULT_REGISTRY
from .waitingpods import WaitingPod

GIVEN = ("args", "handle")
"""What a plugin is constructed with."""
States = Mapping[str, Mapping[str, Any]]


def named_parts(engine: Engine) -> dict[str, Any]:
    """The parts of *engine* that follow from the options, by name."""
    algorithm = engine.algorithm
    found: dict[str, Any] = {"algorithm": algorithm, "release": algorithm.release, "gates": algorithm.gates}
    found |= engine.flow.shared_parts()
    for name, profile in engine.profiles.items():
        parts = {"profile": profile, "algorithm": profile.algorithm, "cacheable": profile.cacheable, "points": profile.points}
        found |= {f"{part} of {name}": value for part, value in parts.items() if value is not None}
    return found | dict(_plugins(engine))


def _plugins(engine: Engine) -> Iterator[tuple[str, Plugin]]:
    for name, profile in engine.profiles.items():
        for plugin in profile.plugins().values():
            yield f"plugin {plugin.name} of {name}", plugin


def plugin_states(engine: Engine) -> States:
    """The attributes of users' plugins, by the plugin's name in :func:`named_parts`. Upstream's plugins have no state that counts."""
    own = ((name, plugin) for name, plugin in _plugins(engine) if DEFAULT_REGISTRY.get(plugin.name) is not type(plugin))
    return {name: {key: value for key, value in vars(plugin).items() if not _is_given(key, value)} for name, plugin in own}


def _is_given(name: str, value: Any) -> bool:
    """Whether an attribute is there from the start: an argument, or a guard around a method."""
    return name in GIVEN or isinstance(value, RuleGuard)


def restore_plugins(engine: Engine, states: States) -> None:
    """Give users' plugins their attributes back."""
    for name, plugin in _plugins(engine):
        vars(plugin).update(states.get(name, {}))


def waiting_pods(engine: Engine) -> dict[str, list[WaitingPod]]:
    """The pods of each profile that wait for Permit plugins. Profiles are held by name, and so their waiting pods are held apart."""
    return {name: list(profile.waiting_pods) for name, profile in engine.profiles.items()}


def restore_waiting_pods(engine: Engine, waiting: Mapping[str, list[WaitingPod]]) -> None:
    """Give the profiles their waiting pods back."""
    for name, profile in engine.profiles.items():
        profile.waiting_pods.replace(waiting[name])
