"""Which scoring rules of two configurations ask the same question, though they may go by different names."""

from __future__ import annotations

from collections.abc import Collection, Mapping

COUNTERPARTS: Mapping[str, str] = {
    "LeastRequestedPriority": "NodeResourcesFit",
    "MostRequestedPriority": "NodeResourcesFit",
    "RequestedToCapacityRatioPriority": "NodeResourcesFit",
    "BalancedResourceAllocation": "NodeResourcesBalancedAllocation",
    "SelectorSpreadPriority": "PodTopologySpread",
    "ServiceSpreadingPriority": "PodTopologySpread",
    "EvenPodsSpreadPriority": "PodTopologySpread",
    "InterPodAffinityPriority": "InterPodAffinity",
    "NodeAffinityPriority": "NodeAffinity",
    "TaintTolerationPriority": "TaintToleration",
    "ImageLocalityPriority": "ImageLocality",
}
"""Priority -> the plugin of the framework that took its place."""


def subjects(rules: Collection[str], others: Collection[str]) -> dict[str, str]:
    """Rule -> what it is about, in view of the *others* that it is set beside: its own name where they know it, else its successor's.

    >>> subjects(["MostRequestedPriority", "EqualPriority"], ["NodeResourcesFit"])
    {'MostRequestedPriority': 'NodeResourcesFit', 'EqualPriority': 'EqualPriority'}
    >>> subjects(["MostRequestedPriority"], ["MostRequestedPriority"])
    {'MostRequestedPriority': 'MostRequestedPriority'}
    """
    return {rule: rule if rule in others else COUNTERPARTS.get(rule, rule) for rule in rules}
