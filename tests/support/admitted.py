"""The fields that admission, controllers and kubelets add to a pod, as in a dump of a real cluster."""

import hashlib
import json

import yaml

TOKEN = "kube-api-access-"
"""The prefix of the names of service account token volumes; five random letters follow it."""
LETTERS = "bcdfghjklmnpqrstvwxz2456789"
HASHES = {
    "ReplicaSet": "pod-template-hash",
    "StatefulSet": "controller-revision-hash",
    "DaemonSet": "controller-revision-hash",
}
"""Kind of an owner -> the label with the hash of its template."""
GIVEN = yaml.safe_load("""
metadata: {creationTimestamp: &time '2026-11-02T10:11:12Z', resourceVersion: '1'}
managedFields:
- {apiVersion: v1, fieldsType: FieldsV1, manager: kube-controller-manager, operation: Update, time: *time,
   fieldsV1: {'f:spec': {'f:containers': {.: {}}}}}
- {apiVersion: v1, fieldsType: FieldsV1, manager: kubelet, operation: Update, time: *time, subresource: status,
   fieldsV1: {'f:status': {'f:conditions': {.: {}}}}}
spec:
  dnsPolicy: ClusterFirst
  enableServiceLinks: true
  preemptionPolicy: PreemptLowerPriority
  priority: 0
  restartPolicy: Always
  schedulerName: default-scheduler
  securityContext: {}
  terminationGracePeriodSeconds: 30
container:
  imagePullPolicy: IfNotPresent
  terminationMessagePath: /dev/termination-log
  terminationMessagePolicy: File
mount: {mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
tolerations:
- {effect: NoExecute, key: node.kubernetes.io/not-ready, operator: Exists, tolerationSeconds: 300}
- {effect: NoExecute, key: node.kubernetes.io/unreachable, operator: Exists, tolerationSeconds: 300}
volume:
  projected:
    defaultMode: 420
    sources:
    - serviceAccountToken: {expirationSeconds: 3607, path: token}
    - configMap: {items: [{key: ca.crt, path: ca.crt}], name: kube-root-ca.crt}
    - downwardAPI: {items: [{fieldRef: {apiVersion: v1, fieldPath: metadata.namespace}, path: namespace}]}
running:
  phase: Running
  qosClass: Burstable
  conditions:
  - {type: Initialized, status: 'True', lastProbeTime: null, lastTransitionTime: *time}
  - {type: Ready, status: 'True', lastProbeTime: null, lastTransitionTime: *time}
  - {type: ContainersReady, status: 'True', lastProbeTime: null, lastTransitionTime: *time}
  - {type: PodScheduled, status: 'True', lastProbeTime: null, lastTransitionTime: *time}
pending:
  phase: Pending
  qosClass: Burstable
  conditions:
  - {type: PodScheduled, status: 'False', reason: Unschedulable, message: 0/1 nodes are available,
     lastProbeTime: null, lastTransitionTime: *time}
""")
"""Part of a pod -> the added fields; ``running`` and ``pending`` are the status that a kubelet or a scheduler
writes."""


def letters(number):
    """The five letters of a generated name, different for each *number* up to 14 million."""
    found = ""
    for _ in range(5):
        number, at = divmod(number, len(LETTERS))
        found += LETTERS[at]
    return found


def owned(pod, name):
    """*pod* with a ReplicaSet as its owner, named for *name* and the hash of the pod's template."""
    called = f"{name}-{_hash(pod)}"
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": called, "uid": f"uid-{called}"}
    references = [{**owner, "controller": True, "blockOwnerDeletion": True}]
    return {**pod, "metadata": {**pod["metadata"], "ownerReferences": references}}


def admitted(pod, token=None, *, managed=True):
    """A copy of *pod* with the added fields. Fields that it has stay, so a copy of the copy is the same.

    :param token: the letters of its token's volume, by default derived from its name. :param managed: whether
    it has ``managedFields``, which kubectl does not print.
    """
    metadata = pod["metadata"]
    spec = pod["spec"]
    if any(volume["name"].startswith(TOKEN) for volume in spec.get("volumes", ())):
        return pod
    called = {"name": TOKEN + (token or letters(_number(f"{metadata.get('namespace')}/{metadata['name']}")))}
    account = spec.get("serviceAccountName", "default")
    kinds = [owner["kind"] for owner in metadata.get("ownerReferences", ())]
    hashes = {HASHES[kind]: _hash(pod) for kind in kinds if kind in HASHES}
    return {
        **pod,
        "metadata": {
            **GIVEN["metadata"],
            **metadata,
            "labels": {**hashes, **metadata.get("labels", {})},
            **({"managedFields": GIVEN["managedFields"]} if managed else {}),
        },
        "spec": {
            **GIVEN["spec"],
            "serviceAccount": account,
            "serviceAccountName": account,
            **spec,
            "containers": [
                {
                    **GIVEN["container"],
                    **container,
                    "volumeMounts": [*container.get("volumeMounts", ()), {**GIVEN["mount"], **called}],
                }
                for container in spec["containers"]
            ],
            "tolerations": [*spec.get("tolerations", ()), *GIVEN["tolerations"]],
            "volumes": [*spec.get("volumes", ()), {**called, **GIVEN["volume"]}],
        },
        "status": {**GIVEN["running" if spec.get("nodeName") else "pending"], **(pod.get("status") or {})},
    }


def _hash(pod):
    """A number of nine digits, one for all pods of a template."""
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    return f"{_number(json.dumps([pod['metadata'].get('labels'), spec], sort_keys=True)):09}"


def _number(text):
    return int(hashlib.sha256(text.encode()).hexdigest()[:12], 16) % 10**9
