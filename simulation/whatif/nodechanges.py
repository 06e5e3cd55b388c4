"""Changes of one node: no cordon, fewer taints, a label, or more of what is short."""

from __future__ import annotations

from collections.abc import Iterator

from ...api.meaning.labels import compile_node_term, match_expressions_selector
from ...api.objects import Node, NodeSelectorTerm, Pod, Requirement, Taint
from ..explain.taintfacts import CONDITIONS, taint_text
from .change import ChangeKind, WhatIfChange
from .context import HOSTNAME, WhatIfContext
from .patcher import amount
from .podresources import is_short_only, lacks_kind
from .podrules import UNSCHEDULABLE, untolerated

FIXED = (HOSTNAME, "kubernetes.io/os", "kubernetes.io/arch", "beta.kubernetes.io/os", "beta.kubernetes.io/arch")
"""Labels that say what a node is: they are not changed to make a pod fit."""
PLACES = ("/zone", "/region", "/instance-type")
"""Endings of labels that may be added where they are missing, but do not change."""
MOST_VALUES = 10
Labels = dict[str, str | None]


def edit_of_node(
    context: WhatIfContext, node: Node, kind: ChangeKind, words: str, *edits: str, size: float = 0.0
) -> Iterator[WhatIfChange]:
    """The change that *edits* make to *node*, if they are possible."""
    made = context.patcher.node(node, *edits)
    if made is not None:
        yield WhatIfChange(kind=kind, words=words, patch=(made[0],), nodes=(made[1],), size=size)


def uncordoned(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """A node that takes pods again."""
    for _, node in context.targets():
        if node.spec.unschedulable:
            taint = [f"taints-={UNSCHEDULABLE.key}"] if UNSCHEDULABLE in node.spec.taints else []
            yield from edit_of_node(context, node, "uncordon", f"uncordon node {node.name}", "unschedulable-", *taint)


def untainted(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """A node without the taints that the pod does not tolerate."""
    for _, node in context.targets():
        taints = [taint for taint in untolerated(context.pod, node) if taint in node.spec.taints]
        if taints and not (node.spec.unschedulable and taints == [UNSCHEDULABLE]):
            texts = [taint_text(taint) for taint in taints]
            told = " and ".join(_without(node, taints))
            yield from edit_of_node(context, node, "taint", told, *(f"taints-={text}" for text in texts), size=len(taints))


def _without(node: Node, taints: list[Taint]) -> Iterator[str]:
    """What it takes that a node loses *taints*: those that say how it is are not removed by hand."""
    states = dict.fromkeys(taint.key for taint in taints if taint.key in CONDITIONS)
    if states:
        yield f"make node {node.name} {' and '.join(CONDITIONS[key] for key in states)} (it has the taint {' and '.join(states)})"
    others = [taint_text(taint) for taint in taints if taint.key not in CONDITIONS]
    if others:
        yield f"remove the taint {' and '.join(others)} of node {node.name}"


def raised(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """A node with exactly as much more as is missing there."""
    for report, node in context.targets():
        if not is_short_only(report) or lacks_kind(context, report):
            continue
        edits, told, shares = [], [], []
        for short in report.shortages:
            now = node.status.allocatable.get(short.resource)
            before = 0 if now is None else now.milli_value() if short.resource == "cpu" else now.value()
            edits.append(f"allocatable.{short.resource}={amount(short.resource, before + short.missing)}")
            told.append(f"{amount(short.resource, short.missing)} more {short.resource}")
            shares.append(short.missing / max(before, 1))
        yield from edit_of_node(context, node, "allocatable", f"give node {node.name} {' and '.join(told)}", *edits, size=max(shares))


# --- labels ---------------------------------------------------------------------------------------------------------


def labelled(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """A node with the labels that the pod asks for, or with a label by which pods are spread or kept together."""
    for _, node in context.targets():
        wanted = [labels for labels in wanted_labels(context.pod, node) if labels and all(map(_may_change, [node] * len(labels), labels))]
        for labels in [*wanted, *_domains(context, node)]:
            yield from _with_labels(context, node, labels)


def _with_labels(context: WhatIfContext, node: Node, labels: Labels) -> Iterator[WhatIfChange]:
    edits = [f"labels.{key}-" if value is None else f"labels.{key}={value}" for key, value in labels.items()]
    told = [f"remove label {key}" if value is None else f"set label {key}={value}" for key, value in labels.items()]
    yield from edit_of_node(context, node, "label", f"{' and '.join(told)} of node {node.name}", *edits, size=len(labels))


def _may_change(node: Node, key: str) -> bool:
    return key not in FIXED and not (key.endswith(PLACES) and key in node.labels)


def wanted_labels(pod: Pod, node: Node) -> Iterator[Labels]:
    """What to change of the labels of *node* so that the pod selects it, for each term of the node affinity; None: the label goes."""
    wrong: Labels = {key: value for key, value in (pod.spec.node_selector or {}).items() if node.labels.get(key) != value}
    affinity = pod.spec.affinity
    required = affinity.node_affinity.required if affinity is not None and affinity.node_affinity is not None else None
    if required is None or any(compile_node_term(term)(node.labels, node.name) for term in required.node_selector_terms):
        yield wrong
        return
    for term in required.node_selector_terms:
        more = None if term.match_fields else _for_term(term, {**node.labels, **{key: value for key, value in wrong.items() if value}})
        if more is not None:
            yield {**wrong, **more}


def _for_term(term: NodeSelectorTerm, labels: dict[str, str]) -> Labels | None:
    found: Labels = {}
    for expression in term.match_expressions:
        if not match_expressions_selector((expression,))(labels):
            changed = _for_expression(expression)
            if changed is None:
                return None
            found |= changed
    return found


def _for_expression(expression: Requirement) -> Labels | None:
    """A label with which *expression* holds."""
    if expression.operator in ("NotIn", "DoesNotExist"):
        return {expression.key: None}
    if expression.operator == "Exists":
        return {expression.key: ""}
    if expression.operator == "In":
        return {expression.key: expression.values[0]} if expression.values else None
    step = {"Gt": 1, "Lt": -1}.get(expression.operator)
    if step is None or not expression.values or not expression.values[0].lstrip("-").isdecimal():
        return None
    number = int(expression.values[0]) + step
    return {expression.key: str(number)} if number >= 0 else None


def _domains(context: WhatIfContext, node: Node) -> Iterator[Labels]:
    """Labels that the pod's spread or affinity goes by and that *node* does not have, with each value that other nodes have."""
    affinity, spec = context.pod.spec.affinity, context.pod.spec
    terms = affinity.pod_affinity.required if affinity is not None and affinity.pod_affinity is not None else ()
    keys = dict.fromkeys([term.topology_key for term in terms] + [one.topology_key for one in spec.topology_spread_constraints])
    for key in keys:
        if key and key != HOSTNAME and key not in node.labels:
            values = sorted({other.labels[key] for other in context.nodes() if key in other.labels})
            for value in values[:MOST_VALUES]:
                yield {key: value}
