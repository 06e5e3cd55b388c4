"""Priorities by class, limits and the default storage class."""

import pytest
import yaml
from msgspec.structs import replace

from kubeclassic.algorithmprovider.gates import server_rules
from kubeclassic.api.controlplane import DEFAULT_TOLERATIONS, admit, affinity_terms, with_defaults
from kubeclassic.api.meaning import ServerRules
from kubeclassic.api.objects import (
    Map,
    ObjectMeta,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    Pod,
    PodSpec,
    PriorityClass,
    StorageClass,
)
from kubeclassic.api.reading.decode import decode
from kubeclassic.framework.releases import find_any_release
from tests.support import manifests


def priority_class(name, value, default=False, policy=None):
    return PriorityClass(
        metadata=ObjectMeta(name=name), value=value, global_default=default, preemption_policy=policy
    )


def admitted(spec, *known):
    (pod,) = admit([Pod(spec=spec)], known).objects
    return pod.spec


# --- Priority -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, priority",
    [
        ("high", 1000),
        ("system-cluster-critical", 2_000_000_000),
        ("system-node-critical", 2_000_001_000),
        ("", 0),
    ],
)
def test_class_gives_priority(name, priority):
    """A pod has the priority of its class; two classes are always there; without class it is 0."""
    spec = admitted(PodSpec(priority_class_name=name), priority_class("high", 1000))
    assert (spec.priority, spec.priority_class_name) == (priority, name)


def test_lowest_global_default():
    """A pod without class gets the global default; of several the one with the lowest value."""
    spec = admitted(
        PodSpec(), priority_class("a", 7, True), priority_class("b", 5, True), priority_class("c", 1)
    )
    assert (spec.priority, spec.priority_class_name) == (5, "b")


def test_unknown_class_is_refused():
    """A pod of an unknown class is refused in upstream's words."""
    pod = Pod(spec=PodSpec(priority_class_name="none"))
    result = admit([pod])
    assert (result.objects, result.refused) == ((), ((pod, "no PriorityClass with name none was found"),))


def test_class_among_the_same_objects():
    """A class that comes with the pods counts, wherever it stands."""
    result = admit([Pod(spec=PodSpec(priority_class_name="high")), priority_class("high", 9)])
    assert [found.priority for found in result.objects if isinstance(found, Pod)] == [9]


def test_given_priority():
    """A priority without a class stays, one that differs from its class's is refused, and that of the default
    class comes with its name."""
    assert admitted(PodSpec(priority=3), priority_class("d", 5, True)).priority == 3
    assert admitted(PodSpec(priority=5), priority_class("d", 5, True)).priority_class_name == "d"
    ((_, reason),) = admit(
        [Pod(spec=PodSpec(priority=3, priority_class_name="d"))], [priority_class("d", 5)]
    ).refused
    assert reason.startswith("the integer value of priority (3) must not be provided in pod spec")


def test_preemption_policy():
    """A pod has its class's preemption policy; a different one of its own is refused."""
    never = priority_class("n", 5, policy="Never")
    assert admitted(PodSpec(priority_class_name="n"), never).preemption_policy == "Never"
    assert admitted(PodSpec(preemption_policy="Never")).preemption_policy == "Never"
    for other, policy in ((never, "PreemptLowerPriority"), (priority_class("n", 5), "Never")):
        pod = Pod(spec=PodSpec(priority_class_name="n", preemption_policy=policy))
        ((_, reason),) = admit([pod], [other]).refused
        assert reason.startswith(f"the string value of PreemptionPolicy ({policy}) must not be provided")
        assert not admit([pod], [other], server=ServerRules(honours_policies=False)).refused


def test_created_pods_stay():
    """A pod that was created already is left as it is."""
    pod = Pod(
        metadata=ObjectMeta(creation_timestamp="2020-01-01T00:00:00Z"),
        spec=PodSpec(priority_class_name="gone"),
    )
    assert admit([pod], [priority_class("d", 5, True)]).objects == (pod,)


