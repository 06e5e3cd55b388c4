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
from ...framework.releases import ALL_RELEASES, AUTO, is_auto
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


def _outcomes(answer: ComparisonDocument) -> Iterator[Section]:
    """The sections on where pods end."""
    yield block(
        *headline(answer), *(f"{side.name}: {side.text or side.release}" for side in answer.configurations)
    )
    bars = []
    for at, pair in enumerate(answer.against):
        gated = [Share("gated", len(pair.gated), "held")] if pair.gated else []
        bars.append(
            ShareBar(
                f"{side_name(answer, at + 1)} against {side_name(answer, 0)}",
                [
                    Share("end the same", pair.alike),
                    Share(OTHER_NODE, len(pair.elsewhere), "near"),
                    Share(alone(pair.first), len(pair.first_alone), colour_of(0)),
                    Share(alone(pair.second), len(pair.second_alone), colour_of(at + 1)),
                    *gated,
                ],
            )
        )
    rows = []
    for name in ("placed", "unschedulable", "gated", "evicted"):
        counts = [str(getattr(side.summary, name)) for side in answer.configurations]
        if name != "gated" or set(counts) != {"0"}:
            rows.append([name, *counts])
    columns = [Column("pods"), *(Column(side.name) for side in answer.configurations)]
    outcomes = Table("counts", columns, rows, forms="seen")
    unchanged = "No pod loses its place, and none gains one."
    if any(pair.lost.pods or pair.gained.pods for pair in answer.against):
        unchanged = ""
    yield Section("Where pods end", [outcomes, *bars, _losses(answer), *on_page(unchanged)], name="losses")


def _decisions(answer: ComparisonDocument, show: int | None) -> Iterator[Section]:
    """The sections on the agreement of decisions, and the causes of differences."""
    for at, pair in enumerate(answer.against):
        first = pair.first
        second = pair.second
        ends = f"{len(pair.first_alone)} placed by {first} alone, {len(pair.second_alone)} by {second} alone"
        ends += f", {len(pair.gated)} gated by one of them" if pair.gated else ""
        pods = f"{first} and {second}: {count_of(pair.alike, 'pod')} end the same, {len(pair.elsewhere)} {OTHER_NODE}, {ends}"
        sampled = sum(cause.decisions for cause in pair.causes if cause.kind == "sampling")
        hints = []
        if sampled:
            hints = [
                f"{count_of(sampled, 'decision')} of these: the two evaluate different shares of the nodes;"
                " with percentage=100 in both configurations each evaluates all of them"
            ]
        yield block(pods, *agreement_lines(pair), *hints)
        rest = list(headline(answer))[1:] if answer.differences and answer.mode != "locked" and not at else []
        title = f"{side_name(answer, at + 1)} against {side_name(answer, 0)}"
        bar = [ShareBar(title, _decisions_alike(pair))] if len(answer.against) > 1 else []
        agreed = BulletList(items=list(agreement_lines(pair)))
        yield Section(
            "" if at else "Why decisions differ",
            [*bar, cause_table(pair), BulletList(items=rest), agreed, *on_page(*hints, look="note")],
            name="why",
        )
    names = [side.name for side in answer.configurations]
    rows = list[list[Any]]()
    count = len(answer.differences)
    for cycle in answer.differences[:show]:
        texts = [decision_text(cycle.decisions.get(name)) for name in names]
        verdicts = ", ".join(dict.fromkeys(cause.verdict for cause in cycle.causes.values()))
        rows.append(
            [cycle.number, cycle.pod, *texts, verdicts, "; ".join(map(cause_text, cycle.causes.values()))]
        )
    sides = [Column(name, "name") for name in names]
    columns = [*columns_of("decision | count; pod | name"), *sides, *columns_of("outcome; why")]
    yield Section(parts=[Table("differences", columns, rows, forms="text" if rows else "")])
    if show is not None and count > show:
        more = count_doing(count - show, "more decision", "differ")
        yield block(f"{more}; --show {count} lists them, and -o html and -o json show all, with both tables")


