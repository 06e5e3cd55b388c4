"""Secrets in Policies, profiles and kubeconfigs, left out of every output and message."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "(hidden)"
SECRET = frozenset(
    {
        "certdata",
        "keydata",
        "clientcertificatedata",
        "clientkeydata",
        "token",
        "password",
        "idtoken",
        "refreshtoken",
        "clientsecret",
    }
)
"""Fields with credentials, in small letters and without dashes. Those of authorities (``caData``) are
public."""
ADDRESSES = frozenset({"urlprefix", "server", "proxyurl"})
_HOST = re.compile(r"([^@:\[\]]*|\[[^@\]]*\])(:\d*)?")


def without_secrets(value: Any, field: str = "") -> Any:
    """*value*, the JSON form of a document or what its *field* has, with :data:`HIDDEN` in place of
    credentials."""
    name = re.sub("[-_]", "", field).lower()
    if value is None or name in SECRET:
        return value and HIDDEN
    if isinstance(value, Mapping):
        return {key: without_secrets(inner, str(key)) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        if name == "env":  # of a program that fetches credentials
            return [{**item, "value": HIDDEN} if isinstance(item, Mapping) else HIDDEN for item in value]
        return [without_secrets(item) for item in value]
    return without_user(value) if name in ADDRESSES and isinstance(value, str) else value


def without_user(url: str) -> str:
    """*url* with :data:`HIDDEN` in place of user and password or, if it is invalid, of what may be these.

    >>> without_user("https://user:word@host:9/x"), without_user("http://[::1]:9/a@b"), without_user("https://u:wo/rd@host")
    ('https://(hidden)@host:9/x', 'http://[::1]:9/a@b', 'https://(hidden)@host')
    >>> without_user("http://user:word:9"), without_user("https%//u:word@host"), without_user("")
    ('http://(hidden)', '(hidden)@host', '')
    """
    begin, separator, rest = url.partition("://") if "://" in url else ("", "", url)
    if separator and _HOST.fullmatch(re.split("[/?#]", rest, maxsplit=1)[0]):
        return url
    if "@" in rest:
        return f"{begin}{separator}{HIDDEN}@{rest.rpartition('@')[2]}"
    return f"{begin}{separator}{HIDDEN}" if rest.count(":") > 1 and "[" not in rest else url