# --- LimitRanges --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "metadata, node, cpu, outcome",
    [
        ("{name: p, namespace: shop}", "", {}, "500m"),
        ("{name: p, namespace: shop}", "", {"cpu": "1"}, "1"),
        ("{name: p, namespace: other}", "", {}, "None"),
        ("{name: p, namespace: shop, creationTimestamp: '2020-01-01T00:00:00Z'}", "", {}, "None"),
        (
            "{name: p, namespace: shop}",
            "",
            {"cpu": "3"},
            "maximum cpu usage per Container is 2, but limit is 3",
        ),
        ("{name: p, namespace: shop}", "a", {"cpu": "3"}, "3"),
        (
            "{name: p, namespace: shop}",
            "",
            {"cpu": "1", "memory": "2Gi"},
            'spec.containers[0].resources.requests[memory]: expected at most the limit, 1Gi, got "2Gi"',
        ),
    ],
)
def test_limit_ranges(metadata, node, cpu, outcome):
    """A new pod has the requests and limits of its namespace's LimitRanges, and keeps to their bounds, unless it
    is on a node."""
    limits = [
        {"type": "Container", "defaultRequest": {"cpu": "500m"}, "max": {"cpu": "2"}},
        {"type": "Container", "default": {"memory": "1Gi"}},
    ]
    limit_range = {
        "kind": "LimitRange",
        "metadata": {"name": "l", "namespace": "shop"},
        "spec": {"limits": limits},
    }
    memory = {name: amount for name, amount in cpu.items() if name == "memory"}
    limits = {name: amount for name, amount in cpu.items() if name != "memory"}
    spec = {
        "nodeName": node,
        "containers": [{"name": "c", "resources": {"limits": limits, "requests": memory}}],
    }
    pod = {"kind": "Pod", "metadata": yaml.safe_load(metadata), "spec": spec}
    known, item = (with_defaults(decode({"apiVersion": "v1", **document})) for document in (limit_range, pod))
    found = admit([item], [known])
    if found.refused:
        assert found.refused[0][1] == outcome
    else:
        assert str(found.objects[0].spec.containers[0].requests.get("cpu")) == outcome


