"""Compare: the question, and its view: the verdict, sentences, tables, and the list of pods."""

from __future__ import annotations

import os
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
from msgspec.structs import replace

from ...api.meaning import BETA_REGION, BETA_ZONE, TOPOLOGY_REGION, TOPOLOGY_ZONE
from ...api.objects import Node
from ...api.reading import Notice, NoticeGroup, grouped
from ...api.view import (
    CHANGES,
    BulletList,
    CodeText,
    Column,
    MapSide,
    NextStep,
    NodeMap,
    PodOutcome,
    PodOutcomes,
    Section,
    Share,
    ShareBar,
    Table,
    View,
    Words,
    block,
    columns_of,
    on_page,
)
from ...api.words import count_doing, count_of
from ...core.pods import PODS
from ...framework.options import FIELDS, declared_of
from ...framework.releases import AUTO, is_auto
from ...simulation.input import ComparisonInput, options_given, release_asked, spec_of
from ...simulation.nodesbyuse import NodeUse, NodeUses, labels_of, share_of
from ...simulation.reasons import phrase
from ...simulation.sides import KINDS, SUCCESSORS, Cause
from ...simulation.simulate import Scenario
from ..asking import GivenCluster, Observer, Result, asked_by, scenario_for
from .comparison import (
    ComparedDecision,
    Comparison,
    ComparisonDocument,
    ConfigurationPair,
    DifferingCycle,
    label,
    side_name,
    verdict,
)
from .comparison import compare as compare_all
from .options import NAMES, CompareOptions

# --- the view: verdict, sentences, tables, and the list of pods ---------------------------------------------


MODES = {
    "free": (
        "Each configuration has its own copy of the cluster. A pod that gets another node changes the cluster for the pods after it,"
        " so scores may also differ because of earlier placements."
    ),
    "locked": "All decide on the same state each time, and only the decisions of {first} take effect: no difference results from another.",
}


@attrs.frozen(repr=False)
class ClusterEnd:
    """The nodes of a cluster when all pods are scheduled."""

    nodes: tuple[NodeUse, ...]
    pods: Mapping[str, Sequence[str]]
    """Node -> the pods on it."""


def _outcomes(found: ComparisonDocument) -> Iterator[Section]:
    """The ends of pods."""
    yield block(*headline(found), *(f"{one.name}: {one.text or one.release}" for one in found.configurations))
    bars = []
    for at, against in enumerate(found.against):
        gated = [Share("gated", len(against.gated), "held")] if against.gated else []
        bars.append(
            ShareBar(
                f"{side_name(found, at + 1)} against {side_name(found, 0)}",
                [
                    Share("end the same", against.alike),
                    Share(OTHER_NODE, len(against.elsewhere), "near"),
                    Share(alone(against.first), len(against.first_alone), colour_of(0)),
                    Share(alone(against.second), len(against.second_alone), colour_of(at + 1)),
                    *gated,
                ],
            )
        )
    rows = []
    for name in ("placed", "unschedulable", "gated", "evicted"):
        counts = [str(getattr(one.summary, name)) for one in found.configurations]
        if name != "gated" or set(counts) != {"0"}:
            rows.append([name, *counts])
    columns = [Column("pods"), *(Column(one.name) for one in found.configurations)]
    outcomes = Table("counts", columns, rows, forms="seen")
    unchanged = "No pod loses its place, and none gains one."
    if any(one.lost.pods or one.gained.pods for one in found.against):
        unchanged = ""
    yield Section("Where pods end", [outcomes, *bars, _lost(found), *on_page(unchanged)], name="losses")


