"""Writes before a pod is bound: its volumes, one after another, which then have to be bound, and its claims
to devices.

Upstream: BindPodVolumes in pkg/controller/volume/scheduling/scheduler_binder.go (before 1.15 in
pkg/controller/volume/persistentvolume; 1.27: pkg/scheduler/framework/plugins/volumebinding/binder.go);
bindClaim, PostFilter and Unreserve in pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go.
"""

from __future__ import annotations

import asyncio
import math

import numpy as np
from attrs import define
from msgspec.structs import replace

from ...api.objects import JsonDict, KubeObject, PersistentVolume, PersistentVolumeClaim, Pod, ResourceClaim
from ...api.ownfields import own_fields, with_finalizers, with_status
from ...core.arrays import Batch
from ...core.binding import VolumeError
from ...core.cluster.listings import ClaimWrite, ResourceClaims
from ...core.matching import node_selector_mask
from ...core.volumes import SELECTED_NODE, is_fully_bound
from ...exceptions import KubeclassicError
from ..client.api import ApiError, resource
from .state import DELETE_OPTIONS, LiveState, decoded

CONFLICT = 409
CONFLICTS = 5
"""The status of a write to an object that somebody else has changed, and how often it is tried."""


@define(eq=False)
class ClaimWork:
    """The writer of the claims that the engine notes."""

    state: LiveState

    def __attrs_post_init__(self) -> None:
        self.claims.writes = []

    @property
    def claims(self) -> ResourceClaims:
        return self.state.listings.resource_claims

    def taken(self) -> list[ClaimWrite]:
        """The claims to be written, which are no longer noted."""
        writes = self.claims.writes or []
        self.claims.writes = []
        return writes

    async def write(self, writes: list[ClaimWrite]) -> str | None:
        """Write *writes* in order; the first error ends it, and what was not written is as before."""
        claims = self.claims
        for number, claim_write in enumerate(writes):
            try:
                written = await self._write_one(claim_write)
            except ApiError as error:
                await self.state.free()
                for undone in reversed(writes[number:]):
                    before = undone.before
                    after = undone.after
                    if after is not None and claims.get(after.key) is after:
                        claims.drop(after.key)
                    if before is not None and claims.get(before.key) is None:
                        claims.put(before)
                return str(error)
            await self.state.free()
            if written is not None:
                claims.put(written)
        return None

    async def _write_one(self, claim_write: ClaimWrite) -> ResourceClaim | None:
        """Write one claim; returns it with its new version."""
        api = self.state.api
        before = claim_write.before
        after = claim_write.after
        claims = resource("ResourceClaim", api.device_api)
        head = {"apiVersion": api.device_api, "kind": "ResourceClaim"}
        if after is None:
            if before is not None:
                place = before.namespace, before.name
                if before.metadata.finalizers:  # they go first
                    bare = replace(before, metadata=replace(before.metadata, finalizers=()))
                    await api.ask(
                        "PUT", claims, *place, body=with_finalizers({**head, **(before.manifest or {})}, bare)
                    )
                await api.ask("DELETE", claims, *place, body=DELETE_OPTIONS)
            return None
        if before is not None:
            return await self._put(before, after)
        manifest = {**head, **own_fields(after)}
        manifest["metadata"].pop("uid", None)
        manifest.pop("status", None)
        created = decoded(ResourceClaim, await api.ask("POST", claims, after.namespace, "", body=manifest))
        created = await self._put(created, replace(after, metadata=created.metadata))
        if claim_write.told is not None:
            pod, status = claim_write.told
            await api.patch_status(pod, {"status": status})
        return created

    async def _put(self, before: ResourceClaim, after: ResourceClaim) -> ResourceClaim:
        """Write the finalizers and the status of a claim that is there; after a conflict once more, to the
        claim as it is then."""
        latest = before
        for _ in range(CONFLICTS - 1):
            try:
                return await self._put_once(before, after, latest)
            except ApiError as error:
                if error.status != CONFLICT:
                    raise
            latest = decoded(ResourceClaim, await self._ask("GET", before))
        return await self._put_once(before, after, latest)

    async def _put_once(
        self, before: ResourceClaim, after: ResourceClaim, latest: ResourceClaim
    ) -> ResourceClaim:
        wanted = _merged(before, after, latest)
        manifest: JsonDict = {
            "apiVersion": self.state.api.device_api,
            "kind": "ResourceClaim",
            **(latest.manifest or {}),
        }
        name = f"claim {after.key}"
        if wanted.metadata.finalizers != latest.metadata.finalizers:
            body = with_finalizers(manifest, wanted)
            manifest = await self._ask("PUT", after, body=body, doing=f"add finalizer to {name}")
        classes = {
            device_class.name: device_class.manifest or {}
            for device_class in self.state.listings.device_classes
        }
        what = "reservation" if before.status.allocation is not None else "allocation and reservation"
        body = with_status(manifest, wanted, classes, self.state.api.names_requests)
        answer = await self._ask("PUT", after, "status", body, f"add {what} to {name}")
        return decoded(ResourceClaim, answer)

    async def _ask(
        self,
        method: str,
        claim: ResourceClaim,
        subresource: str = "",
        body: JsonDict | None = None,
        doing: str = "",
    ) -> JsonDict:
        """The claim in the answer; an error says what was being done."""
        api = self.state.api
        claims = resource("ResourceClaim", api.device_api)
        try:
            return await api.ask(method, claims, claim.namespace, claim.name, subresource, body)
        except ApiError as error:
            raise ApiError(
                error.status, error.reason, f"{doing}: {error}" if doing else str(error)
            ) from error

    def write_beside(self) -> None:
        """Write the claims noted just now, beside all else; an error is reported, and the next attempt notes
        them once more."""

        async def reported(writes: list[ClaimWrite]) -> None:
            error = await self.write(writes)
            if error is not None:
                self.state.log.warning(f"resourceclaims: {error}")

        if writes := self.taken():
            self.state.spawn(reported(writes))


