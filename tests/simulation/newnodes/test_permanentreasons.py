"""Reasons that stay are known in the words of every release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import kubeclassic
from kubeclassic.framework.releases import ALL_RELEASES
from kubeclassic.simulation.newnodes.permanentreasons import keeps_apart, lasts

Manifest = dict[str, Any]
RELEASES = list(ALL_RELEASES)


def node(labels: Mapping[str, str] | None = None, **spec: Any) -> Manifest:
    """A node with little room."""
    named = {"kubernetes.io/hostname": "a", **(labels or {})}
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "3"}
    return {"kind": "Node", "metadata": {"name": "a", "labels": named}, "spec": spec, "status": {"allocatable": allocatable}}


def pod(name: str = "web", cpu: str = "1", ports: Sequence[Manifest] = (), **spec: Any) -> Manifest:
    """A pod with the label app=web."""
    container = {"name": "c", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}, "ports": list(ports)}
    return {"kind": "Pod", "metadata": {"name": name, "labels": {"app": "web"}}, "spec": {"containers": [container], **spec}}


def near(which: str, app: str = "web") -> Manifest:
    """Required affinity or anti-affinity to the pods of *app* on the same node."""
    terms = [{"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}]
    return {which: {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def volumes(**parts: Any) -> Manifest:
    """A volume of a pod."""
    return {"volumes": [{"name": "data", **parts}]}


CLAIM: Manifest = {
    "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
    "spec": {"volumeName": "there", "storageClassName": "any"},
}  # fmt: skip
ELSEWHERE: Manifest = {
    "kind": "PersistentVolume", "metadata": {"name": "there"},
    "spec": {
        "claimRef": {"namespace": "default", "name": "data"}, "storageClassName": "any",
        "nodeAffinity": {
            "required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["fast"]}]}]}
        },
    },
}  # fmt: skip
BY_CLAIM = volumes(persistentVolumeClaim={"claimName": "data"})
HERE = {"nodeName": "a"}
PORT = [{"containerPort": 80, "hostPort": 80}]
TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
LASTING: Mapping[str, list[Manifest]] = {
    "amounts": [node(), pod(cpu="100")],
    "places": [node(), *(pod(f"there-{at}", **HERE) for at in range(3)), pod()],
    "taint": [node(taints=[TAINT]), pod()],
    "selector": [node(), pod(nodeSelector={"disk": "fast"})],
    "cordoned": [node(unschedulable=True, taints=[{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]), pod()],
    "port": [node(), pod("there", ports=PORT, **HERE), pod(ports=PORT)],
    "own anti-affinity": [node(), pod("there", **HERE), pod(affinity=near("podAntiAffinity"))],
    "anti-affinity of others": [node(), pod("there", affinity=near("podAntiAffinity"), **HERE), pod()],
    "volume elsewhere": [node(), CLAIM, ELSEWHERE, pod(**BY_CLAIM)],
    "disk in use": [
        node(), pod("there", **volumes(gcePersistentDisk={"pdName": "d"}), **HERE), pod(**volumes(gcePersistentDisk={"pdName": "d"})),
    ],
}  # fmt: skip
"""What keeps a pod from a node for good -> a cluster that shows it."""
PASSING: Mapping[str, list[Manifest]] = {
    "own affinity": [node(), pod(affinity=near("podAffinity", "db"))],
    "own affinity beside pods": [node(), pod("there", **HERE), pod(affinity=near("podAffinity", "db"))],
}
"""What other pods can change -> a cluster that shows it."""
APART = ("port", "own anti-affinity", "anti-affinity of others")


def reasons(cluster: list[Manifest], release: str) -> tuple[str, ...]:
    """The reasons of *release* against the node."""
    found = kubeclassic.explain(cluster, "web", release)
    assert found.host is None
    return found.nodes[0].reasons


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("kind", [*LASTING, *PASSING])
def test_what_stays_and_what_keeps_apart(kind: str, release: str) -> None:
    """Which reasons stay, and which keep two pods of a shape off one node, is known in the words of every release.

    Affinity to pods that are not there can come true.
    """
    found = reasons({**LASTING, **PASSING}[kind], release)
    assert lasts(found) == (kind in LASTING)
    if kind in (*APART, "amounts"):
        assert keeps_apart(found) == (kind in APART)


@pytest.mark.parametrize("release", ["1.28", "1.29", "1.32"])
def test_sidecars_where_they_are_refused(release: str) -> None:
    """Without gate SidecarContainers no node takes such a pod."""
    cluster = [node(), pod(initContainers=[{"name": "log", "restartPolicy": "Always"}])]
    found = kubeclassic.explain(cluster, "web", kubeclassic.Framework(release=release, gates="SidecarContainers=false"))
    assert lasts(found.nodes[0].reasons)
