"""The extenders of a KubeSchedulerConfiguration. Upstream: pkg/scheduler/apis/config/types.go Extender."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ...algorithmprovider.extenders import CALLS, DEFAULT_TIMEOUT, RESOURCE, TLS_FILES, ExtenderConfig, ManagedResource, TlsConfig
from ...api.meaning.label_syntax import is_valid_label_key
from ...api.reading.fields import Mismatch, Reader, flag, list_of, record, text
from ...core.pods.requests import is_extended_resource
from .fielderrors import invalid

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|ms|s|m|h)")


def duration(value: Any) -> float:
    """A duration such as ``1m30s`` in seconds; 0 stands for five."""
    written = text(value)
    found = _DURATION.findall(written)
    if written != "0" and "".join(f"{number}{unit}" for number, unit in found) != written:
        raise Mismatch(value, "a duration such as 5s or 1m30s")
    return sum(float(number) * _UNITS[unit] for number, unit in found) or DEFAULT_TIMEOUT


extender_config: Reader[ExtenderConfig] = record(
    ExtenderConfig,
    {
        **CALLS,
        "enableHTTPS": ("enable_https", flag),
        "tlsConfig": ("tls", record(TlsConfig, TLS_FILES)),
        "httpTimeout": ("timeout", duration),
        "managedResources": ("managed_resources", list_of(record(ManagedResource, RESOURCE), ManagedResource())),
    },
)
"""Reads one item of ``extenders``."""


def extender_faults(extenders: Sequence[ExtenderConfig]) -> Iterator[str]:
    """What upstream's validation has against *extenders*, in its words and order."""
    seen: set[str] = set()
    for i, extender in enumerate(extenders):
        if extender.prioritize_verb and extender.weight <= 0:
            yield invalid(f"extenders[{i}].weight", extender.weight, "must have a positive weight applied to it")
        for j, resource in enumerate(extender.managed_resources):
            path = f"extenders[{i}].managedResources[{j}].name"
            yield from _name_faults(resource.name, path)
            if resource.name in seen:
                yield invalid(path, resource.name, "duplicate extender managed resource name")
            seen.add(resource.name)
    binders = sum(bool(extender.bind_verb) for extender in extenders)
    if binders > 1:
        yield invalid("extenders", f"found {binders} extenders implementing bind", "only one extender can implement bind")


def _name_faults(name: str, path: str) -> Iterator[str]:
    if faults := is_valid_label_key(name):
        yield from (invalid(path, name, fault) for fault in faults)
    elif not is_extended_resource(name):
        yield invalid(path, name, "is an invalid extended resource name")