def _lists(answer: ComparisonDocument, ends: Sequence[ClusterEnd]) -> Iterator[Section]:
    """The lists of pods and decisions under each configuration, with causes, and the nodes in the end."""
    hosts = [side.hosts for side in answer.configurations]
    columns = [Column("pod", "name"), *(Column(side.name, "host") for side in answer.configurations)]
    pods = dict.fromkeys(pod for nodes in hosts for pod in nodes)
    rows = [[pod, *(nodes.get(pod) for nodes in hosts)] for pod in pods]
    # A row for each decision in which a configuration differs from the first one; names as in ``-o json``.
    heads = """
        decision; pod; retry; first; second; firstHost; secondHost; firstRoomOn; secondRoomOn
        verdict; kind; rule; side; node; text
    """
    leader = answer.configurations[0].name
    decisions = []
    for cycle in answer.differences:
        first = cycle.decisions[leader]
        for name, cause in cycle.causes.items():
            second = cycle.decisions[name]
            where = [cycle.number, cycle.pod, cycle.retry, leader, name]
            where += [first.host, second.host, first.room_on, second.room_on]
            decisions.append(
                [*where, cause.verdict, cause.kind, cause.rule, cause.side, cause.node, cause.text]
            )
    yield Section(
        parts=[
            Table("decisions", heads, decisions, forms="csv"),
            Table("pods", columns, rows, noun="pod", forms="data"),
        ]
    )
    listed = PodList(answer).table()
    many = ""
    if len(answer.differences) > MOST:
        many = f"The evaluated nodes are here for the first {MOST:,} decisions that differ; -o json has them all."
    open_one = "Open a pod to see how each configuration evaluated the nodes in question, rule by rule."
    none = "Every decision is the same, and every pod ends on the same node."
    yield Section(
        "Which pods, and why",
        [*on_page(*((open_one, many) if listed.rows else (none,))), listed],
        name="list",
    )
    if ends:
        yield Section("Nodes in the end", [_node_map(answer, ends)], name="nodes")


# --- words --------------------------------------------------------------------------------------------------

NO_HOST = "<none>"
GATED_HOST = "<gated>"
"""The text in place of a host if the pod was not tried; :data:`NO_HOST` if it has none."""
OTHER_NODE = "on another node"


def headline(answer: ComparisonDocument) -> Iterator[str]:
    """The verdict and the number of differing decisions; in mode free the first, from which others may
    follow."""
    yield f"{verdict(answer)}."
    count = len(answer.differences)
    counts = f"{answer.mode}: {count_of(answer.pods, 'pod')}, {count_of(answer.decisions, 'decision')}"
    if not count:
        yield f"{counts}, all decisions are the same" if answer.decisions else counts
    elif answer.mode == "locked":
        yield f"{counts}, {count} decisions differ" if count > 1 else f"{counts}, 1 decision differs"
    else:
        yield f"{counts}; the first decision that differs:"
        for pair in answer.against:
            if (difference := pair.first_difference) is not None:
                hosts = f"{difference.first or NO_HOST} in {pair.first}, {difference.second or NO_HOST} in {pair.second}"
                yield f"  {difference.pod} (decision {difference.number}): {hosts}; {difference.verdict}: {cause_text(difference.cause)}"
        if count > 1:
            more = "1 more decision differs" if count == 2 else f"{count - 1} more decisions differ"
            yield f"{more}; each side has its own cluster, so that can follow from the first; --mode locked rules it out"


