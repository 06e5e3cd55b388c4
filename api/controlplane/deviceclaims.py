"""The claims that are made for pods, from ResourceClaimTemplates and for volumes, as the controller manager
makes them.

Upstream: pkg/controller/resourceclaim/controller.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from msgspec.structs import replace

from ..objects import (
    Device,
    KubeObject,
    ObjectMeta,
    OwnerReference,
    PersistentVolumeClaim,
    Pod,
    PodResourceClaimStatus,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
    TemplateMeta,
    of_kind,
    why_not_waiting,
)

Templates = Mapping[str, ResourceClaimTemplate]
"""Templates by key."""
POD_CLAIM = "resource.kubernetes.io/pod-claim-name"
"""The annotation of a claim that was made for a pod, with the name that the pod's spec gives it."""


def templates_in(objects: Iterable[KubeObject]) -> Templates:
    """The templates of claims among *objects*."""
    return {item.key: item for item in objects if isinstance(item, ResourceClaimTemplate)}


def with_device_claims(
    objects: Sequence[KubeObject], existing: Iterable[KubeObject] = ()
) -> tuple[KubeObject, ...]:
    """*objects* with the claims of pods that have no node yet, each before its pod; *existing*: what the
    cluster has."""
    templates = templates_in((*existing, *objects))
    made = dict[tuple[str, str, str], list[ResourceClaim]]()
    for claim in of_kind(ResourceClaim, (*existing, *objects)) if templates else ():
        if (owner := claim.controller) is not None:
            made.setdefault((claim.namespace, owner.name, owner.uid), []).append(claim)
    completed = list[KubeObject]()
    for item in objects if templates else ():
        if isinstance(item, Pod) and item.spec.resource_claims and why_not_waiting(item) is None:
            item, claims = claims_made_for(
                item, templates, made.get((item.namespace, item.name, item.uid), ())
            )
            completed += claims
        completed.append(item)
    return tuple(completed if templates else objects)


def claims_made_for(
    pod: Pod, templates: Templates, made: Iterable[ResourceClaim] = ()
) -> tuple[Pod, list[ResourceClaim]]:
    """*pod* with the names of its claims in its status, and the claims that are made; a missing template
    makes none, nor does one for whose claim one of *made*, its own, is there."""
    statuses = list(pod.status.resource_claim_statuses)
    claims = list[ResourceClaim]()
    names = {status.name for status in statuses}
    names_made = {item.annotations.get(POD_CLAIM): item.name for item in made}
    for claim in pod.spec.resource_claims:
        template = templates.get(f"{pod.namespace}/{claim.resource_claim_template_name}")
        if claim.name in names or claim.resource_claim_template_name is None:
            continue
        if claim.name in names_made:
            statuses.append(
                PodResourceClaimStatus(name=claim.name, resource_claim_name=names_made[claim.name])
            )
        elif template is not None:
            resource_claim = ResourceClaim(
                metadata=_metadata(pod, claim.name, template.spec.metadata), spec=template.spec.spec
            )
            statuses.append(PodResourceClaimStatus(name=claim.name, resource_claim_name=resource_claim.name))
            claims.append(resource_claim)
    return (
        pod.with_status(replace(pod.status, resource_claim_statuses=tuple(statuses)))
        if len(statuses) > len(names)
        else pod
    ), claims


def claims_of_volumes(pod: Pod) -> list[PersistentVolumeClaim]:
    """The claims of *pod*'s generic ephemeral volumes, as they are made.

    Upstream: pkg/controller/volume/ephemeral/controller.go.
    """
    return [
        PersistentVolumeClaim(
            metadata=_metadata(pod, volume.name, volume.ephemeral.metadata), spec=volume.ephemeral.spec
        )
        for volume in pod.spec.volumes
        if volume.ephemeral is not None and volume.persistent_volume_claim is None
    ]


def _metadata(pod: Pod, name: str, template_metadata: TemplateMeta) -> ObjectMeta:
    owner = OwnerReference(api_version="v1", kind="Pod", name=pod.name, uid=pod.uid, controller=True)
    return ObjectMeta(
        name=f"{pod.name}-{name}",
        namespace=pod.namespace,
        labels=template_metadata.labels,
        annotations=template_metadata.annotations,
        owner_references=(owner,),
    )


def slices_like(slices: Iterable[ResourceSlice], model: str, name: str) -> tuple[ResourceSlice, ...]:
    """The slices of the node *name*, if it is like the node *model*, made from those of the cluster."""
    copies = []
    for item in slices:
        if item.spec.node_name == model:
            pool = replace(
                item.spec.pool, name=name if item.spec.pool.name == model else f"{item.spec.pool.name}-{name}"
            )
            copies.append(
                replace(
                    item,
                    metadata=replace(item.metadata, name=f"{item.name}-{name}", uid=""),
                    spec=replace(item.spec, node_name=name, pool=pool),
                    manifest=None,
                )
            )
    return tuple(copies)


def slice_of_more(
    node: str, driver: str, model: Device, number: int, slices: Iterable[ResourceSlice]
) -> ResourceSlice:
    """A slice with *number* devices like *model*, in a pool on *node* that none of *slices* has."""
    base_device = replace(model, consumes_counters=())  # the counters are those of another pool
    used = {name for item in slices for name in (item.name, f"{item.spec.pool.name}-{item.spec.driver}")}
    pools = (f"{node}-more{f'-{at}' if at > 1 else ''}" for at in count(1))
    pool = next(name for name in pools if f"{name}-{driver}" not in used)
    spec = ResourceSliceSpec(
        driver=driver,
        pool=ResourcePool(name=pool, generation=1, resource_slice_count=1),
        node_name=node,
        devices=tuple(replace(base_device, name=f"{model.name}-more-{at}") for at in range(1, number + 1)),
    )
    return ResourceSlice(metadata=ObjectMeta(name=f"{pool}-{driver}"), spec=spec)
