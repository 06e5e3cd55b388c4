"""The pods that a count places: templates, read from pods, manifests and workloads."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count

import attrs
from msgspec.structs import replace

from ...api.controlplane import (
    HASH_LABEL,
    WORKLOADS,
    completion_index,
    expand,
    ordinal_labels,
    with_completion_index,
)
from ...api.load import RAW_KINDS, Loaded, load_documents
from ...api.objects import (
    JsonObject,
    KubeObject,
    Map,
    OwnerReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodStatus,
    ReplicaSet,
    ResourceClaim,
    claim_volume,
    of_kind,
)
from ...api.reading import Document
from ...exceptions import ManifestError

POD_TEMPLATE = "PodTemplate"
READ_KINDS = (*RAW_KINDS, POD_TEMPLATE)
"""The kinds that :func:`~kubeclassic.api.load.load` has to keep as manifests."""
WANTED = "expected a Pod, a PodTemplate or a workload"
_BOUND = (PersistentVolume, PersistentVolumeClaim, ResourceClaim)
_REVISION = "deployment.kubernetes.io/revision"


@attrs.frozen(kw_only=True, repr=False)
class PodTemplate:
    """A pod to make copies of."""

    name: str
    """The name in the answer: that of the pod, or of its workload."""
    kind: str
    """The kind of its manifest: ``Pod``, ``PodTemplate``, ``Deployment`` and so on."""
    pod: Pod
    """The pod that copies equal, except for names and the claims of a StatefulSet."""
    objects: tuple[KubeObject, ...] = ()
    """Objects that come with it, such as the ReplicaSet of a Deployment and others of its file."""
    claims: tuple[PersistentVolumeClaim, ...] = ()
    """The claims of a StatefulSet; each copy gets its own."""
    start: int = 0
    """The number of the first copy."""

    def copy(self, number: int) -> tuple[Pod, Sequence[PersistentVolumeClaim]]:
        """The copy with this *number*, and the claims that are made for it alone."""
        pod = self.pod
        name = f"{self.name}-{number}"
        if completion_index(pod) >= 0:
            pod = with_completion_index(pod, number)
        if self.kind != "StatefulSet":
            return replace(pod, metadata=replace(pod.metadata, name=name)), ()
        labels = Map({**pod.labels, **ordinal_labels(name, number)})
        claimed = [
            replace(claim, metadata=replace(claim.metadata, name=f"{claim.name}-{name}"))
            for claim in self.claims
        ]
        claim_volumes = [claim_volume(claim.name, f"{claim.name}-{name}") for claim in self.claims]
        spec = replace(pod.spec, volumes=(*claim_volumes, *pod.spec.volumes)) if claim_volumes else pod.spec
        return replace(pod, metadata=replace(pod.metadata, name=name, labels=labels), spec=spec), claimed


def template_of(
    loaded: Loaded, where: str, objects: Sequence[KubeObject], *, strict: bool = True
) -> PodTemplate:
    """The only template in *loaded*, which was read from *where*; *objects*: the cluster's objects, among
    which a Deployment finds its ReplicaSets.

    Raises :class:`~kubeclassic.exceptions.ManifestError` unless there is exactly one.
    """
    pods = loaded.of(Pod)
    manifests = [document for kind in (POD_TEMPLATE, *WORKLOADS) for document in loaded.raw.get(kind, ())]
    # What the cluster has bound or allocated stays as it is.
    kept = {(item.kind, item.key) for item in objects if isinstance(item, _BOUND)}
    other_objects = tuple(
        item for item in loaded.objects if not isinstance(item, Pod) and (item.kind, item.key) not in kept
    )
    names = [
        *(f"Pod {pod.name}" for pod in pods),
        *(f"{document['kind']} {_name(document)}" for document in manifests),
    ]
    if len(names) != 1:
        raw = (kind for kind, documents in loaded.raw.items() if documents)
        kinds = dict.fromkeys([*(item.kind for item in loaded.objects), *raw, *loaded.ignored])
        got = ", ".join(names[:5]) or " and ".join(kinds) or "nothing"
        raise ManifestError(f"{where}: {WANTED}{', one a file' if names else ''}, got {got}")
    template = _of_pod(pods[0]) if pods else _of_manifest(manifests[0], where, objects, strict)
    return attrs.evolve(template, objects=(*other_objects, *template.objects))


def _name(document: JsonObject) -> str:
    metadata = document.get("metadata")
    if isinstance(metadata, Mapping):
        return str(metadata.get("name") or metadata.get("generateName") or "")
    return ""


# --- pods ---------------------------------------------------------------------------------------------------


def _of_pod(pod: Pod, kind: str = "Pod") -> PodTemplate:
    return PodTemplate(name=pod.name.rstrip("-"), kind=kind, pod=fresh(pod))


def fresh(pod: Pod) -> Pod:
    """*pod* as before its creation: on no node, without a UID, with no status."""
    metadata = replace(
        pod.metadata, uid="", resource_version="", creation_timestamp=None, deletion_timestamp=None
    )
    return replace(pod, metadata=metadata, spec=replace(pod.spec, node_name=""), status=PodStatus())


def _of_manifest(
    document: JsonObject, where: str, objects: Sequence[KubeObject], strict: bool
) -> PodTemplate:
    kind = str(document["kind"])
    name = _name(document).rstrip("-")
    if kind == "DaemonSet":
        raise ManifestError(
            f"{where}: {WANTED} of another kind, got DaemonSet {name}, which has one pod a node"
        )
    if kind == POD_TEMPLATE:
        # The pod is in the namespace of its PodTemplate.
        inner = document.get("template")
        if not isinstance(inner, Mapping):
            raise ManifestError(
                f"{where}: PodTemplate {name}: template: expected a pod template, got nothing"
            )
        metadata = inner.get("metadata") or {}
        namespace = document["metadata"].get("namespace")
        if not isinstance(metadata, Mapping):
            raise ManifestError(
                f"{where}: PodTemplate {name}: template.metadata: expected an object, got {metadata}"
            )
        manifest = {
            **inner,
            "kind": "Pod",
            "apiVersion": "v1",
            "metadata": {**metadata, "name": name, **({"namespace": namespace} if namespace else {})},
        }
        documents = [Document(manifest, f"{where}: PodTemplate {name}")]
        (pod,) = load_documents(documents, defaults=strict).of(Pod)
        return _of_pod(pod, kind)
    expanded = expand([_one_pod(document, kind)], cron_jobs=True, strict=strict)
    pods = of_kind(Pod, expanded.objects)
    if not pods:
        raise ManifestError(f"{where}: {WANTED} that makes some, got {kind} {name}, which makes no pod")
    others = tuple(item for item in expanded.objects if not isinstance(item, Pod | PersistentVolumeClaim))
    template = PodTemplate(name=name, kind=kind, pod=fresh(pods[0]), objects=others)
    if kind == "StatefulSet":
        # Take the first pod's claims back to the names of their templates.
        base = template.pod
        ending = f"-{base.name}"
        claims = tuple(
            replace(claim, metadata=replace(claim.metadata, name=claim.name.removesuffix(ending)))
            for claim in of_kind(PersistentVolumeClaim, expanded.objects)
        )
        claim_names = {claim.name for claim in claims}
        spec = replace(
            base.spec, volumes=tuple(volume for volume in base.spec.volumes if volume.name not in claim_names)
        )
        start = int(base.name.rpartition("-")[2])
        return attrs.evolve(template, pod=replace(base, spec=spec), claims=claims, start=start)
    return _in_newest_replica_set(template, objects) if kind == "Deployment" else template


def _one_pod(document: JsonObject, kind: str) -> JsonObject:
    """The workload in *document*, changed so that exactly one pod is made for it."""
    raw_spec = document.get("spec")
    spec = raw_spec if isinstance(raw_spec, Mapping) else {}
    rest = {name: value for name, value in document.items() if name != "status"}
    if kind == "CronJob":
        job = spec.get("jobTemplate")
        return {
            **rest,
            "spec": {
                **spec,
                "suspend": False,
                "jobTemplate": _one_pod(job, "Job") if isinstance(job, Mapping) else job,
            },
        }
    if kind == "Job":
        kept = {name: value for name, value in spec.items() if name != "completions"}
        completions = {"completions": 1} if spec.get("completionMode") == "Indexed" else {}
        return {**rest, "spec": {**kept, **completions, "suspend": False, "parallelism": 1}}
    return {**rest, "spec": {**spec, "replicas": 1}}


def _in_newest_replica_set(template: PodTemplate, objects: Sequence[KubeObject]) -> PodTemplate:
    """*template* with its pod in the newest ReplicaSet of the Deployment, if the cluster has one."""
    deployment = next((item.controller for item in of_kind(ReplicaSet, template.objects)), None)
    owned = [
        item
        for item in of_kind(ReplicaSet, objects)
        if (owner := item.controller)
        and deployment
        and (owner.kind, owner.name) == (deployment.kind, deployment.name)
        and (item.metadata.namespace or "default") == template.pod.namespace
    ]
    if not owned:
        return template
    newest = max(owned, key=lambda replica_set: _revision(replica_set.annotations))
    controller = OwnerReference(
        kind="ReplicaSet", name=newest.name, uid=newest.uid, api_version="apps/v1", controller=True
    )
    hashed = newest.labels.get(HASH_LABEL)
    labels = {**template.pod.labels, **({HASH_LABEL: hashed} if hashed else {})}
    metadata = replace(template.pod.metadata, labels=Map(labels), owner_references=(controller,))
    return attrs.evolve(template, pod=replace(template.pod, metadata=metadata), objects=())


def _revision(annotations: Mapping[str, str]) -> int:
    written = annotations.get(_REVISION, "")
    return int(written) if written.isascii() and written.isdigit() and len(written) < 20 else 0


# --- numbers ------------------------------------------------------------------------------------------------


def numbers_for(template: PodTemplate, keys_in_use: Collection[str]) -> Iterator[int]:
    """The numbers of the copies, without those whose names (``namespace/name``) are *keys_in_use*."""
    prefix = f"{template.pod.namespace}/{template.name}-"
    used = {key.removeprefix(prefix) for key in keys_in_use if key.startswith(prefix)}
    return (number for number in count(template.start) if str(number) not in used)
