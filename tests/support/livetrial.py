"""Pods of a live cluster that wait though a node has room, judged by what the server stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.apiserver.answers import Object
from tests.apiserver.storage import Storage
from tests.apiserver.watcher import Load, Watcher, amounts, requests


def with_room(storage: Storage, watcher: Watcher) -> list[str]:
    """The pods that wait though a node of their selector has room, or would have without the pods that they may preempt."""
    pods = storage.of("pods")
    waiting = {name: pods[namespace, short] for name in watcher.waiting() for namespace, short in [tuple(name.split("/"))]}
    return [name for name, pod in waiting.items() if any(_rooms(pod, storage, watcher))]


def _rooms(pod: Object, storage: Storage, watcher: Watcher) -> Iterator[bool]:
    """For each node that *pod* selects whether it has room."""
    wanted, selector = requests(pod), (pod["spec"].get("nodeSelector") or {}).items()
    for (_, name), node in storage.of("nodes").items():
        if selector <= node["metadata"]["labels"].items():
            room, taken = amounts(node["status"]["allocatable"]), _staying(watcher.loads.get(name, Load()), _priority(pod))
            yield all(wanted[each] + taken[each] <= room[each] for each in wanted)


def _staying(load: Load, priority: int) -> Counter[str]:
    """What those pods of a node take that a pod of *priority* may not preempt."""
    if not priority:
        return load.total
    return sum((requests(each) for each in load.pods.values() if _priority(each) >= priority), Counter())


def _priority(pod: Object) -> int:
    return int(pod["spec"].get("priority") or 0)
