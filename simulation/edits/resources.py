"""The names of resources in edits: a misspelt one would be a resource that no node has."""

from __future__ import annotations

from ...exceptions import did_you_mean
from .changes import REMOVE, FieldChange
from .paths import EditError

AMOUNTS = ("requests", "limits", "allocatable", "capacity")
NATIVE = ("cpu", "memory", "ephemeral-storage", "storage", "pods")
HUGE_PAGES = "hugepages-"


def check_resource(change: FieldChange) -> FieldChange:
    """*change*, if the resource that it is about can be one: a native one or one with a domain. Raises :class:`~.paths.EditError`."""
    for before, step in zip(change.path, change.path[1:], strict=False):
        if before.name in AMOUNTS and not before.is_item and change.operator != REMOVE:
            name = step.name
            if "/" not in name and name not in NATIVE and not name.startswith(HUGE_PAGES):
                near = did_you_mean(name, NATIVE)
                raise EditError(f'{before.name}: got the resource "{name}", wanted cpu, memory or one such as nvidia.com/gpu{near}')
    return change
