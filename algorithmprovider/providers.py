"""From a release, its gates and a Policy or a provider to the algorithm: which rules run, in which order, with which weights.

Upstream: CreateFromProvider, CreateFromConfig and CreateFromKeys in pkg/scheduler/factory/factory.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from ..core.release import Release
from ..core.rule import Algorithm, Predicate, Priority
from ..exceptions import PolicyError
from ..predicates.metadata import metadata_fails
from ..priorities.rule import MAX_PRIORITY
from .catalogue import CATALOGUE, Catalogue
from .custom import register_predicate, register_priority
from .extenders import ignored_resources, in_calling_order
from .gates import resolved_gates
from .policy import MAX_INT, Policy, read_policy, validate
from .registry import DEFAULT_PROVIDER, Registry

EQUIVALENCE_CACHE = "EnableEquivalenceClassCache"


@attrs.frozen
class Selection:
    """What a configuration chooses: predicates and priorities by name, also those that never run."""

    registry: Registry
    predicates: Mapping[str, Predicate]
    priorities: tuple[tuple[Priority, int], ...]
    """Sorted by name, each with its weight."""
    hard_pod_affinity_weight: int


def resolve(
    release: Release,
    *,
    gates: Mapping[str, bool] | str | None = None,
    policy: Policy | Mapping[str, Any] | None = None,
    provider: str = DEFAULT_PROVIDER,
    catalogue: Catalogue = CATALOGUE,
    hard_pod_affinity_weight: int = 1,
    percentage: int = 0,
    preemption: bool = True,
    equivalence_cache: bool = False,
    max_pd_vols: int | None = None,
) -> Algorithm:
    """The algorithm that *release* runs with this configuration.

    *gates*: those that differ from the release's defaults, or ``A=true,B=false``. *policy*: a Policy in its JSON form; without one the set
    of *provider*. *percentage*: as the scheduler's constructor gets it; what 0 means depends on the release.
    *max_pd_vols*: what the original reads from KUBE_MAX_PD_VOLS.
    Pure: nothing is kept between calls. Raises :class:`~kubeclassic.exceptions.PolicyError` with upstream's text where it refuses.
    """
    known = resolved_gates(release, gates)
    written = read_policy(policy) if isinstance(policy, Mapping) else policy
    chosen = select(Registry.of(release, known, catalogue), written, provider, hard_pod_affinity_weight)
    extenders = () if written is None else written.extenders
    return Algorithm(
        release=release,
        gates=known,
        predicates=in_running_order(chosen.predicates, (*release.ordering, *catalogue.added_predicates)),
        priorities=chosen.priorities,
        extenders=in_calling_order(extenders, release.ignorable_extenders_last),
        check_all=written is not None and written.always_check_all,
        hard_pod_affinity_weight=chosen.hard_pod_affinity_weight,
        percentage=percentage,
        preemption=preemption,
        max_pd_vols=max_pd_vols,
        ignored_resources=ignored_resources(extenders),
        metadata_fails=metadata_fails,
        equivalence_cache=release.equivalence_cache and (equivalence_cache or known[EQUIVALENCE_CACHE]),
        has_predicates=bool(chosen.predicates),
    )


def in_running_order(chosen: Mapping[str, Predicate], ordering: Iterable[str]) -> tuple[Predicate, ...]:
    """The predicates of *chosen* that run, in order."""
    # Upstream: a predicate whose name is not in the ordering never runs, and nothing says so.
    return tuple(chosen[name] for name in ordering if name in chosen)


def select(registry: Registry, policy: Policy | None, provider: str, hard_pod_affinity_weight: int) -> Selection:
    """What is chosen from *registry*; rules that the Policy makes are registered there. Raises upstream's errors in upstream's order."""
    predicates, priorities = registry.provider(provider) if policy is None else _names(registry, policy)
    if policy is not None and policy.hard_pod_affinity_weight != 0:
        hard_pod_affinity_weight = _int32(policy.hard_pod_affinity_weight)
    if not 1 <= hard_pod_affinity_weight <= 100:
        raise PolicyError(f"invalid hardPodAffinitySymmetricWeight: {hard_pod_affinity_weight}, must be in the range 1-100")
    functions = {name: registry.predicates[name] for name in dict.fromkeys((*predicates, *registry.mandatory))}
    return Selection(registry, functions, _weighed(registry, priorities), hard_pod_affinity_weight)


def _names(registry: Registry, policy: Policy) -> tuple[list[str], list[str]]:
    validate(policy, registry.release)
    predicates, priorities = registry.provider(DEFAULT_PROVIDER)
    if policy.predicates is not None:
        predicates = [register_predicate(registry, entry) for entry in policy.predicates]
    if policy.priorities is not None:
        priorities = [register_priority(registry, entry) for entry in policy.priorities]
    return predicates, priorities


def _weighed(registry: Registry, names: Iterable[str]) -> tuple[tuple[Priority, int], ...]:
    weighed = tuple((registry.priorities[name](), registry.weights[name]) for name in sorted(set(names)))
    total = 0
    for _, weight in weighed:
        if weight * MAX_PRIORITY > MAX_INT - total:
            raise PolicyError(registry.release.texts["overflow"])
        total += weight * MAX_PRIORITY
    return weighed


def _int32(number: int) -> int:
    # Upstream: the Policy's weight is an int that is cut to 32 bits when it is read.
    return (number + 2**31) % 2**32 - 2**31
