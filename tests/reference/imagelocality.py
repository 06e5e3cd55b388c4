"""ImageLocalityPriority as plain loops over nodes, images and containers."""

from __future__ import annotations

from collections.abc import Sequence

from kubeclassic.api.objects import Node, Pod

MIB = 1024 * 1024


def image_locality(pod: Pod, nodes: Sequence[Node]) -> dict[str, int]:
    """The score of each of *nodes*, which were added in this order and not touched since."""
    sizes: dict[str, int] = {}
    holders: dict[str, set[str]] = {}
    states: dict[str, dict[str, tuple[int, int]]] = {}
    for node in nodes:
        states[node.name] = {}
        for image in node.status.images:
            for name in image.names:
                sizes.setdefault(name, image.size_bytes)
                holders.setdefault(name, set()).add(node.name)
                states[node.name][name] = sizes[name], len(holders[name])
    return {node.name: _score(pod, states[node.name], len(nodes)) for node in nodes}


def _score(pod: Pod, state: dict[str, tuple[int, int]], number_of_nodes: int) -> int:
    total = 0
    for container in pod.spec.containers:
        name = container.image
        if ":" not in name.split("/")[-1]:
            name += ":latest"
        if name in state:
            size, holders = state[name]
            total += int(float(size) * (float(holders) / float(number_of_nodes)))
    total = min(max(total, 23 * MIB), 1000 * MIB)
    return 10 * (total - 23 * MIB) // (977 * MIB)
