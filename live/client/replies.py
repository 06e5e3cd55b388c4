"""What an API server's answers say: objects, errors, and the events of a watch.

An answer may come from a proxy, or be broken. So everything is read by its shape, and what has another one is an :class:`ApiError`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any, Literal

import attrs
import msgspec

from ...exceptions import KubeclassicError
from .transport import Response, Stream

Manifest = dict[str, Any]
MOST_TEXT = 500
Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]


class StatusCause(msgspec.Struct):
    """One of the causes of a Status."""

    reason: str = ""
    message: str = ""


class StatusDetails(msgspec.Struct, rename="camel"):
    """The details of a Status, as far as they are read."""

    causes: list[StatusCause] | None = None
    retry_after_seconds: Int32 | None = None


class ApiStatus(msgspec.Struct):
    """A Status, as far as it is read."""

    kind: Literal["Status"] | None = None
    reason: str | None = None
    message: str | None = None
    code: Int32 | None = None
    details: StatusDetails | None = None


class ApiError(KubeclassicError):
    """The API server refused a request: *status* (HTTP), *reason* and *message* as it gave them, *retry_after* in seconds or None."""

    def __init__(
        self, status: int, reason: str = "", message: str = "", retry_after: float | None = None, details: StatusDetails | None = None
    ) -> None:
        super().__init__(message or f"the server answered {status}")
        self.status: int = status
        self.reason: str = reason
        self.message: str = message
        self.retry_after: float | None = retry_after
        self.causes: list[StatusCause] = details.causes or [] if details is not None else []

    @property
    def is_expired(self) -> bool:
        """A resourceVersion or continue token is too old. Servers up to 1.17 say Gone."""
        return self.reason in ("Expired", "Gone")

    @property
    def is_version_too_large(self) -> bool:
        """A resourceVersion is one that the server has not reached yet."""
        text = "Too large resource version"
        named = any(cause.reason == "ResourceVersionTooLarge" or cause.message == text for cause in self.causes)
        return named or (self.reason == "Timeout" and text in self.message)


@attrs.frozen
class WatchEvent:
    """``ADDED``, ``MODIFIED``, ``DELETED`` or ``BOOKMARK``, and the object."""

    type: str
    object: Manifest


def read_object(body: bytes) -> Manifest | None:
    """The JSON object that *body* is; None for anything else, also for JSON that is nested too deeply."""
    try:
        found = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def object_of(answer: Response, where: str) -> Manifest:
    """The object in a good answer. Raises :class:`ApiError` for anything else."""
    found = read_object(answer.body)
    if found is None:
        raise ApiError(answer.status, "", f"{where}: got an answer that is no JSON object")
    return found


def metadata_of(found: Mapping[str, Any]) -> Manifest:
    """The metadata of an object or a list."""
    metadata = found.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def error_of(answer: Response) -> ApiError:
    """The error that *answer* is, with or without a Status."""
    found = read_status(read_object(answer.body))
    if found is None or found.kind is None:
        reason = "TooManyRequests" if answer.status == 429 else ""
        return ApiError(answer.status, reason, " ".join(answer.body.decode("utf-8", "replace").split())[:MOST_TEXT], answer.retry_after)
    return _error_of_status(answer.status, found, answer.retry_after)


def read_status(found: Manifest | None) -> ApiStatus | None:
    """The Status that *found* is; None if it has not the shape of one."""
    try:
        return msgspec.convert(found, ApiStatus)
    except msgspec.ValidationError:
        return None


def _error_of_status(status: int, found: ApiStatus, after: float | None = None) -> ApiError:
    told = None if found.details is None else found.details.retry_after_seconds
    if after is None and told is not None:
        after = float(told)
    return ApiError(status, found.reason or "", found.message or "", after, found.details)


async def events_of(stream: Stream) -> AsyncIterator[WatchEvent]:
    """The events of a watch. Raises :class:`ApiError` for an ERROR event and a frame that cannot be read."""
    async for line in stream.lines:
        if not line:
            continue
        frame = read_object(line) or {}
        kind, found = frame.get("type"), frame.get("object")
        if not isinstance(kind, str):
            raise ApiError(500, "InternalError", "a frame of the watch cannot be read")
        if not isinstance(found, dict):
            raise ApiError(500, "InternalError", "a frame of the watch has no object")
        if kind == "ERROR":
            status = read_status(found) or ApiStatus(message="an ERROR event of the watch has no Status")
            raise _error_of_status(status.code or 500, status)
        yield WatchEvent(kind, found)
