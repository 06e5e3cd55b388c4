"""What is needed to reach an API server: its address, how to trust it, and who asks: tokens, passwords, programs that fetch them.

Upstream: the transports of k8s.io/client-go (transport/token_source.go, plugin/pkg/client/auth/exec).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import attrs

from ...exceptions import KubeclassicError
from .transport import OTHER, TransportError

TOKEN_FILE_READ_EVERY = 60.0
"""Seconds after which a token's file is read again: it changes while we run."""


class CredentialsError(TransportError):
    """There are no credentials: a file is missing, or a plugin failed. The request was not sent."""

    def __init__(self, text: str) -> None:
        super().__init__(text, OTHER)


def fits_a_header(text: str) -> bool:
    """Whether *text* can be the value of a header: ASCII that can be seen, and blanks."""
    return text.isascii() and text.isprintable()


NO_HEADER = "got a character that no header can have"


@attrs.frozen
class Grant:
    """What a request shows: headers, and for TLS perhaps a certificate with its key."""

    headers: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    certificate: tuple[bytes, bytes] | None = attrs.field(default=None, repr=False)


class Credentials(Protocol):
    """Where grants come from, for several connections, which may be on several threads."""

    async def grant(self, now: float) -> Grant:
        """What to show *now* (seconds since 1970). Raises :class:`CredentialsError`."""
        ...

    def refused(self) -> bool:
        """The server has answered 401. Whether it is worth asking once more with a new grant."""
        ...


@attrs.frozen
class Fixed:
    """A header that does not change; an empty one is none."""

    header: str = attrs.field(default="", repr=False)

    async def grant(self, now: float) -> Grant:
        """The header."""
        return Grant({"Authorization": self.header} if self.header else {})

    def refused(self) -> bool:
        """There is nothing else to show."""
        return False


ANONYMOUS = Fixed()
"""No credentials, or none but a certificate of the kubeconfig."""


def token(text: str) -> Fixed:
    """The credentials of a bearer token."""
    return Fixed(f"Bearer {text}")


def password(user: str, secret: str) -> Fixed:
    """The credentials of a user with a password."""
    return Fixed("Basic " + base64.b64encode(f"{user}:{secret}".encode()).decode("ascii"))


@attrs.define
class TokenFile:
    """A bearer token in a file, which is read again every minute and after a refusal."""

    path: Path
    _token: str = attrs.field(default="", init=False, repr=False)
    _read_at: float | None = attrs.field(default=None, init=False)

    async def grant(self, now: float) -> Grant:
        """The token in the file; if that cannot be read, the last one."""
        if self._read_at is None or now - self._read_at >= TOKEN_FILE_READ_EVERY:
            self._token = self._read()
            self._read_at = now
        return Grant({"Authorization": f"Bearer {self._token}"})

    def refused(self) -> bool:
        """The file may have a new one."""
        self._read_at = None
        return True

    def _read(self) -> str:
        try:
            found = self.path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            if self._token:
                return self._token
            raise CredentialsError(f"{self.path}: cannot be read as a token: {_reason(error)}") from None
        if not found and not self._token:
            raise CredentialsError(f"{self.path}: got an empty file, wanted a token")
        if not fits_a_header(found):
            raise CredentialsError(f"{self.path}: {NO_HEADER}, wanted a token")
        return found or self._token


def _reason(error: OSError | UnicodeDecodeError) -> str:
    return (error.strerror or str(error)).lower() if isinstance(error, OSError) else "no UTF-8"


class KubeconfigError(KubeclassicError):
    """A kubeconfig, or a file or program that it names, is not usable."""


@attrs.frozen(kw_only=True)
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
    proxy: str = attrs.field(default="", repr=False)
    """The proxy's address; empty: as the environment says (HTTPS_PROXY, NO_PROXY)."""
    certificate: tuple[bytes, bytes] | None = attrs.field(default=None, repr=False)
    """The client's certificate and key, in PEM."""
    headers: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    """Headers of every request."""
    credentials: Credentials = ANONYMOUS
    namespace: str = "default"
