"""Makes the objects of operations, as documents, from their templates. Names end in numbers, so that each run has the same ones.

Upstream: test/integration/framework/perf_utils.go, test/utils/runners.go
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import attrs

from ....api.objects import KINDS
from .ops import Churn, CreateNamespaces, CreateNodes, CreatePods
from .templates import template

Json = dict[str, Any]

HOSTNAME = "kubernetes.io/hostname"
MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"


@attrs.frozen
class Maker:
    """Makes the objects of one workload. *folders*: where templates are looked for; *default_pod*: the template of pods without one."""

    folders: Sequence[Path]
    default_pod: str | None = None
    _numbers: Counter[str] = attrs.field(factory=Counter)
    """Beginning of a name -> how many objects have it."""

    def nodes(self, op: CreateNodes, index: int) -> Iterator[Json]:
        """The nodes of *op*, the operation of number *index*, and their CSINodes."""
        form = template(op.template, "Node", self.folders, op.where)
        if op.template is None:
            form["metadata"] = {"generateName": f"node-{index}-"}
        for number in range(op.count):
            node = self._named(form)
            name = node["metadata"]["name"]
            labels = node["metadata"]["labels"] = {**(node["metadata"].get("labels") or {}), HOSTNAME: name}
            if op.label_key is not None:
                labels[op.label_key] = op.label_values[number % len(op.label_values)] if op.label_values else f"unique-{name}"
            status = node["status"] = dict(node.get("status") or {})
            status["allocatable"] = {**(status.get("allocatable") or status.get("capacity") or {}), **op.allocatable}
            yield node
            if op.has_csi_nodes:
                yield _csi_node(name, op)

    def namespaces(self, op: CreateNamespaces) -> Iterator[Json]:
        """The namespaces of *op*."""
        form = template(op.template, "Namespace", self.folders, op.where)
        for number in range(op.count):
            yield {**form, "metadata": {**(form.get("metadata") or {}), "name": f"{op.prefix}-{number}"}}

    def pods(self, op: CreatePods, namespace: str) -> Iterator[Json]:
        """The pods of *op*, each after its claim and its volume."""
        form = template(op.template or self.default_pod, "Pod", self.folders, op.where)
        first = self._numbers[f"claims of {namespace}"]
        self._numbers[f"claims of {namespace}"] += op.count
        for number in range(first, first + op.count):
            pod = self._named(form, namespace)
            if op.claim_template is not None and op.volume_template is not None:
                claim = template(op.claim_template, "PersistentVolumeClaim", self.folders, op.where)
                volume = template(op.volume_template, "PersistentVolume", self.folders, op.where)
                yield from _bound(claim, volume, namespace, number)
                pod["spec"]["volumes"] = [{"name": "vol", "persistentVolumeClaim": {"claimName": f"pvc-{number}"}}]
            yield pod

    def churned(self, op: Churn, namespace: str) -> list[Json]:
        """One object of each of the templates of *op*, under new names."""
        forms = [template(path, None, self.folders, f"{op.where}.templatePaths") for path in op.templates]
        return [self._named(form, namespace if KINDS[form["kind"]].namespaced else None) for form in forms]

    def _named(self, form: Json, namespace: str | None = None) -> Json:
        """A copy of *form* with a name that no other object has; a pod has what the API server would give it."""
        made, kind = deepcopy(form), form["kind"].lower()
        metadata = made["metadata"] = dict(made.get("metadata") or {})
        beginning = metadata.pop("generateName", None) or f"{metadata.get('name') or kind}-"
        number = self._numbers[f"{kind} {beginning}"]
        self._numbers[f"{kind} {beginning}"] += 1
        metadata |= {"name": f"{beginning}{number}", "uid": f"uid-{kind}-{beginning}{number}"}
        if namespace is not None:
            metadata["namespace"] = namespace
        if made["kind"] == "Pod":
            made["spec"] = {"schedulerName": "default-scheduler", "priority": 0, **(made.get("spec") or {})}
        return made


def _csi_node(name: str, op: CreateNodes) -> Json:
    drivers = [{"name": driver, "nodeID": name, "allocatable": found} for driver, found in op.csi_drivers.items()]
    annotations = {MIGRATED: ",".join(op.migrated_plugins)} if op.migrated_plugins else {}
    return {"kind": "CSINode", "metadata": {"name": name, "annotations": annotations}, "spec": {"drivers": drivers}}


def _bound(claim: Json, volume: Json, namespace: str, number: int) -> tuple[Json, Json]:
    """A claim and a volume that are bound to each other."""
    name, volume_name = f"pvc-{number}", f"{namespace}-vol-{number}"
    spec = {**_sourced(volume.get("spec") or {}, f"vol-{number}", volume_name), "claimRef": _reference(namespace, name)}
    claim["metadata"] = {**(claim.get("metadata") or {}), "name": name, "namespace": namespace}
    claim["spec"] = {**(claim.get("spec") or {}), "volumeName": volume_name}
    claim["status"] = {"phase": "Bound"}
    metadata = {**(volume.get("metadata") or {}), "name": volume_name}
    return claim, {**volume, "metadata": metadata, "spec": spec, "status": {"phase": "Bound"}}


def _reference(namespace: str, name: str) -> Json:
    return {"kind": "PersistentVolumeClaim", "namespace": namespace, "name": name, "apiVersion": "v1"}


def _sourced(spec: Mapping[str, Any], disk: str, handle: str) -> Json:
    """The *spec* of a volume with a disk of its own."""
    found = dict(spec)
    if found.get("csi"):
        found["csi"] = {**found["csi"], "volumeHandle": handle}
    elif found.get("awsElasticBlockStore"):
        found["awsElasticBlockStore"] = {**found["awsElasticBlockStore"], "volumeID": disk}
    return found
