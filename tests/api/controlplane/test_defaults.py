"""The defaults of the API server."""

import pytest

from kubeclassic.api.controlplane.defaults import with_defaults
from kubeclassic.api.objects import (
    RBD,
    Affinity,
    ClaimTemplate,
    Container,
    ContainerPort,
    ContainerStatus,
    EphemeralVolumeSource,
    LimitRange,
    LimitRangeItem,
    LimitRangeSpec,
    Map,
    Namespace,
    Node,
    NodeAffinity,
    NodeStatus,
    ObjectMeta,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeSpec,
    Pod,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    Service,
    StorageClass,
    Volume,
)
from kubeclassic.api.objects.quantity import Quantity
from kubeclassic.api.reading.decode import shared


def amounts(**texts):
    return Map({name: Quantity.parse(text) for name, text in texts.items()})


def asking(**resources):
    """A container with requests and limits."""
    return Container(resources=ResourceRequirements(**resources))


def completed(**spec):
    return with_defaults(Pod(spec=PodSpec(**spec))).spec


# --- Pod defaults -------------------------------------------------------------------------------------------


def test_limits_stand_in_for_absent_requests():
    """A limit is the request of its resource where that is absent, in init containers too; an explicit 0
    stays."""
    container = asking(requests=amounts(cpu="0"), limits=amounts(cpu="1", memory="1Gi"))
    spec = completed(containers=(container,), init_containers=(container,))
    assert spec.containers[0].requests == spec.init_containers[0].requests == amounts(cpu="0", memory="1Gi")


@pytest.mark.parametrize(
    "limits, requests, expected",
    [
        ({"cpu": "3", "memory": "1Gi"}, {}, {"cpu": "500m", "memory": "1Gi"}),
        ({"memory": "1Gi"}, {"cpu": "2"}, {"cpu": "2", "memory": "1Gi"}),
        ({}, {"memory": "1Gi"}, {"memory": "1Gi", "hugepages-2Mi": "4Mi", "cpu": "500m"}),
        ({}, {"memory": "1Gi", "hugepages-2Mi": "8Mi"}, {"memory": "1Gi", "hugepages-2Mi": "8Mi"}),
        ({}, {}, {}),
    ],
)
def test_requests_of_the_pod_as_a_whole(limits, requests, expected):
    """Where a pod as a whole has resources and limits, it requests what its containers do, else its limits;
    huge pages of its containers limit it."""
    resources = ResourceRequirements(limits=amounts(**limits), requests=amounts(**requests))
    pages = amounts(**{"hugepages-2Mi": "4Mi"}) if not limits else Map()
    container = asking(requests=amounts(cpu="500m", gpu="1"), limits=pages)
    spec = completed(resources=resources, containers=(container,))
    assert spec.requests == amounts(**expected)


def test_ports():
    """A port's protocol is TCP; on the host's network its number is also the host's."""
    ports = (
        ContainerPort(container_port=80),
        ContainerPort(container_port=53, host_port=5353, protocol="UDP"),
    )
    assert completed(containers=(Container(ports=ports),)).containers[0].ports == (
        ContainerPort(container_port=80, protocol="TCP"),
        ports[1],
    )
    on_host = completed(containers=(Container(ports=ports),), host_network=True).containers[0].ports
    assert [port.host_port for port in on_host] == [80, 5353]


def test_amounts_are_stored_in_thousandths():
    """Requests finer than a thousandth are rounded up."""
    assert completed(containers=(asking(requests=amounts(cpu="1.0000001")),)).containers[
        0
    ].requests == amounts(cpu="1001m")


def test_empty_values_are_not_stored():
    """An empty node selector, or list of preferred nodes, is none."""
    affinity = Affinity(node_affinity=NodeAffinity(given_preferred=()))
    spec = completed(node_selector=Map(), affinity=affinity)
    assert (spec.node_selector, spec.affinity) == (None, Affinity(node_affinity=NodeAffinity()))


def test_claims_of_ephemeral_volumes():
    """The template of a claim has the defaults of a claim."""
    asked = PersistentVolumeClaimSpec(resources=ResourceRequirements(requests=amounts(storage="1.0001")))
    source = EphemeralVolumeSource(volume_claim_template=ClaimTemplate(spec=asked))
    spec = completed(volumes=(Volume(ephemeral_source=source),)).volumes[0].ephemeral.spec
    assert (spec.volume_mode, str(spec.requests["storage"])) == ("Filesystem", "1001m")


