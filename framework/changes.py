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

GATES = "PodSchedulingReadiness"


class Change(Record):
    """One point that the framework changed."""

    about: str
    what: str
    older: Annotated[str | None, says("With predicates and priorities; null: there is no such thing.")]
    newer: Annotated[str | None, says("With plugins; null: there is no such thing.")]


Newer = str | Callable[[Release], str | None]
"""What a release has; a function of it gives None where it is as before."""


def _where(has: Callable[[Release], object], text: str) -> Newer:
    """*text* for the releases that have it."""
    return lambda release: text if has(release) else None


def _what_runs(release: Release) -> str:
    if release.policies is None:
        return "a KubeSchedulerConfiguration; Policies are gone since 1.23"
    return (
        "a KubeSchedulerConfiguration, a Policy, or a provider"
        if release.policies.providers
        else "a KubeSchedulerConfiguration, or a Policy"
    )


def _full_nodes(release: Release) -> str:
    if release.policies is not None and release.policies.providers:
        return "the same, or plugin NodeResourcesMostAllocated"
    return "scoringStrategy MostAllocated of NodeResourcesFit"


def _taints_first(release: Release) -> bool:
    order = list(weights(release))
    return order.index("TaintToleration") < order.index("NodeResourcesFit")


def _all_rules(release: Release) -> str:
    if release.policies is not None and release.policies.checks_all:
        return "reported with alwaysCheckAllPredicates of a Policy; else a node is reported for the first one"
    return "never: a node is reported for the first one"


def _before_nodes(release: Release) -> str:
    names = ", or name the only nodes to ask" if release.framework.pre_filter_narrows else ""
    return f"PreFilter plugins may turn the whole pod down{names}"


def _is_on(gate: str, release: Release) -> bool:
    return gate in release.gates and release.gates[gate].default


_CHANGES: tuple[tuple[str, str, str | None, Newer], ...] = (
    ("configuration", "what runs", "a Policy, or a provider", _what_runs),
    ("configuration", "several schedulers in one process", None,
     _where(lambda release: release.configuration.default_version != "v1alpha1", "a profile for each schedulerName")),
    ("configuration", "prefer full nodes", "provider ClusterAutoscalerProvider, or MostRequestedPriority", _full_nodes),
    ("configuration", "weight of required pod affinity in scores", "hardPodAffinitySymmetricWeight, 1 to 100",
     _where(lambda release: release.policies is None or not release.policies.least_affinity_weight,
            "hardPodAffinityWeight of InterPodAffinity, 0 to 100; 0 switches it off")),
    ("configuration", "no preemption", "disablePreemption",
     _where(lambda release: not release.configuration.default_version.startswith("v1alpha"),
            "DefaultPreemption among the disabled plugins of postFilter")),
    ("filtering", "which rule comes first", "resources, ports and selectors (GeneralPredicates), then taints",
     _where(_taints_first, "taints, then affinity, ports and resources: a node with both is reported for its taint")),
    ("filtering", "all rules that fail", "reported with alwaysCheckAllPredicates", _all_rules),
    ("filtering", "before any node is asked", None, _before_nodes),
    ("filtering", "the node that a pod waits for after preemption", "one among others",
     _where(lambda release: not (gate := release.framework.nominated_gate) or _is_on(gate, release),
            "tried first; if it fits, no other is asked")),
    ("filtering", "conditions of nodes", "read by CheckNodeCondition and others, or as taints (TaintNodesByCondition)",
     "read as taints alone, which the node lifecycle controller sets"),
    ("arithmetic", "score of a rule", "0 to 10", "0 to 100"),
    ("arithmetic", "score of an extender", "times its weight", "times its weight, times 10"),
    ("arithmetic", "pods without requests in BalancedResourceAllocation", "count 100m cpu and 200 MiB",
     _where(lambda release: not release.framework.balance_of_two, "count nothing")),
    ("arithmetic", "whether there is room", "requested and asked are added up, and a sum beyond 2^63 wraps around",
     _where(lambda release: not release.framework.fit_sums_wrap, "what is asked is compared with what is left")),
    ("preemption", "disruption budgets", "a victim is protected once its budget allows no more disruptions",
     _where(lambda release: release.framework.budgets != "used up", "each victim uses up one disruption that its budget allows")),
    ("preemption", "nodes that are tried", "all",
     _where(lambda release: release.framework.samples_candidates, "10 % of them, 100 at least (arguments of DefaultPreemption)")),
    ("preemption", "in the pod's message", None,
     _where(lambda release: release.framework.shows_post_filter, "follows the reasons, after `preemption:`")),
    ("queue", "when a pod that fits nowhere is tried again", "when anything moves pods",
     _where(lambda release: not release.queueing.any_event_moves,
            "when something happens for which one of the plugins waits that turned it down")),
    ("queue", "pods with schedulingGates", "are tried",
     _where(lambda release: GATES in release.configuration.settled_gates or _is_on(GATES, release),
            "are not tried until the gates are gone")),
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
