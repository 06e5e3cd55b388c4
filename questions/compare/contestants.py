"""One of the schedulers that are compared, how it judges a single node, and which of its rows are which of another's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Final, Literal

import attrs
import numpy as np

from ...api.objects import Pod
from ...api.record import Record, field, says
from ...core.arrays.types import Mask, Rows
from ...core.decision.decision import Decision
from ...core.engine import Engine
from ...core.release.fact import rule_facts
from ...core.rule import Algorithm, Priority
from ...core.run import Run
from ...simulation.simulate import Simulation

_WAYS = {
    name: (*rule.first, *rule.plugins)
    for name, rule in rule_facts().items()
    if rule.kind in ("priority", "argument")
}
SUCCESSORS: Mapping[str, tuple[str, ...]] = {
    name: way[at:]
    for rule, plugins in _WAYS.items()
    for way in [(rule, *plugins)]
    for at, name in enumerate(way[:-1], 1)
}
"""Rule that scores -> the plugins of later releases that took its place, the nearest first."""

OF_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "requestedtocapacity": ("NodeResourcesFit",),
    "nodelabel": _WAYS["labelPreference"],
    "serviceantiaffinity": _WAYS["serviceAntiAffinity"],
}
"""The same for priorities that a Policy defines by arguments, under any name: by the module that they come from."""


def subjects(rules: Iterable[Priority], others: Collection[str]) -> dict[str, str]:
    """Rule -> the name that it is compared under: the first of its own and its successors' that is one of those of *others*, else its own.

    >>> from kubeclassic.algorithmprovider import CATALOGUE
    >>> rules = [CATALOGUE.priorities[name] for name in ("MostRequestedPriority", "EqualPriority")]
    >>> subjects(rules, ["NodeResourcesFit"])
    {'MostRequestedPriority': 'NodeResourcesFit', 'EqualPriority': 'EqualPriority'}
    >>> subjects(rules, ["MostRequestedPriority"])
    {'MostRequestedPriority': 'MostRequestedPriority', 'EqualPriority': 'EqualPriority'}
    """
    known = {name for other in others for name in (other, *SUCCESSORS.get(other, ()))}
    return {rule.name: next((name for name in _names(rule) if name in known), rule.name) for rule in rules}


def _names(rule: Priority) -> tuple[str, ...]:
    """Its name, and those of its successors."""
    module = getattr(rule.score, "__module__", "").rpartition(".")[2]
    return (rule.name, *(SUCCESSORS.get(rule.name) or OF_ARGUMENTS.get(module, ())))


FITS: Final = "fits"
TURNED_DOWN: Final = "turned down"
NOT_VISITED: Final = "not visited"
"""The search ended before."""
UNKNOWN: Final = "not asked"
"""The cycle ended before."""
EXTENDER = "Extender"


class WeighedScore(Record):
    """A rule's score for a node."""

    score: int
    weight: int
    total: Annotated[int, says("Score times weight.")]


class JudgedNode(Record):
    """A node as one configuration sees it."""

    node: str
    state: Literal["fits", "turned down", "not visited", "not asked"]
    rules: Annotated[tuple[str, ...], says("Those that turn it down.")] = ()
    reasons: tuple[str, ...] = ()
    scores: Annotated[Mapping[str, WeighedScore], says("By rule.")] = field(default_factory=dict)
    total: int | None = None


@attrs.define(eq=False, repr=False)
class Contestant:
    """A scheduler of the comparison, by name, with its own copy of the cluster."""

    name: str
    simulation: Simulation
    run: Run = attrs.field(init=False)
    _subjects: dict[tuple[Algorithm, Algorithm], Mapping[str, str]] = attrs.field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.run = self.simulation.begin()
        self.engine.transient_details = True

    @property
    def engine(self) -> Engine:
        """The scheduler itself."""
        return self.simulation.engine

    @property
    def scale(self) -> int:
        """The highest score that a rule gives a node."""
        return self.engine.max_score

    def algorithm(self, pod: Pod) -> Algorithm:
        """The rules for *pod*; with profiles, those of its profile."""
        return self.engine.algorithm_of(pod) or self.engine.algorithm

    def subjects(self, pod: Pod, beside: Contestant) -> Mapping[str, str]:
        """Each rule that scores for *pod*, with the name that it is compared under with those of *beside*."""
        pair = self.algorithm(pod), beside.algorithm(pod)
        if pair not in self._subjects:
            self._subjects[pair] = subjects(
                (rule for rule, _ in pair[0].priorities), [rule.name for rule, _ in pair[1].priorities]
            )
        return self._subjects[pair]

    # --- one cycle --------------------------------------------------------------------------------------------------

    def cycle(self, pod: Pod, *, retry: bool = False) -> Decision:
        """Decide, and carry out the decision."""
        return self.simulation.note(self.run.cycle(pod, retry=retry))

    def follow(self, pod: Pod, led: Decision) -> Decision:
        """Decide, but carry out the decision of another contestant."""
        decision = self.run.follow(pod, led)
        same_room = decision.preemption is led.preemption
        self.simulation.note(decision if same_room else attrs.evolve(decision, preemption=led.preemption))
        return decision


