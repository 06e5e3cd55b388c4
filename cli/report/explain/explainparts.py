"""The parts of an explanation's page that are tables of few lines: leads, reasons, evictions, rules, room, scores."""

from __future__ import annotations

from typing import Any

from ....api.view import step
from ....api.words import short_name
from ....simulation.explain.eviction import NO_HELP, NONE_LOWER, NOT_ENOUGH, STAYS
from ..page.amounts import amount_told, unit_of
from ..page.markup import Markup, Text, joined, named, number, sentence, told
from ..page.parts import BAD, GOOD, HELD, bullets, card, paragraph, plain_table, soft, tag, track
from .explanation import rule_name

Record = dict[str, Any]
SHOWN = 20
"""That many victims are named."""


def leads_table(path: str, leads: list[Record], ours: str, theirs: str) -> Markup:
    """Rule by rule how two nodes score, and what it adds to the lead."""
    most = max(abs(lead["ahead"]) for lead in leads)
    rows = [
        [
            named(rule_name(lead["rule"])), *(told(f"{path}.{at}.{field}", number(lead[field])) for field in ("ours", "theirs", "weight")),
            told(f"{path}.{at}.ahead", number(lead["ahead"])), track(abs(lead["ahead"]) / most, GOOD if lead["ahead"] > 0 else BAD),
        ]
        for at, lead in enumerate(leads)
    ]  # fmt: skip
    return plain_table(["rule", named(ours), named(theirs), "weight", "ahead by", ""], rows, f"{ours} beside {theirs}")


def choice_parts(record: Record) -> list[Text]:
    """What decided among the nodes that fit."""
    choice = record["choice"]
    best = told("choice.best", number(choice["best"]))
    parts: list[Text] = []
    if len(choice["ties"]) > 1:
        who = joined(map(named, choice["ties"][:SHOWN]))
        more = ", and others" if len(choice["ties"]) > SHOWN else ""
        parts.append(paragraph("These nodes share the best total, ", best, ": ", who, more, ". Of these, ", named(choice["tieBreak"]), "."))
    else:
        parts.append(paragraph(named(record["host"]), " has the best total, ", best, "."))
    if choice["leads"]:
        parts.append(leads_table("choice.leads", choice["leads"], record["host"], choice["against"]))
    if choice["constant"]:
        same = ", ".join(rule_name(rule) for rule in choice["constant"])
        parts.append(soft("These rules give every node the same score, so they decide nothing: ", named(same), "."))
    return parts


def reasons_table(record: Record) -> Markup:
    """Why nodes were turned down: each reason with its nodes, and the node that is nearest to it."""
    groups = record["reasons"]
    most = max(group["count"] for group in groups)
    rows = [
        [
            named(group["reason"]), named(", ".join(group["rules"])), told(f"reasons.{at}.count", number(group["count"])),
            track(group["count"] / most, BAD), told(f"reasons.{at}.alone", number(group["alone"])),
            named((group["leastShort"] or {"node": group["nodes"][0]})["node"]), _short(f"reasons.{at}.leastShort", group["leastShort"]),
            "yes" if group["evictable"] else "no",
        ]
        for at, group in enumerate(groups)
    ]  # fmt: skip
    heads = ["reason", "rule", "nodes", "", "only this", "nearest", "short there of", "can evictions help"]
    return plain_table(heads, rows, "Reasons against nodes")


def _short(path: str, short: Record | None) -> Text | None:
    if short is None:
        return None
    name = short["resource"]
    missing, asked, free = (amount_told(f"{path}.{field}", name, short[field]) or "" for field in ("missing", "asked", "free"))
    return sentence(missing, f"{unit_of(name)} " if name == "cpu" else f" {short_name(name)} ", "(needs ", asked, ", free ", free, ")")