def _decisions(found: ComparisonDocument, show: int | None) -> Iterator[Section]:
    """The agreement of decisions, and the causes of differences."""
    for at, against in enumerate(found.against):
        first = against.first
        second = against.second
        ends_alone = f"{len(against.first_alone)} placed by {first} alone, {len(against.second_alone)} by {second} alone"
        ends_alone += f", {len(against.gated)} gated by one of them" if against.gated else ""
        pods = f"{first} and {second}: {count_of(against.alike, 'pod')} end the same, {len(against.elsewhere)} {OTHER_NODE}, {ends_alone}"
        sampled = sum(cause.decisions for cause in against.causes if cause.kind == "sampling")
        hints = []
        if sampled:
            hints = [
                f"{count_of(sampled, 'decision')} of these: the two evaluate different shares of the nodes;"
                " with percentage=100 in both configurations each evaluates all of them"
            ]
        yield block(pods, *agreement_lines(against), *hints)
        told = list(headline(found))[1:] if found.differences and found.mode != "locked" and not at else []
        title = f"{side_name(found, at + 1)} against {side_name(found, 0)}"
        bar = [ShareBar(title, _decisions_alike(against))] if len(found.against) > 1 else []
        agreed = BulletList(items=list(agreement_lines(against)))
        yield Section(
            "" if at else "Why decisions differ",
            [*bar, cause_table(against), BulletList(items=told), agreed, *on_page(*hints, look="note")],
            name="why",
        )
    names = [one.name for one in found.configurations]
    rows = list[list[Any]]()
    count = len(found.differences)
    for one in found.differences[:show]:
        decisions = [decision_text(one.decisions.get(name)) for name in names]
        verdicts = ", ".join(dict.fromkeys(cause.verdict for cause in one.causes.values()))
        rows.append(
            [one.number, one.pod, *decisions, verdicts, "; ".join(map(cause_text, one.causes.values()))]
        )
    sides = [Column(name, "name") for name in names]
    columns = [*columns_of("decision | count; pod | name"), *sides, *columns_of("outcome; why")]
    yield Section(parts=[Table("differences", columns, rows, forms="text" if rows else "")])
    if show is not None and count > show:
        more = count_doing(count - show, "more decision", "differ")
        yield block(f"{more}; --show {count} lists them, and -o html and -o json show all, with both tables")


def _lists(found: ComparisonDocument, ends: Sequence[ClusterEnd]) -> Iterator[Section]:
    """The end of each pod under each configuration, and its reason."""
    hosts = [one.hosts for one in found.configurations]
    columns = [Column("pod", "name"), *(Column(one.name, "host") for one in found.configurations)]
    pods = dict.fromkeys(pod for nodes in hosts for pod in nodes)
    rows = [[pod, *(nodes.get(pod) for nodes in hosts)] for pod in pods]
    # A row for each decision in which a configuration differs from the first one; names as in ``-o json``.
    heads = """
        decision; pod; retry; first; second; firstHost; secondHost; firstRoomOn; secondRoomOn
        verdict; kind; rule; side; node; text
    """
    first = found.configurations[0].name
    decisions = []
    for one in found.differences:
        ours = one.decisions[first]
        for second, cause in one.causes.items():
            theirs = one.decisions[second]
            where = [one.number, one.pod, one.retry, first, second]
            where += [ours.host, theirs.host, ours.room_on, theirs.room_on]
            decisions.append(
                [*where, cause.verdict, cause.kind, cause.rule, cause.side, cause.node, cause.text]
            )
    yield Section(
        parts=[
            Table("decisions", heads, decisions, forms="csv"),
            Table("pods", columns, rows, noun="pod", forms="data"),
        ]
    )
    listed = PodList(found).table()
    many = ""
    if len(found.differences) > MOST:
        many = f"The evaluated nodes are here for the first {MOST:,} decisions that differ; -o json has them all."
    open_one = "Open a pod to see how each configuration evaluated the nodes in question, rule by rule."
    none = "Every decision is the same, and every pod ends on the same node."
    yield Section(
        "Which pods, and why",
        [*on_page(*((open_one, many) if listed.rows else (none,))), listed],
        name="list",
    )
    if ends:
        yield Section("Nodes in the end", [_map(found, ends)], name="nodes")


# --- words --------------------------------------------------------------------------------------------------

NO_HOST = "<none>"
GATED_HOST = "<gated>"
"""In place of a host where the pod has none, or was not tried."""
OTHER_NODE = "on another node"


