"""A comparison in words and tables: where pods land, why elsewhere, and how the clusters end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..api.view import CHANGES, MEANINGS, TEXT, Column, Name, Number, Paragraph, Share, Table, View, Words, counting
from ..api.words import Figure, count_doing, count_of, percent
from ..simulation.compare.agreement import DIFFERENT, EQUALLY_GOOD, GATED, LOCKED, AgreementCounts
from ..simulation.compare.causes import KINDS, SAMPLING, Cause
from ..simulation.compare.document import ComparedConfiguration, ComparedDecision, ComparisonDocument, ConfigurationPair, Losses
from ..simulation.reasons import phrase
from .result import NOTHING_TRIED, for_reasons, joined

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


def comparison_view(title: str, found: ComparisonDocument, show: int | None = None) -> View:
    """The view of *found*, whose text lists *show* decisions that differ; None: all."""
    said = verdict(found)
    numbers = {"decisions": found.decisions, "differences": len(found.differences)}
    facts = {"configurations": len(found.configurations), "mode": found.mode, **numbers}
    named = [f"{one.name}: {one.text or one.release}" for one in found.configurations]
    counts, use = _counts(found), _use(found)
    pairs = [(against, cause_table(against)) for against in found.against]
    differences = _differences(found, show)
    text: list[Sequence[Paragraph | Table]] = [
        paragraphs([*headline(found, said), *named]),
        [counts],
        [use, *paragraphs(meaning_lines(found))],
    ]
    for against, causes in pairs:
        # The pods in a sentence.
        first, second = against.first, against.second
        alone = f"{len(against.first_alone)} placed by {first} alone, {len(against.second_alone)} by {second} alone"
        alone += f", {len(against.gated)} gated by one of them" if against.gated else ""
        text += [
            paragraphs(
                [
                    f"{first} and {second}: {count_of(against.alike, 'pod')} end the same, {len(against.elsewhere)} {OTHER_NODE}, {alone}",
                    *agreement_lines(against),
                    *hints(against),
                ]
            ),
            [causes],
        ]
    text += [[differences], paragraphs(left_out(found, show))]
    tables = [counts, use, *(causes for _, causes in pairs), differences, _decisions(found), _lost(found), _pods(found)]
    return View(title=title, verdict=said, facts=facts, shares=_shares(found), text=text, tables=tables, main="pods")


def paragraphs(lines: Iterable[str]) -> list[Paragraph]:
    """Each line as a paragraph."""
    return [Paragraph(line) for line in lines]


def _shares(found: ComparisonDocument) -> list[Share]:
    """How often two decide the same; empty for more than two."""
    if len(found.against) != 1:
        return []
    counts = found.against[0].agreement
    others = ((counts.equally_good, EQUALLY_GOOD, "near"), (counts.different, DIFFERENT, "bad"), (counts.gated, GATED, "held"))
    return [Share("the same", counts.same, "same"), *(Share(name, count, meaning) for count, name, meaning in others if count)]


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


def verdict(found: ComparisonDocument) -> Words:
    """The outcome in one sentence: who loses, and for what."""
    if found.differences:
        return joined([_against(found, at) for at in range(len(found.against))], ". ")
    if not found.decisions:
        return Words(NOTHING_TRIED)
    all_of = Words("All ", Number(found.decisions), " decisions are") if found.decisions > 1 else "The only decision is"
    return Words(all_of, " the same", in_error(found.against[0].agreement))


def in_error(found: AgreementCounts) -> Words:
    """How many of the decisions that are the same say nothing."""
    many = " of them ended in an error on both sides" if found.decisions > 1 else " ended in an error on both sides"
    return Words(", but ", Number(found.errors), many) if found.errors else Words()


def _against(found: ComparisonDocument, at: int) -> Words:
    """One configuration beside the first."""
    pair = found.against[at]
    lost, gained = len(pair.lost.pods), len(pair.gained.pods)
    first, second = Name(label(found, 0)), Name(label(found, at + 1))
    if not lost and not gained:
        # No pod gains or loses a place: how many decisions are other ones.
        agreement, moved, held = pair.agreement, len(pair.elsewhere), len(pair.gated)
        places = Words("The same pods find a place under ", first, " and ", second)
        if held:
            return Words(counting(held, "pod is", "pods are"), " gated by ", first, " or ", second, ", and placed by the other one")
        if found.mode != LOCKED:
            if not moved:
                return Words(places, ", each on the same node")
            return Words(places, ", ", Number(moved), " of them on another node")
        counted = ((agreement.different, DIFFERENT), (agreement.gated, "gated by one of them"))
        counts = [Words(counting(count, "is", "are"), " ", text) for count, text in counted if count]
        if counts:
            return Words(places, "; of ", Number(agreement.decisions), " decisions ", joined(counts, " and "))
        others = counting(agreement.equally_good, "is equally good", "are equally good")
        return Words("No decision is different under ", second, "; ", others, " for ", first)
    if lost == gained:
        return Words("As many pods find a place under ", second, ", but not the same ones: ", _both(pair))
    net, word = abs(lost - gained), "more" if gained > lost else "fewer"
    head = Words(counting(net, f"pod {word} finds a place", f"pods {word} find a place"), " under ", second)
    if lost and gained:
        return Words(head, ": ", _both(pair))
    if gained:
        return Words(head, _alone(pair.gained), "; under ", first, " there is none: ", reasons_of(pair.gained))
    return Words(head, _alone(pair.lost), ": ", reasons_of(pair.lost))


def _alone(found: Losses) -> Words:
    """The name of the pod, if it is only one."""
    return Words(", ", Name(found.pods[0].pod)) if len(found.pods) == 1 else Words()


def _both(pair: ConfigurationPair) -> Words:
    """Who loses and who gains, where there are both."""
    lost, gained = len(pair.lost.pods), len(pair.gained.pods)
    losing, gaining = counting(lost, "loses its place", "lose theirs"), counting(gained, "gains one", "gain one")
    return Words(losing, " (", reasons_of(pair.lost), "), ", gaining)


def reasons_of(found: Losses) -> Words:
    """For what pods have no place."""
    return for_reasons({one.reason: one.pods for one in found.reasons})


# --- sentences ------------------------------------------------------------------------------------------------------


def headline(found: ComparisonDocument, said: Words) -> Iterator[str]:
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
            yield f"{more}; as each side has its own cluster, that can follow from the first. --mode locked leaves such out"


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
            f"{count_of(sampled, 'decision')} of these: the two look at different shares of the nodes;"
            " with percentage=100 in both configurations each looks at all of them"
        )


def agreement_lines(against: ConfigurationPair) -> Iterator[str]:
    """The cycles of both: what is the same, what is another of the first one's best nodes, and what is different."""
    first, second, found = against.first, against.second, against.agreement
    also, alone = found.equal_for_both, found.equal_for_second_alone
    yield f"{found.decisions} decisions of both: {found.same} the same"
    if found.errors:
        yield f"  {found.errors} of these ended in an error on both sides, and so say nothing"
    if found.equally_good:
        yield f"  {found.equally_good} equally good: another node, which {first} scores as high as its own" + (
            f"; {second}, too, gives both the same score in {also}" if also else ""
        )
    if found.different:
        yield f"  {found.different} different" + (f"; {second} gives both nodes the same score in {alone}" if alone else "")
    if found.gated:
        yield f"  {found.gated} gated: one of the two does not try the pod, for its scheduling gates"
    yield (
        f"  the same nodes fit in {found.same_feasible}, the same ones are best in {found.same_best};"
        f" with any tie-break {second} takes one of {first}'s best in {found.best_within}"
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


# --- tables ---------------------------------------------------------------------------------------------------------


def with_own_cluster(found: ComparisonDocument) -> Sequence[ComparedConfiguration]:
    """The configurations with a cluster of their own at the end: all, or only the first in mode locked."""
    return found.configurations[:1] if found.mode == LOCKED else found.configurations


def resources(found: ComparisonDocument) -> list[str]:
    """The resources that any cluster has, pods last."""
    return list(dict.fromkeys(usage.resource for one in found.configurations for usage in one.summary.resources))


def _counts(found: ComparisonDocument) -> Table:
    """The outcomes of the pods: a column for each configuration."""
    names = {"placed": "placed", "unschedulable": "unschedulable", "gated": "gated", "evicted": "evicted"}
    rows: list[list[Any]] = [[said, *(str(getattr(one.summary, name)) for one in found.configurations)] for name, said in names.items()]
    kept = [row for row in rows if row[0] != names["gated"] or set(row[1:]) != {"0"}]
    return Table("counts", [Column("pods"), *(Column(one.name) for one in found.configurations)], kept, forms=TEXT)


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
    return Table("use", columns, rows, forms=(*TEXT, "page"))


def _percents(shares: Iterable[float | None]) -> Iterator[Figure | None]:
    return (None if share is None else percent(share) for share in shares)


def cause_table(against: ConfigurationPair) -> Table:
    """How often each cause occurred."""
    titles = ("outcome", "cause", "rule", "of", "meaning")
    rows = [[one.decisions, one.verdict, one.kind, one.rule, one.side, KINDS[one.kind]] for one in against.causes]
    columns = [Column("decisions", "count"), *map(Column, titles)]
    return Table(f"causes-{against.second}", columns, rows, forms=TEXT if rows else ())


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
    return Table("lost", columns, rows, noun="pod", forms=("page",))


def _pods(found: ComparisonDocument) -> Table:
    """Where each pod ends under each configuration."""
    hosts = [one.hosts for one in found.configurations]
    columns = [Column("pod", "name"), *(Column(one.name, "host") for one in found.configurations)]
    rows = [[pod, *(nodes.get(pod) for nodes in hosts)] for pod in dict.fromkeys(pod for nodes in hosts for pod in nodes)]
    return Table("pods", columns, rows, noun="pod", forms=("data",))
