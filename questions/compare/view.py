"""A comparison as people see it: the verdict, sentences, tables, and the long list of pods with both tables of each decision."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from ...api.view import (
    CHANGES,
    DATA,
    MEANINGS,
    PAGE,
    SEEN,
    TEXT,
    BulletList,
    CodeText,
    Column,
    Item,
    MapSide,
    NextStep,
    NodeMap,
    Part,
    PodOutcome,
    PodOutcomes,
    Section,
    Share,
    ShareBar,
    Table,
    View,
    Words,
    block,
    on_page,
)
from ...api.words import Figure, count_doing, count_of, percent
from ...core.pods.requests import PODS
from ...simulation.nodesbyuse import NodeUse, labels_of, share_of
from ...simulation.reasons import phrase
from ...simulation.sides import GATED, KINDS, LOCKED, SAMPLING, SCORE, SUCCESSORS, Cause, JudgedNode
from ..result import NOTHING_TRIED, for_reasons
from .comparison import (
    DIFFERENT,
    EQUALLY_GOOD,
    AgreementCounts,
    CauseCount,
    ComparedConfiguration,
    ComparedDecision,
    ComparisonDocument,
    ConfigurationPair,
    DifferingCycle,
    Losses,
)

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


def comparison_view(title: str, found: ComparisonDocument, show: int | None = None, ends: Sequence[ClusterEnd] = ()) -> View:
    """The view of *found*, whose text lists *show* decisions that differ, None: all; *ends*: how clusters end, for a map."""
    numbers = {"decisions": found.decisions, "differences": len(found.differences)}
    facts = {"configurations": len(found.configurations), "mode": found.mode, **numbers}
    return View(
        title=title, verdict=verdict(found), lead=list(_lead(found)), facts=facts, shares=_shares(found), who=_who(found),
        next=list(_next(found)), sections=list(_sections(found, show, ends)), main="pods",
    )  # fmt: skip


def _sections(found: ComparisonDocument, show: int | None, ends: Sequence[ClusterEnd]) -> Iterator[Section]:
    named, use = [f"{one.name}: {one.text or one.release}" for one in found.configurations], _use(found)
    lines = list(headline(found, verdict(found)))
    yield block(*lines, *named)
    bars = [ShareBar(_title(found, at), _pod_parts(at, against)) for at, against in enumerate(found.against)]
    unchanged = "" if any(one.lost.pods or one.gained.pods for one in found.against) else "No pod loses its place, and none gains one."
    yield Section("Where pods end", [_counts(found), *bars, _lost(found), *on_page(unchanged)], name="losses")
    yield block(use, *meaning_lines(found))
    for at, against in enumerate(found.against):
        first, second = against.first, against.second
        ends_alone = f"{len(against.first_alone)} placed by {first} alone, {len(against.second_alone)} by {second} alone"
        ends_alone += f", {len(against.gated)} gated by one of them" if against.gated else ""
        pods = f"{first} and {second}: {count_of(against.alike, 'pod')} end the same, {len(against.elsewhere)} {OTHER_NODE}, {ends_alone}"
        yield block(pods, *agreement_lines(against), *hints(against))
        told = lines[1:] if found.differences and found.mode != LOCKED and not at else []
        bar = [ShareBar(_title(found, at), _decision_parts(against))] if len(found.against) > 1 else []
        parts: list[Item] = [*bar, cause_table(against), BulletList(items=told), BulletList(items=list(agreement_lines(against)))]
        yield Section("" if at else "Why decisions differ", [*parts, *on_page(*hints(against), look="note")], name="why")
    yield Section(parts=[_differences(found, show)])
    yield block(*left_out(found, show))
    yield Section(parts=[_decisions(found), _pods(found)])
    many = f"The evaluated nodes are here for the first {MOST:,} decisions that differ; -o json has them all."
    listed, many = PodList(found).table(), many if len(found.differences) > MOST else ""
    open_one = "Open a pod to see how each configuration evaluated the nodes in question, rule by rule."
    none = "Every decision is the same, and every pod ends on the same node."
    yield Section("Which pods, and why", [*on_page(*((open_one, many) if listed.rows else (none,))), listed], name="list")
    if ends:
        yield Section("Nodes in the end", [_map(found, ends)], name="nodes")



# --- words ----------------------------------------------------------------------------------------------------------

NO_HOST, GATED_HOST = "<none>", "<gated>"
"""In place of a host where the pod has none, or was not tried."""
OTHER_NODE = "on another node"
USES = {
    "use": "the share of all nodes' capacity",
    "imbalance": "the standard deviation of the nodes' use",
    "fullest - emptiest": "the use of the fullest node less that of the emptiest",
    "fragmentation": "the share of the free room on nodes where a waiting pod does not fit",
}
"""What is said of how the clusters end -> what that is."""


def with_own_cluster(found: ComparisonDocument) -> Sequence[ComparedConfiguration]:
    """The configurations with a cluster of their own at the end: all, or only the first in mode locked."""
    return found.configurations[:1] if found.mode == LOCKED else found.configurations


# --- the verdict ----------------------------------------------------------------------------------------------------


def label(found: ComparisonDocument, at: int) -> str:
    """What sentences call a configuration: its release, where all releases differ; else its name."""
    name, releases = found.configurations[at].name, [one.release for one in found.configurations]
    if len(name) > 1:
        return f"the {name}"
    return releases[at] if len(set(releases)) == len(releases) else name


def side_name(found: ComparisonDocument, at: int) -> str:
    """A configuration's name, with its release where all releases differ."""
    name, called = found.configurations[at].name, label(found, at)
    return name if len(name) > 1 or name == called else f"{name} ({called})"


