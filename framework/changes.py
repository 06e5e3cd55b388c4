"""What the framework changed besides single rules, and how it words reasons, as each of its releases has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

from ..api.record import Record, says
from ..core.release import Release
from ..predicates import reasons
from ..predicates.reasons import insufficient
from .correspondences import weights
from .plugins.podtopologyspread import MISSING_LABEL


class Change(Record):
    """One point that the framework changed."""

    about: str
    what: str
    older: Annotated[str | None, says("With predicates and priorities; null: there is no such thing.")]
    newer: Annotated[str | None, says("With plugins; null: there is no such thing.")]


Newer = str | Callable[[Release], str | None]
"""What a release has; a function of it gives None where it is as before."""


def _what_runs(release: Release) -> str:
    if release.policies is None:
        return "a KubeSchedulerConfiguration; Policies are gone since 1.23"
    return (
        "a KubeSchedulerConfiguration, a Policy, or a provider"
        if release.policies.providers
        else "a KubeSchedulerConfiguration, or a Policy"
    )


def _is_alpha(release: Release) -> bool:
    return release.configuration.default_version.startswith("v1alpha")


def _profiles(release: Release) -> str | None:
    return None if release.configuration.default_version == "v1alpha1" else "a profile for each schedulerName"


def _full_nodes(release: Release) -> str:
    if release.policies is not None and release.policies.providers:
        return "the same, or plugin NodeResourcesMostAllocated"
    return "scoringStrategy MostAllocated of NodeResourcesFit"


def _affinity_weight(release: Release) -> str | None:
    if release.policies is not None and release.policies.least_affinity_weight:
        return None
    return "hardPodAffinityWeight of InterPodAffinity, 0 to 100; 0 switches it off"


def _no_preemption(release: Release) -> str | None:
    return None if _is_alpha(release) else "DefaultPreemption among the disabled plugins of postFilter"


def _first_rule(release: Release) -> str | None:
    order = list(weights(release))
    if order.index("TaintToleration") > order.index("NodeResourcesFit"):
        return None
    return "taints, then affinity, ports and resources: a node with both is reported for its taint"


def _all_rules(release: Release) -> str:
    if release.policies is not None and release.policies.checks_all:
        return "reported with alwaysCheckAllPredicates of a Policy; else a node is reported for the first one"
    return "never: a node is reported for the first one"


def _before_nodes(release: Release) -> str:
    names = ", or name the only nodes to ask" if release.framework.pre_filter_narrows else ""
    return f"PreFilter plugins may turn the whole pod down{names}"


def _nominated_first(release: Release) -> str | None:
    gate = release.framework.nominated_gate
    is_on = not gate or (gate in release.gates and release.gates[gate].default)
    return "tried first; if it fits, no other is asked" if is_on else None


def _pods_without_requests(release: Release) -> str | None:
    return None if release.framework.balance_of_two else "count nothing"


def _room(release: Release) -> str | None:
    return None if release.framework.fit_sums_wrap else "what is asked is compared with what is left"


def _budgets(release: Release) -> str | None:
    return None if release.framework.budgets == "used up" else "each victim uses up one disruption that its budget allows"


def _nodes_tried(release: Release) -> str | None:
    return "10 % of them, 100 at least (arguments of DefaultPreemption)" if release.framework.samples_candidates else None


def _preemption_told(release: Release) -> str | None:
    return "follows the reasons, after `preemption:`" if release.framework.shows_post_filter else None


def _retried_by(release: Release) -> str | None:
    return None if release.queueing.any_event_moves else "when something happens for which one of the plugins waits that turned it down"


def _gated_pods(release: Release) -> str | None:
    gate = "PodSchedulingReadiness"
    is_on = gate in release.configuration.settled_gates or (gate in release.gates and release.gates[gate].default)
    return "are not tried until the gates are gone" if is_on else None


_CHANGES: tuple[tuple[str, str, str | None, Newer], ...] = (
    ("configuration", "what runs", "a Policy, or a provider", _what_runs),
    ("configuration", "several schedulers in one process", None, _profiles),
    ("configuration", "prefer full nodes", "provider ClusterAutoscalerProvider, or MostRequestedPriority", _full_nodes),
    ("configuration", "weight of required pod affinity in scores", "hardPodAffinitySymmetricWeight, 1 to 100", _affinity_weight),
    ("configuration", "no preemption", "disablePreemption", _no_preemption),
    ("filtering", "which rule comes first", "resources, ports and selectors (GeneralPredicates), then taints", _first_rule),
    ("filtering", "all rules that fail", "reported with alwaysCheckAllPredicates", _all_rules),
    ("filtering", "before any node is asked", None, _before_nodes),
    ("filtering", "the node that a pod waits for after preemption", "one among others", _nominated_first),
    ("filtering", "conditions of nodes", "read by CheckNodeCondition and others, or as taints (TaintNodesByCondition)",
     "read as taints alone, which the node lifecycle controller sets"),
    ("arithmetic", "score of a rule", "0 to 10", "0 to 100"),
    ("arithmetic", "score of an extender", "times its weight", "times its weight, times 10"),
    ("arithmetic", "pods without requests in BalancedResourceAllocation", "count 100m cpu and 200 MiB", _pods_without_requests),
    ("arithmetic", "whether there is room", "requested and asked are added up, and a sum beyond 2^63 wraps around", _room),
    ("preemption", "disruption budgets", "a victim is protected once its budget allows no more disruptions", _budgets),
    ("preemption", "nodes that are tried", "all", _nodes_tried),
    ("preemption", "in the pod's message", None, _preemption_told),
    ("queue", "when a pod that fits nowhere is tried again", "when anything moves pods", _retried_by),
    ("queue", "pods with schedulingGates", "are tried", _gated_pods),
)  # fmt: skip
"""Subject, what it is, with predicates and priorities, with plugins."""


def changes(newer: Release) -> Iterator[Change]:
    """What the release *newer* does otherwise than those with predicates and priorities, besides single rules, by subject."""
    for about, what, before, told in _CHANGES:
        after = told if isinstance(told, str) else told(newer)
        if after is not None and after != before:
            yield Change(about, what, before, after)


_LABELS = (reasons.NODE_LABEL_PRESENCE_VIOLATED, reasons.SERVICE_AFFINITY_VIOLATED)
_GONE = (
    reasons.NODE_UNDER_MEMORY_PRESSURE, reasons.NODE_UNDER_DISK_PRESSURE, reasons.NODE_UNDER_PID_PRESSURE, reasons.NODE_OUT_OF_DISK,
    reasons.NODE_NOT_READY, reasons.NODE_NETWORK_UNAVAILABLE,
)  # fmt: skip


def messages(newer: Release) -> Iterator[Change]:
    """The reasons that *newer* words differently, or does not give any more; all others are the same."""
    cells = newer.framework
    uneven = reasons.TOPOLOGY_SPREAD_CONSTRAINTS_NOT_MATCH.text
    company = reasons.POD_AFFINITY_NOT_MATCH.text
    worded = (
        ("no place for one more pod", insufficient("pods").text, cells.too_many_pods_text),
        ("node selector and node affinity", reasons.NODE_SELECTOR_NOT_MATCH.text, cells.node_affinity_text),
        ("taints", reasons.TAINTS_TOLERATIONS_NOT_MATCH.text, cells.taint_text.format(key="KEY", value="VALUE")),
        ("node name", reasons.POD_NOT_MATCH_HOST_NAME.text, cells.node_name_text),
        ("a label that spread constraints need", uneven, uneven if cells.missing_key_is_uneven else MISSING_LABEL.text),
        *([("affinity to pods, in general", company, cells.pod_affinity_text)] if cells.pod_affinity_text else ()),
    )
    yield from (Change("messages", what, before, after) for what, before, after in worded if before != after)
    gone = [company] if not cells.pod_affinity_text else []
    gone += [reason.text for reason in (*(_LABELS if newer.policies is None else ()), *_GONE)]
    yield from (Change("messages", "no longer given", text, None) for text in gone)
