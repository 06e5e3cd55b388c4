"""The parts of an explanation: each node's part, what decided among those that fit, what evicting pods would
do, and one node in full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal

import attrs

from ...algorithmprovider.cells import in_words
from ...api.reading import ResultDocument
from ...api.record import UNSET, Count, Names, Record, UnsetType, derive, field, replace, says
from ...core.cycle import Cycle
from ...core.decision import Decision, PreemptionRecord
from ...core.devices.nodedevices import DeviceAccount
from ...core.engine import Engine
from ...core.preemption import is_eligible
from ..reasons import leading, shortage_of, wants_others


class NodeShortage(Record):
    """A resource of which a node has less left than the pod requests, in millicores, bytes or pieces."""

    resource: str
    asked: int
    free: int
    missing: int = 0
    """How much is missing."""
    has_none: bool = False
    """The node has none of it at all."""

    def __post_init__(self) -> None:
        derive(self, missing=self.asked - self.free)


class VolumeExcess(Record):
    """Volumes of the pod beyond the number that a node can attach."""

    driver: str
    """The driver, or the in-tree plugin."""
    attached: Count
    asked: Count
    """How many more the pod has."""
    limit: int


class NearestShortage(Record):
    """The node where least of a resource is missing, and how much, in millicores, bytes or pieces."""

    node: str
    resource: str
    asked: int
    free: int
    missing: int


class NodeScore(Record):
    """A node's score by a priority or plugin."""

    raw: int
    reduced: int
    """0 to 10; where plugins score 0 to 100."""
    weight: int
    total: int = 0
    """reduced times weight"""

    def __post_init__(self) -> None:
        derive(self, total=self.reduced * self.weight)


Scores = Annotated[Mapping[str, NodeScore], says("Priority or plugin -> score.")]


class Objection(Record):
    """The reason why one predicate or plugin rejects a node."""

    rule: str
    reasons: Names
    evictable: bool
    """Whether evicting pods from the node can remove it."""
    counted: bool = True
    """False where an earlier rule failed, so that the scheduler did not ask this one."""
    nominated: Names | UnsetType = UNSET
    """The pods nominated to the node, where it objects only because they count."""


class NodeReport(Record):
    """One node's part in a decision."""

    name: str = field(name="node")
    fits: bool
    visited: bool
    """False if the search found enough nodes before it reached this one."""
    predicates: Names | UnsetType = UNSET
    """1.12 to 1.16: the predicates that rejected the node."""
    plugins: Names | UnsetType = UNSET
    """From 1.17 on: the plugin that rejected the node."""
    reasons: Names = ()
    """Why, in the scheduler's words."""
    causes: Names = ()
    """The selectors, terms and constraints of the pod that fail here, and the untolerated taints."""
    objections: tuple[Objection, ...] = ()
    """The objections of every rule, asked or not."""
    shortages: tuple[NodeShortage, ...] = ()
    volumes: tuple[VolumeExcess, ...] | UnsetType = UNSET
    """Volumes beyond a limit of the node."""
    scores: Scores = field(default_factory=dict)
    total: int | None = None
    """null if the node was not scored."""
    code: str | UnsetType | None = UNSET
    """From 1.17 on: the code of its status."""
    devices: tuple[DeviceAccount, ...] | UnsetType = UNSET
    """The devices that the node reaches, by request or alternative, where claims to devices cannot be
    served."""

    @property
    def rules(self) -> Names:
        """The predicates, or the plugin, that turned the node down."""
        return self.plugins or self.predicates or ()

    @property
    def objected(self) -> Names:
        """The reasons of all objections."""
        return tuple(reason for objection in self.objections for reason in objection.reasons)

    @property
    def obstacles(self) -> int:
        """The number of things that rule out the node."""
        return len(self.objected or self.reasons)

    @property
    def nearness(self) -> tuple[int, bool, int, bool, float]:
        """A key that sorts the nodes that do not fit: by number of obstacles, nodes that the pod wants first,
        nodes without a resource behind, then by the shortage.
        """
        lacking = [short.missing / max(short.asked, 1) for short in self.shortages]
        devices = self.devices or ()
        lacking_count = sum(short.has_none for short in self.shortages) + any(
            not (account.usable or account.refused) for account in devices
        )
        missing = [
            max(account.wanted - len(account.usable), 0) / max(account.wanted, 1) for account in devices
        ]
        lacking += [
            (volume.attached + volume.asked - volume.limit) / volume.asked for volume in self.volumes or ()
        ]
        return (
            self.obstacles,
            any(map(wants_others, self.reasons)),
            lacking_count,
            self.obstacles > len(lacking),
            max([*lacking, *missing], default=0.0),
        )


