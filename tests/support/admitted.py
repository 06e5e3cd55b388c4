"""What admission, controllers and kubelets give to a pod, as a dump of a real cluster shows it."""

import hashlib
import json

TIME = "2026-11-02T10:11:12Z"
TOKEN = "kube-api-access-"
"""What the names of volumes with a service account's token begin with; five random letters come after it."""
LETTERS = "bcdfghjklmnpqrstvwxz2456789"
HASHES = {
    "ReplicaSet": "pod-template-hash",
    "StatefulSet": "controller-revision-hash",
    "DaemonSet": "controller-revision-hash",
}
"""Kind of an owner -> the label in which it puts the hash of its template."""
GRACE = tuple(
    {
        "effect": "NoExecute",
        "key": f"node.kubernetes.io/{state}",
        "operator": "Exists",
        "tolerationSeconds": 300,
    }
    for state in ("not-ready", "unreachable")
)
SPEC = {
    "dnsPolicy": "ClusterFirst",
    "enableServiceLinks": True,
    "preemptionPolicy": "PreemptLowerPriority",
    "priority": 0,
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
}
CONTAINER = {
    "imagePullPolicy": "IfNotPresent",
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}


def letters(number):
    """The five letters of a generated name, others for each *number* up to 14 million."""
    found = ""
    for _ in range(5):
        number, at = divmod(number, len(LETTERS))
        found += LETTERS[at]
    return found


def owned(pod, name):
    """*pod* with a ReplicaSet as its owner, named for *name* and the hash of the pod's template."""
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": f"{name}-{_hash(pod)}",
        "uid": f"uid-{name}-{_hash(pod)}",
    }
    reference = {**owner, "controller": True, "blockOwnerDeletion": True}
    return {**pod, "metadata": {**pod["metadata"], "ownerReferences": [reference]}}


def admitted(pod, token=None, *, managed=True):
    """A copy of *pod* with all this; what it says itself stays, so that a copy of the copy is the same.

    :param token: the letters of its token's volume; by default they follow from its name.
    :param managed: whether it has ``managedFields``, which kubectl does not print.
    """
    metadata = pod["metadata"]
    spec = pod["spec"]
    status = pod.get("status") or {}
    if any(volume["name"].startswith(TOKEN) for volume in spec.get("volumes", ())):
        return pod
    volume = _token_volume(
        TOKEN + (token or letters(_number(f"{metadata.get('namespace')}/{metadata['name']}")))
    )
    mount = {
        "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
        "name": volume["name"],
        "readOnly": True,
    }
    account = spec.get("serviceAccountName", "default")
    return {
        **pod,
        "metadata": {
            "creationTimestamp": TIME,
            "resourceVersion": "1",
            **metadata,
            "labels": {**_hash_label(pod), **metadata.get("labels", {})},
            **(
                {"managedFields": [_managed("kube-controller-manager"), _managed("kubelet", "status")]}
                if managed
                else {}
            ),
        },
        "spec": {
            **SPEC,
            "serviceAccount": account,
            "serviceAccountName": account,
            **spec,
            "containers": [
                {**CONTAINER, **container, "volumeMounts": [*container.get("volumeMounts", ()), mount]}
                for container in spec["containers"]
            ],
            "tolerations": [*spec.get("tolerations", ()), *GRACE],
            "volumes": [*spec.get("volumes", ()), volume],
        },
        "status": {**_status(pod), **status},
    }


def _token_volume(name):
    namespace = {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}, "path": "namespace"}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"items": [{"key": "ca.crt", "path": "ca.crt"}], "name": "kube-root-ca.crt"}},
        {"downwardAPI": {"items": [namespace]}},
    ]
    return {"name": name, "projected": {"defaultMode": 420, "sources": sources}}


def _hash_label(pod):
    kinds = [owner["kind"] for owner in pod["metadata"].get("ownerReferences", ())]
    return {HASHES[kind]: _hash(pod) for kind in kinds if kind in HASHES}


def _status(pod):
    """What a kubelet says of a pod that runs, or a scheduler of one that found no node."""
    if pod["spec"].get("nodeName"):
        kinds = ("Initialized", "Ready", "ContainersReady", "PodScheduled")
        conditions = [
            {"lastProbeTime": None, "lastTransitionTime": TIME, "status": "True", "type": kind}
            for kind in kinds
        ]
        return {"conditions": conditions, "phase": "Running", "qosClass": "Burstable"}
    refused = {
        "message": "0/1 nodes are available",
        "reason": "Unschedulable",
        "status": "False",
        "type": "PodScheduled",
    }
    conditions = [{"lastProbeTime": None, "lastTransitionTime": TIME, **refused}]
    return {"conditions": conditions, "phase": "Pending", "qosClass": "Burstable"}


def _managed(manager, part="spec"):
    fields = {f"f:{part}": {"f:conditions" if part == "status" else "f:containers": {".": {}}}}
    head = {
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "manager": manager,
        "operation": "Update",
        "time": TIME,
    }
    return {**head, "fieldsV1": fields, **({"subresource": part} if part == "status" else {})}


def _hash(pod):
    """A number of nine digits, one for all pods of a template."""
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return f"{_number(json.dumps([pod['metadata'].get('labels'), spec], sort_keys=True)):09}"


def _number(text):
    return int(hashlib.sha256(text.encode()).hexdigest()[:12], 16) % 10**9
