"""The patches that the server takes: JSON patch, JSON merge patch, strategic merge patch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .answers import Json, Object, fault

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
    "images": "",
}
"""Field -> the key by which a strategic merge patch finds an item of the list; a list that is not here is replaced."""
PLAIN_LISTS = frozenset({"finalizers"})
"""Lists of strings that a strategic merge patch adds to."""


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
    """Merge lists by the key of their items, with ``$patch``, ``$setElementOrder`` and ``$deleteFromPrimitiveList``."""
    if patch.get("$patch") == "replace":
        return {key: part for key, part in patch.items() if key != "$patch"}
    found = dict(value)
    for key, part in patch.items():
        if key.startswith("$"):
            _directive(found, key, part)
        elif part is None:
            found.pop(key, None)
        else:
            found[key] = _merged(key, found.get(key), part)
    for key, order in ((key, part) for key, part in patch.items() if key.startswith("$setElementOrder/")):
        _put_in_order(found, key.partition("/")[2], order)
    return found


def _directive(found: Object, key: str, part: Json) -> None:
    if key.startswith("$deleteFromPrimitiveList/"):
        field = key.partition("/")[2]
        found[field] = [item for item in found.get(field, ()) if item not in part]


def _merged(key: str, value: Json, part: Json) -> Json:
    if isinstance(part, dict):
        return strategic_patch(value if isinstance(value, dict) else {}, part)
    if isinstance(part, list) and key in PLAIN_LISTS:
        return [*(value or ()), *(item for item in part if item not in (value or ()))]
    if isinstance(part, list) and MERGE_KEYS.get(key):
        return _merged_list(value or [], part, MERGE_KEYS[key])
    return part


def _merged_list(items: list[Object], patch: list[Object], key: str) -> list[Object]:
    if any(part.get("$patch") == "replace" for part in patch):
        return [part for part in patch if "$patch" not in part]
    found = {item.get(key): item for item in items}
    added: list[Object] = []
    for part in patch:
        name = part.get(key)
        if part.get("$patch") == "delete":
            found.pop(name, None)
        elif name in found:
            found[name] = strategic_patch(found[name], part)
        else:
            added.append(strategic_patch({}, part))
    return [*found.values(), *added]


def _put_in_order(found: Object, field: str, order: list[Any]) -> None:
    """Items named in *order* come in that order, others stay behind them where they were."""
    if field not in found:
        return
    key = MERGE_KEYS.get(field)
    names = [item.get(key) if isinstance(item, dict) else item for item in order]
    place = {name: number for number, name in enumerate(names)}
    found[field] = sorted(found[field], key=lambda item: place.get(item.get(key) if isinstance(item, dict) else item, -1))


def json_patch(value: Json, operations: list[Object]) -> Json:
    """RFC 6902: add, remove, replace and test. A test that fails is a 422."""
    for operation in operations:
        steps = [step.replace("~1", "/").replace("~0", "~") for step in operation["path"].split("/")[1:]]
        value = _operated(value, steps, operation)
    return value


def _operated(value: Json, steps: list[str], operation: Object) -> Json:
    step, *rest = steps
    found = list(value) if isinstance(value, list) else dict(value)
    place: Any = (len(found) if step == "-" else int(step)) if isinstance(found, list) else step
    if rest:
        found[place] = _operated(found[place], rest, operation)
    elif operation["op"] == "remove":
        del found[place]
    elif operation["op"] == "test":
        if found[place] != operation["value"]:
            raise fault(422, "Invalid", "the server rejected our request due to an error in our request", {})
    elif operation["op"] == "add" and isinstance(found, list):
        found.insert(place, operation["value"])
    else:
        found[place] = operation["value"]
    return found
