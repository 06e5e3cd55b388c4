"""The parts of a scheduler that a checkpoint holds by name only, as the options give them again: algorithm, plugins, functions."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType
from typing import Any

import attrs

from ....core.engine import Engine
from ....core.release import Release
from ....framework import copying
from ....framework.copying import plugin_states, restore_plugins, restore_waiting_pods, waiting_pods

__all__ = ["named_parts", "plugin_states", "restore_plugins", "restore_waiting_pods", "waiting_pods"]


def named_parts(engine: Engine) -> dict[str, Any]:
    """Name -> part: what copies hold by name, and what only a checkpoint has to, as it is data without functions."""
    found = {**copying.named_parts(engine), "flow": engine.make_flow}
    found |= {f"extender {number}": extender for number, extender in enumerate(engine.extenders)}
    if isinstance(engine.ties.pick, FunctionType):
        found["tie-break"] = engine.ties.pick
    return found | dict(_cells(engine.release))


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
