"""Requests over HTTP: connections that stay open, TLS, proxies and credentials. It needs aiohttp (``pip
install 'kubeclassic[live]'``)."""

from __future__ import annotations

import asyncio
import errno
import json
import math
import os
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from attrs import Factory, define, evolve, field, frozen

from ...api.objects import JsonObject
from ...api.reading.addresses import environment_proxy
from ...exceptions import KubeclassicError, one_line
from .addresses import KubeconfigError
from .api import CLOSED, OTHER, REFUSED, RESET, TIMEOUT, Headers, Request, Response, Stream, TransportError

if TYPE_CHECKING:
    import aiohttp


# --- Credentials: tokens, certificates, passwords, or programs that fetch them ------------------------------
# Upstream: the transports of k8s.io/client-go (transport/token_source.go, plugin/pkg/client/auth/exec); the
# format of programs is client.authentication.k8s.io.


CertifiedKey = tuple[bytes, bytes]
"""A client's certificate and its key, in PEM."""
FILES_READ_EVERY = 60.0
"""Seconds after which the file of a token or a certificate is read again: it changes while we run."""


class CredentialsError(TransportError):
    """There are no credentials: a file is missing, or a plugin failed. The request was not sent."""

    def __init__(self, text: str) -> None:
        super().__init__(text, OTHER)


def fits_a_header(text: str) -> bool:
    """Whether *text* can be the value of a header: ASCII that can be seen, and blanks."""
    return text.isascii() and text.isprintable()


NO_HEADER = "got a character that no header can have"


@frozen
class RequestCredentials:
    """The credentials of a request: headers, and for TLS perhaps a certificate with its key."""

    headers: Headers = field(factory=dict, repr=False)
    certificate: CertifiedKey | None = field(default=None, repr=False)


class Credentials(Protocol):
    """A source of grants, for several connections, which may be on several threads."""

    async def grant(self, now: float) -> RequestCredentials:
        """The grant for a request *now* (seconds since 1970). Raises :class:`CredentialsError`."""

    def refused(self) -> bool:
        """Whether to ask once more with a new grant, now that the server has answered 401."""


@frozen
class FixedHeader:
    """A header that does not change; an empty one is none."""

    header: str = field(default="", repr=False)

    async def grant(self, now: float) -> RequestCredentials:
        """The header."""
        return RequestCredentials({"Authorization": self.header} if self.header else {})

    def refused(self) -> bool:
        """False: there is no other header."""
        return False


ANONYMOUS = FixedHeader()
"""No credentials, or none but a certificate of the kubeconfig."""


@define
class TokenFile:
    """A bearer token in a file, which is read again every minute and after a refusal; until then *token*."""

    path: Path
    _token: str = field(default="", repr=False)
    _read_at: float | None = None

    async def grant(self, now: float) -> RequestCredentials:
        """The token in the file; if that cannot be read, the last one."""
        if self._read_at is None or now - self._read_at >= FILES_READ_EVERY:
            self._token = self._read()
            self._read_at = now
        return RequestCredentials({"Authorization": f"Bearer {self._token}"})

    def refused(self) -> bool:
        """The file may have a new one."""
        self._read_at = None
        return True

    def _read(self) -> str:
        try:
            token = self.path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            if self._token:
                return self._token
            raise CredentialsError(f"{self.path}: cannot be read as a token: {_reason(error)}") from None
        if not token and not self._token:
            raise CredentialsError(f"{self.path}: expected a token, got an empty file")
        if not fits_a_header(token):
            raise CredentialsError(f"{self.path}: {NO_HEADER}, expected a token")
        return token or self._token


