"""The fields that objects have in JSON: none is forgotten, none is misspelled."""

from __future__ import annotations

from typing import Any

import pytest

from kubeclassic.api import objects as o
from kubeclassic.api.controlplane import pod_templates
from kubeclassic.api.objects.quantity import INT32, INT64
from kubeclassic.api.reading.schema import TYPE_META, schema
from kubeclassic.api.reading.shapes import Shape
from tests.support.fieldwalk import attributes_in, changes

KINDS = [pytest.param(kind, id=kind.kind) for kind in o.KINDS.values()]


def at(kind: type[Any], path: str) -> Shape:
    """What is known of a field."""
    found = schema(strict=True).shape(kind)
    for name in path.split("."):
        assert found.fields is not None
        found = found.fields[name]
    return found


class TestEveryAttribute:
    @pytest.mark.parametrize("kind", KINDS)
    def test_has_one_reader(self, kind: type[Any]) -> None:
        """Each field of a kind changes one attribute; every attribute of every class in it has such a field, and not two."""
        found = {path: chains for path, chains in changes(schema(strict=False), kind).items() if path[0] not in TYPE_META}
        assert {path: chains for path, chains in found.items() if len(chains) != 1} == {}
        chains = [chain for changed in found.values() for chain in changed]
        assert len(chains) == len(set(chains))
        unread = attributes_in(kind) - {link for chain in chains for link in chain}
        assert unread == ({(o.Requirement, "operator")} if kind is o.StorageClass else set())

    @pytest.mark.parametrize("kind", KINDS)
    def test_is_read_strictly_too(self, kind: type[Any]) -> None:
        """Strict and lenient reading know the same fields."""
        assert schema(strict=True).shape(kind) == schema(strict=False).shape(kind)

    def test_of_workloads(self) -> None:
        """Each field of a workload changes one attribute, and every attribute but the kind has one."""
        found = changes(pod_templates.SCHEMA, pod_templates.Workload)
        assert {len(chains) for chains in found.values()} == {1}
        unread = attributes_in(pod_templates.Workload) - {link for chains in found.values() for chain in chains for link in chain}
        assert unread == {(pod_templates.Workload, "kind")}


class TestLimits:
    @pytest.mark.parametrize(
        ("kind", "path", "limits"),
        [
            (o.Pod, "spec.priority", INT32),
            (o.Pod, "spec.tolerations.tolerationSeconds", INT64),
            (o.Pod, "spec.topologySpreadConstraints.minDomains", INT32),
            (o.Pod, "metadata.generation", INT64),
            (o.Node, "status.images.sizeBytes", INT64),
            (o.PriorityClass, "value", INT32),
            (o.CSINode, "spec.drivers.allocatable.count", INT32),
            (o.Pod, "spec.nodeName", None),
        ],
    )
    def test_of_integers(self, kind: type[Any], path: str, limits: range | None) -> None:
        """An integer has the width of the API's; what is no integer has no limits."""
        assert at(kind, path).limits == limits
