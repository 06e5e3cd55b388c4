"""Claims and volumes while pods come and go: those that a pod binds, and those that are made for it and go with it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ...api.controlplane.admission import admit
from ...api.objects import KubeObject, Map, ObjectReference, PersistentVolume, PersistentVolumeClaim, Pod
from ...api.objects.storage import BIND_COMPLETED
from ...core.engine import Engine
from ...core.pods.notes import is_made_for_pod
from ...core.volumes.assumecache import VolumeError
from ...core.volumes.binder import BOUND_BY_CONTROLLER
from ...core.volumes.volumesearch import SELECTED_NODE
from ..replay.cluster.provisioning import new_volume
from ..replay.cluster.volumecontroller import claim_of

DELAYED = "WaitForFirstConsumer"


def volumes_of(pod: Pod, engine: Engine) -> Iterator[KubeObject]:
    """The volumes and claims of a pod that has just found its node, as the volume controller and provisioners leave them."""
    state = engine.pod_state(pod)
    try:
        written = engine.bind_volumes(pod if state is None else state.pod)
    except VolumeError:
        return  # all its claims had volumes before
    listings = engine.listings
    for item in written:
        if isinstance(item, PersistentVolume) and item.spec.claim_ref is not None:
            claim = listings.claims.get(f"{item.spec.claim_ref.namespace}/{item.spec.claim_ref.name}")
            yield from () if claim is None else bound_to_each_other(claim, item)
        elif isinstance(item, PersistentVolumeClaim):
            name, kind = item.annotations.get(SELECTED_NODE, ""), listings.classes.get(item.storage_class)
            if kind is not None:
                yield from bound_to_each_other(item, new_volume(item, kind, engine.node(name), listings.csi_nodes.get(name)))


def bound_to_each_other(claim: PersistentVolumeClaim, volume: PersistentVolume) -> tuple[KubeObject, KubeObject]:
    """*volume* and *claim*, bound as the volume controller leaves them."""
    reference = ObjectReference(kind=claim.kind, namespace=claim.namespace, name=claim.name, uid=claim.metadata.uid)
    annotations = Map({**claim.annotations, BIND_COMPLETED: "yes", BOUND_BY_CONTROLLER: "yes"})
    return (
        replace(volume, spec=replace(volume.spec, claim_ref=reference), phase="Bound"),
        replace(
            claim, metadata=replace(claim.metadata, annotations=annotations),
            spec=replace(claim.spec, volume_name=volume.name), phase="Bound",
        ),
    )  # fmt: skip


# --- generic ephemeral volumes --------------------------------------------------------------------------------------


def own_claims(pod: Pod, engine: Engine) -> list[PersistentVolumeClaim]:
    """The claims of *pod*'s generic ephemeral volumes that are there, if the release has such volumes: they go with the pod."""
    found = (engine.listings.claims.get(claim.key) for claim in _own(pod, engine))
    return [claim for claim in found if claim is not None]


def new_claims(pod: Pod, engine: Engine) -> Iterator[KubeObject]:
    """The claims that are made for a new *pod*, with their volumes where these do not wait for the pod's node."""
    classes = engine.listings.classes
    for claim in admit(_own(pod, engine), classes).objects:
        assert isinstance(claim, PersistentVolumeClaim)
        kind = classes.get(claim.storage_class)
        if kind is None or kind.volume_binding_mode == DELAYED:
            yield claim
        else:
            yield from bound_to_each_other(claim, new_volume(claim, kind, None, None))


def _own(pod: Pod, engine: Engine) -> list[PersistentVolumeClaim]:
    if not engine.release.volumes.ephemeral_claims:
        return []
    return [claim_of(pod, volume) for volume in pod.spec.volumes if is_made_for_pod(volume)]