def verdict(found: ComparisonDocument) -> str:
    """The outcome in one sentence: who loses, and for what."""
    if found.differences:
        return ". ".join([_against(found, at) for at in range(len(found.against))])
    if not found.decisions:
        return NOTHING_TRIED
    all_of = f"All {found.decisions:,} decisions are" if found.decisions > 1 else "The only decision is"
    return f"{all_of} the same{in_error(found.against[0].agreement)}"


def in_error(found: AgreementCounts) -> str:
    """How many of the decisions that are the same say nothing."""
    many = " of them ended in an error on both sides" if found.decisions > 1 else " ended in an error on both sides"
    return f", but {found.errors:,}{many}" if found.errors else ""


def _against(found: ComparisonDocument, at: int) -> str:
    """One configuration beside the first."""
    pair = found.against[at]
    lost, gained = len(pair.lost.pods), len(pair.gained.pods)
    first, second = label(found, 0), label(found, at + 1)
    if not lost and not gained:
        # No pod gains or loses a place: how many decisions are other ones.
        agreement, moved, held = pair.agreement, len(pair.elsewhere), len(pair.gated)
        places = f"The same pods find a place under {first} and {second}"
        if held:
            return f"{count_of(held, 'pod is', 'pods are')} gated by {first} or {second}, and placed by the other one"
        if found.mode != LOCKED:
            if not moved:
                return f"{places}, each on the same node"
            return f"{places}, {moved:,} of them on another node"
        counted = ((agreement.different, DIFFERENT), (agreement.gated, "gated by one of them"))
        counts = [f"{count_of(count, 'is', 'are')} {text}" for count, text in counted if count]
        if counts:
            return f"{places}; of {agreement.decisions:,} decisions {' and '.join(counts)}"
        others = count_of(agreement.equally_good, "is equally good", "are equally good")
        return f"No decision is different under {second}; {others} for {first}"
    if lost == gained:
        return f"As many pods find a place under {second}, but not the same ones: {_both(pair)}"
    net, word = abs(lost - gained), "more" if gained > lost else "fewer"
    head = f"{count_of(net, f'pod {word} finds a place', f'pods {word} find a place')} under {second}"
    if lost and gained:
        return f"{head}: {_both(pair)}"
    if gained:
        return f"{head}{_alone(pair.gained)}; under {first} there is none: {reasons_of(pair.gained)}"
    return f"{head}{_alone(pair.lost)}: {reasons_of(pair.lost)}"


def _alone(found: Losses) -> str:
    """The name of the pod, if it is only one."""
    return f", {found.pods[0].pod}" if len(found.pods) == 1 else ""


def _both(pair: ConfigurationPair) -> str:
    """Who loses and who gains, where there are both."""
    lost, gained = len(pair.lost.pods), len(pair.gained.pods)
    losing, gaining = count_of(lost, "loses its place", "lose theirs"), count_of(gained, "gains one", "gain one")
    return f"{losing} ({reasons_of(pair.lost)}), {gaining}"


