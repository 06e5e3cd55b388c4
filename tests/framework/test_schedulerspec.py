"""The specification from which a scheduler is made."""

import pytest
import yaml
from msgspec.structs import fields

from kubeclassic.api.meaning import ServerRules
from kubeclassic.core.arrays.failures import Failures, Reason
from kubeclassic.exceptions import KubeclassicError, UnknownNameError
from kubeclassic.framework.config.configuration import read_configuration
from kubeclassic.framework.options import options_of
from kubeclassic.framework.plugin import Plugin
from kubeclassic.framework.schedulerspec import SchedulerSpec
from tests.support.refusals import refusal_text

NO_POLICY = "policy: expected a profile, which `kubeclassic policy migrate` makes of a Policy"


def test_a_component_configuration_counts_and_options_override_it(root):
    """The file of a KubeSchedulerConfiguration counts unless an option overrides it."""
    config = yaml.safe_load("""
    apiVersion: kubescheduler.config.k8s.io/v1alpha1
    kind: KubeSchedulerConfiguration
    schedulerName: mine
    disablePreemption: true
    percentageOfNodesToScore: 30
    algorithmSource: {provider: ClusterAutoscalerProvider}
    """)
    spec = SchedulerSpec.of(options_of({"config": config})).read()
    algorithm = spec.engine().algorithm
    assert (spec.scheduler_names, algorithm.preemption, algorithm.percentage) == ({"mine"}, False, 30)
    assert "MostRequestedPriority" in [rule.name for rule, _ in algorithm.priorities]
    changed = {"percentage_of_nodes_to_score": 70, "scheduler_name": "other", "provider": "DefaultProvider"}
    other = SchedulerSpec.of(options_of({"config": config, **changed})).read()
    assert (other.scheduler_names, other.engine().algorithm.percentage) == ({"other"}, 70)
    assert "MostRequestedPriority" not in [rule.name for rule, _ in other.engine().algorithm.priorities]
    file = root / "examples" / "policies" / "scheduler-config.yaml"
    assert SchedulerSpec.of(options_of({"config": file})).read().engine().algorithm.priorities


def test_it_makes_the_same_scheduler_each_time():
    """Two engines of one spec share nothing that changes: the draw of a tie-break begins at the same
    place."""
    spec = SchedulerSpec.of(options_of({"tie_break": "random", "seed": 5})).read()
    first = spec.engine()
    second = spec.engine()
    assert [first.ties.pick(9, 0) for _ in range(5)] == [second.ties.pick(9, 0) for _ in range(5)]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"release": "1.27", "policy": {}}, f"{NO_POLICY}, got one, which release 1.27 does not have"),
        (
            {"profile": {}, "release": "1.14"},
            "profile: expected release 1.36, got one, which release 1.14 does not have",
        ),
        (
            {"profile": {}, "config": {}},
            "profile cannot be combined with config: from 1.17 on they are the same",
        ),
        (
            {"config": read_configuration(), "release": "1.16"},
            "config: expected one of releases with predicates and priorities, got a value of type KubeSchedulerConfiguration",
        ),
        (
            {"percentage_of_nodes_to_score": 101},
            "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]",
        ),
        ({"policy_configmap_namespace": "a"}, "policy_configmap_namespace needs policy_configmap"),
        (
            {"release": "1.30", "gates": {"PodLevelResources": True}},
            "gates: unrecognized feature gate: PodLevelResources; ",
        ),
    ],
)
def test_what_does_not_go_together(options, message):
    """Options of the other kind of releases, and values out of range, are refused in one line."""
    assert refusal_text(
        KubeclassicError, lambda: SchedulerSpec.of(options_of(options)).read().engine()
    ).startswith(message)


@pytest.mark.parametrize("release", ["1.17", "1.20", "1.34"])
def test_plugins_of_ones_own(release):
    """A user's plugin runs at its points in the default profile of each release, with what upstream runs
    there."""
    found = SchedulerSpec.of(options_of({"release": release, "plugins": [Closed]})).read().engine()
    assert [rule.name for rule in found.algorithm.predicates if rule.name in ("Closed", "NodeName")] == [
        "NodeName",
        "Closed",
    ]


class Closed(Plugin):
    """Rejects every node."""

    name = "Closed"

    def filter(self, pod, nodes, cycle):
        """Reject."""
        return Failures.where(Reason("closed"), nodes.has_node)


LATE = {"keeps_host_users", "shares_host_network", "keeps_pod_resources"}
OLDEST = {field.name for field in fields(ServerRules)} - {
    "keeps_sidecars",
    "takes_ephemeral_volumes",
    "restarts_all",
}


@pytest.mark.parametrize(
    "release, gates, differs",
    [
        ("1.15", "PodPriority=false", OLDEST),
        ("1.16", "", OLDEST - {"keeps_priorities", "reads_runtime_classes"}),
        (
            "1.26",
            "",
            LATE | {"merges_label_keys", "merges_spread_keys", "sums_what_is_said", "guards_everything"},
        ),
        ("1.28", "", LATE | {"keeps_sidecars", "merges_label_keys", "merges_spread_keys"}),
        ("1.30", "MatchLabelKeysInPodAffinity=true", LATE | {"merges_spread_keys"}),
        ("1.32", "MatchLabelKeysInPodAffinity=false", LATE | {"merges_label_keys", "merges_spread_keys"}),
        ("1.36", "", {"shares_host_network"}),
    ],
)
def test_its_api_server(release, gates, differs):
    """A release, with its gates, says what the API server makes of new objects; the newest has all but
    one."""
    server = SchedulerSpec.of(options_of({"release": release, "gates": gates or None})).server
    assert {field.name for field in fields(server) if not getattr(server, field.name)} == differs


def test_unknown_names():
    """An unknown release is refused."""
    with pytest.raises(UnknownNameError, match=r'^release: expected .*, got "1.99"'):
        SchedulerSpec.of(options_of({"release": "1.99"})).read()
