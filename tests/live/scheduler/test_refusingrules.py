"""Which rule is behind the message of another scheduler, in the words of old and new releases."""

from __future__ import annotations

import pytest

from kubeclassic.framework.releases import FRAMEWORK_RELEASES
from kubeclassic.live.scheduler.shadow.judging import refusing_rule
from kubeclassic.predicates import reasons

MESSAGE = "0/3 nodes are available: 3 {}."


@pytest.mark.parametrize(
    ("reason", "rule"),
    [
        ("Insufficient nvidia.com/gpu", "NodeResourcesFit"), ("Too many pods", "NodeResourcesFit"),
        (reasons.DISK_CONFLICT.text, "VolumeRestrictions"), (reasons.VOLUME_ZONE_CONFLICT.text, "VolumeZone"),
        (reasons.MAX_VOLUME_COUNT_EXCEEDED.text, "NodeVolumeLimits"), (reasons.VOLUME_NODE_CONFLICT.text, "VolumeBinding"),
        (reasons.VOLUME_BIND_CONFLICT.text, "VolumeBinding"), ("pod has unbound immediate PersistentVolumeClaims", "VolumeBinding"),
        (reasons.POD_NOT_FITS_HOST_PORTS.text, "NodePorts"), (reasons.NODE_SELECTOR_NOT_MATCH.text, "NodeAffinity"),
        (reasons.POD_AFFINITY_NOT_MATCH.text, "InterPodAffinity"), (reasons.POD_AFFINITY_RULES_NOT_MATCH.text, "InterPodAffinity"),
        (reasons.EXISTING_PODS_ANTI_AFFINITY_RULES_NOT_MATCH.text, "InterPodAffinity"),
        (reasons.SERVICE_AFFINITY_VIOLATED.text, "ServiceAffinity"), (reasons.NODE_LABEL_PRESENCE_VIOLATED.text, "NodeLabel"),
        (reasons.TOPOLOGY_SPREAD_CONSTRAINTS_NOT_MATCH.text, "PodTopologySpread"),
        (reasons.TAINTS_TOLERATIONS_NOT_MATCH.text, "TaintToleration"), (reasons.NODE_UNSCHEDULABLE.text, "NodeUnschedulable"),
        (reasons.POD_NOT_MATCH_HOST_NAME.text, "NodeName"), (reasons.NODE_UNDER_MEMORY_PRESSURE.text, "CheckNodeMemoryPressure"),
        (reasons.NODE_UNDER_DISK_PRESSURE.text, "CheckNodeDiskPressure"), (reasons.NODE_UNDER_PID_PRESSURE.text, "CheckNodePIDPressure"),
        (reasons.NODE_NOT_READY.text, "CheckNodeCondition"), (reasons.NODE_OUT_OF_DISK.text, "CheckNodeCondition"),
        (reasons.NODE_NETWORK_UNAVAILABLE.text, "CheckNodeCondition"), ("cannot allocate all claims", "DynamicResources"),
        ("a reason of one's own", None),
    ],
)  # fmt: skip
def test_each_reason_has_its_rule(reason: str, rule: str | None) -> None:
    """The newest name of the rule is told; an unknown reason has none."""
    assert refusing_rule(MESSAGE.format(reason), [], []) == rule


@pytest.mark.parametrize("release", FRAMEWORK_RELEASES)
def test_the_words_of_each_release(release: str) -> None:
    """What a release says in words of its own is known."""
    cells = FRAMEWORK_RELEASES[release].framework
    taint = cells.taint_text.format(key="a", value="b")
    said = {
        cells.node_name_text: "NodeName", cells.node_affinity_text: "NodeAffinity", cells.pod_affinity_text: "InterPodAffinity",
        cells.volume_node_text: "VolumeBinding", taint: "TaintToleration",
    }  # fmt: skip
    assert {text: refusing_rule(MESSAGE.format(text), [], []) for text in said if text} == {text: said[text] for text in said if text}


def test_what_we_refuse_too_does_not_count() -> None:
    """Of several reasons it is the one that is said of more nodes than we refuse for the same."""
    message = "0/5 nodes are available: 2 node(s) were unschedulable, 3 Insufficient cpu. preemption: 0/5 nodes are available: 5 No."
    assert refusing_rule(message, [], ["NodeResourcesFit"]) == "NodeResourcesFit"
    assert refusing_rule(message, ["Insufficient cpu"] * 3, []) == "NodeUnschedulable"
