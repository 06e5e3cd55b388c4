"""The configuration of an HTTP extender, as a Policy has it.

Upstream: ExtenderConfig in pkg/scheduler/api/v1/types.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

import attrs

from ..api.meaning import LABEL_WORDS, LabelWords, duration, is_valid_label_key
from ..api.reading import ReadBy, Reader, Table, entries, flag, list_of, record, table_of, whole, without_user
from ..core.pods import is_extended_resource
from ..core.release import Release

NANOSECONDS = 10**9
DEFAULT_TIMEOUT = 5.0
V = TypeVar("V")


def _timeout(value: Any) -> float:
    return duration(value) or DEFAULT_TIMEOUT


@attrs.frozen
class ManagedResource:
    """An extended resource that an extender manages."""

    name: str = ""
    ignored_by_scheduler: bool = False
    """PodFitsResources leaves it to the extender."""


@attrs.frozen
class TlsConfig:
    """HTTPS settings for an extender: files, or their contents, which have priority."""

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
    tls: TlsConfig | None = attrs.field(default=None, metadata={"name": "tlsConfig"})
    timeout: Annotated[float, ReadBy(_timeout)] = attrs.field(
        default=DEFAULT_TIMEOUT, metadata={"name": "httpTimeout"}
    )
    """Seconds."""
    node_cache_capable: bool = False
    """Names of nodes are sent, not nodes."""
    managed_resources: tuple[ManagedResource, ...] = ()
    """The resources that make the extender interested in a pod that requests one; empty: it is interested in
    every pod."""
    ignorable: bool = False
    """A call that fails is ignored."""

    @property
    def name(self) -> str:
        """Its name in texts: the address without user and password."""
        return without_user(self.url_prefix)


class UncalledExtender(ExtenderConfig):
    """A configured extender that nothing says to call: its answers would not count."""

    __slots__ = ()

    @classmethod
    def of(cls, config: ExtenderConfig) -> UncalledExtender:
        """The same extender, uncalled."""
        return cls(**attrs.asdict(config, recurse=False))


# --- reading ------------------------------------------------------------------------------------------------


def _seconds(value: Any) -> float:
    # Upstream: a duration is a whole number of nanoseconds, and 0 means five seconds.
    return whole(value) / NANOSECONDS or DEFAULT_TIMEOUT


def _any_case(kind: Callable[..., V], changes: Table = MappingProxyType({})) -> Reader[V]:
    """A reader for objects whose keys may be written in any case; *changes*: fields that are not read as the
    class says."""
    # Upstream: only objects of extenders are read in any case, as old Policies have BindVerb and the
    # capitalised fields of TLSConfig.
    table = {**table_of(kind), **changes}
    spelling_by_name = {name.lower(): name for name in table}
    read_exact = record(kind, table)

    def read_any_case(value: Any) -> V:
        exact = {key: item for key, item in entries(value).items() if key in table}
        return read_exact(
            {spelling_by_name.get(str(key).lower(), key): item for key, item in entries(value).items()}
            | exact
        )

    return read_any_case


OF_POLICIES: Reader[tuple[ExtenderConfig, ...]] = list_of(
    _any_case(
        ExtenderConfig,
        {
            "enableHttps": ("enable_https", flag),
            "httpTimeout": ("timeout", _seconds),
            "tlsConfig": ("tls", _any_case(TlsConfig)),
            "managedResources": ("managed_resources", list_of(_any_case(ManagedResource), ManagedResource())),
        },
    ),
    ExtenderConfig(),
)
"""Reads the extenders of a Policy, where timeouts are in nanoseconds."""


# --- their faults -------------------------------------------------------------------------------------------


Fault = tuple[str, Any, str, str]
"""Path and value of a field, its fault, and the whole text for releases that do not name fields."""


def faults_of(extenders: Sequence[ExtenderConfig], words: LabelWords = LABEL_WORDS) -> Iterator[Fault]:
    """The faults that upstream's validation finds in *extenders*, in its words and order; *words* for labels."""
    names = set()
    for i, extender in enumerate(extenders):
        if extender.prioritize_verb and extender.weight <= 0:
            text = "have a positive weight applied to it"
            older_text = f"Priority for extender {extender.name} should {text}"
            yield f"extenders[{i}].weight", extender.weight, f"must {text}", older_text
        for j, resource in enumerate(extender.managed_resources):
            path = f"extenders[{i}].managedResources[{j}].name"
            name = resource.name
            for text in (wrong := is_valid_label_key(name, words)):
                yield path, name, text, text
            if not wrong and not is_extended_resource(name):
                text = "is an invalid extended resource name"
                yield path, name, text, f"{name} {text}"
            if name in names:
                text = "duplicate extender managed resource name"
                yield path, name, text, f"{text.capitalize()} {name}"
            names.add(name)
    binders = sum(bool(extender.bind_verb) for extender in extenders)
    if binders > 1:
        text = "only one extender can implement bind"
        yield (
            "extenders",
            f"found {binders} extenders implementing bind",
            text,
            f"{text.capitalize()}, found {binders}",
        )


def faults(extenders: Sequence[ExtenderConfig]) -> Iterator[str]:
    """The texts of releases that do not name fields."""
    return (text for *_, text in faults_of(extenders))


# --- what they mean for the algorithm -----------------------------------------------------------------------


def in_calling_order(extenders: Sequence[ExtenderConfig], release: Release) -> tuple[ExtenderConfig, ...]:
    """*extenders* in calling order: as written, or with ignorable ones last."""
    if release.ignorable_extenders_last:
        return tuple(sorted(extenders, key=lambda extender: extender.ignorable))
    return tuple(extenders)


def names_in_calling_order(extenders: Sequence[ExtenderConfig], release: Release) -> tuple[str, ...]:
    """The names of *extenders*, in that order."""
    return tuple(extender.name for extender in in_calling_order(extenders, release))


def ignored_resources(extenders: Sequence[ExtenderConfig]) -> frozenset[str]:
    """The resources that PodFitsResources leaves to extenders."""
    managed = (resource for extender in extenders for resource in extender.managed_resources)
    return frozenset(resource.name for resource in managed if resource.ignored_by_scheduler)
