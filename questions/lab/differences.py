"""What is new of a scenario since another one: where long sequences differ, and events for a scheduler that knows the old one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import compress, count
from operator import is_not
from typing import TypeVar

import attrs

from ...api.objects import KubeObject, Node, Pod
from ...core.cluster.cache import Cache
from ...core.feed import EventFeed
from ...simulation.scenario import Scenario

T = TypeVar("T")
ByKey = dict[tuple[str, str], KubeObject]
"""Objects by kind and key."""


def other_places(before: Sequence[T], now: Sequence[T]) -> list[int] | None:
    """The places at which *now* holds another object than *before*; None if one of them is longer.

    >>> other_places([a := "a", "b"], [a, "c"])
    [1]
    """
    return list(compress(count(), map(is_not, before, now))) if len(before) == len(now) else None


def without_ends(before: Sequence[T], now: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
    """Both without the objects that they begin with in common, and without those that they end with.

    >>> without_ends("abcd", "axyd")
    ('bc', 'xy')
    """
    most = min(len(before), len(now))
    start = next(compress(count(), map(is_not, before, now)), most)
    end = next(compress(count(), map(is_not, reversed(before), reversed(now))), most)
    end = min(end, most - start)
    return before[start : len(before) - end], now[start : len(now) - end]


def differing(before: Sequence[KubeObject], now: Sequence[KubeObject]) -> tuple[ByKey, ByKey]:
    """What is only in *before*, and what is only in *now*."""
    before, now = without_ends(before, now)
    held, kept = set(map(id, now)), set(map(id, before))
    gone = {(item.kind, item.key): item for item in before if id(item) not in held}
    come = {(item.kind, item.key): item for item in now if id(item) not in kept}
    for key in [key for key, item in come.items() if gone.get(key) == item]:
        del gone[key], come[key]
    return gone, come


def between(before: Scenario, now: Scenario) -> tuple[ByKey, ByKey]:
    """What is only in *before*, and what is only in *now*, among what is there and what waits."""
    (gone, come), (waited, waiting) = differing(before.objects, now.objects), differing(before.pending, now.pending)
    return gone | waited, come | waiting


# --- as events --------------------------------------------------------------------------------------------------------


def is_known(item: KubeObject) -> bool:
    """Whether schedulers hand *item* on to each other: nodes, and pods that are on one."""
    return isinstance(item, Node) or (isinstance(item, Pod) and bool(item.spec.node_name))


@attrs.frozen
class ScenarioChanges:
    """Events after which a scheduler knows nodes and pods as if it had been told of the later scenario alone."""

    added: tuple[Node, ...] = ()
    replaced: tuple[Node, ...] = ()
    leaving: tuple[Pod, ...] = ()
    """Pods that go, or come back in their place on a node whose list changes."""
    coming: tuple[Pod, ...] = ()
    has_others: bool = False
    """Objects of other kinds differ."""

    @classmethod
    def between(cls, before: Scenario, now: Scenario, cache: Cache) -> ScenarioChanges | None:
        """From *before*, which *cache* knows, to *now*; None where no events lead there."""
        gone, come = differing(before.objects, now.objects)
        nodes = [item for item in come.values() if isinstance(item, Node)]
        new = [node for node in nodes if (node.kind, node.key) not in gone]
        if any(isinstance(item, Node) and key not in come for key, item in gone.items()):
            return None
        if new and (now.nodes[-len(new) :] != new or any(node.name in cache.infos for node in new)):
            return None
        replaced = [node for node in nodes if (node.kind, node.key) in gone]
        if not all(_takes_the_place(node, gone[node.kind, node.key], cache) for node in replaced):
            return None
        mixed = {item.spec.node_name for item in (*gone.values(), *come.values()) if isinstance(item, Pod)}
        there, here = (cls.of_nodes(mixed, one).coming if mixed else () for one in (before, now))
        has_others = any(not is_known(item) for item in (*gone.values(), *come.values()))
        return cls(tuple(new), tuple(replaced), there, here, has_others)

    @classmethod
    def of_nodes(cls, names: Collection[str], scenario: Scenario) -> ScenarioChanges:
        """The pods of these nodes go and come again in the order of *scenario*."""
        pods = tuple(item for item in scenario.objects if isinstance(item, Pod) and item.spec.node_name in names) if names else ()
        return cls(leaving=pods, coming=pods)

    def tell(self, feed: EventFeed) -> None:
        """Let *feed* deliver the events."""
        for node in self.added:
            feed.put(node)
        for node in self.replaced:
            feed.engine.replace_node(node)
        for pod in self.leaving:
            feed.delete(pod)
        for pod in self.coming:
            feed.put(pod)


def _takes_the_place(node: KubeObject, old: KubeObject, cache: Cache) -> bool:
    """Whether *node* has the zone and the images of *old*: else the order of nodes, or of counts of images, would be another."""
    assert isinstance(node, Node)
    assert isinstance(old, Node)
    return cache.zone_key(node.labels) == cache.zone_key(old.labels) and node.status.images == old.status.images
