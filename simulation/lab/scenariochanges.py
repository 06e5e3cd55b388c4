"""What is new of a scenario since another one, as events for a scheduler that knows that one."""

from __future__ import annotations

from collections.abc import Collection

import attrs

from ...api.objects import KubeObject, Node, Pod
from ...core.cluster.cache import Cache
from ...core.feed import EventFeed
from ..scenario import Scenario
from .differences import differing


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
