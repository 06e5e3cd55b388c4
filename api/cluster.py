"""A cluster as its objects: nodes, pods and everything else in the manifests. Followers are told of every change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import IO, Any, Protocol, TypeAlias, TypeVar
from weakref import WeakSet

from ..exceptions import ManifestError, UnknownNameError, did_you_mean
from .controlplane.defaults import with_defaults
from .inventory import Inventory, find_waiting, read_inventory, take_in, why_not_waiting
from .load import Loaded, load_documents
from .objects import KubeObject, Node, Pod, PriorityClass, StorageClass
from .reading.documents import Document, PathLike
from .reading.notices import Notice

K = TypeVar("K", bound=KubeObject)
Given: TypeAlias = "KubeObject | Mapping[str, Any]"
"""An object, or its manifest."""


class Follower(Protocol):
    """Is told what happens to the objects of a cluster."""

    def put(self, item: KubeObject) -> None:
        """An object was added or changed."""

    def delete(self, item: KubeObject) -> None:
        """An object was deleted."""


class Cluster:
    """The objects of a cluster, in the order in which they were added. Schedulers made for it follow its changes.

    Objects are values of :mod:`kubeclassic.api.objects` or manifests in JSON form. With *defaults* they are completed and admitted as
    the API server would do it. From Deployments and other workloads come the pods that their controllers would still make; from CronJobs
    only with *cron_jobs*.

    >>> cluster = Cluster([{"kind": "Node", "metadata": {"name": "a"}}, {"kind": "Pod", "metadata": {"name": "web"}}])
    >>> [node.name for node in cluster.nodes], [pod.key for pod in cluster.pending]
    (['a'], ['default/web'])
    """

    def __init__(self, objects: Iterable[Given] = (), *, defaults: bool = True, cron_jobs: bool = False) -> None:
        self.defaults = defaults
        self.cron_jobs = cron_jobs
        self.warnings: tuple[Notice, ...] = ()
        """What is odd in the files, and what was not admitted."""
        self.passed_over: Mapping[str, int] = {}
        """What in the files is not used -> how many times."""
        self._objects: dict[tuple[str, str], KubeObject] = {}
        self._classes: dict[tuple[str, str], KubeObject] = {}
        """The objects that admission reads."""
        self._followers: WeakSet[Follower] = WeakSet()
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
        """The cluster that files, directories and ``-`` (*stdin*, else standard input) describe, as YAML, JSON or JSON Lines.

        What the API server would refuse is left out; ``warnings`` say so, and tell of fields that the API does not have, unless
        *strict_fields* refuses them. Raises
        :class:`~kubeclassic.exceptions.ManifestError` with the place.
        """
        made = cls(defaults=defaults, cron_jobs=cron_jobs)
        inventory = read_inventory(paths, defaults=defaults, strict_fields=strict_fields, stdin=stdin, cron_jobs=cron_jobs)
        made.warnings, made.passed_over = inventory.warnings, inventory.passed_over
        for item in inventory.objects:
            made._put(item)
        return made

    def __repr__(self) -> str:
        return f"<Cluster: {len(self.nodes)} nodes, {len(self.pods)} pods, {len(self.pending)} of them waiting>"

    # --- objects ----------------------------------------------------------------------------------------------------

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

    def of(self, kind: type[K]) -> tuple[K, ...]:
        """The objects of one class."""
        return tuple(item for item in self._objects.values() if type(item) is kind)

    def find(self, kind: type[K], name: str) -> K:
        """The object of a class by its key: ``namespace/name``. ``name`` is enough for kinds without a namespace and in ``default``.

        Raises :class:`~kubeclassic.exceptions.UnknownNameError`, which suggests similar names.
        """
        key = name if "/" in name or not kind.namespaced else f"default/{name}"
        found = self._objects.get((kind.kind, key))
        if not isinstance(found, kind):
            near = did_you_mean(name, [item.key if "/" in name else item.name for item in self.of(kind)])
            raise UnknownNameError(f'{kind.kind}: got "{name}", which the cluster does not have{near}')
        return found

    # --- changes ----------------------------------------------------------------------------------------------------

    def add(self, *items: Given) -> None:
        """Add new objects: all of them, or none if one is refused.

        Raises :class:`~kubeclassic.exceptions.ManifestError` for what cannot be read, exists already or would not be admitted.
        """
        found = self._taken_in(items)
        for item in found:
            if _identity(item) in self._objects:
                raise ManifestError(f"{item.kind} {item.key}: metadata.name: got the name of one that is there, wanted a new one")
        for item in found:
            self._put(item)

    def update(self, *items: Given) -> None:
        """Replace objects by *items* of the same kind and key; ``pod.bound_to(node)`` is a binding.

        Raises :class:`~kubeclassic.exceptions.UnknownNameError` for what does not exist, and
        :class:`~kubeclassic.exceptions.ManifestError` for a pod that would leave its node: pods do not move.
        """
        found = self._taken_in(items)
        for item in found:
            _check_stays(self.find(type(item), item.key), item)
        for item in found:
            old = self._objects[_identity(item)]
            if old.uid != item.uid:
                self.delete(old)
            self._put(item)

    def delete(self, *items: KubeObject) -> None:
        """Delete objects; only kind and key count. Raises :class:`~kubeclassic.exceptions.UnknownNameError` for what does not exist."""
        found = [self.find(type(item), item.key) for item in items]
        for identity, item in {_identity(item): item for item in found}.items():
            del self._objects[identity]
            self._classes.pop(identity, None)
            for follower in tuple(self._followers):
                follower.delete(item)

    def follow(self, follower: Follower) -> None:
        """Tell *follower* of all objects and of every later change, as long as something refers to it."""
        for item in self.objects:
            follower.put(item)
        self._followers.add(follower)

    def _put(self, item: KubeObject) -> None:
        self._objects[_identity(item)] = item
        if isinstance(item, PriorityClass | StorageClass):
            self._classes[_identity(item)] = item
        for follower in tuple(self._followers):
            follower.put(item)

    # --- as the API server would ------------------------------------------------------------------------------------

    def waiting_pod(self, pod: Pod | Mapping[str, Any] | str) -> Pod:
        """The waiting pod of that name; a pod or manifest is completed and admitted, but not added.

        Raises :class:`~kubeclassic.exceptions.UnknownNameError` and :class:`~kubeclassic.exceptions.ManifestError`.
        """
        if isinstance(pod, str):
            known = self._objects.get((Pod.kind, pod))
            return find_waiting(pod, [known] if isinstance(known, Pod) else self.pods)
        if isinstance(pod, Pod) and self._objects.get(_identity(pod)) is pod:
            return pod
        found = self._taken_in([pod])
        if len(found) != 1 or not isinstance(found[0], Pod):
            raise ManifestError(f"pod: got {', '.join(f'{item.kind} {item.key}' for item in found) or 'nothing'}, wanted one Pod")
        return found[0]

    def _taken_in(self, items: Iterable[Given]) -> tuple[KubeObject, ...]:
        """*items* as objects, then what their workloads would make."""
        parts = list(_read(items, self.defaults))
        known = self.objects if any(part.raw for part in parts) else tuple(self._classes.values())
        inventory = take_in(parts, known, defaults=self.defaults, cron_jobs=self.cron_jobs)
        if inventory.refused:
            raise ManifestError(str(inventory.refused[0]))
        _check_kinds(inventory)
        return inventory.objects


def _identity(item: KubeObject) -> tuple[str, str]:
    return item.kind, item.key


def _read(items: Iterable[Given], defaults: bool) -> Iterable[Loaded]:
    """Each of *items* as if loaded from a file."""
    for number, item in enumerate(items, 1):
        if isinstance(item, KubeObject):
            yield Loaded((with_defaults(item) if defaults else item,))
        else:
            yield load_documents([Document(item, f"manifest {number}")], defaults=defaults)


def _check_kinds(inventory: Inventory) -> None:
    """Refuse manifests that scheduling does not use; in files they are skipped."""
    if inventory.passed_over:
        raise ManifestError(f"manifest: got an object {next(iter(inventory.passed_over))}, which scheduling does not read")


def _check_stays(old: KubeObject, new: KubeObject) -> None:
    if isinstance(old, Pod) and isinstance(new, Pod) and old.uid == new.uid and old.spec.node_name not in ("", new.spec.node_name):
        raise ManifestError(f'Pod {old.key}: spec.nodeName: got "{new.spec.node_name}", wanted {old.spec.node_name}: pods do not move')
