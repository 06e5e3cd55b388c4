"""Taints and tolerations in short: ``key=value:Effect``."""

from __future__ import annotations

import re
from collections.abc import Callable

from .paths import EditError, Json

_SHORT = re.compile(r"(?P<key>[^=:{\s]+)(?:=(?P<value>[^:]*))?(?::(?P<effect>\w*))?")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def keyed_item(field: str, text: str) -> dict[str, Json] | None:
    """The taint or toleration that *text* says; None for another *field*, or where *text* is YAML. Raises :class:`EditError`.

    >>> keyed_item("taints", "dedicated=gpu:NoSchedule")
    {'key': 'dedicated', 'value': 'gpu', 'effect': 'NoSchedule'}
    >>> keyed_item("tolerations", "dedicated")
    {'key': 'dedicated', 'operator': 'Exists'}
    """
    if field not in ("taints", "tolerations") or text.lstrip().startswith("{"):
        return None
    if field == "tolerations" and text == "*":
        return {"operator": "Exists"}
    key, value, effect = _parts(field, text)
    if field == "taints":
        if not effect:
            raise EditError(f'got the taint "{text}", wanted KEY:EFFECT or KEY=VALUE:EFFECT')
        return {"key": key, **({"value": value} if value else {}), "effect": effect}
    operator = {"operator": "Exists"} if value is None else {"operator": "Equal", "value": value}
    return {"key": key, **operator, **({"effect": effect} if effect else {})}


def keyed_test(field: str, text: str) -> Callable[[Json], bool] | None:
    """Whether a taint or toleration is one that *text* means: its key, and the value and effect if *text* has them; None elsewhere."""
    if field not in ("taints", "tolerations") or text.lstrip().startswith("{"):
        return None
    key, value, effect = _parts(field, text)

    def is_meant(item: Json) -> bool:
        if not isinstance(item, dict) or (key != "*" and item.get("key") != key):
            return False
        return (value is None or (item.get("value") or "") == value) and (not effect or item.get("effect") == effect)

    return is_meant


def _parts(field: str, text: str) -> tuple[str, str | None, str]:
    found = _SHORT.fullmatch(text)
    effect = (found["effect"] or "") if found else ""
    if found is None or (effect and effect not in EFFECTS):
        raise EditError(f'got "{text}" for {field}, wanted KEY, KEY=VALUE or KEY=VALUE:EFFECT, where EFFECT is one of {", ".join(EFFECTS)}')
    return found["key"], found["value"], effect
