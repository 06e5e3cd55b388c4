"""The requests of a live scheduler over a transport.

Upstream: the typed clients of k8s.io/client-go; with one answer 429, or an error with Retry-After, a request is sent again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import attrs

from ....api.objects import KubeObject, Pod
from ....api.reading.decode import decode_kind
from ....exceptions import ManifestError
from ...client.transport import Request, Response, Transport, TransportError
from ...wire.goform import go_json
from . import bodies
from .api import ApiError, Json

JSON_TYPE, PATCH_TYPE = "application/json", "application/strategic-merge-patch+json"
MAX_TRIES = 10
PATHS: Mapping[str, str] = {"PersistentVolume": "persistentvolumes", "PersistentVolumeClaim": "persistentvolumeclaims"}


@attrs.define(eq=False)
class WireApi:
    """A :class:`~.api.ClusterApi` whose requests have the form of release *version*."""

    transport: Transport
    version: str

    async def bind(self, pod: Pod, node_name: str) -> None:
        await self._write("POST", f"{pod_path(pod)}/binding", bodies.binding(pod, node_name))

    async def read_pod(self, pod: Pod) -> Pod:
        found = _decoded("Pod", await self._send(Request("GET", pod_path(pod))))
        assert isinstance(found, Pod)
        return found

    async def put_status(self, pod: Pod, status: Json, node_name: str = "") -> None:
        await self._write("PUT", f"{pod_path(pod)}/status", bodies.pod_with_status(pod, status, self.version, node_name))

    async def patch_status(self, pod: Pod, patch: Json) -> None:
        # Upstream: a patch has no line end, unlike what encoders write.
        await self._send(Request("PATCH", f"{pod_path(pod)}/status", body=go_json(patch), headers={"content-type": PATCH_TYPE}))

    async def delete_pod(self, pod: Pod) -> None:
        await self._write("DELETE", pod_path(pod), dict(bodies.DELETE_OPTIONS))

    async def put_volume(self, item: KubeObject, claim: KubeObject | None) -> KubeObject:
        where = f"/namespaces/{item.namespace}" if item.namespaced else ""
        path = f"/api/v1{where}/{PATHS[item.kind]}/{item.name}"
        return _decoded(item.kind, await self._write("PUT", path, bodies.volume(item, claim, self.version)))

    # --- sending ----------------------------------------------------------------------------------------------------

    async def _write(self, method: str, path: str, body: Json) -> Any:
        return await self._send(Request(method, path, body=go_json(body) + b"\n", headers={"content-type": JSON_TYPE}))

    async def _send(self, request: Request) -> Any:
        """The JSON of the answer to *request*; raises :class:`ApiError`."""
        request = attrs.evolve(request, headers={"accept": f"{JSON_TYPE}, */*", **request.headers})
        for _ in range(MAX_TRIES):
            answer = await self._answer(request)
            pause = answer.headers.get("retry-after", "")
            if answer.status < 429 or not pause.isdecimal() or (answer.status != 429 and answer.status < 500):
                break
            await asyncio.sleep(int(pause))
        found = _parsed(answer)
        if answer.status >= 300:
            raise _error(answer, found)
        return found

    async def _answer(self, request: Request) -> Response:
        try:
            return await self.transport.send(request)
        except TransportError as error:
            raise ApiError(str(error)) from error


def pod_path(pod: Pod) -> str:
    """The path of *pod*."""
    return f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"


def _parsed(answer: Response) -> Any:
    try:
        return json.loads(answer.body)
    except ValueError:
        return None


def _error(answer: Response, found: Any) -> ApiError:
    if isinstance(found, Mapping) and found.get("kind") == "Status":
        return ApiError(str(found.get("message") or ""), answer.status, str(found.get("reason") or ""))
    text = answer.body.decode("utf-8", "replace").strip()
    return ApiError(text or f"the server answered with status {answer.status}", answer.status)


def _decoded(kind: str, document: Any) -> KubeObject:
    """The object in an answer; raises :class:`ApiError` for one that cannot be read."""
    if not isinstance(document, Mapping):
        raise ApiError(f"{kind}: got no object")
    try:
        found = decode_kind(kind, document, strict=False, keeps_manifest=True)
    except ManifestError as error:
        raise ApiError(str(error)) from error
    assert found is not None
    return found
