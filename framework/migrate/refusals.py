"""The refusals of upstream's own translation: Policies that older releases accept.

Upstream: pkg/scheduler/framework/plugins/legacy_registry.go of 1.19 to 1.22.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...algorithmprovider.policy import Policy, PriorityEntry
from ...exceptions import PolicyError
from .equivalents import FILTERS, GONE, OLDER, SCORES
from .scores import OWN_CONSTRAINTS, PEER_SPREADING, USAGES

RATIO = "RequestedToCapacityRatioPriority"
KNOWN_PREDICATES = FILTERS.keys() - OLDER
KNOWN_PRIORITIES = (SCORES.keys() | USAGES.keys() | GONE.keys() | {*PEER_SPREADING, OWN_CONSTRAINTS}) - OLDER - {RATIO}


def refuse_as_upstream(policy: Policy | None) -> None:
    """Raise :class:`~kubeclassic.exceptions.PolicyError` with the first refusal that upstream's translation has for *policy*."""
    for refusal in _refusals(policy or Policy()):
        raise PolicyError(refusal)


def _refusals(policy: Policy) -> Iterator[str]:
    names = (entry.name for entry in policy.predicates or () if entry.argument is None)
    yield from (f'predicate type not found for "{name}"' for name in names if name not in KNOWN_PREDICATES)
    priorities = policy.priorities or ()
    for entry in priorities:
        if entry.argument is None and entry.name not in KNOWN_PRIORITIES:
            yield f'priority type not found for "{entry.name}"'
    arguments = [(entry, entry.argument) for entry in priorities if entry.argument is not None]
    yield from _unlike("LabelPreference", (entry for entry, argument in arguments if argument.label_preference is not None))
    yield from _unlike("ServiceAntiAffinity", (entry for entry, argument in arguments if argument.service_anti_affinity is not None))
    ratios = [entry.name for entry, argument in arguments if argument.ratio is not None]
    yield from (f'priority "{name}" redeclares custom priority "RequestedToCapacityRatio", from: "{ratios[0]}"' for name in ratios[1:])


def _unlike(kind: str, entries: Iterable[PriorityEntry]) -> Iterator[str]:
    """The refusals of entries that share a plugin but have different weights."""
    first, *others = [*entries] or [PriorityEntry()]
    for entry in others:
        if entry.weight != first.weight:
            yield f'{kind}  priority "{entry.name}" has a different weight with "{first.name}"'
