"""``--strict``: what is a warning without it is an error."""

import pytest

from kubeclassic.api.load import load
from kubeclassic.exceptions import ManifestError
from tests.support.program import ran
from tests.support.refusals import refusal_text

UNKNOWN = 'spec.nodeNam: unknown field; did you mean "nodeName"?'
TWICE = "spec.priority: given twice, the last one counts"
FORMS = {
    "manifest": '{"kind": "Pod", "metadata": {"name": "p"}, "spec": %s}',
    "recording": '{"time": 1, "event": "Add", "object": {"kind": "Pod", "metadata": {"name": "p"}, "spec": %s}}',
    "scenario": '{"opcode": "createPods", "count": 1, "podTemplate": {"metadata": {"name": "p"}, "spec": %s}}',
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "spec, wanted", [('{"nodeNam": "n"}', UNKNOWN), ('{"priority": 1, "priority": 2}', TWICE)]
)
def test_strict_refuses_what_nobody_reads(form, spec, wanted, tmp_path):
    """An unknown field or a key given twice is a warning in manifests, recordings and scenarios, and an error
    with --strict."""
    (tmp_path / "n.yaml").write_text(
        "{kind: Node, metadata: {name: 'n'}, status: {allocatable: {cpu: 4, pods: 9}}}"
    )
    (tmp_path / "p.json").write_text(FORMS[form] % spec)
    command = ["replay", str(tmp_path / "n.yaml"), str(tmp_path / "p.json"), "--until", "5"]
    assert wanted in ran(*command, status=(0, 130)).err
    told = ran(*command, "--strict", status=2).err
    assert told.startswith("kubeclassic: ")
    assert wanted in told