# --- nodes in groups ----------------------------------------------------------------------------------------


class ReasonGroup(Record):
    """The nodes that have one reason against them, the nearest to fitting first."""

    reason: str
    rules: Names
    count: Count
    alone: Count
    """Nodes with no other reason."""
    evictable: bool
    """Whether evicting pods can remove it."""
    least_short: NearestShortage | None
    """The node that lacks least of the resource."""
    nodes: Names


def in_groups(nodes: Iterable[NodeReport]) -> tuple[ReasonGroup, ...]:
    """The nodes that were visited and do not fit, the nearest first, by reason, in the order of
    :func:`leading`."""
    turned_down = sorted(
        (node for node in nodes if node.visited and not node.fits), key=lambda node: node.nearness
    )
    members_by_reason: dict[str, list[NodeReport]] = {}
    for node in turned_down:
        for reason in dict.fromkeys(node.reasons):
            members_by_reason.setdefault(reason, []).append(node)
    groups = {}
    for reason, members in members_by_reason.items():
        objections = [
            objection
            for node in members
            for objection in node.objections
            if objection.counted and reason in objection.reasons
        ]
        rules = dict.fromkeys(objection.rule for objection in objections) or dict.fromkeys(
            rule for node in members for rule in node.rules
        )
        short = [
            NearestShortage(node.name, lack.resource, lack.asked, lack.free, lack.missing)
            for node in members
            for lack in node.shortages
            if shortage_of(reason) == lack.resource
        ]
        groups[reason] = ReasonGroup(
            reason,
            tuple(rules),
            len(members),
            sum(node.obstacles == 1 for node in members),
            bool(objections) and all(objection.evictable for objection in objections),
            min(short, key=lambda lack: lack.missing, default=None),
            tuple(node.name for node in members),
        )
    counts, alone = (
        {reason: getattr(group, name) for reason, group in groups.items()} for name in ("count", "alone")
    )
    return tuple(map(groups.__getitem__, leading(counts, alone)))


# --- which rule decided -------------------------------------------------------------------------------------


class Lead(Record):
    """The lead of a node by one rule over another node, both before the weight."""

    rule: str
    ours: int
    theirs: int
    weight: int
    ahead: int = 0
    """(ours - theirs) times weight: by how much it moves the total."""

    def __post_init__(self) -> None:
        derive(self, ahead=(self.ours - self.theirs) * self.weight)


class HostChoice(Record):
    """The choice of the host among several nodes that fit."""

    best: int
    """The highest total."""
    ties: Names
    """The nodes that have it, in visiting order."""
    tie_break: str
    """The choice among several best nodes, in a sentence."""
    against: str | None
    """The best of the other nodes; null if all have the same total."""
    decided: str | None
    """The rule that contributes most to the host's lead over that node."""
    leads: tuple[Lead, ...]
    """The host's leads over that node, rule by rule, the greatest first."""
    constant: Scores
    """Rules that give every node the same score."""
    max_score: int
    """The highest score of a rule before the weight."""


