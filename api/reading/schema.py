"""The API's JSON form of each kind, as tables: a field's name, the attribute that it becomes, and how to read it.

The tables that hold an enumeration are made twice: strict ones refuse unknown words as the API server would, lenient ones
keep them. ``word(...)`` is the reader of an enumeration in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from .. import objects as o
from .fields import (
    Reader,
    Table,
    entries,
    flag,
    list_of,
    member,
    one_of,
    quantities,
    record,
    remembered,
    shared,
    text,
    text_list,
    texts,
    texts_unshared,
    whole,
    within,
)
from .schema_selectors import Word, affinity, label_selector
from .schema_volumes import volume, volume_tables

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")


@lru_cache(maxsize=2)
def readers(strict: bool) -> Mapping[str, Reader[o.KubeObject]]:
    """A reader for each kind that scheduling reads."""

    def word(*allowed: str, optional: bool = True) -> Reader[str]:
        return one_of(*allowed, optional=optional) if strict else text

    tables = {"Pod": _pod(word), "Node": _node(word), **volume_tables(word), **_owner_tables(word)}
    return {kind: record(o.KINDS[kind], {"metadata": ("metadata", METADATA), **table}) for kind, table in tables.items()}


# --- metadata -------------------------------------------------------------------------------------------------------

_OWNER: Table = {
    "kind": ("kind", text),
    "name": ("name", text),
    "uid": ("uid", text),
    "apiVersion": ("api_version", text),
    "controller": ("controller", flag),
}
METADATA = record(
    o.ObjectMeta,
    {
        "name": ("name", text),
        "namespace": ("namespace", text),
        "uid": ("uid", text),
        "resourceVersion": ("resource_version", text),
        "generation": ("generation", whole),
        "creationTimestamp": ("creation_timestamp", text),
        "deletionTimestamp": ("deletion_timestamp", text),
        "labels": ("labels", texts),
        "annotations": ("annotations", texts_unshared),
        "ownerReferences": ("owner_references", remembered(list_of(record(o.OwnerReference, _OWNER)))),
    },
)


# --- pods -----------------------------------------------------------------------------------------------------------


def _pod(word: Word) -> Table:
    containers = list_of(_container(word))
    spec: Table = {
        "nodeName": ("node_name", text),
        "schedulerName": ("scheduler_name", text),
        "priority": ("priority", whole),
        "priorityClassName": ("priority_class_name", text),
        "preemptionPolicy": ("preemption_policy", word(*_PREEMPTION_POLICIES)),
        "nodeSelector": ("node_selector", texts),
        "affinity": ("affinity", affinity(word)),
        "tolerations": ("tolerations", _tolerations(word)),
        "containers": ("containers", containers),
        "initContainers": ("init_containers", containers),
        "overhead": ("overhead", quantities),
        "volumes": ("volumes", list_of(volume(word))),
        "topologySpreadConstraints": ("topology_spread_constraints", spread_constraints(word)),
        "schedulingGates": ("scheduling_gates", list_of(member("name", text, ""))),
        "hostNetwork": ("host_network", flag),
    }
    return {"spec": ("spec", record(o.PodSpec, spec)), "status": ("status", record(o.PodStatus, _POD_STATUS))}


def _tolerations(word: Word) -> Reader[tuple[o.Toleration, ...]]:
    table: Table = {
        "key": ("key", text),
        "operator": ("operator", word("Equal", "Exists")),
        "value": ("value", text),
        "effect": ("effect", word(*_EFFECTS)),
        "tolerationSeconds": ("toleration_seconds", whole),
    }
    return remembered(list_of(record(o.Toleration, table), o.Toleration()))


def _container(word: Word) -> Reader[o.Container]:
    port: Table = {
        "containerPort": ("container_port", whole),
        "hostPort": ("host_port", whole),
        "hostIP": ("host_ip", text),
        "protocol": ("protocol", word("TCP", "UDP", "SCTP")),
        "name": ("name", text),
    }
    table: Table = {
        "name": ("name", text),
        "image": ("image", text),
        "resources": within({"requests": ("requests", quantities), "limits": ("limits", quantities)}),
        "ports": ("ports", remembered(list_of(record(o.ContainerPort, port), o.ContainerPort()))),
    }
    # Maps of quantities are shared themselves, so that two are alike down to how they are written only where they are one.
    return shared(record(o.Container, table), lambda made: (made, id(made.requests), id(made.limits)))


def spread_constraints(word: Word) -> Reader[tuple[o.TopologySpreadConstraint, ...]]:
    """The reader of topology spread constraints."""
    table: Table = {
        "maxSkew": ("max_skew", whole),
        "topologyKey": ("topology_key", text),
        "whenUnsatisfiable": ("when_unsatisfiable", word("DoNotSchedule", "ScheduleAnyway", optional=False)),
        "labelSelector": ("label_selector", label_selector(word)),
        "minDomains": ("min_domains", whole),
        "nodeAffinityPolicy": ("node_affinity_policy", word("Honor", "Ignore")),
        "nodeTaintsPolicy": ("node_taints_policy", word("Honor", "Ignore")),
        "matchLabelKeys": ("match_label_keys", text_list),
    }
    return remembered(list_of(record(o.TopologySpreadConstraint, table), o.TopologySpreadConstraint()))


_CONDITIONS: Reader[tuple[o.Condition, ...]] = list_of(
    record(
        o.Condition,
        {
            "type": ("type", text),
            "status": ("status", text),
            "reason": ("reason", text),
            "message": ("message", text),
            "lastProbeTime": ("last_probe_time", text),
            "lastTransitionTime": ("last_transition_time", text),
        },
    ),
    o.Condition(),
)
_POD_STATUS: Table = {
    "phase": ("phase", text),
    "nominatedNodeName": ("nominated_node_name", text),
    "startTime": ("start_time", text),
    "conditions": ("conditions", _CONDITIONS),
}


# --- nodes ----------------------------------------------------------------------------------------------------------


def _node(word: Word) -> Table:
    taint: Table = {"key": ("key", text), "value": ("value", text), "effect": ("effect", word(*_EFFECTS, optional=False))}
    spec: Table = {
        "unschedulable": ("unschedulable", flag),
        "taints": ("taints", remembered(list_of(record(o.Taint, taint), o.Taint()))),
        "providerID": ("provider_id", text),
    }
    image: Table = {"names": ("names", text_list), "sizeBytes": ("size_bytes", whole)}
    status: Table = {
        "allocatable": ("allocatable", quantities),
        "capacity": ("capacity", quantities),
        "conditions": ("conditions", _CONDITIONS),
        "images": ("images", list_of(shared(record(o.ContainerImage, image)), o.ContainerImage())),
    }
    return {"spec": ("spec", record(o.NodeSpec, spec)), "status": ("status", record(o.NodeStatus, status))}


# --- what pods belong to --------------------------------------------------------------------------------------------


def _owner_tables(word: Word) -> Mapping[str, Table]:
    by_pairs: Table = {"spec": within({"selector": ("selector", texts)})}
    by_selector: Table = {"spec": within({"selector": ("selector", label_selector(word))})}
    budget = within(
        {
            "disruptionsAllowed": ("disruptions_allowed", whole),
            "disruptedPods": ("disrupted_pods", lambda value: tuple(entries(value))),
        }
    )
    priority_class: Table = {
        "value": ("value", whole),
        "globalDefault": ("global_default", flag),
        "preemptionPolicy": ("preemption_policy", word(*_PREEMPTION_POLICIES)),
    }
    return {
        "Service": by_pairs,
        "ReplicationController": by_pairs,
        "ReplicaSet": by_selector,
        "StatefulSet": by_selector,
        "PodDisruptionBudget": {**by_selector, "status": budget},
        "PriorityClass": priority_class,
        "Namespace": {},
    }