NODE_TERMS = "requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [%s]}"
NEVER_STORED = {
    "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, preference: {}}]}}": (
        "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: expected 1 to 100, got 0"
    ),
    "affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101, podAffinityTerm: {topologyKey: z}}]}}": (
        "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: expected 1 to 100, got 101"
    ),
    "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {}}]}}": (
        "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: expected a label's key, got nothing"
    ),
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}": (
        "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: expected one at least, got none"
    ),
    f"affinity: {{nodeAffinity: {{{NODE_TERMS % '{matchExpressions: [{key: a, operator: Gt, values: []}]}'}}}}}": (
        "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: "
        "expected one, got 0 beside Gt"
    ),
    f"affinity: {{nodeAffinity: {{{NODE_TERMS % '{matchFields: [{key: metadata.name, operator: In, values: [a, b]}]}'}}}}}": (
        "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0]: "
        "expected In or NotIn with one, got In with 2 values"
    ),
    "topologySpreadConstraints: [{maxSkew: 0, topologyKey: z, whenUnsatisfiable: DoNotSchedule}]": (
        "topologySpreadConstraints[0].maxSkew: expected 1 or more, got 0"
    ),
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, "
    "labelSelector: {matchExpressions: [{key: a, operator: In}]}}]": (
        "topologySpreadConstraints[0].labelSelector.matchExpressions[0].values: expected one at least, got none beside In"
    ),
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule}, "
    "{maxSkew: 2, topologyKey: z, whenUnsatisfiable: DoNotSchedule}]": (
        'topologySpreadConstraints: expected each once, got topologyKey and whenUnsatisfiable "z, DoNotSchedule" twice'
    ),
    "tolerations: [{operator: Equal, value: v}]": 'tolerations[0].operator: expected Exists, got "Equal" without a key',
    "tolerations: [{key: k, operator: Exists, value: v}]": 'tolerations[0].value: expected none, got "v" beside Exists',
    "tolerations: [{key: k, effect: NoSchedule, tolerationSeconds: 5}]": (
        'tolerations[0].effect: expected NoExecute, got "NoSchedule" beside tolerationSeconds'
    ),
    'containers: [{name: c, resources: {requests: {cpu: "-1"}}}]': 'containers[0].resources.requests[cpu]: expected 0 or more, got "-1"',
    "containers: [{name: c, resources: {requests: {cpus: 8}}}]": (
        "containers[0].resources.requests: expected cpu, memory, ephemeral-storage, hugepages-SIZE or a name with a domain, "
        'got "cpus"'
    ),
    "nodeSelector: {a: -b}": 'nodeSelector[a]: expected a label\'s value, got "-b"',
    "tolerations: [{key: a b, operator: Exists}]": 'tolerations[0].key: expected a label\'s key, got "a b"',
    "tolerations: [{key: a, value: b c}]": 'tolerations[0].value: expected a label\'s value, got "b c"',
    "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
    "[{topologyKey: z, labelSelector: {}, matchLabelKeys: [a], mismatchLabelKeys: [a]}]}}": (
        "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys: "
        'expected none of mismatchLabelKeys, got "a"'
    ),
    f"affinity: {{nodeAffinity: {{{NODE_TERMS % '{matchFields: [{key: metadata.uid, operator: In, values: [a]}]}'}}}}}": (
        "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].key: "
        'expected metadata.name, got "metadata.uid"'
    ),
    f"affinity: {{nodeAffinity: {{{NODE_TERMS % '{matchExpressions: [{key: a}]}'}}}}}": (
        "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator: "
        "expected In, NotIn, Exists, DoesNotExist, Gt or Lt, got nothing"
    ),
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]": (
        "topologySpreadConstraints[0].minDomains: expected none beside ScheduleAnyway, got 2"
    ),
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: z}]": (
        "topologySpreadConstraints[0].whenUnsatisfiable: expected DoNotSchedule or ScheduleAnyway, got nothing"
    ),
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [a]}]": (
        "topologySpreadConstraints[0].matchLabelKeys: expected none without a labelSelector, got a"
    ),
    "containers: [{name: c, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]": (
        'containers[0].resources.requests[cpu]: expected at most the limit, 1, got "2"'
    ),
    "containers: [{name: c, resources: {requests: {example.com/gpu: 1}, limits: {example.com/gpu: 2}}}]": (
        'containers[0].resources.requests[example.com/gpu]: expected the limit, 2, got "1"'
    ),
    "containers: [{name: c, resources: {requests: {example.com/gpu: 1}}}]": (
        "containers[0].resources.limits[example.com/gpu]: expected 1, as requested, got nothing"
    ),
    "resources: {limits: {cpu: 1}}, containers: [{name: c, resources: {requests: {cpu: 100m}, limits: {cpu: 2}}}]": (
        'containers[0].resources.limits[cpu]: expected at most the limit of the pod, 1, got "2"'
    ),
    "resources: {requests: {cpu: 1}}, containers: [{name: c, resources: {requests: {cpu: 2}}}]": (
        'resources.requests[cpu]: expected 2 or more, as its containers request, got "1"'
    ),
    "resources: {limits: {ephemeral-storage: 1}}": 'resources: expected cpu, memory or hugepages-SIZE, got "ephemeral-storage"',
    "hostNetwork: true, containers: [{name: c, ports: [{containerPort: 80}, {containerPort: 80, hostPort: 80}]}]": (
        'containers: expected each once, got protocol, hostIP and hostPort "TCP, , 80" twice'
    ),
    "volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 1}}}}}}]": (
        "volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: expected one at least, got none"
    ),
    "containers: [{name: c, resources: {limits: {example.com/gpu: 0.5}}}]": (
        'containers[0].resources.limits[example.com/gpu]: expected a whole number, got "500m"'
    ),
    "containers: [{name: c, ports: [{hostPort: 65536}]}]": "containers[0].ports[0].hostPort: expected 0 to 65535, got 65536",
    "resources: {limits: {memory: -1}}": 'resources.limits[memory]: expected 0 or more, got "-1"',
    "containers: [{name: c}, {name: c}]": 'containers: expected each once, got name "c" twice',
    "volumes: [{name: v, emptyDir: {}}, {name: v, emptyDir: {}}]": 'volumes: expected each once, got name "v" twice',
}
DEPLOYMENT = "{kind: Deployment, metadata: {name: d}, spec: {template: {spec: {%s}}}}"
CRON_JOB = "{kind: CronJob, metadata: {name: d}, spec: {jobTemplate: {spec: {template: {spec: {%s}}}}}}"


@pytest.mark.parametrize("spec", NEVER_STORED)
@pytest.mark.parametrize(
    "manifest, outer",
    [
        ("{kind: Pod, metadata: {name: p}, spec: {%s}}", ""),
        (DEPLOYMENT, "spec.template."),
        (CRON_JOB, "spec.jobTemplate.spec.template."),
    ],
)
def test_what_an_api_server_refuses_is_told(manifest, outer, spec, tmp_path):
    """A pod that no API server would store is read with a warning that says why, and refused under --strict;
    so is a template."""
    file = tmp_path / "p.yaml"
    file.write_text(manifest % spec)
    wanted = f"{outer}spec.{NEVER_STORED[spec]}; an API server would refuse it"
    assert [notice.what for notice in load(file).warnings] == [wanted]
    assert refusal_text(ManifestError, load, file, strict_fields=True).endswith(wanted)