def choice_among(
    engine: Engine, host: str | None, scored: Sequence[NodeReport], visiting: Sequence[str]
) -> HostChoice | None:
    """The choice of *host* among the nodes in *scored*, best first; *visiting*: their names in visiting
    order. None for less than two."""
    if len(scored) < 2 or host is None:
        return None
    best = max(node.total or 0 for node in scored)
    tied = {node.name for node in scored if node.total == best}
    chosen = next(node for node in scored if node.name == host)
    runner_up = next((node for node in scored if node.name not in tied), None)
    ahead = () if runner_up is None else leads(chosen, runner_up)
    return HostChoice(
        best=best,
        ties=tuple(name for name in visiting if name in tied),
        tie_break=in_words(engine.release, engine.pick_host),
        against=None if runner_up is None else runner_up.name,
        decided=ahead[0].rule if ahead and ahead[0].ahead > 0 else None,
        leads=ahead,
        constant=constant_scores(scored),
        max_score=engine.max_score,
    )


def leads(node: NodeReport, other: NodeReport) -> tuple[Lead, ...]:
    """The rules by which two nodes score differently, those first that are most in favour of *node*."""
    differences = (
        Lead(rule, score.reduced, other.scores[rule].reduced, score.weight)
        for rule, score in node.scores.items()
    )
    return tuple(sorted((lead for lead in differences if lead.ahead), key=lambda lead: -lead.ahead))


def constant_scores(scored: Sequence[NodeReport]) -> dict[str, NodeScore]:
    """The rules by which all nodes in *scored* have the same score."""
    first, *others = (node.scores for node in scored)
    return {
        rule: score
        for rule, score in first.items()
        if all(scores[rule].reduced == score.reduced for scores in others)
    }


# --- what evicting pods would do ----------------------------------------------------------------------------


OFF = "preemption is switched off"
NEVER = "its preemptionPolicy is Never"
STAYS = "rejected for a reason that no eviction removes (such as a taint or a label)"
NONE_LOWER = "no pod there has a lower priority"
NOT_ENOUGH = "even without the pods of lower priority it does not fit"
NO_HELP = "evicting pods of lower priority does not help on any node"


class Victim(Record):
    """A pod that would have to leave."""

    pod: str
    priority: int


class EvictionOutcome(Record, kw_only=True):
    """The outcome of preemption for a pod that fits nowhere."""

    node: str | None = None
    """The node where room would be made; null if that does not help."""
    victims: tuple[Victim, ...] = ()
    budget_violations: Count = 0
    """Victims that a PodDisruptionBudget protects."""
    candidates: Count = 0
    """Nodes on which it would help."""
    why_not: str | None = None
    """Why no room is made, in a few words; null if it is."""
    priority: int
    """The pod's own; only pods below it can be evicted."""
    unresolvable: Count = 0
    """Nodes with a reason that no eviction removes."""
    nobody_lower: Count = 0
    """Other nodes, without a pod of lower priority."""
    not_enough: Count = 0
    """Other nodes where it does not fit even without these pods."""


def eviction_for(cycle: Cycle, decision: Decision, nodes: Sequence[NodeReport]) -> EvictionOutcome | None:
    """The outcome of preemption in *decision*; None if the pod did not need it, or the cycle ended with an
    error."""
    if not decision.is_fit_error:
        return None
    pod = cycle.pod
    plan = decision.preemption
    outcome = partial(EvictionOutcome, priority=pod.priority)
    if plan is None:
        return outcome(why_not=OFF)
    if plan.node is not None:
        candidates = plan.candidates
        return outcome(
            node=plan.node,
            victims=tuple(Victim(victim.key, victim.priority) for victim in plan.victims),
            budget_violations=candidates[plan.node].violations if plan.node in candidates else 0,
            candidates=len(candidates),
        )
    if plan.error:
        return outcome(why_not=plan.error)
    honours_never = decision.plugins is not None or (
        cycle.release.preemption.never_policy and cycle.enabled("NonPreemptingPriority")
    )
    if honours_never and pod.spec.preemption_policy == "Never":
        return outcome(why_not=NEVER)
    if not is_eligible(cycle):
        return outcome(why_not=f"it waits for pods that are leaving node {pod.status.nominated_node_name}")
    counts = Counter(why_no_room(cycle, node) for node in nodes)
    return outcome(
        why_not=NO_HELP,
        unresolvable=counts[STAYS],
        nobody_lower=counts[NONE_LOWER],
        not_enough=counts[NOT_ENOUGH],
    )