def headline(found: ComparisonDocument) -> Iterator[str]:
    """The verdict, and how many decisions differ; in mode free the first one that does, as those after it may
    follow from it."""
    yield f"{verdict(found)}."
    count = len(found.differences)
    tried = f"{found.mode}: {count_of(found.pods, 'pod')}, {count_of(found.decisions, 'decision')}"
    if not count:
        yield f"{tried}, all decisions are the same" if found.decisions else tried
    elif found.mode == "locked":
        yield f"{tried}, {count} decisions differ" if count > 1 else f"{tried}, 1 decision differs"
    else:
        yield f"{tried}; the first decision that differs:"
        for against in found.against:
            if (one := against.first_difference) is not None:
                hosts = (
                    f"{one.first or NO_HOST} in {against.first}, {one.second or NO_HOST} in {against.second}"
                )
                yield f"  {one.pod} (decision {one.number}): {hosts}; {one.verdict}: {cause_text(one.cause)}"
        if count > 1:
            more = "1 more decision differs" if count == 2 else f"{count - 1} more decisions differ"
            yield f"{more}; each side has its own cluster, so that can follow from the first; --mode locked rules it out"


def agreement_lines(against: ConfigurationPair) -> Iterator[str]:
    """The cycles of both: what is the same, what is another of the first one's best nodes, and what is
    different."""
    first = against.first
    second = against.second
    found = against.agreement
    also = found.equal_for_both
    alone = found.equal_for_second_alone
    yield f"{count_of(found.decisions, 'decision')} by both: {found.same} the same"
    if found.errors:
        yield f"  {found.errors} of these ended in an error on both sides, and so say nothing"
    if found.equally_good:
        yield f"  {found.equally_good} equally good: another node that {first} scores just as high" + (
            f"; {second} scores both the same in {also}" if also else ""
        )
    if found.different:
        yield f"  {found.different} different" + (
            f"; {second} scores both nodes the same in {alone}" if alone else ""
        )
    if found.gated:
        yield f"  {found.gated} gated: only one side tries the pod, because of its scheduling gates"
    yield (
        f"  the same nodes fit in {found.same_feasible}, the same ones are best in {found.same_best};"
        f" whatever the tie-break, {second} picks one of {first}'s best in {found.best_within}"
    )


def decision_text(decision: ComparedDecision | None) -> str:
    """The host, or the node where room is made, or nothing."""
    if decision is None:
        return ""
    if decision.gated:
        return GATED_HOST
    room = f" (makes room on {decision.room_on})" if decision.room_on else ""
    return decision.host or NO_HOST + room


def cause_text(cause: Cause) -> str:
    """The cause in a few words."""
    rule = cause.rule or cause.kind
    side = cause.side
    node = cause.node
    if cause.kind == "score":
        return f"{rule}: {cause.text}" if cause.text else f"{rule} decides for {node} in {side}"
    if cause.kind in ("predicate", "sampling"):
        return f"{rule} in {side} against {node}: {cause.text}"
    return f"{cause.kind}{f' in {side}' if side else ''}: {cause.text or KINDS[cause.kind]}"


# --- of a page ----------------------------------------------------------------------------------------------


def _who(found: ComparisonDocument) -> PodOutcomes:
    """Each pod that loses its node, gains one, or gets another, by name."""
    pods = []
    for change in ("lost", "gained"):
        for at, against in enumerate(found.against):
            under = f"under {side_name(found, at + 1)}{', for ' if change == 'lost' else '; else none for '}"
            losses = against.lost.pods if change == "lost" else against.gained.pods
            pods += [PodOutcome(one.pod, change, f"{under}{phrase(one.reason, 1)}") for one in losses]
    title = "Who loses, who gains" if pods else "Who moves"
    pods += [
        PodOutcome(one.pod, "moved", f"from {one.first or ''} to {one.second or ''}")
        for against in found.against
        for one in against.elsewhere
    ]
    return PodOutcomes(title, pods, "list")


