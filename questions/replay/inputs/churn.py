"""Scenarios: a cluster and its load as a list of operations, like those of scheduler_perf.

Upstream: test/integration/scheduler_perf, whose opcodes these are; deleteNodes is added.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
from msgspec.structs import replace

from ....api.controlplane.defaults import with_defaults
from ....api.objects import KubeObject, Map, Node, NodeStatus, ObjectMeta, Pod, strings
from ....api.objects.metadata import OneOf
from ....api.objects.quantity import Quantity
from ....api.reading.decode import decode, describe
from ....api.reading.documents import Document, read_documents
from ....api.reading.mismatch import Mismatch, shown
from ....api.reading.notices import Oddities
from ....api.reading.typed import Reader, Table, entries, flag, list_of, one_of, record, text, whole
from ....exceptions import ManifestError, did_you_mean
from .times import DURATION, parse_duration

DEFAULT_NODE = Node(
    metadata=ObjectMeta(name="node"),
    status=NodeStatus(
        allocatable=Map(
            {"cpu": Quantity.parse("4"), "memory": Quantity.parse("32Gi"), "pods": Quantity.parse("110")}
        )
    ),
)
MOST_OBJECTS = 10_000_000
"""How many objects one operation can make, in all or a second."""
LONGEST = 100 * 365.25 * 86400
"""Seconds that an operation can wait."""


@attrs.frozen(kw_only=True, repr=False)
class Operation:
    """One operation; which fields count depends on *opcode*. Times are virtual seconds."""

    opcode: str = ""
    count: int = 1
    names: tuple[str, ...] = ()
    """Nodes by name; without names *count* random ones."""
    templates: tuple[KubeObject, ...] = ()
    namespace: str | None = None
    namespaces: tuple[str, ...] = ()
    label_key: str = ""
    label_values: tuple[str, ...] = ()
    """Given to the nodes in turn; without values each node gets its own name."""
    interval: float = 0.0
    """Between two pods, or two steps of churn."""
    per_second: float = 0.0
    """Pods a second on average, at random times (a Poisson process)."""
    run_time: float | None = None
    skip_wait: bool = False
    """Do not wait until all created pods are scheduled."""
    mode: str = "create"
    number: int = 0
    timeout: float = 1800.0


def is_operation(data: Mapping[str, Any]) -> bool:
    """Whether a document is (part of) a scenario."""
    return "kind" not in data and any(word in data for word in ("opcode", "workloadTemplate"))


def nodes_of(operations: Iterable[Operation]) -> list[Node]:
    """The templates of the nodes that are created."""
    return [found for operation in operations for found in operation.templates if isinstance(found, Node)]


def read_operations(
    documents: Iterable[Document], folder: Path, *, defaults: bool = True, odd: Oddities | None = None
) -> Iterator[Operation]:
    """The operations of a scenario: a list of them, or an object with ``workloadTemplate``,
    ``defaultPodTemplatePath``, ``params``.

    The paths of templates are relative to *folder*; *odd* takes what is not read. Raises
    :class:`~kubeclassic.exceptions.ManifestError`.
    """
    for document in documents:
        whole_file: Mapping[str, Any] = (
            document.data if "workloadTemplate" in document.data else {"workloadTemplate": [document.data]}
        )
        params = whole_file.get("params") or {}
        path = whole_file.get("defaultPodTemplatePath")
        for name, value, kind, wanted in (
            ("params", params, dict, "an object"),
            ("defaultPodTemplatePath", path or "", str, "a file"),
        ):
            if not isinstance(value, kind):
                raise ManifestError(f"{document.where}: {name}: expected {wanted}, got {shown(value)}")
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
    found = parse_duration(value)
    if found is None:
        raise Mismatch(value, DURATION)
    if found > LONGEST:
        raise Mismatch(value, "at most 100 years")
    return found


_LABELS: Table = {"labelKey": ("label_key", text), "labelValues": ("label_values", list_of(text, ""))}


def _rate(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= MOST_OBJECTS:
        raise Mismatch(value, f"a number above 0, up to {MOST_OBJECTS:,}")
    return float(value)


def _labelling(value: Any) -> dict[str, Any]:
    read: Reader[dict[str, Any]] = record(dict, _LABELS)
    found = read(value)
    if not found.get("label_key"):
        raise Mismatch(None, "the key of a label").under("labelKey")
    return found


_INLINE = ("nodeTemplate", "podTemplate", "template", "templates")
_PATHS = ("nodeTemplatePath", "podTemplatePath", "templatePath", "templatePaths")
_TEMPLATES = (*_INLINE, *_PATHS)
_COUNT: Table = {"count": ("count", _count), "countParam": ("count", _count)}
_NAMES: Table = {"names": ("names", list_of(text)), **_COUNT}
_WAIT: Table = {"skipWaitToCompletion": ("skip_wait", flag), "timeout": ("timeout", _seconds)}
_PODS: Table = {
    "namespace": ("namespace", text),
    "interval": ("interval", _seconds),
    "perSecond": ("per_second", _rate),
    "runTime": ("run_time", _seconds),
    "collectMetrics": ("", lambda value: {}),
    **_WAIT,
}
_CHURN: Table = {
    "mode": ("mode", one_of(OneOf("create", "recreate"))),
    "number": ("number", _count),
    "interval": ("interval", _seconds),
    "intervalMilliseconds": ("interval", lambda value: _count(value) / 1000),
    "namespace": ("namespace", text),
    "runTime": ("run_time", _seconds),
}
FIELDS: Mapping[str, Table] = {
    "createNodes": {
        **_NAMES,
        "labelNodePrepareStrategy": ("", _labelling),
        "uniqueNodeLabelStrategy": ("", _labelling),
    },
    "createPods": {**_COUNT, **_PODS},
    "createAny": {"namespace": ("namespace", text), **_COUNT},
    "churn": _CHURN,
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
    params: Mapping[str, Any]
    default_pods: str | None
    odd: Oddities

    def read(self, step: Mapping[str, Any], where: str) -> Operation:
        """One operation."""
        opcode = step.get("opcode")
        table = FIELDS.get(opcode) if isinstance(opcode, str) else None
        if table is None or not isinstance(opcode, str):
            near = did_you_mean(opcode, FIELDS) if isinstance(opcode, str) else ""
            raise ManifestError(
                f"{where}: opcode: expected one of {', '.join(FIELDS)}, got {shown(opcode)}{near}"
            )
        where = f"{where} ({opcode})"
        allowed = {*table, "opcode", *(_TEMPLATES if opcode in _WITH_TEMPLATES else ())}
        if unknown := [name for name in step if name not in allowed]:
            raise ManifestError(
                f"{where}: {unknown[0]}: got an unknown field{did_you_mean(unknown[0], allowed)}"
            )
        if opcode in _NEEDED and not any(name in step for name in _NEEDED[opcode]):
            raise ManifestError(f"{where}: {_NEEDED[opcode][0]}: expected a value, got nothing")
        reader: Reader[Operation] = record(Operation, table)
        try:
            made = reader({name: self._value(value) for name, value in step.items() if name in table})
        except Mismatch as mismatch:
            raise ManifestError(f"{where}: {mismatch}") from None
        return attrs.evolve(made, opcode=opcode, templates=tuple(self._templates(opcode, step, where)))

    def _value(self, value: Any) -> Any:
        """The value, or that of the parameter ``name`` for ``$name``."""
        if not isinstance(value, str) or not value.startswith("$"):
            return value
        if value[1:] not in self.params:
            raise Mismatch(value, f"a parameter that params gives{did_you_mean(value[1:], self.params)}")
        return self.params[value[1:]]

    def _templates(self, opcode: str, step: Mapping[str, Any], where: str) -> Iterator[KubeObject]:
        wanted = _WITH_TEMPLATES.get(opcode)
        if wanted is None:
            return
        found = [*self._inline(step, where), *self._in_files(opcode, step, where)]
        if not found and wanted is Node:
            found = [DEFAULT_NODE]
        if not found or (wanted is not KubeObject and len(found) != 1):
            raise ManifestError(
                f"{where}: template: expected {'some' if wanted is KubeObject else 'one'}, got {len(found) or 'nothing'}"
            )
        for item in found:
            if not issubclass(type(item), wanted):
                raise ManifestError(f"{where}: template: expected a {wanted.__name__}, got a {item.kind}")
            yield with_defaults(item) if self.defaults else item

    def _inline(self, step: Mapping[str, Any], where: str) -> Iterator[KubeObject]:
        kinds = {"nodeTemplate": "Node", "podTemplate": "Pod"}
        for name in _INLINE:
            given = step.get(name)
            for template in given if isinstance(given, list) else [] if given is None else [given]:
                try:
                    document = {"kind": kinds.get(name), **entries(template)}
                except Mismatch as mismatch:
                    raise ManifestError(f"{where}: {name}: {mismatch}") from None
                yield self._decoded(document, f"{where}: {name}")

    def _in_files(self, opcode: str, step: Mapping[str, Any], where: str) -> Iterator[KubeObject]:
        more = step.get("templatePaths") or []
        given = [step[name] for name in _PATHS[:-1] if step.get(name) is not None]
        given += more if isinstance(more, list) else [more]
        if opcode == "createPods" and not given and self.default_pods and "podTemplate" not in step:
            given = [self.default_pods]
        for path in given:
            if not isinstance(path, str):
                raise ManifestError(f"{where}: templatePath: expected a file, got {shown(path)}")
            # A scenario may be one that others wrote, so it reads no file outside of its folder.
            found = self.folder / path
            folder = os.path.realpath(self.folder)
            if "\0" in path or not os.path.realpath(found).startswith(os.path.join(folder, "")):
                raise ManifestError(
                    f"{where}: templatePath: expected a file below the folder of the scenario, got {shown(path)}"
                )
            for document in read_documents([found]):
                self.odd.note_repeated(document.repeated, document.where)
                yield self._decoded(document.data, document.where)

    def _decoded(self, document: Mapping[str, Any], where: str) -> KubeObject:
        place = f"{where} ({describe(document)})"
        found = decode(document, place)
        if found is None:
            raise ManifestError(
                f"{where}: kind: expected a kind that scheduling reads, got {shown(document.get('kind'))}"
            )
        self.odd.note_unknown(found.kind, document, place)
        prefix = (document.get("metadata") or {}).get("generateName")
        if found.name or not isinstance(prefix, str):
            return found
        return replace(found, metadata=replace(found.metadata, name=prefix.rstrip("-.")))


def named(template: KubeObject, name: str, namespace: str | None) -> KubeObject:
    """An object of *template*, called *name*."""
    metadata = replace(template.metadata, name=name, namespace=namespace or template.metadata.namespace)
    if isinstance(template, Node):
        metadata = replace(metadata, labels=strings({**metadata.labels, "kubernetes.io/hostname": name}))
    return replace(template, metadata=metadata)