def why_no_room(cycle: Cycle, node: NodeReport) -> str:
    """The reason why evicting pods would make no room on a node that preemption did not come to."""
    # The scheduler leaves a node out of preemption for a reason that stays whichever pods leave.
    stays = not all(objection.evictable for objection in node.objections if objection.counted)
    if node.visited and (node.code != "Unschedulable" if node.code else stays):
        return STAYS
    table = cycle.table
    has_lower = any(entry.priority < cycle.pod.priority for entry in table.pods[table.row_of[node.name]])
    return NOT_ENOUGH if has_lower else NONE_LOWER


# --- all about one node -------------------------------------------------------------------------------------


Verdict = Literal["passes", "fails", "not asked"]


class RuleVerdict(Record):
    """The verdict of one predicate or plugin on the node."""

    rule: str
    outcome: Verdict
    """not asked: an earlier rule failed."""
    reasons: Names = ()
    """Why it fails, or would fail if it were asked."""
    concerned: bool = True
    """False where the rule does not apply to the pod."""


class RequestedResource(Record):
    """The pod's request of one resource and the node's amount, in millicores, bytes or pieces."""

    resource: str
    asked: int
    free: int
    allocatable: int
    missing: Count = 0
    """How much is missing; 0 if there is enough."""

    def __post_init__(self) -> None:
        derive(self, missing=max(self.asked - self.free, 0))


class CloseUp(Record):
    """One node, in full."""

    node: str
    fits: bool
    whole_pod: Names = ()
    """Decisions before the node was evaluated: why the pod was rejected, or the node left out."""
    verdicts: tuple[RuleVerdict, ...] = ()
    """The verdicts of the rules, in running order."""
    room: tuple[RequestedResource, ...] = ()
    """The amounts of each resource that the pod requests, and of places for pods."""
    devices: tuple[DeviceAccount, ...] | UnsetType = UNSET
    """The devices that the node reaches, by request or alternative, where claims to devices cannot be
    served."""
    scores: Scores = field(default_factory=dict)
    total: int | None = None
    would_score: bool = False
    """The scores are those that the node would have if it fitted and was reached."""
    place: Annotated[int, says("From 1 on.", ge=1)] | None = None
    """1 for the best total; null: not scored."""
    out_of: Count = 0
    """How many nodes were scored."""
    against: str | None = None
    """The host, or for the host itself the next best node."""
    leads: tuple[Lead, ...] = ()
    """The differences between the scores of this node and of that one."""
    victims: tuple[Victim, ...] | None = None
    """Pods that would have to leave; null if that does not help, or is not needed."""
    no_room: str | None = None
    """Why evicting pods makes no room here."""

    @property
    def reasons(self) -> Names:
        """The reasons against the node, each once."""
        return tuple(
            dict.fromkeys(
                [*self.whole_pod, *(reason for verdict in self.verdicts for reason in verdict.reasons)]
            )
        )


# --- the whole ----------------------------------------------------------------------------------------------


class FailedDemand(Record):
    """A requirement of the pod that nodes do not meet, or a taint that it does not tolerate. It is written as
    in the manifest."""

    field: str
    """nodeSelector, nodeAffinity, podAffinity, podAntiAffinity, topologySpreadConstraints, hostPort, request,
    toleration, taint, driver: of volumes, volume, claim, pod: one that counts on the node."""
    text: str
    """The demand, such as pool=general."""
    nodes: Count
    """The nodes that fail it."""
    note: str
    """A note on the cluster, such as: no node has it; 5 have pool=general. Empty if nothing is known."""
    absent: bool = False
    """Nothing in the cluster meets it."""

    @property
    def words(self) -> str:
        """Field and text in a line."""
        return f"{self.field} {self.text}"


class RuleConcerned(Record):
    """A predicate or filter plugin."""

    rule: str
    concerned: bool
    """False where the rule does not apply to the pod."""


class NodeCounts(Record):
    """The numbers of nodes by outcome."""

    nodes: Count
    visited: Count
    """Nodes the search evaluated; fit and turnedDown are among these."""
    fit: Count
    turned_down: Count