def reasons_of(found: Losses) -> str:
    """For what pods have no place."""
    return for_reasons({one.reason: one.pods for one in found.reasons})


# --- sentences ------------------------------------------------------------------------------------------------------


def headline(found: ComparisonDocument, said: str) -> Iterator[str]:
    """The verdict, and how many decisions differ; in mode free the first one that does, as those after it may follow from it."""
    yield f"{said}."
    count = len(found.differences)
    tried = f"{found.mode}: {count_of(found.pods, 'pod')}, {count_of(found.decisions, 'decision')}"
    if not count:
        yield f"{tried}, all decisions are the same" if found.decisions else tried
    elif found.mode == LOCKED:
        yield f"{tried}, {count} decisions differ" if count > 1 else f"{tried}, 1 decision differs"
    else:
        yield f"{tried}; the first decision that differs:"
        yield from (first_line(against) for against in found.against if against.first_difference)
        if count > 1:
            more = "1 more decision differs" if count == 2 else f"{count - 1} more decisions differ"
            yield f"{more}; each side has its own cluster, so that can follow from the first; --mode locked rules it out"


def first_line(against: ConfigurationPair) -> str:
    """The first decision in which two configurations differ, in a sentence."""
    found = against.first_difference
    if found is None:
        return ""
    hosts = f"{found.first or NO_HOST} in {against.first}, {found.second or NO_HOST} in {against.second}"
    return f"  {found.pod} (decision {found.number}): {hosts}; {found.verdict}: {cause_text(found.cause)}"


def hints(against: ConfigurationPair) -> Iterator[str]:
    """What to try, where the two differ in more than their rules."""
    sampled = sum(cause.decisions for cause in against.causes if cause.kind == SAMPLING)
    if sampled:
        yield (
            f"{count_of(sampled, 'decision')} of these: the two evaluate different shares of the nodes;"
            " with percentage=100 in both configurations each evaluates all of them"
        )


def agreement_lines(against: ConfigurationPair) -> Iterator[str]:
    """The cycles of both: what is the same, what is another of the first one's best nodes, and what is different."""
    first, second, found = against.first, against.second, against.agreement
    also, alone = found.equal_for_both, found.equal_for_second_alone
    yield f"{found.decisions} decisions by both: {found.same} the same"
    if found.errors:
        yield f"  {found.errors} of these ended in an error on both sides, and so say nothing"
    if found.equally_good:
        yield f"  {found.equally_good} equally good: another node that {first} scores just as high" + (
            f"; {second} scores both the same in {also}" if also else ""
        )
    if found.different:
        yield f"  {found.different} different" + (f"; {second} scores both nodes the same in {alone}" if alone else "")
    if found.gated:
        yield f"  {found.gated} gated: only one side tries the pod, because of its scheduling gates"
    yield (
        f"  the same nodes fit in {found.same_feasible}, the same ones are best in {found.same_best};"
        f" whatever the tie-break, {second} picks one of {first}'s best in {found.best_within}"
    )


def left_out(found: ComparisonDocument, show: int | None) -> Iterator[str]:
    """A line on the decisions that are not listed, if there are any."""
    count = len(found.differences)
    if show is not None and count > show:
        more = count_doing(count - show, "more decision", "differ")
        yield f"{more}; --show {count} lists them, and -o html and -o json show all, with both tables"


def meaning_lines(found: ComparisonDocument) -> Iterator[str]:
    """What the words of the table of use mean, those that it has."""
    has_fragments = any(one.fragmentation for one in with_own_cluster(found))
    yield from (f"({name}: {meaning})" for name, meaning in USES.items() if name != "fragmentation" or has_fragments)


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
    rule, side, node = cause.rule or cause.kind, cause.side, cause.node
    if cause.kind == "score":
        return f"{rule} {cause.text}" if cause.text else f"{rule} decides for {node} in {side}"
    if cause.kind in ("predicate", "sampling"):
        return f"{rule} in {side} against {node}: {cause.text}"
    return f"{cause.kind}{f' in {side}' if side else ''}: {cause.text or KINDS[cause.kind]}"


# --- of a page ------------------------------------------------------------------------------------------------------


