"""The outcome of a comparison in one sentence: who loses, and for what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Any

from ....api.words import short_name
from ....simulation.compare.losses import EVICTED, FAULT, GATES, NO_ROOM, UNSEEN
from ....simulation.compare.modes import LOCKED
from ..page.markup import Markup, Text, joined, named, number, sentence, told

Record = dict[str, Any]
PHRASES = {
    "spread constraint": ("its spread constraint", "their spread constraints"),
    "pod anti-affinity": ("pod anti-affinity", "pod anti-affinity"),
    "node affinity": ("its node affinity", "their node affinity"),
    "host ports": ("a host port", "host ports"),
    "pods": ("the number of pods", "the number of pods"),
    "volumes": ("its volumes", "their volumes"),
    "node name": ("the node that it names", "the nodes that they name"),
    EVICTED: ("other pods, which evict it", "other pods, which evict them"),
    UNSEEN: ("nodes that are not looked at", "nodes that are not looked at"),
    FAULT: ("an error", "errors"),
    GATES: ("its scheduling gates", "their scheduling gates"),
    NO_ROOM: ("room that is not made", "room that is not made"),
}
"""Reason -> what a sentence says after "1 for" and after "2 for"; other reasons stand as they are."""
_TAG = re.compile(r"<[^>]*>")


def label(record: Record, at: int) -> str:
    """What sentences call a configuration: its release, where that tells all apart; else its name."""
    configurations, name = record["configurations"], str(record["configurations"][at]["name"])
    if len(name) > 1:
        return f"the {name}"
    releases = [configuration["release"] for configuration in configurations]
    return str(releases[at]) if len(set(releases)) == len(releases) else name


def side_name(record: Record, at: int) -> str:
    """A configuration's name, with its release where that tells all apart."""
    name, told_apart = str(record["configurations"][at]["name"]), label(record, at)
    return name if len(name) > 1 or name == told_apart else f"{name} ({told_apart})"


def verdict(record: Record) -> Markup:
    """The outcome, its numbers marked with their places in ``-o json``."""
    if not record["differences"]:
        if record["cycles"] == 1:
            return Markup("The only decision is the same")
        return sentence("All ", told("cycles", number(record["cycles"])), " decisions are the same")
    return joined((_against(record, at) for at in range(len(record["against"]))), ". ")


def plain(text: Text) -> str:
    """Markup as the text that it shows.

    >>> plain(sentence(told("pods", "9"), " pods < ", named("a")))
    '9 pods < a'
    """
    return unescape(_TAG.sub("", text)) if isinstance(text, Markup) else text


def _against(record: Record, at: int) -> Markup:
    """One configuration beside the first."""
    found, path = record["against"][at], f"against.{at}"
    lost, gained = len(found["lost"]["pods"]), len(found["gained"]["pods"])
    first, second = named(label(record, 0)), named(label(record, at + 1))
    if not lost and not gained:
        return _same_pods(record, at)
    if lost == gained:
        return sentence("As many pods find a place under ", second, ", but not the same ones: ", _both(found, path))
    head = sentence(_net(path, lost, gained), " under ", second)
    if lost and gained:
        return sentence(head, ": ", _both(found, path))
    if gained:
        return sentence(head, "; under ", first, " there is none: ", reasons_told(found["gained"], f"{path}.gained"))
    return sentence(head, ": ", reasons_told(found["lost"], f"{path}.lost"))


def _net(path: str, lost: int, gained: int) -> Markup:
    more, less = ("gained", "lost") if gained > lost else ("lost", "gained")
    net, word = abs(lost - gained), "more" if gained > lost else "fewer"
    count = told(f"{path}.{more}.pods.length - {path}.{less}.pods.length", number(net))
    return sentence(count, f" pod {word} finds a place" if net == 1 else f" pods {word} find a place")


def _both(found: Record, path: str) -> Markup:
    """Who loses and who gains, where there are both."""
    lost, gained = len(found["lost"]["pods"]), len(found["gained"]["pods"])
    losing = sentence(told(f"{path}.lost.pods.length", number(lost)), " loses its place" if lost == 1 else " lose theirs")
    gaining = sentence(told(f"{path}.gained.pods.length", number(gained)), " gains one" if gained == 1 else " gain one")
    return sentence(losing, " (", reasons_told(found["lost"], f"{path}.lost"), "), ", gaining)


def _same_pods(record: Record, at: int) -> Markup:
    """No pod gains or loses a place: how many decisions are other ones."""
    found, path = record["against"][at], f"against.{at}"
    first, second = named(label(record, 0)), named(label(record, at + 1))
    agreement, moved = found["agreement"], len(found["elsewhere"])
    places = sentence("The same pods find a place under ", first, " and ", second)
    if found["heldBack"]:
        held = len(found["heldBack"])
        count = told(f"{path}.heldBack.length", number(held))
        are = " pod is" if held == 1 else " pods are"
        return sentence(count, are, " held back by ", first, " or ", second, ", and placed by the other one")
    if record["mode"] != LOCKED:
        if not moved:
            return sentence(places, ", each on the same node")
        return sentence(places, ", ", told(f"{path}.elsewhere.length", number(moved)), " of them on another node")
    if agreement["different"] or agreement["heldBack"]:
        counts = joined(_counts(agreement, f"{path}.agreement"), " and ")
        return sentence(places, "; of ", told(f"{path}.agreement.cycles", number(agreement["cycles"])), " decisions ", counts)
    best = told(f"{path}.agreement.amongBest", number(agreement["amongBest"]))
    others = "is among the best nodes" if agreement["amongBest"] == 1 else "are among the best nodes"
    return sentence("No decision is different under ", second, "; ", best, f" {others} of ", first)


def _counts(agreement: Record, path: str) -> Iterator[Markup]:
    for key, text in (("different", "different"), ("heldBack", "held back by one of them")):
        if agreement[key]:
            yield sentence(told(f"{path}.{key}", number(agreement[key])), " is " if agreement[key] == 1 else " are ", text)


def reasons_told(found: Record, path: str, most: int = 3) -> Markup:
    """For what pods have no place: the *most* frequent reasons, and how many pods have others."""
    reasons = found["reasons"]
    if len(reasons) == 1:
        return sentence("all for " if reasons[0]["pods"] > 1 else "for ", named(phrase(reasons[0]["reason"], reasons[0]["pods"])))
    told_ones = [_reason(reason, f"{path}.reasons.{at}.pods") for at, reason in enumerate(reasons[:most])]
    if len(reasons) > most:
        rest = " + ".join(f"{path}.reasons.{at}.pods" for at in range(most, len(reasons)))
        told_ones.append(sentence(told(rest, number(sum(reason["pods"] for reason in reasons[most:]))), " for other reasons"))
    return joined(told_ones)


def _reason(reason: Record, path: str) -> Markup:
    return sentence(told(path, number(reason["pods"])), " for ", named(phrase(reason["reason"], reason["pods"])))


def phrase(reason: str, pods: int) -> str:
    """What a sentence says of a reason.

    >>> phrase("spread constraint", 1), phrase("spread constraint", 2), phrase("nvidia.com/gpu", 2)
    ('its spread constraint', 'their spread constraints', 'gpu')
    """
    several = pods != 1
    return PHRASES[reason][several] if reason in PHRASES else short_name(reason)


def subjects_of(againsts: Iterable[Record]) -> dict[str, str]:
    """Rule -> the name that it is compared under, of the rules that have another one."""
    return {
        name: found["rule"]
        for against in againsts
        for found in against["correlation"]
        for side in ("first", "second")
        for name in found[side]
        if name != found["rule"]
    }
