"""The families of changes: of the pod itself, of other pods, of nodes; each gives edits with words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter

import attrs

from ...api.meaning import NO_NEW_PODS, compile_node_term, tolerates
from ...api.objects import Affinity, Node, NodeSelectorTerm, Pod, PodAffinity, Requirement, Taint
from ...api.reading.formats.yamlvalues import yaml_text
from ...core.queue.backoff import affinity_terms
from ...predicates.checknodeunschedulable import UNSCHEDULABLE
from ...simulation.evictions import is_daemon, stays_with_node
from ...simulation.explain.clusterfacts import (
    CONDITIONS,
    LabelFacts,
    have,
    idle_tolerations,
    is_meant,
    is_state,
    near_keys,
    taint_text,
    toleration_text,
)
from ...simulation.explain.explain import explain, freed
from ...simulation.explain.faileddemands import near_resources, node_labels, node_terms, resources_of, text_of
from ...simulation.fieldchanges import EditError
from ...simulation.nodekinds import HOSTNAME, PASSING
from .suggestion import (
    DISTURBS,
    Change,
    ChangeKind,
    HelpfulChange,
    WhatIfContext,
    change_of_node,
    given_more,
    is_short_only,
    lacks_kind,
    lowered_requests,
    smallest,
    units,
)

Changes = Iterator[Change]


def corrected(context: WhatIfContext) -> Changes:
    """Corrections of names that nothing in the cluster has: all together, then each alone."""
    changes = [*_corrected_labels(context), *_corrected_taints_and_resources(context)]
    edits = tuple(edit for change in changes for edit in change.edits)
    together = (
        [Change(changes[0].kind, "; and ".join(change.words for change in changes), edits)]
        if len(changes) > 1
        else []
    )
    for change in [*together, *changes]:
        yield attrs.evolve(
            context.of_pod(change.kind, change.words, *change.edits, size=-float(len(change.edits))),
            corrects=True,
        )


def _name_hint(meant: str, name: str, count: int, noun: str = "node") -> str:
    """A hint for a name that none has: the one that was probably meant."""
    return f"ask for {meant}, not for {name}: no {noun} has that, and {have(count, noun)} {meant}"


def _label_hint(facts: LabelFacts, near: tuple[str, str], key: str, value: str) -> str:
    """The same hint for a label."""
    return _name_hint("=".join(near), f"{key}={value}", facts.having(*near), facts.noun)


def _label_changes(
    facts: LabelFacts, kind: ChangeKind, path: str, pairs: Mapping[str, str] | None
) -> Changes:
    """Corrections of the labels *pairs*, which a pod asks for at *path*."""
    for key, value in (pairs or {}).items():
        near = facts.near(key, value)
        if near is not None:
            old = [f"{path}.{key}-"] if near[0] != key else []
            yield Change(kind, _label_hint(facts, near, key, value), (*old, f"{path}.{near[0]}={near[1]}"))


def _corrected_labels(context: WhatIfContext) -> Changes:
    """Corrections of selected node labels, of topology keys, and of labels of pods to be near to."""
    pod = context.pod
    facts = node_labels(context.engine)
    yield from _label_changes(facts, "nodeSelector", "nodeSelector", pod.spec.node_selector)
    for at, term in enumerate(node_terms(pod)):
        for number, expression in enumerate(term.match_expressions):
            path = f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[{at}].matchExpressions[{number}]"
            for place, value in enumerate(expression.values if expression.operator == "In" else ()):
                near = facts.near(expression.key, value)
                if near is not None:
                    edit = f"{path}.key={near[0]}"
                    if near[0] == expression.key:
                        edit = f"{path}.values[{place}]={near[1]}"
                    yield Change("nodeAffinity", _label_hint(facts, near, expression.key, value), (edit,))
    close = {f"affinity.podAffinity.{REQUIRED}[{at}]": term for at, term in enumerate(affinity_terms(pod))}
    spread = enumerate(pod.spec.topology_spread_constraints)
    places: list[tuple[ChangeKind, str, str]] = [
        *(
            ("spread", f"topologySpreadConstraints[{at}]", constraint.topology_key)
            for at, constraint in spread
        ),
        *(("podAffinity", path, term.topology_key) for path, term in close.items()),
    ]
    for kind, path, key in places:
        for meant in near_keys(key, facts.counts)[:1] if key not in facts.counts else ():
            words = _name_hint(meant, key, sum(facts.counts[meant].values()))
            yield Change(kind, words, (f"{path}.topologyKey={meant}",))
    for path, affinity_term in close.items():
        namespaces = set(affinity_term.namespaces) or {pod.namespace}
        pod_facts = LabelFacts.of(
            (target.labels for target in context.engine.pods() if target.namespace in namespaces), "pod"
        )
        pairs = None if affinity_term.label_selector is None else affinity_term.label_selector.match_labels
        yield from _label_changes(pod_facts, "podAffinity", f"{path}.labelSelector.matchLabels", pairs)


def _corrected_taints_and_resources(context: WhatIfContext) -> Changes:
    """Corrections of tolerations that miss a taint by its key, value or effect, and of requested
    resources."""
    taints = Counter(taint for node in context.nodes() for taint in node.spec.taints)
    for toleration in idle_tolerations(context.pod, taints):
        for taint in (candidate for candidate in taints if is_meant(toleration, candidate)):
            words = f"tolerate {_name_hint(taint_text(taint), toleration_text(toleration), taints[taint]).removeprefix('ask for ')}"
            yield Change(
                "toleration", words.replace(", not for ", ", not ", 1), (f"tolerations+={taint_text(taint)}",)
            )
    resources = resources_of(context.engine)
    of_devices = context.engine.template_of(context.pod).device_resources
    for container in context.pod.spec.containers:
        for name in container.requests:
            is_unknown = "/" in name and not resources[name] and name not in of_devices
            for meant in near_resources(name, resources)[:1] if is_unknown else ():
                edits = []
                for field, amounts in (("requests", container.requests), ("limits", container.limits)):
                    if name in amounts:
                        path = f"spec.containers[{container.name}].resources.{field}"
                        edits += [f"{path}.{name}-", f"{path}.{meant}={amounts[name].value()}"]
                yield Change("request", _name_hint(meant, name, resources[meant]), tuple(edits))


# --- what the pod demands -----------------------------------------------------------------------------------


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def dropped_gates(context: WhatIfContext) -> Changes:
    """All scheduling gates removed."""
    gates = [gate.name for gate in context.pod.spec.scheduling_gates]
    if gates:
        yield context.of_pod(
            "schedulingGates", f"remove the scheduling gate {' and '.join(gates)}", "schedulingGates-"
        )


def tolerations(context: WhatIfContext) -> Changes:
    """Tolerations for exactly the untolerated taints of a node, unless fewer of them are enough elsewhere.

    Taints for the state of a node are not tolerated: the pod would come to a node that cannot run it.
    """
    taint_sets = (frozenset(untolerated(context.pod, node)) for _, node in context.targets())
    sets = dict.fromkeys(
        taints for taints in taint_sets if taints and not any(is_state(taint) for taint in taints)
    )
    enough: list[frozenset[Taint]] = []
    for taints in sorted(sets, key=len):
        if any(fewer < taints for fewer in enough):
            continue
        texts = sorted(map(taint_text, taints))
        edits = [f"tolerations+={text}" for text in texts]
        change = context.of_pod(
            "toleration", f"tolerate the taint {' and '.join(texts)}", *edits, size=len(taints)
        )
        yield change
        if any(taints < more for more in sets) and context.helpful(change) is not None:
            enough.append(taints)


def untolerated(pod: Pod, node: Node) -> tuple[Taint, ...]:
    """The taints of *node* that keep *pod* away, that of a cordon included."""
    cordon = (UNSCHEDULABLE,) if node.spec.unschedulable and UNSCHEDULABLE not in node.spec.taints else ()
    taints = (taint for taint in (*node.spec.taints, *cordon) if taint.effect in NO_NEW_PODS)
    return tuple(dict.fromkeys(taint for taint in taints if not tolerates(pod.spec.tolerations, taint)))


def dropped_node_selectors(context: WhatIfContext) -> Changes:
    """One key of the nodeSelector removed."""
    for key, value in (context.pod.spec.node_selector or {}).items():
        yield context.of_pod("nodeSelector", f"remove the nodeSelector {key}={value}", f"nodeSelector.{key}-")


def dropped_node_affinity(context: WhatIfContext) -> Changes:
    """One expression of the required node affinity removed."""
    for at, term in enumerate(node_terms(context.pod)):
        fields = (
            () if is_daemon(context.pod) else term.match_fields
        )  # these say for which node its controller made the pod
        for field, expressions in (("matchExpressions", term.match_expressions), ("matchFields", fields)):
            for number, expression in enumerate(expressions):
                path = f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[{at}].{field}[{number}]-"
                yield context.of_pod(
                    "nodeAffinity", f"remove the required node affinity {text_of(expression)}", path
                )


def dropped_pod_affinity(context: WhatIfContext) -> Changes:
    """One required term of the pod's affinity or anti-affinity to other pods removed."""
    affinity = context.pod.spec.affinity or Affinity()
    kinds: tuple[tuple[ChangeKind, str, PodAffinity | None], ...] = (
        ("podAffinity", "affinity", affinity.pod_affinity),
        ("podAntiAffinity", "anti-affinity", affinity.pod_anti_affinity),
    )
    for kind, word, part in kinds:
        for at, term in enumerate(part.required if part is not None else ()):
            words = f"remove the required {word} to pods by {term.topology_key}"
            yield context.of_pod(kind, words, f"affinity.{kind}.{REQUIRED}[{at}]-")


