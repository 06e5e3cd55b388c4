"""What the lab's files hold, and the scenario that small changes make of it: edits in words, and copies of nodes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import attrs

from ...api.inventory import Inventory, take_in
from ...api.load import load_documents
from ...api.objects import KubeObject, Node, Pod
from ...api.reading.documents import Document
from ...api.wire.ownfields import current_manifest
from ...exceptions import KubeclassicError
from ..drain.rules import comes_back
from ..edits.apply import Edited, Edits
from ..newnodes.kinds import kinds_of
from ..scenario import Files, Scenario, sorted_out
from .labconfiguration import Json, LabError

MOST_COPIES = 5000
GROUPS = {
    "apps/v1": ("ReplicaSet", "StatefulSet"),
    "storage.k8s.io/v1": ("StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment"),
    "policy/v1": ("PodDisruptionBudget",),
    "scheduling.k8s.io/v1": ("PriorityClass",),
    "resource.k8s.io/v1": ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"),
}
VERSIONS = {kind: version for version, kinds in GROUPS.items() for kind in kinds}


@attrs.frozen
class Copies:
    """New nodes, like one that is there."""

    like: str
    count: int


@attrs.frozen
class Changes:
    """What was changed of the cluster, in order."""

    edits: tuple[str, ...] = ()
    """In the words of ``--set``."""
    copies: tuple[Copies, ...] = ()

    def edited(self, *texts: str) -> Changes:
        """With more edits."""
        return attrs.evolve(self, edits=(*self.edits, *texts))

    def without(self, *texts: str) -> Changes:
        """Without these edits."""
        return attrs.evolve(self, edits=tuple(text for text in self.edits if text not in texts))


@attrs.define(eq=False)
class LabInput:
    """What the files hold; the edits that the command line gave are the first :class:`Changes`."""

    files: Files
    cron_jobs: bool = False
    _taken: tuple[object, Inventory, tuple[Edited, ...]] | None = None
    """The copies, the edits but those of pods, and gate PodPriority; what was taken in with them last, and what these edits did."""

    def scenario(self, changes: Changes, names: frozenset[str], priorities: bool) -> Scenario:
        """The scenario after *changes*; *names*: whose pods wait, *priorities*: whether gate PodPriority is on.

        Raises :class:`~.labconfiguration.LabError` for an edit or a node that does not fit.
        """
        try:
            edits = Edits.parse(changes.edits, defaults=self.files.defaults)
            inventory, edited = self._taken_in(changes, edits, priorities)
            objects, more = edits.of_pods(inventory.objects, priorities=priorities)
            return attrs.evolve(sorted_out(attrs.evolve(inventory, objects=objects), names), edited=(*edited, *more))
        except KubeclassicError as error:
            raise error if isinstance(error, LabError) else LabError(str(error), "edit") from None

    def _taken_in(self, changes: Changes, edits: Edits, priorities: bool) -> tuple[Inventory, tuple[Edited, ...]]:
        """The objects after the edits of what is no pod, with those that controllers still make; and what each edit did."""
        key = changes.copies, [edit.text for edit in edits.edits if not edit.is_about_pods], priorities
        if self._taken is None or self._taken[0] != key:
            (loaded,), edited = edits.of_loaded([self.with_nodes(changes).loaded])
            found = take_in([loaded], defaults=self.files.defaults, cron_jobs=self.cron_jobs, priorities=priorities, whole=True)
            self._taken = key, found, tuple(edited)
        return self._taken[1:]

    def new_nodes(self, changes: Changes) -> list[Json]:
        """The manifests of the nodes that are added."""
        known: list[KubeObject] = list(self.files.loaded.objects)
        found: list[Json] = []
        for copies in changes.copies:
            made = self._copies(copies, known)
            known += made
            found += [manifest_of(item) for item in made]
        return found

    def with_nodes(self, changes: Changes) -> Files:
        """The files with the nodes that are added. Raises :class:`~.labconfiguration.LabError`."""
        if not changes.copies:
            return self.files
        documents = [Document(manifest, f"the copy {manifest['metadata']['name']}") for manifest in self.new_nodes(changes)]
        made = load_documents(documents, defaults=self.files.defaults).objects
        loaded = self.files.loaded
        return attrs.evolve(self.files, loaded=attrs.evolve(loaded, objects=(*loaded.objects, *made)))

    def _copies(self, copies: Copies, known: list[KubeObject]) -> list[KubeObject]:
        try:
            (kind,) = kinds_of([f"like:{copies.like}"], known, {}, lambda kind: ())
        except KubeclassicError as error:
            raise LabError(str(error).replace("add-node: ", "", 1), "copy") from None
        return kind.copies(copies.count)


def manifest_of(item: KubeObject) -> Json:
    """An object as a manifest."""
    return {"apiVersion": VERSIONS.get(item.kind, "v1"), "kind": item.kind, **current_manifest(item)}


# --- edits that buttons make ----------------------------------------------------------------------------------------


def cordon(node: str) -> str:
    """The edit that lets no more pods come to *node*."""
    return f"node {node} unschedulable=true"


def drain(node: str, scenario: Scenario) -> list[str]:
    """The edits that cordon *node* and let its pods wait; those of DaemonSets and of the node itself stay."""
    pods = [item for item in scenario.objects if isinstance(item, Pod) and item.spec.node_name == node]
    leaving = [pod for pod in pods if not comes_back(pod)]
    return [cordon(node), *(f"pod {pod.key} nodeName-" for pod in leaving)]


def check_node(name: str, scenario: Scenario, field: str) -> Node:
    """The node called *name*. Raises :class:`~.labconfiguration.LabError`."""
    found = next((node for node in scenario.nodes if node.name == name), None)
    if found is None:
        raise LabError(f'node: got "{name}", wanted a node of the cluster', field)
    return found


def counted(changes: Changes) -> dict[str, Any]:
    """*changes* as plain data."""
    copies: Counter[str] = Counter()
    for one in changes.copies:
        copies[one.like] += one.count
    return {"edits": list(changes.edits), "copies": [{"like": like, "count": count} for like, count in copies.items()]}
