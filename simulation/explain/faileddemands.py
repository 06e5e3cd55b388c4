"""The demand behind a reason: the selector, the term, the constraint, the port or the taint that fails.

Selectors of nodes, and taints, are read off the objects. Demands that depend on other pods are tried: the
pod is decided once more with this one demand in place of all of its kind, and the nodes that are rejected for
the same reason are rejected by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from ...api.meaning import (
    DELAYED,
    NO_NEW_PODS,
    PLACES,
    Labels,
    SelectorError,
    compile_node_term,
    first_untolerated,
    selector_matches,
    selects,
    tolerates,
)
from ...api.objects import (
    NO_PROVISIONER,
    Affinity,
    LabelSelector,
    Map,
    Node,
    NodeSelectorTerm,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodAffinity,
    PodSpec,
    Quantity,
    Requirement,
    ResourceRequirements,
)
from ...api.record import replace
from ...api.words import count_of, listed, rounded
from ...core.engine import Engine
from ...core.matching import domains_by_key, hard_constraints
from ...core.pods import PODS, amount
from ...core.volumes import SOLE_USER
from ...exceptions import near_names
from ...framework.plugin import Plugin
from ...framework.plugins.podtopologyspread import PodTopologySpread
from ...framework.plugins.spreadconstraints import HARD, domains_shared
from ...framework.plugins.spreadconstraints import hard_constraints as framework_constraints
from ...predicates.checknodeunschedulable import UNSCHEDULABLE
from ...predicates.nodiskconflict import disks_conflict
from .clusterfacts import LabelFacts, have, idle_tolerations, is_meant, near_keys, taint_text, toleration_text
from .values import FailedDemand, NodeReport, Objection

# --- claims between a pod and nodes -------------------------------------------------------------------------


VOLUMES = frozenset({"CheckVolumeBinding", "VolumeBinding", "NoVolumeZoneConflict", "VolumeZone"})
DISKS = frozenset({"NoDiskConflict", "VolumeRestrictions"})


def claims_known(engine: Engine, pod: Pod) -> list[PersistentVolumeClaim]:
    """The claims of *pod* that exist."""
    return [claim for key in engine.claims_of(pod) if (claim := engine.listings.claims.get(key)) is not None]


def unreached(engine: Engine, claims: Iterable[PersistentVolumeClaim], node: Node) -> Iterator[str]:
    """The volumes bound to *claims* that *node* cannot reach, and where they can be reached."""
    for claim in claims:
        volume = engine.listings.volumes.get(claim.spec.volume_name) if claim.spec.volume_name else None
        where = "" if volume is None else _reach_text(volume, node)
        if where:
            yield f"{claim.spec.volume_name} of claim {claim.name} needs {where}"


def unbound(engine: Engine, claims: Iterable[PersistentVolumeClaim], node: Node) -> Iterator[str]:
    """The *claims* for which *node* has no volume, and none can be made."""
    listings = engine.listings
    for claim in claims:
        kind = listings.classes.get(claim.storage_class)
        if claim.spec.volume_name or kind is None:
            continue
        requested = claim.spec.requests.get("storage")
        places = [term.match_label_expressions for term in kind.allowed_topologies]
        driver = listings.csi_drivers.get(kind.provisioner)
        note = ""
        if kind.provisioner == NO_PROVISIONER:
            volumes = [
                volume
                for volume in listings.volumes
                if volume.spec.storage_class_name == kind.name and volume.spec.claim_ref is None
            ]
            reachable = [volume for volume in volumes if not _reach_text(volume, node)]
            largest = _largest(volume.spec.capacity.get("storage") for volume in reachable)
            if not reachable:
                note = "no free volume of the class"
                if volumes:
                    note += f" here, {len(volumes):,} elsewhere"
            elif largest is not None and requested is not None and largest.nanos < requested.nanos:
                note = f"the largest free volume here has {largest}"
        elif places and not any(
            all(node.labels.get(expression.key) in expression.values for expression in place)
            for place in places
        ):
            texts = [_text(each.key, "In", each.values) for place in places for each in place]
            note = f"its class makes volumes at {' or '.join(texts)} only"
        elif driver is not None and driver.spec.storage_capacity:
            largest = _largest(
                capacity.maximum_volume_size or capacity.capacity
                for capacity in listings.csi_capacities
                if capacity.storage_class_name == kind.name
                and capacity.node_topology is not None
                and selects(capacity.node_topology, node.labels)
            )
            if largest is None:
                note = "nothing published here"
            elif requested is not None and largest.nanos < requested.nanos:
                note = f"{largest} published here"
        if note:
            yield f"{claim.name}: {'no size' if requested is None else requested} of class {kind.name}, {note}"


def _largest(sizes: Iterable[Quantity | None]) -> Quantity | None:
    known = sorted((size for size in sizes if size is not None), key=lambda size: size.nanos)
    return known[-1] if known else None


def _reach_text(volume: PersistentVolume, node: Node) -> str:
    """The place where *volume* can be reached, if not from *node*."""
    affinity = volume.spec.node_affinity
    terms = () if affinity is None else affinity.node_selector_terms
    if terms and not any(compile_node_term(term)(node.labels, node.name) for term in terms):
        expressions = ((*term.match_expressions, *term.match_fields) for term in terms)
        return " or ".join(
            ", ".join(
                _text(expression.key, expression.operator, expression.values) for expression in requirements
            )
            for requirements in expressions
        )
    zones = ((key, volume.labels[key].split("__")) for key in PLACES if key in volume.labels)
    return next((_text(key, "In", values) for key, values in zones if node.labels.get(key) not in values), "")


def _text(key: str, operator: str, values: Sequence[str]) -> str:
    """``key value`` for one value, else the whole expression."""
    if operator == "In" and len(values) == 1:
        return f"{key} {values[0]}"
    return f"{key} {operator} [{', '.join(values)}]"


# --- demands ------------------------------------------------------------------------------------------------


MOST_DOMAINS = 5
"""How many domains are named."""


@attrs.frozen
class SpreadCounts:
    """The counts of one constraint: domain -> pods that it counts."""

    counts: dict[str, int]
    self_match: int
    """1 if the constraint counts the pod itself."""
    max_skew: int
    min_domains: int
    """With fewer domains the smallest count is 0."""

    @property
    def least(self) -> int:
        """The smallest count, as the rule takes it."""
        return 0 if len(self.counts) < self.min_domains else min(self.counts.values())

    def note(self, key: str, failing: Collection[str], nodes: Collection[Node], pod: Pod) -> str:
        """The counts in words. They include an emptiest domain that the pod cannot use, and the sum by which
        the emptiest of *failing* domains fails."""
        by_count = sorted(self.counts.items(), key=lambda pair: pair[1])
        shown = ", ".join(f"{domain} has {count:,}" for domain, count in by_count[:MOST_DOMAINS])
        shown += ", ..." if len(by_count) > MOST_DOMAINS else ""
        note = ""
        for domain in [domain for domain, count in by_count if count == self.least]:
            taints = [
                [*node.spec.taints, *[UNSCHEDULABLE] * node.spec.unschedulable]
                for node in nodes
                if node.labels.get(key) == domain
            ]
            if taints and all(first_untolerated(each, pod.spec.tolerations) for each in taints):
                note = f"; {domain} counts though the pod does not tolerate its taints"
                break
        if len(self.counts) < self.min_domains:
            note += f"; fewer than {self.min_domains:,} domains, so the smallest counts as 0"
        full = min((self.counts[domain] for domain in failing if domain in self.counts), default=None)
        if full is not None:
            note += f"; {full:,} + {self.self_match} - {self.least:,} > {self.max_skew:,}"
        return shown + note


def spread_counts(engine: Engine, pod: Pod) -> SpreadCounts | None:
    """The counts of *pod*, which has one hard constraint; None where there are no domains, or its selector is
    invalid."""
    cycle = engine.begin(pod)
    template = cycle.template
    table = cycle.table
    key = pod.spec.topology_spread_constraints[0].topology_key
    plugin = plugin_of(engine, pod, PodTopologySpread)
    try:
        if plugin is not None:
            constraints = plugin.constraints(template, HARD, cycle)
            (hard,) = framework_constraints(template, constraints, table, plugin.cells)
            (domains,) = domains_shared([hard], table).values()
            skew = hard.constraint.max_skew
            least = hard.constraint.min_domains
            self_match = skew - hard.most
        else:
            (constraint,) = hard_constraints(template)
            domains = domains_by_key(template, (constraint,), frozenset((pod.namespace,)), table)[key]
            skew = constraint.max_skew
            least = 1
            self_match = int(selector_matches(constraint.label_selector, pod.labels))
    except SelectorError:
        return None
    if key not in table.labels or not len(domains.values):
        return None
    values = table.labels[key].values
    counts = {values[code] or "": int(domains.counts[code]) for code in domains.values.tolist()}
    return SpreadCounts(counts, self_match, skew, least)


def plugin_of(engine: Engine, pod: Pod, kind: type[Plugin]) -> Any:
    """The plugin of this *kind* in the profile for *pod*; None where a release has none."""
    profile = engine.profiles.get(pod.scheduler_name)
    return None if profile is None else profile.plugins().get(kind.name)


# --- amounts ------------------------------------------------------------------------------------------------


def makers_of(engine: Engine, pod: Pod, name: str, counted: int) -> str:
    """The parts of the *counted* amount of a resource, in words; empty if it is the request of the containers
    of *pod*, or the pod itself."""
    spec = pod.spec
    if name == PODS or counted == sum(
        amount(name, container.requests[name]) for container in spec.containers if name in container.requests
    ):
        return ""

    def matters(**parts: object) -> bool:
        """Whether the release counts another amount without a part of the spec."""
        return count_of_spec(engine, replace(spec, **parts), name) != counted

    if matters(resources=ResourceRequirements()):
        return "the pod as a whole (spec.resources)"
    makers = []
    for at, container in enumerate(spec.init_containers):
        if matters(init_containers=(*spec.init_containers[:at], *spec.init_containers[at + 1 :])):
            makers.append(f"{'sidecar' if container.is_sidecar else 'init container'} {container.name}")
    if matters(overhead=Map()):
        makers.append("the overhead of its RuntimeClass")
    return listed(makers) if makers else ""


def count_of_spec(engine: Engine, spec: PodSpec, name: str) -> int:
    """The request for a resource by a pod with *spec*, as the release counts it."""
    counts: Mapping[str, int] = engine.release.incoming(Pod(spec=spec), engine.gates)
    return counts.get(name, 0)


# --- spreads ------------------------------------------------------------------------------------------------


SELECTORS = frozenset({"GeneralPredicates", "MatchNodeSelector", "NodeAffinity"})
AFFINITY = frozenset({"MatchInterPodAffinity", "InterPodAffinity"})
SPREAD = frozenset({"EvenPodsSpread", "PodTopologySpread"})
PORTS = frozenset({"GeneralPredicates", "PodFitsHostPorts", "NodePorts"})
TAINTS = frozenset({"PodToleratesNodeTaints", "PodToleratesNodeNoExecuteTaints", "TaintToleration"})
Reasons: TypeAlias = "frozenset[tuple[str, str]]"
"""Pairs of a rule and a reason."""


Judge: TypeAlias = "Callable[[Pod], Mapping[str, Sequence[Objection]]]"
"""A pod -> the objections of every node that does not fit, by name."""


def demand(field: str, text: str, note: str = "", *, absent: bool = False) -> FailedDemand:
    """A demand whose nodes are not counted yet."""
    return FailedDemand(field, text, 0, note, absent)


@attrs.define(eq=False)
class Causes:
    """The finder of the demands behind the reasons against nodes; *judge* decides a changed pod without a
    trace."""

    engine: Engine
    pod: Pod
    judge: Judge
    _nodes_by_demand: dict[FailedDemand, list[str]] = attrs.Factory(dict)
    """Unmet demand, not counted yet -> its nodes."""

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
        if rules & (AFFINITY | SPREAD | PORTS):
            self._pod_demands(failing, rules)
        by_node: dict[str, list[str]] = {}
        for failed, names in self._nodes_by_demand.items():
            for name in names:
                by_node.setdefault(name, []).append(failed.words)
        explained = tuple(
            replace(report, causes=tuple(by_node[report.name])) if report.name in by_node else report
            for report in reports
        )
        demands = (replace(failed, nodes=len(names)) for failed, names in self._nodes_by_demand.items())
        return explained, tuple(sorted(demands, key=lambda failed: -failed.nodes))

    def _add(self, failed: FailedDemand, *reports: NodeReport) -> None:
        self._nodes_by_demand.setdefault(failed, []).extend(report.name for report in reports)

    def _rejecting_nodes(
        self, reports: Iterable[NodeReport], rules: Collection[str]
    ) -> Iterator[tuple[NodeReport, Node]]:
        """The nodes that one of *rules* objects to."""
        for report in reports:
            node = self.engine.node(report.name)
            if node is not None and any(objection.rule in rules for objection in report.objections):
                yield report, node

    # --- what nodes have ------------------------------------------------------------------------------------

    def _selectors(self, reports: Sequence[NodeReport], rules: set[str]) -> None:
        """The selectors that fail on nodes that a rule of selectors rejects. If another rule came first on
        every node: those that no node meets."""
        selector: Labels = self.pod.spec.node_selector or {}
        terms = node_terms(self.pod)
        if not selector and not terms:
            return
        facts = node_labels(self.engine)
        names = self.engine.node_names()
        pairs = [
            (demand("nodeSelector", "=".join(pair), facts.note(*pair), absent=not facts.having(*pair)), pair)
            for pair in selector.items()
        ]
        checks = []
        for term in terms:
            for expression in term.match_expressions:
                note = facts.note_of(expression)
                failed = demand("nodeAffinity", text_of(expression), note, absent=facts.lacks(expression))
                checks.append((failed, NodeSelectorTerm(match_expressions=(expression,))))
            for expression in term.match_fields:
                note = ""
                if expression.operator == "In" and not set(expression.values).intersection(names):
                    near = [name for value in expression.values for name in near_names(value, names)[:1]]
                    note = "no node has that name" + (f"; there is {near[0]}" if near else "")
                failed = demand("nodeAffinity", text_of(expression), note, absent=bool(note))
                checks.append((failed, NodeSelectorTerm(match_fields=(expression,))))
        if not SELECTORS & rules:
            for failed, _ in [*pairs, *checks]:
                if failed.absent:
                    self._add(failed, *reports)
            return
        whole = [compile_node_term(term) for term in terms]
        parts = [(failed, compile_node_term(term)) for failed, term in checks]
        for report, node in self._rejecting_nodes(reports, SELECTORS):
            failing = [failed for failed, (key, value) in pairs if node.labels.get(key) != value]
            if not any(matches(node.labels, node.name) for matches in whole):
                failing += [failed for failed, matches in parts if not matches(node.labels, node.name)]
            for failed in failing:
                self._add(failed, report)

    def _taints(self, reports: Sequence[NodeReport]) -> None:
        """The taints that are not tolerated, and tolerations that match no taint but nearly match one."""
        taints = [taint for node in self.engine.nodes() for taint in node.spec.taints]
        idle = idle_tolerations(self.pod, taints)
        for report, node in self._rejecting_nodes(reports, TAINTS):
            for taint in node.spec.taints:
                if taint.effect in NO_NEW_PODS and not tolerates(self.pod.spec.tolerations, taint):
                    text = taint_text(taint)
                    self._add(demand("taint", text), report)
                    note = f"no node has such a taint; {have(taints.count(taint))} {text}"
                    for toleration in idle:
                        if is_meant(toleration, taint):
                            near = demand("toleration", toleration_text(toleration), note, absent=True)
                            self._add(near, report)

    def _resources(self, reports: Sequence[NodeReport]) -> None:
        """Requested resources that no node has; and short ones whose request is not the containers' alone."""
        short = {shortage.resource: shortage for report in reports for shortage in report.shortages}
        if not short:
            return
        resources = resources_of(self.engine)
        for name, shortage in short.items():
            if not resources[name]:
                near = near_resources(name, resources)
                note = "no node has it" + (f"; {have(resources[near[0]])} {near[0]}" if near else "")
                failed = demand("request", f"{name}={shortage.asked}", note, absent=True)
            elif makers := makers_of(self.engine, self.pod, name, shortage.asked):
                failed = demand("request", f"{rounded(name, shortage.asked)} {name}, for {makers}")
            else:
                continue
            lacking = (report for report in reports if name in [lack.resource for lack in report.shortages])
            self._add(failed, *lacking)

    def _volumes(self, reports: Sequence[NodeReport]) -> None:
        """The volumes that nodes cannot attach, reach or make: also of nodes that PreFilter left out, which
        no rule was asked about."""
        for report in reports:
            for excess in report.volumes or ():
                words = f"{excess.driver}: {excess.attached:,} of {excess.limit:,} attached, asks {excess.asked:,} more"
                self._add(demand("driver", words), report)
        engine = self.engine
        volumes = self.pod.spec.volumes
        claims = claims_known(engine, self.pod)
        refused = dict[frozenset[str], list[str]]()
        for report in reports if volumes else ():
            rules = {objection.rule for objection in report.objections}
            node = engine.node(report.name)
            if node is None:
                continue
            if rules & VOLUMES or not rules:
                for text in unreached(engine, claims, node):
                    self._add(demand("volume", text), report)
            if rules & VOLUMES:
                for text in unbound(engine, claims, node):
                    self._add(demand("claim", text), report)
            if rules & DISKS:
                for pod in engine.pods_on(node.name):
                    for volume in volumes:
                        if any(disks_conflict(volume, taken) for taken in pod.spec.volumes):
                            self._add(demand("volume", f"{volume.name} is a disk that {pod.key} has"), report)
            reasons = frozenset([*report.reasons, *report.objected])
            if reasons not in refused:
                refused[reasons] = list(self._refused(claims, " ".join(reasons)))
            for text in refused[reasons]:
                self._add(demand("claim", text), report)

    def _refused(self, claims: Iterable[PersistentVolumeClaim], reasons: str) -> Iterator[str]:
        """The *claims* for which *reasons* leave no node to the pod: those without a volume yet, and those
        that another pod has."""
        engine = self.engine
        for claim in claims:
            name = claim.storage_class
            storage_class = engine.listings.classes.get(name)
            is_late = storage_class is not None and storage_class.volume_binding_mode == DELAYED
            if "unbound immediate" in reasons and not claim.spec.volume_name and not is_late:
                why = f"of class {name} has no volume yet, and the class binds at once"
                yield f"{claim.name} {why if name else 'has no class and no volume'}"
            if SOLE_USER in reasons and SOLE_USER in claim.spec.access_modes:
                users = (pod.key for pod in engine.pods() if claim.key in engine.claims_of(pod))
                if (user := next(users, None)) is not None:
                    yield f"{claim.name} is for one pod alone, and {user} has it"

    def _devices(self, reports: Sequence[NodeReport]) -> None:
        """The claims to devices of which a node has too few, or enough only for each request alone; and
        nominated pods that are in the way.

        Room was made there for these pods: they are in the way only because they count.
        """
        for report in reports:
            accounts = report.devices or ()
            short = [account for account in accounts if len(account.usable) < max(account.wanted, 1)]
            for account in short or accounts:
                if short:
                    available = f"{len(account.usable):,} of {count_of(account.wanted, 'device')}"
                else:
                    available = "devices, but not for all requests together,"
                text = f"{account.claim}, request {account.request}: {available} can be had"
                self._add(demand("claim", text), report)
        for report in reports:
            nominated = (key for objection in report.objections for key in objection.nominated or ())
            for key in dict.fromkeys(nominated):
                self._add(demand("pod", f"{key} counts: it is nominated to this node"), report)

    # --- what pods there are --------------------------------------------------------------------------------

    def _pod_demands(self, reports: Sequence[NodeReport], rules: set[str]) -> None:
        for its_rules, failed, pod in self._single_demands():
            if not rules & its_rules:
                continue
            objections_by_node = self.judge(pod)
            failing = list[NodeReport]()
            nominated_only = list[NodeReport]()
            for report in reports:
                now = _reasons(objections_by_node.get(report.name, ()), its_rules)
                if now & _reasons(report.objections, its_rules):
                    objections = (each for each in report.objections if each.rule in its_rules)
                    is_nominated = any(each.nominated for each in objections)
                    (nominated_only if is_nominated else failing).append(report)
            if nominated_only:
                self._add(replace(failed, note="only because nominated pods count"), *nominated_only)
            if its_rules == SPREAD and failing and not failed.absent:
                # The spread of the pod's peers by its only constraint, with the domains where it fails.
                counts = spread_counts(self.engine, pod)
                nodes = self.engine.nodes()
                key = pod.spec.topology_spread_constraints[0].topology_key
                names = {report.name for report in failing}
                full = {node.labels[key] for node in nodes if key in node.labels and node.name in names}
                spread = "" if counts is None else counts.note(key, full, nodes, pod)
                failed = replace(failed, note="; ".join(filter(None, [failed.note, spread])))
            if failing:
                self._add(failed, *failing)
        self._anti_affinities(reports)

    def _single_demands(self) -> Iterator[tuple[frozenset[str], FailedDemand, Pod]]:
        """The demands about other pods, each with its rules and a pod with no other of its kind."""
        spec = self.pod.spec
        for constraint in spec.topology_spread_constraints:
            if constraint.when_unsatisfiable == "DoNotSchedule":
                text = f"{constraint.topology_key}, maxSkew {constraint.max_skew}"
                lacks = node_labels(self.engine).without(constraint.topology_key)
                note = lacks or self._note(constraint.label_selector, {self.pod.namespace})
                failed = demand("topologySpreadConstraints", text, note, absent=bool(lacks))
                yield SPREAD, failed, self._pod_with(topology_spread_constraints=(constraint,))
        affinity = spec.affinity or Affinity()
        near = affinity.pod_affinity or PodAffinity()
        away = affinity.pod_anti_affinity or PodAffinity()
        for term in near.required:
            text = f"{selector_text(term.label_selector)} by {term.topology_key}"
            single = replace(affinity, pod_affinity=replace(near, required=(term,)), pod_anti_affinity=None)
            note = node_labels(self.engine).without(term.topology_key)
            if not note and term.namespace_selector is None:
                note = self._note(term.label_selector, set(term.namespaces) or {self.pod.namespace})
            failed = demand("podAffinity", text, note, absent=note.startswith("no "))
            yield AFFINITY, failed, self._pod_with(affinity=single)
        for term in away.required:
            single = replace(affinity, pod_anti_affinity=replace(away, required=(term,)), pod_affinity=None)
            text = f"{selector_text(term.label_selector)} by {term.topology_key}"
            yield AFFINITY, demand("podAntiAffinity", text), self._pod_with(affinity=single)
        for container in spec.containers:
            for port in container.ports:
                if port.host_port:
                    containers = tuple(
                        replace(sibling, ports=(port,) if sibling is container else ())
                        for sibling in spec.containers
                    )
                    failed = demand("hostPort", str(port.host_port))
                    yield PORTS, failed, self._pod_with(containers=containers)

    def _pod_with(self, **changes: object) -> Pod:
        return replace(
            self.pod, spec=replace(self.pod.spec, preemption_policy="Never", **changes), manifest=None
        )

    def _anti_affinities(self, reports: Sequence[NodeReport]) -> None:
        """The pods on nodes whose anti-affinity keeps the pod away."""
        affected = [
            report
            for report in reports
            if any("existing pods anti-affinity" in reason for reason in report.objected)
        ]
        if not affected:
            return
        domains: dict[tuple[str, str], FailedDemand] = {}
        table = self.engine.fresh_table()
        labels: dict[str, Labels] = {node.name: node.labels for node in self.engine.nodes()}
        for name in self.engine.node_names():
            for entry in table.pods[table.row_of[name]]:
                for term in entry.template.required_anti_affinity:
                    value = labels.get(name, {}).get(term.topology_key)
                    if (
                        value is not None
                        and term.namespace_selector is None
                        and self.pod.namespace in (term.namespaces or (entry.pod.namespace,))
                        and selects(term.label_selector, self.pod.labels)
                    ):
                        failed = demand("podAntiAffinity", f"of pod {entry.pod.key} by {term.topology_key}")
                        domains.setdefault((term.topology_key, value), failed)
        for report in affected:
            for pair in labels.get(report.name, {}).items():
                if pair in domains:
                    self._add(domains[pair], report)

    # --- notes ----------------------------------------------------------------------------------------------

    def _note(self, selector: LabelSelector | None, namespaces: set[str]) -> str:
        """The number of pods on nodes that *selector* matches; if it matches none, a near label."""
        pods = self.engine.pods()
        labels = [pod.labels for pod in pods if pod.namespace in namespaces]
        count = sum(selects(selector, pod_labels) for pod_labels in labels)
        if count:
            return f"{count_of(count, 'pod')} on nodes {'matches' if count == 1 else 'match'}"
        elsewhere = Counter(pod.namespace for pod in pods if selects(selector, pod.labels))
        if elsewhere:
            namespace, number = elsewhere.most_common(1)[0]
            return f"no pod on a node matches; {number:,} in namespace {namespace}"
        pairs = () if selector is None else selector.match_labels.items()
        facts = LabelFacts.of(labels, "pod")
        near = [pair for key, value in pairs if (pair := facts.near(key, value)) is not None]
        more = f"; {facts.having(*near[0]):,} with {'='.join(near[0])}" if near else ""
        return f"no pod on a node matches{more}"


