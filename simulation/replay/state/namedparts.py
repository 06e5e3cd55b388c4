"""The parts of a scheduler that a checkpoint holds by name only, as the options give them again: algorithm, profiles, plugins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any

import attrs

from ....core.engine import Engine
from ....core.release import Release
from ....framework.plugin import Plugin
from ....framework.registry import DEFAULT_REGISTRY

GIVEN = ("args", "handle")
"""What a plugin is constructed with."""
States = Mapping[str, Mapping[str, Any]]


def named_parts(engine: Engine) -> dict[str, Any]:
    """The parts of *engine* that follow from the options, by name."""
    algorithm = engine.algorithm
    found: dict[str, Any] = {"algorithm": algorithm, "release": algorithm.release, "gates": algorithm.gates}
    found |= {"flow": engine.make_flow, **engine.flow.parts()}
    found |= {f"extender {number}": extender for number, extender in enumerate(engine.extenders)}
    if isinstance(engine.ties.pick, FunctionType):
        found["tie-break"] = engine.ties.pick
    for name, profile in engine.flow.profiles.items():
        parts = {"profile": profile, "algorithm": profile.algorithm, "cacheable": profile.cacheable, "points": profile.points}
        found |= {f"{part} of {name}": value for part, value in parts.items() if value is not None}
    return found | dict(_cells(algorithm.release)) | dict(_plugins(engine))


def _cells(release: Release) -> Iterator[tuple[str, Any]]:
    """The cells of a release that are functions, or values with functions in them."""
    for field in attrs.fields(Release):
        value = getattr(release, field.name)
        if isinstance(value, FunctionType):
            yield f"cell {field.name}", value
        elif attrs.has(type(value)):
            yield f"cell {field.name}", value
            functions = ((inner.name, getattr(value, inner.name)) for inner in attrs.fields(type(value)))
            yield from ((f"cell {field.name}.{name}", found) for name, found in functions if isinstance(found, FunctionType))


def _plugins(engine: Engine) -> Iterator[tuple[str, Plugin]]:
    for name, profile in engine.flow.profiles.items():
        for plugin in profile.plugins().values():
            yield f"plugin {plugin.name} of {name}", plugin


def plugin_states(engine: Engine) -> States:
    """The attributes of users' plugins, by the plugin's name in :func:`named_parts`. Upstream's plugins have no state that counts."""
    own = ((name, plugin) for name, plugin in _plugins(engine) if DEFAULT_REGISTRY.get(plugin.name) is not type(plugin))
    return {name: {key: value for key, value in vars(plugin).items() if key not in GIVEN} for name, plugin in own}


def restore_plugins(engine: Engine, states: States) -> None:
    """Give users' plugins their attributes back."""
    for name, plugin in _plugins(engine):
        vars(plugin).update(states.get(name, {}))
