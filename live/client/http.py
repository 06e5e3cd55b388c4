"""Requests over HTTP: connections that stay open, TLS, proxies and credentials. It needs aiohttp (``pip
install 'kubeclassic[live]'``)."""

from __future__ import annotations

import errno
import os
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass

import attrs

from ...exceptions import KubeclassicError
from .api import CLOSED, OTHER, REFUSED, RESET, TIMEOUT, Request, Response, Stream, TransportError
from .credentials import Access, CertifiedKey, Grant, KubeconfigError

if TYPE_CHECKING:
    import aiohttp

ANSWER_WITHIN = 70.0
"""Seconds for an answer: an API server gives up after 60."""
CONNECT_WITHIN = 30.0
KEPT_FOR = 90.0
"""Seconds that a connection is kept without a request."""
MOST_CONNECTIONS = 64
"""Of one client certificate, watches included; other requests wait."""
LONGEST_LINE = 16 << 20
"""Bytes of one frame of a watch. Upstream: the limit of client-go's decoder."""
LONGEST_ANSWER = 1 << 30
"""Bytes of one answer that is no watch, such as a page of a list."""


class MissingAiohttpError(KubeclassicError):
    """aiohttp is not installed."""


@cache
def user_agent() -> str:
    """``kubeclassic/VERSION``; without the version if the package is not installed.

    It is in every request, and to read it from the metadata takes 0.7 ms.
    """
    try:
        return f"kubeclassic/{version('kubeclassic')}"
    except PackageNotFoundError:
        return "kubeclassic"


@attrs.define(eq=False)
class HttpTransport:
    """A :class:`~.Transport` to the API server of *access*. Use it as ``async with``; its end closes all
    connections.

    A request that is answered with 401 is sent once more if the credentials may have been renewed. Raises
    :class:`~.credentials.CredentialsError` and :class:`~.credentials.KubeconfigError` where there are none.
    """

    access: Access
    wall_clock: Callable[[], float] = time.time
    _sessions: dict[CertifiedKey | None, aiohttp.ClientSession] = attrs.Factory(dict)
    """Client certificate -> the connections that show it, the latest last."""
    _refused: dict[CertifiedKey | None, KubeconfigError] = attrs.Factory(dict)
    """Client certificate -> why it cannot be shown."""

    async def __aenter__(self) -> HttpTransport:
        """Without credentials nothing begins; if they cannot be renewed later, single requests fail."""
        await self.access.credentials.grant(self.wall_clock())
        return self

    async def __aexit__(self, *error: object) -> None:
        sessions = list(self._sessions.values())
        self._sessions = {}
        for session in sessions:
            await session.close()

    async def send(self, request: Request) -> Response:
        """The answer to *request*."""
        timeout = ANSWER_WITHIN if request.timeout is None else request.timeout
        with _told(request, self.access.server):
            async with await self._answer(request, timeout) as answer:
                body = bytearray()
                async for piece in answer.content.iter_any():
                    body += piece
                    if len(body) > LONGEST_ANSWER:
                        answer.close()
                        raise TransportError(
                            f"{answer.method} {answer.url}: got an answer of more than {LONGEST_ANSWER:,} bytes",
                            OTHER,
                        )
                return Response(answer.status, bytes(body), _headers(answer))

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream]:
        """A context with the answer to *request*, line by line."""
        with _told(request, self.access.server):
            answer = await self._answer(request, request.timeout)
        try:
            yield Stream(answer.status, _headers(answer), self._lines(request, answer))
        finally:
            answer.close()

    async def _lines(self, request: Request, answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        begun: list[bytes] = []
        size = 0
        with _told(request, self.access.server):
            async for piece in answer.content.iter_any():
                *ends, last = piece.split(b"\n")
                for end in ends:
                    yield b"".join((*begun, end))
                    begun = []
                    size = 0
                begun.append(last)
                size += len(last)
                if size > LONGEST_LINE:
                    raise TransportError(
                        f"{_place(request, self.access.server)}: got a line of more than {LONGEST_LINE:,} bytes",
                        OTHER,
                    )
        if size:
            yield b"".join(begun)

    async def _answer(self, request: Request, timeout: float | None) -> aiohttp.ClientResponse:
        access = self.access
        import aiohttp
        from yarl import URL

        is_repeated = False
        while True:
            grant = await access.credentials.grant(self.wall_clock())
            answer = await self._session(grant).request(
                request.method,
                URL(
                    f"{access.server}{request.path}{'?' if request.query else ''}{request.query}",
                    encoded=True,
                ),
                data=request.body or None,
                headers={"User-Agent": user_agent(), **access.headers, **request.headers, **grant.headers},
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_WITHIN, sock_read=timeout),
                allow_redirects=False,
                server_hostname=access.server_name or None,
            )
            if answer.status != 401 or is_repeated or not access.credentials.refused():
                return answer
            answer.release()
            is_repeated = True

    def _session(self, grant: Grant) -> aiohttp.ClientSession:
        access = self.access
        certificate = grant.certificate or access.certificate
        if certificate in self._refused:
            raise self._refused[certificate]
        if certificate not in self._sessions:
            import aiohttp

            proxy = access.proxy
            parts = urlsplit(access.server)
            proxies = getproxies_environment()
            if not proxy and proxies and not proxy_bypass(parts.hostname or "", proxies):
                proxy = proxies.get(parts.scheme, "")
            try:
                connector = aiohttp.TCPConnector(
                    ssl=tls_context(access, certificate), limit=MOST_CONNECTIONS, keepalive_timeout=KEPT_FOR
                )
                self._sessions[certificate] = aiohttp.ClientSession(
                    connector=connector, cookie_jar=aiohttp.DummyCookieJar(), proxy=proxy or None
                )
            except KubeconfigError as error:
                if (
                    self._sessions
                ):  # the files of certificate and key are replaced one after the other: show the pair before
                    return next(reversed(self._sessions.values()))
                self._refused[certificate] = (
                    error  # a context takes long: requests that follow need not make it again
                )
                raise
        return self._sessions[certificate]


