"""``--strict``: what is a warning without it is an error."""

from __future__ import annotations

from pathlib import Path

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
@pytest.mark.parametrize(("spec", "wanted"), [('{"nodeNam": "n"}', UNKNOWN), ('{"priority": 1, "priority": 2}', TWICE)])
def test_strict_refuses_what_nobody_reads(form: str, spec: str, wanted: str, tmp_path: Path) -> None:
    """An unknown field or a key given twice is a warning in manifests, recordings and scenarios, and an error with --strict."""
    (tmp_path / "n.yaml").write_text("{kind: Node, metadata: {name: n}, status: {allocatable: {cpu: 4, pods: 9}}}")
    (tmp_path / "p.json").write_text(FORMS[form] % spec)
    command = ["replay", str(tmp_path / "n.yaml"), str(tmp_path / "p.json"), "--until", "5"]
    assert wanted in ran(*command, status=(0, 130)).err
    told = ran(*command, "--strict", status=2).err
    assert told.startswith("kubeclassic: ")
    assert wanted in told


NODE_TERMS = "requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [%s]}"
NEVER_STORED = {
    "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, preference: {}}]}}": (
        "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: got 0, wanted 1 to 100"
    ),
    "affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101, podAffinityTerm: {topologyKey: z}}]}}": (
        "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: got 101, wanted 1 to 100"
    ),
    "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {}}]}}": (
        "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: got nothing, wanted a label's key"
    ),
    "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}": (
        "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: got none, wanted one at least"
    ),
    f"affinity: {{nodeAffinity: {{{NODE_TERMS % '{matchExpressions: [{key: a, operator: Gt, values: []}]}'}}}}}": (
        "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: "
        "got 0 beside Gt, wanted one"
    ),
    f"affinity: {{nodeAffinity: {{{NODE_TERMS % '{matchFields: [{key: metadata.name, operator: In, values: [a, b]}]}'}}}}}": (
        "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0]: "
        "got In with 2 values, wanted In or NotIn with one"
    ),
    "topologySpreadConstraints: [{maxSkew: 0, topologyKey: z, whenUnsatisfiable: DoNotSchedule}]": (
        "topologySpreadConstraints[0].maxSkew: got 0, wanted 1 or more"
    ),
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, "
    "labelSelector: {matchExpressions: [{key: a, operator: In}]}}]": (
        "topologySpreadConstraints[0].labelSelector.matchExpressions[0].values: got none beside In, wanted one at least"
    ),
    "topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule}, "
    "{maxSkew: 2, topologyKey: z, whenUnsatisfiable: DoNotSchedule}]": (
        'topologySpreadConstraints: got topologyKey and whenUnsatisfiable "z, DoNotSchedule" twice, wanted each once'
    ),
    "tolerations: [{operator: Equal, value: v}]": 'tolerations[0].operator: got "Equal" without a key, wanted Exists',
    "tolerations: [{key: k, operator: Exists, value: v}]": 'tolerations[0].value: got "v" beside Exists, wanted none',
    "tolerations: [{key: k, effect: NoSchedule, tolerationSeconds: 5}]": (
        'tolerations[0].effect: got "NoSchedule" beside tolerationSeconds, wanted NoExecute'
    ),
    'containers: [{name: c, resources: {requests: {cpu: "-1"}}}]': 'containers[0].resources.requests[cpu]: got "-1", wanted 0 or more',
    "containers: [{name: c}, {name: c}]": 'containers: got name "c" twice, wanted each once',
    "volumes: [{name: v, emptyDir: {}}, {name: v, emptyDir: {}}]": 'volumes: got name "v" twice, wanted each once',
}
DEPLOYMENT = "{kind: Deployment, metadata: {name: d}, spec: {template: {spec: {%s}}}}"
CRON_JOB = "{kind: CronJob, metadata: {name: d}, spec: {jobTemplate: {spec: {template: {spec: {%s}}}}}}"


@pytest.mark.parametrize("spec", NEVER_STORED)
@pytest.mark.parametrize(
    ("manifest", "outer"),
    [("{kind: Pod, metadata: {name: p}, spec: {%s}}", ""), (DEPLOYMENT, "spec.template."), (CRON_JOB, "spec.jobTemplate.spec.template.")],
)
def test_what_an_api_server_refuses_is_told(manifest: str, outer: str, spec: str, tmp_path: Path) -> None:
    """A pod that no API server would store is read with a warning that says why, and refused under --strict; so is a template."""
    file = tmp_path / "p.yaml"
    file.write_text(manifest % spec)
    wanted = f"{outer}spec.{NEVER_STORED[spec]}; an API server would refuse it"
    assert [notice.what for notice in load(file).warnings] == [wanted]
    assert refusal_text(ManifestError, load, file, strict_fields=True).endswith(wanted)


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ("spec: {taints: [{key: a, effect: NoSchedule}, {key: a, value: b, effect: NoSchedule}]}",
         'spec.taints: got key and effect "a, NoSchedule" twice, wanted each once'),
        ("spec: {taints: [{effect: NoSchedule}]}", "spec.taints[0].key: got nothing, wanted a label's key"),
        ("status: {capacity: {pods: -1}}", 'status.capacity[pods]: got "-1", wanted 0 or more'),
    ],
)  # fmt: skip
def test_nodes_that_no_api_server_has(fields: str, wanted: str, tmp_path: Path) -> None:
    """The same for the taints and amounts of nodes."""
    file = tmp_path / "n.yaml"
    file.write_text(f"{{kind: Node, metadata: {{name: n}}, {fields}}}")
    assert [notice.what for notice in load(file).warnings] == [f"{wanted}; an API server would refuse it"]
