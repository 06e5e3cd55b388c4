"""Queueing hints of plugins that look at the pods of nodes. See :mod:`kubeclassic.framework.hints`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from ...api.meaning.labels import Matcher, compile_selector
from ...api.objects import Node, Pod, PodAffinityTerm
from ...core.pods.template import Port, host_ports
from .nodes import was_on_node

# --- host ports -----------------------------------------------------------------------------------------------------


def pod_leaves_ports(pod: Pod, old: Any, new: Any, *, nominated: bool) -> bool:
    """A pod left its node that used a host port which the pod wants. Upstream: isSchedulableAfterPodDeleted of NodePorts."""
    if not was_on_node(old, nominated):
        return False
    return any(ports_clash(wanted, used) for wanted in host_ports(pod) for used in host_ports(old))


def ports_clash(one: Port, other: Port) -> bool:
    """Whether no node has both ports."""
    everywhere = "0.0.0.0"
    return one[1:] == other[1:] and (one[0] == other[0] or everywhere in (one[0], other[0]))


# --- affinity between pods ------------------------------------------------------------------------------------------


def affine_pod_changes(pod: Pod, old: Any, new: Any) -> bool:
    """A pod on a node begins to match all of the pod's required affinity terms, or no longer matches all anti-affinity terms.

    Upstream: isSchedulableAfterPodChange of InterPodAffinity.
    """
    if any(other is not None and not other.spec.node_name for other in (old, new)):
        return False
    wanted, avoided = affinity_terms(pod)
    if old is None:
        return _matches_all(wanted, pod, new)
    if new is None:
        return _matches_all(avoided, pod, old)
    begins = not _matches_all(wanted, pod, old) and _matches_all(wanted, pod, new)
    return begins or (_matches_all(avoided, pod, old) and not _matches_all(avoided, pod, new))


def affine_node_changes(pod: Pod, old: Any, new: Any, *, compares: bool) -> bool:
    """The node has the topology key of a required term; if it *compares*, it has another value now, or has, or lacks, the key newly.

    Upstream: isSchedulableAfterNodeChange of InterPodAffinity.
    """
    wanted, avoided = affinity_terms(pod)
    if not compares:
        return any(term.topology_key in new.labels for term in (*wanted, *avoided))
    if old is None:
        return bool(avoided) or any(term.topology_key in new.labels for term in wanted)
    comes = any(term.topology_key in new.labels and _has_changed(term, old, new) for term in wanted)
    return comes or any(term.topology_key in old.labels and _has_changed(term, old, new) for term in avoided)


def _has_changed(term: PodAffinityTerm, old: Node, new: Node) -> bool:
    return old.labels.get(term.topology_key) != new.labels.get(term.topology_key)


def affinity_terms(pod: Pod) -> tuple[Sequence[PodAffinityTerm], Sequence[PodAffinityTerm]]:
    """The required terms of affinity and of anti-affinity."""
    affinity = pod.spec.affinity
    wanted = () if affinity is None or affinity.pod_affinity is None else affinity.pod_affinity.required
    avoided = () if affinity is None or affinity.pod_anti_affinity is None else affinity.pod_anti_affinity.required
    return wanted, avoided


def _matches_all(terms: Sequence[PodAffinityTerm], owner: Pod, other: Pod) -> bool:
    return bool(terms) and all(_matches(term, owner, other) for term in terms)


def _matches(term: PodAffinityTerm, owner: Pod, other: Pod) -> bool:
    own_space = not term.namespaces and term.namespace_selector is None
    # Upstream: the labels of the namespace are not looked up, so a selector reaches it only if it matches no labels at all.
    reached = other.namespace in (term.namespaces or ((owner.namespace,) if own_space else ()))
    return (reached or compile_selector(term.namespace_selector)({})) and compile_selector(term.label_selector)(other.labels)


# --- topology spread ------------------------------------------------------------------------------------------------


@attrs.frozen(repr=False)
class Spread:
    """A hard constraint as hints look at it."""

    topology_key: str
    matches: Matcher
    honors_taints: bool


ConstraintsOf = Callable[[Pod], Sequence[Spread] | None]
"""A pod's hard constraints; None where they depend on its services and controller, and then every event may help."""


def spread_pod_changes(pod: Pod, old: Any, new: Any, *, constraints: ConstraintsOf, sees_itself: bool) -> bool:
    """A pod of the namespace comes to a node, leaves it or changes its labels, so that a constraint counts one more or one less.

    With *sees_itself* also a change of the pod's own labels, or of its tolerations where taints count.
    Upstream: isSchedulableAfterPodChange of PodTopologySpread.
    """
    if any(other is not None and not _is_involved(other, pod, sees_itself) for other in (old, new)):
        return False
    found = constraints(pod)
    if found is None:
        return True
    if old is None or new is None:
        return any(each.matches((old or new).labels) for each in found)
    if sees_itself and pod.uid == new.uid and old.spec.tolerations != new.spec.tolerations and any(each.honors_taints for each in found):
        return True
    return bool(old.labels != new.labels) and any(each.matches(old.labels) != each.matches(new.labels) for each in found)


def _is_involved(other: Pod, pod: Pod, sees_itself: bool) -> bool:
    return (sees_itself and other.uid == pod.uid) or (bool(other.spec.node_name) and other.namespace == pod.namespace)


def spread_node_changes(pod: Pod, old: Any, new: Any, *, constraints: ConstraintsOf, compares: bool) -> bool:
    """A node with all topology keys comes, goes, or changes its domains or taints. Upstream: isSchedulableAfterNodeChange."""
    found = constraints(pod)
    if found is None:
        return True
    keys = [each.topology_key for each in found]
    had, has = (node is not None and all(key in node.labels for key in keys) for node in (old, new))
    if old is None or not compares:
        return has if new is not None else had
    if new is None or had != has:
        return had or new is not None
    return has and (any(old.labels[key] != new.labels[key] for key in keys) or old.spec.taints != new.spec.taints)
