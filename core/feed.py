"""The feed of a scheduler: objects that are added, updated and deleted, as the API's watch delivers them.

Upstream: the event handlers in pkg/scheduler/eventhandlers.go (1.12: pkg/scheduler/factory/factory.go).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import attrs

from ..api.garbage import no_garbage_collection
from ..api.objects import DeviceClass, KubeObject, Node, PersistentVolume, PersistentVolumeClaim, Pod
from .engine import Engine


@attrs.define(eq=False, repr=False)
class EventFeed:
    """Delivers events to *engine*. An add of an existing object is an update; deleting an unknown object does
    nothing."""

    engine: Engine
    counts_finished: bool = False
    """Pods that have finished stay on their nodes, as where nothing keeps them from the scheduler; else they
    leave."""

    def put(self, item: KubeObject) -> None:
        """An object is added or updated."""
        if self.engine.point is not None:
            self._note(item, item)
        if isinstance(item, Node):
            self._put_node(item)
        elif isinstance(item, Pod):
            self._put_pod(item)
        else:
            self._change_listed(item, item)

    def put_all(self, items: Iterable[KubeObject]) -> None:
        """Many objects are added or updated, such as a whole cluster."""
        with no_garbage_collection():
            for item in items:
                self.put(item)

    def reorder(self, placed: Mapping[str, Sequence[Pod]], mixed: Collection[str]) -> bool:
        """Let pods whose nodes list them in another order than *placed*, and those of the nodes *mixed*, come
        again in that order.

        False where that does not restore what was, as other pods are there, or plugins let pods wait.
        """
        engine = self.engine
        _, states, assumed = engine.cache.counts
        waits = any(profile.points["permit"] for profile in engine.flow.profiles.values())
        if waits or assumed or states != sum(map(len, placed.values())):
            return False
        for name, info in engine.cache.infos.items():
            if name in mixed or info.is_reordered:
                there = placed.get(name, [])
                if name in mixed or [entry.pod for entry in info.pods] != there:
                    for pod in there:
                        self.delete(pod)
                    self.put_all(there)
                info.is_reordered = False
        engine.fresh_table().transient[:] = 0
        engine.look_for_huge()
        return True

    def delete(self, item: KubeObject) -> None:
        """An object is deleted; only its kind and key matter."""
        if self.engine.point is not None:
            self._note(item, None)
        if isinstance(item, Node):
            node = self.engine.cache.node(item.name)
            if node is not None:
                self.engine.cache.remove_node(node)
                self._follow(node, None)
        elif isinstance(item, Pod):
            self._delete_pod(item)
        else:
            self._change_listed(item, None)

    def _note(self, item: KubeObject, new: KubeObject | None) -> None:
        """*new* is about to be put, or *item* deleted."""
        note = self.engine.on_undo
        known = self.known(item)
        if isinstance(item, Node) and self._zone(known) != self._zone(new):
            note(self.engine.cache.order.restore, *self.engine.cache.order.saved())
        if isinstance(item, DeviceClass):
            # What a class gave before another one took it does not follow from the classes that are there.
            classes = self.engine.listings.device_classes
            note(classes.restore, dict(classes.by_resource))
        if known is not None:
            note(self.put, known)
        elif new is not None:
            note(self.delete, new)

    def _zone(self, node: KubeObject | None) -> str | None:
        return None if node is None else self.engine.cache.zone_key(node.labels)

    def exists(self, item: KubeObject) -> bool:
        """Whether the scheduler knows an object of this kind and key."""
        return self.known(item) is not None

    def known(self, item: KubeObject) -> KubeObject | None:
        """The object of this kind and key as the scheduler knows it; a pod is on its node."""
        if isinstance(item, Node):
            return self.engine.cache.node(item.name)
        if isinstance(item, Pod):
            state = self.engine.cache.state(item)
            return None if state is None else state.pod
        return self.listed(item)

    def listed(self, item: KubeObject) -> KubeObject | None:
        """The object of this kind and key, which is no node and no pod, as the scheduler knows it."""
        listing = self.engine.listings.of(item)
        return None if listing is None else listing.get(item.key)

    def _put_node(self, node: Node) -> None:
        old = self.engine.cache.node(node.name)
        if old is None:
            self.engine.cache.add_node(node)
        else:
            self.engine.cache.update_node(old, node)
            self._follow(old, node)

    def _put_pod(self, pod: Pod) -> None:
        if pod.is_terminal and not self.counts_finished:
            self._delete_pod(pod)
            return
        state = self.engine.cache.state(pod)
        if state is None or state.assumed:
            self.engine.cache.add(pod)
        else:
            old = state.pod
            self.engine.cache.update(pod)
            self._follow(old, pod)

    def _delete_pod(self, pod: Pod) -> None:
        state = self.engine.cache.state(pod)
        if state is None:
            return
        if state.assumed:
            self.engine.cache.add(state.pod)
        self.engine.cache.remove(state.pod)
        self._follow(state.pod, None)
        if self.engine.templates.are_many:
            self.engine.tidy()

    def _change_listed(self, item: KubeObject, new: KubeObject | None) -> None:
        """The object of the kind and key of *item*, no node and no pod, is *new* now; None where it is
        deleted."""
        listing = self.engine.listings.of(item)
        binder = self.engine.binder
        old = None
        if listing is not None:
            old = listing.drop(item.key) if new is None else listing.put(new)
        if isinstance(item, PersistentVolume | PersistentVolumeClaim):
            (binder.drop if new is None else binder.put)(item)
        if old is not None or new is not None:
            self._follow(old, new)

    def _follow(self, old: KubeObject | None, new: KubeObject | None) -> None:
        self.engine.flow.follow(old, new)
