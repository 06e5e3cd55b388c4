"""What API servers of all releases refuse of new objects: fields of a wrong form, and fields that do not agree."""

import pytest
import yaml

from kubeclassic.api.load import load, load_given
from tests.support.manifests import dumped

TOLD = "; an API server would refuse it"
C = "{name: c, image: i"
CASES = {
    "kind: Pod, spec: {nodeName: N_1}": 'spec.nodeName: expected lower case letters, digits, - and ., got "N_1"',
    "kind: Pod, spec: {restartPolicy: never}": 'spec.restartPolicy: expected Always, OnFailure or Never, got "never"',
    "kind: Pod, spec: {activeDeadlineSeconds: 0}": "spec.activeDeadlineSeconds: expected 1 or more, got 0",
    "kind: Pod, spec: {runtimeClassName: ''}": (
        "spec.runtimeClassName: expected lower case letters, digits, - and ., got nothing"
    ),
    f"kind: Pod, spec: {{containers: [{C}, ports: [{{containerPort: 1, name: a}}, {{containerPort: 2, name: a}}]}}]}}": (
        'spec.containers[0].ports: expected each once, got name "a" twice'
    ),
    f"kind: Pod, spec: {{containers: [{C}, ports: [{{containerPort: 1, name: '80'}}]}}]}}": (
        'spec.containers[0].ports[0].name: expected lower case letters, digits and -, at most 15, got "80"'
    ),
    f"kind: Pod, spec: {{containers: [{C}, volumeMounts: [{{name: v, mountPath: /v}}]}}]}}": (
        'spec.containers[0].volumeMounts[0].name: expected one of the pod\'s volumes, got "v"'
    ),
    f"kind: Pod, spec: {{containers: [{C}, resources: {{limits: {{requests.a.b/c: 1}}}}}}]}}": (
        "spec.containers[0].resources.limits: expected cpu, memory, ephemeral-storage, hugepages-SIZE or a name"
        ' with a domain, got "requests.a.b/c"'
    ),
    f"kind: Pod, spec: {{hostNetwork: true, containers: [{C}, ports: [{{containerPort: 80, hostPort: 81}}]}}]}}": (
        "spec.containers: expected a hostPort like the containerPort, 80, got 81"
    ),
    f"kind: Pod, spec: {{resources: {{limits: {{cpu: 1}}}}, initContainers: [{C}, resources: {{limits: {{cpu: 1}},"
    " requests: {cpu: 1}}, restartPolicy: Always}, {name: d, image: i, resources: {requests: {cpu: 1}}}]}": (
        'spec.resources.limits[cpu]: expected 2 or more, as its containers request, got "1"'
    ),
    "kind: Pod, spec: {schedulingGates: [{name: a.b/c}, {name: a.b/c}]}": (
        'spec.schedulingGates: expected each once, got name "a.b/c" twice'
    ),
    "kind: Pod, spec: {volumes: [{name: v, emptyDir: {}, configMap: {name: c}}]}": (
        "spec.volumes[0]: expected one kind of volume, got configMap and emptyDir"
    ),
    "kind: Pod, spec: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule,"
    " nodeTaintsPolicy: ''}]}": (
        "spec.topologySpreadConstraints[0].nodeTaintsPolicy: expected Honor or Ignore, got nothing"
    ),
    "kind: Pod, metadata: {labels: {a b: c}}": 'metadata.labels: expected a label\'s key, got "a b"',
    "kind: Pod, metadata: {annotations: {a b: c}}": 'metadata.annotations: expected a label\'s key, got "a b"',
    "kind: Deployment, metadata: {name: D}": (
        'metadata.name: expected lower case letters, digits, - and ., got "D"'
    ),
    "kind: Namespace, metadata: {name: a.b}": (
        'metadata.name: expected lower case letters, digits and -, at most 63, got "a.b"'
    ),
    "kind: Node, spec: {taints: [{key: a, value: b c, effect: NoExecute}]}": (
        'spec.taints[0].value: expected a label\'s value, got "b c"'
    ),
    "kind: Node, status: {capacity: {pods: 1.5}}": 'status.capacity[pods]: expected a whole number, got "1500m"',
    "kind: PersistentVolume, spec: {capacity: {cpu: 1}, accessModes: [ReadWriteOnce], hostPath: {path: /}}": (
        "spec.capacity: expected storage above 0 and nothing else, got an object"
    ),
    "kind: PersistentVolume, spec: {capacity: {storage: 1}, accessModes: [ReadWriteOnce], local: {path: /}}": (
        "spec.nodeAffinity.required: expected the node of a local volume, got nothing"
    ),
    "kind: StorageClass": "provisioner: expected a value, got nothing",
    "kind: PriorityClass, value: 1000000001": "value: expected at most 1,000,000,000, got 1,000,000,001",
    "kind: PriorityClass, metadata: {name: system-mine}": (
        'metadata.name: expected no name of the system\'s own classes, got "system-mine"'
    ),
    "kind: PodDisruptionBudget, spec: {minAvailable: 1, maxUnavailable: 1}": (
        "spec: expected one of minAvailable, maxUnavailable, got minAvailable and maxUnavailable"
    ),
    "kind: PodDisruptionBudget, spec: {minAvailable: 101%}": (
        'spec.minAvailable: expected 0 or more, or a percentage up to 100%, got "101%"'
    ),
    "kind: LimitRange, spec: {limits: [{type: Container, min: {cpu: 2}, max: {cpu: 1}}]}": (
        "spec.limits[0].min[cpu]: expected at most the max, 1, got 2"
    ),
    "kind: LimitRange, spec: {limits: [{type: Pod, max: {cpu: 2}}, {type: Pod, max: {memory: 1}}]}": (
        "spec.limits: expected each type once, got Pod, Pod"
    ),
    "kind: LimitRange, spec: {limits: [{type: Pod, default: {cpu: 2}}]}": (
        "spec.limits[0]: expected no defaults of type Pod, got some"
    ),
    "kind: LimitRange, spec: {limits: [{type: PersistentVolumeClaim}]}": (
        "spec.limits[0]: expected min or max of storage, got neither"
    ),
    "kind: ResourceQuota, spec: {hard: {pods: -1}}": "spec.hard[pods]: expected 0 or more, got -1",
    "kind: ResourceQuota, spec: {hard: {gpus: 1}}": 'spec.hard: expected the name of a resource, got "gpus"',
    "kind: ResourceQuota, spec: {scopes: [BestEffort, NotBestEffort]}": (
        "spec.scopes: expected one of BestEffort and NotBestEffort, got both"
    ),
    "kind: ResourceQuota, spec: {scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In}]}}": (
        "spec.scopeSelector.matchExpressions[0].values: expected some beside In and NotIn alone, got null"
    ),
    "kind: ResourceClaim, spec: {devices: {requests: [{name: r}]}}": (
        "spec.devices.requests[0]: expected one of exactly, firstAvailable, deviceClassName, got none"
    ),
    "kind: ResourceSlice, spec: {driver: d, pool: {name: p}, nodeName: m, devices: [{name: a}, {name: a}]}": (
        'spec.devices: expected each once, got name "a" twice'
    ),
    "kind: ResourceClaim, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}],"
    " constraints: [{requests: [s], matchAttribute: a.b/c}]}}": (
        'spec.devices.constraints[0].requests: expected requests of the claim, got "s"'
    ),
    "kind: ResourceClaim, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}],"
    " constraints: [{matchAttribute: c}]}}": (
        'spec.devices.constraints[0].matchAttribute: expected a domain and a name such as a.b/c, got "c"'
    ),
    "kind: ResourceClaim, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c, allocationMode: All,"
    " count: 2}}]}}": "spec.devices.requests[0].exactly.count: expected none beside the mode All, got 2",
    "kind: ResourceSlice, spec: {driver: d, pool: {name: p}, nodeName: m, devices: [{name: a, nodeName: m}]}": (
        "spec.devices[0]: expected no nodes without perDeviceNodeSelection, got some"
    ),
    "kind: DeviceClass, spec: {selectors: [{}]}": "spec.selectors[0].cel: expected a value, got nothing",
    "kind: RuntimeClass, scheduling: {tolerations: [{operator: Exists, value: v}]}": (
        'scheduling.tolerations[0].value: expected none, got "v" beside Exists'
    ),
    "kind: PersistentVolume, spec: {capacity: {storage: 1}, accessModes: [ReadWriteOnce], hostPath: {path: /},"
    " nodeAffinity: {required: {}}}": (
        "spec.nodeAffinity.required.nodeSelectorTerms: expected one at least, got none"
    ),
    "kind: Pod, spec: {nodeName: a, schedulingGates: [{name: b}]}": (
        'spec.nodeName: expected none beside schedulingGates, got "a"'
    ),
    "kind: ResourceSlice, spec: {driver: d, pool: {name: p}}": (
        "spec: expected one of nodeName, nodeSelector, allNodes, perDeviceNodeSelection, got none"
    ),
    "kind: Deployment, apiVersion: apps/v1": "spec.selector: expected one, got nothing",
    "kind: Deployment, spec: {selector: {}}": "spec.selector: expected one that some pods lack, got an empty one",
    "kind: ReplicaSet, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: c}}}}": (
        "spec.template.metadata.labels: expected some that the selector matches, got a=c"
    ),
    "kind: ReplicationController, spec: {selector: {a: b}, template: {}}": (
        "spec.template.metadata.labels: expected some that the selector matches, got none"
    ),
    "kind: StatefulSet, spec: {template: {spec: {restartPolicy: Never}}}": (
        'spec.template.spec.restartPolicy: expected Always, got "Never"'
    ),
    "kind: CronJob, spec: {jobTemplate: {spec: {template: {spec: {restartPolicy: Always}}}}}": (
        'spec.jobTemplate.spec.template.spec.restartPolicy: expected OnFailure or Never, got "Always"'
    ),
    "kind: Job, apiVersion: batch/v1, spec: {template: {}}": (
        "spec.template.spec.restartPolicy: expected OnFailure or Never, got nothing"
    ),
    "kind: Job, spec: {selector: {matchLabels: {a: b}}}": (
        "spec.selector: expected none without manualSelector, got one"
    ),
    "kind: Job, spec: {completionMode: Indexed, parallelism: 2}": (
        "spec.completions: expected a number of a Job that is Indexed, got nothing"
    ),
}


@pytest.mark.parametrize("stored", [{}, {"uid": "u"}, {"creationTimestamp": "2020-01-01T00:00:00Z"}])
@pytest.mark.parametrize("fields", CASES)
def test_new_objects(fields, stored, tmp_path):
    """A new object that no server would store is told; what a server has stored is right."""
    data = yaml.safe_load(f"{{{fields}}}")
    document = {**data, "metadata": {"name": "x", **data.get("metadata", {}), **stored}}
    file = tmp_path / "object.yaml"
    file.write_text(yaml.safe_dump(document))
    for loaded in (load(file), load_given(document, 1, defaults=True)):
        assert [notice.what for notice in loaded.warnings] == ([] if stored else [f"{CASES[fields]}{TOLD}"])


def test_long_lists(tmp_path):
    """Of many new pods each is told of, also in a list that is read item by item."""
    spec = {"containers": [{"name": "c"}]}
    pods = [
        {
            "kind": "Pod",
            "metadata": {"name": f"p{at}", "labels": {"a": "b c" if at % 2 else "b"}},
            "spec": spec,
        }
        for at in range(20_000)
    ]
    file = tmp_path / "pods.json"
    file.write_text(dumped(pods))
    assert len(load(file).warnings) == 10_000