def _lead(found: ComparisonDocument) -> Iterator[Part]:
    """The mode, and the configurations."""
    pods, decisions = count_of(found.pods, "pod"), count_of(found.decisions, "decision")
    yield f"{pods}, {decisions}, mode {found.mode}. {MODES[found.mode].format(first=label(found, 0))}"
    yield from (Words(f"{one.name}: {one.release} ", CodeText(one.text)) for one in found.configurations)


def _who(found: ComparisonDocument) -> PodOutcomes:
    """Each pod that loses its node, gains one, or gets another, by name."""
    pods = list[PodOutcome]()
    for change in ("lost", "gained"):
        for at, against in enumerate(found.against):
            under = f"under {side_name(found, at + 1)}{', for ' if change == 'lost' else '; else none for '}"
            losses = against.lost.pods if change == "lost" else against.gained.pods
            pods += [PodOutcome(one.pod, change, f"{under}{phrase(one.reason, 1)}") for one in losses]
    title = "Who loses, who gains" if pods else "Who moves"
    pods += [
        PodOutcome(one.pod, "moved", f"from {one.first or ''} to {one.second or ''}")
        for against in found.against for one in against.elsewhere
    ]  # fmt: skip
    return PodOutcomes(title, pods, "list")


def _next(found: ComparisonDocument) -> Iterator[NextStep]:
    """Which release changes it, where releases are all that differs."""
    releases = [one.release for one in found.configurations]
    if len(releases) == 2 and found.differences and all(one.text == f"release={one.release}" for one in found.configurations):
        step, pod = ("upgrade", "--from", releases[0], "--to", releases[1]), found.differences[0].pod
        yield NextStep(f"What changes for {pod}, and by which release:", (*step, "--pod", pod))
        yield NextStep("Which release changes what:", step)


def _title(found: ComparisonDocument, at: int) -> str:
    return f"{side_name(found, at + 1)} against {side_name(found, 0)}"


def _pod_parts(at: int, against: ConfigurationPair) -> list[Share]:
    """Where pods end: on which side they have a node, and on the same one."""
    return [
        Share("end the same", against.alike), Share(OTHER_NODE, len(against.elsewhere), "near"),
        Share(alone(against.first), len(against.first_alone), colour_of(0)),
        Share(alone(against.second), len(against.second_alone), colour_of(at + 1)),
        *([Share(GATED, len(against.gated), "held")] if against.gated else []),
    ]  # fmt: skip


def _decision_parts(against: ConfigurationPair) -> list[Share]:
    """How decisions agree; what does not occur but for the gated ones is there too."""
    found = against.agreement
    others = ((EQUALLY_GOOD, found.equally_good, "near"), (DIFFERENT, found.different, "bad"))
    gated = [Share(GATED, found.gated, "held")] if found.gated else []
    return [Share("the same", found.same), *(Share(*one) for one in others), *gated]


def _shares(found: ComparisonDocument) -> list[Share]:
    """How often two decide the same; empty for more than two."""
    if len(found.against) != 1:
        return []
    same, *others = _decision_parts(found.against[0])
    return [same, *(one for one in others if one.count)]


def _map(found: ComparisonDocument, ends: Sequence[ClusterEnd]) -> NodeMap:
    """A side for each configuration with a cluster of its own; in mode locked there is one cluster for all."""
    titles = [""] if len(ends) == 1 else [side_name(found, at) for at in range(len(ends))]
    nodes = {node.node: node for end in ends for node in end.nodes}
    sides = [
        MapSide(title, _uses(end, nodes), [end.pods.get(name, ()) for name in nodes] if end.pods else ())
        for title, end in zip(titles, ends, strict=True)
    ]
    return NodeMap(list(nodes), sides, labels_of(list(nodes.values()), len(nodes)))


def _uses(end: ClusterEnd, names: Iterable[str]) -> dict[str, list[float | None]]:
    """Resource -> the share of it that is requested on each node; resources that no node has are left out."""
    known, resources = {node.node: node for node in end.nodes}, dict.fromkeys(name for node in end.nodes for name in node.resources)
    found = {one: [share_of(known[name], one) if name in known else None for name in names] for one in (*resources, PODS)}
    return {resource: values for resource, values in found.items() if any(value is not None for value in values)}


# --- tables ---------------------------------------------------------------------------------------------------------


