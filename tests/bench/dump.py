"""Writes a cluster as ``kubectl get nodes,pods -A -o json`` prints it: one List, four spaces deep, with all that pods and nodes have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]
PODS_A_SET = 50
CONDITIONS = ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
TIME = "2020-01-01T00:00:00Z"


def write_dump(path: Path, nodes: int, pods: int) -> int:
    """Write so many nodes, and pods on them; answers the bytes."""
    with path.open("w", encoding="utf-8") as stream:
        stream.write('{\n    "apiVersion": "v1",\n    "items": [\n')
        for number, item in enumerate(_items(nodes, pods)):
            text = json.dumps(item, indent=4, sort_keys=True).replace("\n", "\n        ")
            stream.write(f"{',' if number else ''}\n        {text}" if number else f"        {text}")
        stream.write('\n    ],\n    "kind": "List",\n    "metadata": {"resourceVersion": ""}\n}\n')
    return path.stat().st_size


def _items(nodes: int, pods: int) -> Iterator[Json]:
    yield from (_node(number) for number in range(nodes))
    yield from (_pod(number, f"node-{number % nodes:05}") for number in range(pods))


def _metadata(name: str, **more: Any) -> Json:
    return {"creationTimestamp": TIME, "name": name, "resourceVersion": f"{abs(hash(name)) % 10**8}", "uid": f"00000000-{name}", **more}


# --- nodes ----------------------------------------------------------------------------------------------------------


def _node(number: int) -> Json:
    name = f"node-{number:05}"
    labels = {
        "beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux", "kubernetes.io/hostname": name,
        "beta.kubernetes.io/instance-type": "n1-standard-4", "failure-domain.beta.kubernetes.io/region": "europe-west1",
        "failure-domain.beta.kubernetes.io/zone": f"europe-west1-{'bcd'[number % 3]}",
    }  # fmt: skip
    annotations = {"node.alpha.kubernetes.io/ttl": "0", "volumes.kubernetes.io/controller-managed-attach-detach": "true"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": _metadata(name, labels=labels, annotations=annotations),
        "spec": {"podCIDR": f"10.{number // 256 % 256}.{number % 256}.0/24", "providerID": f"gce://project/europe-west1/{name}"},
        "status": _node_status(name),
    }


def _node_status(name: str) -> Json:
    amounts = {"cpu": "4", "ephemeral-storage": "98868448Ki", "hugepages-2Mi": "0", "memory": "32Gi", "pods": "110"}
    images = [{"names": [f"registry.example.com/team/app-{i}@sha256:{i:064}", f"registry.example.com/team/app-{i}:v{i}"],
               "sizeBytes": 10_000_000 * (i + 1)} for i in range(10)]  # fmt: skip
    return {
        "addresses": [{"address": "10.0.0.1", "type": "InternalIP"}, {"address": name, "type": "Hostname"}],
        "allocatable": amounts,
        "capacity": amounts,
        "conditions": [_condition(kind, "True" if kind == "Ready" else "False") for kind in CONDITIONS],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "images": images,
        "nodeInfo": {"architecture": "amd64", "kernelVersion": "4.19", "kubeletVersion": "v1.16.0", "osImage": "Linux", "machineID": name},
    }


def _condition(kind: str, status: str) -> Json:
    return {
        "lastHeartbeatTime": TIME, "lastTransitionTime": TIME, "message": f"kubelet says of {kind} that it is {status}",
        "reason": f"Kubelet{kind}", "status": status, "type": kind,
    }  # fmt: skip


# --- pods -----------------------------------------------------------------------------------------------------------


def _pod(number: int, node: str) -> Json:
    app, name = f"app-{number // PODS_A_SET}", f"app-{number // PODS_A_SET}-5d59d67564-{number:06}"
    owner = {"apiVersion": "apps/v1", "blockOwnerDeletion": True, "controller": True, "kind": "ReplicaSet", "name": f"{app}-5d59d67564"}
    labels = {"app": app, "pod-template-hash": "5d59d67564", "tier": "backend"}
    meta = _metadata(name, namespace=f"team-{number // PODS_A_SET % 20}", labels=labels, generateName=f"{app}-5d59d67564-")
    meta |= {"annotations": {"kubernetes.io/limit-ranger": "LimitRanger plugin set"}, "ownerReferences": [owner | {"uid": f"uid-{app}"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": _pod_spec(app, node), "status": _pod_status(number)}


def _pod_spec(app: str, node: str) -> Json:
    tolerations = [{"effect": "NoExecute", "key": f"node.kubernetes.io/{why}", "operator": "Exists", "tolerationSeconds": 300}
                   for why in ("not-ready", "unreachable")]  # fmt: skip
    return {
        "containers": [_container("main", app)],
        "dnsPolicy": "ClusterFirst", "enableServiceLinks": True, "nodeName": node, "priority": 0, "restartPolicy": "Always",
        "schedulerName": "default-scheduler", "securityContext": {}, "serviceAccount": "default", "serviceAccountName": "default",
        "terminationGracePeriodSeconds": 30, "tolerations": tolerations,
        "volumes": [{"name": "default-token-abcde", "secret": {"defaultMode": 420, "secretName": "default-token-abcde"}}],
    }  # fmt: skip


def _container(name: str, image: str) -> Json:
    mounts = [{"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "default-token-abcde", "readOnly": True}]
    return {
        "env": [{"name": "LOG_LEVEL", "value": "info"}, {"name": "PORT", "value": "8080"}],
        "image": f"registry.example.com/team/{image}:v1", "imagePullPolicy": "IfNotPresent", "name": name,
        "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
        "resources": {"limits": {"cpu": "200m", "memory": "500Mi"}, "requests": {"cpu": "50m", "memory": "250Mi"}},
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", "volumeMounts": mounts,
    }  # fmt: skip


def _pod_status(number: int) -> Json:
    kinds = ("Initialized", "Ready", "ContainersReady", "PodScheduled")
    statuses = [{"containerID": f"docker://{number:064}", "image": f"registry.example.com/team/{name}:v1", "lastState": {}, "name": name,
                 "ready": True, "restartCount": 0, "state": {"running": {"startedAt": TIME}}} for name in ("main",)]  # fmt: skip
    conditions = [{"lastProbeTime": None, "lastTransitionTime": TIME, "status": "True", "type": kind} for kind in kinds]
    return {
        "conditions": conditions, "containerStatuses": statuses, "hostIP": "10.0.0.1", "phase": "Running", "podIP": "10.1.0.1",
        "podIPs": [{"ip": "10.1.0.1"}], "qosClass": "Burstable", "startTime": TIME,
    }  # fmt: skip
