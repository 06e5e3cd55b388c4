"""What the live scheduler asks of an API server, and the errors that it gets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ....api.objects import KubeObject, Pod
from ....exceptions import KubeclassicError

Json = dict[str, Any]


class ApiError(KubeclassicError):
    """The API server refused a request, or did not answer. *status* is that of HTTP, 0 without an answer; the text is the server's."""

    def __init__(self, message: str, status: int = 0, reason: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason

    @property
    def is_not_found(self) -> bool:
        return self.status == 404

    @property
    def is_unanswered(self) -> bool:
        """Whether nobody knows if the request was carried out."""
        return self.status == 0

    @property
    def is_retriable(self) -> bool:
        """Whether a patch of the status is tried again. Upstream: Retriable in pkg/scheduler/util/utils.go."""
        return self.status in (0, 500, 503)


class ClusterApi(Protocol):
    """The writes of a scheduler; each may raise :class:`ApiError`."""

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


class Recorder(Protocol):
    """Records events. It never fails and never waits."""

    def event(self, about: KubeObject, kind: str, reason: str, action: str, text: str, related: KubeObject | None = None) -> None:
        """An event about an object; *kind* is ``Normal`` or ``Warning``."""
        ...


def status_of(pod: Pod) -> Mapping[str, Any]:
    """The status of *pod* in its JSON form, as it was received."""
    found: Mapping[str, Any] = (pod.manifest or {}).get("status") or {}
    return found
