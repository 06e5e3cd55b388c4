"""The extenders of a Policy, in the JSON form of a KubeSchedulerConfiguration."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from ...algorithmprovider.extenders import NANOSECONDS, ExtenderConfig, TlsConfig
from .notes import Note

_UNITS = ((NANOSECONDS, "s"), (NANOSECONDS // 1000, "ms"), (NANOSECONDS // 10**6, "us"), (1, "ns"))


def extender_documents(extenders: Sequence[ExtenderConfig], weights: Sequence[int]) -> tuple[list[dict[str, Any]], list[Note]]:
    """*extenders* with these *weights* as items of ``extenders``; and notes on what could not be kept."""
    notes = [
        Note(f"extender {extender.url_prefix}", f"httpTimeout {extender.timeout:g} s is left out, so it is 5 s: it has to be above 0")
        for extender in extenders
        if extender.timeout <= 0
    ]
    return [_document(extender, weight) for extender, weight in zip(extenders, weights, strict=True)], notes


def _document(extender: ExtenderConfig, weight: int) -> dict[str, Any]:
    managed = [
        {"name": resource.name, **({"ignoredByScheduler": True} if resource.ignored_by_scheduler else {})}
        for resource in extender.managed_resources
    ]
    found: dict[str, Any] = {
        "urlPrefix": extender.url_prefix,
        "filterVerb": extender.filter_verb,
        "preemptVerb": extender.preempt_verb,
        "prioritizeVerb": extender.prioritize_verb,
        "weight": weight,
        "bindVerb": extender.bind_verb,
        "enableHTTPS": extender.enable_https,
        "tlsConfig": {} if extender.tls is None else _tls(extender.tls),
        "httpTimeout": duration_text(extender.timeout),
        "nodeCacheCapable": extender.node_cache_capable,
        "managedResources": managed,
        "ignorable": extender.ignorable,
    }
    return {field: value for field, value in found.items() if value}


def _tls(tls: TlsConfig) -> dict[str, Any]:
    found: dict[str, Any] = {
        "insecure": tls.insecure,
        "serverName": tls.server_name,
        "certFile": tls.cert_file,
        "keyFile": tls.key_file,
        "caFile": tls.ca_file,
        "certData": base64.b64encode(tls.cert_data).decode(),
        "keyData": base64.b64encode(tls.key_data).decode(),
        "caData": base64.b64encode(tls.ca_data).decode(),
    }
    return {field: value for field, value in found.items() if value}


def duration_text(seconds: float) -> str:
    """*seconds* as a duration such as ``2s`` or ``1500ms``; empty for 0 and less."""
    nanoseconds = round(seconds * NANOSECONDS)
    if nanoseconds <= 0:
        return ""
    return next(f"{nanoseconds // size}{unit}" for size, unit in _UNITS if nanoseconds % size == 0)
