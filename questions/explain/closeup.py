"""All about one node, and the cells and tables that other parts of an explanation use too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from ...api.record import UNSET
from ...api.view import Amount, Item, Paragraph, Section, Table, block, columns_of, on_page
from ...api.words import amount, count_of, listed, rounded
from ...core.devices.nodedevices import DeviceAccount
from ...simulation.explain.values import NO_HELP, CloseUp, ExplanationDocument, Lead, NodeScore, NodeShortage
from ...simulation.nodesbyuse import titles_of

Part: TypeAlias = "Sequence[Item]"
MOST_NAMED = 4
"""How many devices are named; of more, some are only counted."""
USABLE = "can be had"
PASSES = "passes"
IDLE = "passes, nothing to check"
FAILS = "fails"
NOT_RUN = ("not run, would pass", "not run, would fail")
RESULTS = {PASSES: "good", IDLE: "var(--line)", FAILS: "bad", **dict.fromkeys(NOT_RUN, "held")}

NEAREST = 5
BEST = 5
SHOWN = 3
"""How many nodes that do not fit, and that fit, text shows unless all are asked for; and how many reasons the
verdict has."""
MOST_CAUSES = 12
"""How many causes text shows unless all are asked for."""
CHOSEN = "chosen"
FITS = "fits"
NOT_REACHED = "fits, not reached"
TURNED_DOWN = "turned down"
STATES = {CHOSEN: "good", FITS: "near", NOT_REACHED: "held", TURNED_DOWN: "bad"}

# --- one node in full ---------------------------------------------------------------------------------------


def close_up_sections(document: ExplanationDocument, close: CloseUp) -> Iterator[Section]:
    """All about the node of *close*."""
    report = document.report_of(close.node)
    host = document.host
    node = close.node
    outcome = f"fits; the pod gets {host}" + (" instead" if host else "")
    if node == host:
        outcome = "fits, and it is the node that the pod gets"
    elif not close.fits:
        outcome = "does not fit" + (f"; the pod gets {host}" if host else "")
    whole = [f"Decided before any node was evaluated: {reason}" for reason in close.whole_pod]
    yield block(*paragraphs([f"{document.pod} on {node}: {outcome}", *whole]))
    rows = []
    for verdict in close.verdicts:
        result = PASSES if verdict.concerned else IDLE
        if verdict.outcome != "passes":
            result = FAILS if verdict.outcome == "fails" else NOT_RUN[bool(verdict.reasons)]
        rows.append([verdict.rule, result, "; ".join(verdict.reasons) or None])
    rule = "predicate" if document.plugins is UNSET else "plugin"
    forms = "seen" if any(row[2] for row in rows) else "page"
    table = columns_of(f"{rule} | name; result | tag; reason | name | {forms}", RESULTS)
    rules = [Table("rules", table, rows)] if rows else []
    yield Section(
        "Each rule on this node",
        [*on_page(*whole, look=""), *rules],
        "In running order." if rules else "",
        forms="seen",
    )
    yield block(
        *paragraphs(
            [f"What fails: {'; '.join(report.causes)}." if report is not None and report.causes else ""]
        )
    )
    yield Section("Room", [room_table(close)] if close.room else [], forms="seen")
    yield block(*device_part(node, close.devices or ()))
    lead = "What the node would score if it were among the nodes to choose from." if close.would_score else ""
    scores = [
        [rule_name(name), score.raw, score.reduced, score.weight, score.total]
        for name, score in close.scores.items()
    ]
    columns = "rule | name; raw | count; score | count; weight | count; counts | count"
    yield Section(
        "Scores",
        [Table("scores", columns, scores), *paragraphs(_rank_sentences(close), "seen")] if scores else [],
        lead,
        forms="seen",
    )
    evictions = ""
    if document.eviction is not None and not close.fits:
        why = close.no_room if document.eviction.why_not in (None, NO_HELP) else document.eviction.why_not
        evictions = f"Evicting pods makes no room on {node}: {why}."
        if close.victims is not None:
            victims = [f"{victim.pod} (priority {victim.priority:,})" for victim in close.victims]
            evictions = f"It would fit here if {count_of(len(victims), 'pod')} left: {listed(victims, 10) or 'no pod'}."
    yield Section("Would evictions help?", paragraphs([evictions], "seen"), name="evictions")
    lead = f"Rule by rule, {node} beside {close.against}; below zero where {close.against} scores better."
    yield Section("Beside the other node", [leads_table(close.leads, node, close.against or "")], lead)


def paragraphs(texts: Iterable[str], forms: str = "text") -> list[Paragraph]:
    """A paragraph for each of *texts* that is not empty."""
    return [Paragraph(text, forms, hanging="") for text in texts if text]


def _rank_sentences(close: CloseUp) -> Iterator[str]:
    total = 0 if close.total is None else close.total
    if close.would_score:
        yield f"Its total would be {total:,} if it were among the nodes to choose from."
    elif close.place is not None and close.out_of > 1:
        yield f"Its total is {total:,}, place {close.place:,} of {close.out_of:,}."
    if close.against is not None:
        yield from lead_sentences(
            close.leads, f"Better than {close.against} by", f"Worse than {close.against} by"
        )
        yield "No rule scores the two differently." if not close.leads else ""


# --- tables -------------------------------------------------------------------------------------------------


def room_table(close: CloseUp) -> Table:
    """The pod's request of each resource, and the room on the node."""
    table = """
        resource || text
        resource | name | page
        needs | amount
        free | amount
        of | amount
        short | amount
        | bar | good bad
    """
    titles = titles_of(room.resource for room in close.room)
    rows = []
    for room in close.room:
        name = room.resource
        amounts = [Amount(name, number) for number in (room.asked, room.free, room.allocatable)]
        missing = Amount(name, room.missing) if room.missing else None
        share = room.asked / max(room.free, room.asked, 1)
        rows.append([name, titles[name], *amounts, missing, -share if room.missing else share])
    return Table("room", table, rows)