def _map(found: ComparisonDocument, ends: Sequence[ClusterEnd]) -> NodeMap:
    """A side for each configuration with a cluster of its own; in mode locked there is one cluster for all."""
    nodes = {node.node: node for end in ends for node in end.nodes}
    sides = []
    for at, end in enumerate(ends):
        known = {node.node: node for node in end.nodes}
        uses = {}
        for resource in dict.fromkeys([*(name for node in end.nodes for name in node.resources), PODS]):
            shares = [share_of(known[name], resource) if name in known else None for name in nodes]
            if any(share is not None for share in shares):
                uses[resource] = shares
        title = "" if len(ends) == 1 else side_name(found, at)
        sides.append(MapSide(title, uses, [end.pods.get(name, ()) for name in nodes] if end.pods else ()))
    return NodeMap(list(nodes), sides, labels_of(list(nodes.values()), len(nodes)))


# --- tables -------------------------------------------------------------------------------------------------


def _decisions_alike(against: ConfigurationPair) -> list[Share]:
    """The agreement of decisions; what does not occur but for the gated ones is there too."""
    found = against.agreement
    gated = [Share("gated", found.gated, "held")] if found.gated else []
    good = Share("equally good", found.equally_good, "near")
    different = Share("different", found.different, "bad")
    return [Share("the same", found.same), good, different, *gated]


def cause_table(against: ConfigurationPair) -> Table:
    """The number of times that each cause occurred."""
    rows = [
        [one.decisions, one.verdict, one.kind, one.rule, one.side, KINDS[one.kind]] for one in against.causes
    ]
    columns = "decisions | count; outcome; cause; rule; of; meaning"
    return Table(f"causes-{against.second}", columns, rows, forms="seen" if rows else "")


def _lost(found: ComparisonDocument) -> Table:
    """Each pod that has a node under one configuration only: first those that lose theirs."""
    colours = dict(CHANGES[change] for change in ("lost", "gained"))
    columns = columns_of(
        """
        pod | name
        change | tag | filter
        under | name | filter
        for | name | filter
        node under the other | name
        what is said
        """,
        colours,
    )
    rows = [
        [loss.pod, CHANGES[change][0], side_name(found, at + 1), phrase(loss.reason, 1), loss.node, loss.text]
        for change in ("lost", "gained")
        for at, against in enumerate(found.against)
        for loss in (against.lost if change == "lost" else against.gained).pods
    ]
    return Table("lost", columns, rows, noun="pod", forms="page")


# --- the list of pods ---------------------------------------------------------------------------------------

MOST = 20_000
"""The page has the judged nodes of this many cycles; for the others it has the decisions and the reasons."""
SAME_NODE = "on the same node"
NO_NODE = "on no node"
COLOURS = {"equally good": "near", "different": "bad", "gated": "held", OTHER_NODE: "near", SAME_NODE: "same"}


