"""Whether a request comes from a page in a browser that is not the server's own.

A page of another site can send requests to a server on the loopback, and where it changes the address of its own name to the loopback (DNS
rebinding) it can read the answers too. Programs name the address that they were given, and no page as their origin.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable, Mapping

OWN = ("none", "same-origin")
"""What browsers say of requests of the server's own pages, and of addresses that people type."""

Headers = Mapping[bytes, str]


def headers_of(pairs: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers of a request, their names in lower case."""
    return {name.lower(): value.decode("latin-1") for name, value in pairs}


def foreign_page(headers: Headers, origins: Collection[str]) -> str | None:
    """The header that shows that another page than those of *origins* sent the request; None if none does.

    >>> foreign_page({b"origin": "http://evil.example"}, ["http://localhost:8888"]), foreign_page({}, [])
    ('origin', None)
    """
    if b"origin" in headers and headers[b"origin"] not in origins:
        return "origin"
    return None if headers.get(b"sec-fetch-site", "none") in OWN else "sec-fetch-site"


def is_known_host(host: str, names: Collection[str]) -> bool:
    """Whether *host*, with or without a port, is one of *names*, localhost or an address: only names can be turned to other addresses.

    >>> [is_known_host(host, ["lab.example"]) for host in ("lab.example:80", "127.0.0.1", "[::1]:8888", "evil.example:8888", "")]
    [True, True, True, False, False]
    """
    name, bracket, _ = host.removeprefix("[").partition("]")
    if not bracket:
        name = host.partition(":")[0]
    if name.lower() in ("localhost", *names):
        return True
    try:
        return bool(ipaddress.ip_address(name))
    except ValueError:
        return False