def resources(found: ComparisonDocument) -> list[str]:
    """The resources that any cluster has, pods last."""
    return list(dict.fromkeys(usage.resource for one in found.configurations for usage in one.summary.resources))


def _counts(found: ComparisonDocument) -> Table:
    """The outcomes of the pods: a column for each configuration."""
    names = {"placed": "placed", "unschedulable": "unschedulable", "gated": "gated", "evicted": "evicted"}
    rows: list[list[Any]] = [[said, *(str(getattr(one.summary, name)) for one in found.configurations)] for name, said in names.items()]
    kept = [row for row in rows if row[0] != names["gated"] or set(row[1:]) != {"0"}]
    return Table("counts", [Column("pods"), *(Column(one.name) for one in found.configurations)], kept, forms=SEEN)


def _use(found: ComparisonDocument) -> Table:
    """Use, imbalance and fragmentation of the clusters as they end: a column for each that has one of its own."""
    configurations = with_own_cluster(found)
    rows: list[list[Any]] = []
    for resource in resources(found):
        uses = [next((usage for usage in one.summary.resources if usage.resource == resource), None) for one in configurations]
        rows.append([f"{resource} use", *_percents(usage.use if usage else None for usage in uses)])
        rows.append([f"{resource} imbalance", *_percents(usage.imbalance.standard_deviation if usage else None for usage in uses)])
        rows.append([f"{resource} fullest - emptiest", *_percents(usage.imbalance.max_min if usage else None for usage in uses)])
        shares = [one.fragmentation.get(resource) for one in configurations]
        rows += [[f"{resource} fragmentation", *_percents(shares)]] if any(share is not None for share in shares) else []
    names = ["all"] if found.mode == LOCKED else [one.name for one in configurations]
    columns = [Column("in the end", "name"), *(Column(name, "name") for name in names)]
    return Table("use", columns, rows, forms=TEXT)


def _percents(shares: Iterable[float | None]) -> Iterator[Figure | None]:
    return (None if share is None else percent(share) for share in shares)


def cause_table(against: ConfigurationPair) -> Table:
    """How often each cause occurred."""
    titles = ("outcome", "cause", "rule", "of", "meaning")
    rows = [[one.decisions, one.verdict, one.kind, one.rule, one.side, KINDS[one.kind]] for one in against.causes]
    columns = [Column("decisions", "count"), *map(Column, titles)]
    return Table(f"causes-{against.second}", columns, rows, forms=SEEN if rows else ())


def _differences(found: ComparisonDocument, show: int | None) -> Table:
    """A row for each cycle in which decisions differ."""
    names = [one.name for one in found.configurations]
    rows: list[list[Any]] = []
    for one in found.differences[:show]:
        decisions = [decision_text(one.decisions.get(name)) for name in names]
        verdicts = ", ".join(dict.fromkeys(cause.verdict for cause in one.causes.values()))
        rows.append([one.number, one.pod, *decisions, verdicts, "; ".join(map(cause_text, one.causes.values()))])
    sides = (Column(name, "name") for name in names)
    columns = [Column("decision", "count"), Column("pod", "name"), *sides, Column("outcome"), Column("why")]
    return Table("differences", columns, rows, forms=TEXT if rows else ())


def _decisions(found: ComparisonDocument) -> Table:
    """A row for each decision in which a configuration differs from the first one; names as in ``-o json``."""
    columns = (
        "decision", "pod", "retry", "first", "second", "firstHost", "secondHost", "firstRoomOn", "secondRoomOn", "verdict", "kind", "rule",
        "side", "node", "text",
    )  # fmt: skip
    first = found.configurations[0].name
    rows: list[list[Any]] = []
    for one in found.differences:
        ours = one.decisions[first]
        for second, cause in one.causes.items():
            theirs = one.decisions[second]
            where = [one.number, one.pod, one.retry, first, second]
            hosts = [ours.host, theirs.host, ours.room_on, theirs.room_on]
            rows.append([*where, *hosts, cause.verdict, cause.kind, cause.rule, cause.side, cause.node, cause.text])
    return Table("decisions", list(map(Column, columns)), rows, forms=("csv",))