def dropped_ports(context: WhatIfContext) -> Changes:
    """One host port removed."""
    spec = context.pod.spec
    sidecars = [container for container in spec.init_containers if container.is_sidecar]
    for place, containers in (("containers", spec.containers), ("initContainers", sidecars)):
        for container in containers:
            for at, port in enumerate(container.ports):
                if port.host_port:
                    words = f"remove the host port {port.host_port} of container {container.name}"
                    yield context.of_pod(
                        "hostPort", words, f"spec.{place}[{container.name}].ports[{at}].hostPort-"
                    )


def looser_spread(context: WhatIfContext) -> Changes:
    """A maxSkew raised as little as possible, a node inclusion policy set to Honor, or a soft constraint."""
    for at, constraint in enumerate(context.pod.spec.topology_spread_constraints):
        if constraint.when_unsatisfiable != "DoNotSchedule":
            continue
        place = f"topologySpreadConstraints[{at}]"
        key = constraint.topology_key
        now = constraint.max_skew
        most = now + sum(len(context.on(node.name)) for node in context.nodes()) + 1

        def helps(skew: int, place: str = place) -> bool:
            return context.helpful(context.of_pod("spread", "", f"{place}.maxSkew={skew}")) is not None

        skew = smallest(now, most, helps)
        if skew is not None:
            words = f"raise the maxSkew over {key} from {now} to {skew}"
            yield context.of_pod("spread", words, f"{place}.maxSkew={skew}", size=skew)
        for policy, setting, what in (
            (
                "nodeTaintsPolicy",
                constraint.node_taints_policy,
                "nodes with taints that the pod does not tolerate",
            ),
            ("nodeAffinityPolicy", constraint.node_affinity_policy, "nodes that the pod does not select"),
        ):
            if setting != "Honor":
                words = f"leave {what} out of the spread over {key} ({policy}: Honor)"
                yield context.of_pod("spread", words, f"{place}.{policy}=Honor", size=constraint.max_skew)
        words = f"make the spread over {key} a wish (ScheduleAnyway)"
        yield context.of_pod("spread", words, f"{place}.whenUnsatisfiable=ScheduleAnyway", size=float("inf"))


