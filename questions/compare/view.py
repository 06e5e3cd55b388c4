"""What a comparison looks like: where pods land, why elsewhere, and how the clusters end."""

from __future__ import annotations

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
from ...api.words import Figure, count_of, percent
from ...core.pods.requests import PODS
from ...simulation.nodesbyuse import NodeUse, labels_of, share_of
from ...simulation.reasons import phrase
from .agreement import DIFFERENT, EQUALLY_GOOD, GATED, LOCKED
from .causes import KINDS
from .document import ComparisonDocument, ConfigurationPair
from .pods import MOST, PodList, alone, colour_of
from .text import (
    OTHER_NODE,
    agreement_lines,
    cause_text,
    decision_text,
    headline,
    hints,
    label,
    left_out,
    meaning_lines,
    side_name,
    verdict,
    with_own_cluster,
)

MODES = {
    "free": (
        "Each configuration has its own copy of the cluster. A pod that gets another node changes the cluster for the pods after it,"
        " so that scores may differ because of earlier placements, too."
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
    many = f"The judged nodes are here for the first {MOST:,} decisions that differ; -o json has them all."
    listed, many = PodList(found).table(), many if len(found.differences) > MOST else ""
    open_one = "Open a pod to see how each configuration judged the nodes in question, rule by rule."
    none = "Every decision is the same, and every pod ends on the same node."
    yield Section("Which pods, and why", [*on_page(*((open_one, many) if listed.rows else (none,))), listed], name="list")
    if ends:
        yield Section("Nodes in the end", [_map(found, ends)], name="nodes")


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
        yield NextStep("Which release on the way changes what:", step)


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
