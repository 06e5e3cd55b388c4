"""A cluster as read from files, for a simulation: the objects that exist, and the pods that wait for a node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import IO, Any

import attrs

from ..api.inventory import DEFAULT_SCHEDULER, ON_A_NODE, Inventory, read_inventory, why_not_waiting
from ..api.objects import KubeObject, Node, Pod
from ..api.reading.documents import PathLike
from ..exceptions import ManifestError

__all__ = ["DEFAULT_SCHEDULER", "Scenario", "read_scenario"]


@attrs.frozen
class Scenario:
    """A cluster and the pods that wait for a node, both in the order in which they were given."""

    objects: tuple[KubeObject, ...]
    """Nodes, pods with a node, and everything else that the scheduler reads."""
    pending: tuple[Pod, ...]
    passed_over: Mapping[str, int] = attrs.field(factory=dict)
    """Why an object is ignored -> how many."""
    warnings: tuple[str, ...] = ()
    config_maps: Mapping[tuple[str, str], Mapping[str, Any]] = attrs.field(factory=dict)
    """Manifests of ConfigMaps, by namespace and name."""
    set_aside: tuple[Pod, ...] = ()
    """The pods that are ignored."""

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return sum(isinstance(item, Node) for item in self.objects)


def read_scenario(
    paths: PathLike | Iterable[PathLike],
    pods: Iterable[PathLike] = (),
    *,
    scheduler_name: str | Collection[str] = DEFAULT_SCHEDULER,
    defaults: bool = True,
    stdin: IO[Any] | None = None,
) -> Scenario:
    """Read *paths* and, for more waiting pods, *pods*; workloads count as the pods that their controllers would still create.

    With *defaults* objects are completed and admitted as the API server would. Pods that have finished, are being deleted or ask for
    a scheduler of another name than *scheduler_name*, one or several, do not wait. Raises
    :class:`~kubeclassic.exceptions.ManifestError`.
    """
    names = frozenset([scheduler_name] if isinstance(scheduler_name, str) else scheduler_name)
    return _sorted(read_inventory(paths, pods, defaults=defaults, stdin=stdin), names)


def _sorted(inventory: Inventory, scheduler_names: Collection[str]) -> Scenario:
    """Separate what exists from what waits."""
    nodes = {item.name for item in inventory.objects if isinstance(item, Node)}
    if not nodes:
        raise ManifestError("cluster: got no Node, wanted one at least")
    there: list[KubeObject] = []
    pending: list[Pod] = []
    set_aside: list[Pod] = []
    passed_over, warnings = Counter(inventory.passed_over), list(inventory.warnings)
    for item in inventory.objects:
        why = why_not_waiting(item, scheduler_names) if isinstance(item, Pod) else ON_A_NODE
        if why == ON_A_NODE:
            there.append(item)
        elif why is not None:
            passed_over[why] += 1
            set_aside += [item] if isinstance(item, Pod) else []
        elif isinstance(item, Pod):
            pending.append(item)
    warnings += [_orphaned(pod) for pod in there if isinstance(pod, Pod) and pod.spec.node_name not in nodes]
    return Scenario(tuple(there), tuple(pending), dict(passed_over), tuple(warnings), inventory.config_maps, tuple(set_aside))


def _orphaned(pod: Pod) -> str:
    return f"Pod {pod.key}: spec.nodeName: got {pod.spec.node_name}, which is no node that was given"