def agreement_lines(pair: ConfigurationPair) -> Iterator[str]:
    """The lines on the decisions of both sides: how many are the same, equally good, different, and gated."""
    first = pair.first
    second = pair.second
    agreement = pair.agreement
    also = agreement.equal_for_both
    alone = agreement.equal_for_second_alone
    yield f"{count_of(agreement.decisions, 'decision')} by both: {agreement.same} the same"
    if agreement.errors:
        yield f"  {agreement.errors} of these ended in an error on both sides, and so say nothing"
    if agreement.equally_good:
        yield f"  {agreement.equally_good} equally good: another node that {first} scores just as high" + (
            f"; {second} scores both the same in {also}" if also else ""
        )
    if agreement.different:
        yield f"  {agreement.different} different" + (
            f"; {second} scores both nodes the same in {alone}" if alone else ""
        )
    if agreement.gated:
        yield f"  {agreement.gated} gated: only one side tries the pod, because of its scheduling gates"
    yield (
        f"  the same nodes fit in {agreement.same_feasible}, the same ones are best in {agreement.same_best};"
        f" whatever the tie-break, {second} picks one of {first}'s best in {agreement.best_within}"
    )


def decision_text(decision: ComparedDecision | None) -> str:
    """A decision in words: the host, or that there is none and where room is made; empty for None."""
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


def _pod_outcomes(answer: ComparisonDocument) -> PodOutcomes:
    """Each pod that loses its node, gains one, or gets another, by name."""
    pods = []
    for change in ("lost", "gained"):
        for at, pair in enumerate(answer.against):
            under = f"under {side_name(answer, at + 1)}{', for ' if change == 'lost' else '; else none for '}"
            losses = pair.lost.pods if change == "lost" else pair.gained.pods
            pods += [PodOutcome(loss.pod, change, f"{under}{phrase(loss.reason, 1)}") for loss in losses]
    title = "Who loses, who gains" if pods else "Who moves"
    pods += [
        PodOutcome(pod.pod, "moved", f"from {pod.first or ''} to {pod.second or ''}")
        for pair in answer.against
        for pod in pair.elsewhere
    ]
    return PodOutcomes(title, pods, "list")


def _node_map(answer: ComparisonDocument, ends: Sequence[ClusterEnd]) -> NodeMap:
    """The map of nodes, with a side for each configuration's cluster; in mode locked all share one."""
    nodes = {node.node: node for end in ends for node in end.nodes}
    sides = []
    for at, end in enumerate(ends):
        node_uses = {node.node: node for node in end.nodes}
        uses = {}
        for resource in dict.fromkeys([*(name for node in end.nodes for name in node.resources), PODS]):
            shares = [share_of(node_uses[name], resource) if name in node_uses else None for name in nodes]
            if any(share is not None for share in shares):
                uses[resource] = shares
        title = "" if len(ends) == 1 else side_name(answer, at)
        sides.append(MapSide(title, uses, [end.pods.get(name, ()) for name in nodes] if end.pods else ()))
    return NodeMap(list(nodes), sides, labels_of(list(nodes.values()), len(nodes)))


# --- tables -------------------------------------------------------------------------------------------------


def _decisions_alike(pair: ConfigurationPair) -> list[Share]:
    """The shares of decisions by agreement, also where zero; only the gated share is left out then."""
    agreement = pair.agreement
    gated = [Share("gated", agreement.gated, "held")] if agreement.gated else []
    good = Share("equally good", agreement.equally_good, "near")
    different = Share("different", agreement.different, "bad")
    return [Share("the same", agreement.same), good, different, *gated]


def cause_table(pair: ConfigurationPair) -> Table:
    """The table of causes, with the number of decisions of each."""
    rows = [
        [cause.decisions, cause.verdict, cause.kind, cause.rule, cause.side, KINDS[cause.kind]]
        for cause in pair.causes
    ]
    columns = "decisions | count; outcome; cause; rule; of; meaning"
    return Table(f"causes-{pair.second}", columns, rows, forms="seen" if rows else "")


def _losses(answer: ComparisonDocument) -> Table:
    """The table of pods that have a node under one configuration only, those that lose theirs first."""
    colours = dict(CHANGES[key] for key in ("lost", "gained"))
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
        [loss.pod, CHANGES[key][0], side_name(answer, at + 1), phrase(loss.reason, 1), loss.node, loss.text]
        for key in ("lost", "gained")
        for at, pair in enumerate(answer.against)
        for loss in (pair.lost if key == "lost" else pair.gained).pods
    ]
    return Table("lost", columns, rows, noun="pod", forms="page")


