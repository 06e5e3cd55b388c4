"""The differences of two clusters: where long sequences differ, and events for a scheduler that knows the older one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import compress, count
from operator import is_not

from ..api.objects import KubeObject, Node, Pod, of_kind
from ..core.cluster.cache import Cache
from ..core.run import EventFeed

ByKey = dict[tuple[str, str], KubeObject]
"""Objects by kind and key."""
Event = tuple[str, KubeObject]
"""``put``, ``replace`` or ``delete``, and the object."""


def differing(before: Sequence[KubeObject], now: Sequence[KubeObject]) -> tuple[ByKey, ByKey]:
    """The objects only in *before*, and those only in *now*."""
    if before is now:
        return {}, {}
    # Without the objects that both begin with, and those that both end with.
    most = min(len(before), len(now))
    start = next(compress(count(), map(is_not, before, now)), most)
    end = min(next(compress(count(), map(is_not, reversed(before), reversed(now))), most), most - start)
    before = before[start : len(before) - end]
    now = now[start : len(now) - end]
    held = set(map(id, now))
    kept = set(map(id, before))
    gone = {(item.kind, item.key): item for item in before if id(item) not in held}
    come = {(item.kind, item.key): item for item in now if id(item) not in kept}
    for key in [key for key, item in come.items() if gone.get(key) == item]:
        del gone[key], come[key]
    return gone, come


def is_handed_on(item: KubeObject) -> bool:
    """Whether a scheduler hands *item* on to the next one: nodes, and pods that are on one."""
    return isinstance(item, Node) or (isinstance(item, Pod) and bool(item.spec.node_name))


def pods_of_nodes(names: Collection[str], objects: Iterable[KubeObject]) -> Iterator[Pod]:
    """The pods of *objects* on the nodes of these *names*, in order."""
    return (item for item in of_kind(Pod, objects) if item.spec.node_name in names)


def events_between(
    before: Sequence[KubeObject], now: Sequence[KubeObject], cache: Cache
) -> list[Event] | None:
    """Events after which a scheduler knows nodes and pods as if it had been told of *now* alone; *cache*
    knows *before*.

    None where no events lead there. The pods of a node whose list changes go and come again in their order.
    """
    gone, come = differing(before, now)
    nodes = of_kind(Node, come.values())
    new = [node for node in nodes if (node.kind, node.key) not in gone]
    if any(isinstance(item, Node) and key not in come for key, item in gone.items()):
        return None
    if new and (of_kind(Node, now)[-len(new) :] != new or any(one.name in cache.infos for one in new)):
        return None
    replaced = [node for node in nodes if (node.kind, node.key) in gone]
    for node in replaced:
        # It has the zone and the images of the old one: else the order of nodes, or of counts of images,
        # would be another.
        old = gone[node.kind, node.key]
        assert isinstance(old, Node)
        if (
            cache.zone_key(node.labels) != cache.zone_key(old.labels)
            or node.status.images != old.status.images
        ):
            return None
    found: list[Event] = [*(("put", node) for node in new), *(("replace", node) for node in replaced)]
    if mixed := {item.spec.node_name for item in of_kind(Pod, (*gone.values(), *come.values()))}:
        found += [
            *(("delete", pod) for pod in pods_of_nodes(mixed, before)),
            *(("put", pod) for pod in pods_of_nodes(mixed, now)),
        ]
    return found


def tell(feed: EventFeed, events: Iterable[Event]) -> None:
    """Let *feed* deliver the events."""
    for what, item in events:
        if what == "delete":
            feed.delete(item)
        elif what == "put":
            feed.put(item)
        elif isinstance(item, Node):
            feed.engine.replace_node(item)