# --- other pods ---------------------------------------------------------------------------------------------


def leaving(context: WhatIfContext) -> list[tuple[Pod, str]]:
    """Pods that could leave, each with its node; of equal ones on a node only one. Lower priorities come
    first, then smaller pods.

    Pods that come back to their node (of DaemonSets, and static ones) are left out, and so are pods that
    cannot make enough room.
    """
    hopeful = {
        report.name: report
        for report, _ in context.targets()
        if not report.fits and all(objection.evictable for objection in report.objections)
    }
    is_local = all(map(is_short_only, hopeful.values()))
    table = context.engine.fresh_table()
    candidates = dict[Hashable, tuple[int, float, str, Pod, str]]()
    for name in hopeful if is_local else [node.name for node in context.nodes()]:
        row = table.row_of[name]
        report = hopeful.get(name)
        shortages = report.shortages if report is not None and is_short_only(report) else ()
        for entry in context.on(name):
            frees = {**entry.template.footprint, "pods": 1}
            if not stays_with_node(entry.pod) and all(
                frees.get(short.resource, 0) >= short.missing for short in shortages
            ):
                allocatable = {
                    key: max(int(table.allocatable[at, row]), 1) for key, at in table.resources.items()
                }
                share = max(
                    (
                        used / allocatable[key]
                        for key, used in entry.template.footprint.items()
                        if key in allocatable
                    ),
                    default=0.0,
                )
                candidates.setdefault(
                    (name, entry.template, entry.priority),
                    (entry.priority, share, entry.pod.key, entry.pod, name),
                )
    return [
        (pod, name) for _, _, _, pod, name in sorted(candidates.values(), key=lambda candidate: candidate[:3])
    ]


