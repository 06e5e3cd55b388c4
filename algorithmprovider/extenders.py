"""The configuration of an HTTP extender, as a Policy has it.

Upstream: ExtenderConfig in pkg/scheduler/api/v1/types.go.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from ..api.meaning.label_syntax import is_valid_label_key
from ..api.reading.fields import Mismatch, Reader, Table, V, entries, flag, list_of, record, text, whole
from ..core.pods.requests import is_extended_resource

NANOSECONDS = 10**9
DEFAULT_TIMEOUT = 5.0


@attrs.frozen
class ManagedResource:
    """An extended resource that an extender manages."""

    name: str = ""
    ignored_by_scheduler: bool = False
    """PodFitsResources leaves it to the extender."""


@attrs.frozen
class TlsConfig:
    """How to use HTTPS with an extender: files, or their contents, which have priority."""

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: bytes = b""
    key_data: bytes = attrs.field(default=b"", repr=False)
    ca_data: bytes = b""


@attrs.frozen
class ExtenderConfig:
    """One extender: its address and its verbs; an empty verb is a call that it does not support."""

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: int = 0
    bind_verb: str = ""
    enable_https: bool = False
    tls: TlsConfig | None = None
    timeout: float = DEFAULT_TIMEOUT
    """Seconds."""
    node_cache_capable: bool = False
    """Names of nodes are sent, not nodes."""
    managed_resources: tuple[ManagedResource, ...] = ()
    """It is interested in pods that ask for one of these; with none given, in every pod."""
    ignorable: bool = False
    """A call that fails is ignored."""


# --- reading --------------------------------------------------------------------------------------------------------


def _seconds(value: Any) -> float:
    # Upstream: a duration is a whole number of nanoseconds, and 0 stands for five seconds.
    return whole(value) / NANOSECONDS or DEFAULT_TIMEOUT


def _bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(text(value), validate=True)
    except binascii.Error:
        raise Mismatch(value, "bytes in base64") from None


def _any_case(read: Reader[V], table: Table) -> Reader[V]:
    """*read*, for an object whose keys may be written in any case."""
    # Upstream: only objects of extenders are read so, as old Policies have BindVerb and the capitalised fields of TLSConfig.
    spelled = {name.lower(): name for name in table}

    def read_any_case(value: Any) -> V:
        exact = {key: item for key, item in entries(value).items() if key in table}
        return read({spelled.get(str(key).lower(), key): item for key, item in entries(value).items()} | exact)

    return read_any_case


RESOURCE: Table = {"name": ("name", text), "ignoredByScheduler": ("ignored_by_scheduler", flag)}
TLS_FILES: Table = {
    "insecure": ("insecure", flag),
    "serverName": ("server_name", text),
    "certFile": ("cert_file", text),
    "keyFile": ("key_file", text),
    "caFile": ("ca_file", text),
}
_TLS: Table = {
    **TLS_FILES,
    "certData": ("cert_data", _bytes),
    "keyData": ("key_data", _bytes),
    "caData": ("ca_data", _bytes),
}
CALLS: Table = {
    "urlPrefix": ("url_prefix", text),
    "filterVerb": ("filter_verb", text),
    "preemptVerb": ("preempt_verb", text),
    "prioritizeVerb": ("prioritize_verb", text),
    "weight": ("weight", whole),
    "bindVerb": ("bind_verb", text),
    "nodeCacheCapable": ("node_cache_capable", flag),
    "ignorable": ("ignorable", flag),
}
"""The fields that have the same names in every file that configures extenders."""
_EXTENDER: Table = {
    **CALLS,
    "enableHttps": ("enable_https", flag),
    "tlsConfig": ("tls", _any_case(record(TlsConfig, _TLS), _TLS)),
    "httpTimeout": ("timeout", _seconds),
    "managedResources": ("managed_resources", list_of(_any_case(record(ManagedResource, RESOURCE), RESOURCE), ManagedResource())),
}
extender_config: Reader[ExtenderConfig] = _any_case(record(ExtenderConfig, _EXTENDER), _EXTENDER)
"""Reads an object of a Policy's ``extenders``."""


# --- what is wrong with them ----------------------------------------------------------------------------------------


def faults(extenders: Sequence[ExtenderConfig]) -> Iterator[str]:
    """The errors of upstream's validation of *extenders*, in its words and order."""
    seen: set[str] = set()
    for extender in extenders:
        if extender.prioritize_verb and extender.weight <= 0:
            yield f"Priority for extender {extender.url_prefix} should have a positive weight applied to it"
        for resource in extender.managed_resources:
            yield from _faults_of_name(resource.name)
            if resource.name in seen:
                yield f"Duplicate extender managed resource name {resource.name}"
            seen.add(resource.name)
    binders = sum(1 for extender in extenders if extender.bind_verb)
    if binders > 1:
        yield f"Only one extender can implement bind, found {binders}"


def _faults_of_name(name: str) -> Iterator[str]:
    wrong = is_valid_label_key(name)
    yield from wrong
    if not wrong and not is_extended_resource(name):
        yield f"{name} is an invalid extended resource name"


# --- what they mean for the algorithm -------------------------------------------------------------------------------


def in_calling_order(extenders: Sequence[ExtenderConfig], ignorable_last: bool) -> tuple[ExtenderConfig, ...]:
    """*extenders* in calling order: as written, or with those that may be ignored last."""
    return tuple(sorted(extenders, key=lambda extender: extender.ignorable)) if ignorable_last else tuple(extenders)


def ignored_resources(extenders: Sequence[ExtenderConfig]) -> frozenset[str]:
    """The resources that PodFitsResources leaves to extenders."""
    managed = (resource for extender in extenders for resource in extender.managed_resources)
    return frozenset(resource.name for resource in managed if resource.ignored_by_scheduler)