class ExplanationDocument(ResultDocument, kw_only=True):
    """The reasons why a pod goes where it goes, or nowhere. Resources are in millicores, bytes or pieces."""

    KIND = "Explanation"
    pod: str
    """namespace/name"""
    host: str | None
    """The node that the pod gets."""
    error: str | None
    """The scheduler's message for a pod without a node."""
    preemption: PreemptionRecord | None
    plugins: Names | UnsetType = UNSET
    """From 1.17 on: the plugins that rejected the pod or a node."""
    release: str
    """The release that decides."""
    gated: bool
    """The pod is not tried, because of scheduling gates or a plugin."""
    placed_on: str | None = None
    """The pod's present node; the decision ignores it."""
    ignored: str | None = None
    """Why the pod is not scheduled at all; null if it is."""
    workload: str | None = None
    """The given workload, to which the pod belongs, as Deployment shop/web."""
    workload_pods: Names = ()
    """All pods of that workload; if some are pending, without finished ones."""
    workload_waiting: Names | UnsetType = UNSET
    """Of a workload: its pods without a node after each had its turn; `pod` is the first of them."""
    waiting_nodes: Names | UnsetType = UNSET
    """The nodes that these pods are for, if a DaemonSet made them."""
    evicted_by: str | UnsetType = UNSET
    """The pod for which it has to leave that node later, where one is tried after it."""
    scored: bool = False
    """False if the only node that fits is taken without scoring."""
    rules: tuple[RuleConcerned, ...] = ()
    """The predicates or filter plugins in running order; empty if no node was asked."""
    counts: NodeCounts = NodeCounts(0, 0, 0, 0)
    choice: HostChoice | None = None
    """The choice of the host among several nodes that fit."""
    reasons: tuple[ReasonGroup, ...] = ()
    """Nodes by reason; first reasons that alone keep the pod from nodes."""
    missing: Names = ()
    """Objects that the pod needs and the input lacks: claims, volumes, classes; each in a sentence."""
    causes: tuple[FailedDemand, ...] = ()
    """Requirements of the pod that nodes do not meet, and taints; most nodes first."""
    eviction: EvictionOutcome | None = None
    """The outcome of evicting pods."""
    close_up: CloseUp | None = None
    """--node: that node in full."""
    nodes: tuple[NodeReport, ...] = ()
    """Nodes that fit, best first, then the others, nearest first; with --node only that one."""

    @property
    def room(self) -> str | None:
        """The node on which the pod makes room by evicting others; None if it does not."""
        return None if self.eviction is None else self.eviction.node

    @property
    def elsewhere(self) -> list[str]:
        """The nodes other than that of a placed pod which could take it too, best first."""
        return [node.name for node in self.nodes if node.fits and node.name != self.placed_on]

    @property
    def not_scheduled(self) -> str:
        """The reason why the pod is not scheduled at all, as a sentence."""
        sentence = f"Not scheduled: {self.ignored}"
        return sentence if sentence.endswith("?") else f"{sentence}."

    def report_of(self, name: str) -> NodeReport | None:
        """The report of the node called *name*."""
        return next((node for node in self.nodes if node.name == name), None)


@attrs.frozen
class Explanation:
    """A decision and its explanation, with the reports of all nodes."""

    decision: Decision
    answer: ExplanationDocument
    asks_all: bool = False
    """Whether the other rules are asked too about a node that one has rejected."""

    @classmethod
    def of(cls, decision: Decision, release: str, asks_all: bool = False, **fields: Any) -> Explanation:
        """The explanation of *decision* by *release*, with its other *fields*."""
        plan = decision.preemption
        answer = ExplanationDocument(
            pod=decision.pod.key,
            host=decision.host,
            error=decision.error,
            preemption=None if plan is None else plan.record(),
            plugins=UNSET if decision.plugins is None else tuple(sorted(decision.plugins)),
            release=release,
            gated=decision.is_gated,
            **fields,
        )
        return cls(decision, answer, asks_all)

    def with_fields(self, **more: Any) -> Explanation:
        """The explanation with *more* in the answer."""
        return attrs.evolve(self, answer=replace(self.answer, **more))
