"""Who may ask the lab: pages of its own address that know its token. No other page learns that it is there."""

from __future__ import annotations

import secrets
from http import HTTPStatus

from starlette.types import Scope

NAMES = ("127.0.0.1", "localhost")


class RefusedRequest(Exception):
    """A request that is not answered; the text is one line."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def check(scope: Scope, token: str) -> None:
    """Raise :class:`RefusedRequest` unless the request names this server as its host, comes from no other page, and has the *token*."""
    headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    server = scope.get("server") or ("", 0)
    hosts = {f"{name}:{server[1]}" for name in NAMES}
    if headers.get(b"host") not in hosts:
        raise RefusedRequest(HTTPStatus.MISDIRECTED_REQUEST, "host: wanted the address that the lab printed")
    origin = headers.get(b"origin")
    if origin is not None and origin not in {f"http://{host}" for host in hosts}:
        raise RefusedRequest(HTTPStatus.FORBIDDEN, "origin: wanted the lab's own page")
    if headers.get(b"sec-fetch-site", "none") not in ("none", "same-origin"):
        raise RefusedRequest(HTTPStatus.FORBIDDEN, "got a request of another page, wanted one of the lab's own")
    given = scope["path"].split("/")[1]
    if not secrets.compare_digest(given.encode(), token.encode()):
        raise RefusedRequest(HTTPStatus.NOT_FOUND, "got a path that there is not, wanted the address that the lab printed")
