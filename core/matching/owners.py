"""The services and controllers of a pod, and the other pods that they select.

Upstream: k8s.io/client-go listers/core/v1 and listers/apps/v1, the ``...Expansion`` listers' GetPod...
functions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

import attrs

from ...api.meaning import Matcher, SelectorError, compile_selector, everything, pairs_match, set_selector
from ...api.objects import LabelSelector, Map, ReplicaSet, ReplicationController, Service, StatefulSet
from ..cluster.listings import Listings
from ..pods import StateKey, Template

Answer = TypeVar("Answer")
Remembered = tuple[tuple[Listings, int], Answer]
"""The listings and the version of their owners for which an answer holds, and the answer."""


@attrs.frozen(repr=False)
class OwnerSelector:
    """A service's or controller's selector as it counts pods; equal selectors of different owners are
    equal."""

    selector: Map[str] | LabelSelector
    matches: Matcher = attrs.field(eq=False)

    @classmethod
    def of_pairs(cls, pairs: Map[str] | None) -> OwnerSelector:
        """The selector of a service or replication controller."""
        # Upstream: counting validates pairs, but finding the owner does not. One invalid pair makes it count
        # every pod.
        label_pairs = Map() if pairs is None else pairs
        return cls(label_pairs, set_selector(label_pairs))

    @property
    def pairs(self) -> Collection[tuple[str, str]]:
        """The label pairs that every matching pod has."""
        if self.matches is everything:
            return ()
        if isinstance(self.selector, LabelSelector):
            return self.selector.match_labels.items()
        return self.selector.items()


_SERVICES: StateKey[Remembered[tuple[Service, ...]]] = StateKey("services")
_SELECTORS: StateKey[Remembered[frozenset[OwnerSelector]]] = StateKey("selectors of owners")


# --- the owners ---------------------------------------------------------------------------------------------


def services_of(pod: Template, listings: Listings) -> tuple[Service, ...]:
    """The services whose selector matches *pod*, by name; an empty selector matches every pod, an absent one
    none."""
    return remembered(_SERVICES, _find_services, pod, listings)


def controllers_of(pod: Template, listings: Listings) -> tuple[ReplicationController, ...]:
    """The replication controllers whose selector matches *pod*, by name; an empty selector matches none."""
    if not pod.labels:
        return ()
    controllers = listings.controllers.within(pod.namespace)
    return tuple(item for item in controllers if item.selector and pairs_match(item.selector, pod.labels))


def replica_sets_of(pod: Template, listings: Listings) -> tuple[ReplicaSet, ...]:
    """The replica sets whose selector matches *pod*, by name; an empty or absent selector matches none."""
    return _selecting(pod, listings.replica_sets.within(pod.namespace))


def stateful_sets_of(pod: Template, listings: Listings) -> tuple[StatefulSet, ...]:
    """The stateful sets whose selector matches *pod*, by name; an empty or absent selector matches none."""
    return _selecting(pod, listings.stateful_sets.within(pod.namespace))


# --- their selectors ----------------------------------------------------------------------------------------


def first_service_selector(pod: Template, listings: Listings) -> OwnerSelector | None:
    """The selector of the first of *pod*'s services, None where it has no service."""
    services = services_of(pod, listings)
    return OwnerSelector.of_pairs(services[0].selector) if services else None


def owner_selectors(pod: Template, listings: Listings) -> frozenset[OwnerSelector]:
    """The distinct selectors of all services and controllers of *pod*.

    Upstream: pkg/scheduler/algorithm/priorities/metadata.go getSelectors.
    """
    return remembered(_SELECTORS, _find_selectors, pod, listings)


def _find_services(pod: Template, listings: Listings) -> tuple[Service, ...]:
    services = listings.services.within(pod.namespace)
    return tuple(
        item for item in services if item.selector is not None and pairs_match(item.selector, pod.labels)
    )


def _find_selectors(pod: Template, listings: Listings) -> frozenset[OwnerSelector]:
    pairs = [service.selector for service in services_of(pod, listings)]
    pairs += [controller.selector for controller in controllers_of(pod, listings)]
    selectors = [owner.selector for owner in replica_sets_of(pod, listings)]
    selectors += [owner.selector for owner in stateful_sets_of(pod, listings)]
    valid = [selector for selector in selectors if selector is not None]
    matchers = map(compile_selector, valid)
    return frozenset([*map(OwnerSelector.of_pairs, pairs), *map(OwnerSelector, valid, matchers)])


Set = TypeVar("Set", ReplicaSet, StatefulSet)


def _selecting(pod: Template, items: list[Set]) -> tuple[Set, ...]:
    """The items whose selector matches *pod*."""
    if not pod.labels:
        return ()
    try:
        # Upstream: one invalid selector in the namespace ends the search, so the pod has no owner of that
        # kind.
        matchers = [compile_selector(item.selector) for item in items]
    except SelectorError:
        return ()
    pairs = zip(items, matchers, strict=True)
    return tuple(
        item
        for item, matches in pairs
        if item.selector and not item.selector.is_empty and matches(pod.labels)
    )


def remembered(
    slot: StateKey[Remembered[Answer]],
    find: Callable[[Template, Listings], Answer],
    pod: Template,
    listings: Listings,
) -> Answer:
    """The answer of *find*, kept in *slot* until a service or controller changes."""
    state = (listings, listings.owner_tick.count)
    cached = pod.notes.get(slot)
    if cached is None or cached[0] != state:
        cached = pod.notes[slot] = (state, find(pod, listings))
    return cached[1]