@define
class CertificateFiles:
    """A client's certificate and key in files, which are read again every minute and after a refusal; *inner*
    gives the headers.

    Upstream: client-go reads them for each new connection, and every five minutes.
    """

    certificate: Path
    key: Path
    inner: Credentials = ANONYMOUS
    _pair: CertifiedKey | None = field(default=None, init=False, repr=False)
    _read_at: float | None = None

    async def grant(self, now: float) -> RequestCredentials:
        """The grant of *inner*, with the certificate and key; if they cannot be read, the last ones."""
        if self._read_at is None or now - self._read_at >= FILES_READ_EVERY:
            try:
                self._pair = self.certificate.read_bytes(), self.key.read_bytes()
            except OSError as error:
                if self._pair is None:
                    raise CredentialsError(f"{error.filename}: cannot be read: {_reason(error)}") from None
            self._read_at = now
        grant = await self.inner.grant(now)
        return grant if grant.certificate is not None else evolve(grant, certificate=self._pair)

    def refused(self) -> bool:
        """The files may have a new certificate."""
        self._read_at = None
        self.inner.refused()
        return True


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror or str(error)).lower() if isinstance(error, OSError) else "no UTF-8"


@frozen(kw_only=True)
class Access:
    """An API server, and the way to it."""

    server: str
    """``https://host:port``, perhaps with a path; messages have it, so it has neither user nor password."""
    ca: bytes | None = None
    """Certificates in PEM that are trusted; None: those of the system."""
    is_insecure: bool = False
    """The server's certificate is not checked."""
    server_name: str = ""
    """The name in the server's certificate; empty: that of ``server``."""
    proxy: str = field(default="", repr=False)
    """The proxy's address; empty: as the environment says (HTTPS_PROXY, NO_PROXY)."""
    certificate: CertifiedKey | None = field(default=None, repr=False)
    """The client's certificate and key, in PEM."""
    headers: Sequence[tuple[str, str]] = field(default=(), repr=False)
    """Headers of every request; a name may come several times."""
    credentials: Credentials = ANONYMOUS


VERSIONS = tuple(f"client.authentication.k8s.io/{version}" for version in ("v1", "v1beta1", "v1alpha1"))
SECONDS = 60.0
SECONDS_TO_ASK = 300.0
"""The seconds that a plugin may run, and one that may ask at the terminal."""
MOST_OUTPUT = 1 << 20
AGAIN_AFTER = 10.0
"""Seconds without another run after a failure, or after a run because of a refusal: all requests of that time
share one run."""
_LOOK_EVERY = 0.05
_LONGEST_END = 1.0
"""Seconds that the end of a program may take."""
_LONGEST = 100


class CredentialStatus(msgspec.Struct, rename="camel"):
    """The credentials from a plugin."""

    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: datetime | None = None


class ExecCredential(msgspec.Struct, rename="camel"):
    """The output of a plugin."""

    status: CredentialStatus
    kind: str = ""
    api_version: Any = None


@define(eq=False)
class PluginRun:
    """A run of the program, and who waits for it."""

    waiting: list[Future[RequestCredentials]] = Factory(list)
    stop: threading.Event = Factory(threading.Event)
    """Set to end the program."""
    worker: threading.Thread | None = None


