"""The cluster's decision on a pod beside our own: the same, among our best, or different, and why.

The message of a refusal has reasons and counts, but neither rules nor nodes; the rule behind it is found
here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

import attrs

from ....api.record import Record
from ....core.decision import Decision, reasons_in
from ....core.engine import Engine
from ....simulation.reasons import about, shortage_of
from ....simulation.sides import KINDS, Cause, best, node_view, refusal_of

_BY_SUBJECT = dict(
    re.findall(
        r"(.+): (.+)",
        """
spread constraint: EvenPodsSpread PodTopologySpread
pod anti-affinity: MatchInterPodAffinity InterPodAffinity
pod affinity: MatchInterPodAffinity InterPodAffinity
service affinity: CheckServiceAffinity ServiceAffinity
taints: PodToleratesNodeTaints TaintToleration
cordoned nodes: CheckNodeUnschedulable NodeUnschedulable
host ports: GeneralPredicates PodFitsHostPorts PodFitsPorts NodePorts
volumes: CheckVolumeBinding VolumeBinding
node conditions: CheckNodeCondition
node affinity: GeneralPredicates MatchNodeSelector NodeAffinity
node name: GeneralPredicates HostName NodeName
node labels: CheckNodeLabelPresence NodeLabel
""",
    )
)
"""Subject of a reason -> the rules that give it in one release or another."""
_CLOSER = re.findall(
    r"(.+): (.+)",
    """
ReadWriteOncePod|no available disk: NoDiskConflict VolumeRestrictions
volume zone: NoVolumeZoneConflict VolumeZone
max volume count: MaxCSIVolumeCountPred MaxEBSVolumeCount MaxGCEPDVolumeCount NodeVolumeLimits
memory pressure: CheckNodeMemoryPressure
disk pressure: CheckNodeDiskPressure
pid pressure: CheckNodePIDPressure
out of disk: CheckNodeCondition
resourceclaim|allocate all claims: DynamicResources
""",
)
"""A pattern in a reason -> its rules, where several rules have one subject."""
_RESOURCES = "GeneralPredicates PodFitsResources NodeResourcesFit"


def refusing_rule(message: str, our_reasons: Iterable[str], known_rules: Collection[str]) -> str | None:
    """The rule behind the reason that is more frequent in *message* than in *our_reasons*; None: unknown.

    *our_reasons*: those of the nodes that we refuse too. Of several names of a rule it is the first among
    *known_rules*, those that we have, or else the last, that of the newest releases.

    >>> message = "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match Pod's node affinity/selector."
    >>> refusing_rule(message, ["Insufficient cpu"], ["MatchNodeSelector"])
    'MatchNodeSelector'
    >>> refusing_rule(message, ["Insufficient cpu"], [])
    'NodeAffinity'
    >>> refusing_rule("no idea", [], [])
    """

    def rules_of(reason: str) -> str:
        if shortage_of(reason) is not None:
            return _RESOURCES
        return next(
            (names for pattern, names in _CLOSER if re.search(pattern, reason)), ""
        ) or _BY_SUBJECT.get(about(reason), "")

    # Their names, oldest first, with blanks between them; empty: unknown.
    rules = [
        (names, count or 1) for reason, count in reasons_in(message).items() if (names := rules_of(reason))
    ]
    counted = Counter(rules_of(reason) for reason in our_reasons)
    candidates = max(rules, key=lambda pair: pair[1] - counted[pair[0]], default=("", 0))[0].split()
    return next((name for name in candidates if name in known_rules), candidates[-1] if candidates else None)


OURS = "kubeclassic"
CLUSTER = "cluster"
"""The two sides, as causes name them."""
ORDER_UNKNOWN = "order unknown"
"""Ours differs as things stand, but not in every state in which the cluster's scheduler may have decided."""


class PodJudgement(Record):
    """The judgement on one pod. A node of None: no node."""

    pod: str
    verdict: str
    ours: str | None
    cluster: str | None
    cause: Cause | None = None
    message: str = ""
    """The reason why we, or the cluster's scheduler, found no node."""

    @property
    def differs(self) -> bool:
        """Whether the cluster's scheduler chose what ours would not have chosen, whatever the tie-break."""
        return self.verdict == "different"

    def line(self) -> str:
        """In one line."""
        if self.verdict == "same":
            return f"{self.pod}: {self.verdict}: {self.cluster or 'no node'}"
        sentence = f"{self.pod}: {self.verdict}: cluster {self.cluster or 'no node'}, {OURS} {self.ours or 'no node'}"
        cause = self.cause
        if cause is None:
            return sentence
        if cause.kind == "predicate":
            where = "" if cause.side == OURS else " there"
            return f"{sentence}: {cause.rule or 'a rule'} turns {cause.node} down{where}: {cause.text}"
        kind = cause.rule or "the scores" if cause.kind == "score" else KINDS[cause.kind]
        return f"{sentence}: {kind}: {cause.text}" if cause.text else f"{sentence}: {kind}"


