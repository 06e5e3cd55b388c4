"""The extenders of a Policy, in the JSON form of a KubeSchedulerConfiguration."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Annotated

from ...algorithmprovider.extenders import NANOSECONDS, ExtenderConfig, TlsConfig
from ...api.record import UNSET, Record, UnsetType, field, plain, says
from .equivalents import Note

_UNITS = ((NANOSECONDS, "s"), (NANOSECONDS // 1000, "ms"), (NANOSECONDS // 10**6, "us"), (1, "ns"))


class WrittenResource(Record):
    """A resource that an extender manages."""

    name: str
    ignored_by_scheduler: bool | UnsetType = UNSET


class WrittenTls(Record):
    """As Kubernetes has it; data is in base64."""

    insecure: bool | UnsetType = UNSET
    server_name: str | UnsetType = UNSET
    cert_file: str | UnsetType = UNSET
    key_file: str | UnsetType = UNSET
    ca_file: str | UnsetType = UNSET
    cert_data: str | UnsetType = UNSET
    key_data: str | UnsetType = UNSET
    ca_data: str | UnsetType = UNSET


class WrittenExtender(Record, kw_only=True):
    """An extender; what is not set is left out."""

    url_prefix: str | UnsetType = UNSET
    filter_verb: str | UnsetType = UNSET
    preempt_verb: str | UnsetType = UNSET
    prioritize_verb: str | UnsetType = UNSET
    weight: int | UnsetType = UNSET
    bind_verb: str | UnsetType = UNSET
    enable_https: bool | UnsetType = field(default=UNSET, name="enableHTTPS")
    tls_config: WrittenTls | UnsetType = UNSET
    http_timeout: Annotated[str | UnsetType, says("A duration such as 2s or 1500ms.")] = UNSET
    node_cache_capable: bool | UnsetType = UNSET
    managed_resources: tuple[WrittenResource, ...] | UnsetType = UNSET
    ignorable: bool | UnsetType = UNSET


def written_extenders(extenders: Sequence[ExtenderConfig], weights: Sequence[int]) -> tuple[list[WrittenExtender], list[Note]]:
    """*extenders* with these *weights* as items of ``extenders``; and notes on what could not be kept."""
    notes = [
        Note(f"extender {extender.url_prefix}", f"httpTimeout {extender.timeout:g} s is left out, so it is 5 s: it has to be above 0")
        for extender in extenders
        if extender.timeout <= 0
    ]
    return [_written(extender, weight) for extender, weight in zip(extenders, weights, strict=True)], notes


def _written(extender: ExtenderConfig, weight: int) -> WrittenExtender:
    managed = tuple(WrittenResource(one.name, one.ignored_by_scheduler or UNSET) for one in extender.managed_resources)
    return WrittenExtender(
        url_prefix=extender.url_prefix or UNSET, filter_verb=extender.filter_verb or UNSET, preempt_verb=extender.preempt_verb or UNSET,
        prioritize_verb=extender.prioritize_verb or UNSET, weight=weight or UNSET, bind_verb=extender.bind_verb or UNSET,
        enable_https=extender.enable_https or UNSET, tls_config=UNSET if extender.tls is None else _tls(extender.tls),
        http_timeout=duration_text(extender.timeout) or UNSET, node_cache_capable=extender.node_cache_capable or UNSET,
        managed_resources=managed or UNSET, ignorable=extender.ignorable or UNSET,
    )  # fmt: skip


def _tls(tls: TlsConfig) -> WrittenTls | UnsetType:
    data = (base64.b64encode(part).decode() or UNSET for part in (tls.cert_data, tls.key_data, tls.ca_data))
    files = (tls.server_name or UNSET, tls.cert_file or UNSET, tls.key_file or UNSET, tls.ca_file or UNSET)
    found = WrittenTls(tls.insecure or UNSET, *files, *data)
    return found if plain(found) else UNSET


def duration_text(seconds: float) -> str:
    """*seconds* as a duration such as ``2s`` or ``1500ms``; empty for 0 and less."""
    nanoseconds = round(seconds * NANOSECONDS)
    if nanoseconds <= 0:
        return ""
    return next(f"{nanoseconds // size}{unit}" for size, unit in _UNITS if nanoseconds % size == 0)
