"""Requests to an extender over HTTP or HTTPS, on connections that are kept alive; and records of requests
with their answers.

A simulation can be repeated with the answers of a record. The file has a line of JSON for each request: its
URL, the SHA-256 digest of its body, and the text of the error or the status and body of the answer, with the
fault that cut it short if there was one. The same request may have had several answers; they are replayed in
their order, and then the last one again.

Upstream: makeTransport in pkg/scheduler/core/extender.go, and TLSConfigFor in k8s.io/client-go/transport.
"""

from __future__ import annotations

import errno
import hashlib
import json
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import attrs

from ..algorithmprovider.extenders import ExtenderConfig, TlsConfig
from ..api.reading import without_user
from ..api.reading.addresses import environment_proxy, split_url
from ..exceptions import ExtenderError, KubeclassicError

HEADER_TIMEOUT = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
BODY_TIMEOUT = "context deadline exceeded (Client.Timeout or context cancellation while reading body)"
PORTS = {"http": 80, "https": 443}


_CONNECT = {
    errno.ECONNREFUSED: "connection refused",
    errno.EHOSTUNREACH: "no route to host",
    errno.ENETUNREACH: "network is unreachable",
    errno.ETIMEDOUT: "connection timed out",
    errno.EACCES: "permission denied",
}
_VERIFY = dict.fromkeys((18, 19, 20, 21), "certificate signed by unknown authority") | {
    10: "certificate has expired or is not yet valid"
}
"""OpenSSL's codes for certificates that are refused."""


def error_text(url: str, error: Exception) -> str:
    """The text of Go's net/http for an *error* of httpx on a request to *url*.

    The text appears in conditions and events of pods.
    """
    if "Timeout" in type(error).__name__:
        return HEADER_TIMEOUT
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            text = _VERIFY.get(cause.verify_code, cause.verify_message)
            return f"tls: failed to verify certificate: x509: {text}"
        if isinstance(cause, ssl.SSLError):
            if cause.reason == "WRONG_VERSION_NUMBER":
                return "http: server gave HTTP response to HTTPS client"
            return f"tls: {(cause.reason or str(cause)).lower().replace('_', ' ')}"
        if isinstance(cause, socket.gaierror):
            return f"dial tcp: lookup {urlsplit(url).hostname}: no such host"
        if isinstance(cause, OSError) and cause.errno in _CONNECT:
            return f"dial tcp {_address(url)}: connect: {_CONNECT[cause.errno]}"
        if isinstance(cause, ConnectionResetError):
            return f"read tcp {_address(url)}: read: connection reset by peer"
        cause = cause.__cause__ or cause.__context__
    return "EOF" if "disconnected" in str(error) else str(error)


def _address(url: str) -> str:
    """The address that Go tries first, with its port."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        port = parts.port or PORTS[parts.scheme.lower()]
        host = str(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][4][0])
    except OSError:
        pass
    except ValueError:  # a port that is too large, a host with an empty label
        return parts.netloc.rpartition("@")[2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class PostError(ExtenderError):
    """No answer: the text is that of Go's net/http."""


@attrs.frozen
class PostReply:
    """A reply: the HTTP status, and the body."""

    status: int
    body: bytes = b""
    fault: str = ""
    """The reason why the body ends early; it counts only where the answer is not complete. Empty: the body is
    complete."""


Post = Callable[[str, bytes, float], PostReply]
"""A function that sends a JSON body to a URL, within a number of seconds; several threads may call it at
once.

Raises :class:`PostError` if there is no answer; a status other than 200 is an answer.
"""


if TYPE_CHECKING:
    import httpx

MOST_REDIRECTS = 10
MOST_REPLY = 100 << 20
"""Bytes of a reply, once it is unpacked; the body of a request to the extender server may have as many."""
HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "gzip"}


class MissingExtra(KubeclassicError):
    """An optional package is needed."""


class TlsError(KubeclassicError):
    """The certificates or keys of a configuration cannot be used."""