@pytest.mark.parametrize(
    "cpu, whole, refused",
    [("3", {}, None), ("5", {}, "but limit is 5"), ("3", {"limits": {"cpu": "6"}}, "but limit is 6")],
)
def test_bounds_of_pods(cpu, whole, refused):
    """A bound of pods is held against the sum over the containers that say something, in place of which the
    pod as a whole may have an amount; for older servers each has to say something."""
    bounds = {
        "kind": "LimitRange",
        "metadata": {"name": "l"},
        "spec": {"limits": [{"type": "Pod", "max": {"cpu": "4"}}]},
    }
    containers = [{"name": "a", "resources": {"limits": {"cpu": cpu}}}, {"name": "b"}]
    pod = {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": containers, "resources": whole}}
    known, item = (with_defaults(decode({"apiVersion": "v1", **each})) for each in (bounds, pod))
    found = admit([item], [known])
    bound = "maximum cpu usage per Pod is 4"
    assert [reason for _, reason in found.refused] == ([f"{bound}, {refused}"] if refused else [])
    older = admit([item], [known], server=ServerRules(sums_what_is_said=False)).refused
    assert [reason for _, reason in older] == [f"{bound}.  No limit is specified"]


@pytest.mark.parametrize(
    "storage, refused",
    [
        ("1Gi", "minimum storage usage per PersistentVolumeClaim is 2Gi, but request is 1Gi"),
        ("3Gi", ""),
        ("5Gi", "maximum storage usage per PersistentVolumeClaim is 4Gi, but request is 5Gi"),
    ],
)
def test_bounds_of_claims(storage, refused):
    """A claim out of the bounds of its namespace is refused."""
    limits = [{"type": "PersistentVolumeClaim", "min": {"storage": "2Gi"}, "max": {"storage": "4Gi"}}]
    bounds = {"kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"limits": limits}}
    claim = {"kind": "PersistentVolumeClaim", "metadata": {"name": "c"}}
    claim["spec"] = {"resources": {"requests": {"storage": storage}}}
    known, item = (decode({"apiVersion": "v1", **each}) for each in (bounds, claim))
    found = admit([item], [known])
    assert "".join(reason for _, reason in found.refused) == refused


# --- Default storage class ----------------------------------------------------------------------------------


def storage(name, mark="storageclass.kubernetes.io/is-default-class", value="true"):
    return StorageClass(metadata=ObjectMeta(name=name, annotations=Map({mark: value})))


@pytest.mark.parametrize(
    "mark",
    ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"],
)
def test_claims_without_class_get_it(mark):
    """A claim that names no class gets the default one; an empty name is a name."""
    claims = [
        PersistentVolumeClaim(spec=PersistentVolumeClaimSpec(storage_class_name=name))
        for name in (None, "", "x")
    ]
    result = admit(claims, [storage("fast", mark), storage("slow", value="false")]).objects
    assert [
        found.spec.storage_class_name for found in result if isinstance(found, PersistentVolumeClaim)
    ] == ["fast", "", "x"]


def test_beta_annotation_is_a_class():
    """A claim whose class stands in the beta annotation is left as it is."""
    claim = PersistentVolumeClaim(
        metadata=ObjectMeta(annotations=Map({"volume.beta.kubernetes.io/storage-class": "x"}))
    )
    assert admit([claim], [storage("fast")]).objects == (claim,)


@pytest.mark.parametrize("takes_newest_class", [True, False])
def test_two_defaults(takes_newest_class):
    """Of several default classes the newest counts, of these the first by name; older servers refuse the
    claim."""
    created = {"c": "2024-01-02T00:00:00Z", "b": "2024-01-02T00:00:00Z", "a": None}
    classes = [
        replace(item, metadata=replace(item.metadata, creation_timestamp=created[item.name]))
        for item in map(storage, created)
    ]
    server = ServerRules(takes_newest_class=takes_newest_class)
    found = admit([PersistentVolumeClaim()], classes, server=server)
    if takes_newest_class:
        assert [item.spec.storage_class_name for item in found.objects] == ["b"]
    else:
        assert found.refused[0][1] == "Internal error occurred: 3 default StorageClasses were found"


# --- Tolerations --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given, added",
    [
        ({}, ["not-ready", "unreachable"]),
        ({"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}, ["unreachable"]),
        ({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}, ["not-ready", "unreachable"]),
        ({"operator": "Exists"}, []),
    ],
)
def test_default_tolerations(given, added):
    """A new pod tolerates for five minutes that its node is gone, unless it says for how long itself."""
    own = [given] if given else []
    pod = decode({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"tolerations": own}})
    (made,) = (item.spec.tolerations[len(own) :] for item in admit([pod]).objects)
    assert [(item.key, item.toleration_seconds) for item in made] == [
        (f"node.kubernetes.io/{name}", 300) for name in added
    ]


# --- RuntimeClasses -----------------------------------------------------------------------------------------

KATA = """
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: kata}
handler: kata
overhead: {podFixed: {cpu: 250m}}
scheduling: {nodeSelector: {runtime: kata}, tolerations: [{key: kata, operator: Exists}]}
"""


@pytest.mark.parametrize(
    "spec, reads, outcome",
    [
        ({}, True, ("250m", {"runtime": "kata", "disk": "ssd"}, ["mine", "kata"])),
        ({"overhead": {"cpu": "0.25"}}, True, ("250m", {"runtime": "kata", "disk": "ssd"}, ["mine", "kata"])),
        ({}, False, (None, {"disk": "ssd"}, ["mine"])),
        ({"runtimeClassName": "other"}, True, (None, {"disk": "ssd"}, ["mine"])),
        (
            {"overhead": {"cpu": "1"}},
            True,
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
        ),
        (
            {"overhead": {"cpu": "1"}, "runtimeClassName": "runc"},
            True,
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        ),
        (
            {"tolerations": [{"key": "kata", "operator": "Equal", "value": "x"}, {"key": "mine"}]},
            True,
            ("250m", {"runtime": "kata", "disk": "ssd"}, ["mine", "kata"]),
        ),
        (
            {"nodeSelector": {"runtime": "runc"}},
            True,
            "conflict: runtimeClass.scheduling.nodeSelector[runtime] = kata; pod.spec.nodeSelector[runtime] = runc",
        ),
        (
            {"overhead": {"cpu": "1"}, "runtimeClassName": None},
            True,
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        ),
    ],
)
def test_runtime_classes(spec, reads, outcome):
    """A new pod gets the overhead, node selector and tolerations of its RuntimeClass, and is refused where its
    own contradict them."""
    known = {"runtimeClassName": "kata", "nodeSelector": {"disk": "ssd"}, "tolerations": [{"key": "mine"}]}
    pod = decode({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {**known, **spec}})
    classes = [decode(yaml.safe_load(KATA)), decode({"kind": "RuntimeClass", "metadata": {"name": "runc"}})]
    result = admit([pod], classes, server=ServerRules(reads_runtime_classes=reads))
    if isinstance(outcome, str):
        assert [reason for _, reason in result.refused] == [outcome]
        older = admit([pod], classes, server=ServerRules(gives_overhead=False))
        assert bool(older.refused) == outcome.startswith("conflict")
        return
    (made,) = (item.spec for item in result.objects)
    cpu = made.overhead.get("cpu")
    tolerations = [item.key for item in made.tolerations if item not in DEFAULT_TOLERATIONS]
    assert (cpu and str(cpu), dict(made.node_selector), tolerations) == outcome


# --- Huge pages ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "limits, fault, older",
    [
        ({"cpu": "1", "hugepages-2Mi": "4Mi"}, None, None),
        ({"hugepages-2Mi": "4Mi"}, "HugePages require cpu or memory", "HugePages require cpu or memory"),
        (
            {"cpu": "1", "hugepages-2Mi": "3Mi"},
            '"3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
            None,
        ),
        (
            {"cpu": "1", "hugepages-big": "4Mi"},
            '"4Mi": 4Mi is not positive integer multiple of hugepages-big',
            None,
        ),
    ],
)
def test_huge_pages(limits, fault, older):
    """A pod with huge pages has cpu or memory, too, which a LimitRange may give; newer servers ask for whole
    pages. What runs already is taken as it is."""
    pod = with_defaults(decode(manifests.pod("p", limits=limits)))
    for wanted, server in ((fault, ServerRules()), (older, ServerRules(asks_for_whole_pages=False))):
        refused = [reason for _, reason in admit([pod], server=server).refused]
        assert [reason.partition(": ")[2] for reason in refused] == ([wanted] if wanted else [])
    running = with_defaults(decode(manifests.pod("p", limits=limits, on="a", overhead={"cpu": "1"})))
    assert not admit([running]).refused
    bounds = {"limits": [{"type": "Container", "default": {"memory": "1Gi"}}]}
    given = with_defaults(decode(manifests.manifest("LimitRange", "l", namespace="default", spec=bounds)))
    assert bool(admit([pod], [given]).refused) == (fault != older)


# --- Gates and operating systems ----------------------------------------------------------------------------


WINDOWS = {"os": {"name": "windows"}}
RESTARTS = [{"name": "c", "image": "i", "restartPolicyRules": [{"action": "RestartAllContainers"}]}]


@pytest.mark.parametrize(
    "fields, takes, fault, gates",
    [
        (
            {"hostUsers": False, "hostNetwork": True},
            "1.32",
            "spec.hostNetwork: Forbidden: when `hostUsers` is false",
            {"UserNamespacesHostNetworkSupport": True},
        ),
        (
            {"hostUsers": True} | WINDOWS,
            "1.32",
            "spec.hostUsers: Forbidden: cannot be set for a windows pod",
            {"UserNamespacesSupport": False},
        ),
        (
            {"resources": {"requests": {"cpu": "1"}}} | WINDOWS,
            "1.33",
            "spec.resources: Forbidden: may not be set for a windows pod",
            {"PodLevelResources": False},
        ),
        (
            {"containers": RESTARTS},
            "1.34",
            'restartPolicyRules.action: Unsupported value: "RestartAllContainers": supported values: "Restart"',
            {"RestartAllContainersOnContainerExits": True},
        ),
    ],
)
def test_what_gates_forbid(fields, takes, fault, gates):
    """A server refuses what Windows cannot do, and what its gates forbid; older ones drop the field."""
    pod = decode(manifests.manifest("Pod", "p", spec={"containers": [], **fields}))
    newer = find_any_release("1.35")
    assert [reason for _, reason in admit([pod], server=server_rules(newer, {})).refused] == [fault]
    for release, changes in ((newer, gates), (find_any_release(takes), {})):
        assert not admit([pod], server=server_rules(release, changes)).refused


# --- Label keys ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("merges, wanted", [(True, ["k", "hash", "team"]), (False, ["k"])])
def test_label_keys(merges, wanted):
    """The values of a new pod's label keys are added to the selectors of its terms and spread constraints, each
    once; those without a selector and labels that it lacks stay out."""
    term = yaml.safe_load("""
    topologyKey: zone
    labelSelector: {matchExpressions: [{key: k, operator: Exists}]}
    matchLabelKeys: [hash, none]
    mismatchLabelKeys: [team]
    """)
    terms = {
        "requiredDuringSchedulingIgnoredDuringExecution": [term, {**term, "labelSelector": None}],
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}],
    }
    metadata = {"name": "p", "labels": {"hash": "h", "team": "t"}}
    constraints = [{**term, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]
    spec = {
        "containers": [{"name": "c"}],
        "affinity": {"podAffinity": terms, "podAntiAffinity": terms},
        "topologySpreadConstraints": constraints,
    }
    pod = decode({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    server = ServerRules(merges_label_keys=merges, merges_spread_keys=merges)
    (once,) = admit([pod], server=server).objects
    (again,) = admit([once], server=server).objects
    assert once == again
    (spread,) = once.spec.topology_spread_constraints
    assert [part.key for part in spread.label_selector.match_expressions] == wanted[:2]
    twice = {**term, "labelSelector": {"matchLabels": {"hash": "h"}}}
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": twice}]}
    for more in (
        {"topologySpreadConstraints": [{**constraints[0], **twice}]},
        {"affinity": {"podAffinity": preferred}},
    ):
        given = decode({"kind": "Pod", "metadata": metadata, "spec": {**spec, **more}})
        assert bool(admit([given], server=server).refused) == merges
    selectors = [item.label_selector for item in affinity_terms(once)]
    assert selectors.count(None) == 2
    for selector in filter(None, selectors):
        assert [part.key for part in selector.match_expressions] == wanted
        assert [(part.operator, *part.values) for part in selector.match_expressions[1:]] == [
            ("In", "h"),
            ("NotIn", "t"),
        ][: len(wanted) - 1]


# --- gates --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "release, keeps, refuses",
    [("1.18", True, False), ("1.19", True, True), ("1.20", True, True), ("1.21", True, False), ("1.28", False, False), ("1.29", True, False)],
)  # fmt: skip
def test_fields_behind_gates(release, keeps, refuses):
    """Servers drop restart policies of init containers (1.28, with a notice) and refuse ephemeral volumes
    (1.19, 1.20) while their gates are off."""
    server = server_rules(find_any_release(release), {})
    spec = {"initContainers": [{"name": "i", "restartPolicy": "Always"}]}
    result = admit([decode(manifests.pod("a", **spec), "x", strict=False)], server=server)
    (pod,) = result.objects
    assert [container.is_sidecar for container in pod.spec.init_containers] == [keeps]
    assert [notice.where for notice in result.notices] == ([] if keeps else ["Pod default/a"])
    volume = {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
    refused = admit([decode(manifests.pod("b", volumes=[volume]), "x", strict=False)], server=server).refused
    assert [reason for _, reason in refused] == [
        "spec.volumes: Required value: must specify a volume type"
    ] * refuses
