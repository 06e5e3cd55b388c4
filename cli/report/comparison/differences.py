"""The pods of a comparison whose decisions or ends differ, as data for the list of a page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import attrs

from ....simulation.compare.agreement import AMONG_BEST, DIFFERENT, HELD_BACK
from ....simulation.compare.modes import LOCKED
from ..text import NO_HOST
from .text import GATED_HOST, cause_text, decision_text

Record = dict[str, Any]
MOST = 20_000
"""The page has both tables for this many cycles; for the others it has the decisions and the reasons."""
COLOURS = {
    AMONG_BEST: "var(--near)", DIFFERENT: "var(--far)", HELD_BACK: "var(--held)", "elsewhere": "var(--near)",
    "alike in the end": "var(--same)",
}  # fmt: skip
KEYS = ("verdict", "kind", "rule", "side")


def colour_of(at: int) -> str:
    """The colour of the configuration in that place."""
    return f"var(--c{at % 8})"


@attrs.define
class Strings:
    """Each text once, by number."""

    places: dict[str, int] = attrs.field(factory=dict)

    def place(self, text: str) -> int:
        """Where *text* stands."""
        return self.places.setdefault(text, len(self.places))


@attrs.define
class PodList:
    """What the page's script reads, made from ``Comparison.record()``."""

    record: Record
    strings: Strings = attrs.field(factory=Strings)
    outcomes: dict[str, Record] = attrs.field(factory=dict)
    """Every outcome that any pod has: its name -> its place, name and colour."""
    causes: list[Record] = attrs.field(factory=list)
    """Every cause, in the order of the tables of causes."""
    _rules: dict[tuple[tuple[str, int], ...], int] = attrs.field(factory=dict)
    _cause_places: dict[tuple[str, ...], int] = attrs.field(factory=dict)

    def __attrs_post_init__(self) -> None:
        for against in self.record["against"]:
            for cause in against["causes"]:
                self._cause_places[against["second"], *map(str, (cause[key] for key in KEYS))] = len(self.causes)
                self.causes.append(cause)

    @property
    def names(self) -> list[str]:
        """The configurations'."""
        return [c["name"] for c in self.record["configurations"]]

    def data(self) -> Record:
        """Everything, by name; rows are lists whose fields ``compare.js`` names."""
        cycles = [self._cycle(found, at < MOST) for at, found in enumerate(self.record["differences"])]
        pods = list(self._pods())
        rules = [[[self.strings.place(name), weight] for name, weight in rules] for rules in self._rules]
        outcomes = [{"name": found["name"], "colour": found["colour"]} for found in self.outcomes.values()]
        lists = {"rules": rules, "outcomes": outcomes, "pods": pods, "cycles": cycles}
        return {"names": self.names, "strings": list(self.strings.places), **lists}

    # --- pods -------------------------------------------------------------------------------------------------------

    def _pods(self) -> Iterator[list[Any]]:
        cycles: dict[str, list[int]] = defaultdict(list)
        for at, found in enumerate(self.record["differences"]):
            cycles[found["pod"]].append(at)
        hosts = [c["hosts"] for c in self.record["configurations"]]
        for pod in hosts[0]:
            ends = [found.get(pod) for found in hosts]
            if pod in cycles or len(set(ends)) > 1:
                yield self._pod(pod, ends, cycles[pod])

    def _pod(self, pod: str, ends: list[str | None], cycles: list[int]) -> list[Any]:
        found = [self.record["differences"][at] for at in cycles]
        outcomes = [self._outcome(at, pod, ends, found) for at in range(1, len(ends))]
        causes = [self._cause_place(name, cause) for one in found for name, cause in one["causes"].items()]
        why = [self.strings.place(text) for text in self._why(pod, found)]
        shown = [self.strings.place(end or self._nowhere(name, found)) for name, end in zip(self.names, ends, strict=True)]
        told = list(dict.fromkeys(place for place in outcomes if place is not None))
        return [self.strings.place(pod), shown, told, sorted(set(causes)), why, cycles]

    def _outcome(self, at: int, pod: str, ends: list[str | None], found: list[Record]) -> int | None:
        """The place of the outcome by which configuration *at* differs from the first; None if none does."""
        first, second = self.names[0], self.names[at]
        verdicts = [one["causes"][second]["verdict"] for one in found if second in one["causes"]]
        if self.record["mode"] == LOCKED:
            name = next((told for told in (DIFFERENT, HELD_BACK, AMONG_BEST) if told in verdicts), None)
        elif HELD_BACK in verdicts:
            name = HELD_BACK
        elif ends[0] != ends[at]:
            name = "elsewhere" if None not in (ends[0], ends[at]) else f"placed by {first if ends[at] is None else second} alone"
        else:
            name = "alike in the end" if verdicts else None
        if name is None:
            return None
        colour = COLOURS.get(name, colour_of(0 if ends[at] is None else at))
        return self._outcome_place(name if len(ends) == 2 else f"{second}: {name}", colour)

    def _outcome_place(self, name: str, colour: str) -> int:
        place: int = self.outcomes.setdefault(name, {"name": name, "colour": colour, "place": len(self.outcomes)})["place"]
        return place

    def _cause_place(self, name: str, cause: Record) -> int:
        side = cause["side"] if cause["kind"] != "score" else None
        return self._cause_places[name, *map(str, (cause["verdict"], cause["kind"], cause["rule"], side))]

    def _why(self, pod: str, found: list[Record]) -> Iterator[str]:
        """Why the first differing decision differs, or which pod replaced this one."""
        yield from (cause_text(cause) for one in found[:1] for cause in one["causes"].values())
        for configuration in self.record["configurations"] if not found else ():
            if pod in configuration["evicted"]:
                yield f"{configuration['name']} evicts it to make room for {configuration['evicted'][pod]}"

    def _nowhere(self, name: str, found: list[Record]) -> str:
        told = [decision_text(one["decisions"][name]) for one in found if name in one["decisions"]]
        return told[-1] if told and told[-1].startswith((NO_HOST, GATED_HOST)) else NO_HOST

    # --- cycles -----------------------------------------------------------------------------------------------------

    def _cycle(self, found: Record, whole: bool) -> list[Any]:
        why = [self.strings.place(cause_text(cause)) for cause in found["causes"].values()]
        judged = [self._judged(name, decision, whole) for name, decision in found["decisions"].items()]
        return [found["cycle"], int(found["retry"]), why, judged]

    def _judged(self, name: str, decision: Record, whole: bool) -> list[Any]:
        error = -1 if not decision["error"] else self.strings.place(decision["error"])
        nodes = [self._node(node) for node in decision["nodes"]] if whole else []
        victims = [self.strings.place(victim) for victim in decision["victims"]]
        return [self.names.index(name), self.strings.place(decision_text(decision)), error, victims, nodes]

    def _node(self, node: Record) -> list[Any]:
        """Node, state, place of its rules or -1, their scores in order, total."""
        rules = tuple((name, score["weight"]) for name, score in node["scores"].items())
        place = self._rules.setdefault(rules, len(self._rules)) if rules else -1
        scores = [score["score"] for score in node["scores"].values()]
        return [self.strings.place(node["node"]), self.strings.place(_state(node)), place, scores, node["total"]]


def _state(node: Record) -> str:
    told = "; ".join(node["reasons"])
    return f"{node['state']} by {', '.join(node['rules'])}: {told}" if node["rules"] else ": ".join(filter(None, [node["state"], told]))