def _merged(before: ResourceClaim, after: ResourceClaim, latest: ResourceClaim) -> ResourceClaim:
    """The *latest* state of a claim with the change from *before* to *after*; users that others have added or
    removed meanwhile are so afterwards. Raises ApiError where it cannot have the change any more."""
    old_users = before.status.reserved_for
    wanted_users = after.status.reserved_for
    if set(wanted_users) - set(old_users):
        gone = "deleted" if latest.metadata.deletion_timestamp is not None else ""
        if before.status.allocation is None and latest.status.allocation is not None:
            gone = gone or "allocated elsewhere"
        elif before.status.allocation is not None and latest.status.allocation is None:
            gone = gone or "deallocated elsewhere"
        if gone:
            raise ApiError(200, "", f"claim {after.key} got {gone} in the meantime")
    users = [user for user in latest.status.reserved_for if user in wanted_users or user not in old_users]
    users += [user for user in wanted_users if user not in old_users and user not in users]
    keeps = None not in (before.status.allocation, after.status.allocation, latest.status.allocation)
    allocation = latest.status.allocation if keeps else after.status.allocation
    finalizers = (
        after.metadata.finalizers if after.metadata.finalizers != before.metadata.finalizers else None
    )
    return replace(
        latest,
        metadata=latest.metadata if finalizers is None else replace(latest.metadata, finalizers=finalizers),
        status=replace(after.status, allocation=allocation, reserved_for=tuple(users)),
    )


POLL = 1.0
"""Seconds between two checks of the volumes."""
BIND_TIMEOUT = 600.0
TIMED_OUT = "timed out waiting for the condition"


class NotWritten(KubeclassicError):
    """A volume or claim could not be written; the text is the API server's."""


class NotBound(KubeclassicError):
    """The volumes were written, and will not be bound to the pod's claims; the text is upstream's."""


