"""What of the pod or of the node is behind a reason: the selector, the term, the constraint, the port or the taint that fails.

Selectors of nodes, and taints, are read off the objects. What depends on other pods is asked of the scheduler: the pod is decided once
more with this one demand in place of all of its kind, and the nodes that are turned down for the same reason are turned down by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from ...api.meaning.labels import SelectorError, compile_node_term, compile_selector, selector_matches, tolerates
from ...api.objects import (
    Affinity,
    Container,
    ContainerStatus,
    CSIStorageCapacity,
    LabelSelector,
    Map,
    Node,
    NodeSelectorTerm,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    Requirement,
    ResourceRequirements,
    StorageClass,
)
from ...api.objects.pods import DEFAULT_SCHEDULER
from ...api.objects.quantity import Quantity
from ...api.record import Count, Record, replace
from ...api.words import count_of, listed, rounded
from ...core.cluster.listings import Listings
from ...core.engine import Engine
from ...core.matching.spread import domains_by_key, hard_constraints
from ...core.pods.requests import amount
from ...core.volumes.binder import SOLE_USER
from ...exceptions import near_names
from ...framework.hints import CORDONED
from ...framework.plugins.podtopologyspread import PodTopologySpread
from ...framework.plugins.spreadconstraints import HARD
from ...framework.plugins.spreadcounts import domains_shared
from ...framework.plugins.spreadcounts import hard_constraints as framework_constraints
from ...predicates.nodiskconflict import disks_conflict
from .clusterfacts import LabelFacts, have, idle_tolerations, is_meant, near_keys, taint_text, toleration_text
from .values import NodeReport, Objection

VOLUMES = frozenset({"CheckVolumeBinding", "VolumeBinding", "NoVolumeZoneConflict", "VolumeZone"})
DISKS = frozenset({"NoDiskConflict", "VolumeRestrictions"})
_DOMAINS = ("topology.kubernetes.io", "failure-domain.beta.kubernetes.io")
ZONES = tuple(f"{domain}/{word}" for domain in _DOMAINS for word in ("zone", "region"))
STATIC = "kubernetes.io/no-provisioner"


@attrs.frozen
class VolumeDemands:
    """The claims of *pod*, asked about one node after another: pairs of ``volume`` or ``claim``, and what of it the node does not serve."""

    engine: Engine
    pod: Pod

    @property
    def listings(self) -> Listings:
        """What the scheduler knows beside nodes and pods."""
        return self.engine.listings

    @property
    def claims(self) -> list[PersistentVolumeClaim]:
        """Those that there are."""
        return [claim for key in self.engine.claims_of(self.pod) if (claim := self.listings.claims.get(key)) is not None]

    def unreached(self, node: Node) -> Iterator[tuple[str, str]]:
        """The bound volumes that the node cannot reach, and where they can be reached."""
        for claim in self.claims:
            volume = self.listings.volumes.get(claim.spec.volume_name) if claim.spec.volume_name else None
            where = "" if volume is None else _needs(volume, node)
            if volume is not None and where:
                yield "volume", f"{volume.name} of claim {claim.name} needs {where}"

    def refused(self, reasons: Collection[str]) -> Iterator[tuple[str, str]]:
        """The claims for which *reasons* leave no node to the pod: those without a volume yet, and those that another pod has."""
        texts = " ".join(reasons)
        for claim in self.claims:
            if "unbound immediate" in texts and not claim.spec.volume_name:
                yield "claim", f"{claim.name} of class {claim.storage_class} has no volume yet, and the class binds at once"
            if SOLE_USER in texts and SOLE_USER in claim.spec.access_modes:
                users = [pod.key for pod in self.engine.pods() if claim.key in self.engine.claims_of(pod)]
                yield from (("claim", f"{claim.name} is for one pod alone, and {user} has it") for user in users[:1])

    def in_use(self, node: Node) -> Iterator[tuple[str, str]]:
        """The disks of the pod that pods on the node have."""
        pairs = ((one, other, pod) for pod in self.engine.pods_on(node.name) for one in self.pod.spec.volumes for other in pod.spec.volumes)
        yield from (("volume", f"{one.name} is a disk that {pod.key} has") for one, other, pod in pairs if disks_conflict(one, other))

    def unbound(self, node: Node) -> Iterator[tuple[str, str]]:
        """The claims for which the node has no volume, and none can be made."""
        for claim in self.claims:
            kind = self.listings.classes.get(claim.storage_class)
            if not claim.spec.volume_name and kind is not None:
                note = self._free(claim, kind, node) if kind.provisioner == STATIC else self._published(claim, kind, node)
                if note:
                    yield "claim", f"{claim.name}: {_size(claim)} of class {kind.name}, {note}"

    def _free(self, claim: PersistentVolumeClaim, kind: StorageClass, node: Node) -> str:
        """The free volumes of a class without a provisioner, if none suits."""
        there = [one for one in self.listings.volumes if one.spec.storage_class_name == kind.name and one.spec.claim_ref is None]
        here = [one for one in there if not _needs(one, node)]
        sizes = sorted((size for one in here if (size := one.spec.capacity.get("storage")) is not None), key=lambda size: size.nanos)
        wanted = claim.spec.requests.get("storage")
        if not here:
            return f"no free volume of the class here, {len(there):,} elsewhere" if there else "no free volume of the class"
        return f"the largest free volume here has {sizes[-1]}" if sizes and wanted is not None and sizes[-1].nanos < wanted.nanos else ""

    def _published(self, claim: PersistentVolumeClaim, kind: StorageClass, node: Node) -> str:
        """What the driver publishes for the node, or where the class makes volumes, if that is not enough."""
        terms = kind.allowed_topologies
        if terms and not any(all(node.labels.get(one.key) in one.values for one in term.match_label_expressions) for term in terms):
            told = (_text(one.key, "In", one.values) for term in terms for one in term.match_label_expressions)
            return f"its class makes volumes at {' or '.join(told)} only"
        driver = self.listings.csi_drivers.get(kind.provisioner)
        if driver is None or not driver.storage_capacity:
            return ""
        found = [one for one in self.listings.csi_capacities if one.storage_class_name == kind.name and _covers(one, node)]
        sizes = sorted((size for one in found if (size := one.maximum_volume_size or one.capacity) is not None), key=lambda one: one.nanos)
        wanted = claim.spec.requests.get("storage")
        if sizes and (wanted is None or sizes[-1].nanos >= wanted.nanos):
            return ""
        return f"{sizes[-1]} published here" if sizes else "nothing published here"


def _needs(volume: PersistentVolume, node: Node) -> str:
    """Where *volume* can be reached, if not from *node*."""
    affinity = volume.spec.node_affinity
    terms = () if affinity is None else affinity.node_selector_terms
    if terms and not any(compile_node_term(term)(node.labels, node.name) for term in terms):
        expressions = ((*term.match_expressions, *term.match_fields) for term in terms)
        return " or ".join(", ".join(_text(one.key, one.operator, one.values) for one in each) for each in expressions)
    zones = ((key, volume.labels[key].split("__")) for key in ZONES if key in volume.labels)
    return next((_text(key, "In", values) for key, values in zones if node.labels.get(key) not in values), "")


def _covers(capacity: CSIStorageCapacity, node: Node) -> bool:
    try:
        return capacity.node_topology is not None and compile_selector(capacity.node_topology)(node.labels)
    except SelectorError:
        return False


def _size(claim: PersistentVolumeClaim) -> str:
    found = claim.spec.requests.get("storage")
    return "no size" if found is None else str(found)


def _text(key: str, operator: str, values: Sequence[str]) -> str:
    """``key value`` for one value, else the whole."""
    return f"{key} {values[0]}" if operator == "In" and len(values) == 1 else f"{key} {operator} [{', '.join(values)}]"


# --- demands ----------------------------------------------------------------------------------------------------------


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


# --- amounts ----------------------------------------------------------------------------------------------------------


def makers_of(engine: Engine, pod: Pod, name: str, counted: int) -> str:
    """What makes the *counted* amount of a resource, in words; empty if it is what the containers of *pod* request.

    Of a pod on a node sidecars are containers like others: they run there.
    """
    given = count_of_spec(engine, _as_given(pod), name)
    if pod.spec.node_name and given != count_of_spec(engine, pod.spec, name):
        return f"a resize that is not done, {rounded(name, given)} allocated"
    sidecars = [one for one in pod.spec.init_containers if one.is_sidecar] if pod.spec.node_name else []
    own = sum(amount(name, one.requests[name]) for one in (*pod.spec.containers, *sidecars) if name in one.requests)
    makers = [] if counted == own else list(_makers(engine, pod.spec, name))
    return listed(makers) if makers else ""


def _makers(engine: Engine, spec: PodSpec, name: str) -> Iterator[str]:
    """Each part of the spec without which the amount would be another one."""

    def count(changed: PodSpec) -> int:
        return count_of_spec(engine, changed, name)

    whole = count(spec)
    if count(replace(spec, resources=ResourceRequirements())) != whole:
        yield "the pod as a whole (spec.resources)"
        return
    for at, container in enumerate(spec.init_containers):
        if count(replace(spec, init_containers=(*spec.init_containers[:at], *spec.init_containers[at + 1 :]))) != whole:
            yield f"{'sidecar' if container.is_sidecar else 'init container'} {container.name}"
    if count(replace(spec, overhead=Map())) != whole:
        yield "the overhead of its RuntimeClass"


def count_of_spec(engine: Engine, spec: PodSpec, name: str) -> int:
    """How much of a resource a pod with *spec* asks for, as the release counts it."""
    counts: Mapping[str, int] = engine.release.incoming(Pod(spec=spec), engine.gates)
    return counts.get(name, 0)


def _as_given(pod: Pod) -> PodSpec:
    """The spec with what the node has given to each container, where it says so."""
    spec, status = pod.spec, pod.status
    known = {one.name: one for one in (*status.container_statuses, *status.init_container_statuses)}

    def given(container: Container) -> Container:
        one = known.get(container.name, ContainerStatus())
        amounts: Mapping[str, Quantity] = one.allocated_resources or one.requests or {}
        return replace(container, resources=replace(container.resources, requests=Map({**container.requests, **amounts})))

    if not known:
        return spec
    return replace(spec, containers=tuple(map(given, spec.containers)), init_containers=tuple(map(given, spec.init_containers)))


# --- spreads ----------------------------------------------------------------------------------------------------------


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
    """A requirement of the pod that nodes do not meet, or a taint it does not tolerate, in the words of the manifest."""

    field: str
    """nodeSelector, nodeAffinity, podAffinity, podAntiAffinity, topologySpreadConstraints, hostPort, request, toleration, taint, driver:
    of volumes, volume, claim, pod: one that counts on the node."""
    text: str
    """The demand, such as pool=general."""
    nodes: Count
    """The nodes that fail it."""
    note: str
    """What there is in the cluster, such as: no node has it; 5 have pool=general. Empty if that is not known."""
    absent: bool = False
    """Nothing in the cluster meets it."""

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
            note = node_labels(self.engine).without(term.topology_key)
            if not note and term.namespace_selector is None:
                note = self._note(term.label_selector, set(term.namespaces) or {self.pod.namespace})
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
