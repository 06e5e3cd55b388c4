"""How a request reaches an extender: an interface, with implementations over HTTP, from a record, and by a script."""

from __future__ import annotations

from typing import Protocol

import attrs

from ..exceptions import ExtenderError


class PostError(ExtenderError):
    """No answer: the text is that of Go's net/http."""


@attrs.frozen
class PostReply:
    """What came back: the HTTP status, and the body."""

    status: int
    body: bytes = b""


class Post(Protocol):
    """Sends a request to an extender. It may be called from several threads at once."""

    def __call__(self, url: str, body: bytes, timeout: float) -> PostReply:
        """The answer to a POST of *body*, which is JSON, within *timeout* seconds.

        Raises :class:`PostError` if there is none; a status other than 200 is an answer.
        """
        ...