@define
class ExecPlugin:
    """A program that prints an ExecCredential. It runs again when that has expired, and after a refusal."""

    where: str
    command: str
    api_version: str = VERSIONS[0]
    arguments: Sequence[str] = field(default=(), repr=False)
    environment: Mapping[str, str] = field(factory=dict, repr=False)
    cluster: JsonObject | None = field(default=None, repr=False)
    """The cluster information for the plugin; None: it gets none (``provideClusterInfo`` is false)."""
    is_interactive: bool = False
    """Whether the plugin may ask at the terminal."""
    hint: str = ""
    """The way to install it, for messages."""
    seconds: float = SECONDS
    """The seconds that it may run, unless it may ask at the terminal."""
    _grant: RequestCredentials | None = field(default=None, init=False, repr=False)
    _failure: CredentialsError | None = None
    """The failure of the last run, if it gave no grant."""
    _failed_at: float = -math.inf
    _refused_at: float = -math.inf
    _expires: float | None = None
    _guard: threading.Lock = field(factory=threading.Lock, init=False, repr=False)
    """Held while one of the fields of the last and the present run is read or set."""
    _run: PluginRun | None = None

    async def grant(self, now: float) -> RequestCredentials:
        """The last grant of the program, or a new one. All callers that wait for one, on any thread, share
        one run."""
        with self._guard:
            if self._failure is not None and time.monotonic() - self._failed_at < AGAIN_AFTER:
                raise self._failure
            if self._grant is not None and (self._expires is None or now < self._expires):
                return self._grant
            if self._run is None:
                self._run = run = PluginRun()
                run.worker = threading.Thread(
                    target=self._run_program, args=(run,), name="exec plugin", daemon=True
                )
                run.worker.start()
            run = self._run
            future = Future[RequestCredentials]()
            run.waiting.append(future)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            with self._guard:
                if self._run is run:
                    run.waiting.remove(future)
                    if not run.waiting:  # it was the last one that waits for the program
                        run.stop.set()
                        self._run = None
            if run.stop.is_set() and run.worker is not None:
                # Otherwise this process may end before the program, which would then stay.
                run.worker.join(_LONGEST_END)
            raise

    def refused(self) -> bool:
        """The program may give another grant."""
        with self._guard:
            if time.monotonic() - self._refused_at >= AGAIN_AFTER:
                self._refused_at = time.monotonic()
                self._grant = None
        return True

    def _run_program(self, run: PluginRun) -> None:
        """Run the program, keep its grant or its failure, and pass that to all callers that wait."""
        grant = RequestCredentials()
        expires = None
        failure = None
        try:
            grant, expires = self._read(self._output(run.stop))
        except Exception as error:  # whatever it is, the waiting callers raise it
            failure = error
        with self._guard:
            if self._run is run:  # else it was given up
                self._run = None
                self._failure = failure if isinstance(failure, CredentialsError) else None
                self._failed_at = time.monotonic()
                if failure is None:
                    self._grant = grant
                    self._expires = expires
        for future in run.waiting:
            if not future.set_running_or_notify_cancel():
                continue
            if failure is None:
                future.set_result(grant)
            else:
                future.set_exception(failure)

    # --- the program ----------------------------------------------------------------------------------------

    def _output(self, stop: threading.Event) -> bytes:
        """The output of the program. It is ended when it prints too much, takes too long, or is not needed
        any more."""
        asks = self.is_interactive and sys.stdin is not None and sys.stdin.isatty()
        spec = {"interactive": asks, **({} if self.cluster is None else {"cluster": self.cluster})}
        question = {"apiVersion": self.api_version, "kind": "ExecCredential", "spec": spec}
        try:
            process = subprocess.Popen(
                [self.command, *self.arguments],
                env={**os.environ, **self.environment, "KUBERNETES_EXEC_INFO": json.dumps(question)},
                stdin=None if asks else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
            )
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or "got a NUL in a name").lower()
            hint = f"; {one_line(' '.join(self.hint.split()))}" if self.hint else ""
            raise self._error(f"cannot be started: {reason}{hint}") from None
        try:
            # Read the output of the process until it ends.
            seconds = SECONDS_TO_ASK if asks else self.seconds
            chunks = []

            def read() -> None:
                if process.stdout is not None:
                    with process.stdout as stream:
                        chunks.append(stream.read(MOST_OUTPUT + 1))

            reader = threading.Thread(target=read, daemon=True)
            reader.start()
            end = time.monotonic() + seconds
            while reader.is_alive() or (chunks and len(chunks[0]) <= MOST_OUTPUT and process.poll() is None):
                if stop.is_set() or time.monotonic() >= end:
                    raise self._error(f"did not end within {seconds:g} seconds")
                reader.join(_LOOK_EVERY) if reader.is_alive() else stop.wait(_LOOK_EVERY)
            output = chunks[0] if chunks else b""
            if len(output) > MOST_OUTPUT:
                raise self._error(f"printed more than {MOST_OUTPUT >> 20} MiB, expected an ExecCredential")
        finally:
            process.kill()
            process.wait()
        if process.returncode:
            raise self._error(f"ended with status {process.returncode}")
        return output

    # --- what it prints -------------------------------------------------------------------------------------

    def _read(self, output: bytes) -> tuple[RequestCredentials, float | None]:
        try:
            credential = msgspec.json.decode(output, type=ExecCredential)
        except msgspec.ValidationError as error:
            raise self._error(
                f"expected an ExecCredential, got JSON without a status, or with a wrong one: {error}"
            ) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise self._error("expected an ExecCredential, got no JSON") from None
        if credential.kind != "ExecCredential" or credential.api_version != self.api_version:
            value = credential.api_version
            # An object or a list may hold a secret.
            got = "no text" if isinstance(value, dict | list) else one_line(str(value), _LONGEST)
            raise self._error(f"apiVersion: expected an ExecCredential of {self.api_version}, got {got}")
        status = credential.status
        expires = status.expiration_timestamp
        token = status.token or ""
        certificate = status.client_certificate_data
        key = status.client_key_data
        if bool(certificate) != bool(key):
            raise self._error("expected clientCertificateData and clientKeyData together, got one of them")
        if not token and not certificate:
            raise self._error("expected token or clientCertificateData, got neither")
        if not fits_a_header(token):
            raise self._error(f"token: {NO_HEADER}")
        pair = (certificate.encode(), key.encode()) if certificate and key else None
        grant = RequestCredentials({"Authorization": f"Bearer {token}"} if token else {}, pair)
        return grant, None if expires is None else (
            expires if expires.tzinfo else expires.replace(tzinfo=UTC)
        ).timestamp()

    def _error(self, text: str) -> CredentialsError:
        return CredentialsError(f"{self.where}: plugin {self.command}: {text}")


