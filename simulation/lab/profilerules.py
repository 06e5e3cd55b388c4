"""A configuration of profiles with plugins switched and weights moved, in its JSON form."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
AFFINITY = "InterPodAffinity"


def changed_profile(
    document: Mapping[str, Any], switches: Mapping[str, bool], weights: Mapping[str, int], hard_weight: int | None
) -> Json:
    """*document* with the changes in each of its profiles. What a point says itself counts before multiPoint."""
    found: Json = copy.deepcopy(dict(document))
    if not (switches or weights or hard_weight is not None):
        return found
    found["profiles"] = [dict(profile) for profile in found.get("profiles") or [{}]]
    if len(found["profiles"]) == 1:
        found["profiles"][0].setdefault("schedulerName", "default-scheduler")
    for profile in found["profiles"]:
        plugins = profile["plugins"] = dict(profile.get("plugins") or {})
        filters = {name: None if on else 0 for name, on in switches.items()}
        if filters:
            plugins["filter"] = _point(plugins.get("filter"), filters)
        if weights:
            plugins["score"] = _point(plugins.get("score"), weights)
        if hard_weight is not None:
            profile["pluginConfig"] = _affinity(profile.get("pluginConfig") or [], hard_weight)
    return found


def _point(given: Json | None, moved: Mapping[str, int | None]) -> Json:
    """One extension point: 0 takes a plugin out, None puts it in, another number is its weight."""
    plugins = given or {}
    enabled = [entry for entry in plugins.get("enabled") or [] if entry.get("name") not in moved]
    disabled = [entry for entry in plugins.get("disabled") or [] if entry.get("name") not in moved]
    enabled += [{"name": name, **({} if weight is None else {"weight": weight})} for name, weight in moved.items() if weight != 0]
    disabled += [{"name": name} for name, weight in moved.items() if weight == 0]
    return {**({"enabled": enabled} if enabled else {}), **({"disabled": disabled} if disabled else {})}


def _affinity(entries: list[Json], weight: int) -> list[Json]:
    args = next((entry.get("args") or {} for entry in entries if entry.get("name") == AFFINITY), {})
    others = [entry for entry in entries if entry.get("name") != AFFINITY]
    return [*others, {"name": AFFINITY, "args": {**args, "hardPodAffinityWeight": weight}}]
