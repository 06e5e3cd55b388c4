"""What a page of an explanation says in one sentence: where the pod goes and why, or why it fits nowhere, or not there."""

from __future__ import annotations

from typing import Any

from ....simulation.records import about_what
from ..page.markup import Markup, Text, joined, named, number, sentence, told
from .explanation import rule_name

Record = dict[str, Any]
SHOWN = 3
"""That many reasons stand in the sentence."""


def verdict(record: Record) -> Markup:
    """Where the pod goes and what decided, or what rules out the nodes."""
    pod = named(record["pod"])
    if record["passedOver"] is not None:
        return sentence(pod, " is not scheduled: ", named(record["passedOver"]), ".")
    if record["gated"]:
        return sentence(pod, " is held back and not tried.")
    start = pod if record["placedOn"] is None else sentence(pod, ", which is on ", named(record["placedOn"]), ",")
    if record["host"] is None:
        return sentence(start, " finds no node", _against(record), ".")
    stays = record["placedOn"] == record["host"]
    where = " would stay there" if stays else sentence(" would go to " if record["placedOn"] else " goes to ", named(record["host"]))
    return sentence(start, where, _because(record), ".")


def _against(record: Record) -> Text:
    """What rules out the nodes, the reason of most nodes first."""
    groups = sorted(enumerate(record["reasons"]), key=lambda pair: -pair[1]["count"])
    if not groups:
        return sentence(": ", named(record["error"].rstrip("."))) if record["error"] else ""
    pieces = [sentence(named(about_what(group["reason"])), " on ", _nodes(f"reasons.{at}.count", group["count"])) for at, group in groups]
    more = [sentence(number_of(len(groups) - SHOWN), " other reasons")] if len(groups) > SHOWN + 1 else pieces[SHOWN:]
    return sentence(": stopped by ", joined([*pieces[:SHOWN], *more]))


def number_of(count: int) -> Markup:
    """A count of a list of the record."""
    return Markup(f'<span class="derived">{number(count)}</span>')


def _nodes(path: str, count: int) -> Markup:
    return sentence(told(path, number(count)), " node" if count == 1 else " nodes")


def _because(record: Record) -> Text:
    """Why this node."""
    choice, counts = record["choice"], record["counts"]
    if choice is None:
        only = counts["fit"] == 1 and counts["visited"] > 1
        if not only:
            return ", which is taken without scoring"
        return sentence(", the only one of ", _nodes("counts.visited", counts["visited"]), " that fits")
    fit = told("counts.fit", number(counts["fit"]))
    if len(choice["ties"]) == counts["fit"] == 2:
        return ": both nodes that fit have the same score, and the tie-break takes it"
    if len(choice["ties"]) == counts["fit"]:
        return sentence(": all ", fit, " nodes that fit have the same score, and the tie-break takes it")
    if len(choice["ties"]) > 1:
        ties = told("choice.ties.length", number(len(choice["ties"])))
        return sentence(": ", ties, " of ", fit, " nodes that fit share the best score, and the tie-break takes it")
    best = sentence(", the best of ", fit, " nodes that fit")
    return sentence(best, ", by ", named(rule_name(choice["decided"]))) if choice["decided"] else best


def close_verdict(record: Record) -> Markup:
    """Whether the pod fits on the node that was asked for, and why it does not go there."""
    close, pod, host = record["closeUp"], named(record["pod"]), record["host"]
    node = named(close["node"])
    if host == close["node"]:
        return sentence(pod, " fits on ", node, ", and goes there.")
    if not close["fits"]:
        failing = (rule["reasons"] for rule in close["verdicts"] if rule["outcome"] == "fails")
        reasons = [*close["wholePod"], *(reason for found in failing for reason in found)]
        why = sentence(": ", named("; ".join(dict.fromkeys(reasons)))) if reasons else ""
        return sentence(pod, " does not fit on ", node, why, *([", so it goes to ", named(host)] if host else []), ".")
    if host is None:
        return sentence(pod, " fits on ", node, ".")
    return sentence(pod, " fits on ", node, ", but goes to ", named(host), _behind(close), ".")


def _behind(close: Record) -> Text:
    if close["wouldScore"]:
        return ": the search had found enough nodes before it came here"
    worse = [lead["rule"] for lead in close["leads"] if lead["ahead"] < 0]
    if not worse:
        return ": both score the same, and the tie-break takes that one"
    return sentence(", which scores better by ", joined((named(rule_name(rule)) for rule in worse[-SHOWN:][::-1]), ", "))
