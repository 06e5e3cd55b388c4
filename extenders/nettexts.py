"""The texts of Go's net/http for requests that got no answer."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

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


def scheme_error(url: str) -> str | None:
    """What Go says of a URL whose scheme is not HTTP; None if it is."""
    scheme = urlsplit(url).scheme.lower()
    return None if scheme in PORTS else _of_post(url, f'unsupported protocol scheme "{scheme}"')


def error_text(url: str, error: Exception) -> str:
    """The text for an *error* of httpx on a POST to *url*."""
    return _of_post(url, _text(url, error))


def _of_post(url: str, text: str) -> str:
    return f'Post "{url}": {text}'


def _text(url: str, error: Exception) -> str:
    if "Timeout" in type(error).__name__:
        return HEADER_TIMEOUT
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLError):
            return _tls_text(cause)
        if isinstance(cause, socket.gaierror):
            return f"dial tcp: lookup {urlsplit(url).hostname}: no such host"
        if isinstance(cause, OSError) and cause.errno in _CONNECT:
            return f"dial tcp {_address(url)}: connect: {_CONNECT[cause.errno]}"
        if isinstance(cause, ConnectionResetError):
            return f"read tcp {_address(url)}: read: connection reset by peer"
    return "EOF" if "disconnected" in str(error) else str(error)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _tls_text(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        text = _VERIFY.get(error.verify_code, error.verify_message)
        return f"tls: failed to verify certificate: x509: {text}"
    if error.reason == "WRONG_VERSION_NUMBER":
        return "http: server gave HTTP response to HTTPS client"
    return f"tls: {(error.reason or str(error)).lower().replace('_', ' ')}"


_VERIFY = dict.fromkeys((18, 19, 20, 21), "certificate signed by unknown authority") | {10: "certificate has expired or is not yet valid"}
"""OpenSSL's codes for certificates that are refused."""


def _address(url: str) -> str:
    """The address that Go tries first, with its port."""
    parts = urlsplit(url)
    port = parts.port or PORTS[parts.scheme.lower()]
    try:
        host = str(socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)[0][4][0])
    except OSError:
        host = parts.hostname or ""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
