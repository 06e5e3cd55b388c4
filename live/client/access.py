"""What is needed to reach an API server: its address, how to trust it, and who asks."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from ...exceptions import KubeclassicError
from .credentials import Anonymous, Credentials


class KubeconfigError(KubeclassicError):
    """A kubeconfig, or a file or program that it names, is not usable."""


@attrs.frozen(kw_only=True)
class Access:
    """An API server, and the way to it."""

    server: str
    """``https://host:port``, perhaps with a path."""
    ca: bytes | None = None
    """Certificates in PEM that are trusted; None: those of the system."""
    is_insecure: bool = False
    """The server's certificate is not checked."""
    server_name: str = ""
    """The name in the server's certificate; empty: that of ``server``."""
    proxy: str = ""
    """The proxy's address; empty: as the environment says (HTTPS_PROXY, NO_PROXY)."""
    certificate: tuple[bytes, bytes] | None = None
    """The client's certificate and key, in PEM."""
    headers: Mapping[str, str] = attrs.field(factory=dict)
    """Headers of every request."""
    credentials: Credentials = attrs.field(factory=Anonymous)
    namespace: str = "default"
