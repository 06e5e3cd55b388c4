"""What of the pod or of the node is behind a reason: the selector, the term, the constraint, the port or the taint that fails.

Selectors of nodes, and taints, are read off the objects. What depends on other pods is asked of the scheduler: the pod is decided once
more with this one demand in place of all of its kind, and the nodes that are turned down for the same reason are turned down by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, TypeAlias

import attrs

from ...api.meaning.labels import SelectorError, compile_node_term, compile_selector, tolerates
from ...api.objects import Affinity, LabelSelector, Node, NodeSelectorTerm, Pod, PodAffinity, PodAffinityTerm, PodSpec, Requirement
from ...api.record import Count, Record, replace, says
from ...api.words import count_of, rounded
from ...core.engine import Engine
from ...exceptions import near_names
from .amounts import makers_of
from .clusterfacts import LabelFacts, have, idle_tolerations, is_meant, near_keys, taint_text, toleration_text
from .spreads import spread_counts
from .values import NodeReport, Objection
from .volumes import DISKS, VOLUMES, VolumeDemands

SELECTORS = frozenset({"GeneralPredicates", "MatchNodeSelector", "NodeAffinity"})
AFFINITY = frozenset({"MatchInterPodAffinity", "InterPodAffinity"})
SPREAD = frozenset({"EvenPodsSpread", "PodTopologySpread"})
PORTS = frozenset({"GeneralPredicates", "PodFitsHostPorts", "NodePorts"})
TAINTS = frozenset({"PodToleratesNodeTaints", "PodToleratesNodeNoExecuteTaints", "TaintToleration"})
MOST = 20
"""How many nodes that are short of a resource are looked at pod by pod, the nearest ones first."""
EXISTING = "existing pods anti-affinity"
"""What the reason says where pods that are there keep the pod away."""
Reasons: TypeAlias = "frozenset[tuple[str, str]]"
"""Pairs of a rule and a reason."""


class FailedDemand(Record):
    """A demand of the pod that nodes do not meet, or a taint that it does not tolerate, in the words of the manifest."""

    field: Annotated[
        str,
        says(
            "nodeSelector, nodeAffinity, podAffinity, podAntiAffinity, topologySpreadConstraints, hostPort, request, toleration, taint,"
            " driver: of volumes, volume, claim, pod: one that counts on the node."
        ),
    ]
    text: Annotated[str, says("The demand, such as pool=general.")]
    nodes: Annotated[Count, says("The nodes that fail it.")]
    note: Annotated[str, says("What there is in the cluster, such as: no node has it; 5 have pool=general. Empty if that is not known.")]
    absent: Annotated[bool, says("Nothing in the cluster is as it asks for.")] = False

    @property
    def words(self) -> str:
        """Both in a line."""
        return f"{self.field} {self.text}"


Judged: TypeAlias = "Callable[[Pod], Mapping[str, Sequence[Objection]]]"
"""A pod -> the objections of every node that does not fit, by name."""


@attrs.define(eq=False)
class Causes:
    """Finds what is behind the reasons against the nodes of *reports*; *judged* decides a changed pod without a trace."""

    engine: Engine
    pod: Pod
    judged: Judged
    _found: dict[FailedDemand, list[str]] = attrs.field(factory=dict)
    """By what is not met, not counted yet, the nodes."""

    def of(self, reports: Sequence[NodeReport]) -> tuple[tuple[NodeReport, ...], tuple[FailedDemand, ...]]:
        """*reports* with their causes, and each cause with its nodes, that of most nodes first."""
        failing = [report for report in reports if not report.fits]
        rules = {objection.rule for report in failing for objection in report.objections}
        self._selectors(failing, rules)
        if rules & TAINTS:
            self._taints(failing)
        self._resources(failing)
        self._volumes(failing)
        self._devices(failing)
        self._nominated(failing)
        if rules & (AFFINITY | SPREAD | PORTS):
            self._of_pods(failing, rules)
        by_node: dict[str, list[str]] = {}
        for demand, names in self._found.items():
            for name in names:
                by_node.setdefault(name, []).append(demand.words)
        told = tuple(replace(one, causes=tuple(by_node[one.name])) if one.name in by_node else one for one in reports)
        demands = (replace(demand, nodes=len(names)) for demand, names in self._found.items())
        return told, tuple(sorted(demands, key=lambda one: -one.nodes))

    def _add(self, demand: FailedDemand, *reports: NodeReport) -> None:
        self._found.setdefault(demand, []).extend(report.name for report in reports)

    def _against(self, reports: Iterable[NodeReport], rules: Collection[str]) -> Iterator[tuple[NodeReport, Node]]:
        """The nodes that one of *rules* has something against."""
        for report in reports:
            node = self.engine.node(report.name)
            if node is not None and any(objection.rule in rules for objection in report.objections):
                yield report, node

    # --- what nodes have --------------------------------------------------------------------------------------------

    def _selectors(self, reports: Sequence[NodeReport], rules: Collection[str]) -> None:
        """The selectors that fail where a rule says so; what no node has, even if another rule came first on every node."""
        selector: Mapping[str, str] = self.pod.spec.node_selector or {}
        terms = node_terms(self.pod)
        if not selector and not terms:
            return
        facts = node_labels(self.engine)
        pairs = [
            (FailedDemand("nodeSelector", f"{key}={value}", 0, facts.note(key, value), not facts.having(key, value)), key, value)
            for key, value in selector.items()
        ]
        each = [
            (FailedDemand("nodeAffinity", text_of(one), 0, note, absent), compile_node_term(alone))
            for one, alone, note, absent in self._expressions(terms, facts)
        ]
        if not SELECTORS & set(rules):
            absent = [demand for demand in [*(one for one, *_ in pairs), *(one for one, _ in each)] if demand.absent]
            for demand in absent:
                self._add(demand, *reports)
            return
        whole = [compile_node_term(term) for term in terms]
        for report, node in self._against(reports, SELECTORS):
            failing = [demand for demand, key, value in pairs if node.labels.get(key) != value]
            if not any(matches(node.labels, node.name) for matches in whole):
                failing += [demand for demand, matches in each if not matches(node.labels, node.name)]
            for demand in failing:
                self._add(demand, report)

    def _expressions(
        self, terms: Iterable[NodeSelectorTerm], facts: LabelFacts
    ) -> Iterator[tuple[Requirement, NodeSelectorTerm, str, bool]]:
        """Each expression of *terms*, a term of it alone, what there is, and whether no node is as it asks for."""
        for term in terms:
            for one in term.match_expressions:
                yield one, NodeSelectorTerm(match_expressions=(one,)), facts.note_of(one), facts.lacks(one)
            for one in term.match_fields:
                names = self.engine.node_names()
                absent = one.operator == "In" and not set(one.values).intersection(names)
                near = [name for value in one.values for name in near_names(value, names)[:1]] if absent else []
                note = "no node has that name" + (f"; there is {near[0]}" if near else "") if absent else ""
                yield one, NodeSelectorTerm(match_fields=(one,)), note, absent

    def _taints(self, reports: Sequence[NodeReport]) -> None:
        """The taints that are not tolerated, and tolerations that no node has a taint for, but nearly so."""
        taints = [taint for node in self.engine.nodes() for taint in node.spec.taints]
        idle = idle_tolerations(self.pod, taints)
        for report, node in self._against(reports, TAINTS):
            for taint in node.spec.taints:
                if taint.effect in ("NoSchedule", "NoExecute") and not tolerates(self.pod.spec.tolerations, taint):
                    self._add(FailedDemand("taint", taint_text(taint), 0, ""), report)
                    for given in (one for one in idle if is_meant(one, taint)):
                        note = f"no node has such a taint; {have(taints.count(taint))} {taint_text(taint)}"
                        self._add(FailedDemand("toleration", toleration_text(given), 0, note, absent=True), report)

    def _resources(self, reports: Sequence[NodeReport]) -> None:
        """Resources that the pod requests, and that no node has."""
        short = {one.resource: one for report in reports for one in report.shortages}
        if not short:
            return
        there = resources_of(self.engine)
        for name, shortage in short.items():
            if not there[name]:
                near = near_keys(name, there)
                note = "no node has it" + (f"; {have(there[near[0]])} {near[0]}" if near else "")
                demand = FailedDemand("request", f"{name}={shortage.asked}", 0, note, absent=True)
            elif makers := makers_of(self.engine, self.pod, name, shortage.asked):
                demand = FailedDemand("request", f"{rounded(name, shortage.asked)} {name}, for {makers}", 0, "")
            else:
                continue
            self._add(demand, *(report for report in reports if any(one.resource == name for one in report.shortages)))
        for report in reports[:MOST]:
            for one in report.shortages:
                self._more_than_containers(report, one.resource)

    def _more_than_containers(self, report: NodeReport, name: str) -> None:
        """The pods on a node that count with more of a resource than their containers have."""
        table = self.engine.fresh_table()
        for entry in table.pods[table.row_of[report.name]]:
            counted = entry.template.footprint.get(name, 0)
            makers = makers_of(self.engine, entry.pod, name, counted) if counted else ""
            if makers:
                self._add(FailedDemand("pod", f"{entry.pod.key} counts {rounded(name, counted)} {name}, for {makers}", 0, ""), report)

    def _volumes(self, reports: Sequence[NodeReport]) -> None:
        """The volumes that nodes cannot attach, reach or make: also of nodes that PreFilter left out, which no rule was asked about."""
        for report in reports:
            for excess in report.volumes or ():
                self._add(FailedDemand("driver", excess.words, 0, ""), report)
        demands, refused = VolumeDemands(self.engine, self.pod), dict[frozenset[str], list[tuple[str, str]]]()
        for report in reports if self.pod.spec.volumes else ():
            rules, node = {objection.rule for objection in report.objections}, self.engine.node(report.name)
            if node is None:
                continue
            found = [*demands.unreached(node)] if rules & VOLUMES or not rules else []
            found += [*demands.unbound(node)] if rules & VOLUMES else []
            found += [*demands.in_use(node)] if rules & DISKS else []
            reasons = frozenset([*report.reasons, *(reason for objection in report.objections for reason in objection.reasons)])
            if reasons not in refused:
                refused[reasons] = list(demands.refused(reasons))
            found += refused[reasons]
            for field, text in found:
                self._add(FailedDemand(field, text, 0, ""), report)

    def _devices(self, reports: Sequence[NodeReport]) -> None:
        """The claims to devices of which a node has too few, or enough for each request alone."""
        for report in reports:
            accounts = report.devices or ()
            few = [one for one in accounts if len(one.usable) < max(one.wanted, 1)]
            for one in few or accounts:
                there = f"{len(one.usable):,} of {count_of(one.wanted, 'device')}" if few else "devices, but not for all requests together,"
                self._add(FailedDemand("claim", f"{one.claim}, request {one.request}: {there} can be had", 0, ""), report)

    def _nominated(self, reports: Sequence[NodeReport]) -> None:
        """The pods that are in the way on a node only as room was made for them there."""
        for report in reports:
            for key in dict.fromkeys(key for objection in report.objections for key in objection.nominated or ()):
                self._add(FailedDemand("pod", f"{key} counts: it is nominated to this node", 0, ""), report)

    # --- what pods there are ----------------------------------------------------------------------------------------

    def _of_pods(self, reports: Sequence[NodeReport], rules: set[str]) -> None:
        demands = [(about, demand, pod) for about, demand, pod in self._alone() if rules & about]
        for about, demand, pod in demands:
            found = self.judged(pod)
            failing = [one for one in reports if _reasons(one.objections, about) & _reasons(found.get(one.name, ()), about)]
            behind = [one for one in failing if any(objection.nominated for objection in one.objections if objection.rule in about)]
            if behind:
                self._add(replace(demand, note="only because nominated pods count"), *behind)
            failing = [one for one in failing if one not in behind]
            if about == SPREAD and failing and not demand.absent:
                demand = replace(demand, note="; ".join(filter(None, [demand.note, self._spread(pod, failing)])))
            if failing:
                self._add(demand, *failing)
        self._kept_away(reports)

    def _spread(self, pod: Pod, failing: Sequence[NodeReport]) -> str:
        """How the peers of *pod*, which has one constraint, are spread, as far as it is *failing*."""
        counts, key = spread_counts(self.engine, pod), pod.spec.topology_spread_constraints[0].topology_key
        nodes = self.engine.nodes()
        full = {node.labels[key] for node in nodes if key in node.labels and node.name in {report.name for report in failing}}
        return "" if counts is None else counts.note(key, full, nodes, pod)

    def _alone(self) -> Iterator[tuple[frozenset[str], FailedDemand, Pod]]:
        """Each demand about other pods, after the rules that see to it and before the pod with this one alone of its kind."""
        spec, affinity = self.pod.spec, self.pod.spec.affinity
        for constraint in spec.topology_spread_constraints:
            if constraint.when_unsatisfiable == "DoNotSchedule":
                text = f"{constraint.topology_key}, maxSkew {constraint.max_skew}"
                lacks = node_labels(self.engine).without(constraint.topology_key)
                note = lacks or self._note(constraint.label_selector, {self.pod.namespace})
                demand = FailedDemand("topologySpreadConstraints", text, 0, note, absent=bool(lacks))
                yield SPREAD, demand, self._with(topology_spread_constraints=(constraint,))
        affinity = affinity or Affinity()
        near, away = affinity.pod_affinity or PodAffinity(), affinity.pod_anti_affinity or PodAffinity()
        for term in near.required:
            alone = replace(affinity, pod_affinity=replace(near, required=(term,)), pod_anti_affinity=None)
            note = node_labels(self.engine).without(term.topology_key) or self._note_of(term)
            yield AFFINITY, FailedDemand("podAffinity", _term_text(term), 0, note, note.startswith("no ")), self._with(affinity=alone)
        for term in away.required:
            alone = replace(affinity, pod_anti_affinity=replace(away, required=(term,)), pod_affinity=None)
            yield AFFINITY, FailedDemand("podAntiAffinity", _term_text(term), 0, ""), self._with(affinity=alone)
        for port, containers in _with_one_port(spec):
            yield PORTS, FailedDemand("hostPort", str(port), 0, ""), self._with(containers=containers)

    def _with(self, **changes: object) -> Pod:
        return replace(self.pod, spec=replace(self.pod.spec, preemption_policy="Never", **changes), manifest=None)

    def _kept_away(self, reports: Sequence[NodeReport]) -> None:
        """The pods on nodes whose anti-affinity keeps the pod away."""
        affected = [
            report for report in reports
            if any(EXISTING in reason for objection in report.objections for reason in objection.reasons)
        ]  # fmt: skip
        if not affected:
            return
        domains: dict[tuple[str, str], list[FailedDemand]] = {}
        for other, labels, term in self._apart():
            value = labels.get(term.topology_key)
            if value is not None and self._matches(term, other):
                demand = FailedDemand("podAntiAffinity", f"of pod {other.key} by {term.topology_key}", 0, "")
                domains.setdefault((term.topology_key, value), []).append(demand)
        for report in affected:
            node = self.engine.node(report.name)
            for key, value in () if node is None else node.labels.items():
                for demand in domains.get((key, value), ())[:1]:
                    self._add(demand, report)

    def _apart(self) -> Iterator[tuple[Pod, Mapping[str, str], PodAffinityTerm]]:
        table = self.engine.fresh_table()
        for name in self.engine.node_names():
            node = self.engine.node(name)
            labels = {} if node is None else node.labels
            for entry in table.pods[table.row_of[name]]:
                yield from ((entry.pod, labels, term) for term in entry.template.required_anti_affinity)

    def _matches(self, term: PodAffinityTerm, owner: Pod) -> bool:
        if term.namespace_selector is not None or self.pod.namespace not in (term.namespaces or (owner.namespace,)):
            return False
        return _selects(term.label_selector, self.pod.labels)

    # --- notes ------------------------------------------------------------------------------------------------------

    def _note_of(self, term: PodAffinityTerm) -> str:
        return "" if term.namespace_selector is not None else self._note(term.label_selector, set(term.namespaces) or {self.pod.namespace})

    def _note(self, selector: LabelSelector | None, namespaces: set[str]) -> str:
        """How many pods on nodes *selector* matches; of one that matches none the label that is near."""
        pods = self.engine.pods()
        labels = [pod.labels for pod in pods if pod.namespace in namespaces]
        count = sum(_selects(selector, one) for one in labels)
        if count:
            return f"{count:,} {'pod' if count == 1 else 'pods'} on nodes {'matches' if count == 1 else 'match'}"
        elsewhere = Counter(pod.namespace for pod in pods if _selects(selector, pod.labels))
        if elsewhere:
            namespace, number = elsewhere.most_common(1)[0]
            return f"no pod on a node matches; {number:,} in namespace {namespace}"
        pairs = dict(selector.match_labels or {}) if selector is not None else {}
        facts = LabelFacts.of(labels, "pod")
        near = [found for key, value in pairs.items() if (found := facts.near(key, value)) is not None]
        more = f"; {facts.having(*near[0]):,} with {'='.join(near[0])}" if near else ""
        return f"no pod on a node matches{more}"


def node_labels(engine: Engine) -> LabelFacts:
    """The labels of all nodes that *engine* knows."""
    return LabelFacts.of(node.labels for node in engine.nodes())


def resources_of(engine: Engine) -> Counter[str]:
    """Resource -> how many nodes have some of it."""
    return Counter(name for node in engine.nodes() for name, held in node.status.allocatable.items() if held.value())


# --- in words -------------------------------------------------------------------------------------------------------


def text_of(expression: Requirement) -> str:
    """An expression as it is read: ``pool In [general, gpu]``."""
    values = f" [{', '.join(expression.values)}]" if expression.values else ""
    return f"{expression.key} {expression.operator}{values}"


def selector_text(selector: LabelSelector | None) -> str:
    """A label selector on one line; ``every pod`` for an empty one."""
    if selector is None:
        return "no pod"
    pairs = [f"{key}={value}" for key, value in (selector.match_labels or {}).items()]
    return ", ".join([*pairs, *map(text_of, selector.match_expressions)]) or "every pod"


def _term_text(term: PodAffinityTerm) -> str:
    return f"{selector_text(term.label_selector)} by {term.topology_key}"


# --- parts of the pod -----------------------------------------------------------------------------------------------


def node_terms(pod: Pod) -> tuple[NodeSelectorTerm, ...]:
    """The terms of the pod's required node affinity."""
    affinity = pod.spec.affinity
    required = affinity.node_affinity.required if affinity is not None and affinity.node_affinity is not None else None
    return () if required is None else required.node_selector_terms


def pod_terms(pod: Pod) -> tuple[PodAffinityTerm, ...]:
    """The terms of the pod's required affinity to other pods."""
    affinity = pod.spec.affinity
    return affinity.pod_affinity.required if affinity is not None and affinity.pod_affinity is not None else ()


def _with_one_port(spec: PodSpec) -> Iterator[tuple[int, tuple[object, ...]]]:
    """Each host port, and the containers with this one alone."""
    for at, container in enumerate(spec.containers):
        for port in container.ports:
            if port.host_port:
                others = [replace(one, ports=()) for one in spec.containers]
                others[at] = replace(container, ports=(port,))
                yield port.host_port, tuple(others)


def _reasons(objections: Iterable[Objection], rules: Collection[str]) -> Reasons:
    return frozenset((one.rule, reason) for one in objections if one.rule in rules for reason in one.reasons)


def _selects(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    try:
        return compile_selector(selector)(labels)
    except SelectorError:
        return False