@attrs.define(repr=False)
class PodList:
    """The list of a comparison."""

    document: ComparisonDocument
    _outcomes: dict[str, str] = attrs.Factory(dict)
    """Every outcome that any pod has -> its colour."""
    _texts: dict[str, int] = attrs.Factory(dict)
    """Each text of the details once -> its number."""
    _rules: dict[tuple[tuple[str, int], ...], int] = attrs.Factory(dict)
    """Each list of rules with their weights once -> its number."""

    def table(self) -> Table:
        """The list itself: where each pod ends, by which outcome, for which cause, and why."""
        found = self.document
        cycles = defaultdict[str, list[int]](list)
        rows = []
        details = []
        hosts = [one.hosts for one in found.configurations]
        for at, difference in enumerate(found.differences):
            cycles[difference.pod].append(at)
        for pod in hosts[0]:
            ends = [nodes.get(pod) for nodes in hosts]
            if pod in cycles or len(set(ends)) > 1:
                rows.append(self._row(pod, ends, [found.differences[at] for at in cycles[pod]]))
                details.append([self._cycle(at) for at in cycles[pod]] or None)
        columns = (
            Column("pod", "name"),
            *(Column(side_name(found, at), "name") for at in range(len(hosts))),
            *columns_of("outcome | tags | filter; cause | names | filter; why", self._outcomes),
        )
        rules = [[[self._place(name), weight] for name, weight in rules] for rules in self._rules]
        names = {name: None for rules in self._rules for name, _ in rules}
        newer = {
            name: next((other for other in SUCCESSORS.get(name, ()) if other in names), name)
            for name in names
        }
        shared = {
            "sides": [side_name(found, at) for at in range(len(hosts))],
            "subjects": {name: other for name, other in newer.items() if name != other},
            "rules": rules,
            "texts": list(self._texts),
        }
        return Table(
            "pods", columns, rows, noun="pod", details=details, shows="aligned", shared=shared, forms="page"
        )

    def _row(self, pod: str, ends: Sequence[str | None], found: Sequence[DifferingCycle]) -> list[Any]:
        """The row of a pod: its ends, outcomes and causes, and why the first differing decision differs, or
        which pod replaced this one."""
        shown = []
        outcomes = []
        why = [cause_text(cause) for one in found[:1] for cause in one.causes.values()]
        for at, (one, end) in enumerate(zip(self.document.configurations, ends, strict=True)):
            told = [
                decision_text(cycle.decisions[one.name]) for cycle in found if one.name in cycle.decisions
            ]
            shown.append(
                end or (told[-1] if told and told[-1].startswith((NO_HOST, GATED_HOST)) else NO_HOST)
            )
            verdicts = [cycle.causes[one.name].verdict for cycle in found if one.name in cycle.causes]
            if at and (outcome := outcome_of(self.document, at, ends, verdicts)) is not None:
                outcomes.append(outcome if len(ends) == 2 else f"{one.name}: {outcome}")
                places = {
                    alone(side.name): colour_of(number)
                    for number, side in enumerate(self.document.configurations)
                }
                self._outcomes[outcomes[-1]] = COLOURS.get(outcome) or places.get(outcome, "same")
            if not found and pod in one.evicted:
                why.append(f"{one.name} evicts it to make room for {one.evicted[pod]}")
        causes = []
        for name, cause in [pair for one in found for pair in one.causes.items()]:
            whose = f"{name}: " if len(self.document.against) > 1 else ""
            causes.append(
                f"{whose}{cause.rule or cause.kind}{f' in {cause.side}' if cause.side and cause.kind != 'score' else ''}"
            )
        return [pod, *shown, list(dict.fromkeys(outcomes)), list(dict.fromkeys(causes)), "; ".join(why)]

    # --- details, as assets/aligned.js reads them: texts and lists of rules by number -----------------------

    def _place(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def _cycle(self, at: int) -> list[Any]:
        """Title, the line in which the sides differ, and of each side its number, decision, error, the node
        that it took, and all nodes."""
        found = self.document.differences[at]
        names = [one.name for one in self.document.configurations]
        why = "; ".join(cause_text(cause) for cause in found.causes.values())
        title = f"Decision {found.number}{', tried again after making room' if found.retry else ''}: {why}"
        deciding = next(
            (cause.rule for cause in found.causes.values() if cause.kind == "score" and cause.rule), ""
        )
        head = [self._place(title), self._place(deciding)]
        sides = []
        for name, decision in found.decisions.items():
            victims = f", evicting {', '.join(decision.victims)}" if decision.victims else ""
            texts = (
                decision_text(decision) + victims,
                decision.error or "",
                decision.host or decision.room_on or "",
            )
            side = [names.index(name), *map(self._place, texts)]
            nodes = []
            for node in decision.nodes if at < MOST else ():
                rules = tuple((rule, score.weight) for rule, score in node.scores.items())
                number = self._rules.setdefault(rules, len(self._rules))
                told = "; ".join(node.reasons)
                if node.rules:
                    state = f"{node.state} by {', '.join(node.rules)}: {told}"
                else:
                    state = ": ".join(filter(None, [node.state, told]))
                scores = [score.score for score in node.scores.values()]
                nodes.append([self._place(node.node), self._place(state), number, scores, node.total])
            sides.append([*side, nodes])
        return [*head, sides]


def colour_of(at: int) -> str:
    """The colour of the configuration in that place."""
    return f"var(--c{at % 8})"


def alone(name: str) -> str:
    """A pod that one configuration places, and the other one does not.

    >>> alone("a")
    'placed by a alone'
    """
    return f"placed by {name} alone"


def outcome_of(
    document: ComparisonDocument, at: int, ends: Sequence[str | None], verdicts: Sequence[str]
) -> str | None:
    """The outcome by which a pod's way under configuration *at* differs from that under the first one; None
    if it does not.

    *ends*: its node under each; *verdicts*: those of its decisions that differ.
    """
    if document.mode == "locked":
        return next((told for told in ("different", "gated", "equally good") if told in verdicts), None)
    if "gated" in verdicts:
        return "gated"
    if ends[0] != ends[at]:
        if None not in (ends[0], ends[at]):
            return OTHER_NODE
        return alone(document.configurations[0 if ends[at] is None else at].name)
    return (SAME_NODE if ends[0] else NO_NODE) if verdicts else None


# --- asking -------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False, repr=False)
class CompareResult(Result):
    """The pods that get another node under another configuration, and why."""

    document: ComparisonDocument
    """Everything."""
    ends: tuple[ClusterEnd, ...]
    """How each cluster ends: one for each configuration, or in mode locked that of the first."""
    show: int | None = None
    """How many decisions that differ text lists; None: all."""

    @classmethod
    def of(
        cls,
        comparison: Comparison,
        warnings: tuple[NoticeGroup, ...] = (),
        doubt: str | None = None,
        *,
        with_ends: bool = True,
    ) -> CompareResult:
        """The result of *comparison*, whose schedulers are not needed any more; *doubt*: a warning that the
        document does not have."""
        own = comparison.sides[:1] if comparison.mode == "locked" else comparison.sides
        ends = [
            ClusterEnd(
                tuple(NodeUses(one.engine).found()),
                {node: [pod.key for pod in pods] for node, pods in one.engine.pods_by_node().items()},
            )
            for one in (own if with_ends else ())
        ]
        document = comparison.document(tuple(group.record() for group in warnings))
        more = () if doubt is None else grouped([Notice("", doubt)])
        return cls(document, tuple(ends), warnings=(*warnings, *more))

    @property
    def ok(self) -> bool:
        """Whether every decision is the same."""
        return self.document.same

    @property
    def differences(self) -> tuple[DifferingCycle, ...]:
        """Each cycle in which not all decide the same, with the first rule that differs."""
        return self.document.differences

    @property
    def hosts(self) -> dict[str, dict[str, str | None]]:
        """Configuration -> pod -> its node; None where it has none."""
        return {found.name: dict(found.hosts) for found in self.document.configurations}

    def origin(self) -> dict[str, Any]:
        sides = self.document.configurations
        return {
            "releases": [one.release for one in sides],
            "rules": [Words(f"{one.name}: ", CodeText(one.text)) for one in sides],
        }

    def _view(self) -> View:
        found = self.document
        both = found.configurations
        tried = f"{count_of(found.pods, 'pod')}, {count_of(found.decisions, 'decision')}, mode {found.mode}"
        sides = [Words(f"{one.name}: {one.release} ", CodeText(one.text)) for one in both]
        shares = _decisions_alike(found.against[0]) if len(found.against) == 1 else []
        steps = []
        # Where releases are all that differs, another command names the release of a change.
        if len(both) == 2 and found.differences and all(one.text == f"release={one.release}" for one in both):
            step = ("upgrade", "--from", both[0].release, "--to", both[1].release)
            pod = found.differences[0].pod
            steps = [
                NextStep(f"What changes for {pod}, and by which release:", (*step, "--pod", pod)),
                NextStep("Which release changes what:", step),
            ]
        return View(
            verdict=verdict(found),
            main="pods",
            who=_who(found),
            next=steps,
            lead=[f"{tried}. {MODES[found.mode].format(first=label(found, 0))}", *sides],
            facts={
                "configurations": len(both),
                "mode": found.mode,
                "decisions": found.decisions,
                "differences": len(found.differences),
            },
            shares=[*shares[:1], *(one for one in shares[1:] if one.count)],
            sections=[*_outcomes(found), *_decisions(found, self.show), *_lists(found, self.ends)],
        )


def compared_input(cluster: GivenCluster, options: CompareOptions) -> ComparisonInput:
    """*cluster* read, and a new scheduler for each configuration; the first one says whose pods wait, and
    what admission does."""
    asked = {name: value for name in NAMES if (value := getattr(options, name)) is not None or name in "ab"}
    given = {name: options_given(one, cluster, name) for name, one in asked.items()}
    specs = {name: spec_of(found) for name, found in given.items()}
    first = specs["a"]
    scenario = scenario_for(cluster, options, [first.first_scheduler_name], first.keeps_priorities)
    engines = {name: spec.engine(scenario.config_maps) for name, spec in specs.items()}
    texts = {}
    for name, one in asked.items():
        # As ``--a`` takes it; what is no text, number or path is named by its kind.
        values = {"release": one or AUTO}
        if not isinstance(one, str | None):
            values = attrs.asdict(
                one, recurse=False, filter=lambda field, value: value is not None and value != field.default
            )
        told = {declared_of(FIELDS[key]).key or key: value for key, value in values.items()}
        texts[name] = " ".join(
            f"{key}={shlex.quote(str(value)) if isinstance(value, str | int | os.PathLike) else type(value).__name__}"
            for key, value in told.items()
        )
    named = {name: release_asked(one) for name, one in asked.items()}
    by_nodes = [name for name, release in named.items() if is_auto(release)]
    return ComparisonInput.of(
        scenario, engines, texts, by_nodes=by_nodes, asked=named.values(), order=options.order
    )


@asked_by(CompareOptions, "cluster", *NAMES, opens=compared_input, show=None)
def compare(given: ComparisonInput, options: CompareOptions, observer: Observer) -> CompareResult:
    """Schedule the pods that wait in *cluster* under two or more configurations, and say which get another
    node, and why.

    A configuration is what :class:`~kubeclassic.Scheduler` takes: options, or a release alone. They are named
    a, b and so on::

        compare("cluster/", "1.12", Classic(release="1.16", policy="policy.json"))

    The others are compared with *a*, which also says whose pods wait.
    """
    observer.ready(given)
    newer = options.newer_labels
    missing = None if newer or not given.runs_profiles else zones_warning(given.scenario)
    if missing is not None:
        observer.doubt(missing)
    scenario = with_newer_labels(given.scenario) if newer else given.scenario
    made = compare_all(
        scenario, given.engines, mode=options.mode, order=given.order, texts=given.texts, observer=observer
    )
    found = CompareResult.of(made, given.warnings, missing, with_ends=options.makes("data", "page"))
    return attrs.evolve(found, show=options.show)


# --- labels of newer releases -------------------------------------------------------------------------------

NEWER_LABELS = {
    BETA_ZONE: TOPOLOGY_ZONE,
    BETA_REGION: TOPOLOGY_REGION,
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
}
"""Label of a node in the old releases -> the one that newer releases put beside it."""


def with_newer_labels(scenario: Scenario) -> Scenario:
    """*scenario* with nodes that have newer releases' labels beside those that they have, as after an
    upgrade."""
    objects = []
    for item in scenario.objects:
        if isinstance(item, Node):
            labels = item.metadata.labels
            newer = {
                name: labels[older]
                for older, name in NEWER_LABELS.items()
                if older in labels and name not in labels
            }
            if newer:
                labels = type(labels)({**labels, **newer})
                item = replace(item, metadata=replace(item.metadata, labels=labels))
        objects.append(item)
    return attrs.evolve(scenario, objects=tuple(objects))


def zones_warning(scenario: Scenario) -> str | None:
    """A warning if nodes have a zone by the old label only, as constraints over the newer label ignore such
    nodes."""
    count = sum(BETA_ZONE in node.labels and TOPOLOGY_ZONE not in node.labels for node in scenario.nodes)
    nodes = "1 node has" if count == 1 else f"{count} nodes have"
    if count:
        return f"{nodes} label {BETA_ZONE} and not {TOPOLOGY_ZONE}, which newer releases add: try --newer-labels as well"
    return None
