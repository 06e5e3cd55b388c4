"""A cluster as its objects: nodes, pods and everything else in the manifests. Followers see every change."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any, Protocol, TypeAlias, TypeVar, overload
from weakref import WeakSet

from ..exceptions import ManifestError, UnknownNameError, check_type, near_names, wrong_type
from .controlplane import ADMISSION_KINDS, usage, with_new_volumes
from .garbage import no_garbage_collection
from .load import (
    GIVEN_BEFORE,
    REFUSED,
    ByKey,
    Inventory,
    Loaded,
    Originals,
    find_waiting,
    load,
    load_given,
    take_in,
)
from .meaning import ZONES, zone_of
from .objects import (
    JsonObject,
    KubeObject,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    ResourceQuota,
    StorageClass,
    of_kind,
    why_not_waiting,
)
from .reading import Notice, PathLike, kind_with_group
from .view import MapSide, NodeMap, Section, View, table_of
from .words import kind_of

RESOURCES = ("cpu", "memory")
_OF_VOLUMES = (PersistentVolume, PersistentVolumeClaim, StorageClass)


def uses_of(nodes: Sequence[Node], pods: Iterable[Pod]) -> NodeMap:
    """The nodes with the share of each resource that *pods*, which have a node, request."""
    requested = Counter[tuple[str, str]]()
    for pod in pods:
        requested_amounts = usage(pod)
        for resource in RESOURCES:
            if f"requests.{resource}" in requested_amounts:
                requested[pod.node_name, resource] += requested_amounts[f"requests.{resource}"].milli_value()
    uses: dict[str, list[float | None]] = {resource: [] for resource in RESOURCES}
    for node in nodes:
        for resource, shares in uses.items():
            allocatable = node.status.allocatable.get(resource)
            capacity = 0 if allocatable is None else allocatable.milli_value()
            shares.append(requested[node.name, resource] / capacity if capacity > 0 else None)
    zones = [zone_of(node.labels) for node in nodes]
    return NodeMap(
        [node.name for node in nodes], [MapSide("", uses)], {ZONES[0]: zones} if any(zones) else {}
    )


K = TypeVar("K", bound=KubeObject)
Given: TypeAlias = "KubeObject | JsonObject"
"""An object, or its manifest."""


class Follower(Protocol):
    """An observer of the objects of a cluster."""

    def put(self, item: KubeObject) -> None:
        """An object was added or changed."""

    def delete(self, item: KubeObject) -> None:
        """An object was deleted."""


class Cluster:
    """The objects of a cluster, in the order in which they were added. Schedulers made for it follow its
    changes.

    Objects are values of :mod:`kubeclassic.api.objects` or manifests in JSON form. With *defaults* they are
    completed and admitted as the API server would do it. From Deployments and other workloads come the pods
    that their controllers would still make; from CronJobs only with *cron_jobs*.

    >>> cluster = Cluster([{"kind": "Node", "metadata": {"name": "a"}}, {"kind": "Pod", "metadata": {"name": "web"}}])
    >>> [node.name for node in cluster.nodes], [pod.key for pod in cluster.pending]
    (['a'], ['default/web'])
    """

    def __init__(
        self, objects: Iterable[Given] = (), *, defaults: bool = True, cron_jobs: bool = False
    ) -> None:
        self.defaults = defaults
        self.cron_jobs = cron_jobs
        self.warnings: tuple[Notice, ...] = ()
        """Oddities of the files, and objects that the API server would refuse."""
        self.ignored: Mapping[str, int] = {}
        """Unused objects of the files, in words -> their number."""
        self.config_maps: Mapping[tuple[str, str], JsonObject] = {}
        """The manifests of ConfigMaps in the files, by namespace and name."""
        self._objects: ByKey = {}
        self._written: dict[tuple[str, str], Pod] = {}
        """Kind and key of a new pod -> the pod before defaults and admission."""
        self._classes: ByKey = {}
        """The objects that admission reads."""
        self._followers: WeakSet[Follower] = WeakSet()
        # *objects* must be several; a path is no object.
        if isinstance(objects, str | os.PathLike):
            raise wrong_type(
                "objects",
                objects,
                f"a list of objects or manifests; Cluster.load({os.fspath(objects)!r}) reads a file",
            )
        if isinstance(objects, Mapping | KubeObject) or not isinstance(objects, Iterable):
            raise wrong_type("objects", objects, "a list of objects or manifests")
        self.add(*objects)

    @classmethod
    def load(
        cls,
        *paths: PathLike,
        defaults: bool = True,
        strict_fields: bool = False,
        stdin: IO[Any] | None = None,
        cron_jobs: bool = False,
    ) -> Cluster:
        """The cluster that files, directories and ``-`` (*stdin*, else standard input) describe, as YAML,
        JSON or JSON Lines.

        Objects that the API server would refuse are left out, and ``warnings`` name them. They also name
        fields that the API does not have, unless *strict_fields* refuses these. Raises
        :class:`~kubeclassic.exceptions.ManifestError` with the place.
        """
        for path in paths:
            check_type("Cluster.load", path, (str, os.PathLike), "paths")
        cluster = cls(defaults=defaults, cron_jobs=cron_jobs)
        inventory = take_in(
            [load(paths, defaults=defaults, strict_fields=strict_fields, stdin=stdin)],
            defaults=defaults,
            cron_jobs=cron_jobs,
            whole=True,
        )
        cluster._put_all(inventory)
        cluster.warnings = inventory.warnings
        cluster.ignored = inventory.ignored
        cluster.config_maps = inventory.config_maps
        return cluster

    def __repr__(self) -> str:
        return (
            f"<Cluster: {len(self.nodes)} nodes, {len(self.pods)} pods, {len(self.pending)} of them waiting>"
        )

    def _repr_html_(self) -> str:
        pods = self.pods
        on = Counter(pod.node_name for pod in pods if not pod.is_terminal)
        uses = uses_of(self.nodes, [pod for pod in pods if pod.node_name])
        rows = [
            {
                "node": node.name,
                "pods": on[node.name],
                **{name: node.status.allocatable.get(name) for name in RESOURCES},
            }
            for node in self.nodes
        ]
        nodes = table_of("nodes", rows, ("node", "pods", *RESOURCES))
        return View(
            title="Cluster",
            verdict=f"{len(self.nodes):,} nodes with {len(pods) - len(self.pending):,} pods; {len(self.pending):,} pods wait.",
            facts={
                "nodes": len(self.nodes),
                "pods": len(pods),
                "waiting": len(self.pending),
                "warnings": len(self.warnings) or None,
            },
            sections=[Section(parts=[uses, nodes] if self.nodes else [nodes])],
        ).html()

    # --- copies and pickles: objects never change, so that copies share them --------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return {
            **vars(self),
            "_objects": dict(self._objects),
            "_written": dict(self._written),
            "_classes": dict(self._classes),
            "_followers": None,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._followers = WeakSet()

    def __deepcopy__(self, memo: dict[int, Any]) -> Cluster:
        copy = type(self).__new__(type(self))
        copy.__setstate__(self.__getstate__())
        memo[id(self)] = copy
        return copy

    # --- objects --------------------------------------------------------------------------------------------

    @property
    def objects(self) -> tuple[KubeObject, ...]:
        """All objects."""
        return tuple(self._objects.values())

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes."""
        return self.of(Node)

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods, with and without a node."""
        return self.of(Pod)

    @property
    def pending(self) -> tuple[Pod, ...]:
        """The pods that wait for a node, for any scheduler."""
        return tuple(pod for pod in self.of(Pod) if why_not_waiting(pod) is None)

    @overload
    def of(self, kind: type[K]) -> tuple[K, ...]: ...
    @overload
    def of(self, kind: str) -> tuple[KubeObject, ...]: ...
    def of(self, kind: type[KubeObject] | str) -> tuple[KubeObject, ...]:
        """The objects of one kind: a class, or a word as for kubectl: ``Pod``, ``pods``, ``po``."""
        kind_class = kind_of(kind)
        return tuple(item for item in self._objects.values() if type(item) is kind_class)

    @overload
    def find(self, kind: type[K], name: str) -> K: ...
    @overload
    def find(self, kind: str, name: str | None = None) -> KubeObject: ...
    def find(self, kind: type[KubeObject] | str, name: str | None = None) -> KubeObject:
        """The object of a kind by its key: ``namespace/name``. ``name`` is enough for kinds without a
        namespace and in ``default``.

        The kind is a class, or a word as for kubectl: ``Pod``, ``pods``, ``po``; ``find("node/a")`` has both
        in one. Raises :class:`~kubeclassic.exceptions.UnknownNameError`, which suggests similar names.

        >>> Cluster([{"kind": "Node", "metadata": {"name": "a"}}]).find("no", "a").key
        'a'
        """
        if isinstance(kind, str) and name is None:
            kind, _, name = kind.partition("/")
        kind_class = kind_of(kind)
        if not isinstance(name, str):
            raise wrong_type("name", name, "the object's name, or namespace/name")
        key = name if "/" in name or not kind_class.namespaced else f"default/{name}"
        item = self._objects.get((kind_class.kind, key))
        if item is None:
            # The name may be one of another namespace.
            keys = {item.key if "/" in name else item.name: item.key for item in self.of(kind_class)}
            near = [f'"{keys[found]}"' for found in near_names(name, keys)]
            suggestion = f"; did you mean {' or '.join(near)}?" if near else ""
            raise UnknownNameError(
                f'{kind_class.kind}: got "{name}", which the cluster does not have{suggestion}'
            )
        return item

    # --- changes --------------------------------------------------------------------------------------------

    def add(self, *items: Given) -> None:
        """Add new objects: all of them, or none if one is refused.

        Raises :class:`~kubeclassic.exceptions.ManifestError` for what cannot be read, exists already, is
        given twice or the API server would refuse.
        """
        inventory = self._as_objects(items)
        for item in inventory.objects:
            if item.identity in self._objects:
                raise ManifestError(
                    f"{item.kind} {item.key}: metadata.name: expected a new name, got that of an object that is there"
                )
        self._put_all(inventory)

    def update(self, *items: Given) -> None:
        """Replace objects by *items* of the same kind and key; ``pod.bound_to(node)`` is a binding.

        Raises :class:`~kubeclassic.exceptions.UnknownNameError` for what does not exist, and
        :class:`~kubeclassic.exceptions.ManifestError` for a pod that would leave its node: pods do not move.
        """
        inventory = self._as_objects(items)
        for item in inventory.objects:
            current = self.find(type(item), item.key)
            if (
                isinstance(current, Pod)
                and isinstance(item, Pod)
                and current.uid == item.uid
                and current.node_name not in ("", item.node_name)
            ):
                raise ManifestError(
                    f"Pod {current.key}: spec.nodeName: expected {current.node_name}, "
                    f'got "{item.node_name}": pods do not move'
                )
        for item in inventory.objects:
            old = self._objects[item.identity]
            if old.uid != item.uid:
                self.delete(old)
        self._put_all(inventory)

    def delete(self, *items: KubeObject | JsonObject | str) -> None:
        """Delete objects; only kind and key count, and ``"node/a"`` or ``"pod/shop/web-0"`` is enough.

        Raises :class:`~kubeclassic.exceptions.UnknownNameError` for what does not exist.
        """
        items_by_key: ByKey = {}
        for reference in items:
            if isinstance(reference, str):
                item = self.find(reference)
            elif isinstance(reference, KubeObject):
                item = self.find(type(reference), reference.key)
            elif isinstance(reference, Mapping):
                metadata = reference.get("metadata") or {}
                namespace = metadata.get("namespace")
                name = metadata.get("name")
                item = self.find(
                    kind_with_group(str(reference.get("kind")), reference.get("apiVersion")),
                    f"{namespace}/{name}" if namespace else name,
                )
            else:
                raise wrong_type("delete", reference, 'an object, its manifest, or a text such as "node/a"')
            items_by_key[item.identity] = item
        for identity, item in items_by_key.items():
            del self._objects[identity]
            self._classes.pop(identity, None)
            self._written.pop(identity, None)
            for follower in tuple(self._followers):
                follower.delete(item)

    def follow(self, follower: Follower, *, told: bool = False) -> None:
        """Send all objects and every later change to *follower*, as long as something else refers to it. With
        *told* it has the present objects already."""
        with no_garbage_collection():
            for item in () if told else self.objects:
                follower.put(item)
        self._followers.add(follower)

    @property
    def originals(self) -> Originals:
        """The new pods, each with the pod before defaults and admission."""
        waiting = (pod for pod in self.of(Pod) if not (pod.metadata.creation_timestamp or pod.node_name))
        return {
            id(pod): (pod, self._written[pod.identity]) for pod in waiting if pod.identity in self._written
        }

    def _put_all(self, inventory: Inventory) -> None:
        """Put the objects of *inventory*, and volumes for new claims whose class binds at once."""
        self.warnings += inventory.refused
        self._written.update((written.identity, written) for _, written in inventory.originals.values())
        binds = False
        for item in inventory.objects:
            self._put(item)
            binds = binds or isinstance(item, _OF_VOLUMES)
        for item in with_new_volumes(self.objects)[0] if binds else ():
            if self._objects.get(item.identity) is not item:
                self._put(item)

    def _put(self, item: KubeObject) -> None:
        self._objects[item.identity] = item
        if isinstance(item, Pod) and item.node_name:
            self._written.pop(item.identity, None)
        if isinstance(item, (*ADMISSION_KINDS, ResourceQuota)):
            self._classes[item.identity] = item
        for follower in tuple(self._followers):
            follower.put(item)

    # --- as the API server would ----------------------------------------------------------------------------

    def waiting_pod(self, pod: Pod | JsonObject | str) -> Pod:
        """The waiting pod of that name; a pod or manifest is completed and admitted, but not added.

        Raises :class:`~kubeclassic.exceptions.UnknownNameError` and
        :class:`~kubeclassic.exceptions.ManifestError`.
        """
        if isinstance(pod, str):
            item = self._objects.get((Pod.kind, pod))
            return find_waiting(pod, [item] if isinstance(item, Pod) else self.pods)
        check_type("pod", pod, (Pod, Mapping), "a name, a Pod or its manifest")
        if isinstance(pod, Pod) and self._objects.get(pod.identity) is pod:
            return pod
        objects = self._as_objects([pod]).objects
        if len(objects) != 1 or not isinstance(objects[0], Pod):
            raise ManifestError(
                f"pod: expected one Pod, got {', '.join(f'{item.kind} {item.key}' for item in objects) or 'nothing'}"
            )
        return objects[0]

    def _as_objects(self, items: Iterable[Given]) -> Inventory:
        """*items* as objects, then what their workloads would make."""
        parts = list[Loaded]()
        for number, item in enumerate(tuple[object, ...](items), 1):
            if not isinstance(item, KubeObject | Mapping):
                advice = f"; Cluster.load({item!r}) reads a file" if isinstance(item, str) else ""
                raise wrong_type(f"object {number}", item, f"an object or its manifest{advice}")
            parts.append(load_given(item, number, defaults=self.defaults))
        rules = tuple(self._classes.values())
        # Workloads count their pods, quotas all pods, and new names are none that are there.
        is_counted = any(part.raw or part.prefixes for part in parts) or of_kind(ResourceQuota, rules)
        inventory = take_in(
            parts, self.objects if is_counted else rules, defaults=self.defaults, cron_jobs=self.cron_jobs
        )
        # A workload stays although its pods are refused.
        own = {f"{item.kind} {item.key}" for part in parts for item in part.objects}
        if refusal := next((notice for notice in inventory.refused if notice.where in own), None):
            raise ManifestError(str(refusal))
        for notice in inventory.warnings:
            if notice.what == GIVEN_BEFORE:
                raise ManifestError(
                    f"{notice.where}: metadata.name: expected each object once, got another of that name"
                )
        # Refuse manifests that scheduling does not use; in files they are skipped.
        if unread := next((what for what in inventory.ignored if what != REFUSED), None):
            raise ManifestError(f"manifest: got an object {unread}, which scheduling does not read")
        return inventory
