"""From JSON to values: every field, null against empty, and errors that say where."""

import pytest
import yaml

from kubeclassic.api import objects as o
from kubeclassic.api.objects.quantity import Quantity
from kubeclassic.api.reading.decode import decode, decode_kind
from kubeclassic.exceptions import ManifestError
from tests.support.refusals import refusal_text

AFFINITY = "requiredDuringSchedulingIgnoredDuringExecution"


def pod(**spec):
    decoded = decode({"kind": "Pod", "metadata": {"name": "p"}, "spec": spec}, strict=False)
    assert isinstance(decoded, o.Pod)
    return decoded


def container(**fields):
    return pod(containers=[fields]).spec.containers[0]


# --- Pod ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "volume, wanted",
    [
        ({"persistentVolumeClaim": {"claimName": "c"}}, o.claim_volume("v", "c")),
        ({"persistentVolumeClaim": {}}, o.claim_volume("v", "")),
        (
            {"persistentVolumeClaim": None, "emptyDir": {}},
            o.Volume(name="v", empty_dir=o.EmptyDirVolumeSource()),
        ),
        (
            {"ephemeral": {"volumeClaimTemplate": {}}},
            o.Volume(name="v", ephemeral_source=o.EphemeralVolumeSource()),
        ),
        ({"ephemeral": {}}, o.Volume(name="v", ephemeral_source=o.EphemeralVolumeSource())),
        (
            yaml.safe_load("""
                ephemeral:
                  volumeClaimTemplate:
                    metadata:
                      labels: {a: b}
                    spec: {storageClassName: fast}
                """),
            o.Volume(
                name="v",
                ephemeral_source=o.EphemeralVolumeSource(
                    volume_claim_template=o.ClaimTemplate(
                        metadata=o.TemplateMeta(labels=o.Map(a="b")),
                        spec=o.PersistentVolumeClaimSpec(storage_class_name="fast"),
                    )
                ),
            ),
        ),
    ],
)
def test_volumes(volume, wanted):
    """Claims by name, generic ephemeral volumes, and others."""
    assert pod(volumes=[{"name": "v", **volume}]).spec.volumes == (wanted,)


def test_equal_parts_are_shared():
    """Equal label maps, requests, affinities, tolerations and containers are one object each."""
    spec = yaml.safe_load("""
        containers:
        - name: c
          resources:
            requests: {cpu: '1'}
        affinity:
          podAffinity: {}
        tolerations:
        - {key: k}
        """)
    one, other = (
        decode({"kind": "Pod", "metadata": {"labels": {"a": "1", "b": "2"}}, "spec": dict(spec)})
        for _ in range(2)
    )
    assert one.labels is other.labels
    assert one.spec.affinity is other.spec.affinity
    assert one.spec.tolerations is other.spec.tolerations
    assert one.spec.containers[0] is other.spec.containers[0]


def test_shared_maps_do_not_confuse_types():
    """A map that was read before does not let a wrong type of equal value pass."""
    container(resources={"requests": {"cpu": 1}})
    with pytest.raises(ManifestError, match=r"expected a quantity such as .*, got true"):
        container(resources={"requests": {"cpu": True}})


# --- Null and empty -----------------------------------------------------------------------------------------


def test_absent_and_empty_are_told_apart():
    """nodeSelector, affinity and its parts are None when null and empty when empty."""
    assert pod(nodeSelector=None, affinity=None).spec == o.PodSpec()
    assert pod(nodeSelector={}).spec.node_selector == {}
    assert pod(affinity={}).spec.affinity == o.Affinity()
    assert pod(affinity={"nodeAffinity": {AFFINITY: {}}}).spec.affinity == o.Affinity(
        node_affinity=o.NodeAffinity(required=o.NodeSelector())
    )


def test_null_lists_are_empty():
    """Lists that are null are empty."""
    assert pod(tolerations=None, containers=None, volumes=None).spec == o.PodSpec()
    assert decode(yaml.safe_load("{kind: Node, spec: {taints: null}, status: null}")) == o.Node()


def test_null_entries_are_zero():
    """A null in a map or list of plain values is the zero value, as in Go."""
    assert container(resources={"requests": {"cpu": None}}).requests == {"cpu": Quantity()}
    assert pod(nodeSelector={"a": None}, tolerations=[None]).spec == o.PodSpec(
        node_selector=o.Map(a=""), tolerations=(o.Toleration(),)
    )


def test_selectors_of_services_and_budgets():
    """A selector that is absent is None, an empty one is empty."""
    assert decode({"kind": "Service", "spec": {}}) == o.Service()
    assert decode(yaml.safe_load("{kind: Service, spec: {selector: {}}}")) == o.Service(
        spec=o.ServiceSpec(selector=o.Map())
    )
    assert decode(yaml.safe_load("{kind: ReplicaSet, spec: {selector: {}}}")) == o.ReplicaSet(
        spec=o.ControllerSpec(selector=o.LabelSelector())
    )


def test_claims_without_class():
    """A claim's class is None when absent and empty when empty."""
    assert decode({"kind": "PersistentVolumeClaim", "spec": {}}) == o.PersistentVolumeClaim()
    claim = decode({"kind": "PersistentVolumeClaim", "spec": {"storageClassName": ""}})
    assert claim == o.PersistentVolumeClaim(spec=o.PersistentVolumeClaimSpec(storage_class_name=""))


