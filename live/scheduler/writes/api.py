"""What the live scheduler asks of an API server, and the errors that it gets."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol

from ....api.objects import KubeObject, Pod, ResourceClaim
from ...client.replies import ApiError

__all__ = ["ApiError", "ClusterApi", "Json", "NoAnswer", "is_not_found", "is_unknown", "may_pass", "read_until_answered", "status_of"]

Json = dict[str, Any]
FAILED, TIMED_OUT = 500, 504
STORE = "etcdserver: "
"""What the message of a server begins with whose store said no, or nothing: the store may have written all the same."""


class NoAnswer(ApiError):
    """No answer came, so it is unknown whether the request was carried out."""


def is_unknown(error: ApiError) -> bool:
    """Whether the request may have been carried out: no answer came, or the server gave up waiting for its store."""
    return isinstance(error, NoAnswer) or error.status == TIMED_OUT or (error.status == FAILED and STORE in str(error))


def is_not_found(error: ApiError) -> bool:
    """Whether the object is not there."""
    return error.status == 404


def may_pass(error: ApiError) -> bool:
    """Whether a patch of a status is tried again after *error*. Upstream: Retriable in pkg/scheduler/util/utils.go."""
    return isinstance(error, NoAnswer) or error.status in (500, 503)


class ClusterApi(Protocol):
    """The writes of a scheduler; each may raise :class:`~kubeclassic.live.client.replies.ApiError`."""

    async def bind(self, pod: Pod, node_name: str) -> None:
        """Bind *pod* to a node."""
        ...

    async def read_pod(self, pod: Pod) -> Pod:
        """The pod as the server has it now."""
        ...

    async def put_status(self, pod: Pod, status: Json, node_name: str = "") -> None:
        """Write *pod* with *status*; *node_name*: the node that it was to be bound to."""
        ...

    async def patch_status(self, pod: Pod, patch: Json) -> None:
        """Change the status of *pod* by a strategic merge patch."""
        ...

    async def delete_pod(self, pod: Pod) -> None:
        """Delete *pod*."""
        ...

    async def put_volume(self, item: KubeObject, claim: KubeObject | None) -> KubeObject:
        """Write a volume, for *claim*, or a claim; answers the object with its new version."""
        ...

    async def put_claim(self, before: ResourceClaim, after: ResourceClaim, classes: Mapping[str, Mapping[str, Any]]) -> ResourceClaim:
        """Write a claim to devices; *classes*: the manifests of all device classes, by name. Answers the claim with its new version."""
        ...


async def read_until_answered(api: ClusterApi, pod: Pod, pause: float, longest: float) -> Pod | None:
    """*pod* as the server has it, None if it has none; without an answer it is read again, after pauses that double."""
    while True:
        try:
            return await api.read_pod(pod)
        except ApiError as error:
            if is_not_found(error):
                return None
        await asyncio.sleep(pause)
        pause = min(2 * pause, longest)


def status_of(pod: Pod) -> Mapping[str, Any]:
    """The status of *pod* in its JSON form, as it was received."""
    found: Mapping[str, Any] = (pod.manifest or {}).get("status") or {}
    return found
