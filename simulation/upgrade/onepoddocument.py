"""One pod in two releases as data: both decisions, each node that differs, and the facts behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, ClassVar

from ...api.reading.notices import InputWarning, ResultDocument
from ...api.record import Count, Record, says
from ...framework.facts.records import OtherPatches, ReleaseFact
from ...framework.releases import ALL_PATCH_LEVELS, OTHER_PATCHES
from ..compare.agreement import decided
from ..compare.causes import Judged
from ..compare.contestants import FITS, JudgedNode
from ..explain.explanation import Ignored, PlacedOn, PodQuestion, Workload, WorkloadPods
from .onepod import PodInTwoReleases, What
from .stages import Stage
from .upgradedocument import MovedPod
from .way import moved_pod

Differs = Annotated[
    What,
    says(
        "Whether the node fits; the reasons against it; whether the search looks at it; its score by a rule; "
        "or the message alone, where no node differs."
    ),
]
FactId = Annotated[str | None, says("The id of the fact that causes it; null: not known.")]


class ReleaseDecision(Record):
    """What one release decides."""

    release: str
    like: Annotated[str, says("The patch level that it is like.")]
    runs: Annotated[str, says("What of a Policy or a profile it runs.")]
    host: Annotated[str | None, says("The node that the pod gets.")]
    room: Annotated[str | None, says("The node on which pods are evicted for it.")]
    victims: Annotated[tuple[str, ...], says("The pods that are evicted.")]
    fit: Annotated[Count, says("Nodes that fit and were looked at.")]
    error: Annotated[str | None, says("The scheduler's message for a pod without a node.")]
    other_patches: OtherPatches

    @classmethod
    def of(cls, stage: Stage, judged: Judged) -> ReleaseDecision:
        """The decision in *judged*, which the release of *stage* made."""
        host, room, victims = decided(judged.decision)
        fit = sum(view.state == FITS for view in judged.views.values())
        like, other = ALL_PATCH_LEVELS[stage.version], OTHER_PATCHES.get(stage.version, "")
        return cls(stage.version, like, stage.text, host, room, victims, fit, judged.decision.error, other)


class NodeDifference(Record):
    """One thing that the newer release says otherwise of a node."""

    what: Differs
    rule: Annotated[str | None, says("The predicate or plugin.")]
    points: Annotated[int | None, says("Of a score: how many points of 100 more, by weight.")]
    fact: FactId


class DifferingNode(Record):
    """A node that the two see otherwise."""

    node: str
    before: JudgedNode
    after: JudgedNode
    differences: tuple[NodeDifference, ...]


class NodeCause(Record):
    """How many nodes differ for one reason."""

    what: Differs
    rule: str | None
    fact: FactId
    nodes: Annotated[Count, says("0 for the message.")]


class ReleasesExplanation(ResultDocument, kw_only=True):
    """Why a pod is decided otherwise in another release, on the same state of the cluster."""

    KIND: ClassVar[str] = "ReleasesExplanation"
    pod: Annotated[str, says("namespace/name")]
    placed_on: PlacedOn
    ignored: Ignored
    workload: Workload
    workload_pods: WorkloadPods
    same: Annotated[bool, says("Both releases decide alike.")]
    decisions: Annotated[tuple[ReleaseDecision, ...], says("Of the older release, then of the newer one; none if the pod is ignored.")]
    moved: Annotated[MovedPod | None, says("Why the newer one decides otherwise.")] = None
    causes: tuple[NodeCause, ...] = ()
    nodes: Annotated[tuple[DifferingNode, ...], says("Those that differ: the two hosts first, then in the order of the input.")] = ()
    node_count: Annotated[Count, says("How many nodes there are.")]
    facts: Annotated[tuple[ReleaseFact, ...], says("Those that are a cause.")] = ()

    @classmethod
    def of(
        cls, found: PodInTwoReleases, stages: Sequence[Stage], pod: str, question: PodQuestion, warnings: tuple[InputWarning, ...]
    ) -> ReleasesExplanation:
        """*found* by the two *stages*."""
        before, after = stages
        moved = None
        if found.why is not None:
            outcomes = decided(found.first.decision), decided(found.second.decision)
            moved = moved_pod(before.version, after.version, (pod, False), *outcomes, found.why)
        causes = Counter((one.what, one.rule, fact) for one, fact in found.facts.items())
        told = [found.why.fact if found.why is not None else None, *(fact for _, _, fact in causes)]
        return cls(
            warnings=warnings, pod=pod, placed_on=question.placed_on, ignored=None, workload=question.workload,
            workload_pods=question.workload_pods, same=moved is None,
            decisions=(ReleaseDecision.of(before, found.first), ReleaseDecision.of(after, found.second)), moved=moved,
            causes=tuple(
                NodeCause(what, rule, None if fact is None else fact.id, 0 if what == "message" else count)
                for (what, rule, fact), count in causes.most_common()
            ),
            nodes=_nodes(found), node_count=len(found.first.views),
            facts=tuple(ReleaseFact.of(fact) for fact in dict.fromkeys(told) if fact is not None),
        )  # fmt: skip


def _nodes(found: PodInTwoReleases) -> tuple[DifferingNode, ...]:
    by_node: dict[str, list[NodeDifference]] = {}
    for one, fact in found.facts.items():
        if one.node is not None:
            told = NodeDifference(one.what, one.rule, one.points, None if fact is None else fact.id)
            by_node.setdefault(one.node, []).append(told)
    hosts = found.first.host, found.second.host
    order = sorted(by_node, key=lambda name: name not in hosts)
    return tuple(DifferingNode(name, found.first.views[name], found.second.views[name], tuple(by_node[name])) for name in order)