@define(eq=False)
class VolumeWork:
    """The binding of the volumes of pods."""

    state: LiveState
    timeout: float = BIND_TIMEOUT
    """Seconds, where the profile of a pod names none."""

    def is_needed(self, pod: Pod) -> bool:
        """Whether a claim of *pod*, which was just assumed, has no volume yet."""
        if not pod.spec.volumes or not self.state.binding.waits_for_claims(pod):
            return False
        claims = (self.state.listings.claims.get(key) for key in self.state.engine.claims_of(pod))
        return not all(claim is not None and is_fully_bound(claim) for claim in claims)

    async def bind(self, pod: Pod) -> None:
        """Write the volumes and claims assumed for *pod*, which has its node, and wait until they are bound.
        Raises NotWritten and NotBound."""
        state = self.state
        try:
            objects = state.engine.bind_volumes(pod)
        except VolumeError as error:
            raise NotWritten(str(error)) from error
        written = list[KubeObject]()
        for item in objects:
            try:
                written.append(await self._put(item))
            except ApiError as error:
                await state.free()
                state.engine.binder.restore(objects[len(written) :])
                raise NotWritten(str(error)) from error
        own_seconds = state.binding.volume_seconds(pod)
        seconds = self.timeout if own_seconds is None else own_seconds
        in_context = state.release.live.waits_in_context
        end = state.now() + (seconds if seconds or in_context else math.inf)
        while True:
            await asyncio.sleep(min(POLL, max(0.0, end - state.now())) if in_context else POLL)
            await state.free()
            if in_context and state.now() >= end:
                raise NotBound("context deadline exceeded")
            node = pod.node_name
            if state.engine.row_of(node) is None:
                raise NotBound(f'failed to get node "{node}": node "{node}" not found')
            current = state.pod(pod.key)
            if current is None or current.uid != pod.uid:
                raise NotBound(f'pod "{pod.key}" does not exist any more')
            if all(
                self._is_volume_bound(item, node)
                if isinstance(item, PersistentVolume)
                else self._is_provisioned(item, node)
                for item in written
            ):
                return
            if state.pre_bound.get(pod.uid):
                raise NotBound("context canceled")
            if state.now() >= end:
                raise NotBound(TIMED_OUT)

    async def _put(self, item: KubeObject) -> KubeObject:
        """Write a volume for its claim, or a claim that chose its node; returns the object with its new
        version."""
        manifest = dict(item.manifest or {})
        claim = self._claim_of(item)
        manifest["metadata"] = {**(manifest.get("metadata") or {}), "annotations": dict(item.annotations)}
        if claim is not None:
            spec = manifest.get("spec") or {}
            reference = spec.get("claimRef") or {}
            claim_fields = {"namespace": claim.namespace, "name": claim.name, "uid": claim.metadata.uid}
            if not claim_fields.items() <= reference.items():  # one that is there for this claim stays
                reference = {
                    "kind": claim.kind,
                    **claim_fields,
                    "apiVersion": "v1",
                    "resourceVersion": claim.metadata.resource_version,
                }
            manifest["spec"] = {**spec, "claimRef": reference}
        body = {**manifest, "kind": item.kind, "apiVersion": "v1"}
        return decoded(
            type(item),
            await self.state.api.ask("PUT", resource(item.kind), item.namespace, item.name, body=body),
        )

    def _claim_of(self, item: KubeObject) -> PersistentVolumeClaim | None:
        reference = item.spec.claim_ref if isinstance(item, PersistentVolume) else None
        if reference is None:
            return None
        return self.state.listings.claims.get(f"{reference.namespace}/{reference.name}")

    # --- waiting --------------------------------------------------------------------------------------------

    def _is_volume_bound(self, written: PersistentVolume, node_name: str) -> bool:
        volume = self.state.listings.volumes.get(written.key)
        claim = self._claim_of(written)
        if volume is None or claim is None:
            missing = f'PersistentVolume "{written.key}"' if volume is None else "PersistentVolumeClaim"
            raise NotBound(f"failed to check binding: could not find v1.{missing}")
        if _is_older(volume, written):
            return False
        self._check_reach(volume, node_name)
        if volume.spec.claim_ref is None or not volume.spec.claim_ref.uid:
            raise NotBound(f'ClaimRef got reset for pv "{volume.name}"')
        return is_fully_bound(claim)

    def _is_provisioned(self, written: KubeObject, node_name: str) -> bool:
        claim = self.state.listings.claims.get(written.key)
        if claim is None:
            raise NotBound(
                f'failed to check provisioning pvc: could not find v1.PersistentVolumeClaim "{written.key}"'
            )
        if _is_older(claim, written):
            return False
        if not claim.annotations:
            raise NotBound(f'selectedNode annotation reset for PVC "{claim.name}"')
        selected = claim.annotations.get(SELECTED_NODE, "")
        if selected != node_name:
            raise NotBound(
                self.state.release.live.wrong_node_text.format(claim=claim.name, got=selected, node=node_name)
            )
        if claim.spec.volume_name:
            volume = self.state.listings.volumes.get(claim.spec.volume_name)
            if volume is None:
                return False
            self._check_reach(volume, node_name)
        return is_fully_bound(claim)

    def _check_reach(self, volume: PersistentVolume, node_name: str) -> None:
        affinity = volume.spec.node_affinity
        table = self.state.engine.table
        if affinity is None:
            return
        batch = Batch(table, np.array([table.row_of[node_name]], np.intp))
        if not node_selector_mask(affinity, batch, fields=False)[0]:
            raise NotBound(
                f'pv "{volume.name}" node affinity doesn\'t match node "{node_name}": no matching NodeSelectorTerms'
            )


def _is_older(known: KubeObject, written: KubeObject) -> bool:
    """Whether the informer has not seen yet what was written."""
    versions = known.metadata.resource_version, written.metadata.resource_version
    return all(version.isdecimal() for version in versions) and int(versions[0]) < int(versions[1])