def _lost(found: ComparisonDocument) -> Table:
    """Each pod that has a node under one configuration only: first those that lose theirs."""
    colours = {CHANGES[change][0]: MEANINGS[CHANGES[change][1]] for change in ("lost", "gained")}
    columns = (
        Column("pod", "name"), Column("change", "tag", filter=True, colours=colours), Column("under", "name", filter=True),
        Column("for", "name", filter=True), Column("node under the other", "name"), Column("what is said"),
    )  # fmt: skip
    rows = [
        [loss.pod, CHANGES[change][0], side_name(found, at + 1), phrase(loss.reason, 1), loss.node, loss.text]
        for change in ("lost", "gained")
        for at, against in enumerate(found.against)
        for loss in (against.lost if change == "lost" else against.gained).pods
    ]
    return Table("lost", columns, rows, noun="pod", forms=PAGE)


def _pods(found: ComparisonDocument) -> Table:
    """Where each pod ends under each configuration."""
    hosts = [one.hosts for one in found.configurations]
    columns = [Column("pod", "name"), *(Column(one.name, "host") for one in found.configurations)]
    rows = [[pod, *(nodes.get(pod) for nodes in hosts)] for pod in dict.fromkeys(pod for nodes in hosts for pod in nodes)]
    return Table("pods", columns, rows, noun="pod", forms=DATA)


# --- the list of pods -----------------------------------------------------------------------------------------------

MOST = 20_000
"""The page has the judged nodes of this many cycles; for the others it has the decisions and the reasons."""
SAME_NODE, NO_NODE = "on the same node", "on no node"
COLOURS = {
    EQUALLY_GOOD: MEANINGS["near"], DIFFERENT: MEANINGS["bad"], GATED: MEANINGS["held"], OTHER_NODE: MEANINGS["near"],
    SAME_NODE: MEANINGS["same"],
}  # fmt: skip


@attrs.define(repr=False)
class PodList:
    """The list of a comparison."""

    document: ComparisonDocument
    _outcomes: dict[str, str] = attrs.field(factory=dict)
    """Every outcome that any pod has -> its colour."""
    _texts: dict[str, int] = attrs.field(factory=dict)
    """Each text of the details once -> its number."""
    _rules: dict[tuple[tuple[str, int], ...], int] = attrs.field(factory=dict)
    """Each list of rules with their weights once -> its number."""

    def table(self) -> Table:
        """The list itself: where each pod ends, by which outcome, for which cause, and why."""
        found, cycles, rows, details = self.document, defaultdict[str, list[int]](list), list[list[Any]](), list[Any]()
        hosts = [one.hosts for one in found.configurations]
        for at, difference in enumerate(found.differences):
            cycles[difference.pod].append(at)
        for pod in hosts[0]:
            ends = [nodes.get(pod) for nodes in hosts]
            if pod in cycles or len(set(ends)) > 1:
                rows.append(self._row(pod, ends, [found.differences[at] for at in cycles[pod]]))
                details.append([self._cycle(at) for at in cycles[pod]] or None)
        columns = (
            Column("pod", "name"), *(Column(side_name(found, at), "name") for at in range(len(hosts))),
            Column("outcome", "tags", filter=True, colours=self._outcomes), Column("cause", "names", filter=True), Column("why"),
        )  # fmt: skip
        return Table("pods", columns, rows, noun="pod", details=details, shows="aligned", shared=self._shared(), forms=PAGE)

    def _row(self, pod: str, ends: Sequence[str | None], found: Sequence[DifferingCycle]) -> list[Any]:
        """Where a pod ends, its outcomes and causes, and why the first differing decision differs, or which pod replaced this one."""
        shown, outcomes, why = list[str](), list[str](), [cause_text(cause) for one in found[:1] for cause in one.causes.values()]
        for at, (one, end) in enumerate(zip(self.document.configurations, ends, strict=True)):
            told = [decision_text(cycle.decisions[one.name]) for cycle in found if one.name in cycle.decisions]
            shown.append(end or (told[-1] if told and told[-1].startswith((NO_HOST, GATED_HOST)) else NO_HOST))
            verdicts = [cycle.causes[one.name].verdict for cycle in found if one.name in cycle.causes]
            if at and (outcome := outcome_of(self.document, at, ends, verdicts)) is not None:
                outcomes.append(outcome if len(ends) == 2 else f"{one.name}: {outcome}")
                self._outcomes[outcomes[-1]] = colour_of_outcome(outcome, self.document)
            if not found and pod in one.evicted:
                why.append(f"{one.name} evicts it to make room for {one.evicted[pod]}")
        causes = [cause_name(self.document, name, cause) for one in found for name, cause in one.causes.items()]
        return [pod, *shown, list(dict.fromkeys(outcomes)), list(dict.fromkeys(causes)), "; ".join(why)]

    # --- details, as assets/aligned.js reads them: texts and lists of rules by number ---------------------------------

    def _place(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))

    def _shared(self) -> dict[str, Any]:
        """What the details of all rows have in common; to be asked after the last one."""
        rules = [[[self._place(name), weight] for name, weight in rules] for rules in self._rules]
        names = {name: None for rules in self._rules for name, _ in rules}
        newer = {name: next((other for other in SUCCESSORS.get(name, ()) if other in names), name) for name in names}
        subjects = {name: other for name, other in newer.items() if name != other}
        sides = [side_name(self.document, at) for at in range(len(self.document.configurations))]
        return {"sides": sides, "subjects": subjects, "rules": rules, "texts": list(self._texts)}

    def _cycle(self, at: int) -> list[Any]:
        """Title, the line in which the sides differ, and the decision of each."""
        found = self.document.differences[at]
        why = "; ".join(cause_text(cause) for cause in found.causes.values())
        title = f"Decision {found.number}{', tried again after making room' if found.retry else ''}: {why}"
        deciding = next((cause.rule for cause in found.causes.values() if cause.kind == SCORE and cause.rule), "")
        return [*map(self._place, (title, deciding)), [self._judged(*one, at < MOST) for one in found.decisions.items()]]

    def _judged(self, name: str, decision: ComparedDecision, whole: bool) -> list[Any]:
        """The side, what it decided, its error, the node that it took, and all nodes."""
        victims = f", evicting {', '.join(decision.victims)}" if decision.victims else ""
        texts = (decision_text(decision) + victims, decision.error or "", decision.host or decision.room_on or "")
        at = [one.name for one in self.document.configurations].index(name)
        return [at, *map(self._place, texts), [self._node(node) for node in decision.nodes] if whole else []]

    def _node(self, node: JudgedNode) -> list[Any]:
        """The node, its state, its list of rules, their scores in order, and its total."""
        rules = tuple((rule, score.weight) for rule, score in node.scores.items())
        at = self._rules.setdefault(rules, len(self._rules))
        told = "; ".join(node.reasons)
        state = f"{node.state} by {', '.join(node.rules)}: {told}" if node.rules else ": ".join(filter(None, [node.state, told]))
        return [self._place(node.node), self._place(state), at, [score.score for score in node.scores.values()], node.total]


