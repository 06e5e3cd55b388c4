"""What a server allows: how large bodies may be, how long they may take, how many requests at a time, and who may ask."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager

import attrs
from starlette.requests import ClientDisconnect, Request

from .bodies import BAD_REQUEST, TOO_LARGE, RequestError

OWN = ("none", "same-origin")
"""What browsers say of requests of the server's own pages, and of addresses that people type."""

Headers = Mapping[bytes, str]


def headers_of(pairs: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers of a request, their names in lower case."""
    return {name.lower(): value.decode("latin-1") for name, value in pairs}


def foreign_page(headers: Headers, origins: Collection[str]) -> str | None:
    """The header that shows that another page than those of *origins* sent the request; None if none does.

    >>> foreign_page({b"origin": "http://evil.example"}, ["http://localhost:8888"]), foreign_page({}, [])
    ('origin', None)
    """
    if b"origin" in headers and headers[b"origin"] not in origins:
        return "origin"
    return None if headers.get(b"sec-fetch-site", "none") in OWN else "sec-fetch-site"


def is_known_host(host: str, names: Collection[str]) -> bool:
    """Whether *host*, with or without a port, is one of *names*, localhost or an address: only names can be turned to other addresses.

    >>> [is_known_host(host, ["lab.example"]) for host in ("lab.example:80", "127.0.0.1", "[::1]:8888", "evil.example:8888", "")]
    [True, True, True, False, False]
    """
    name, bracket, _ = host.removeprefix("[").partition("]")
    if not bracket:
        name = host.partition(":")[0]
    if name.lower() in ("localhost", *names):
        return True
    try:
        return bool(ipaddress.ip_address(name))
    except ValueError:
        return False


# --- limits -----------------------------------------------------------------------------------------------------------


UNAUTHORIZED, FORBIDDEN, TIMED_OUT, MISDIRECTED, TOO_MANY, UNAVAILABLE = 401, 403, 408, 421, 429, 503
MEBIBYTE = 1 << 20
BODIES_AT_A_TIME = 4
"""How many bodies of the greatest size may be held at a time."""


@attrs.frozen(kw_only=True)
class ServerLimits:
    """The limits of a server."""

    body_bytes: int = 100 * MEBIBYTE
    """5,000 nodes as objects of 20 kB each fit in."""
    seconds: float = 30.0
    """For the body of a request to arrive, and then for its answer."""
    requests: int = 64
    """At a time."""
    token: bytes | None = None
    """What callers have to show; None: nothing."""
    hosts: frozenset[str] | None = frozenset()
    """By which names, beside addresses and localhost, callers may call the server; None: by any, as they show who they are."""


@attrs.define(eq=False)
class RequestLimiter:
    """Lets requests in, within the limits. Refusals are :class:`~.bodies.RequestError`."""

    limits: ServerLimits
    inside: int = 0
    """Requests that have been let in and not answered yet."""
    _held: int = 0
    """Bytes of bodies."""

    def check_caller(self, scheme: str, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        """Refuse a page of another site, also where it has made its own name that of this server."""
        headers = headers_of(pairs)
        host = headers.get(b"host", "")
        if self.limits.hosts is not None and not is_known_host(host, self.limits.hosts):
            raise RequestError("header Host", f'"{host[:80]}"', "an address, localhost or a name of --allowed-host", MISDIRECTED)
        foreign = foreign_page(headers, [f"{scheme}://{host}"])
        if foreign is not None:
            raise RequestError(f"header {foreign.title()}", f'"{headers[foreign.encode()][:80]}"', "no page but its own", FORBIDDEN)

    def check_token(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Refuse who does not show the token. The comparison takes as long for a wrong token as for a nearly right one."""
        if self.limits.token is None:
            return
        given = next((value for name, value in headers if name.lower() == b"authorization"), b"")
        scheme, _, token = given.partition(b" ")
        if scheme.lower() != b"bearer" or not hmac.compare_digest(token.strip(), self.limits.token):
            got = "another one" if given else "none"
            raise RequestError("header Authorization", got, "Bearer and the server's token", UNAUTHORIZED)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """A context for one request; refuses it where there are too many."""
        if self.inside >= self.limits.requests:
            raise RequestError("server", f"{self.inside + 1} requests at a time", f"{self.limits.requests} at most", TOO_MANY)
        self.inside += 1
        try:
            yield
        finally:
            self.inside -= 1

    @asynccontextmanager
    async def entered_with_body(self, request: Request) -> AsyncIterator[bytes]:
        """The same with the whole body, which is held as long."""
        content = bytearray()
        with self.entered():
            try:
                await self._read(request, content)
                yield bytes(content)
            finally:
                self._held -= len(content)

    async def _read(self, request: Request, content: bytearray) -> None:
        """Read a body into *content*; refuses one that is too large, as soon as that is known, or too slow."""
        self._check(_announced(request))
        try:
            async with asyncio.timeout(self.limits.seconds):
                async for part in request.stream():
                    self._check(len(content) + len(part))
                    if self._held + len(part) > BODIES_AT_A_TIME * self.limits.body_bytes:
                        raise RequestError("server", "too many large bodies at a time", f"at most {BODIES_AT_A_TIME}", TOO_MANY)
                    self._held += len(part)
                    content += part
        except TimeoutError:
            got = f"{len(content)} bytes in {self.limits.seconds:g} seconds"
            raise RequestError("body", got, "all of it by then", TIMED_OUT) from None
        except ClientDisconnect:
            raise RequestError("body", "the end of the connection", "all of it", BAD_REQUEST) from None

    def _check(self, count: int) -> None:
        if count > self.limits.body_bytes:
            raise RequestError("body", f"more than {self.limits.body_bytes} bytes", "no more than that", TOO_LARGE)


def _announced(request: Request) -> int:
    """The length of the body as its header says; 0 if it does not."""
    text = request.headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0
