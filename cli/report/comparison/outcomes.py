"""What an outcome is called: one name and one colour for each, in text, tables and pictures alike."""

from __future__ import annotations

from collections.abc import Sequence

from ....questions.comparisonview import OTHER_NODE
from ....simulation.compare.agreement import AMONG_BEST, DIFFERENT, HELD_BACK
from ....simulation.compare.document import ComparisonDocument, ConfigurationPair
from ....simulation.compare.modes import LOCKED
from ..page.parts import BAD, HELD, NEAR, SAME, StackItem, colour_of

SAME_NODE, NO_NODE = "on the same node", "on no node"
COLOURS = {AMONG_BEST: NEAR, DIFFERENT: BAD, HELD_BACK: HELD, OTHER_NODE: NEAR, SAME_NODE: SAME}
AMONG_BEST_MEANS = "Among the best: another node, which {first} scores as high as its own."


def alone(name: str) -> str:
    """A pod that one configuration places, and the other one does not.

    >>> alone("a")
    'placed by a alone'
    """
    return f"placed by {name} alone"


def colour_of_outcome(name: str, document: ComparisonDocument) -> str:
    """The colour of an outcome."""
    names = [configuration.name for configuration in document.configurations]
    places = {alone(one): colour_of(at) for at, one in enumerate(names)}
    return COLOURS.get(name) or places.get(name, SAME)


def pod_parts(at: int, against: ConfigurationPair) -> list[StackItem]:
    """Where pods end: on which side they have a node, and on the same one."""
    path, first, second = f"against.{at}", against.first, against.second
    held = StackItem(HELD_BACK, len(against.held_back), HELD, f"{path}.heldBack.length")
    return [
        StackItem("end the same", against.alike, SAME, f"{path}.alike"),
        StackItem(OTHER_NODE, len(against.elsewhere), NEAR, f"{path}.elsewhere.length"),
        StackItem(alone(first), len(against.first_alone), colour_of(0), f"{path}.firstAlone.length"),
        StackItem(alone(second), len(against.second_alone), colour_of(at + 1), f"{path}.secondAlone.length"),
        *([held] if held.count else []),
    ]


def decision_parts(at: int, against: ConfigurationPair) -> list[StackItem]:
    """How decisions agree."""
    path, found = f"against.{at}.agreement", against.agreement
    return [
        StackItem("the same", found.same, SAME, f"{path}.same"),
        StackItem(AMONG_BEST, found.among_best, NEAR, f"{path}.amongBest"),
        StackItem(DIFFERENT, found.different, BAD, f"{path}.different"),
        *([StackItem(HELD_BACK, found.held_back, HELD, f"{path}.heldBack")] if found.held_back else []),
    ]


def outcome_of(document: ComparisonDocument, at: int, ends: Sequence[str | None], verdicts: Sequence[str]) -> str | None:
    """The outcome by which a pod's way under configuration *at* differs from that under the first one; None if it does not.

    *ends*: its node under each; *verdicts*: those of its decisions that differ.
    """
    names = [configuration.name for configuration in document.configurations]
    if document.mode == LOCKED:
        return next((told for told in (DIFFERENT, HELD_BACK, AMONG_BEST) if told in verdicts), None)
    if HELD_BACK in verdicts:
        return HELD_BACK
    if ends[0] != ends[at]:
        return OTHER_NODE if None not in (ends[0], ends[at]) else alone(names[0] if ends[at] is None else names[at])
    return (SAME_NODE if ends[0] else NO_NODE) if verdicts else None
