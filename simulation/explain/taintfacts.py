"""What taints there are, for people: which a cluster sets itself, and which toleration was probably meant for which taint."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from ...api.meaning.labels import toleration_tolerates
from ...api.objects import Pod, Taint, Toleration
from .labelfacts import near_keys

SET_BY_CLUSTER: Final = "node.kubernetes.io/"
"""How the keys of taints begin that the cluster itself sets and takes away, by what the node says of itself."""
CONDITIONS = {
    "node.kubernetes.io/not-ready": "ready", "node.kubernetes.io/unreachable": "reachable",
    "node.kubernetes.io/memory-pressure": "free of memory pressure", "node.kubernetes.io/disk-pressure": "free of disk pressure",
    "node.kubernetes.io/pid-pressure": "free of pid pressure", "node.kubernetes.io/network-unavailable": "reachable by network",
    "node.cloudprovider.kubernetes.io/uninitialized": "initialized", "node.kubernetes.io/out-of-service": "in service",
}  # fmt: skip
"""Key of a taint that says how a node is -> what the node is without it."""


def is_state(taint: Taint) -> bool:
    """Whether the cluster sets *taint* and takes it away itself, by how the node is.

    >>> is_state(Taint(key="node.kubernetes.io/not-ready")), is_state(Taint(key="nvidia.com/gpu"))
    (True, False)
    """
    return taint.key.startswith(SET_BY_CLUSTER) or taint.key in CONDITIONS


def taint_text(taint: Taint) -> str:
    """A taint as edits write it.

    >>> taint_text(Taint(key="dedicated", value="gpu", effect="NoSchedule")), taint_text(Taint(key="k", effect="NoExecute"))
    ('dedicated=gpu:NoSchedule', 'k:NoExecute')
    """
    return f"{taint.key}{f'={taint.value}' if taint.value else ''}{f':{taint.effect}' if taint.effect else ''}"


def toleration_text(toleration: Toleration) -> str:
    """A toleration in the same form; one that takes any value has none."""
    value = f"={toleration.value}" if toleration.value and toleration.operator != "Exists" else ""
    return f"{toleration.key}{value}{f':{toleration.effect}' if toleration.effect else ''}"


def idle_tolerations(pod: Pod, taints: Collection[Taint]) -> list[Toleration]:
    """The tolerations of *pod* that are for none of *taints*; those that every pod gets do not count."""
    own = (one for one in pod.spec.tolerations if one.key and not one.key.startswith(SET_BY_CLUSTER))
    return [one for one in own if not any(toleration_tolerates(one, taint) for taint in taints)]


def is_meant(toleration: Toleration, taint: Taint) -> bool:
    """Whether an idle *toleration* is probably meant for *taint*: its key is the same, or nearly so.

    >>> gpu = Taint(key="nvidia.com/gpu", value="present", effect="NoSchedule")
    >>> [is_meant(Toleration(key=key, value="true"), gpu) for key in ("nvidia.com/gpu", "nvidia.com/gpus", "dedicated")]
    [True, True, False]
    """
    return bool(near_keys(toleration.key, [taint.key]))
