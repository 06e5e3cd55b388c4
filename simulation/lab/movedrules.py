"""A Policy, or a configuration of profiles, with rules switched and weights moved, in its JSON form."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from ...api.objects.pods import DEFAULT_SCHEDULER
from ...core.release import ConfigurationCells
from ...framework.config.apiversions import WEIGHT, is_flat

Json = dict[str, Any]
AFFINITY = "InterPodAffinity"


def changed_policy(policy: Json, switches: Mapping[str, bool], weights: Mapping[str, int], hard_weight: int | None) -> Json:
    """*policy*, whose lists are both written out, with the changes. *hard_weight* counts where the Policy has one of its own."""
    found = dict(policy)
    if switches:
        found["predicates"] = _switched(policy["predicates"], switches)
    if weights:
        found["priorities"] = _weighed(policy["priorities"], weights)
    if hard_weight is not None and found.get("hardPodAffinitySymmetricWeight"):
        found["hardPodAffinitySymmetricWeight"] = hard_weight
    return found


def _switched(entries: list[Json], switches: Mapping[str, bool]) -> list[Json]:
    kept = [entry for entry in entries if switches.get(entry.get("name", ""), True)]
    there = {entry.get("name") for entry in kept}
    return [*kept, *({"name": name} for name, on in switches.items() if on and name not in there)]


def _weighed(entries: list[Json], weights: Mapping[str, int]) -> list[Json]:
    moved = [{**entry, "weight": weights.get(entry.get("name", ""), entry.get("weight", 0))} for entry in entries]
    there = {entry.get("name") for entry in entries}
    moved += [{"name": name, "weight": weight} for name, weight in weights.items() if name not in there]
    return [entry for entry in moved if entry.get("name") not in weights or entry["weight"]]


# --- profiles -------------------------------------------------------------------------------------------------------


def changed_profile(
    document: Mapping[str, Any], switches: Mapping[str, bool], weights: Mapping[str, int], hard_weight: int | None,
    cells: ConfigurationCells,
) -> Json:  # fmt: skip
    """*document* with the changes in each of its profiles. What a point says itself counts before multiPoint.

    *cells*: how the release reads the version that *document* is in.
    """
    found: Json = copy.deepcopy(dict(document))
    if not (switches or weights or hard_weight is not None):
        return found
    for profile in [found] if is_flat(cells) else _profiles(found):
        plugins = profile["plugins"] = dict(profile.get("plugins") or {})
        filters = {name: None if on else 0 for name, on in switches.items()}
        if filters:
            plugins["filter"] = _point(plugins.get("filter"), filters, cells)
        if weights:
            plugins["score"] = _point(plugins.get("score"), weights, cells)
        if hard_weight is not None and is_flat(cells):
            profile[WEIGHT] = hard_weight
        elif hard_weight is not None:
            profile["pluginConfig"] = _affinity(profile.get("pluginConfig") or [], hard_weight)
    return found


def _profiles(found: Json) -> list[Json]:
    profiles: list[Json] = [dict(profile) for profile in found.get("profiles") or [{}]]
    if len(profiles) == 1:
        profiles[0].setdefault("schedulerName", DEFAULT_SCHEDULER)
    found["profiles"] = profiles
    return profiles


def _point(given: Json | None, moved: Mapping[str, int | None], cells: ConfigurationCells) -> Json:
    """One extension point: 0 takes a plugin out, None puts it in, another number is its weight.

    Where an entry does not replace the default one, that has to go first.
    """
    plugins = given or {}
    enabled = [entry for entry in plugins.get("enabled") or [] if entry.get("name") not in moved]
    disabled = [entry for entry in plugins.get("disabled") or [] if entry.get("name") not in moved]
    enabled += [{"name": name, **({} if weight is None else {"weight": weight})} for name, weight in moved.items() if weight != 0]
    disabled += [{"name": name} for name, weight in moved.items() if weight == 0 or not cells.replaces_defaults]
    return {**({"enabled": enabled} if enabled else {}), **({"disabled": disabled} if disabled else {})}


def _affinity(entries: list[Json], weight: int) -> list[Json]:
    args = next((entry.get("args") or {} for entry in entries if entry.get("name") == AFFINITY), {})
    others = [entry for entry in entries if entry.get("name") != AFFINITY]
    return [*others, {"name": AFFINITY, "args": {**args, "hardPodAffinityWeight": weight}}]
