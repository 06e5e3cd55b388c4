"""Who finds no place and why, in the fewest words: the sentence at the top of the page, and pods by reason."""

from __future__ import annotations

from typing import Any

from ....api.words import short_name
from ....simulation.explain.values import shortage_of
from ..page.markup import Markup, Text, element, joined, named, number, sentence, told
from ..page.parts import BAD, bullets, folded, plain_table, track

Record = dict[str, Any]
WORDS = (
    ("taint", "taints"), ("node selector", "the node selector"), ("node affinity", "node affinity"),
    ("affinity", "pod affinity"), ("topology spread", "the spread constraint"), ("free ports", "ports"), ("volume", "volumes"),
    ("allocate all claims", "devices for its claims"), ("resourceclaim", "devices of its claims"),
    ("unschedulable", "nodes that are closed"), ("not ready", "nodes that are not ready"),
)  # fmt: skip
"""What a reason has in it -> what it is about; the first one counts."""
TOLD, NAMED = 3, 60
"""That many reasons stand in the verdict, and that many pods are named under each."""


def about_what(reason: str) -> str:
    """What rules out the pods, in a word or two; the reason itself where there is no shorter word.

    >>> about_what("Insufficient nvidia.com/gpu"), about_what("node(s) had taints that the pod didn't tolerate"), about_what("odd")
    ('gpu', 'taints', 'odd')
    """
    short = shortage_of(reason)
    if short is not None:
        return "places for pods" if short == "pods" else short_name(short)
    return next((word for part, word in WORDS if part in reason.lower()), reason)


def verdict(record: Record) -> Markup:
    """How many pods find a place, what the others lack, and who has to leave."""
    summary = record["summary"]
    placed, missing = summary["placed"] + summary["waiting"], summary["unschedulable"]
    pods = told("summary.pods", number(summary["pods"]))
    found = told("summary.placed + summary.waiting" if summary["waiting"] else "summary.placed", number(placed))
    if not summary["pods"]:
        return sentence("No pod waits for a node.")
    if placed == summary["pods"]:
        first = sentence("The pod finds a node") if placed == 1 else sentence("All ", pods, " pods find a node")
    elif not missing:
        first = sentence(found, " of ", pods, " pods ", _find(placed), " a node")
    elif missing == summary["pods"]:
        first = sentence("No pod finds a node: " if missing > 1 else "The pod finds no node: ", _lacking(record))
    else:
        none = told("summary.unschedulable", number(missing))
        does_not = " does not: " if missing == 1 else " do not: "
        first = sentence(found, " of ", pods, " pods ", _find(placed), " a node, ", none, does_not, _lacking(record))
    return sentence(first, *_evicted(summary), ".")


def _find(count: int) -> str:
    return "finds" if count == 1 else "find"


def _evicted(summary: Record) -> list[Text]:
    if not summary["evicted"]:
        return []
    pods = told("summary.evicted", number(summary["evicted"]))
    return ["; ", pods, " pod is evicted to make room" if summary["evicted"] == 1 else " pods are evicted to make room"]


def _lacking(record: Record) -> Markup:
    """For what the pods without a node have none: those of the commonest reasons, and how many others."""
    reasons = record["reasons"]
    groups: dict[str, list[int]] = {}
    for at, group in enumerate(reasons):
        groups.setdefault(about_what(group["reason"]), []).append(at)
    if len(groups) == 1:
        return sentence("for ", named(next(iter(groups))))
    ordered = sorted(groups.items(), key=lambda pair: -_pods(reasons, pair[1]))
    pieces = [sentence(_count(reasons, places), " for ", named(what)) for what, places in ordered[:TOLD]]
    rest = [at for _, places in ordered[TOLD:] for at in places]
    return joined([*pieces, *([sentence(_count(reasons, rest), " for other reasons")] if rest else [])])


def _pods(reasons: list[Record], places: list[int]) -> int:
    return sum(len(reasons[at]["pods"]) for at in places)


def _count(reasons: list[Record], places: list[int]) -> Markup:
    return told(" + ".join(f"reasons.{at}.pods.length" for at in places), number(_pods(reasons, places)))


# --- pods by reason -------------------------------------------------------------------------------------------------


def by_reason(record: Record) -> Markup:
    """A line for each reason, with how many pods it keeps out, and which."""
    reasons = record["reasons"]
    most = len(reasons[0]["pods"])
    rows = [
        [named(group["reason"]), told(f"reasons.{at}.pods.length", number(len(group["pods"]))), track(len(group["pods"]) / most, BAD)]
        for at, group in enumerate(reasons)
    ]
    lists = [
        folded(
            sentence(named(group["reason"]), ": ", told(f"reasons.{at}.pods.length", number(len(group["pods"]))), _noun(group)),
            bullets(map(named, group["pods"][:NAMED])), *_rest(group),
        )
        for at, group in enumerate(reasons)
    ]  # fmt: skip
    return sentence(plain_table(["the reason of most nodes", "pods", ""], rows, "Pods without a node, by reason"), *lists)


def _noun(group: Record) -> str:
    return " pod" if len(group["pods"]) == 1 else " pods"


def _rest(group: Record) -> list[Markup]:
    if len(group["pods"]) <= NAMED:
        return []
    return [element("p", "and others: ", element("a", "see all pods without a node", href="#pods?is-outcome=unschedulable"))]
