"""Changes of one node: no cordon, fewer taints, a label, more of what is short, a copy of it, and what makes it win among others."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from msgspec.structs import replace

from ...api.controlplane.deviceclaims import slice_of_more, slices_like
from ...api.meaning.labels import compile_node_term, match_expressions_selector, tolerates
from ...api.objects import Device, Node, NodeSelectorTerm, Pod, Requirement, ResourceSlice, Taint
from ...api.words import amount
from ...core.devices.accounts import DeviceAccount
from ...simulation.drainrules import UNSCHEDULABLE, is_daemon
from ...simulation.explain.clusterfacts import CONDITIONS, taint_text
from ...simulation.explain.faileddemands import node_terms, pod_terms
from .context import HOSTNAME, ChangeKind, WhatIfChange, WhatIfContext, smallest, written
from .podchanges import edit_of_pod, is_short_only, lacks_kind, units, untolerated

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
            before = units(short.resource, node.status.allocatable)
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
            edits = [f"labels.{key}-" if value is None else f"labels.{key}={value}" for key, value in labels.items()]
            told = [f"remove label {key}" if value is None else f"set label {key}={value}" for key, value in labels.items()]
            yield from edit_of_node(context, node, "label", f"{' and '.join(told)} of node {node.name}", *edits, size=len(labels))


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


def more_devices(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """A node with exactly as many more devices as are missing there for one request."""
    slices = context.slices
    for report, node in context.targets():
        for account in report.devices or ():
            like = _like(account, slices, context)
            if like is None:
                continue
            driver, device, told = like
            count = max(account.wanted - len(account.usable), 1)
            more = f"{count} more device{'s' if count > 1 else ''} of class {account.device_class} like {told}"
            yield WhatIfChange(
                kind="device", words=f"give node {node.name} {more}", patch=(f"adds: {more} on node {node.name}",),
                objects=(slice_of_more(node.name, driver, device, count),), size=count,
            )  # fmt: skip


def _like(account: DeviceAccount, slices: list[ResourceSlice], context: WhatIfContext) -> tuple[str, Device, str] | None:
    """A device that matches the request, free or not: its driver, itself, and its name in full; None if there is none on any node."""
    same = (
        one for report in context.reports for one in report.devices or () if (one.claim, one.request) == (account.claim, account.request)
    )
    found = next((name for one in (account, *same) for name in one.matching), None)
    if found is None:
        return None
    for one in slices:
        for device in one.spec.devices:
            if f"{one.spec.driver}/{one.spec.pool.name}/{device.name}" == found:
                return one.spec.driver, device, found
    return None


# --- one more node --------------------------------------------------------------------------------------------------


def one_more(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """A copy of a node of each kind: nodes are of one kind if they differ in their names alone. The smallest comes first."""
    kinds: dict[Hashable, Node] = {}
    for node in context.nodes():
        labels = frozenset((key, value) for key, value in node.labels.items() if value != node.name)
        allocatable = frozenset(node.status.allocatable.items())
        conditions = frozenset((one.type, one.status) for one in node.status.conditions)
        kinds.setdefault((labels, allocatable, frozenset(node.spec.taints), node.spec.unschedulable, conditions), node)
    names = {node.name for node in context.nodes()}
    for number, like in enumerate(sorted(kinds.values(), key=_size)):
        new = _copy(like, names)
        pods = tuple(_daemon_pods(context, like, new.name))
        told = f"add a node like {like.name}"
        slices = slices_like(context.slices, like.name, new.name)
        patch = (f"adds: node like {like.name}",)
        yield WhatIfChange(kind="addNode", words=told, patch=patch, nodes=(new,), objects=slices, pods=pods, size=number)


def _size(node: Node) -> list[int]:
    found = node.status.allocatable
    return [found[name].nanos if name in found else 0 for name in ("cpu", "memory")]


def _copy(like: Node, names: set[str]) -> Node:
    name = next(name for number in range(1, len(names) + 2) if (name := f"{like.name}-new{number if number > 1 else ''}") not in names)
    labels = {key: name if value == like.name or key == HOSTNAME else value for key, value in like.labels.items()}
    metadata = replace(like.metadata, name=name, uid=name, labels=type(like.labels)(labels))
    return replace(like, metadata=metadata, manifest=None)


def _daemon_pods(context: WhatIfContext, like: Node, name: str) -> Iterator[Pod]:
    """What DaemonSets run on *like*, as they would run it on the node called *name*."""
    for entry in context.on(like.name):
        owner = entry.pod.metadata.controller
        if owner is not None and is_daemon(entry.pod):
            called = f"{owner.name}-{name}"
            metadata = replace(entry.pod.metadata, name=called, uid=f"{entry.pod.namespace}/{called}")
            yield replace(entry.pod, metadata=metadata, manifest=None).bound_to(name)


# --- one node before others -----------------------------------------------------------------------------------------


PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
HIGHEST = 100
"""The highest weight of a preference."""


def selecting(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """A nodeSelector that means the wanted node."""
    if context.pin is not None:
        told = f"select {context.want} by its hostname"
        yield from edit_of_pod(context, "nodeSelector", told, f"nodeSelector.{HOSTNAME}={context.pin}")


def preferring(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """A preferred node affinity to the wanted node, with the smallest weight that is enough."""
    if context.pin is None:
        return
    weight = smallest(0, HIGHEST, lambda weight: any(map(context.helpful, _preference(context, weight))))
    if weight is not None:
        yield from _preference(context, weight)


def _preference(context: WhatIfContext, weight: int) -> Iterator[WhatIfChange]:
    expression = {"key": HOSTNAME, "operator": "In", "values": [context.pin]}
    term = written({"weight": weight, "preference": {"matchExpressions": [expression]}})
    told = f"prefer {context.want} with weight {weight}"
    yield from edit_of_pod(context, "preference", told, f"affinity.nodeAffinity.{PREFERRED}+={term}", size=weight)


def dropped_preferences(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """One preferred term of the pod's node affinity, pod affinity or anti-affinity removed."""
    affinity = context.pod.spec.affinity
    if affinity is None:
        return
    near, away, nodes = affinity.pod_affinity, affinity.pod_anti_affinity, affinity.node_affinity
    for name, part in (("nodeAffinity", nodes), ("podAffinity", near), ("podAntiAffinity", away)):
        for at, weight in enumerate([term.weight for term in part.preferred] if part is not None else ()):
            told = f"remove preference {at + 1} of {name}, which has weight {weight}"
            yield from edit_of_pod(context, "preference", told, f"affinity.{name}.{PREFERRED}[{at}]-", size=weight)


def avoided(context: WhatIfContext) -> Iterator[WhatIfChange]:
    """The taints of the wanted node that pods avoid if they can, tolerated or removed."""
    for _, node in context.targets():
        mild = [taint for taint in node.spec.taints if taint.effect == "PreferNoSchedule"]
        taints = [taint for taint in mild if not tolerates(context.pod.spec.tolerations, taint)]
        if taints:
            texts = [taint_text(taint) for taint in taints]
            together = " and ".join(texts)
            yield from edit_of_pod(context, "toleration", f"tolerate the taint {together}", *(f"tolerations+={text}" for text in texts))
            told = f"remove the taint {together} of node {node.name}"
            yield from edit_of_node(context, node, "taint", told, *(f"taints-={text}" for text in texts))