def moved_or_deleted(context: WhatIfContext, pod: Pod, node: str, place: int) -> HelpfulChange | None:
    """The suggestion to move a pod to another node, or to delete it where it finds none; None if that does
    not help."""
    words = f"delete pod {pod.key} on {node}"
    size = float(place)
    helpful = context.helpful(Change("delete", words, (f"delete pod {pod.key}",), size=size))
    if helpful is None or len(helpful.suggestion.patch) > 1:
        return helpful
    host = helpful.suggestion.host
    try:
        with context.after(f"delete pod {pod.key}", f"pod {context.pod.key} nodeName={host}") as after:
            target = after.ask(freed(pod)).host
    except EditError:  # a pod with scheduling gates, which older releases try, may not have a node
        return helpful
    context.tried += after.tried
    if target is None and any(pod.key == sibling.key for sibling in context.siblings):
        return None  # it comes back, and waits in place of the pod
    if target is None and pod.controller is not None:
        return HelpfulChange.of(
            attrs.evolve(
                helpful.change, words=f"{words}; the pod that its controller makes again then waits"
            ),
            host,
        )
    if target is None or target == node:
        return helpful
    words = f"move pod {pod.key} from {node} to {target}"
    return HelpfulChange.of(Change("move", words, (f"pod {pod.key} nodeName={target}",), size=size), host)


def without_anti_affinity(context: WhatIfContext) -> Changes:
    """One required term of anti-affinity of another pod removed."""
    for node in context.nodes():
        for entry in context.on(node.name):
            for at, term in enumerate(entry.template.required_anti_affinity):
                words = f"remove the required anti-affinity by {term.topology_key} of pod {entry.pod.key} on {node.name}"
                yield Change(
                    "otherAntiAffinity",
                    words,
                    (f"pod {entry.pod.key} affinity.podAntiAffinity.{REQUIRED}[{at}]-",),
                )


def higher_priority(context: WhatIfContext) -> Changes:
    """The priorities just high enough to evict others, from low to high; also preemption for a pod that never
    preempts."""
    if context.pod.spec.preemption_policy == "Never":
        words = "let the pod evict others (preemptionPolicy of its PriorityClass)"
        # The policy of a class holds for its pods: the pod has to leave it.
        own = [f"priority={context.pod.priority}"] if context.pod.spec.priority_class_name else []
        yield context.of_pod("priority", words, *own, "preemptionPolicy=PreemptLowerPriority", evicts=True)
    priorities = {entry.priority for node in context.nodes() for entry in context.on(node.name)}
    for priority in sorted(value + 1 for value in priorities if value >= context.pod.priority):
        words = f"raise the priority from {context.pod.priority} to {priority}, by its PriorityClass"
        yield context.of_pod("priority", words, f"priority={priority}", size=priority, evicts=True)


