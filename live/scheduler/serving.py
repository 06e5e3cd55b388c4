"""The endpoints on a port: HTTP/1.1, in plain or over TLS, with limits on what a caller may take.

The certificate of the secure port is the one that was given, or one that is made at the start and signs itself.
Upstream: MaybeDefaultWithSelfSignedCerts in k8s.io/apiserver/pkg/server/options, and k8s.io/client-go/util/cert.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path

import h11

from ...exceptions import KubeclassicError
from ..client.http import in_file
from .endpoints import Endpoints, HttpReply
from .flags import LOOPBACK, Listener

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


PAIR = "kube-scheduler"
"""The name of a kept certificate and its key, without ``.crt`` and ``.key``."""
HOST = "localhost"
LASTS = timedelta(days=365)
EARLIER = timedelta(hours=1)
"""It is valid from before it was made, as clocks differ."""


def show_certificate(context: ssl.SSLContext, listener: Listener) -> None:
    """Let *context* answer with the certificate of *listener*; without one, a kept one is read, or one is made.

    Raises OSError, and ModuleNotFoundError where one has to be made and cryptography is not installed.
    """
    if listener.certificate:
        context.load_cert_chain(listener.certificate, listener.key)
    elif listener.folder:
        context.load_cert_chain(*_kept(Path(listener.folder), listener.address))
    else:
        with in_file(b"".join(make_certificate(listener.address))) as file:
            context.load_cert_chain(file)


def _kept(folder: Path, address: str) -> tuple[Path, Path]:
    """The files of the certificate in *folder* and its key, which are made if neither is there."""
    certificate, key = folder / f"{PAIR}.crt", folder / f"{PAIR}.key"
    if certificate.exists() or key.exists():
        return certificate, key
    made, its_key = make_certificate(address)
    folder.mkdir(parents=True, exist_ok=True)
    with open(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(its_key)
    certificate.write_bytes(made)
    return certificate, key


def make_certificate(address: str, now: datetime | None = None) -> tuple[bytes, bytes]:
    """A certificate and its key, in PEM, for localhost, 127.0.0.1 and the IP *address*, valid for a year from *now*, which signs itself.

    Upstream: an authority is made too, which signs it, and keys are RSA. A key on a curve is made in less than a millisecond.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID

    now = now or datetime.now(UTC)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"{HOST}@{now.timestamp():.0f}")])
    names = [x509.DNSName(HOST), *map(x509.IPAddress, _addresses(address))]
    usage = dict.fromkeys(
        ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "crl_sign", "encipher_only", "decipher_only"),
        False,
    )
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - EARLIER, now - EARLIER + LASTS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.KeyUsage(digital_signature=True, key_cert_sign=True, **usage), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL
    return certificate.public_bytes(encoding), key.private_bytes(encoding, form, serialization.NoEncryption())


def _addresses(address: str) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    """Loopback, and *address*, unless it stands for all addresses or is a name."""
    found = [ipaddress.ip_address(LOOPBACK)]
    try:
        own = ipaddress.ip_address(address)
    except ValueError:
        return found
    return found if own.is_unspecified or own in found else [*found, own]
