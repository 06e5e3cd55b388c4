"""The certificate of the secure port: the one that was given, or one that is made at the start and signs itself.

Upstream: MaybeDefaultWithSelfSignedCerts in k8s.io/apiserver/pkg/server/options, and k8s.io/client-go/util/cert.
"""

from __future__ import annotations

import ipaddress
import os
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ..client.http import in_file
from .flags import LOOPBACK, Listener

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