def cause_name(document: ComparisonDocument, second: str, cause: Cause | CauseCount) -> str:
    """A cause in few words, as the filter of the list and the table of causes have it."""
    whose = f"{second}: " if len(document.against) > 1 else ""
    side = f" in {cause.side}" if cause.side and cause.kind != SCORE else ""
    return f"{whose}{cause.rule or cause.kind}{side}"


def colour_of(at: int) -> str:
    """The colour of the configuration in that place."""
    return f"var(--c{at % 8})"


def alone(name: str) -> str:
    """A pod that one configuration places, and the other one does not.

    >>> alone("a")
    'placed by a alone'
    """
    return f"placed by {name} alone"


def colour_of_outcome(name: str, document: ComparisonDocument) -> str:
    """The colour of an outcome."""
    places = {alone(one.name): colour_of(at) for at, one in enumerate(document.configurations)}
    return COLOURS.get(name) or places.get(name, MEANINGS["same"])


def outcome_of(document: ComparisonDocument, at: int, ends: Sequence[str | None], verdicts: Sequence[str]) -> str | None:
    """The outcome by which a pod's way under configuration *at* differs from that under the first one; None if it does not.

    *ends*: its node under each; *verdicts*: those of its decisions that differ.
    """
    names = [configuration.name for configuration in document.configurations]
    if document.mode == LOCKED:
        return next((told for told in (DIFFERENT, GATED, EQUALLY_GOOD) if told in verdicts), None)
    if GATED in verdicts:
        return GATED
    if ends[0] != ends[at]:
        return OTHER_NODE if None not in (ends[0], ends[at]) else alone(names[0] if ends[at] is None else names[at])
    return (SAME_NODE if ends[0] else NO_NODE) if verdicts else None
