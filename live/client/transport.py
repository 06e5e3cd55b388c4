"""How requests reach an API server: an interface with one implementation over HTTP, and others in tests.

Everything in ``live`` that talks to an API server goes through a :class:`Transport`, so tests can answer in process, with faults.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import attrs

from ...exceptions import KubeclassicError

CLOSED, RESET, REFUSED, TIMEOUT, OTHER = "closed", "reset", "refused", "timeout", "other"
"""Why there is no answer: the server closed the connection, broke it, did not accept it, was too slow; or another reason."""
LONGEST_WAIT = 9
"""Digits of a number of seconds to wait that is followed. Upstream: a number that is no int is no number."""


class TransportError(KubeclassicError):
    """No answer: the connection failed, broke or took too long. Whether the server carried out the request is unknown.

    *cause* is one of :data:`CLOSED`, :data:`RESET`, :data:`REFUSED`, :data:`TIMEOUT` and :data:`OTHER`.
    """

    def __init__(self, text: str, cause: str = CLOSED) -> None:
        super().__init__(text)
        self.cause = cause


@attrs.frozen
class Request:
    """One HTTP request. ``path`` begins with ``/``; ``query`` is encoded and has no ``?``."""

    method: str
    path: str
    query: str = ""
    body: bytes = b""
    headers: Mapping[str, str] = attrs.field(factory=dict)
    timeout: float | None = None
    """In seconds, for streams between two pieces of the answer; None: the transport's default for answers, none for streams."""


@attrs.frozen
class Response:
    """A whole answer. The names of ``headers`` are in lower case."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def retry_after(self) -> float | None:
        """The header ``Retry-After``, in whole seconds as Go reads it; None without one."""
        text = self.headers.get("retry-after", "")
        return float(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST_WAIT else None


@attrs.frozen
class Stream:
    """An answer that goes on: its ``lines`` are the frames of a watch, without line ends.

    The iterator ends when the server closes the stream, and raises :class:`TransportError` when the connection breaks.
    """

    status: int
    headers: Mapping[str, str]
    lines: AsyncIterator[bytes]


class Transport(Protocol):
    """Sends requests. Both methods raise :class:`TransportError`; a status such as 404 or 500 is an answer, no error."""

    async def send(self, request: Request) -> Response:
        """The answer to *request*."""
        ...

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        """A context with the answer to *request*, line by line. At its end the connection is closed."""
        ...