def plugin_of(credentials: Credentials) -> str:
    """The program that *credentials* come from; empty: none."""
    inner = credentials.inner if isinstance(credentials, CertificateFiles) else credentials
    return inner.command if isinstance(inner, ExecPlugin) else ""


# --- HTTP ---------------------------------------------------------------------------------------------------


ANSWER_WITHIN = 70.0
"""Seconds for an answer: an API server gives up after 60."""
CONNECT_WITHIN = 30.0
KEPT_FOR = 90.0
"""Seconds that a connection is kept without a request."""
MOST_CONNECTIONS = 64
"""The most connections of one client certificate, watches included; other requests wait."""
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


@define(eq=False)
class HttpTransport:
    """A :class:`~.Transport` to the API server of *access*. Use it as ``async with``; its end closes all
    connections.

    A request that is answered with 401 is sent once more if the credentials may have been renewed. Raises
    :class:`CredentialsError` and :class:`KubeconfigError` where there are none.
    """

    access: Access
    wall_clock: Callable[[], float] = time.time
    _sessions: dict[CertifiedKey | None, aiohttp.ClientSession] = Factory(dict)
    """Client certificate -> the connections that show it, the latest last."""
    _refused: dict[CertifiedKey | None, KubeconfigError] = Factory(dict)
    """Client certificate -> why it cannot be shown."""

    async def __aenter__(self) -> HttpTransport:
        """Raise if there are no credentials; if they cannot be renewed later, single requests fail."""
        await self.access.credentials.grant(self.wall_clock())
        return self

    async def __aexit__(self, *error: object) -> None:
        # A request that begins meanwhile opens a session, too.
        while self._sessions:
            _, session = self._sessions.popitem()
            await session.close()

    async def send(self, request: Request) -> Response:
        """The answer to *request*."""
        timeout = ANSWER_WITHIN if request.timeout is None else request.timeout
        with self._reported_errors(request):
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
        with self._reported_errors(request):
            answer = await self._answer(request, request.timeout)
        try:
            yield Stream(answer.status, _headers(answer), self._lines(request, answer))
        finally:
            answer.close()

    async def _lines(self, request: Request, answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        chunks: list[bytes] = []
        size = 0
        with self._reported_errors(request):
            async for piece in answer.content.iter_any():
                *ends, last = piece.split(b"\n")
                for end in ends:
                    yield b"".join((*chunks, end))
                    chunks = []
                    size = 0
                chunks.append(last)
                size += len(last)
                if size > LONGEST_LINE:
                    raise TransportError(
                        f"{self._request_line(request)}: got a line of more than {LONGEST_LINE:,} bytes",
                        OTHER,
                    )
        if size:
            yield b"".join(chunks)

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
                headers=[
                    ("User-Agent", user_agent()),
                    *access.headers,
                    *{**request.headers, **grant.headers}.items(),
                ],
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_WITHIN, sock_read=timeout),
                allow_redirects=False,
                server_hostname=access.server_name or None,
            )
            if answer.status != 401 or is_repeated or not access.credentials.refused():
                return answer
            answer.release()
            is_repeated = True

    def _session(self, grant: RequestCredentials) -> aiohttp.ClientSession:
        sessions = self._sessions
        access = self.access
        certificate = grant.certificate or access.certificate
        if certificate in self._refused:
            raise self._refused[certificate]
        if certificate not in sessions:
            import aiohttp

            proxy = access.proxy or environment_proxy(access.server)
            try:
                connector = aiohttp.TCPConnector(
                    ssl=tls_context(access, certificate), limit=MOST_CONNECTIONS, keepalive_timeout=KEPT_FOR
                )
                sessions[certificate] = aiohttp.ClientSession(
                    connector=connector, cookie_jar=aiohttp.DummyCookieJar(), proxy=proxy or None
                )
            except KubeconfigError as error:
                if sessions:
                    # The files of certificate and key are replaced one after the other: show the pair before.
                    return next(reversed(sessions.values()))
                self._refused[certificate] = (
                    error  # a context takes long: requests that follow need not make it again
                )
                raise
        return sessions[certificate]

    def _request_line(self, request: Request) -> str:
        return f"{request.method} {self.access.server}{request.path}"

    @contextmanager
    def _reported_errors(self, request: Request) -> Iterator[None]:
        """A context whose errors name *request*."""
        try:
            import aiohttp
        except ImportError:
            raise MissingAiohttpError("aiohttp is not installed: pip install 'kubeclassic[live]'") from None
        try:
            yield
        except (aiohttp.ClientError, OSError) as error:
            raise TransportError(f"{self._request_line(request)}: {_text(error)}", _cause(error)) from None
        except ValueError:  # its text may have a header in it
            text = f"{self._request_line(request)}: the request cannot be sent: expected another address or other headers"
            raise TransportError(text, OTHER) from None


