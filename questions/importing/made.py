"""What readers of traces make: nodes and pods as manifests, with times in annotations, and a count of what was dropped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal
from typing import Any

import attrs

from ..replay.inputs.times import CREATION_TIME, DELETION_TIME, RUN_TIME

Manifest = dict[str, Any]
HOSTNAME = "kubernetes.io/hostname"
GIB = 1 << 30
PODS_PER_NODE = "110"
NO_LABELS: Mapping[str, str] = {}
_NOT_IN_NAMES = re.compile(r"[^a-z0-9.-]+")
_NOT_IN_LABELS = re.compile(r"[^A-Za-z0-9_.-]+")


@attrs.define(repr=False)
class Trace:
    """A trace as manifests."""

    nodes: list[Manifest] = attrs.field(factory=list)
    pods: list[Manifest] = attrs.field(factory=list)
    others: list[Manifest] = attrs.field(factory=list)
    dropped: Counter[str] = attrs.field(factory=Counter)
    """What of the trace has no place in manifests -> how often."""
    configuration: Manifest | None = None
    """That of the scheduler, where the trace has one."""

    def document(self) -> Manifest:
        """All manifests as one ``v1`` ``List``: others, nodes, pods."""
        return {"apiVersion": "v1", "kind": "List", "items": [*self.others, *self.nodes, *self.pods]}


def object_name(text: str) -> str:
    """*text* as the name of an object: small letters, digits, dots and dashes.

    >>> object_name("App_17/instance 3"), object_name("--")
    ('app-17-instance-3', 'unnamed')
    """
    return _NOT_IN_NAMES.sub("-", text.lower()).strip("-.")[:253].rstrip("-.") or "unnamed"


def label_value(text: str) -> str:
    """*text* as the value of a label.

    >>> label_value("A100-SXM4 80GB")
    'A100-SXM4-80GB'
    """
    return _NOT_IN_LABELS.sub("-", text).strip("-._")[:63].rstrip("-._")


def whole(amount: Decimal) -> str:
    """*amount* rounded up to a whole number, as a quantity."""
    return str(amount.to_integral_value(ROUND_CEILING))


def cores(amount: Decimal) -> str:
    """Cores as a quantity, rounded up to thousandths.

    >>> cores(Decimal("0.25")), cores(Decimal("2")), cores(Decimal("0.0001"))
    ('250m', '2', '1m')
    """
    milli = int((amount * 1000).to_integral_value(ROUND_CEILING))
    return str(milli // 1000) if milli % 1000 == 0 else f"{milli}m"


def gibibytes(amount: Decimal) -> str:
    """GiB as a quantity, rounded up to bytes.

    >>> gibibytes(Decimal("1.5")), gibibytes(Decimal("0.0001"))
    ('1536Mi', '107375')
    """
    size = int((amount * GIB).to_integral_value(ROUND_CEILING))
    return f"{size >> 20}Mi" if size % (1 << 20) == 0 else str(size)


def node(name: str, amounts: Mapping[str, str], labels: Mapping[str, str] = NO_LABELS) -> Manifest:
    """A node that is ready, with those of *labels* that are not empty; 110 pods unless *amounts* say so."""
    room = {**amounts} if "pods" in amounts else {**amounts, "pods": PODS_PER_NODE}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name, **_filled(labels)}},
        "status": {"allocatable": room, "capacity": room, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def pod(name: str, namespace: str, amounts: Mapping[str, str], priority: int = 0, labels: Mapping[str, str] = NO_LABELS) -> Manifest:
    """A pod that waits, with one container that requests *amounts*; those of 0, and empty labels, are left out."""
    requests = {resource: amount for resource, amount in amounts.items() if amount not in ("0", "0m", "0Mi")}
    found = _filled(labels)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, **({"labels": found} if found else {})},
        "spec": {"containers": [{"name": "main", "resources": {"requests": requests}}], "priority": priority},
    }


def _filled(labels: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in labels.items() if value}


def timed(item: Manifest, *, created: Decimal | None = None, deleted: Decimal | None = None, runs: Decimal | None = None) -> Manifest:
    """*item* with its times in seconds, as far as they are known."""
    known = {CREATION_TIME: created, DELETION_TIME: deleted, RUN_TIME: runs}
    marks = {name: plain(max(seconds, Decimal(0))) for name, seconds in known.items() if seconds is not None}
    if marks:
        item["metadata"]["annotations"] = marks
    return item


def plain(number: Decimal) -> str:
    """*number* without an exponent and without zeros at its end, in microseconds at most.

    >>> plain(Decimal("1.500")), plain(Decimal("1E+3"))
    ('1.5', '1000')
    """
    text = f"{number:.6f}"
    return text.rstrip("0").rstrip(".")
