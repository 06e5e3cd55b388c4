"""Changes of one node: no cordon, fewer taints, a label, more of what is short, a copy of it, and what makes it win among others."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from ...api.meaning.labels import compile_node_term, match_expressions_selector, tolerates
from ...api.objects import Node, NodeSelectorTerm, Pod, Requirement, Taint
from ...api.words import amount
from ...core.devices.accounts import DeviceAccount
from ...simulation.drainrules import UNSCHEDULABLE
from ...simulation.explain.clusterfacts import CONDITIONS, taint_text
from ...simulation.explain.faileddemands import node_terms, pod_terms
from ...simulation.nodekinds import HOSTNAME, PASSING
from .context import WhatIfContext, smallest, written
from .podchanges import is_short_only, lacks_kind, units, untolerated
from .suggestion import Change

FIXED = (HOSTNAME, "kubernetes.io/os", "kubernetes.io/arch", "beta.kubernetes.io/os", "beta.kubernetes.io/arch")
"""Labels that say what a node is: they are not changed to make a pod fit."""
PLACES = ("/zone", "/region", "/instance-type")
"""Endings of labels that may be added where they are missing, but do not change."""
MOST_VALUES = 10
Labels = dict[str, str | None]


def uncordoned(context: WhatIfContext) -> Iterator[Change]:
    """A node that takes pods again."""
    for _, node in context.targets():
        if node.spec.unschedulable:
            taint = [f"taints-={UNSCHEDULABLE.key}"] if UNSCHEDULABLE in node.spec.taints else []
            yield context.of_node(node, "uncordon", f"uncordon node {node.name}", "unschedulable-", *taint)


def untainted(context: WhatIfContext) -> Iterator[Change]:
    """A node without the taints that the pod does not tolerate."""
    for _, node in context.targets():
        taints = [taint for taint in untolerated(context.pod, node) if taint in node.spec.taints]
        if taints and not (node.spec.unschedulable and taints == [UNSCHEDULABLE]):
            texts = [taint_text(taint) for taint in taints]
            told = " and ".join(_without(node, taints))
            yield context.of_node(node, "taint", told, *(f"taints-={text}" for text in texts), size=len(taints))


def _without(node: Node, taints: list[Taint]) -> Iterator[str]:
    """What it takes that a node loses *taints*: those that say how it is are not removed by hand."""
    states = dict.fromkeys(taint.key for taint in taints if taint.key in CONDITIONS)
    if states:
        yield f"make node {node.name} {' and '.join(CONDITIONS[key] for key in states)} (it has the taint {' and '.join(states)})"
    others = [taint_text(taint) for taint in taints if taint.key not in CONDITIONS]
    if others:
        yield f"remove the taint {' and '.join(others)} of node {node.name}"


def raised(context: WhatIfContext) -> Iterator[Change]:
    """A node with exactly as much more as is missing there."""
    for report, node in context.targets():
        if not is_short_only(report) or lacks_kind(context, report):
            continue
        edits, told, shares = [], [], []
        for short in report.shortages:
            before = units(short.resource, node.status.allocatable)
            edits.append(f"allocatable.{short.resource}={amount(short.resource, before + short.missing)}")
            told.append(f"{amount(short.resource, short.missing)} more {short.resource}")
            shares.append(short.missing / max(before, 1))
        yield context.of_node(node, "allocatable", f"give node {node.name} {' and '.join(told)}", *edits, size=max(shares))


# --- labels ---------------------------------------------------------------------------------------------------------


def labelled(context: WhatIfContext) -> Iterator[Change]:
    """A node with the labels that the pod asks for, or with a label by which pods are spread or kept together."""
    for _, node in context.targets():
        wanted = [labels for labels in wanted_labels(context.pod, node) if labels and all(map(_may_change, [node] * len(labels), labels))]
        for labels in [*wanted, *_domains(context, node)]:
            edits = [f"labels.{key}-" if value is None else f"labels.{key}={value}" for key, value in labels.items()]
            told = [f"remove label {key}" if value is None else f"set label {key}={value}" for key, value in labels.items()]
            yield context.of_node(node, "label", f"{' and '.join(told)} of node {node.name}", *edits, size=len(labels))


def _may_change(node: Node, key: str) -> bool:
    return key not in FIXED and not (key.endswith(PLACES) and key in node.labels)


def wanted_labels(pod: Pod, node: Node) -> Iterator[Labels]:
    """What to change of the labels of *node* so that the pod selects it, for each term of the node affinity; None: the label goes."""
    wrong: Labels = {key: value for key, value in (pod.spec.node_selector or {}).items() if node.labels.get(key) != value}
    terms = node_terms(pod)
    if not terms or any(compile_node_term(term)(node.labels, node.name) for term in terms):
        yield wrong
        return
    for term in terms:
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
    pod = context.pod
    spread = pod.spec.topology_spread_constraints
    keys = dict.fromkeys([*(one.topology_key for one in pod_terms(pod)), *(one.topology_key for one in spread)])
    for key in keys:
        if key and key != HOSTNAME and key not in node.labels:
            values = sorted({other.labels[key] for other in context.nodes() if key in other.labels})
            for value in values[:MOST_VALUES]:
                yield {key: value}


# --- devices --------------------------------------------------------------------------------------------------------


def more_devices(context: WhatIfContext) -> Iterator[Change]:
    """A node with exactly as many more devices as are missing there for one request."""
    for report, node in context.targets():
        for account in report.devices or ():
            # A device that matches the request, free or not; there may be none on any node.
            same = (one for other in context.reports for one in other.devices or () if _asks_alike(one, account))
            like = next((name for one in (account, *same) for name in one.matching), None)
            if like is not None:
                count = max(account.wanted - len(account.usable), 1)
                told = f"{count} more device{'s' if count > 1 else ''} of class {account.device_class} like {like}"
                edit = f"copy device {like} to {node.name}{f' x{count}' if count > 1 else ''}"
                yield Change("device", f"give node {node.name} {told}", (edit,), size=count)


def _asks_alike(one: DeviceAccount, other: DeviceAccount) -> bool:
    return (one.claim, one.request) == (other.claim, other.request)


# --- one more node --------------------------------------------------------------------------------------------------


def one_more(context: WhatIfContext) -> Iterator[Change]:
    """A new node like one of each kind: nodes are of one kind if they differ in their names alone. The smallest comes first."""
    kinds: dict[Hashable, Node] = {}
    for node in context.nodes():
        labels = frozenset((key, value) for key, value in node.labels.items() if value != node.name)
        taints = frozenset(taint for taint in node.spec.taints if not taint.key.startswith(PASSING))
        kinds.setdefault((labels, frozenset(node.status.allocatable.items()), taints), node)
    for number, like in enumerate(sorted(kinds.values(), key=_size)):
        yield Change("addNode", f"add a node like {like.name}", (f"copy node {like.name}",), size=number)


def _size(node: Node) -> list[int]:
    found = node.status.allocatable
    return [found[name].nanos if name in found else 0 for name in ("cpu", "memory")]


# --- one node before others -----------------------------------------------------------------------------------------


PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
HIGHEST = 100
"""The highest weight of a preference."""


def selecting(context: WhatIfContext) -> Iterator[Change]:
    """A nodeSelector that means the wanted node."""
    if context.pin is not None:
        told = f"select {context.want} by its hostname"
        yield context.of_pod("nodeSelector", told, f"nodeSelector.{HOSTNAME}={context.pin}")


def preferring(context: WhatIfContext) -> Iterator[Change]:
    """A preferred node affinity to the wanted node, with the smallest weight that is enough."""
    if context.pin is None:
        return
    weight = smallest(0, HIGHEST, lambda weight: context.helpful(_preference(context, weight)) is not None)
    if weight is not None:
        yield _preference(context, weight)


def _preference(context: WhatIfContext, weight: int) -> Change:
    expression = {"key": HOSTNAME, "operator": "In", "values": [context.pin]}
    term = written({"weight": weight, "preference": {"matchExpressions": [expression]}})
    told = f"prefer {context.want} with weight {weight}"
    return context.of_pod("preference", told, f"affinity.nodeAffinity.{PREFERRED}+={term}", size=weight)


def dropped_preferences(context: WhatIfContext) -> Iterator[Change]:
    """One preferred term of the pod's node affinity, pod affinity or anti-affinity removed."""
    affinity = context.pod.spec.affinity
    if affinity is None:
        return
    near, away, nodes = affinity.pod_affinity, affinity.pod_anti_affinity, affinity.node_affinity
    for name, part in (("nodeAffinity", nodes), ("podAffinity", near), ("podAntiAffinity", away)):
        for at, weight in enumerate([term.weight for term in part.preferred] if part is not None else ()):
            told = f"remove preference {at + 1} of {name}, which has weight {weight}"
            yield context.of_pod("preference", told, f"affinity.{name}.{PREFERRED}[{at}]-", size=weight)


def avoided(context: WhatIfContext) -> Iterator[Change]:
    """The taints of the wanted node that pods avoid if they can, tolerated or removed."""
    for _, node in context.targets():
        mild = [taint for taint in node.spec.taints if taint.effect == "PreferNoSchedule"]
        taints = [taint for taint in mild if not tolerates(context.pod.spec.tolerations, taint)]
        if taints:
            texts = [taint_text(taint) for taint in taints]
            together = " and ".join(texts)
            yield context.of_pod("toleration", f"tolerate the taint {together}", *(f"tolerations+={text}" for text in texts))
            told = f"remove the taint {together} of node {node.name}"
            yield context.of_node(node, "taint", told, *(f"taints-={text}" for text in texts))