@attrs.define(eq=False)
class HttpPost:
    """Sends requests to one extender. The connections are made when the first request is sent."""

    config: ExtenderConfig
    client: httpx.Client | None = None

    def __call__(self, url: str, body: bytes, timeout: float) -> PostReply:
        import httpx

        if self.client is None:
            self.client = _client(self.config)
        where = f'Post "{without_user(url)}":'
        try:
            scheme = urlsplit(url).scheme.lower()
        except ValueError as error:
            raise PostError(f'parse "{without_user(url)}": {error}') from None
        if scheme not in PORTS:
            raise PostError(f'{where} unsupported protocol scheme "{scheme}"')
        deadline = time.monotonic() + timeout
        tls = self.config.tls
        extensions = {"sni_hostname": tls.server_name} if tls is not None and tls.server_name else {}
        try:
            for name in extensions.values():
                # A name that cannot be sent is refused before there is a connection, which would stay open.
                trial = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                trial.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname=name)
            with self.client.stream(
                "POST", url, content=body, timeout=timeout, extensions=extensions
            ) as response:
                reply = bytearray()
                fault = ""
                try:
                    for part in response.iter_bytes():
                        reply += part
                        if len(reply) > MOST_REPLY:
                            raise PostError(f"expected a reply, got more than {MOST_REPLY >> 20} MiB")
                        if time.monotonic() > deadline:
                            fault = BODY_TIMEOUT
                            break
                except httpx.ReadTimeout:
                    fault = BODY_TIMEOUT
                except httpx.DecodingError:
                    fault = "gzip: invalid header"
                except httpx.RemoteProtocolError:
                    fault = "unexpected EOF"
                return PostReply(response.status_code, bytes(reply), fault)
        except httpx.TooManyRedirects as error:
            last = error.request
            where = f'{last.method.capitalize()} "{without_user(str(last.url))}":'
            raise PostError(f"{where} stopped after {MOST_REDIRECTS} redirects") from None
        # Of addresses and server names that cannot be sent the libraries say no more than these.
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, TypeError) as error:
            raise PostError(f"{where} {error_text(url, error)}") from None

    def close(self) -> None:
        """Close the connections; a later request makes new ones."""
        if self.client is not None:
            self.client.close()
            self.client = None

    def __reduce__(self) -> tuple[Any, ...]:
        return HttpPost, (self.config,)


def http_post(config: ExtenderConfig) -> HttpPost:
    """The way to reach the extender of *config*. Raises :class:`MissingExtra`, and :class:`TlsError` for its
    certificates."""
    return HttpPost(config, _client(config))


def _client(config: ExtenderConfig) -> httpx.Client:
    try:
        import httpx
    except ImportError:
        raise MissingExtra(
            "extenders: the package httpx is not installed: pip install 'kubeclassic[extenders]'"
        ) from None
    # How certificates are checked, and which one is shown; True: by the system's authorities.
    tls = config.tls or TlsConfig()
    has_ca = bool(tls.ca_file or tls.ca_data)
    # Upstream: with enableHttps and no authority the certificate is not checked.
    insecure = tls.insecure or (config.enable_https and not has_ca)
    if insecure and has_ca:
        raise TlsError(
            f"extender {config.name}: specifying a root certificates file with the insecure flag is not allowed"
        )
    try:
        cadata = tls.ca_data.decode("ascii", "ignore") if tls.ca_data else None
        context = ssl.create_default_context(cafile=None if cadata else tls.ca_file or None, cadata=cadata)
        # As in Go: any certificate of the authority ends a chain, and older ones lack what Python 3.13 wants.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        # Upstream: a certificate without a key is not shown.
        if (tls.cert_file or tls.cert_data) and (tls.key_file or tls.key_data):
            # Data win over files. A temporary folder is for its owner alone.
            with TemporaryDirectory() as folder:
                pair = []
                for name, data, file in (
                    ("cert", tls.cert_data, tls.cert_file),
                    ("key", tls.key_data, tls.key_file),
                ):
                    if data:
                        file = str(Path(folder, name))
                        Path(file).write_bytes(data)
                    pair.append(file)
                # An empty password keeps OpenSSL from asking for one at the terminal.
                context.load_cert_chain(pair[0], pair[1], lambda: "")
    except (OSError, ValueError) as error:
        raise TlsError(
            f"extender {config.name}: tlsConfig: {getattr(error, 'strerror', None) or error}"
        ) from None
    # Upstream: the request that would be the eleventh is not sent.
    return httpx.Client(
        verify=context,
        headers=HEADERS,
        follow_redirects=True,
        max_redirects=MOST_REDIRECTS - 1,
        proxy=(split_url(config.url_prefix) and environment_proxy(config.url_prefix)) or None,
        trust_env=False,
    )


