"""Upgrade: the question, and its view."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from ...algorithmprovider.config import configuration_document, read_policy_file
from ...algorithmprovider.policy import Policy, read_policy
from ...api.record import UNSET, replace
from ...api.view import (
    CHANGES,
    Bands,
    Column,
    NextStep,
    PodOutcome,
    PodOutcomes,
    Section,
    Share,
    Table,
    View,
    block,
    columns_of,
    on_page,
)
from ...api.words import count_of
from ...choices import DEFAULT_RELEASE
from ...exceptions import PolicyError, UnknownNameError, did_you_mean
from ...framework.releases import find_any_release, nearest_release, telling_versions
from ...framework.schedulerspec import SchedulerSpec
from ...simulation.input import ComparisonInput, kubelets_of
from ...simulation.sides import KINDS
from ...simulation.simulate import Scenario
from ..asking import NOTHING_TRIED, GivenCluster, Observer, Result, asked_by, scenario_for
from .facts import POLICY, SideSpec, specs_of, way_of
from .options import UpgradeOptions
from .upgrade import MovedPod, Upgrade, UpgradeDocument, upgraded

KEYS = {"gained": "gained", "lost": "lost", "makes room": "makes room", "elsewhere": "moved"}
"""Change in the record -> its key in :data:`~kubeclassic.api.view.CHANGES`."""
WORDS = {change: CHANGES[key][0] for change, key in KEYS.items()}
COLOURS = {WORDS["gained"]: "good", WORDS["lost"]: "bad", WORDS["elsewhere"]: "near", "other room": "held"}
MODE_SENTENCES = {
    "free": "Each release has its own copy of the cluster, so that a decision may differ because of an earlier one.",
    "locked": "All releases decide on the same states, which the decisions of the first one make: no difference results from another.",
}
SAME = "on the first node"
OTHER = "on another node"
NONE = "without a node"


@attrs.frozen(eq=False, repr=False)
class UpgradeResult(Result):
    """The steps of an upgrade, the pods that each moves, and why."""

    document: UpgradeDocument
    """The answer as a record."""
    pod: str
    show: int | None

    @property
    def ok(self) -> bool:
        """Whether no step changes a decision; with :attr:`pod`, a decision on that pod."""
        return self.document.same if not self.pod else self.first_step(self.pod) is None

    def why(self, move: MovedPod) -> str:
        """The cause of a changed decision: the release's fact, and the points that the new node gains by
        it."""
        if move.effect == "earlier decision":
            return "an earlier decision differs, so the nodes are filled differently"
        fact = next((candidate for candidate in self.document.facts if candidate.id == move.fact), None)
        if fact is None:
            return f"not known: {move.rule or KINDS[move.kind]}"
        sentence = f"{fact.release}: {fact.sentence}"
        if not move.points or move.node is None or move.old is None:
            return sentence
        return f"{sentence}: {move.node} gains {move.points} point{'' if move.points == 1 else 's'} on {move.old}"

    def first_step(self, pod: str) -> MovedPod | None:
        """The first step that changes a decision on *pod*; None if none does."""
        return next((move for move in self.document.moved if move.pod == pod), None)

    def origin(self) -> dict[str, Any]:
        return {"releases": [stage.release for stage in self.document.stages]}

    def _view(self) -> View:
        document = self.document
        moving = len(document.ways)
        ends = ("--from", document.stages[0].release, "--to", document.stages[-1].release)
        counts = {"decisions that differ": len(document.moved), "pods that move": moving}
        facts = {"mode": document.mode, "pods": document.pods, **counts}
        return View(
            verdict=_verdict(document),
            lead=[f"Mode {document.mode}. {MODE_SENTENCES[document.mode]}"],
            facts=facts,
            shares=[Share("stay", document.pods - moving), Share("move", moving, "near")] if moving else [],
            who=_pod_outcomes(document),
            main="moved",
            next=[
                NextStep(f"The way of {move.pod}:", ("upgrade", *ends, "--pod", move.pod))
                for move in document.moved[:1]
            ],
            sections=list(self._sections()),
        )

    def _sections(self) -> Iterator[Section]:
        document = self.document
        shown = [move for move in document.moved if self.pod in ("", move.pod)]
        steps = _steps_table(document)
        causes = _causes_table(document)
        moved = _moves_table(self, shown)
        if self.pod:
            yield block(*_pod_lines(self, shown))
            yield block(_nodes_table(document))
        else:
            yield block(_verdict(document))
            yield block(steps)
            yield block(*(f"{text}." for text in other_patches(document, under_policy=True)))
            yield block(causes)
            yield block(attrs.evolve(moved, rows=moved.rows[: self.show], forms="text" if moved.rows else ""))
            if self.show is not None and len(shown) > self.show:
                more = count_of(len(shown) - self.show, "more decision")
                yield block(f"{more}: --show, -o csv or -o json has them.")
        # The sections of a page, and the tables as data.
        columns = "Each column is a release, each band a group of pods."
        words = f"{columns} A pod is on its first node, elsewhere, or without one; bands that cross move."
        yield Section("The way", [*on_page(words), _bands(document)], name="way")
        first_stage = document.stages[0]
        others = [f"{text}." for text in other_patches(document)]
        yield Section(
            "Step by step",
            [steps, *on_page(f"{first_stage.release} is as {first_stage.like}.", *others)],
            name="steps",
            forms="rest",
        )
        fixed = ""
        if any(fact.fixed for fact in document.facts):
            fixed = "Some of these were bugs, which a later release took back."
        yield Section(
            "What the releases do otherwise", [causes, *on_page(fixed)], name="causes", forms="rest"
        )
        yield Section("Which pods, and why", [moved], name="list")
        releases = (Column(stage.release, "host") for stage in document.stages)
        rows = [[pod, *hosts] for pod, hosts in document.ways.items()]
        ways = Table("ways", [Column("pod", "name"), *releases], rows, noun="pod", forms="data")
        yield Section(parts=[ways])
        yield Section("Nodes that differ", [_nodes_table(document)], forms="rest")


def _bands(document: UpgradeDocument) -> Bands:
    """The bands of pods in each release; pods that never move stay where the first release puts them."""
    first_stage = document.stages[0]
    ways = [
        [NONE if host is None else SAME if host == hosts[0] else OTHER for host in hosts]
        for hosts in document.ways.values()
    ]
    unplaced = sum(way[0] == NONE for way in ways)
    still = Counter(
        {SAME: first_stage.placed - (len(ways) - unplaced), NONE: first_stage.unplaced - unplaced}
    )
    counts = [Counter(way[at] for way in ways) + still for at in range(len(document.stages))]
    staying = Counter({(state, state): count for state, count in still.items()})
    flows = [
        Counter((way[at], way[at + 1]) for way in ways) + staying for at in range(len(document.stages) - 1)
    ]
    colours = {SAME: "same", OTHER: "near", NONE: "bad"}
    return Bands([stage.release for stage in document.stages], colours, counts, flows)


def _pod_outcomes(document: UpgradeDocument) -> PodOutcomes:
    """The pods that do not end where the first release puts them, those that lose their node first."""
    pods = []
    steps = {move.pod: move for move in document.moved}
    for pod, hosts in document.ways.items():
        first_host = hosts[0]
        last_host = hosts[-1]
        step = steps[pod]
        room = step.new if last_host is None and step.change in ("makes room", "other room") else None
        if first_host != last_host:
            if room:
                change = "makes room"
            elif last_host is None:
                change = "lost"
            elif first_host is None:
                change = "gained"
            else:
                change = "moved"
            text = [
                word
                for word in (
                    first_host and first_host != room and f"from {first_host}",
                    last_host and f"to {last_host}",
                    room and f"on {room}",
                )
                if word
            ]
            pods.append(PodOutcome(pod, change, " ".join(text)))
    order = list(CHANGES)
    return PodOutcomes(
        "Who ends elsewhere", sorted(pods, key=lambda outcome: order.index(outcome.change)), "list"
    )


# --- words --------------------------------------------------------------------------------------------------


def other_patches(document: UpgradeDocument, *, under_policy: bool = False) -> list[str]:
    """The known differences of other patch levels of the releases; *under_policy*: only for releases that run
    a Policy."""
    return [
        stage.other_patches
        for stage in document.stages
        if stage.other_patches and (stage.runs == POLICY or not under_policy)
    ]


def _verdict(document: UpgradeDocument) -> str:
    first = document.stages[0].release
    last = document.stages[-1].release
    if not document.pods:
        return NOTHING_TRIED
    if document.same:
        return f"No decision changes from {first} to {last}"
    count = len(document.moved)
    steps = ", ".join([step.after for step in document.steps if step.differ])
    if count == 1:
        return f"From {first} to {last} 1 decision changes: {document.moved[0].pod}, in {steps}"
    away = sum(hosts[0] != hosts[-1] for hosts in document.ways.values())
    pods = f"{away:,} of {document.pods:,} pods {'goes' if away == 1 else 'go'} elsewhere in {last} than in {first}"
    return f"{pods}; {count:,} decisions change on the way, in {steps}"


def _pod_lines(result: UpgradeResult, moved: Sequence[MovedPod]) -> Iterator[str]:
    """The lines on the nodes of one pod, release by release."""
    document = result.document
    if not moved:
        yield f"{result.pod}: no decision changes from {document.stages[0].release} to {document.stages[-1].release}."
        return
    first_move = moved[0]
    yield f"{result.pod}: {first_move.after} is the first release that decides differently."
    yield ""
    before = ""
    room = ""
    by_release = {move.after: move for move in moved}
    for stage, host in zip(document.stages, document.ways[result.pod], strict=True):
        move = by_release.get(stage.release)
        if move:
            room = ""
            if move.new and move.change in ("makes room", "other room"):
                room = f", {WORDS['makes room']} on {move.new}"
        now = host or f"<none>{room}"
        if move or now != before:
            yield f"{stage.release}  {now}" + (f": {result.why(move)}" if move else "")
        before = now


# --- tables -------------------------------------------------------------------------------------------------


def _steps_table(document: UpgradeDocument) -> Table:
    """A row for each step."""
    other_room = "" if any(step.other_room for step in document.steps) else "wide page data"
    columns = f"""
        step | name
        differ | count
        {WORDS["gained"]} | count | field=gained
        {WORDS["lost"]} | count | field=lost
        {WORDS["makes room"]} | count | field=makesRoom
        {WORDS["elsewhere"]} | count | field=elsewhere
        other room | count | field=otherRoom {other_room}
        placed | name
        decides as | name
        patch level | name | wide page data
    """
    rows = []
    for step, stage in zip(document.steps, document.stages[1:], strict=True):
        counts = [step.differ, step.gained, step.lost, step.makes_room, step.elsewhere, step.other_room]
        rows.append([f"{step.before} to {step.after}", *counts, str(stage.placed), stage.same_as, stage.like])
    return Table("steps", columns, rows, forms="seen data")


def _causes_table(document: UpgradeDocument) -> Table:
    """A row for each step and each cause of its changed decisions."""
    facts = {fact.id: fact for fact in document.facts}
    columns = """
        decisions | count
        release | name | filter
        rule | name | filter
        because | name
        fixed in | name | wide page data
    """
    rows = []
    for step in document.steps:
        for cause in step.causes:
            fact = facts.get(cause.fact or "")
            if fact:
                sentence = fact.sentence
            elif cause.effect == "earlier decision":
                sentence = "an earlier decision differs"
            else:
                sentence = "not known"
            rows.append(
                [cause.decisions, step.after, cause.rule, sentence, (fact.fixed if fact else None) or None]
            )
    return Table("causes", columns, rows, forms="seen data" if rows else "")


def _moves_table(result: UpgradeResult, moved: Sequence[MovedPod]) -> Table:
    """A row for each decision that differs."""
    columns = columns_of(
        """
        release | name | filter
        pod | name
        change | tag | filter seen
        change || data csv
        from | host
        to | host
        rule | name | filter wide page data csv
        fact | name | filter wide data csv
        why
        """,
        COLOURS,
    )
    rows = []
    for move in moved:
        if move.change == "gained" and move.old:
            change = f"no longer {WORDS['makes room']}"
        else:
            change = WORDS.get(move.change, move.change)
        rows.append(
            [
                move.after,
                move.pod,
                change,
                move.change,
                move.old,
                move.new,
                move.rule,
                move.fact,
                result.why(move),
            ]
        )
    return Table("moved", columns, rows, noun="decision", forms="page data csv")


def _nodes_table(document: UpgradeDocument) -> Table:
    """The nodes that differ in the steps that move the pod."""
    nodes = () if document.nodes is UNSET else document.nodes
    columns = "release | name | filter; node | name; before | name; then | name"
    rows = [[node.after, node.node, node.old, node.new] for node in nodes]
    return Table("nodes", columns, rows, noun="node", forms="seen data" if rows else "")


# --- asking -------------------------------------------------------------------------------------------------


def versions_of(options: UpgradeOptions, kubelets: Iterable[str]) -> tuple[list[str], str]:
    """The releases of the upgrade, and the version of the nodes where it begins at their release; *kubelets*:
    the versions of the nodes."""
    start = options.start or ""
    runs = ""
    if not start and not options.steps:
        nearest = None
        if options.policy is None:
            nearest = nearest_release(telling_versions(kubelets, options.server))
        start = DEFAULT_RELEASE if nearest is None else nearest[0].version
        runs = nearest[1] if nearest is not None else ""
        if start == find_any_release(options.end).version:
            raise UnknownNameError(
                f"{options.called('start')}: expected an earlier release, got none, and the cluster runs {start}"
            )
    steps = _steps(options)
    for name, place in (("start", 0), ("end", -1)) if steps else ():
        if options.has(name):
            step, given = (find_any_release(text).version for text in (steps[place], getattr(options, name)))
            if step != given:
                raise UnknownNameError(
                    f"{options.called(name)}: expected {step} as in {options.called('steps')}, got {given}"
                )
    return way_of(start, options.end, steps), runs


def _steps(options: UpgradeOptions) -> Sequence[str]:
    return [part for text in options.steps for part in text.split(",")]


def _specs(options: UpgradeOptions, versions: Sequence[str]) -> list[SideSpec]:
    profile = options.profile
    if profile is not None and not isinstance(profile, Mapping):
        profile = configuration_document(profile).data
    return specs_of(versions, _policy(options.policy), profile, options.percentage)


def first_scheduler(options: UpgradeOptions, kubelets: Iterable[str]) -> SchedulerSpec:
    """The scheduler of the first release, which says whose pods are pending, and what admission does."""
    versions, _ = versions_of(options, kubelets)
    return _specs(options, versions[:1])[0].spec


def _opened(cluster: GivenCluster, options: UpgradeOptions) -> Scenario:
    first = first_scheduler(options, kubelets_of(cluster))
    return scenario_for(cluster, options, first.scheduler_names, first.server)


@asked_by(UpgradeOptions, "cluster", "start", "end", opens=_opened, show=None)
def upgrade(scenario: Scenario, options: UpgradeOptions, observer: Observer) -> UpgradeResult:
    """Schedule the pending pods of *cluster* in each release from *start* to *end*, and say which release
    moves which pod, and why."""
    versions, runs = versions_of(options, [node.status.kubelet_version for node in scenario.nodes])
    if runs:
        observer.remark(f"from {versions[0]}: the cluster runs {runs}")
    specs = _specs(options, versions)
    ends = {spec.version: spec.engine(scenario.config_maps) for spec in (specs[0], specs[-1])}
    named = _steps(options) or (options.start, options.end)
    inputs = ComparisonInput.of(scenario, ends, {}, named=named, order=options.order)
    observer.ready(inputs)
    warnings = inputs.warnings
    source = specs[0].source
    traits = ["policy"] if isinstance(source, Policy) else []
    if source and not traits:
        traits = ["profile", "no scores", "gates set"]
    question = Upgrade(inputs.scenario, specs, options.mode, options.order, traits)
    name = options.pod or ""
    pod = name if "/" in name or not name else f"default/{name}"
    waiting = [pending.key for pending in scenario.pending]
    if pod and pod not in waiting:
        raise UnknownNameError(f"pod: expected a pod that waits, got {name}{did_you_mean(pod, waiting)}")
    document = upgraded(question, observer, tuple(group.record() for group in warnings), options.executor)
    if pod:
        nodes = tuple(
            node
            for move in document.moved
            if move.pod == pod and not move.retry
            for node in question.differing(move)
        )
        document = replace(document, nodes=nodes)
    return UpgradeResult(document, pod, None if options.makes("wide") else options.show, warnings=warnings)


def _policy(source: Any) -> Policy | None:
    """The Policy from *source*: a Policy, its JSON form, or the path of its file. Raises
    :class:`~kubeclassic.exceptions.PolicyError`."""
    if not isinstance(source, str | os.PathLike):
        return read_policy(source) if isinstance(source, Mapping) else source
    policy = read_policy_file(Path(source)).policy
    if policy is None:
        raise PolicyError(f"{os.fspath(source)}: expected a Policy, got a configuration without a Policy")
    return policy