# --- nodes --------------------------------------------------------------------------------------------------


FIXED = (
    HOSTNAME,
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
)
"""Labels of what a node is, which are not changed to make a pod fit."""
PLACES = ("/zone", "/region", "/instance-type")
"""Endings of labels that may be added where they are missing, but do not change."""
MOST_VALUES = 10
Labels = dict[str, str | None]


def uncordoned(context: WhatIfContext) -> Changes:
    """A node that is uncordoned."""
    for _, node in context.targets():
        if node.spec.unschedulable:
            taint = [f"taints-={UNSCHEDULABLE.key}"] if UNSCHEDULABLE in node.spec.taints else []
            yield change_of_node(node, "uncordon", f"uncordon node {node.name}", "unschedulable-", *taint)


def untainted(context: WhatIfContext) -> Changes:
    """A node without the taints that the pod does not tolerate; in words, taints of conditions go by curing
    the node."""
    for _, node in context.targets():
        taints = [taint for taint in untolerated(context.pod, node) if taint in node.spec.taints]
        if not taints or (node.spec.unschedulable and taints == [UNSCHEDULABLE]):
            continue
        actions = []
        states = dict.fromkeys(taint.key for taint in taints if taint.key in CONDITIONS)
        if states:
            how = " and ".join(CONDITIONS[key] for key in states)
            actions.append(f"make node {node.name} {how} (it has the taint {' and '.join(states)})")
        others = [taint_text(taint) for taint in taints if taint.key not in CONDITIONS]
        if others:
            actions.append(f"remove the taint {' and '.join(others)} of node {node.name}")
        edits = [f"taints-={taint_text(taint)}" for taint in taints]
        yield change_of_node(node, "taint", " and ".join(actions), *edits, size=len(taints))


def raised(context: WhatIfContext) -> Changes:
    """A node with exactly the missing amounts of resources added."""
    for report, node in context.targets():
        if is_short_only(report) and not lacks_kind(context, report):
            yield given_more(node, report, node)


# --- labels -------------------------------------------------------------------------------------------------


def labelled(context: WhatIfContext) -> Changes:
    """A node with the labels that the pod selects, or with a topology key of its spread or affinity."""
    pod = context.pod
    spread = (constraint.topology_key for constraint in pod.spec.topology_spread_constraints)
    topology_keys = dict.fromkeys([*(term.topology_key for term in affinity_terms(pod)), *spread])
    for _, node in context.targets():
        fixed = {*FIXED, *(key for key in node.labels if key.endswith(PLACES))}
        changes = [labels for labels in wanted_labels(pod, node) if labels and fixed.isdisjoint(labels)]
        for key in topology_keys:
            if key and key != HOSTNAME and key not in node.labels:
                values = sorted(
                    {other_node.labels[key] for other_node in context.nodes() if key in other_node.labels}
                )
                changes += [{key: value} for value in values[:MOST_VALUES]]
        for labels in changes:
            edits = [
                f"labels.{key}-" if value is None else f"labels.{key}={value}"
                for key, value in labels.items()
            ]
            actions = [
                f"remove label {key}" if value is None else f"set label {key}={value}"
                for key, value in labels.items()
            ]
            yield change_of_node(
                node, "label", f"{' and '.join(actions)} of node {node.name}", *edits, size=len(labels)
            )


def wanted_labels(pod: Pod, node: Node) -> Iterator[Labels]:
    """The changes of labels of *node* with which the pod selects it, for each term of its node affinity;
    None: the label goes."""
    wrong: Labels = {
        key: value for key, value in (pod.spec.node_selector or {}).items() if node.labels.get(key) != value
    }
    terms = node_terms(pod)
    if not terms or any(compile_node_term(term)(node.labels, node.name) for term in terms):
        yield wrong
        return
    labels = {**node.labels, **{key: value for key, value in wrong.items() if value}}
    for term in terms:
        changes = {**wrong}
        failing = [
            expression
            for expression in term.match_expressions
            if not compile_node_term(NodeSelectorTerm(match_expressions=(expression,)))(labels, node.name)
        ]
        for expression in failing:
            changes |= _label_for(expression) or {"": None}
        if not term.match_fields and "" not in changes:
            yield changes


