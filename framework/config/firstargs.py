"""Arguments of plugins as the first release with plugins writes them, in the form of those after it.

Upstream: the Args of requested_to_capacity_ratio.go and service_affinity.go in 1.17, which are decoded as Go does it: names in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...exceptions import PolicyError

STEP = 10
"""Scores are up to 100 there, and up to 10 in later arguments."""


def _same(value: Any) -> Any:
    return value


def _shape(value: Any) -> Any:
    return [_point(item) for item in value] if isinstance(value, list) else value


def _point(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    found = {str(name).lower(): item for name, item in value.items()}
    score = found.get("score", 0)
    if type(score) is int and score % STEP:
        raise PolicyError(f"FunctionShape: got score {score}, wanted a multiple of {STEP}: others are not modelled")
    return {**found, "score": score // STEP if type(score) is int else score}


def _resources(value: Any) -> Any:
    return [{"name": name, "weight": weight} for name, weight in value.items()] if isinstance(value, Mapping) else value


_NAMES: Mapping[str, Mapping[str, tuple[str, Callable[[Any], Any]]]] = {
    "RequestedToCapacityRatio": {"functionshape": ("shape", _shape), "resourcetoweightmap": ("resources", _resources)},
    "ServiceAffinity": {"labels": ("affinityLabels", _same), "antiaffinitylabelspreference": ("antiAffinityLabelsPreference", _same)},
}
"""Plugin -> its arguments there in lower case -> the later name, and how the value is written then."""


def later_args(plugin: str, args: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[str]]:
    """*args* of *plugin* in the later form, and the names of those that it does not have.

    Raises :class:`~kubeclassic.exceptions.PolicyError` for a score that the later form cannot have.

    >>> later_args("ServiceAffinity", {"labels": ["rack"], "affinityLabels": ["zone"]})
    ({'affinityLabels': ['rack']}, ['affinityLabels'])
    """
    names = _NAMES.get(plugin)
    if names is None:
        return args, []
    known = {name: names[str(name).lower()] for name in args if str(name).lower() in names}
    return {later: form(args[name]) for name, (later, form) in known.items()}, [name for name in args if name not in known]
