"""The node labels that newer releases add beside the old ones, and that newer rules read.

Upstream: the kubelet and cloud providers set both since 1.17.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs
from msgspec.structs import replace

from ...api.meaning.labels import BETA_REGION, BETA_ZONE, TOPOLOGY_REGION, TOPOLOGY_ZONE
from ...api.objects import Node
from ..scenario import Scenario

NEWER_LABELS: Mapping[str, str] = {
    BETA_ZONE: TOPOLOGY_ZONE,
    BETA_REGION: TOPOLOGY_REGION,
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
}
"""Label of a node in the old releases -> the one that newer releases put beside it."""
ZONES = next(iter(NEWER_LABELS.items()))


def with_newer_labels(scenario: Scenario) -> Scenario:
    """*scenario* with nodes that have newer releases' labels beside those that they have, as after an upgrade."""
    return attrs.evolve(scenario, objects=tuple(_relabelled(item) if isinstance(item, Node) else item for item in scenario.objects))


def _relabelled(node: Node) -> Node:
    labels = node.metadata.labels
    newer = {name: labels[older] for older, name in NEWER_LABELS.items() if older in labels and name not in labels}
    return replace(node, metadata=replace(node.metadata, labels=type(labels)({**labels, **newer}))) if newer else node


def zones_warning(scenario: Scenario) -> str | None:
    """A warning if nodes have a zone by the old label only, as constraints over the newer label ignore such nodes."""
    older, newer = ZONES
    labels = (item.metadata.labels for item in scenario.objects if isinstance(item, Node))
    count = sum(older in found and newer not in found for found in labels)
    nodes = "1 node has" if count == 1 else f"{count} nodes have"
    return f"{nodes} label {older} and not {newer}, which newer releases add: try --newer-labels as well" if count else None