def _label_for(expression: Requirement) -> Labels | None:
    """A label with which *expression* holds."""
    key = expression.key
    values = expression.values
    if expression.operator in ("NotIn", "DoesNotExist"):
        return {key: None}
    if expression.operator == "Exists":
        return {key: ""}
    if expression.operator == "In":
        return {key: values[0]} if values else None
    step = {"Gt": 1, "Lt": -1}.get(expression.operator)
    if step is None or not values or not values[0].lstrip("-").isdecimal():
        return None
    number = int(values[0]) + step
    return {key: str(number)} if number >= 0 else None


# --- devices ------------------------------------------------------------------------------------------------


def more_devices(context: WhatIfContext) -> Changes:
    """A node with exactly as many more devices as are missing there for one request."""
    for report, node in context.targets():
        for account in report.devices or ():
            # A device that matches the request, free or not; there may be none on any node.
            request = account.claim, account.request
            same_request = [
                candidate
                for other_report in context.reports
                for candidate in other_report.devices or ()
                if (candidate.claim, candidate.request) == request
            ]
            model = next(
                (name for candidate in (account, *same_request) for name in candidate.matching), None
            )
            if model is not None:
                count = max(account.wanted - len(account.usable), 1)
                devices = f"{count} more device{'s' if count > 1 else ''} of class {account.device_class} like {model}"
                edit = f"copy device {model} to {node.name}{f' x{count}' if count > 1 else ''}"
                yield Change("device", f"give node {node.name} {devices}", (edit,), size=count)


# --- one more node ------------------------------------------------------------------------------------------


def one_more(context: WhatIfContext) -> Changes:
    """A new node like one of each kind: nodes are of one kind if they differ in their names alone. The
    smallest comes first."""
    kinds: dict[Hashable, tuple[list[int], str]] = {}
    for node in context.nodes():
        allocatable = node.status.allocatable
        labels = frozenset((key, value) for key, value in node.labels.items() if value != node.name)
        taints = frozenset(taint for taint in node.spec.taints if not taint.key.startswith(PASSING))
        size = [units(name, allocatable) for name in ("cpu", "memory")]
        kinds.setdefault((labels, frozenset(allocatable.items()), taints), (size, node.name))
    for number, (_, model) in enumerate(sorted(kinds.values(), key=itemgetter(0))):
        yield Change("addNode", f"add a node like {model}", (f"copy node {model}",), size=number)


# --- one node before others ---------------------------------------------------------------------------------


PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
HIGHEST = 100
"""The highest weight of a preference."""


def selecting(context: WhatIfContext) -> Changes:
    """A nodeSelector for the wanted node alone."""
    if context.pin is not None:
        words = f"select {context.want} by its hostname"
        yield context.of_pod("nodeSelector", words, f"nodeSelector.{HOSTNAME}={context.pin}")


def preferring(context: WhatIfContext) -> Changes:
    """A preferred node affinity to the wanted node, with the smallest weight that is enough."""

    def preference(weight: int) -> Change:
        expression = {"key": HOSTNAME, "operator": "In", "values": [context.pin]}
        term = {"weight": weight, "preference": {"matchExpressions": [expression]}}
        text = yaml_text(term, default_flow_style=True, width=1 << 20).strip()
        words = f"prefer {context.want} with weight {weight}"
        return context.of_pod("preference", words, f"affinity.nodeAffinity.{PREFERRED}+={text}", size=weight)

    if context.pin is not None:
        helps = smallest(0, HIGHEST, lambda weight: context.helpful(preference(weight)) is not None)
        if helps is not None:
            yield preference(helps)