# --- a record of requests and answers ---

Key = tuple[str, str]
"""URL, and digest of the body."""


class RecordError(KubeclassicError):
    """A record of answers cannot be written or read, or lacks an answer."""


def key_of(url: str, body: bytes) -> Key:
    """The key of the answers to a request."""
    return without_user(url), hashlib.sha256(body).hexdigest()


# --- writing ------------------------------------------------------------------------------------------------


@attrs.define(eq=False)
class ExtenderRecord:
    """A record that is written to *path* from its beginning; several extenders share it.

    A copy, such as that of a checkpoint, goes on where the record ended when it was copied. Raises
    :class:`RecordError`.
    """

    path: Path
    size: int = 0
    """The bytes written so far."""
    _lock: Lock = attrs.Factory(Lock)

    def __reduce__(self) -> tuple[Any, ...]:
        return ExtenderRecord, (self.path, self.size)

    def note(self, key: Key, outcome: Mapping[str, Any]) -> None:
        """Write one request and its outcome."""
        line = json.dumps({"url": key[0], "sha256": key[1], **outcome}).encode() + b"\n"
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
    record: ExtenderRecord

    def __call__(self, url: str, body: bytes, timeout: float) -> PostReply:
        key = key_of(url, body)
        try:
            answer = self.post(url, body, timeout)
        except PostError as error:
            self.record.note(key, {"error": str(error)})
            raise
        noted = {"status": answer.status, "answer": answer.body.decode("utf-8", "surrogateescape")}
        self.record.note(key, {**noted, "fault": answer.fault} if answer.fault else noted)
        return answer


# --- reading ------------------------------------------------------------------------------------------------


def _recorded(entry: Mapping[str, Any]) -> tuple[Key, PostReply | str]:
    """A recorded request and its answer, or the text of its error."""
    texts = [entry["url"], entry["sha256"], entry.get("fault", "")]
    error = entry.get("error")
    texts.append(entry["answer"] if error is None else error)
    if not all(isinstance(text, str) for text in texts) or not isinstance(entry.get("status", 0), int):
        raise TypeError
    url, digest, fault, text = texts
    key = without_user(url), digest
    if error is not None:
        return key, text
    return key, PostReply(entry["status"], text.encode("utf-8", "surrogateescape"), fault)


@attrs.define(eq=False)
class Replayed:
    """The answers of a record; extenders are not called. Several extenders may share it."""

    path: Path
    _answers: dict[Key, list[PostReply | str]] = attrs.Factory(dict)
    """Request -> its answers, or the texts of errors, in order."""
    asked: dict[Key, int] = attrs.Factory(dict)
    """Request -> the number of its answers so far."""

    @classmethod
    def read(cls, path: Path) -> Replayed:
        """The record in *path*. Raises :class:`RecordError` with file and line."""
        record = cls(path)
        try:
            with path.open(encoding="utf-8") as lines:
                for number, line in enumerate(lines, 1):
                    try:
                        key, answer = _recorded(json.loads(line))
                    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                        where = f"{path}, line {number}"
                        expectation = (
                            "expected url, sha256, and status and answer, or error, got no recorded request"
                        )
                        raise RecordError(f"{where}: {expectation}") from None
                    record._answers.setdefault(key, []).append(answer)
        except (OSError, UnicodeDecodeError) as error:
            reason = str(getattr(error, "strerror", None) or error).lower()
            raise RecordError(f"{path}: cannot be read: {reason}") from None
        return record

    def __call__(self, url: str, body: bytes, timeout: float) -> PostReply:
        key = key_of(url, body)
        answers = self._answers.get(key)
        if not answers:
            raise RecordError(
                f"{self.path}: expected the record of the same simulation, got no answer to a request to {key[0]}"
            )
        at = self.asked.get(key, 0)
        self.asked[key] = at + 1
        answer = answers[min(at, len(answers) - 1)]
        if isinstance(answer, str):
            raise PostError(answer)
        return answer
