"""How the pods that a hard constraint of topology spread counts are spread: by domain, with the emptiest one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import attrs

from ...api.meaning.labels import SelectorError, selector_matches, tolerates
from ...api.objects import Node, Pod
from ...api.objects.pods import DEFAULT_SCHEDULER
from ...core.engine import Engine
from ...core.matching.spread import domains_by_key, hard_constraints
from ...framework.hints import CORDONED
from ...framework.plugins.podtopologyspread import PodTopologySpread
from ...framework.plugins.spreadconstraints import HARD
from ...framework.plugins.spreadcounts import domains_shared
from ...framework.plugins.spreadcounts import hard_constraints as framework_constraints

MOST = 5
"""Domains that are named."""


@attrs.frozen
class SpreadCounts:
    """The counts of one constraint: domain -> pods that it counts."""

    counts: dict[str, int]
    own: int
    """1 if the constraint counts the pod itself."""
    max_skew: int
    min_domains: int = 1
    """With fewer domains the smallest count is 0."""

    @property
    def least(self) -> int:
        """The smallest count, as the rule takes it."""
        return 0 if len(self.counts) < self.min_domains else min(self.counts.values())

    def note(self, key: str, failing: Collection[str], nodes: Collection[Node], pod: Pod) -> str:
        """The counts, which of the emptiest domains the pod cannot use, and the sum by which the emptiest of *failing* domains fails."""
        by_count = sorted(self.counts.items(), key=lambda pair: pair[1])
        told = ", ".join(f"{domain} has {count:,}" for domain, count in by_count[:MOST]) + (", ..." if len(by_count) > MOST else "")
        of = {domain: [node for node in nodes if node.labels.get(key) == domain] for domain, count in by_count if count == self.least}
        tainted = [domain for domain, there in of.items() if there and all(_is_closed(node, pod) for node in there)]
        though = f"; {tainted[0]} counts though the pod does not tolerate its taints" if tainted else ""
        few = f"; fewer than {self.min_domains:,} domains, so the smallest counts as 0" if len(self.counts) < self.min_domains else ""
        full = min((self.counts[domain] for domain in failing if domain in self.counts), default=None)
        return f"{told}{though}{few}" + ("" if full is None else f"; {full:,} + {self.own} - {self.least:,} > {self.max_skew:,}")


def spread_counts(engine: Engine, pod: Pod) -> SpreadCounts | None:
    """Those of *pod*, which has one hard constraint; None where there are no domains, or its selector is invalid."""
    cycle: Any = engine.begin(pod)
    template, table, key = cycle.template, cycle.table, pod.spec.topology_spread_constraints[0].topology_key
    profile = engine.profiles.get(pod.spec.scheduler_name or DEFAULT_SCHEDULER)
    plugin: Any = None if profile is None else profile.plugins().get(PodTopologySpread.name)
    try:
        if plugin is not None:
            constraints = plugin.constraints(template, HARD, cycle)
            (hard,) = framework_constraints(template, constraints, table, plugin.cells)
            (domains,) = domains_shared([hard], table).values()
            skew, least = hard.constraint.max_skew, hard.constraint.min_domains
            own = skew - hard.most
        else:
            (constraint,) = hard_constraints(template)
            domains = domains_by_key(template, (constraint,), frozenset((pod.namespace,)), table)[key]
            skew, least, own = constraint.max_skew, 1, int(selector_matches(constraint.label_selector, pod.labels))
    except SelectorError:
        return None
    if key not in table.labels or not len(domains.values):
        return None
    names = table.labels[key].values
    counts = {names[code] or "": int(domains.counts[code]) for code in domains.values.tolist()}
    return SpreadCounts(counts, own, skew, least)


def _is_closed(node: Node, pod: Pod) -> bool:
    """Whether *pod* does not tolerate a taint of *node*, or its cordon."""
    taints = [taint for taint in node.spec.taints if taint.effect in ("NoSchedule", "NoExecute")]
    taints += [CORDONED] * node.spec.unschedulable
    return any(not tolerates(pod.spec.tolerations, taint) for taint in taints)
