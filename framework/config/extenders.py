"""The extenders of a KubeSchedulerConfiguration. Upstream: pkg/scheduler/apis/config/types.go Extender."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...algorithmprovider.extenders import DEFAULT_TIMEOUT, ExtenderConfig
from ...api.meaning.durations import duration
from ...api.meaning.label_syntax import is_valid_label_key
from ...api.reading.derive import Field
from ...core.pods.requests import is_extended_resource
from .fielderrors import invalid

EXTENDER = {"tls": Field("tlsConfig"), "timeout": Field("httpTimeout", read=lambda value: duration(value) or DEFAULT_TIMEOUT)}
"""How an item of ``extenders`` differs from :class:`~kubeclassic.algorithmprovider.extenders.ExtenderConfig`."""


def extender_faults(extenders: Sequence[ExtenderConfig]) -> Iterator[str]:
    """The faults that upstream's validation finds in *extenders*, with its texts and in its order."""
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
