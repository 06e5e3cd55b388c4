"""What an API server's answers say: objects, errors, and the events of a watch."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import attrs

from ...exceptions import KubeclassicError
from .transport import Response, Stream

Manifest = dict[str, Any]
MOST_TEXT = 500


class ApiError(KubeclassicError):
    """The API server refused a request: *status* (HTTP), *reason* and *message* as it gave them, *retry_after* in seconds or None."""

    def __init__(
        self, status: int, reason: str = "", message: str = "", retry_after: float | None = None, body: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message or f"the server answered {status}")
        self.status: int = status
        self.reason: str = reason
        self.message: str = message
        self.retry_after: float | None = retry_after
        self.body: Mapping[str, Any] = body or {}
        """The Status object."""

    @property
    def is_expired(self) -> bool:
        """A resourceVersion or continue token is too old. Servers up to 1.17 say Gone."""
        return self.reason in ("Expired", "Gone")

    @property
    def is_version_too_large(self) -> bool:
        """A resourceVersion is one that the server has not reached yet."""
        details = self.body.get("details")
        causes = details.get("causes") if isinstance(details, dict) else None
        told = [cause for cause in causes if isinstance(cause, dict)] if isinstance(causes, list) else []
        text = "Too large resource version"
        named = any(cause.get("reason") == "ResourceVersionTooLarge" or cause.get("message") == text for cause in told)
        return named or (self.reason == "Timeout" and text in self.message)


@attrs.frozen
class WatchEvent:
    """``ADDED``, ``MODIFIED``, ``DELETED`` or ``BOOKMARK``, and the object."""

    type: str
    object: Manifest


def object_of(answer: Response, where: str) -> Manifest:
    """The object in a good answer. Raises :class:`ApiError` for anything else."""
    try:
        found = json.loads(answer.body)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ApiError(answer.status, "", f"{where}: got an answer that is no JSON object")
    return found


def metadata_of(found: Manifest) -> Manifest:
    """The metadata of an object or a list."""
    metadata = found.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def error_of(answer: Response) -> ApiError:
    """The error that *answer* is, with or without a Status."""
    try:
        body = json.loads(answer.body)
    except ValueError:
        body = None
    header = answer.headers.get("retry-after", "")
    after = float(header) if header.isascii() and header.isdigit() else None
    if not isinstance(body, dict) or body.get("kind") != "Status":
        reason = "TooManyRequests" if answer.status == 429 else ""
        return ApiError(answer.status, reason, " ".join(answer.body.decode("utf-8", "replace").split())[:MOST_TEXT], after)
    return _error_of_status(answer.status, body, after)


def _error_of_status(status: int, body: Manifest, after: float | None = None) -> ApiError:
    details = body.get("details")
    told = details.get("retryAfterSeconds") if isinstance(details, dict) else None
    if after is None and isinstance(told, int):
        after = float(told)
    return ApiError(status, str(body.get("reason") or ""), str(body.get("message") or ""), after, body)


async def events_of(stream: Stream) -> AsyncIterator[WatchEvent]:
    """The events of a watch. Raises :class:`ApiError` for an ERROR event and a frame that cannot be read."""
    async for line in stream.lines:
        if not line:
            continue
        try:
            frame = json.loads(line)
            found = WatchEvent(frame["type"], frame["object"])
        except (ValueError, KeyError, TypeError):
            raise ApiError(500, "InternalError", "a frame of the watch cannot be read") from None
        if not isinstance(found.object, dict):
            raise ApiError(500, "InternalError", "a frame of the watch has no object")
        if found.type == "ERROR":
            raise _error_of_status(int(found.object.get("code") or 500), found.object)
        yield found
