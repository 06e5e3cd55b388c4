"""Which scoring rules of two configurations measure the same thing, though their names may differ."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from ...core.rule import Priority

SUCCESSORS: Mapping[str, tuple[str, ...]] = {
    "LeastRequestedPriority": ("NodeResourcesFit",),
    "MostRequestedPriority": ("NodeResourcesFit",),
    "RequestedToCapacityRatioPriority": ("NodeResourcesFit",),
    "BalancedResourceAllocation": ("NodeResourcesBalancedAllocation",),
    "SelectorSpreadPriority": ("SelectorSpread", "PodTopologySpread"),
    "ServiceSpreadingPriority": ("SelectorSpread", "PodTopologySpread"),
    "EvenPodsSpreadPriority": ("PodTopologySpread",),
    "InterPodAffinityPriority": ("InterPodAffinity",),
    "NodeAffinityPriority": ("NodeAffinity",),
    "TaintTolerationPriority": ("TaintToleration",),
    "ImageLocalityPriority": ("ImageLocality",),
}
"""Priority -> the plugins of the framework that took its place, the nearest first."""

OF_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "requestedtocapacity": ("NodeResourcesFit",),
    "nodelabel": ("NodeAffinity",),
    "serviceantiaffinity": ("PodTopologySpread",),
}
"""The same for priorities that a Policy defines by arguments, under any name: by the module that they come from."""


def subjects(rules: Iterable[Priority], others: Collection[str]) -> dict[str, str]:
    """Rule -> the name that it is compared under: its own if it is among *others*, else its successor's.

    >>> from kubeclassic.algorithmprovider import CATALOGUE
    >>> rules = [CATALOGUE.priorities[name] for name in ("MostRequestedPriority", "EqualPriority")]
    >>> subjects(rules, ["NodeResourcesFit"])
    {'MostRequestedPriority': 'NodeResourcesFit', 'EqualPriority': 'EqualPriority'}
    >>> subjects(rules, ["MostRequestedPriority"])
    {'MostRequestedPriority': 'MostRequestedPriority', 'EqualPriority': 'EqualPriority'}
    """
    return {rule.name: _subject(rule, others) for rule in rules}


def _subject(rule: Priority, others: Collection[str]) -> str:
    if rule.name in others:
        return rule.name
    module = getattr(rule.score, "__module__", "").rpartition(".")[2]
    successors = SUCCESSORS.get(rule.name) or OF_ARGUMENTS.get(module) or (rule.name,)
    return next((name for name in successors if name in others), successors[-1])