def eviction_parts(record: Record) -> list[Text]:
    """What evicting pods would do."""
    eviction = record["eviction"]
    if eviction["node"] is not None:
        pods = [_victim(f"eviction.victims.{at}", victim) for at, victim in enumerate(eviction["victims"][:SHOWN])]
        parts: list[Text] = [paragraph("It would make room on ", named(eviction["node"]), " and evict:"), bullets(pods)]
        if eviction["budgetViolations"]:
            protected = told("eviction.budgetViolations", number(eviction["budgetViolations"]))
            parts.append(soft("Protected by a PodDisruptionBudget: ", protected, "."))
        if eviction["candidates"] > 1:
            candidates = told("eviction.candidates", number(eviction["candidates"]))
            parts.append(soft("Evictions would make room on ", candidates, " nodes; there it matters least."))
        return parts
    if eviction["whyNot"] != NO_HELP:
        return [paragraph("No pod is evicted for it: ", named(eviction["whyNot"]), ".")]
    priority = told("eviction.priority", number(eviction["priority"]))
    found = (("unresolvable", STAYS), ("nobodyLower", NONE_LOWER), ("notEnough", NOT_ENOUGH))
    lines = [sentence(told(f"eviction.{key}", number(eviction[key])), " nodes: ", why) for key, why in found if eviction[key]]
    return [paragraph("Evicting pods of a lower priority than its own, ", priority, ", would not help:"), bullets(lines)]


def _victim(path: str, victim: Record) -> Markup:
    return sentence(named(victim["pod"]), ", priority ", told(f"{path}.priority", number(victim["priority"])))


# --- one node -------------------------------------------------------------------------------------------------------


def rules_table(close: Record, by: str) -> Markup:
    """Each rule's answer on the node, in running order."""
    rows = [[named(verdict["rule"]), _outcome(verdict), named("; ".join(verdict["reasons"]) or "-")] for verdict in close["verdicts"]]
    return plain_table([by, "result", "why"], rows, "Each rule in running order")


def _outcome(verdict: Record) -> Markup:
    if verdict["outcome"] == "fails":
        return tag("turned down", BAD)
    if verdict["outcome"] == "not asked":
        return tag("not asked, would turn it down" if verdict["reasons"] else "not asked, would pass", HELD)
    return tag("passed" if verdict["concerned"] else "passed, nothing to check", GOOD if verdict["concerned"] else "var(--line)")


def room_table(close: Record) -> Markup:
    """How much the pod requests of each resource, and what is free on the node."""
    fields = ("asked", "free", "allocatable", "missing")
    rows = [
        [
            named(short_name(room["resource"])),
            *(amount_told(f"closeUp.room.{at}.{field}", room["resource"], room[field]) for field in fields),
            track(room["asked"] / max(room["free"], room["asked"], 1), BAD if room["missing"] else GOOD),
        ]
        for at, room in enumerate(close["room"])
    ]
    return plain_table(["resource", "requested", "free", "of", "short of", ""], rows, "Room on the node")


def scores_table(close: Record) -> Markup:
    """How the node's total comes about."""
    rows = [
        [named(rule_name(rule)), *(told(f"closeUp.scores.{step(rule)}.{field}", number(score[field])) for field in score)]
        for rule, score in close["scores"].items()
    ]
    first = next(iter(close["scores"].values()))
    words = {"raw": "raw", "reduced": "score", "weight": "weight", "total": "counts"}
    return plain_table(["rule", *(words[field] for field in first)], rows, "Scores of the node")


def close_eviction(record: Record) -> Text:
    """Who would have to leave the node."""
    close, eviction = record["closeUp"], record["eviction"]
    if close["victims"] is None:
        why = close["noRoom"] if eviction["whyNot"] in (None, NO_HELP) else eviction["whyNot"]
        return paragraph("Evicting pods makes no room on ", named(close["node"]), ": ", named(why), ".")
    pods = [_victim(f"closeUp.victims.{at}", victim) for at, victim in enumerate(close["victims"][:SHOWN])]
    return card("It would fit if these pods left", bullets(pods))
