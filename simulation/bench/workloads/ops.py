"""The operations of a workload, read from their fields. Upstream: the op types of test/integration/scheduler_perf/scheduler_perf_test.go"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from ....api.meaning.durations import parse_duration
from ....api.reading.fields import shown
from ....exceptions import ManifestError, did_you_mean
from .fields import Fields, Params

CHURN_MILLISECONDS = 500
MODES = ("recreate", "create")
STRATEGIES = ("nodeAllocatableStrategy", "labelNodePrepareStrategy", "uniqueNodeLabelStrategy")


@attrs.frozen(kw_only=True)
class CreateNodes:
    """Nodes of a template; at most one strategy prepares them."""

    where: str
    count: int
    template: str | None
    label_key: str | None = None
    label_values: Sequence[str] = ()
    """The values that nodes get in turn; none: each its own."""
    allocatable: Mapping[str, Any] = attrs.field(factory=dict)
    csi_drivers: Mapping[str, Any] = attrs.field(factory=dict)
    """CSI driver -> what its CSINode has of it as ``allocatable``."""
    migrated_plugins: Sequence[str] = ()
    has_csi_nodes: bool = False
    """Each node has a CSINode."""


@attrs.frozen(kw_only=True)
class CreateNamespaces:
    """Namespaces ``prefix-0``, ``prefix-1`` and so on."""

    where: str
    count: int
    prefix: str
    template: str | None


@attrs.frozen(kw_only=True)
class CreatePods:
    """Pods of a template to schedule, each with a bound volume of its own if there is a template of volumes."""

    where: str
    count: int
    is_measured: bool
    waits: bool
    namespace: str | None
    template: str | None
    volume_template: str | None
    claim_template: str | None


@attrs.frozen(kw_only=True)
class Churn:
    """Objects that are made, and deleted again with mode recreate, in the background from now on."""

    where: str
    recreates: bool
    number: int
    """recreate: objects of a template at a time; create: objects of a template in all, 0 for any number."""
    milliseconds: int
    namespace: str | None
    templates: Sequence[str]


@attrs.frozen(kw_only=True)
class Barrier:
    """Waits until all pods of some namespaces, or of all, were decided."""

    where: str
    namespaces: Sequence[str]


@attrs.frozen(kw_only=True)
class Sleep:
    """Lets virtual time pass."""

    where: str
    milliseconds: int


Op: TypeAlias = CreateNodes | CreateNamespaces | CreatePods | Churn | Barrier | Sleep


def read_op(value: Any, where: str, params: Params) -> list[Op]:
    """The operation at *where*, with the parameters of a workload in place. One of createPodSets is one of createPods for each namespace.

    Raises :class:`~kubeclassic.exceptions.ManifestError` for what is not known.
    """
    code = value.get("opcode") if isinstance(value, Mapping) else None
    if not isinstance(code, str) or code not in OPS:
        raise ManifestError(f"{where}.opcode: got {shown(code)}, wanted {', '.join(OPS)}{did_you_mean(str(code), OPS)}")
    known, read = OPS[code]
    return read(Fields.of(value, where, ("opcode", *known)), params)


def _nodes(fields: Fields, params: Params) -> list[Op]:
    given = [name for name in STRATEGIES if fields.data.get(name) is not None]
    if len(given) > 1:
        fields.refuse(given[1], f"it absent beside {given[0]}")
    prepared = _STRATEGIES[given[0]](fields) if given else {}
    return [CreateNodes(where=fields.where, count=fields.count(params), template=fields.text("nodeTemplatePath"), **prepared)]


def _labelled(fields: Fields) -> dict[str, Any]:
    inner = Fields.of(fields.data[STRATEGIES[1]], f"{fields.where}.{STRATEGIES[1]}", ("labelKey", "labelValues", "labelValue"))
    values = inner.texts("labelValues") or tuple(filter(None, [inner.text("labelValue")]))
    return {"label_key": inner.needed("labelKey"), "label_values": values or inner.refuse("labelValues", "a list of texts")}


def _unique(fields: Fields) -> dict[str, Any]:
    inner = Fields.of(fields.data[STRATEGIES[2]], f"{fields.where}.{STRATEGIES[2]}", ("labelKey",))
    return {"label_key": inner.needed("labelKey")}


def _allocatable(fields: Fields) -> dict[str, Any]:
    known = ("nodeAllocatable", "csiNodeAllocatable", "migratedPlugins")
    inner = Fields.of(fields.data[STRATEGIES[0]], f"{fields.where}.{STRATEGIES[0]}", known)
    drivers, plugins = inner.mapping("csiNodeAllocatable"), inner.texts("migratedPlugins")
    return {"allocatable": inner.mapping("nodeAllocatable"), "csi_drivers": drivers, "migrated_plugins": plugins, "has_csi_nodes": True}


_STRATEGIES = dict(zip(STRATEGIES, (_allocatable, _labelled, _unique), strict=True))


def _namespaces(fields: Fields, params: Params) -> list[Op]:
    template = fields.text("namespaceTemplatePath")
    return [CreateNamespaces(where=fields.where, count=fields.count(params), prefix=fields.needed("prefix"), template=template)]


def _pods(fields: Fields, params: Params, namespace: str | None = None) -> list[Op]:
    measured, skips = fields.flag("collectMetrics"), fields.flag("skipWaitToCompletion")
    if measured and skips:
        fields.refuse("skipWaitToCompletion", "it absent beside collectMetrics")
    volume, claim = fields.text("persistentVolumeTemplatePath"), fields.text("persistentVolumeClaimTemplatePath")
    if (volume is None) != (claim is None):
        fields.refuse("persistentVolumeClaimTemplatePath", "it beside persistentVolumeTemplatePath, or neither")
    return [CreatePods(
        where=fields.where, count=fields.count(params), is_measured=measured, waits=not skips, template=fields.text("podTemplatePath"),
        namespace=namespace or fields.text("namespace"), volume_template=volume, claim_template=claim,
    )]  # fmt: skip


def _pod_sets(fields: Fields, params: Params) -> list[Op]:
    inner, prefix = f"{fields.where}.createPodsOp", fields.needed("namespacePrefix")
    value = Fields.of(fields.data.get("createPodsOp"), inner, ("opcode", *OPS["createPods"][0]))
    if value.text("opcode") != "createPods":
        value.refuse("opcode", "createPods")
    return [op for number in range(fields.count(params)) for op in _pods(value, params, f"{prefix}-{number}")]


def _churn(fields: Fields, params: Params) -> list[Op]:
    mode, number = fields.text("mode"), fields.whole("number")
    if mode not in MODES:
        fields.refuse("mode", " or ".join(MODES))
    if mode == MODES[0] and not number:
        fields.refuse("number", "1 or more with mode recreate")
    return [Churn(
        where=fields.where, recreates=mode == MODES[0], number=number, namespace=fields.text("namespace"),
        milliseconds=fields.whole("intervalMilliseconds") or CHURN_MILLISECONDS,
        templates=fields.texts("templatePaths") or fields.refuse("templatePaths", "at least one template"),
    )]  # fmt: skip


def _barrier(fields: Fields, params: Params) -> list[Op]:
    return [Barrier(where=fields.where, namespaces=fields.texts("namespaces"))]


def _sleep(fields: Fields, params: Params) -> list[Op]:
    given = fields.param("durationParam", params)
    seconds = parse_duration(str(fields.text("duration") if given is None else given))
    if seconds is None:
        fields.refuse("duration" if given is None else "durationParam", "a duration such as 1m30s")
    return [Sleep(where=fields.where, milliseconds=round(1000 * seconds))]


_COUNT = ("count", "countParam")
OPS: Mapping[str, tuple[Sequence[str], Callable[[Fields, Params], list[Op]]]] = {
    "createNodes": ((*_COUNT, "nodeTemplatePath", *STRATEGIES), _nodes),
    "createNamespaces": ((*_COUNT, "prefix", "namespaceTemplatePath"), _namespaces),
    "createPods": (
        (*_COUNT, "collectMetrics", "namespace", "podTemplatePath", "skipWaitToCompletion", "persistentVolumeTemplatePath",
         "persistentVolumeClaimTemplatePath"),
        _pods,
    ),
    "createPodSets": ((*_COUNT, "namespacePrefix", "createPodsOp"), _pod_sets),
    "churn": (("mode", "number", "intervalMilliseconds", "namespace", "templatePaths"), _churn),
    "barrier": (("namespaces",), _barrier),
    "sleep": (("duration", "durationParam"), _sleep),
}  # fmt: skip
"""Opcode -> its fields besides ``opcode``, and how it is read."""
