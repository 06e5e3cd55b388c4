"""Queueing hints of plugins that look at nodes. See :mod:`kubeclassic.framework.hints`.

Upstream: isSchedulableAfterNodeChange and the like beside each plugin. With *compares* a hint looks at the node as it was; older releases
only ask whether the node as it is would do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...api.meaning.labels import node_selector_matches, pairs_match, tolerates
from ...api.objects import Node, NodeSelector, Pod, Taint
from ...core.pods.requests import PODS, of_node
from ...core.release import Requests
from ...predicates.taints import first_untolerated

CORDONED = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


def node_matches_affinity(pod: Pod, old: Any, new: Any, *, added: NodeSelector | None, compares: bool) -> bool:
    """The node begins to match the pod's node selector and required affinity, and matches what the profile *added*."""
    if added is not None and not node_selector_matches(added, new.labels, new.name):
        return False
    return is_selected(pod, new) and not (compares and old is not None and is_selected(pod, old))


def is_selected(pod: Pod, node: Node) -> bool:
    """Whether the pod's node selector and required affinity match the node."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = None if affinity is None else affinity.required
    if not pairs_match(pod.spec.node_selector, node.labels):
        return False
    return required is None or node_selector_matches(required, node.labels, node.name)


def node_is_schedulable(pod: Pod, old: Any, new: Any, *, compares: bool) -> bool:
    """The node is schedulable, and was not."""
    return not new.spec.unschedulable and (not compares or old is None or old.spec.unschedulable)


def pod_tolerates_unschedulable(pod: Pod, old: Any, new: Any) -> bool:
    """The pod itself tolerates unschedulable nodes now."""
    return pod.uid == new.uid and tolerates(new.spec.tolerations, CORDONED)


def node_is_tolerated(pod: Pod, old: Any, new: Any) -> bool:
    """The pod tolerates the node's taints now, and did not."""
    was_tolerated = old is not None and first_untolerated(old.spec.taints, pod.spec.tolerations) is None
    return not was_tolerated and first_untolerated(new.spec.taints, pod.spec.tolerations) is None


def tolerations_change(pod: Pod, old: Any, new: Any) -> bool:
    """The pod itself has more tolerations."""
    return bool(pod.uid == new.uid) and len(old.spec.tolerations) != len(new.spec.tolerations)


def gates_end(pod: Pod, old: Any, new: Any) -> bool:
    """The pod itself has no scheduling gates."""
    return bool(pod.uid == new.uid) and not new.spec.scheduling_gates


def node_has_room(pod: Pod, old: Any, new: Any, *, requests: Callable[[Pod], Requests], compares: bool) -> bool:
    """The pod would fit on the node if that were empty, and the node has more than before of something that the pod wants."""
    wanted, room = requests(pod), of_node(new.status.allocatable)
    counted = {name: number for name, number in wanted.items() if number}
    if room.get(PODS, 0) < 1 or any(number > room.get(name, 0) for name, number in counted.items()):
        return False
    if not compares or old is None:
        return True
    before = of_node(old.status.allocatable)
    return any(room.get(name, 0) > before.get(name, 0) for name in (PODS, *counted))


def pod_leaves_room(pod: Pod, old: Any, new: Any, *, requests: Callable[[Pod], Requests] | None, nominated: bool) -> bool:
    """A pod left its node, or became smaller there in something that the pod wants; with *requests* None sizes do not change.

    With *nominated* a pod that was nominated to a node counts, too.
    """
    if new is None:
        return was_on_node(old, nominated)
    if requests is None:
        return False
    if new.uid == pod.uid:
        return True
    before, after = requests(old), requests(new)
    return bool(new.spec.node_name) and any(number and before.get(name, 0) > after.get(name, 0) for name, number in requests(pod).items())


def was_on_node(pod: Pod, nominated: bool) -> bool:
    """Whether a pod that is gone took room on a node; with *nominated* also where it was only nominated to one."""
    return bool(pod.spec.node_name or (nominated and pod.status.nominated_node_name))
