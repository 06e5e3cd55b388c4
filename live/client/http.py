"""Requests over HTTP: connections that stay open, TLS, proxies and credentials. It needs httpx (``pip install 'kubeclassic[live]'``)."""

from __future__ import annotations

import errno
import os
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TYPE_CHECKING, Any

import attrs

from ...exceptions import KubeclassicError
from .credentials import Access, Grant, KubeconfigError
from .transport import CLOSED, OTHER, REFUSED, RESET, TIMEOUT, Request, Response, Stream, TransportError

if TYPE_CHECKING:
    import httpx

ANSWER_WITHIN = 70.0
"""Seconds for an answer: an API server gives up after 60."""
CONNECT_WITHIN = 30.0


class MissingHttpxError(KubeclassicError):
    """httpx is not installed."""


def user_agent() -> str:
    """``kubeclassic/VERSION``; without the version if the package is not installed."""
    try:
        return f"kubeclassic/{version('kubeclassic')}"
    except PackageNotFoundError:
        return "kubeclassic"


@attrs.define(eq=False)
class HttpTransport:
    """A :class:`~.transport.Transport` to the API server of *access*. Use it as ``async with``; its end closes all connections.

    A request that is answered with 401 is sent once more if the credentials may have been renewed. Raises
    :class:`~.credentials.CredentialsError` and :class:`~.credentials.KubeconfigError` where there are none.
    """

    access: Access
    agent: str = attrs.field(factory=user_agent)
    wall_clock: Callable[[], float] = time.time
    _clients: dict[tuple[bytes, bytes] | None, httpx.AsyncClient] = attrs.field(factory=dict, init=False)
    """Client certificate -> the connections that show it."""

    async def __aenter__(self) -> HttpTransport:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections."""
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.aclose()

    async def send(self, request: Request) -> Response:
        """The answer to *request*."""
        timeout = ANSWER_WITHIN if request.timeout is None else request.timeout
        with _told(request, self.access.server):
            answer = await self._answer(request, timeout, stream=False)
            return Response(answer.status_code, answer.content, _headers(answer))

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[Stream]:
        """A context with the answer to *request*, line by line."""
        with _told(request, self.access.server):
            answer = await self._answer(request, request.timeout, stream=True)
        try:
            yield Stream(answer.status_code, _headers(answer), self._lines(request, answer))
        finally:
            await answer.aclose()

    async def _lines(self, request: Request, answer: httpx.Response) -> AsyncIterator[bytes]:
        rest = b""
        with _told(request, self.access.server):
            async for piece in answer.aiter_bytes():
                *lines, rest = (rest + piece).split(b"\n") if b"\n" in piece else (rest + piece,)
                for line in lines:
                    yield line
        if rest:
            yield rest

    async def _answer(self, request: Request, timeout: float | None, *, stream: bool) -> httpx.Response:
        answer = await self._once(request, timeout, stream)
        if answer.status_code == 401 and self.access.credentials.refused():
            await answer.aclose()
            answer = await self._once(request, timeout, stream)
        return answer

    async def _once(self, request: Request, timeout: float | None, stream: bool) -> httpx.Response:
        import httpx

        grant = await self.access.credentials.grant(self.wall_clock())
        sent = self._client(grant).build_request(
            request.method,
            self._url(request),
            content=request.body or None,
            headers={"User-Agent": self.agent, **self.access.headers, **request.headers, **grant.headers},
            timeout=httpx.Timeout(timeout, connect=CONNECT_WITHIN),
            extensions={"sni_hostname": self.access.server_name} if self.access.server_name else None,
        )
        return await self._client(grant).send(sent, stream=stream)

    def _url(self, request: Request) -> str:
        return f"{self.access.server}{request.path}{'?' if request.query else ''}{request.query}"

    def _client(self, grant: Grant) -> httpx.AsyncClient:
        certificate = grant.certificate or self.access.certificate
        if certificate not in self._clients:
            self._clients[certificate] = self._connect(certificate)
        return self._clients[certificate]

    def _connect(self, certificate: tuple[bytes, bytes] | None) -> httpx.AsyncClient:
        import httpx

        return httpx.AsyncClient(
            verify=tls_context(self.access, certificate),
            proxy=self.access.proxy or None,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=64, keepalive_expiry=90),
            follow_redirects=False,
        )


def _httpx() -> Any:
    try:
        import httpx
    except ImportError:
        raise MissingHttpxError("httpx is not installed: pip install 'kubeclassic[live]'") from None
    return httpx


def _headers(answer: httpx.Response) -> dict[str, str]:
    return {name.lower(): value for name, value in answer.headers.items()}


@contextmanager
def _told(request: Request, server: str) -> Iterator[None]:
    """Errors inside the block name *request*."""
    httpx = _httpx()
    try:
        yield
    except httpx.HTTPError as error:
        place = f"{request.method} {server}{request.path}"
        raise TransportError(f"{place}: {_text(error)}", _cause(error)) from None
    except httpx.InvalidURL as error:
        raise TransportError(f"{server}: {error}", OTHER) from None


def _text(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _cause(error: Exception) -> str:
    import httpx

    if isinstance(error, httpx.TimeoutException):
        return TIMEOUT
    numbers = {found.errno for found in _chain(error) if isinstance(found, OSError)}
    if errno.ECONNREFUSED in numbers:
        return REFUSED
    if errno.ECONNRESET in numbers or errno.EPIPE in numbers:
        return RESET
    return CLOSED if isinstance(error, httpx.RemoteProtocolError | httpx.ReadError) else OTHER


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """*error* and what caused it, groups of errors included."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for part in error.exceptions:
                yield from _chain(part)
        error = error.__cause__ or error.__context__


def tls_context(access: Access, certificate: tuple[bytes, bytes] | None) -> ssl.SSLContext:
    """The context for *access*, with the client's *certificate* and key. Raises :class:`~.credentials.KubeconfigError`."""
    context = ssl.create_default_context()
    if access.is_insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif access.ca is not None:
        context = _trusting(access.ca)
    if certificate is not None:
        _show(context, *certificate)
    return context


def _trusting(ca: bytes) -> ssl.SSLContext:
    """A context that trusts only the certificates *ca*."""
    try:
        return ssl.create_default_context(cadata=ca.decode("ascii"))
    except (ssl.SSLError, ValueError):
        raise KubeconfigError("certificate-authority: wanted certificates in PEM") from None


def _show(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Load a certificate. The ssl module reads files only, so they are there for a moment, for this user alone."""
    with TemporaryDirectory(prefix="kubeclassic-") as folder:
        certificate_file, key_file = Path(folder, "certificate"), Path(folder, "key")
        for path, content in ((certificate_file, certificate), (key_file, key)):
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
        try:
            context.load_cert_chain(certificate_file, key_file, _no_password)
        except (ssl.SSLError, ValueError):
            raise KubeconfigError("client-certificate: wanted a certificate and its key without a password, both in PEM") from None


def _no_password() -> str:
    """What is said when a key asks for a password: nothing, so that the terminal does not ask."""
    return ""
