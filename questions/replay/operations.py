"""Operations of a scenario: nodes and pods that it makes and deletes, churn, and waiting."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
from msgspec.structs import replace

from ...api.controlplane import with_defaults
from ...api.objects import (
    JsonObject,
    KubeObject,
    Map,
    Node,
    NodeStatus,
    ObjectMeta,
    OneOf,
    Pod,
    Quantity,
    strings,
)
from ...api.reading import (
    Document,
    Mismatch,
    Oddities,
    Table,
    decode,
    describe,
    entries,
    flag,
    list_of,
    one_of,
    read_documents,
    record,
    shown,
    text,
    whole,
)
from ...api.record import Names
from ...exceptions import ManifestError, did_you_mean
from .times import DURATION, parse_duration

# Upstream: test/integration/scheduler_perf, whose opcodes these are; deleteNodes is added.


DEFAULT_NODE = Node(
    metadata=ObjectMeta(name="node"),
    status=NodeStatus(
        allocatable=Map(
            {"cpu": Quantity.parse("4"), "memory": Quantity.parse("32Gi"), "pods": Quantity.parse("110")}
        )
    ),
)
MOST_OBJECTS = 10_000_000
"""The most objects that one operation can make, in all or per second."""
LONGEST = 100 * 365.25 * 86400
"""The most seconds that an operation can wait."""


@attrs.frozen(kw_only=True, repr=False)
class Operation:
    """One operation; which fields count depends on *opcode*. Times are virtual seconds."""

    opcode: str = ""
    count: int = 1
    names: Names = ()
    """Nodes by name; without names *count* random ones."""
    templates: tuple[KubeObject, ...] = ()
    namespace: str | None = None
    namespaces: Names = ()
    label_key: str = ""
    label_values: Names = ()
    """Values given to the nodes in turn; without values each node gets its own name."""
    interval: float = 0.0
    """Time between two pods, or two steps of churn; the length of a sleep."""
    per_second: float = 0.0
    """Pods a second on average, at random times (a Poisson process)."""
    run_time: float | None = None
    skip_wait: bool = False
    """Do not wait until all created pods are scheduled."""
    mode: str = "create"
    number: int = 0
    timeout: float = 1800.0


def nodes_of(operations: Iterable[Operation]) -> list[Node]:
    """The templates of the nodes that are created."""
    return [
        template for operation in operations for template in operation.templates if isinstance(template, Node)
    ]


def read_operations(
    documents: Iterable[Document], folder: Path, *, defaults: bool = True, odd: Oddities | None = None
) -> Iterator[Operation]:
    """The operations of a scenario: a list of them, or an object with ``workloadTemplate``,
    ``defaultPodTemplatePath``, ``params``.

    The paths of templates are relative to *folder*; *odd* collects fields that are not read. Raises
    :class:`~kubeclassic.exceptions.ManifestError`.
    """
    for document in documents:
        whole_file: JsonObject = (
            document.data if "workloadTemplate" in document.data else {"workloadTemplate": [document.data]}
        )
        params = whole_file.get("params") or {}
        path = whole_file.get("defaultPodTemplatePath")
        for name, value, kind, expected in (
            ("params", params, dict, "an object"),
            ("defaultPodTemplatePath", path or "", str, "a file"),
        ):
            if not isinstance(value, kind):
                raise ManifestError(f"{document.where}: {name}: expected {expected}, got {shown(value)}")
        settings = _Settings(folder, defaults, params, path, odd or Oddities())
        settings.odd.note_repeated(document.repeated, document.where)
        steps = whole_file["workloadTemplate"]
        if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
            raise ManifestError(
                f"{document.where}: workloadTemplate: expected a list of operations, got {shown(steps)}"
            )
        for number, step in enumerate(steps, 1):
            place = f", operation {number}" if "workloadTemplate" in document.data else ""
            yield settings.read(step, f"{document.where}{place}")


# --- fields -------------------------------------------------------------------------------------------------


def _count(value: Any) -> int:
    if whole(value) < 0:
        raise Mismatch(value, "0 or more")
    if value > MOST_OBJECTS:
        raise Mismatch(value, f"at most {MOST_OBJECTS:,}")
    return whole(value)


def _seconds(value: Any) -> float:
    seconds = parse_duration(value)
    if seconds is None:
        raise Mismatch(value, DURATION)
    if seconds > LONGEST:
        raise Mismatch(value, "at most 100 years")
    return seconds


def _rate(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= MOST_OBJECTS:
        raise Mismatch(value, f"a number above 0, up to {MOST_OBJECTS:,}")
    return float(value)


def _labelling(value: Any) -> dict[str, Any]:
    table: Table = {"labelKey": ("label_key", text), "labelValues": ("label_values", list_of(text, ""))}
    labels: dict[str, Any] = record(dict, table)(value)
    if not labels.get("label_key"):
        raise Mismatch(None, "the key of a label").under("labelKey")
    return labels


_INLINE = ("nodeTemplate", "podTemplate", "template", "templates")
_PATHS = ("nodeTemplatePath", "podTemplatePath", "templatePath", "templatePaths")
_COUNT: Table = {"count": ("count", _count), "countParam": ("count", _count)}
_NAMES: Table = {"names": ("names", list_of(text)), **_COUNT}
_WAIT: Table = {"skipWaitToCompletion": ("skip_wait", flag), "timeout": ("timeout", _seconds)}
FIELDS: Mapping[str, Table] = {
    "createNodes": {
        **_NAMES,
        "labelNodePrepareStrategy": ("", _labelling),
        "uniqueNodeLabelStrategy": ("", _labelling),
    },
    "createPods": {
        **_COUNT,
        "namespace": ("namespace", text),
        "interval": ("interval", _seconds),
        "perSecond": ("per_second", _rate),
        "runTime": ("run_time", _seconds),
        "collectMetrics": ("", lambda value: {}),
        **_WAIT,
    },
    "createAny": {"namespace": ("namespace", text), **_COUNT},
    "churn": {
        "mode": ("mode", one_of(OneOf("create", "recreate"))),
        "number": ("number", _count),
        "interval": ("interval", _seconds),
        "intervalMilliseconds": ("interval", lambda value: _count(value) / 1000),
        "namespace": ("namespace", text),
        "runTime": ("run_time", _seconds),
    },
    "sleep": {"duration": ("interval", _seconds), "durationParam": ("interval", _seconds)},
    "barrier": {"namespaces": ("namespaces", list_of(text)), **_WAIT},
    "deletePods": {"namespace": ("namespace", text)},
    "deleteNodes": _NAMES,
}
"""Opcode -> its fields."""
_NEEDED = {
    "createNodes": ("count", "countParam"),
    "createPods": ("count", "countParam"),
    "sleep": ("duration", "durationParam"),
}
_WITH_TEMPLATES = {"createNodes": Node, "createPods": Pod, "createAny": KubeObject, "churn": KubeObject}


# --- reading ------------------------------------------------------------------------------------------------


@attrs.frozen(repr=False)
class _Settings:
    folder: Path
    defaults: bool
    params: JsonObject
    default_pods: str | None
    odd: Oddities

    def read(self, step: JsonObject, where: str) -> Operation:
        """One operation."""
        opcode = step.get("opcode")
        if not isinstance(opcode, str) or opcode not in FIELDS:
            hint = did_you_mean(opcode, FIELDS) if isinstance(opcode, str) else ""
            raise ManifestError(
                f"{where}: opcode: expected one of {', '.join(FIELDS)}, got {shown(opcode)}{hint}"
            )
        table = FIELDS[opcode]
        where = f"{where} ({opcode})"
        allowed = {*table, "opcode", *((*_INLINE, *_PATHS) if opcode in _WITH_TEMPLATES else ())}
        if unknown := [name for name in step if name not in allowed]:
            raise ManifestError(
                f"{where}: {unknown[0]}: got an unknown field{did_you_mean(unknown[0], allowed)}"
            )
        if opcode in _NEEDED and not any(name in step for name in _NEEDED[opcode]):
            raise ManifestError(f"{where}: {_NEEDED[opcode][0]}: expected a value, got nothing")
        try:
            operation = record(Operation, table)(
                {name: self._value(value) for name, value in step.items() if name in table}
            )
        except Mismatch as mismatch:
            raise ManifestError(f"{where}: {mismatch}") from None
        return attrs.evolve(operation, opcode=opcode, templates=tuple(self._templates(opcode, step, where)))

    def _value(self, value: Any) -> Any:
        """The value, or that of the parameter ``name`` for ``$name``."""
        if not isinstance(value, str) or not value.startswith("$"):
            return value
        if value[1:] not in self.params:
            raise Mismatch(value, f"a parameter that params gives{did_you_mean(value[1:], self.params)}")
        return self.params[value[1:]]

    def _templates(self, opcode: str, step: JsonObject, where: str) -> Iterator[KubeObject]:
        kind = _WITH_TEMPLATES.get(opcode)
        if kind is None:
            return
        kinds = {"nodeTemplate": "Node", "podTemplate": "Pod"}
        templates = []
        for name in _INLINE:
            inline = step.get(name)
            for template in inline if isinstance(inline, list) else [] if inline is None else [inline]:
                try:
                    document = {"kind": kinds.get(name), **entries(template)}
                except Mismatch as mismatch:
                    raise ManifestError(f"{where}: {name}: {mismatch}") from None
                templates.append(self._decoded(document, f"{where}: {name}"))
        more = step.get("templatePaths") or []
        paths = [step[name] for name in _PATHS[:-1] if step.get(name) is not None]
        paths += more if isinstance(more, list) else [more]
        if opcode == "createPods" and not paths and self.default_pods and "podTemplate" not in step:
            paths = [self.default_pods]
        for path in paths:
            if not isinstance(path, str):
                raise ManifestError(f"{where}: templatePath: expected a file, got {shown(path)}")
            # A scenario may be one that others wrote, so it reads no file outside of its folder.
            file = self.folder / path
            folder = os.path.realpath(self.folder)
            if "\0" in path or not os.path.realpath(file).startswith(os.path.join(folder, "")):
                raise ManifestError(
                    f"{where}: templatePath: expected a file below the folder of the scenario, got {shown(path)}"
                )
            for template_document in read_documents([file]):
                self.odd.note_repeated(template_document.repeated, template_document.where)
                templates.append(self._decoded(template_document.data, template_document.where))
        if not templates and kind is Node:
            templates = [DEFAULT_NODE]
        if not templates or (kind is not KubeObject and len(templates) != 1):
            raise ManifestError(
                f"{where}: template: expected {'some' if kind is KubeObject else 'one'}, got {len(templates) or 'nothing'}"
            )
        for item in templates:
            if not issubclass(type(item), kind):
                raise ManifestError(f"{where}: template: expected a {kind.__name__}, got a {item.kind}")
            yield with_defaults(item) if self.defaults else item

    def _decoded(self, document: JsonObject, where: str) -> KubeObject:
        place = f"{where} ({describe(document)})"
        item = decode(document, place)
        if item is None:
            raise ManifestError(
                f"{where}: kind: expected a kind that scheduling reads, got {shown(document.get('kind'))}"
            )
        self.odd.note_unknown(item.kind, document, place)
        prefix = (document.get("metadata") or {}).get("generateName")
        if item.name or not isinstance(prefix, str):
            return item
        return replace(item, metadata=replace(item.metadata, name=prefix.rstrip("-.")))


def renamed(template: KubeObject, name: str, namespace: str | None) -> KubeObject:
    """An object made from *template*, called *name*."""
    metadata = replace(template.metadata, name=name, namespace=namespace or template.metadata.namespace)
    if isinstance(template, Node):
        metadata = replace(metadata, labels=strings({**metadata.labels, "kubernetes.io/hostname": name}))
    return replace(template, metadata=metadata)