def judged(engine: Engine, decision: Decision, cluster: str, message: str = "") -> PodJudgement:
    """The judgement on our *decision*, which kept its details, and the *cluster*'s node; before the next
    cycle of *engine*.

    *cluster* is empty if the cluster's scheduler found none; *message* is its reason.
    """
    host = decision.host

    def judgement(verdict: str, cause: Cause | None = None) -> PodJudgement:
        text = decision.error or "" if cluster else message
        return PodJudgement(decision.pod.key, verdict, host, cluster or None, cause, text)

    if (host or "") == cluster:
        return judgement("same")
    if not cluster:
        details = decision.details
        algorithm = engine.algorithm_of(decision.pod) or engine.algorithm
        our_reasons = (
            ()
            if details is None
            else [reason for failure in details.refusals().values() for reason in failure.reasons]
        )
        rule = refusing_rule(message, our_reasons, [predicate.name for predicate in algorithm.predicates])
        return judgement("different", Cause("predicate", rule, CLUSTER, host, message))
    if host is None and not decision.is_fit_error:
        return judgement("different", Cause("error", side=OURS, text=decision.error or ""))
    view = node_view(engine, decision, cluster)
    if (refusal := refusal_of(OURS, view)) is not None:
        return judgement("different", refusal)
    if view.state == "not asked" or host is None:
        return judgement(
            "different", Cause("error", side=OURS, node=cluster, text="the node is not known here")
        )
    if engine.row_of(cluster) in best(decision):
        return judgement("equally good", Cause("tie", node=cluster))
    # Both nodes fit: the rule that favours ours most.
    own_view = node_view(engine, decision, host)
    gains = {
        rule: score.total - view.scores[rule].total
        for rule, score in own_view.scores.items()
        if rule in view.scores
    }
    rule = max(gains, key=lambda name: gains[name], default=None)
    totals = f"{own_view.total} in all for {host}, {view.total} for {cluster}"
    text = totals if rule is None else f"scores {host} {gains[rule]} above {cluster} ({totals})"
    return judgement("different", Cause("score", rule, OURS, host, text))


COUNT_NAMES = ("same", "equallyGood", "orderUnknown", "different")
"""The verdicts of :class:`ShadowAgreement` in its record, in order."""


@attrs.define
class ShadowAgreement:
    """The agreement of both, in counts."""

    counts: dict[str, int] = attrs.field(
        factory=lambda: dict.fromkeys(("same", "equally good", ORDER_UNKNOWN, "different"), 0)
    )
    causes: Counter[tuple[str, str | None]] = attrs.Factory(Counter)
    """(kind, rule) of a difference -> how often."""

    def add(self, judgement: PodJudgement) -> None:
        """Count one pod."""
        self.counts[judgement.verdict] += 1
        if judgement.differs and judgement.cause is not None:
            self.causes[judgement.cause.kind, judgement.cause.rule] += 1

    @property
    def pods(self) -> int:
        """The number of decisions that were compared."""
        return sum(self.counts.values())

    def record(self) -> dict[str, Any]:
        """As plain data."""
        causes = [
            {"kind": kind, "rule": rule, "decisions": count}
            for (kind, rule), count in self.causes.most_common()
        ]
        counts = {name: self.counts[verdict] for name, verdict in zip(COUNT_NAMES, self.counts, strict=True)}
        return {"decisions": self.pods, **counts, "causes": causes}

    def line(self) -> str:
        """In one line."""
        if not self.pods:
            return "0 decisions compared: the cluster's own scheduler decided on no pod meanwhile"
        counts = ", ".join(f"{count} {verdict}" for verdict, count in self.counts.items())
        causes = "; ".join(f"{rule or kind}: {count}" for (kind, rule), count in self.causes.most_common())
        return f"{self.pods} decisions compared: {counts}" + (f" ({causes})" if causes else "")