def _headers(answer: aiohttp.ClientResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in answer.headers.items()}


def _text(error: BaseException) -> str:
    """The error in one line; the system's own words where there are some."""
    import aiohttp

    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        error = error.certificate_error
    elif isinstance(error, aiohttp.ClientConnectorError) and _cause(error) == REFUSED:
        host = f"[{error.host}]" if ":" in error.host else error.host
        peer = "proxy" if isinstance(error, aiohttp.ClientProxyConnectionError) else "API server"
        return f"{host}:{error.port}: connection refused: is the {peer} running, and is the address right?"
    elif isinstance(error, aiohttp.ClientConnectorError):
        error = error.os_error
    if isinstance(error, aiohttp.ClientResponseError):
        # Its own text has the proxy's address, with a password.
        is_proxy = isinstance(error, aiohttp.ClientHttpProxyError)
        said = f"the proxy answered {error.status}" if is_proxy else "got an answer that is no HTTP"
        return f"{said}: {' '.join(error.message.split())}"
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
    chain = list[BaseException]()
    cause: BaseException | None = error
    while cause is not None:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    numbers = {link.errno for link in chain if isinstance(link, OSError)}
    if errno.ECONNREFUSED in numbers:
        return REFUSED
    if numbers & {errno.ECONNRESET, errno.EPIPE} or any(
        isinstance(link, ConnectionResetError) for link in chain
    ):
        return RESET
    closed = (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, aiohttp.ClientResponseError)
    return CLOSED if isinstance(error, closed) else OTHER


def tls_context(access: Access, certificate: CertifiedKey | None) -> ssl.SSLContext:
    """The context for *access*, with the client's *certificate* and key. Raises :class:`KubeconfigError`."""
    if access.is_insecure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif access.ca is None:
        # The system's certificates take 50 ms to load, and are loaded only where they count.
        context = ssl.create_default_context()
    else:
        try:
            context = ssl.create_default_context(cadata=access.ca.decode("ascii", "ignore"))
        except (ssl.SSLError, ValueError):
            raise KubeconfigError("certificate-authority: expected certificates in PEM") from None
    # As in Go: any certificate of the authority ends a chain, and older ones lack what Python 3.13 wants.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if certificate is not None:
        with in_file(certificate[0]) as certificate_file, in_file(certificate[1]) as key_file:
            try:
                # An empty password keeps OpenSSL from asking for one at the terminal.
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
