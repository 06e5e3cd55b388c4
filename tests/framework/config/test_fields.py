"""The fields of configurations and Policies in JSON: none is forgotten, none is misspelled."""

import pytest
import yaml

from kubeclassic.algorithmprovider.config import AlgorithmConfiguration, AlgorithmSource
from kubeclassic.algorithmprovider.extenders import ExtenderConfig, ManagedResource, TlsConfig
from kubeclassic.algorithmprovider.policy import Policy, PriorityArgument
from kubeclassic.api.reading.decode import TYPE_META, fields_of
from kubeclassic.exceptions import PolicyError
from kubeclassic.framework.config import args as a
from kubeclassic.framework.config.configuration import (
    KubeSchedulerConfiguration,
    configuration_fields,
    read_configuration,
)
from kubeclassic.framework.config.profiles import PluginEntry, ProfileConfig
from kubeclassic.framework.plugin import POINTS
from tests.support.frameworkbuild import document
from tests.support.refusals import refusal_text

EXTENDER = (
    "urlPrefix filterVerb preemptVerb prioritizeVerb weight bindVerb enableHTTPS tlsConfig httpTimeout nodeCacheCapable managedResources"
    " ignorable"
)
FIELDS = [
    (
        KubeSchedulerConfiguration,
        "kind apiVersion parallelism leaderElection clientConnection healthzBindAddress metricsBindAddress enableProfiling"
        " enableContentionProfiling percentageOfNodesToScore podInitialBackoffSeconds podMaxBackoffSeconds profiles extenders"
        " delayCacheUntilActive",
    ),
    (ProfileConfig, "schedulerName percentageOfNodesToScore plugins pluginConfig"),
    (
        Policy,
        "kind apiVersion predicates priorities extenders hardPodAffinitySymmetricWeight alwaysCheckAllPredicates",
    ),
    (PriorityArgument, "serviceAntiAffinity labelPreference requestedToCapacityRatioArguments"),
    (
        AlgorithmConfiguration,
        "kind apiVersion schedulerName algorithmSource hardPodAffinitySymmetricWeight percentageOfNodesToScore disablePreemption"
        " bindTimeoutSeconds featureGates plugins",
    ),
    (AlgorithmSource, "provider policy"),
    (PluginEntry, "name weight"),
    (ExtenderConfig, EXTENDER),
    (TlsConfig, "insecure serverName certFile keyFile caFile certData keyData caData"),
    (ManagedResource, "name ignoredByScheduler"),
    (a.DefaultPreemptionArgs, "kind apiVersion minCandidateNodesPercentage minCandidateNodesAbsolute"),
    (a.InterPodAffinityArgs, "kind apiVersion hardPodAffinityWeight ignorePreferredTermsOfExistingPods"),
    (a.NodeAffinityArgs, "kind apiVersion addedAffinity"),
    (a.NodeResourcesBalancedAllocationArgs, "kind apiVersion resources"),
    (a.NodeResourcesFitArgs, "kind apiVersion ignoredResources ignoredResourceGroups scoringStrategy"),
    (a.PodTopologySpreadArgs, "kind apiVersion defaultConstraints defaultingType"),
    (a.VolumeBindingArgs, "kind apiVersion bindTimeoutSeconds shape"),
    (a.ScoringStrategy, "type resources requestedToCapacityRatio"),
    (a.ResourceSpec, "name weight"),
    (a.ShapePoint, "utilization score"),
]


def refusal(**more):
    """The text with which a configuration that has *more* is refused."""
    return refusal_text(PolicyError, read_configuration, document(**more))


def fields(kind):
    """The names of the fields that a class has in JSON."""
    own = configuration_fields() if kind is KubeSchedulerConfiguration else fields_of(kind) or {}
    return {*own, *(TYPE_META if kind.__name__.endswith("Args") else ())}


@pytest.mark.parametrize(
    "kind, names", FIELDS, ids=lambda value: value.__name__ if isinstance(value, type) else ""
)
def test_names(kind, names):
    """A class has just the fields that upstream's has."""
    assert fields(kind) == set(names.split())


def test_extension_points():
    """A profile's plugins are listed by extension point, and under multiPoint."""
    profile = configuration_fields()["profiles"]
    assert set(profile["plugins"]) == {*POINTS, "multiPoint"}


def test_certificates_of_extenders():
    """The certificates of an extender may stand in the file itself, in base64."""
    tls = read_configuration(document(extenders=[{"tlsConfig": {"certData": "eHk="}}])).extenders[0].tls
    assert tls == TlsConfig(cert_data=b"xy")
    assert (
        refusal(extenders=[{"tlsConfig": {"caData": "?"}}])
        == 'extenders[0].tlsConfig.caData: expected bytes in base64, got "(hidden)"'
    )


def test_timeouts_of_extenders():
    """A timeout is a duration; 0 stands for five seconds, and an empty text for none that could be read."""
    times = [
        read_configuration(document(extenders=[{"httpTimeout": written}])).extenders[0].timeout
        for written in ("1m30s", "0s", "0")
    ]
    assert times == [90.0, 5.0, 5.0]
    assert (
        refusal(extenders=[{"httpTimeout": ""}])
        == 'extenders[0].httpTimeout: expected a duration such as 5s or 1m30s, got ""'
    )


def test_errors_name_the_extension_point():
    """Errors about a plugin name its extension point."""
    wrong = document(yaml.safe_load("{plugins: {score: {enabled: [{weight: '1'}]}}}"))
    with pytest.raises(
        PolicyError,
        match=r'^profiles\[0\]\.plugins\.score\.enabled\[0\]\.weight: expected a whole number, got "1"$',
    ):
        read_configuration(wrong)