def test_limit_ranges():
    """Limits by default are the most allowed, requests the limits or else the least, in thousandths."""
    item = LimitRangeItem(type="Container", max=amounts(cpu="1.0001"), min=amounts(memory="0.0001"))
    (found,) = with_defaults(LimitRange(spec=LimitRangeSpec(limits=(item,)))).spec.limits
    assert (found.default, found.default_request) == (amounts(cpu="1001m"), amounts(cpu="1001m", memory="1m"))


def test_scheduler_name():
    """The scheduler is the default one unless named."""
    assert [completed(scheduler_name=name).scheduler_name for name in ("", "mine")] == [
        "default-scheduler",
        "mine",
    ]


def test_rbd_pool():
    """A Ceph volume without pool is in pool rbd."""
    volumes = (Volume(name="v", rbd=RBD(image="i")), Volume(name="w", rbd=RBD(pool="p")))
    assert [volume.rbd.pool for volume in completed(volumes=volumes).volumes if volume.rbd] == ["rbd", "p"]


def test_nothing_to_do_changes_nothing():
    """A complete pod is returned itself."""
    complete = with_defaults(Pod(spec=PodSpec(containers=(asking(limits=amounts(cpu="1")),))))
    assert with_defaults(complete) is complete


# --- Other defaults -----------------------------------------------------------------------------------------


def test_allocatable_is_capacity():
    """A node without allocatable offers its capacity."""
    assert with_defaults(Node(status=NodeStatus(capacity=amounts(cpu="4")))).status.allocatable == amounts(
        cpu="4"
    )
    both = NodeStatus(capacity=amounts(cpu="4"), allocatable=amounts(cpu="3"))
    assert with_defaults(Node(status=both)).status == both


@pytest.mark.parametrize("claim, phase", [(None, "Available"), (ObjectReference(name="c"), "Bound")])
def test_persistent_volumes(claim, phase):
    """A volume is a file system, and available unless it has a claim."""
    volume = with_defaults(PersistentVolume(spec=PersistentVolumeSpec(claim_ref=claim, rbd=RBD())))
    assert (volume.spec.volume_mode, volume.phase, volume.spec.rbd) == ("Filesystem", phase, RBD(pool="rbd"))
    assert with_defaults(volume.in_phase("Released")).phase == "Released"


@pytest.mark.parametrize("name, phase", [("", "Pending"), ("v", "Bound")])
def test_claims(name, phase):
    """A claim is for a file system, and pending unless it names a volume."""
    claim = with_defaults(PersistentVolumeClaim(spec=PersistentVolumeClaimSpec(volume_name=name)))
    assert (claim.spec.volume_mode, claim.phase) == ("Filesystem", phase)


def test_storage_classes():
    """A storage class binds at once unless it says otherwise."""
    assert with_defaults(StorageClass()).volume_binding_mode == "Immediate"
    assert (
        with_defaults(StorageClass(volume_binding_mode="WaitForFirstConsumer")).volume_binding_mode
        == "WaitForFirstConsumer"
    )


def test_namespaces():
    """A namespace has its name as a label."""
    metadata = ObjectMeta(name="shop", labels=Map(team="a"))
    namespace = with_defaults(Namespace(metadata=metadata))
    assert namespace.labels == {"team": "a", "kubernetes.io/metadata.name": "shop"}
    assert with_defaults(namespace) is namespace


def test_other_kinds_have_none():
    """A kind without defaults is returned itself."""
    service = Service()
    assert with_defaults(service) is service


@pytest.mark.parametrize("texts", [("1Gi", "1073741824"), ("1073741824", "1Gi"), ("1", "1000m")])
def test_equal_amounts_stay_as_they_are_written(texts):
    """An object has its amounts in its own words, whatever came before it."""
    for text in texts:
        container = Container(name="c", resources=ResourceRequirements(limits=amounts(memory=text)))
        pod = with_defaults(Pod(spec=PodSpec(containers=(container,))))
        volume = with_defaults(PersistentVolume(spec=PersistentVolumeSpec(capacity=amounts(storage=text))))
        status = ContainerStatus(
            resources=ResourceRequirements(limits=amounts(memory=text)),
            allocated_resources=amounts(memory=text),
        )
        (one,) = shared(Pod(status=PodStatus(container_statuses=(status,)))).status.container_statuses
        found = pod.spec.containers[0].requests["memory"], volume.spec.capacity["storage"]
        found += one.resources.limits["memory"], one.allocated_resources["memory"]
        assert [amount.form for amount in found] == [Quantity.parse(text).form] * 4