def node_labels(engine: Engine) -> LabelFacts:
    """The labels of all nodes that *engine* knows."""
    return LabelFacts.of(node.labels for node in engine.nodes())


def resources_of(engine: Engine) -> Counter[str]:
    """Resource -> how many nodes have some of it."""
    return Counter(
        name
        for node in engine.nodes()
        for name, quantity in node.status.allocatable.items()
        if quantity.value()
    )


def near_resources(name: str, resources: Iterable[str]) -> list[str]:
    """The *resources* that *name* may mean; a GPU is no misspelt cpu."""
    return near_keys(name, [other for other in resources if ("/" in other) == ("/" in name)])


# --- in words -----------------------------------------------------------------------------------------------


def text_of(expression: Requirement) -> str:
    """An expression in words: ``pool In [general, gpu]``."""
    values = f" [{', '.join(expression.values)}]" if expression.values else ""
    return f"{expression.key} {expression.operator}{values}"


def selector_text(selector: LabelSelector | None) -> str:
    """A label selector on one line; ``every pod`` for an empty one."""
    if selector is None:
        return "no pod"
    pairs = [f"{key}={value}" for key, value in selector.match_labels.items()]
    return ", ".join([*pairs, *map(text_of, selector.match_expressions)]) or "every pod"


# --- parts of the pod ---------------------------------------------------------------------------------------


def node_terms(pod: Pod) -> tuple[NodeSelectorTerm, ...]:
    """The terms of the pod's required node affinity."""
    affinity = (pod.spec.affinity or Affinity()).node_affinity
    return affinity.required.node_selector_terms if affinity and affinity.required else ()


def _reasons(objections: Iterable[Objection], rules: Collection[str]) -> Reasons:
    return frozenset(
        (objection.rule, reason)
        for objection in objections
        if objection.rule in rules
        for reason in objection.reasons
    )
