"""The traits of a cluster that releases treat differently: facts about them are tried first where a decision
differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from ...api.meaning import COMPARISONS, requests_of, total_of
from ...api.objects import (
    ZERO,
    Container,
    Device,
    Node,
    NodeAffinity,
    Pod,
    PodDisruptionBudget,
    Quantity,
    ResourceSlice,
)
from ...core.arrays import AVOID
from ...core.pods import CPU, MEMORY, NATIVE
from ...core.release.fact import Fact
from ...simulation.releasenotes import NAMESPACES
from ...simulation.simulate import Scenario

OnPod = Callable[[Pod], object]


def _shared_keys(pod: Pod) -> object:
    """Whether two constraints have one topology key."""
    keys = [one.topology_key for one in pod.spec.topology_spread_constraints]
    return len(set(keys)) < len(keys)


def _to_nodes(pod: Pod) -> NodeAffinity | None:
    return pod.spec.affinity.node_affinity if pod.spec.affinity else None


def _containers(pod: Pod) -> Iterable[Container]:
    return (*pod.spec.containers, *pod.spec.init_containers)


def _amounts(pod: Pod) -> Iterable[tuple[str, Quantity]]:
    return (item for one in _containers(pod) for item in one.requests.items())


def _exceeds(node: Node, pods: Sequence[Pod]) -> bool:
    """Whether the pods on *node* request more of something than it has."""
    asked = Counter[str]()
    for pod in pods:
        asked.update({name: quantity.nanos for name, quantity in total_of(pod.spec, requests_of).items()})
    return any(amount > (node.status.allocatable.get(name) or ZERO).nanos for name, amount in asked.items())


OF_PODS: Mapping[str, OnPod] = {
    "comparing tolerations": lambda pod: any(one.operator in COMPARISONS for one in pod.spec.tolerations),
    "constraint fields": lambda pod: any(
        one.min_domains is not None or one.match_label_keys for one in pod.spec.topology_spread_constraints
    ),
    "constraints": lambda pod: pod.spec.topology_spread_constraints,
    "constraints of one key": _shared_keys,
    "declared features": lambda pod: (
        pod.spec.host_users is False or any(one.restarts_all for one in _containers(pod))
    ),
    "devices": lambda pod: pod.spec.resource_claims,
    "empty selectors": lambda pod: any(
        one.label_selector is None or one.label_selector.is_empty
        for one in pod.spec.topology_spread_constraints
    ),
    "fine amounts": lambda pod: any(
        quantity.nanos % (10**6 if name == CPU else 10**9) for name, quantity in _amounts(pod)
    ),
    "huge amounts": lambda pod: any(quantity.nanos > HUGE for _, quantity in _amounts(pod)),
    "image volumes": lambda pod: any(volume.image for volume in pod.spec.volumes),
    "images": lambda pod: any(one.image for one in _containers(pod)),
    "inclusion policies": lambda pod: any(
        one.node_affinity_policy or one.node_taints_policy for one in pod.spec.topology_spread_constraints
    ),
    "init containers": lambda pod: pod.spec.init_containers,
    "named nodes": lambda pod: (
        (affinity := _to_nodes(pod))
        and affinity.required
        and any(term.match_fields for term in affinity.required.node_selector_terms)
    ),
    "namespace selectors": NAMESPACES.has,
    "node preferences": lambda pod: (affinity := _to_nodes(pod)) and affinity.given_preferred is not None,
    "nominations": lambda pod: pod.status.nominated_node_name,
    "overhead": lambda pod: pod.spec.overhead,
    "pod affinity": lambda pod: (
        (affinity := pod.spec.affinity) and (affinity.pod_affinity or affinity.pod_anti_affinity)
    ),
    "pod resources": lambda pod: pod.spec.requests,
    "pods without cpu and memory": lambda pod: (
        not any(quantity.nanos for name, quantity in _amounts(pod) if name in (CPU, MEMORY))
    ),
    "ports": lambda pod: any(port.host_port for one in _containers(pod) for port in one.ports),
    "requests": lambda pod: any(one.requests for one in _containers(pod)),
    "resized pods": lambda pod: (
        pod.status.resources
        or any(
            one.requests is not None or one.allocated_resources
            for one in (*pod.status.container_statuses, *pod.status.init_container_statuses)
        )
    ),
    "scheduling gates": lambda pod: pod.spec.scheduling_gates,
    "sidecars": lambda pod: any(one.is_sidecar for one in pod.spec.init_containers),
    "terminating": lambda pod: pod.is_terminating,
    "node selectors": lambda pod: pod.spec.node_selector,
    "volumes": lambda pod: pod.spec.rule_volumes,
    "zero scalars": lambda pod: any(
        not quantity.nanos and name not in NATIVE for name, quantity in _amounts(pod)
    ),
}
"""Trait -> whether a pod gives it to its cluster."""
OF_KINDS: Mapping[str, tuple[str, ...]] = {
    "attachments": ("VolumeAttachment",),
    "budgets": ("PodDisruptionBudget",),
    "device classes": ("DeviceClass",),
    "owners": ("Service", "ReplicationController", "ReplicaSet", "StatefulSet"),
}
"""Trait -> the kinds of which an object gives it."""
OF_DEVICES: Mapping[str, Callable[[Device], object]] = {
    "binding conditions": lambda device: device.binding_conditions,
    "counters": lambda device: device.consumes_counters,
    "device taints": lambda device: device.taints,
    "shared devices": lambda device: device.allow_multiple_allocations,
}
"""Trait -> whether a device of a slice gives it."""
HUGE = 10**9 << 50
"""Amounts beyond a pebibyte, in billionths: sums and scores of them may wrap around."""
MANY = 100
"""Up to that many nodes every search looks at all of them."""
OF_NODES: Mapping[str, Callable[[Node], object]] = {
    "avoiding nodes": lambda node: AVOID in node.annotations,
    "image lists": lambda node: node.status.images,
    "taints": lambda node: node.spec.taints or node.spec.unschedulable,
    "unschedulable": lambda node: node.spec.unschedulable,
    "huge nodes": lambda node: any(quantity.nanos > HUGE for quantity in node.status.allocatable.values()),
    "lacking nodes": lambda node: (
        not {CPU, MEMORY} <= {name for name, found in node.status.allocatable.items() if found.nanos}
    ),
    "preferring taints": lambda node: any(taint.effect == "PreferNoSchedule" for taint in node.spec.taints),
    "zones": lambda node: any("zone" in label or "region" in label for label in node.labels),
}
"""Trait -> whether a node gives it."""
OF_CONFIGURATIONS = (
    "policy",
    "profile",
    "events",
    "gates set",
    "equivalence cache",
    "no scores",
    "extenders",
)
"""Traits of what is asked for, not of the cluster."""
OF_ALL = ("priorities", "orphans", "disrupted pods", "100 nodes", "two nodes", "overcommitted nodes")
TRAITS = frozenset({*OF_PODS, *OF_KINDS, *OF_DEVICES, *OF_NODES, *OF_CONFIGURATIONS, *OF_ALL})
"""Every trait that a fact may need."""


def traits_of(scenario: Scenario, configuration: Iterable[str]) -> frozenset[str]:
    """The traits of *scenario*, with those of the *configuration*."""
    pods = [*scenario.pending, *(item for item in scenario.objects if isinstance(item, Pod))]
    nodes = scenario.nodes
    found = {name for name, holds in OF_PODS.items() if any(holds(pod) for pod in pods)}
    found |= {name for name, holds in OF_NODES.items() if any(holds(node) for node in nodes)}
    there = {item.kind for item in scenario.objects}
    found |= {name for name, kinds in OF_KINDS.items() if not there.isdisjoint(kinds)}
    devices = [
        device for item in scenario.objects if isinstance(item, ResourceSlice) for device in item.spec.devices
    ]
    found |= {name for name, holds in OF_DEVICES.items() if any(holds(device) for device in devices)}
    names = {"", *(node.name for node in nodes)}
    on = dict[str, list[Pod]]()
    for pod in pods:
        on.setdefault(pod.spec.node_name, []).append(pod)
    of_all = {
        "priorities": len({pod.priority for pod in pods}) > 1 or any(pod.is_terminating for pod in pods),
        "orphans": not on.keys() <= names,
        "100 nodes": len(nodes) > MANY,
        "two nodes": len(nodes) > 1,
        "disrupted pods": any(
            isinstance(item, PodDisruptionBudget) and item.status.disrupted_pods for item in scenario.objects
        ),
        "overcommitted nodes": any(_exceeds(node, on[node.name]) for node in nodes if node.name in on),
    }
    found |= {name for name, holds in of_all.items() if holds}
    return frozenset({*found, *configuration})


def concerns(fact: Fact, traits: frozenset[str]) -> bool:
    """Whether *fact* is likely to change a decision on a cluster with *traits*."""
    return fact.decides and all(not traits.isdisjoint(need.split("|")) for need in fact.needs)
