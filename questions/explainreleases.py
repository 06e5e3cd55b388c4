"""Why is a pod decided otherwise in another release?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from ..api.objects import Pod
from ..api.objects.pods import DEFAULT_SCHEDULER
from ..api.reading.notices import NoticeGroup, grouped
from ..api.view import TEXT, Column, Name, Number, Paragraph, Table, View, Words, shortened
from ..exceptions import UnknownNameError
from ..simulation.compare.contestants import JudgedNode
from ..simulation.explain.explain import freed
from ..simulation.explain.subject import Subject, find_subject
from ..simulation.input import SILENT, GivenCluster, Observer, check_order, scenario_of
from ..simulation.releasenotes import with_release_notices
from ..simulation.scenario import Scenario
from ..simulation.upgrade.onepod import explain_both
from ..simulation.upgrade.onepoddocument import DifferingNode, ReleaseDecision, ReleasesExplanation
from ..simulation.upgrade.stages import StartedWith, stages_of, way_of
from ..simulation.upgrade.way import Way
from .explain import name_of, with_pod
from .result import Result
from .upgrade import NO_NODE, started_with, why

SHOWN = 20
"""How many nodes text shows, unless all are asked for."""


@attrs.frozen(kw_only=True, repr=False)
class ExplainReleasesOptions:
    """Which pod, in which two releases, and what the older one runs."""

    pod: str
    """As for :func:`~kubeclassic.explain`."""
    releases: Sequence[str]
    namespace: str | None = None
    given: StartedWith = attrs.field(factory=StartedWith)
    alone: bool = False
    """The pods that come before are not scheduled first."""
    every: bool = False
    """Whether text has every node that differs."""

    @property
    def versions(self) -> list[str]:
        """The two releases. Raises :class:`~kubeclassic.exceptions.UnknownNameError`."""
        if len(self.releases) != 2:
            raise UnknownNameError(f"release: got {','.join(self.releases)}, wanted one release, or two with a comma between")
        start, end = self.releases
        found = way_of(start, end)
        return [found[0], found[-1]]


@attrs.frozen(eq=False, repr=False)
class ExplainReleasesResult(Result):
    """What two releases decide on one pod, what differs of each node, and by which fact."""

    document: ReleasesExplanation
    """Everything."""
    warnings: tuple[NoticeGroup, ...] = ()
    every: bool = False

    @property
    def ok(self) -> bool:
        """Whether both releases decide alike."""
        return self.document.same

    @property
    def hosts(self) -> dict[str, str | None]:
        """Release -> the node that the pod gets; None where it gets none."""
        return {decision.release: decision.host for decision in self.document.decisions}

    @property
    def why(self) -> str | None:
        """Why the newer release decides otherwise, in a sentence; None if it does not."""
        moved = self.document.moved
        return None if moved is None else why(moved, {fact.id: fact for fact in self.document.facts})

    def view(self) -> View:
        document = self.document
        causes, nodes = _causes(document), _nodes(document)
        listed = attrs.evolve(nodes, most=None if self.every else SHOWN, forms=TEXT)
        text: list[Sequence[Paragraph | Table]] = [list(_told(self)), [causes], [listed]]
        return View(
            title=type(self).__name__, verdict=verdict(document),
            facts={"pod": document.pod, **self.hosts, "nodes that differ": len(document.nodes)},
            tables=[causes, nodes], text=text if document.causes else text[:1], main="nodes",
        )  # fmt: skip


# --- words ----------------------------------------------------------------------------------------------------------


def verdict(found: ReleasesExplanation) -> Words:
    """Where the pod goes in both releases, and how many nodes differ."""
    pod = Name(found.pod)
    if found.ignored is not None:
        return Words(pod, " is not scheduled: ", Name(found.ignored))
    one, other = found.decisions
    before, after = Name(one.release), Name(other.release)
    count = len(found.nodes)
    differ = Words(Number(count), " of ", Number(found.node_count), f" node{'s' * (found.node_count != 1)}")
    rest = Words(differ, " differ") if count != 1 else Words(differ, " differs")
    if found.same:
        return Words(pod, ": ", Name(place(one)), " in ", before, " and in ", after, "; ", rest)
    return Words(pod, ": ", Name(place(one)), " in ", before, ", ", Name(place(other)), " in ", after, "; ", rest)


def place(found: ReleaseDecision) -> str:
    """The node that a pod gets, or on which it makes room."""
    return found.host or (NO_NODE if found.room is None else f"{NO_NODE} (makes room on {found.room})")


def _told(result: ExplainReleasesResult) -> Iterator[Paragraph]:
    document = result.document
    yield Paragraph(f"{verdict(document)}.")
    if result.why is not None:
        yield Paragraph(f"{result.why}.")
    for found in document.decisions:
        error = "" if found.error is None else f": {found.error}"
        yield Paragraph(f"{found.release} ({found.like}): {found.fit:,} of {document.node_count:,} nodes fit{error}")


def _causes(document: ReleasesExplanation) -> Table:
    """A row for each fact that makes nodes differ."""
    facts = {fact.id: fact for fact in document.facts}
    columns = [
        Column("nodes", "count"), Column("what", "tag", filter=True), Column("rule", "name", filter=True),
        Column("release", "name", filter=True), Column("because", "name"), Column("fact", "name", forms=("wide", "data")),
    ]  # fmt: skip
    rows = list[list[Any]]()
    for cause in document.causes:
        fact = facts.get(cause.fact or "")
        rows.append([cause.nodes, cause.what, cause.rule, fact and fact.release, fact.sentence if fact else "not known", cause.fact])
    return Table("causes", columns, rows, noun="cause", forms=("table", "wide", "page", "data"))


def _nodes(document: ReleasesExplanation) -> Table:
    """A row for each node that differs."""
    one, other = (decision.release for decision in document.decisions) if document.decisions else ("before", "after")
    columns = [
        Column("node", "name"), Column(one), Column(other), Column("rules", "names"),
        Column("facts", "names", forms=("wide", "page", "data", "csv")),
    ]  # fmt: skip
    rows = [
        [found.node, _seen(found.before), _seen(found.after), list(_rules(found)), _facts(found)] for found in document.nodes
    ]  # fmt: skip
    return Table("nodes", columns, rows, noun="node", forms=("page", "data", "csv"))


def _seen(view: JudgedNode) -> str:
    """A node as a release sees it."""
    if view.total is not None:
        return f"{view.state}, {view.total:,}"
    return shortened("; ".join(view.reasons)) or view.state


def _rules(found: DifferingNode) -> Iterator[str]:
    for one in found.differences:
        if one.points is not None:
            yield f"{one.rule} {one.points:+,}"
        else:
            yield one.rule or one.what


def _facts(found: DifferingNode) -> list[str]:
    return list(dict.fromkeys(one.fact or "not known" for one in found.differences))


# --- asking ---------------------------------------------------------------------------------------------------------


def ask(
    scenario: Scenario, options: ExplainReleasesOptions, order: str = "input", observer: Observer = SILENT
) -> ExplainReleasesResult:
    """Decide on the pod in both releases, on the state that the older one makes.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what cannot be asked.
    """
    stages = stages_of(options.versions, options.given)
    subject = find_subject(scenario, options.pod, options.namespace)
    noted = with_release_notices(scenario, [stage.engine(scenario.config_maps).algorithm for stage in stages])
    warnings = grouped(noted.warnings)
    records, question = tuple(group.record() for group in warnings), subject.question([DEFAULT_SCHEDULER])
    if question.ignored is not None:
        document = ReleasesExplanation(
            warnings=records, pod=subject.pod.key, **attrs.asdict(question), same=True, decisions=(), node_count=noted.node_count
        )
        return ExplainReleasesResult(document, warnings)
    asked, order = _asked(noted, subject, options.alone), check_order(order)
    order = order if asked is noted else "input"
    way = Way.of(asked, stages, options.given.traits, order=order, until=subject.pod.key)
    found = explain_both(way, observer.following)
    return ExplainReleasesResult(ReleasesExplanation.of(found, stages, subject.pod.key, question, records), warnings, options.every)


def _asked(scenario: Scenario, subject: Subject, alone: bool) -> Scenario:
    """*scenario* with the pod as the first that waits, if it has a node or comes *alone*: it is decided as if it were not there."""
    pod = subject.pod
    if not pod.spec.node_name and not alone:
        return scenario
    objects = tuple(item for item in scenario.objects if not (isinstance(item, Pod) and item.key == pod.key))
    others = (other for other in scenario.pending if other.key != pod.key)
    return attrs.evolve(scenario, objects=objects, pending=(freed(pod) if pod.spec.node_name else pod, *others))


def explain_releases(
    cluster: GivenCluster, pod: str | Pod | Mapping[str, Any], start: str, end: str, *, policy: Any = None, profile: Any = None,
    pods: GivenCluster = (), order: str = "input", alone: bool = False, percentage: int | None = None, defaults: bool = True,
) -> ExplainReleasesResult:  # fmt: skip
    """Decide on *pod* in two releases, on the same state of *cluster*, and say what differs of each node, and by which fact of a release.

    The pods that :func:`~kubeclassic.simulate` tries before it are scheduled first, by the older release.

    :param cluster: a Cluster; a path or several; objects and manifests.
    :param pod: as for :func:`~kubeclassic.explain`.
    :param start: the older release.
    :param end: the newer one.
    :param policy: the Policy that the older release runs: a file, its JSON form, or a Policy. It is carried over as `upgrade` does it.
    :param profile: its KubeSchedulerConfiguration: a file, or its JSON form.
    :param pods: more pods (or workloads) that wait, given like the cluster.
    :param order: in which order pods are tried: ``input``, ``priority`` or ``queue``.
    :param alone: decide on the cluster as it is, without the pods that come before.
    :param percentage: percentageOfNodesToScore in both releases; None: what each takes by itself.
    :param defaults: False: take objects as they are, without the API server's defaults.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input.
    """
    scenario = scenario_of(cluster, with_pod(pods, pod), scheduler_names=[DEFAULT_SCHEDULER], defaults=defaults)
    given = started_with(policy, profile, percentage)
    return ask(scenario, ExplainReleasesOptions(pod=name_of(pod), releases=(start, end), given=given, alone=alone), order)
