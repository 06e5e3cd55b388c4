"""A profile in the JSON form of a configuration: which plugins run at which points, with which weights and arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..config.configuration import KIND
from ..config.defaults import GROUP
from .equivalents import PRE_SCORERS, SCORERS, SELECTOR_SPREAD

ALWAYS = ("DefaultBinder", "SchedulingGates")
DEVICES = "DynamicResources"
Json = dict[str, Any]


def document_of(
    scheduler_name: str,
    *,
    percentage: int,
    filters: Sequence[str],
    weights: Mapping[str, int],
    args: Mapping[str, Json],
    extenders: Sequence[Json],
    post_filters: Sequence[str],
) -> Json:
    """A KubeSchedulerConfiguration with one profile, in its JSON form.

    *filters*: plugins in order; *post_filters*: those that come after them; *weights*: plugin -> weight of its scores; *args*: plugin ->
    arguments; *percentage* 0 is left out.
    """
    profile: Json = {"schedulerName": scheduler_name, "plugins": _plugins([*filters, *post_filters], weights)}
    if args:
        profile["pluginConfig"] = [{"name": name, "args": found} for name, found in sorted(args.items())]
    found: Json = {"apiVersion": f"{GROUP}/v1", "kind": KIND}
    if percentage:
        found["percentageOfNodesToScore"] = percentage
    found["profiles"] = [profile]
    if extenders:
        found["extenders"] = list(extenders)
    return found


def _plugins(filters: Sequence[str], weights: Mapping[str, int]) -> Json:
    plain = {name: weight for name, weight in weights.items() if name != SELECTOR_SPREAD}
    everywhere: list[Json] = [{"name": name} for name in ("PrioritySort", *filters, *ALWAYS)]
    unwanted = ["*"]
    if SELECTOR_SPREAD in weights:
        # Upstream: validation refuses this plugin at every single extension point, but does not look under multiPoint.
        everywhere.append({"name": SELECTOR_SPREAD, "weight": weights[SELECTOR_SPREAD]})
        unwanted = [name for name in filters if name in SCORERS and name not in plain]
    return {
        "multiPoint": _only(everywhere),
        "preScore": _enabled((name for name in plain if name in PRE_SCORERS), [name for name in unwanted if name in ("*", *PRE_SCORERS)]),
        "score": {"disabled": [{"name": name} for name in unwanted], "enabled": [{"name": n, "weight": w} for n, w in plain.items()]},
    }


def _enabled(names: Iterable[str], disabled: Sequence[str]) -> Json:
    return {"disabled": [{"name": name} for name in disabled], "enabled": [{"name": name} for name in names]}


def _only(plugins: Iterable[Json]) -> Json:
    """These plugins and no others."""
    return {"disabled": [{"name": "*"}], "enabled": list(plugins)}
