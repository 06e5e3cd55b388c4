"""Other pods: one that moves or goes, one whose anti-affinity is in the way, or those that a higher priority evicts."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import attrs

from ...api.objects import Pod
from ...core.pods.template import Entry
from ..drain.rules import comes_back
from ..explain.explain import freed
from ..explain.values import NodeReport
from .context import Helpful, WhatIfChange, WhatIfContext
from .podchanges import REQUIRED, edit_of_pod, is_short_only


@attrs.frozen
class Leaving:
    """A pod on a node that could go."""

    entry: Entry
    node: str
    share: float
    """The largest share of its node's resources that it has."""

    @property
    def pod(self) -> Pod:
        """The pod."""
        return self.entry.pod


def leaving(context: WhatIfContext) -> list[Leaving]:
    """Pods that could go, one of several equal ones on a node; first those of lower priority, then the smaller ones.

    Pods that come back to their node (of DaemonSets, and static ones) are left out, and so are pods that cannot make enough room.
    """
    reports = [report for report, _ in context.targets() if not report.fits]
    hopeful = [report for report in reports if all(objection.evictable for objection in report.objections)]
    is_local = all(map(is_short_only, hopeful))
    names = [report.name for report in hopeful] if is_local else [node.name for node in context.nodes()] if hopeful else []
    by_name = {report.name: report for report in hopeful}
    found: dict[Hashable, Leaving] = {}
    for name in names:
        for entry in context.on(name):
            if not comes_back(entry.pod) and _frees_enough(entry, by_name.get(name)):
                found.setdefault((name, entry.template, entry.priority), Leaving(entry, name, _share(context, entry, name)))
    return sorted(found.values(), key=lambda one: (one.pod.priority, one.share, one.pod.key))


def _frees_enough(entry: Entry, report: NodeReport | None) -> bool:
    if report is None or not is_short_only(report):
        return True
    freed_here = {**entry.template.footprint, "pods": 1}
    return all(freed_here.get(short.resource, 0) >= short.missing for short in report.shortages)


def _share(context: WhatIfContext, entry: Entry, name: str) -> float:
    table = context.engine.table
    row, footprint = table.row_of[name], entry.template.footprint
    return max(
        (used / max(int(table.allocatable[table.resources[key], row]), 1) for key, used in footprint.items() if key in table.resources),
        default=0.0,
    )


def moved_or_deleted(context: WhatIfContext, one: Leaving, place: int) -> Helpful | None:
    """The suggestion to move a pod to another node, or to delete it where it finds none; None if that does not help."""
    pod, node = one.pod, one.node
    words, patch = f"delete pod {pod.key} on {node}", (f"deletes: pod {pod.key}",)
    change = WhatIfChange(kind="delete", words=words, patch=patch, gone=(pod,), size=place)
    found = context.helpful(change)
    if found is None or len(found.suggestion.patch) > 1:
        return found
    target = _new_home(context, change, found.suggestion.host)
    if target is None or target == node:
        return found
    words, patch = f"move pod {pod.key} from {node} to {target}", (f"moves: pod {pod.key} to {target}",)
    moved = WhatIfChange(kind="move", words=words, patch=patch, pods=(freed(pod).bound_to(target),), size=place)
    return Helpful.of(moved, found.suggestion.host)


def _new_home(context: WhatIfContext, change: WhatIfChange, host: str) -> str | None:
    """Where the pod that leaves would go when the asked pod is on *host*."""
    (pod,) = change.gone
    placed = WhatIfChange(kind="move", words="", patch=(), pods=(context.pod.bound_to(host),))
    with context.changed(change), context.changed(placed):
        return context.ask(freed(pod)).host


def without_anti_affinity(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """One required term of anti-affinity of another pod removed."""
    for node in context.nodes():
        for entry in context.on(node.name):
            for at, term in enumerate(entry.template.required_anti_affinity):
                made = context.patcher.pod(entry.pod, f"affinity.podAntiAffinity.{REQUIRED}[{at}]-")
                if made is not None:
                    told = f"remove the required anti-affinity by {term.topology_key} of pod {entry.pod.key} on {node.name}"
                    yield WhatIfChange(kind="otherAntiAffinity", words=told, patch=(made[0],), pods=(made[1],))


def higher_priority(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """The priority that is just high enough to evict others, from low to high; or eviction where the pod does without."""
    if context.pod.spec.preemption_policy == "Never":
        told = "let the pod evict others (preemptionPolicy)"
        yield from edit_of_pod(context, "priority", told, "preemptionPolicy=PreemptLowerPriority", evicts=True)
    there = {entry.priority for node in context.nodes() for entry in context.on(node.name)}
    for priority in sorted(value + 1 for value in there if value >= context.pod.priority):
        told = f"raise the priority from {context.pod.priority} to {priority}"
        yield from edit_of_pod(context, "priority", told, f"priority={priority}", size=priority, evicts=True)
