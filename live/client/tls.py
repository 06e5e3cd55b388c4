"""TLS towards an API server: whom we trust, and our own certificate."""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from tempfile import TemporaryDirectory

from .access import Access, KubeconfigError


def tls_context(access: Access, certificate: tuple[bytes, bytes] | None) -> ssl.SSLContext:
    """The context for *access*, with the client's *certificate* and key. Raises :class:`~.access.KubeconfigError`."""
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