CLAIM = "accessModes: [%s], resources: {requests: {%s}}"


@pytest.mark.parametrize(
    "name, spec, wanted",
    [
        ("c", CLAIM % ("ReadWriteOnce", "storage: 1Gi"), None),
        (
            "C",
            CLAIM % ("ReadWriteOnce", "storage: 1Gi"),
            'metadata.name: expected lower case letters, digits, - and ., got "C"',
        ),
        ("c", CLAIM % ("", "storage: 1Gi"), "spec.accessModes: expected one at least, got none"),
        (
            "c",
            CLAIM % ("ReadWriteOnce", ""),
            "spec.resources.requests[storage]: expected more than 0, got nothing",
        ),
        (
            "c",
            CLAIM % ("ReadWriteOnce", "storage: 0"),
            'spec.resources.requests[storage]: expected more than 0, got "0"',
        ),
        (
            "c",
            CLAIM % ("ReadWriteOnce, ReadWriteOncePod", "storage: 1Gi"),
            "spec.accessModes: expected no others beside ReadWriteOncePod, got ReadWriteOnce, ReadWriteOncePod",
        ),
    ],
)
@pytest.mark.parametrize("stored", ["", ", creationTimestamp: '2020-01-01T00:00:00Z'"])
def test_claims_to_storage_that_no_api_server_has(name, spec, wanted, stored, tmp_path):
    """The same for claims to storage; what a server has taken is right."""
    file = tmp_path / "c.yaml"
    file.write_text(f"{{kind: PersistentVolumeClaim, metadata: {{name: {name}{stored}}}, spec: {{{spec}}}}}")
    told = [f"{wanted}; an API server would refuse it"] if wanted and not stored else []
    assert [notice.what for notice in load(file).warnings] == told


@pytest.mark.parametrize("outer", ["", "spec."])
@pytest.mark.parametrize(
    "request_, wanted",
    [
        ("exactly: {deviceClassName: gpu, count: -1}", "exactly.count: expected 1 or more, got -1"),
        ("deviceClassName: gpu, count: -1", "exactly.count: expected 1 or more, got -1"),
        (
            "firstAvailable: [{name: a, deviceClassName: gpu}, {name: b, deviceClassName: gpu, count: -2}]",
            "firstAvailable[1].count: expected 1 or more, got -2",
        ),
        ("exactly: {deviceClassName: gpu, count: 0}", None),
        ("exactly: {deviceClassName: gpu, allocationMode: All}", None),
    ],
)
def test_claims_that_no_api_server_has(outer, request_, wanted, tmp_path):
    """The same for the counts of claims; 0 is the default, 1."""
    kind = "ResourceClaimTemplate" if outer else "ResourceClaim"
    spec = f"{{devices: {{requests: [{{name: r, {request_}}}]}}}}"
    spec = f"{{spec: {spec}}}" if outer else spec
    file = tmp_path / "c.yaml"
    file.write_text(
        f"{{apiVersion: resource.k8s.io/v1, kind: {kind}, metadata: {{name: c, namespace: 'n'}}, spec: {spec}}}"
    )
    told = f"{outer}spec.devices.requests[0].{wanted}; an API server would refuse it"
    assert [notice.what for notice in load(file).warnings] == ([told] if wanted else [])
    if wanted:
        assert refusal_text(ManifestError, load, file, strict_fields=True).endswith(told)


@pytest.mark.parametrize(
    "fields, wanted",
    [
        (
            "spec: {taints: [{key: a, effect: NoSchedule}, {key: a, value: b, effect: NoSchedule}]}",
            'spec.taints: expected each once, got key and effect "a, NoSchedule" twice',
        ),
        ("spec: {taints: [{effect: NoSchedule}]}", "spec.taints[0].key: expected a label's key, got nothing"),
        (
            "spec: {taints: [{key: a}]}",
            "spec.taints[0].effect: expected NoSchedule, PreferNoSchedule or NoExecute, got nothing",
        ),
        ("status: {capacity: {pods: -1}}", 'status.capacity[pods]: expected 0 or more, got "-1"'),
    ],
)
def test_nodes_that_no_api_server_has(fields, wanted, tmp_path):
    """The same for the taints and amounts of nodes."""
    file = tmp_path / "n.yaml"
    file.write_text(f"{{kind: Node, metadata: {{name: 'n'}}, {fields}}}")
    assert [notice.what for notice in load(file).warnings] == [f"{wanted}; an API server would refuse it"]