def _headers(answer: aiohttp.ClientResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in answer.headers.items()}


def _place(request: Request, server: str) -> str:
    return f"{request.method} {server}{request.path}"


@contextmanager
def _told(request: Request, server: str) -> Iterator[None]:
    """Errors inside the block name *request*."""
    try:
        import aiohttp
    except ImportError:
        raise MissingAiohttpError("aiohttp is not installed: pip install 'kubeclassic[live]'") from None
    try:
        yield
    except (aiohttp.ClientError, OSError) as error:
        raise TransportError(f"{_place(request, server)}: {_text(error)}", _cause(error)) from None
    except ValueError:  # its text may have a header in it
        text = f"{_place(request, server)}: the request cannot be sent: expected another address or other headers"
        raise TransportError(text, OTHER) from None


def _text(error: BaseException) -> str:
    """The error in one line; the system's own words where there are some."""
    import aiohttp

    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        error = error.certificate_error
    elif isinstance(error, aiohttp.ClientConnectorError) and _cause(error) == REFUSED:
        host = f"[{error.host}]" if ":" in error.host else error.host
        asked = "proxy" if isinstance(error, aiohttp.ClientProxyConnectionError) else "API server"
        return f"{host}:{error.port}: connection refused: is the {asked} running, and is the address right?"
    elif isinstance(error, aiohttp.ClientConnectorError):
        error = error.os_error
    if isinstance(error, TimeoutError):
        return "no answer came in time"
    if isinstance(error, ssl.SSLError):
        return " ".join(str(error.args[-1]).split())
    if isinstance(error, OSError) and error.errno is not None and error.errno > 0:
        return os.strerror(error.errno).lower()
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(text.split()) or type(error).__name__


def _cause(error: BaseException) -> str:
    import aiohttp

    if isinstance(error, TimeoutError):
        return TIMEOUT
    found = list[BaseException]()
    cause: BaseException | None = error
    while cause is not None:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    numbers = {one.errno for one in found if isinstance(one, OSError)}
    if errno.ECONNREFUSED in numbers:
        return REFUSED
    if numbers & {errno.ECONNRESET, errno.EPIPE} or any(
        isinstance(one, ConnectionResetError) for one in found
    ):
        return RESET
    closed = (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, aiohttp.ClientResponseError)
    return CLOSED if isinstance(error, closed) else OTHER


def tls_context(access: Access, certificate: CertifiedKey | None) -> ssl.SSLContext:
    """The context for *access*, with the client's *certificate* and key. Raises
    :class:`~.credentials.KubeconfigError`."""
    if access.is_insecure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif (
        access.ca is None
    ):  # the system's certificates take 50 ms to load, and are loaded only where they count
        context = ssl.create_default_context()
    else:
        try:
            context = ssl.create_default_context(cadata=access.ca.decode("ascii"))
        except (ssl.SSLError, ValueError):
            raise KubeconfigError("certificate-authority: expected certificates in PEM") from None
    if certificate is not None:
        with in_file(certificate[0]) as certificate_file, in_file(certificate[1]) as key_file:
            try:
                # No password is said, so that the terminal does not ask for one.
                context.load_cert_chain(certificate_file, key_file, lambda: "")
            except (ssl.SSLError, ValueError):
                raise KubeconfigError(
                    "client-certificate: expected a certificate and its key without a password, both in PEM"
                ) from None
    return context


@contextmanager
def in_file(content: bytes) -> Iterator[str]:
    """The name of a file with *content* for this user alone, as the ssl module reads files only: in memory
    where the system can."""
    if hasattr(os, "memfd_create"):  # there may be no folder to write to
        with open(os.memfd_create("pem"), "wb", buffering=0) as file:
            file.write(content)
            yield f"/proc/self/fd/{file.fileno()}"
        return
    with TemporaryDirectory(prefix="kubeclassic-") as folder:
        path = Path(folder, "pem")
        path.write_bytes(content)
        yield str(path)
