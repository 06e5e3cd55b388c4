"""The services and controllers that select a pod, and the counts of their selectors."""

import pytest
import yaml

from kubeclassic.api.objects import Map
from kubeclassic.core.matching.owners import (
    OwnerSelector,
    owner_selectors,
    replica_sets_of,
    services_of,
    stateful_sets_of,
)
from tests.support.build import engine, manifest, node, obj, pod

INVALID = yaml.safe_load("{matchExpressions: [{key: app, operator: Near, values: [a]}]}")


def owner(kind, name, selector, namespace="default"):
    """A service or controller."""
    return obj(manifest(kind, name, namespace=namespace, spec={"selector": selector}))


def cycle(*owners, labels=None):
    """A cycle for a pod with *labels* (``app: a`` where none are given) among *owners*."""
    return engine(node("n"), *owners).begin(pod("new", labels={"app": "a"} if labels is None else labels))


def names(found):
    """The names of owners."""
    return [item.name for item in found]


def test_by_name_within_the_namespace():
    """The services of the pod's namespace whose pairs all match, in order of name."""
    made = cycle(
        owner("Service", "b", {"app": "a"}),
        owner("Service", "a", {"app": "a"}),
        owner("Service", "c", {"app": "x"}),
        owner("Service", "far", {"app": "a"}, "far"),
    )
    assert names(services_of(made.template, made.listings)) == ["a", "b"]


def test_finding_does_not_validate():
    """A pair that is no valid label still selects a pod that has just this pair."""
    made = cycle(owner("Service", "odd", {"app": "no good"}), labels={"app": "no good"})
    assert names(services_of(made.template, made.listings)) == ["odd"]


def test_a_change_is_seen():
    """The services of a class of pods are looked up again when a service changes."""
    made = cycle(owner("Service", "a", {"app": "a"}))
    assert names(services_of(made.template, made.listings)) == ["a"]
    made.listings.services.put(owner("Service", "b", {"app": "a"}))
    assert names(services_of(made.template, made.listings)) == ["a", "b"]


@pytest.mark.parametrize("kind, find", [("ReplicaSet", replica_sets_of), ("StatefulSet", stateful_sets_of)])
def test_one_invalid_selector_hides_the_whole_kind(kind, find):
    """If any set in the namespace has an invalid selector, the pod has no set of that kind."""
    made = cycle(owner(kind, "a", {"matchLabels": {"app": "a"}}), owner(kind, "b", INVALID))
    assert names(find(made.template, made.listings)) == []


def test_all_kinds_together():
    """The selectors of services and of all kinds of controllers are gathered, equal ones once."""
    made = cycle(
        owner("Service", "a", {"app": "a"}),
        owner("ReplicationController", "a", {"app": "a"}),
        owner("ReplicaSet", "a", {"matchLabels": {"app": "a"}}),
        owner("StatefulSet", "a", {"matchLabels": {"app": "a"}}),
    )
    assert len(owner_selectors(made.template, made.listings)) == 2


def test_an_invalid_pair_counts_every_pod():
    """A service's selector with an invalid pair counts all pods."""
    assert OwnerSelector.of_pairs(Map({"app": "no good"})).matches(Map({"other": "b"}))
    assert not OwnerSelector.of_pairs(Map({"app": "a"})).matches(Map({"other": "b"}))