def dropped_preferences(context: WhatIfContext) -> Changes:
    """One preferred term of the pod's node affinity, pod affinity or anti-affinity removed."""
    affinity = context.pod.spec.affinity or Affinity()
    for name, part in (
        ("nodeAffinity", affinity.node_affinity),
        ("podAffinity", affinity.pod_affinity),
        ("podAntiAffinity", affinity.pod_anti_affinity),
    ):
        for at, weight in enumerate([term.weight for term in part.preferred] if part is not None else ()):
            words = f"remove preference {at + 1} of {name}, which has weight {weight}"
            yield context.of_pod("preference", words, f"affinity.{name}.{PREFERRED}[{at}]-", size=weight)


def avoided(context: WhatIfContext) -> Changes:
    """The PreferNoSchedule taints of the wanted node, tolerated or removed."""
    for _, node in context.targets():
        mild = [taint for taint in node.spec.taints if taint.effect == "PreferNoSchedule"]
        taints = [taint for taint in mild if not tolerates(context.pod.spec.tolerations, taint)]
        if taints:
            texts = [taint_text(taint) for taint in taints]
            together = " and ".join(texts)
            yield context.of_pod(
                "toleration", f"tolerate the taint {together}", *(f"tolerations+={text}" for text in texts)
            )
            words = f"remove the taint {together} of node {node.name}"
            yield change_of_node(node, "taint", words, *(f"taints-={text}" for text in texts))


# --- all of them --------------------------------------------------------------------------------------------


Family = Callable[[WhatIfContext], Changes]
FAMILIES: tuple[tuple[str, Family], ...] = (
    ("names that nothing has", corrected),
    ("scheduling gates", dropped_gates),
    ("requests", lowered_requests),
    ("tolerations", tolerations),
    ("node selectors", dropped_node_selectors),
    ("node affinity", dropped_node_affinity),
    ("spread", looser_spread),
    ("affinity", dropped_pod_affinity),
    ("host ports", dropped_ports),
    ("cordons", uncordoned),
    ("taints", untainted),
    ("allocatable", raised),
    ("devices", more_devices),
    ("affinity of others", without_anti_affinity),
    ("labels", labelled),
    ("new nodes", one_more),
)
"""The families of changes that are tried on the cluster as it is, in words."""
WANTED_FAMILIES: tuple[tuple[str, Family], ...] = (
    ("hostname", selecting),
    ("preferences", preferring),
    ("own preferences", dropped_preferences),
    ("taints that put off", avoided),
)
"""The families that make one node win among the nodes that fit."""


# --- the smallest, alone or two together ---------------------------------------------------------------------


SECONDS = 10
"""How many changes of a family are tried at most as the second of two."""


def smallest_first(
    context: WhatIfContext, family: Family, trials: int | None, most: int | None
) -> Iterator[HelpfulChange]:
    """Up to *most* changes of a *family* that help, among its first *trials*."""
    changes = sorted(islice(family(context), trials), key=lambda change: (change.disturbs, change.size))
    return islice((helpful for change in changes if (helpful := context.helpful(change)) is not None), most)


def together(context: WhatIfContext, first: Change, families: Sequence[Family]) -> Iterator[HelpfulChange]:
    """Pairs that help: *first*, a change of the pod itself, and the smallest second one of each of
    *families*."""
    helpful: list[HelpfulChange] = []
    try:
        with context.after(*first.edits) as after:
            after.reports = explain(context.engine, after.pod, node=context.want).answer.nodes
            for family in families:
                helpful += smallest_first(after, family, SECONDS, 1)
    except EditError:
        return
    context.tried += after.tried
    for candidate in helpful:
        second = candidate.change
        kind = max(first.kind, second.kind, key=lambda kind: DISTURBS[kind])
        corrects = first.corrects and DISTURBS[kind] < DISTURBS["uncordon"]
        words = f"{first.words}; and {second.words}"
        edits = (*first.edits, *second.edits)
        combined = attrs.evolve(second, kind=kind, words=words, edits=edits, corrects=corrects)
        yield HelpfulChange.of(combined, candidate.suggestion.host, candidate.suggestion.victims)