def node_view(engine: Engine, decision: Decision, node: str) -> JudgedNode:
    """How the cycle of *decision*, which kept its details, judged *node*; call it before the next cycle of *engine*."""
    details, row = decision.details, engine.row_of(node)
    if details is None or row is None:
        return JudgedNode(node, UNKNOWN)
    here = details.feasible_rows == row
    at = int(here.argmax()) if len(here) else 0
    if len(here) and here[at]:
        # The view of the node that stands *at* this place of the feasible ones.
        pod = decision.pod
        ranking = details.ranking
        if ranking is None:
            return JudgedNode(node, FITS)
        scores = dict[str, WeighedScore]()
        for rule, weight in (engine.algorithm_of(pod) or engine.algorithm).priorities:
            line = ranking.by_priority.get(rule.name)
            if line is not None:
                score = line.item(at)
                scores[rule.name] = WeighedScore(score, weight, score * weight)
        return JudgedNode(node, FITS, scores=scores, total=ranking.totals.item(at))
    if not details.has_visited(row) and node not in details.extender_reasons:
        return JudgedNode(node, UNKNOWN if details.search is None else NOT_VISITED)
    refusal = details.refusal(row)
    if refusal is None or not refusal.reasons:
        return JudgedNode(node, TURNED_DOWN)
    rules = refusal.rules or ((EXTENDER,) if node in details.extender_reasons else ())
    return JudgedNode(node, TURNED_DOWN, rules, refusal.reasons)


# --- rows -------------------------------------------------------------------------------------------------------------


@attrs.define(eq=False, repr=False)
class RowMap:
    """From the rows of *second* to those of *first*, computed again after nodes came or went."""

    first: Contestant
    second: Contestant
    _version: tuple[int, int] | None = None
    _rows: Rows | None = None
    """intp[rows of the second one]; None: both have the same rows."""

    def of_first(self, rows: Rows) -> Rows:
        """intp[k]: the first one's rows for the second one's *rows*, -1 for nodes that the first one does not have."""
        ours, theirs = self.first.engine.table, self.second.engine.table
        version = ours.rows_version, theirs.rows_version
        if self._version != version:
            found = np.array([ours.row_of.get(name, -1) for name in theirs.names], np.intp)
            self._version, self._rows = (
                version,
                None if np.array_equal(found, np.arange(len(found))) else found,
            )
        return rows if self._rows is None else self._rows.take(rows)

    def marked(self, rows: Rows) -> Mask:
        """bool[size + 1]: which rows of the first one are among *rows*; the last place is for nodes that it does not have."""
        found = np.zeros(self.first.engine.table.size + 1, np.bool_)
        found[rows] = True
        return found

    def feasible(self, one: Decision, other: Decision) -> Feasible:
        """The nodes that fit in one cycle, while the details of both decisions still exist."""
        return Feasible(self, one.details.feasible_rows, self.of_first(other.details.feasible_rows))


@attrs.frozen(eq=False, repr=False)
class Feasible:
    """The nodes that fit for both contestants, each in its visiting order, as rows of the first one."""

    rows: RowMap
    ours: Rows
    theirs: Rows

    @property
    def is_same(self) -> bool:
        """The same nodes fit for both."""
        return np.array_equal(self.ours, self.theirs) or np.array_equal(
            self.rows.marked(self.ours), self.rows.marked(self.theirs)
        )
