"""The endpoints on a port: HTTP/1.1, in plain or over TLS, with limits on what a caller may take."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from http import HTTPStatus

import h11

from ...exceptions import KubeclassicError
from .certificates import show_certificate
from .endpoints import Endpoints, HttpReply
from .flags import Listener

PATIENCE = 10.0
"""Seconds within which a request has to arrive."""
IDLE = 90.0
"""Seconds that a connection is kept without a request."""
MOST_CALLERS = 100
LONGEST_HEAD = 16 * 1024
LONGEST_BODY = 64 * 1024
_CHUNK = 16 * 1024


class ServingError(KubeclassicError):
    """A port cannot be listened on, or a certificate cannot be read."""


async def serve_endpoints(endpoints: Endpoints, listeners: Sequence[Listener]) -> list[asyncio.Server]:
    """Listen; a port 0 is any free one. Close the servers to end. Raises :class:`ServingError`."""
    callers = asyncio.Semaphore(MOST_CALLERS)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if callers.locked():
            writer.close()
            return
        async with callers:
            await _Caller(endpoints, reader, writer).talk()

    servers: list[asyncio.Server] = []
    for listener in listeners:
        try:
            servers.append(await asyncio.start_server(talk, listener.address, listener.port, ssl=_context(listener)))
        except OSError as error:
            for server in servers:
                server.close()
            raise ServingError(f"{listener.address}:{listener.port}: cannot listen: {error}") from None
    return servers


def _context(listener: Listener) -> ssl.SSLContext | None:
    """The context of a secure listener. Raises :class:`ServingError`."""
    if not listener.is_secure:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        show_certificate(context, listener)
    except OSError as error:  # ssl.SSLError is one
        files = ", ".join(filter(None, (listener.certificate, listener.key))) or f"--cert-dir {listener.folder}"
        raise ServingError(f"{files}: cannot read or write the certificate and its key: {error.strerror or error}") from None
    except ModuleNotFoundError as error:
        raise ServingError(f"a certificate cannot be made without {error.name}: pip install 'kubeclassic[live]'") from None
    return context


class _Caller:
    """One connection."""

    def __init__(self, endpoints: Endpoints, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._endpoints, self._reader, self._writer = endpoints, reader, writer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=LONGEST_HEAD)
        name = writer.get_extra_info("peername")
        self._peer = str(name[0]) if isinstance(name, tuple) else ""

    async def talk(self) -> None:
        """Answer requests until the caller leaves, is too slow, or does not speak HTTP."""
        try:
            wait = PATIENCE
            while await self._exchange(wait):
                wait = IDLE
        except (TimeoutError, OSError):
            pass
        except h11.RemoteProtocolError as error:
            await self._refuse(error)
        finally:
            self._writer.close()

    async def _exchange(self, wait: float) -> bool:
        """One request and its answer; whether there may be another one."""
        async with asyncio.timeout(wait):
            request = await self._request()
        if request is None:
            return False
        answer = await self._endpoints.answer(request.method.decode("ascii"), request.target.decode("ascii", "replace"), self._peer)
        await self._send(answer, with_body=request.method != b"HEAD")
        if self._http.our_state is h11.MUST_CLOSE:
            return False
        self._http.start_next_cycle()
        return True

    async def _request(self) -> h11.Request | None:
        """The next request with its body read; None if the caller is gone."""
        found, size = None, 0
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                self._http.receive_data(await self._reader.read(_CHUNK))
            elif isinstance(event, h11.Request):
                found = event
            elif isinstance(event, h11.Data):
                size += len(event.data)
                if size > LONGEST_BODY:
                    raise h11.RemoteProtocolError("the body is too long", error_status_hint=413)
            elif isinstance(event, h11.EndOfMessage):
                return found
            else:
                return None

    async def _send(self, answer: HttpReply, with_body: bool = True) -> None:
        body = answer.body.encode()
        headers = [("Content-Type", answer.kind), ("Content-Length", str(len(body))), *self._endpoints.headers()]
        reason = HTTPStatus(answer.status).phrase.encode()
        data = self._http.send(h11.Response(status_code=answer.status, headers=headers, reason=reason)) or b""
        if with_body:
            data += self._http.send(h11.Data(data=body)) or b""
        data += self._http.send(h11.EndOfMessage()) or b""
        self._writer.write(data)
        async with asyncio.timeout(PATIENCE):
            await self._writer.drain()

    async def _refuse(self, error: h11.RemoteProtocolError) -> None:
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        try:
            await self._send(HttpReply(error.error_status_hint, f"{HTTPStatus(error.error_status_hint).phrase}\n"))
        except (h11.LocalProtocolError, TimeoutError, OSError):
            return