def leads_table(leads: Sequence[Lead], ours: str, theirs: str) -> Table:
    """Rule by rule how two nodes score, and what it adds to the lead."""
    most = max((abs(lead.ahead) for lead in leads), default=1)
    table = columns_of(
        "rule | name; {ours} | count; {theirs} | count; weight | count; ahead by | count; | bar | good bad",
        ours=ours,
        theirs=theirs,
    )
    rows = [
        [rule_name(lead.rule), lead.ours, lead.theirs, lead.weight, lead.ahead, lead.ahead / most]
        for lead in leads
    ]
    return Table("leads", table, rows, forms="page")


def device_part(node: str, accounts: Sequence[DeviceAccount]) -> Part:
    """A line for each reason that rules out devices of *node*, request by request; one line for a node
    without devices."""
    rows = []
    for account in accounts:
        wants = f"all that match, {account.wanted:,}" if account.takes_all else f"{account.wanted:,}"
        groups = [(USABLE, account.usable), *((refusal.why, refusal.devices) for refusal in account.refused)]
        for reason, devices in [group for group in groups if group[1]] or [("the node has none", ())]:
            # Devices go without their driver and pool, where all are of one.
            pools = {device.rpartition("/")[0] for device in devices}
            names = [device.rpartition("/")[2] for device in devices] if len(pools) == 1 else list(devices)
            if len(names) > MOST_NAMED:
                names = [
                    f"{', '.join(names[: MOST_NAMED - 1])} and {count_of(len(names) - MOST_NAMED + 1, 'other')}"
                ]
            rows.append(
                [f"{account.claim}, {account.request}", wants, len(devices), ", ".join(names) or None, reason]
            )
    table = "claim, request; wants; devices | count; which; why"
    return [*paragraphs([f"Devices on {node}:"]), Table("devices", table, rows, forms="text")] if rows else []


# --- cells --------------------------------------------------------------------------------------------------


def rule_name(rule: str) -> str:
    """A priority's name without the word that all have.

    >>> rule_name("LeastRequestedPriority")
    'LeastRequested'
    """
    return rule.removesuffix("Priority")


def score_cell(score: NodeScore) -> str:
    """The steps to a score: raw, reduced, weight."""
    return f"{score.raw} -> {score.reduced} x {score.weight}"


def lead_sentences(leads: Sequence[Lead], ahead: str, behind: str) -> Iterator[str]:
    """The rules by which the node is *ahead*, and those by which it is *behind*, in these words."""
    for words, is_better in ((ahead, True), (behind, False)):
        texts = [lead_text(lead) for lead in leads if (lead.ahead > 0) is is_better]
        yield f"{words}: {listed(texts)}." if texts else ""


def lead_text(lead: Lead, scale: str = "") -> str:
    """The scores of two nodes by one rule."""
    weight = f", times weight {lead.weight:,}" if lead.weight != 1 else ""
    return f"{rule_name(lead.rule)}, {lead.ours}{scale} against {lead.theirs}{weight}"


def short_of(short: NodeShortage) -> str:
    """The shortage, with both sides; exact where these look alike when they are rounded.

    >>> short_of(NodeShortage("cpu", 2000, 500)), short_of(NodeShortage("cpu", 1190, 1188))
    ('1.5 cpu (needs 2, free 0.5)', '0.002 cpu (needs 1.19, free 1.188)')
    """
    name = short.resource
    alike = rounded(short.resource, short.asked) == rounded(short.resource, short.free)
    missing, asked, free = (
        amount(name, number) if alike else rounded(name, number)
        for number in (short.missing, short.asked, short.free)
    )
    return f"{missing} {name} (needs {asked}, free {free})"
