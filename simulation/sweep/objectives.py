"""What runs are measured by: the names of objectives, and which way is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

COUNTS = ("pods", "placed", "unschedulable", "gated", "waiting", "evictions")
OF_ALL = ("fragmentation", "imbalance", "zone skew")
OF_WAITING = ("waiting mean", "waiting p50", "waiting p90", "waiting p95", "waiting p99", "waiting max")
OF_A_RESOURCE = ("used", "fragmentation", "imbalance")
"""After the name of a resource, as in ``cpu used``."""
BY_DEFAULT = ("placed", "cpu used", "memory used", "fragmentation", "imbalance", "zone skew", "evictions")
NAMES = (*COUNTS, *OF_ALL, *OF_WAITING)
WANTED = f"{', '.join(NAMES)}, or a resource and {', '.join(OF_A_RESOURCE[:-1])} or {OF_A_RESOURCE[-1]}, such as cpu used"

MEASURED = 1
"""The version of what is measured and how: another one makes old results of no use."""
Measures = Mapping[str, Any]
"""Objective -> its value in one run; None where there is nothing to measure."""


def is_objective(name: object) -> bool:
    """Whether *name* is an objective.

    >>> [is_objective(name) for name in ("placed", "nvidia.com/gpu used", "used", "cpu free")]
    [True, True, False, False]
    """
    if not isinstance(name, str):
        return False
    resource, _, what = name.rpartition(" ")
    return name in NAMES or (bool(resource) and " " not in resource and what in OF_A_RESOURCE)


def more_is_better(name: str) -> bool | None:
    """Which way of an objective most people call better; None for what is neither.

    >>> more_is_better("placed"), more_is_better("cpu fragmentation"), more_is_better("pods")
    (True, False, None)
    """
    return None if name == "pods" else name == "placed" or name.endswith(" used")


def known_names() -> tuple[str, ...]:
    """Names to suggest for a wrong one."""
    return (*NAMES, *(f"{resource} {what}" for resource in ("cpu", "memory", "pods") for what in OF_A_RESOURCE))


def beats(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether *one* is as good as *other* in everything, and better in something; of all numbers the higher is the better."""
    return one != other and all(mine >= theirs for mine, theirs in zip(one, other, strict=True))
