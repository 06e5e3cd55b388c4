"""The requests of a live scheduler, through a client of the API server.

Upstream: the typed clients of k8s.io/client-go.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import attrs

from ....api.objects import KubeObject, Pod
from ....api.reading.decode import decode_kind
from ....exceptions import ManifestError
from ...client.api import Api
from ...client.resources import PODS, resource
from ...client.transport import REFUSED, TransportError
from . import bodies
from .api import ApiError, Json, NoAnswer


@attrs.define(eq=False)
class WireApi:
    """A :class:`~.api.ClusterApi` whose requests have the form of release *version*."""

    api: Api
    version: str

    async def bind(self, pod: Pod, node_name: str) -> None:
        await _answer(self.api.bind(pod.namespace, pod.name, bodies.binding(pod, node_name)))

    async def read_pod(self, pod: Pod) -> Pod:
        found = _decoded("Pod", await _answer(self.api.get(PODS, pod.namespace, pod.name)))
        assert isinstance(found, Pod)
        return found

    async def put_status(self, pod: Pod, status: Json, node_name: str = "") -> None:
        body = bodies.pod_with_status(pod, status, self.version, node_name)
        await _answer(self.api.update_status(PODS, pod.namespace, pod.name, body))

    async def patch_status(self, pod: Pod, patch: Json) -> None:
        await _answer(self.api.patch(PODS, pod.namespace, pod.name, patch, subresource="status"))

    async def delete_pod(self, pod: Pod) -> None:
        await _answer(self.api.delete(PODS, pod.namespace, pod.name))

    async def put_volume(self, item: KubeObject, claim: KubeObject | None) -> KubeObject:
        body = bodies.volume(item, claim, self.version)
        return _decoded(item.kind, await _answer(self.api.update(resource(item.kind), item.namespace, item.name, body)))


async def _answer(call: Awaitable[Json]) -> Json:
    """The answer to *call*; a connection that failed is an error of the API, too."""
    try:
        return await call
    except TransportError as error:
        raise (ApiError(503, "", str(error)) if error.cause == REFUSED else NoAnswer(0, "", str(error))) from error


def _decoded(kind: str, document: Any) -> KubeObject:
    """The object in an answer; raises ApiError for one that cannot be read."""
    try:
        found = decode_kind(kind, document, strict=False, keeps_manifest=True)
    except ManifestError as error:
        raise ApiError(200, "", str(error)) from error
    assert found is not None
    return found
