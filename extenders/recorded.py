"""Requests to extenders with their answers, kept in a file and answered from it again, so that a simulation
can be repeated.

The file has a line of JSON for each request: its URL, the SHA-256 digest of its body, and the status and body
of the answer, or the text of the error. The same request may have had several answers; they are replayed in
their order, and then the last one again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

import attrs

from ..api.reading.secrets import without_user
from ..exceptions import KubeclassicError
from .overhttp import Post, PostError, PostReply

Key = tuple[str, str]
"""URL, and digest of the body."""


class RecordError(KubeclassicError):
    """A record of answers cannot be written or read, or lacks an answer."""


def key_of(url: str, body: bytes) -> Key:
    """What the answers to a request are found by."""
    return without_user(url), hashlib.sha256(body).hexdigest()


# --- writing ------------------------------------------------------------------------------------------------


@attrs.define(eq=False)
class Recorded:
    """A record that is written to *path* from its beginning; several extenders share it.

    A copy of it, such as that of a checkpoint, goes on where the record ended when it was copied. Raises
    :class:`RecordError`.
    """

    path: Path
    size: int = 0
    """The bytes written so far."""
    _lock: Lock = attrs.Factory(Lock)

    def __reduce__(self) -> tuple[Any, ...]:
        return Recorded, (self.path, self.size)

    def note(self, key: Key, found: Mapping[str, Any]) -> None:
        """Write one request and what came of it."""
        line = json.dumps({"url": key[0], "sha256": key[1], **found}).encode() + b"\n"
        try:
            with self._lock, self.path.open("r+b" if self.size else "wb") as stream:
                stream.seek(self.size)
                stream.write(line)
                stream.truncate()
                self.size += len(line)
        except OSError as error:
            raise RecordError(
                f"{self.path}: cannot be written: {(error.strerror or str(error)).lower()}"
            ) from None


@attrs.frozen(eq=False)
class RecordingPost:
    """Sends requests by *post*, and writes them and their answers to *record*."""

    post: Post
    record: Recorded

    def __call__(self, url: str, body: bytes, timeout: float) -> PostReply:
        key = key_of(url, body)
        try:
            answer = self.post(url, body, timeout)
        except PostError as error:
            self.record.note(key, {"error": str(error)})
            raise
        self.record.note(
            key, {"status": answer.status, "answer": answer.body.decode("utf-8", "surrogateescape")}
        )
        return answer


# --- reading ------------------------------------------------------------------------------------------------


@attrs.define(eq=False)
class Replayed:
    """Answers as a record has them; extenders are not called. It may be shared by several extenders."""

    path: Path
    _answers: dict[Key, list[PostReply | str]] = attrs.Factory(dict)
    """Request -> its answers, or the texts of errors, in order."""
    asked: dict[Key, int] = attrs.Factory(dict)
    """How often each request was answered so far."""

    @classmethod
    def read(cls, path: Path) -> Replayed:
        """The record in *path*. Raises :class:`RecordError` with file and line."""
        made = cls(path)
        try:
            with path.open(encoding="utf-8") as lines:
                for number, line in enumerate(lines, 1):
                    try:
                        found = json.loads(line)
                        key = (without_user(found["url"]), found["sha256"])
                        error = found.get("error")
                        body = (
                            b"" if error is not None else found["answer"].encode("utf-8", "surrogateescape")
                        )
                        said = PostReply(found["status"], body) if error is None else error
                    except (ValueError, KeyError, TypeError, AttributeError):
                        where = f"{path}, line {number}"
                        wanted = (
                            "expected url, sha256, and status and answer, or error, got no recorded request"
                        )
                        raise RecordError(f"{where}: {wanted}") from None
                    made._answers.setdefault(key, []).append(said)
        except (OSError, UnicodeDecodeError) as error:
            raise RecordError(
                f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}".lower()
            ) from None
        return made

    def __call__(self, url: str, body: bytes, timeout: float) -> PostReply:
        key = key_of(url, body)
        answers = self._answers.get(key)
        if not answers:
            raise RecordError(
                f"{self.path}: expected the record of the same simulation, got no answer to a request to {key[0]}"
            )
        at = self.asked.get(key, 0)
        self.asked[key] = at + 1
        found = answers[min(at, len(answers) - 1)]
        if isinstance(found, str):
            raise PostError(found)
        return found
