"""Addresses of servers, and of the proxies on the way."""

from __future__ import annotations

import ipaddress
from contextlib import suppress
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies_environment, proxy_bypass

from ...exceptions import KubeclassicError, one_line
from .secrets import without_user

SCHEMES = ("http", "https")
"""Of servers and proxies."""


class AddressError(KubeclassicError):
    """An address cannot be used."""


def is_loopback(host: str) -> bool:
    """Whether *host*, a name or an address, is this machine itself.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("::ffff:127.0.0.1"), is_loopback("10.0.0.1"), is_loopback("")
    (True, True, True, False, False)
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def split_url(text: str) -> SplitResult | None:
    """The parts of a URL with a host; None if it is none."""
    try:
        parts = urlsplit(text)
        return parts if parts.hostname and (parts.port or 1) > 0 else None
    except ValueError:
        return None


def environment_proxy(server: str) -> str:
    """The address of the proxy that the environment has for *server*; empty: none.

    Upstream: golang.org/x/net/http/httpproxy. NO_PROXY may have networks, and this machine needs no proxy.
    Raises :class:`AddressError`.
    """
    parts = urlsplit(server)
    host = parts.hostname or ""
    proxies = getproxies_environment()
    proxy = proxies.get(parts.scheme, "")
    proxies["no"] = proxies.get("no", "").replace("*.", ".")
    if not proxy or is_loopback(host) or proxy_bypass(parts.netloc, proxies):
        return ""
    for network in proxies["no"].split(","):
        with suppress(ValueError):
            if ipaddress.ip_address(host) in ipaddress.ip_network(network.strip(), strict=False):
                return ""
    address = proxy if "://" in proxy else f"http://{proxy}"
    url = split_url(address)
    if url is None or url.scheme not in SCHEMES:
        got = one_line(without_user(address), 100)
        raise AddressError(
            f"{parts.scheme.upper()}_PROXY: expected http://HOST:PORT or https://HOST:PORT, got {got}"
        )
    return address
