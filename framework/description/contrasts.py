"""What the framework changed besides single rules: one row for each point, with the way before and the way since."""

from __future__ import annotations

from typing import Annotated

from ...api.record import Record, says
from ...predicates import reasons
from ...predicates.reasons import insufficient
from ..plugins.nodeaffinity import NOT_MATCHING
from ..plugins.nodename import DIFFERENT_NODE
from ..plugins.podtopologyspread import MISSING_LABEL

TOO_MANY_PODS, UNTOLERATED = "Too many pods", "node(s) had untolerated taint {KEY: VALUE}"


class Change(Record):
    """One point that the framework changed."""

    about: str
    what: str
    older: Annotated[str | None, says("With predicates and priorities; null: there is no such thing.")]
    newer: Annotated[str | None, says("With plugins; null: there is no such thing.")]


CHANGES = (
    Change("configuration", "what runs", "a Policy, or a provider", "a KubeSchedulerConfiguration; Policies are gone since 1.23"),
    Change("configuration", "several schedulers in one process", None, "a profile for each schedulerName"),
    Change(
        "configuration", "prefer full nodes", "provider ClusterAutoscalerProvider, or MostRequestedPriority",
        "scoringStrategy MostAllocated of NodeResourcesFit",
    ),
    Change("configuration", "weight of required pod affinity in scores", "hardPodAffinitySymmetricWeight, 1 to 100",
           "hardPodAffinityWeight of InterPodAffinity, 0 to 100; 0 switches it off"),
    Change("configuration", "no preemption", "disablePreemption", "DefaultPreemption among the disabled plugins of postFilter"),
    Change("filtering", "which rule comes first", "resources, ports and selectors (GeneralPredicates), then taints",
           "taints, then affinity, ports and resources: a node with both is reported for its taint"),
    Change("filtering", "all rules that fail", "reported with alwaysCheckAllPredicates", "never: a node is reported for the first one"),
    Change("filtering", "before any node is asked", None, "PreFilter plugins may turn the whole pod down, or name the only nodes to ask"),
    Change("filtering", "the node that a pod waits for after preemption", "one among others", "tried first; if it fits, no other is asked"),
    Change("filtering", "conditions of nodes", "read by CheckNodeCondition and others, or as taints (TaintNodesByCondition)",
           "read as taints alone, which the node lifecycle controller sets"),
    Change("arithmetic", "score of a rule", "0 to 10", "0 to 100"),
    Change("arithmetic", "score of an extender", "times its weight", "times its weight, times 10"),
    Change("arithmetic", "pods without requests in BalancedResourceAllocation", "count 100m cpu and 200 MiB", "count nothing"),
    Change("arithmetic", "whether there is room", "requested and asked are added up, and a sum beyond 2^63 wraps around",
           "what is asked is compared with what is left"),
    Change("preemption", "disruption budgets", "a victim is protected once its budget allows no more disruptions",
           "each victim uses up one disruption that its budget allows"),
    Change("preemption", "nodes that are tried", "all", "10 % of them, 100 at least (arguments of DefaultPreemption)"),
    Change("preemption", "in the pod's message", None, "follows the reasons, after `preemption:`"),
    Change("queue", "when a pod that fits nowhere is tried again", "when anything moves pods",
           "when something happens for which one of the plugins waits that turned it down"),
    Change("queue", "pods with schedulingGates", "are tried", "are held back until the gates are gone"),
)  # fmt: skip
"""The changes that are not about a single rule, by subject."""

_GONE = (
    reasons.POD_AFFINITY_NOT_MATCH, reasons.NODE_LABEL_PRESENCE_VIOLATED, reasons.SERVICE_AFFINITY_VIOLATED,
    reasons.NODE_UNDER_MEMORY_PRESSURE, reasons.NODE_UNDER_DISK_PRESSURE, reasons.NODE_UNDER_PID_PRESSURE, reasons.NODE_OUT_OF_DISK,
    reasons.NODE_NOT_READY, reasons.NODE_NETWORK_UNAVAILABLE,
)  # fmt: skip
MESSAGES = (
    Change("messages", "no place for one more pod", insufficient("pods").text, TOO_MANY_PODS),
    Change("messages", "node selector and node affinity", reasons.NODE_SELECTOR_NOT_MATCH.text, NOT_MATCHING.text),
    Change("messages", "taints", reasons.TAINTS_TOLERATIONS_NOT_MATCH.text, UNTOLERATED),
    Change("messages", "node name", reasons.POD_NOT_MATCH_HOST_NAME.text, DIFFERENT_NODE.text),
    Change("messages", "a label that spread constraints need", reasons.TOPOLOGY_SPREAD_CONSTRAINTS_NOT_MATCH.text, MISSING_LABEL.text),
    *(Change("messages", "no longer given", reason.text, None) for reason in _GONE),
)
"""The reasons that are worded differently, or are gone; all others are the same."""
