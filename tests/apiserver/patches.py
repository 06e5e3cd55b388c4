"""The patches that the server takes: JSON merge patch, strategic merge patch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .answers import Json, Object

MERGE_KEYS: Mapping[str, str] = {
    "conditions": "type",
    "containers": "name",
    "initContainers": "name",
    "env": "name",
    "volumes": "name",
    "addresses": "type",
    "ownerReferences": "uid",
    "hostAliases": "ip",
    "volumeMounts": "mountPath",
    "taints": "key",
}
"""Field -> the key by which a strategic merge patch finds an item of the list; a list that is not here is
replaced."""
ORDER = "$setElementOrder/"


def merge_patch(value: Json, patch: Json) -> Json:
    """RFC 7386: a null removes, a list replaces."""
    if not isinstance(patch, dict):
        return patch
    found = dict(value) if isinstance(value, dict) else {}
    for key, part in patch.items():
        if part is None:
            found.pop(key, None)
        else:
            found[key] = merge_patch(found.get(key), part)
    return found


def strategic_patch(value: Object, patch: Object) -> Object:
    """Merge lists by the key of their items, with ``$patch: delete`` and ``$setElementOrder``."""
    found = dict(value)
    for key, part in patch.items():
        if part is None:
            found.pop(key, None)
        elif not key.startswith("$"):
            found[key] = _merged(key, found.get(key), part, patch.get(ORDER + key))
    for key in (key.removeprefix(ORDER) for key in patch if key.startswith(ORDER)):
        if key not in patch and key in found:
            found[key] = _merged(key, found[key], [], patch[ORDER + key])
    return found


def _merged(key: str, value: Json, part: Json, order: Json = None) -> Json:
    if isinstance(part, dict):
        return strategic_patch(value if isinstance(value, dict) else {}, part)
    if isinstance(part, list) and MERGE_KEYS.get(key):
        return _merged_list(value or [], part, MERGE_KEYS[key], order)
    return part


def _merged_list(
    items: list[Object], patch: list[Object], key: str, order: list[Object] | None
) -> list[Object]:
    found = {item.get(key): item for item in items}
    for part in patch:
        name = part.get(key)
        if part.get("$patch") == "delete":
            found.pop(name, None)
        else:
            found[name] = strategic_patch(found.get(name, {}), part)
    named = [part.get(key) for part in (patch if order is None else order)]
    return _in_order(found, [name for name in named if name in found], [item.get(key) for item in items])


def _in_order(found: Mapping[Any, Object], named: list[Any], before: list[Any]) -> list[Object]:
    """The items that the patch names in its order, among the others. Upstream: another comes first only if it
    was before the next one."""
    others = [name for name in before if name in found and name not in named]
    merged: list[Any] = []
    for name in named:
        while others and name in before and before.index(others[0]) < before.index(name):
            merged.append(others.pop(0))
        merged.append(name)
    return [found[name] for name in (*merged, *others)]
