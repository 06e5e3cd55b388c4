"""A Policy with predicates switched and weights moved, in its JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]


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
