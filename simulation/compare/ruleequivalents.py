"""Which scoring rules of two configurations measure the same thing, though their names may differ."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from ...core.rule import Priority

SUCCESSORS: Mapping[str, tuple[str, ...]] = {
    "LeastRequestedPriority": ("NodeResourcesLeastAllocated", "NodeResourcesFit"),
    "MostRequestedPriority": ("NodeResourcesMostAllocated", "NodeResourcesFit"),
    "RequestedToCapacityRatioPriority": ("RequestedToCapacityRatio", "NodeResourcesFit"),
    "BalancedResourceAllocation": ("NodeResourcesBalancedAllocation",),
    "SelectorSpreadPriority": ("DefaultPodTopologySpread", "SelectorSpread", "PodTopologySpread"),
    "ServiceSpreadingPriority": ("DefaultPodTopologySpread", "SelectorSpread", "PodTopologySpread"),
    "EvenPodsSpreadPriority": ("PodTopologySpread",),
    "InterPodAffinityPriority": ("InterPodAffinity",),
    "NodeAffinityPriority": ("NodeAffinity",),
    "TaintTolerationPriority": ("TaintToleration",),
    "ImageLocalityPriority": ("ImageLocality",),
    "NodePreferAvoidPodsPriority": ("NodePreferAvoidPods",),
    "NodeResourcesLeastAllocated": ("NodeResourcesFit",),
    "NodeResourcesMostAllocated": ("NodeResourcesFit",),
    "RequestedToCapacityRatio": ("NodeResourcesFit",),
    "DefaultPodTopologySpread": ("SelectorSpread", "PodTopologySpread"),
    "SelectorSpread": ("PodTopologySpread",),
}
"""Rule that scores -> the plugins of later releases that took its place, the nearest first."""

OF_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "requestedtocapacity": ("NodeResourcesFit",),
    "nodelabel": ("NodeLabel", "NodeAffinity"),
    "serviceantiaffinity": ("ServiceAffinity", "PodTopologySpread"),
}
"""The same for priorities that a Policy defines by arguments, under any name: by the module that they come from."""


def subjects(rules: Iterable[Priority], others: Collection[str]) -> dict[str, str]:
    """Rule -> the name that it is compared under: the first of its own and its successors' that is one of those of *others*, else its own.

    >>> from kubeclassic.algorithmprovider import CATALOGUE
    >>> rules = [CATALOGUE.priorities[name] for name in ("MostRequestedPriority", "EqualPriority")]
    >>> subjects(rules, ["NodeResourcesFit"])
    {'MostRequestedPriority': 'NodeResourcesFit', 'EqualPriority': 'EqualPriority'}
    >>> subjects(rules, ["MostRequestedPriority"])
    {'MostRequestedPriority': 'MostRequestedPriority', 'EqualPriority': 'EqualPriority'}
    """
    known = {name for other in others for name in (other, *SUCCESSORS.get(other, ()))}
    return {rule.name: next((name for name in _names(rule) if name in known), rule.name) for rule in rules}


def _names(rule: Priority) -> tuple[str, ...]:
    """Its name, and those of its successors."""
    module = getattr(rule.score, "__module__", "").rpartition(".")[2]
    return (rule.name, *(SUCCESSORS.get(rule.name) or OF_ARGUMENTS.get(module, ())))
