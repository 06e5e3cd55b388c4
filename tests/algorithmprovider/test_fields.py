"""The fields of Policies and component configurations in JSON: none is forgotten, none is misspelled."""

from __future__ import annotations

import attrs
import pytest

from kubeclassic.algorithmprovider.config import CONFIGURATION_SCHEMA, AlgorithmConfiguration, AlgorithmSource
from kubeclassic.algorithmprovider.extenders import SCHEMA, ExtenderConfig, ManagedResource, TlsConfig
from kubeclassic.algorithmprovider.policy import POLICY_SCHEMA, Policy, PriorityArgument
from tests.support.fieldwalk import attributes_in, changes


def chains_of(schema, kind):
    """What every field of a class changes; each field must change one attribute."""
    found = {path: chains for path, chains in changes(schema, kind).items() if path != ("metadata",)}
    assert {path: chains for path, chains in found.items() if len(chains) != 1} == {}
    return {chain for chains in found.values() for chain in chains}


def test_every_attribute_of_a_policy_has_one_reader():
    """Each field of a Policy changes one attribute, and every attribute has such a field; those of extenders are not told one by one."""
    read = {link for chain in chains_of(POLICY_SCHEMA, Policy) for link in chain}
    unread = attributes_in(Policy) - read
    assert {owner for owner, _ in unread} <= {ExtenderConfig, ManagedResource, TlsConfig}


@pytest.mark.parametrize("kind", [TlsConfig, ManagedResource, ExtenderConfig])
def test_every_attribute_of_an_extender_has_one_reader(kind):
    """Each field of an extender changes one attribute, and every attribute has such a field."""
    schema = attrs.evolve(SCHEMA, wrappers={})
    assert attributes_in(kind) == {link for chain in chains_of(schema, kind) for link in chain}


def test_every_attribute_of_a_component_configuration_has_one_reader():
    """Each field changes one attribute, and every attribute but the file's folder has such a field."""
    read = {link for chain in chains_of(CONFIGURATION_SCHEMA, AlgorithmConfiguration) for link in chain}
    assert attributes_in(AlgorithmConfiguration) - read == {(AlgorithmConfiguration, "folder")}


@pytest.mark.parametrize(
    ("schema", "kind", "fields"),
    [
        (
            POLICY_SCHEMA,
            Policy,
            "kind apiVersion metadata predicates priorities extenders hardPodAffinitySymmetricWeight alwaysCheckAllPredicates",
        ),
        (POLICY_SCHEMA, PriorityArgument, "serviceAntiAffinity labelPreference requestedToCapacityRatioArguments"),
        (
            attrs.evolve(SCHEMA, wrappers={}),
            ExtenderConfig,
            "urlPrefix filterVerb preemptVerb prioritizeVerb weight bindVerb enableHttps tlsConfig httpTimeout nodeCacheCapable"
            " managedResources ignorable",
        ),
        (
            CONFIGURATION_SCHEMA,
            AlgorithmConfiguration,
            "kind apiVersion schedulerName algorithmSource hardPodAffinitySymmetricWeight percentageOfNodesToScore disablePreemption"
            " bindTimeoutSeconds featureGates",
        ),
        (CONFIGURATION_SCHEMA, AlgorithmSource, "provider policy"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_names(schema, kind, fields):
    """Fields are called what upstream calls them: Policies have enableHttps, not enableHTTPS."""
    assert set(schema.shape(kind).fields or ()) == set(fields.split())