# --- the list of pods ---------------------------------------------------------------------------------------

MOST = 20_000
"""The page has the judged nodes of this many cycles; for others only the decisions and the reasons."""
SAME_NODE = "on the same node"
NO_NODE = "on no node"
COLOURS = {"equally good": "near", "different": "bad", "gated": "held", OTHER_NODE: "near", SAME_NODE: "same"}


@attrs.define(repr=False)
class PodList:
    """The list of pods of a comparison."""

    document: ComparisonDocument
    _outcomes: dict[str, str] = attrs.Factory(dict)
    """Every outcome that any pod has -> its colour."""
    _texts: dict[str, int] = attrs.Factory(dict)
    """Text of the details -> its number."""
    _rules: dict[tuple[tuple[str, int], ...], int] = attrs.Factory(dict)
    """List of rules with their weights -> its number."""

    def table(self) -> Table:
        """The table of pods that differ: the nodes where they end, outcomes, causes and reasons."""
        answer = self.document
        cycles = defaultdict[str, list[int]](list)
        rows = []
        details = []
        hosts = [side.hosts for side in answer.configurations]
        for at, cycle in enumerate(answer.differences):
            cycles[cycle.pod].append(at)
        for pod in hosts[0]:
            ends = [nodes.get(pod) for nodes in hosts]
            if pod in cycles or len(set(ends)) > 1:
                rows.append(self._row(pod, ends, [answer.differences[at] for at in cycles[pod]]))
                details.append([self._cycle(at) for at in cycles[pod]] or None)
        columns = (
            Column("pod", "name"),
            *(Column(side_name(answer, at), "name") for at in range(len(hosts))),
            *columns_of("outcome | tags | filter; cause | names | filter; why", self._outcomes),
        )
        rules = [[[self._place(name), weight] for name, weight in rules] for rules in self._rules]
        names = {name: None for rules in self._rules for name, _ in rules}
        newer = {
            name: next((successor for successor in SUCCESSORS.get(name, ()) if successor in names), name)
            for name in names
        }
        shared = {
            "sides": [side_name(answer, at) for at in range(len(hosts))],
            "subjects": {name: successor for name, successor in newer.items() if name != successor},
            "rules": rules,
            "texts": list(self._texts),
        }
        return Table(
            "pods", columns, rows, noun="pod", details=details, shows="aligned", shared=shared, forms="page"
        )

    def _row(self, pod: str, ends: Sequence[str | None], cycles: Sequence[DifferingCycle]) -> list[Any]:
        """The row of a pod: its ends, outcomes and causes, and why its first differing decision differs."""
        shown = []
        outcomes = []
        reasons = [cause_text(cause) for cycle in cycles[:1] for cause in cycle.causes.values()]
        for at, (side, end) in enumerate(zip(self.document.configurations, ends, strict=True)):
            texts = [
                decision_text(cycle.decisions[side.name]) for cycle in cycles if side.name in cycle.decisions
            ]
            shown.append(
                end or (texts[-1] if texts and texts[-1].startswith((NO_HOST, GATED_HOST)) else NO_HOST)
            )
            verdicts = [cycle.causes[side.name].verdict for cycle in cycles if side.name in cycle.causes]
            if at and (outcome := outcome_of(self.document, at, ends, verdicts)) is not None:
                outcomes.append(outcome if len(ends) == 2 else f"{side.name}: {outcome}")
                places = {
                    alone(side.name): colour_of(number)
                    for number, side in enumerate(self.document.configurations)
                }
                self._outcomes[outcomes[-1]] = COLOURS.get(outcome) or places.get(outcome, "same")
            if not cycles and pod in side.evicted:
                reasons.append(f"{side.name} evicts it to make room for {side.evicted[pod]}")
        causes = []
        for name, cause in [pair for cycle in cycles for pair in cycle.causes.items()]:
            prefix = f"{name}: " if len(self.document.against) > 1 else ""
            causes.append(
                f"{prefix}{cause.rule or cause.kind}{f' in {cause.side}' if cause.side and cause.kind != 'score' else ''}"
            )
        return [pod, *shown, list(dict.fromkeys(outcomes)), list(dict.fromkeys(causes)), "; ".join(reasons)]

    # --- details, as assets/aligned.js reads them: texts and lists of rules by number -----------------------

    def _place(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def _cycle(self, at: int) -> list[Any]:
        """A cycle's title, deciding rule, and for each side its number, decision, error, node and all
        nodes."""
        cycle = self.document.differences[at]
        names = [side.name for side in self.document.configurations]
        reason = "; ".join(cause_text(cause) for cause in cycle.causes.values())
        title = f"Decision {cycle.number}{', tried again after making room' if cycle.retry else ''}: {reason}"
        deciding = next(
            (cause.rule for cause in cycle.causes.values() if cause.kind == "score" and cause.rule), ""
        )
        head = [self._place(title), self._place(deciding)]
        sides = []
        for name, decision in cycle.decisions.items():
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
                reasons = "; ".join(node.reasons)
                if node.rules:
                    state = f"{node.state} by {', '.join(node.rules)}: {reasons}"
                else:
                    state = ": ".join(filter(None, [node.state, reasons]))
                scores = [score.score for score in node.scores.values()]
                nodes.append([self._place(node.node), self._place(state), number, scores, node.total])
            sides.append([*side, nodes])
        return [*head, sides]


def colour_of(at: int) -> str:
    """The colour of configuration number *at*."""
    return f"var(--c{at % 8})"


def alone(name: str) -> str:
    """The outcome of a pod that one configuration places, and the other does not.

    >>> alone("a")
    'placed by a alone'
    """
    return f"placed by {name} alone"


def outcome_of(
    document: ComparisonDocument, at: int, ends: Sequence[str | None], verdicts: Sequence[str]
) -> str | None:
    """The outcome by which a pod differs under configuration *at* from the first one; None if it does not.

    *ends*: its node under each configuration; *verdicts*: the verdicts on its decisions that differ.
    """
    if document.mode == "locked":
        return next((word for word in ("different", "gated", "equally good") if word in verdicts), None)
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
    """The answer as a record."""
    ends: tuple[ClusterEnd, ...]
    """The final state of each configuration's cluster; in mode locked only of the first's."""
    show: int | None = None
    """How many differing decisions the text form lists; None: all."""

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
        sides = comparison.sides[:1] if comparison.mode == "locked" else comparison.sides
        ends = [
            ClusterEnd(
                tuple(NodeUses(side.engine).found()),
                {node: [pod.key for pod in pods] for node, pods in side.engine.pods_by_node().items()},
            )
            for side in (sides if with_ends else ())
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
        return {side.name: dict(side.hosts) for side in self.document.configurations}

    def origin(self) -> dict[str, Any]:
        sides = self.document.configurations
        return {
            "releases": [side.release for side in sides],
            "rules": [Words(f"{side.name}: ", CodeText(side.text)) for side in sides],
        }

    def _view(self) -> View:
        answer = self.document
        sides = answer.configurations
        lead = f"{count_of(answer.pods, 'pod')}, {count_of(answer.decisions, 'decision')}, mode {answer.mode}"
        lines = [Words(f"{side.name}: {side.release} ", CodeText(side.text)) for side in sides]
        shares = _decisions_alike(answer.against[0]) if len(answer.against) == 1 else []
        steps = []
        # Where only the releases differ, another command names the release of a change.
        alone = [side.release for side in sides if side.text == f"release={side.release}"]
        if len(sides) == len(alone) == 2 and answer.differences:
            older, newer = sorted(alone, key=[*ALL_RELEASES].index)
            step = ("upgrade", "--from", older, "--to", newer)
            pod = answer.differences[0].pod
            steps = [
                NextStep(f"What changes for {pod}, and by which release:", (*step, "--pod", pod)),
                NextStep("Which release changes what:", step),
            ]
        return View(
            verdict=verdict(answer),
            main="pods",
            who=_pod_outcomes(answer),
            next=steps,
            lead=[f"{lead}. {MODES[answer.mode].format(first=label(answer, 0))}", *lines],
            facts={
                "configurations": len(sides),
                "mode": answer.mode,
                "decisions": answer.decisions,
                "differences": len(answer.differences),
            },
            shares=[*shares[:1], *(share for share in shares[1:] if share.count)],
            sections=[*_outcomes(answer), *_decisions(answer, self.show), *_lists(answer, self.ends)],
        )


def compared_input(cluster: GivenCluster, options: CompareOptions) -> ComparisonInput:
    """The input from *cluster*, with new schedulers; the first configuration decides which pods are
    pending."""
    sides = {name: value for name in NAMES if (value := getattr(options, name)) is not None or name in "ab"}
    side_options = {name: options_given(side, cluster, name) for name, side in sides.items()}
    specs = {name: spec_of(chosen) for name, chosen in side_options.items()}
    first_spec = specs["a"]
    scenario = scenario_for(cluster, options, first_spec.scheduler_names, first_spec.server)
    engines = {name: spec.engine(scenario.config_maps) for name, spec in specs.items()}
    texts = {}
    for name, side in sides.items():
        # As ``--a`` takes it; a value other than a text, number or path is named by its type.
        values = {"release": side or AUTO}
        if not isinstance(side, str | None):
            values = attrs.asdict(
                side, recurse=False, filter=lambda field, value: value is not None and value != field.default
            )
        texts_by_key = {declared_of(FIELDS[key]).key or key: value for key, value in values.items()}
        texts[name] = " ".join(
            f"{key}={shlex.quote(str(value)) if isinstance(value, str | int | os.PathLike) else type(value).__name__}"
            for key, value in texts_by_key.items()
        )
    named = {name: release_asked(side) for name, side in sides.items()}
    by_nodes = [name for name, release in named.items() if is_auto(release)]
    return ComparisonInput.of(
        scenario, engines, texts, by_nodes=by_nodes, named=named.values(), order=options.order
    )


@asked_by(CompareOptions, "cluster", *NAMES, opens=compared_input, show=None)
def compare(inputs: ComparisonInput, options: CompareOptions, observer: Observer) -> CompareResult:
    """Schedule the pending pods of *cluster* under two or more configurations, and say which get another
    node, and why.

    A configuration is options or a release alone, as :class:`~kubeclassic.Scheduler` takes them. They are
    named a, b and so on::

        compare("cluster/", "1.12", Classic(release="1.16", policy="policy.json"))

    The others are compared with *a*, which also decides which pods are pending.
    """
    observer.ready(inputs)
    newer = options.newer_labels
    missing = None if newer or not inputs.runs_profiles else zones_warning(inputs.scenario)
    if missing is not None:
        observer.doubt(missing)
    scenario = with_newer_labels(inputs.scenario) if newer else inputs.scenario
    comparison = compare_all(
        scenario, inputs.engines, mode=options.mode, order=inputs.order, texts=inputs.texts, observer=observer
    )
    result = CompareResult.of(comparison, inputs.warnings, missing, with_ends=options.makes("data", "page"))
    return attrs.evolve(result, show=options.show)


# --- labels of newer releases -------------------------------------------------------------------------------

NEWER_LABELS = {
    BETA_ZONE: TOPOLOGY_ZONE,
    BETA_REGION: TOPOLOGY_REGION,
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
}
"""Node label of old releases -> the label that newer releases add beside it."""


def with_newer_labels(scenario: Scenario) -> Scenario:
    """*scenario* with newer releases' labels added to its nodes, as after an upgrade."""
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
    """A warning if nodes have only the old zone label, as constraints over the newer label ignore them."""
    count = sum(BETA_ZONE in node.labels and TOPOLOGY_ZONE not in node.labels for node in scenario.nodes)
    nodes = "1 node has" if count == 1 else f"{count} nodes have"
    if count:
        return f"{nodes} label {BETA_ZONE} and not {TOPOLOGY_ZONE}, which newer releases add: try --newer-labels as well"
    return None