def test_owner_references():
    """The controlling owner is found."""
    owners = yaml.safe_load("""
        - {kind: A, name: a}
        - {kind: B, name: b, uid: u, controller: true, apiVersion: apps/v1}
        """)
    decoded = decode({"kind": "Pod", "metadata": {"ownerReferences": owners}})
    assert decoded.metadata.controller == o.OwnerReference(
        kind="B", name="b", uid="u", controller=True, api_version="apps/v1"
    )


def test_kind_may_come_from_a_list():
    """An item of a list need not name its kind."""
    assert decode_kind("Namespace", {"metadata": {"name": "x"}}) == o.Namespace(
        metadata=o.ObjectMeta(name="x")
    )


# --- Errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "document, text",
    [
        (
            "{kind: Node, metadata: {name: worker-7}, spec: {taints: [{effect: NoSched}]}}",
            'Node worker-7: spec.taints[0].effect: expected NoSchedule, PreferNoSchedule or NoExecute, got "NoSched"',
        ),
        (
            "{kind: Node, spec: {taints: [{effect: NoExecute}, {effect: 5}]}}",
            "Node: spec.taints[1].effect: expected NoSchedule, PreferNoSchedule or NoExecute, got 5",
        ),
        ("{kind: Node, spec: {taints: {effect: 5}}}", "Node: spec.taints: expected a list, got an object"),
        ("{kind: Node, spec: []}", "Node: spec: expected an object, got an empty list"),
        (
            "{kind: Node, spec: {unschedulable: 'yes'}}",
            'Node: spec.unschedulable: expected true or false, got "yes"',
        ),
        ("{kind: Pod, metadata: {labels: {a: 1}}}", "Pod: metadata.labels.a: expected a string, got 1"),
        (
            "{kind: Pod, metadata: {labels: {example.com/a: 1}}}",
            "metadata.labels[example.com/a]: expected a string, got 1",
        ),
        ("{kind: Pod, spec: {priority: high}}", 'Pod: spec.priority: expected a whole number, got "high"'),
        ("{kind: Pod, spec: {priority: true}}", "Pod: spec.priority: expected a whole number, got true"),
        ("{kind: Pod, spec: {containers: [null]}}", "Pod: spec.containers[0]: expected an object, got null"),
        (
            "{kind: Pod, spec: {containers: [{resources: {requests: {cpu: 1x}}}]}}",
            'Pod: spec.containers[0].resources.requests.cpu: expected a quantity such as 500m, 2 or 1.5Gi, got "1x"',
        ),
        (
            "{kind: Pod, spec: {tolerations: [{operator: exists}]}}",
            'expected Equal, Exists, Gt or Lt, got "exists"',
        ),
        ("{kind: Service, spec: {selector: {a: 1}}}", "Service: spec.selector.a: expected a string, got 1"),
        ("metadata: {}", "manifest: kind: expected the kind of a Kubernetes object, got nothing"),
    ],
)
def test_errors_say_where(document, text):
    """A wrong value is told with its path, what was expected and what came."""
    assert text in refusal_text(ManifestError, decode, yaml.safe_load(document))


def test_the_callers_place_comes_first():
    """The place that the caller gives stands before the path."""
    text = refusal_text(
        ManifestError, decode, {"kind": "Node", "spec": 5}, "cluster.yaml, document 3 (Node worker-7)"
    )
    assert text == "cluster.yaml, document 3 (Node worker-7): spec: expected an object, got 5"


def test_lenient_decoding_keeps_unknown_words():
    """Without strictness unknown words of enumerations stay as they are, wrong types do not."""
    document = yaml.safe_load("{kind: Node, spec: {taints: [{effect: NoSched}]}}")
    assert decode(document, strict=False) == o.Node(spec=o.NodeSpec(taints=(o.Taint(effect="NoSched"),)))
    with pytest.raises(ManifestError, match="expected a string, got 5"):
        decode(yaml.safe_load("{kind: Node, spec: {taints: [{effect: 5}]}}"), strict=False)


@pytest.mark.parametrize("request_", ["exactly: {count: 0}", "firstAvailable: [{name: a, count: 0}]"])
def test_no_devices_are_one(request_):
    """An API server has 1 where a request of a claim says 0, which is as good as nothing."""
    document = f"{{kind: ResourceClaim, spec: {{devices: {{requests: [{{name: r, {request_}}}]}}}}}}"
    (request,) = decode(yaml.safe_load(document)).spec.devices.requests
    assert [ask.count for ask in request.asks] == [1]


def test_big_values_are_only_named():
    """A long text in an error is cut."""
    assert len(refusal_text(ManifestError, decode, {"kind": "Pod", "spec": {"priority": "x" * 500}})) < 150


def test_the_manifest_is_kept_on_request():
    """An object has the JSON that it was read from only where that was asked for; it counts for nothing when
    objects are compared."""
    manifest = yaml.safe_load("{kind: Pod, metadata: {name: web}, spec: {hostname: unread}}")
    kept = decode_kind("Pod", manifest, keeps_manifest=True)
    plain = decode_kind("Pod", manifest)
    assert (kept.manifest, plain.manifest, kept == plain) == (manifest, None, True)
