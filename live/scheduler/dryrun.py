"""A scheduler that decides and writes nothing: an API server of its own invention answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import attrs

from ...api.objects import KubeObject, Pod, ResourceClaim
from ...api.reading.decode import decode_kind
from ..informers.store import Handler
from .state import LiveState
from .writes.api import ApiError, Json


@attrs.define(eq=False)
class DryApi:
    """A :class:`~.writes.api.ClusterApi` that sends nothing. A binding lasts until the cluster has bound the pod, or deleted it."""

    known: dict[str, Pod] = attrs.field(factory=dict)
    """The pods as the informer knows them, by key."""
    _written: dict[str, Pod] = attrs.field(factory=dict)
    """Pods with the status that would have been written; the queues of old releases look at it."""
    _bindings: dict[str, asyncio.Future[None]] = attrs.field(factory=dict)

    async def bind(self, pod: Pod, node_name: str) -> None:
        end = self._bindings[pod.key] = asyncio.get_running_loop().create_future()
        await end

    def settle(self, key: str, *, is_bound: bool) -> None:
        """The pod was bound by somebody, or is gone."""
        self._written.pop(key, None)
        end = self._bindings.pop(key, None)
        if end is None or end.done():
            return
        if is_bound:
            end.set_result(None)
        else:
            end.set_exception(ApiError(404, "NotFound", f'pods "{key.partition("/")[2]}" not found'))

    async def read_pod(self, pod: Pod) -> Pod:
        if pod.key not in self.known:
            raise ApiError(404, "NotFound", f'pods "{pod.name}" not found')
        known, written = self.known[pod.key], self._written.get(pod.key)
        is_newest = written is not None and written.metadata == known.metadata
        return written if written is not None and is_newest else known

    async def put_status(self, pod: Pod, status: Json, node_name: str = "") -> None:
        written = decode_kind("Pod", {**(pod.manifest or {}), "status": status}, strict=False, keeps_manifest=True)
        if isinstance(written, Pod):
            self._written[pod.key] = written

    async def patch_status(self, pod: Pod, patch: Json) -> None:
        return None

    async def delete_pod(self, pod: Pod) -> None:
        return None

    async def put_volume(self, item: KubeObject, claim: KubeObject | None) -> KubeObject:
        return item

    async def put_claim(self, before: ResourceClaim, after: ResourceClaim, classes: Mapping[str, Mapping[str, Any]]) -> ResourceClaim:
        return after


@attrs.define(eq=False)
class DryRun:
    """The handler of informers in a dry run: what happens to pods ends their bindings."""

    state: LiveState
    api: DryApi

    def put(self, item: KubeObject) -> None:
        """An object was added or updated."""
        self.state.put(item)
        if isinstance(item, Pod) and item.spec.node_name:
            self.api.settle(item.key, is_bound=True)

    def delete(self, item: KubeObject) -> None:
        """An object was deleted."""
        self.state.delete(item)
        if isinstance(item, Pod):
            self.api.settle(item.key, is_bound=False)


def handler_of(state: LiveState) -> Handler:
    """What informers tell of objects: *state*, or in a dry run what ends bindings, too."""
    if not isinstance(state.api, DryApi):
        return state
    state.api.known = state.router.pods
    return DryRun(state, state.api)
