"""The same pods under two or more schedulers: which get another node, and why; and the comparison as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal

import attrs
import numpy as np

from ...api.reading import InputWarning, ResultDocument
from ...api.record import Count, Meta, Names, Positive, Record, astuple, says
from ...api.words import count_of
from ...core.arrays import Rows
from ...core.decision import NO_DETAILS, Decision, reasons_in
from ...core.engine import Engine
from ...exceptions import PolicyError, UnknownNameError
from ...simulation.input import SILENT, Observer
from ...simulation.nodesbyuse import Summary, fragmentation, nodes_by_use, summarise
from ...simulation.reasons import EVICTED, FAULT, GATES, NO_ROOM, UNSEEN, about
from ...simulation.sides import (
    MODES,
    Cause,
    CauseKind,
    JudgedNode,
    Mode,
    Side,
    SidesStep,
    SideView,
    best,
    cause_of,
    decided,
    follow,
    nodes_of,
)
from ...simulation.simulate import Scenario, Simulation
from ..asking import NOTHING_TRIED, for_reasons

Verdict = Annotated[
    Literal["equally good", "different", "gated"],
    says(
        "Another node that the first configuration scores as high as its own; gated: one of the two does not try it, for its gates; "
        "or anything else."
    ),
]
"""The verdict on a cycle in which two sides decide differently."""
VERDICTS = ("same", "equally good", "different", "gated")
"""The verdicts on a cycle, as the first side sees it.

``same``: the same node, or the same victims on the same node. ``equally good``: another node, which the first
side scores as high as its own, so it could have taken that as well. ``gated``: one of the two does not try
the pod, because of its scheduling gates. ``different``: all else.
"""


# --- as data ------------------------------------------------------------------------------------------------


class Loss(Record):
    """A pod that finds a node under one configuration, and none under the other."""

    pod: str
    node: str
    """Its node under the one configuration."""
    reason: str
    """The obstacle under the other one, in a word or two: a resource, spread constraint, taints and the like,
    or a rule."""
    text: str
    """The other configuration's message."""


class LossReason(Record):
    """The number of pods that have no node for one reason."""

    reason: str
    pods: Positive
    """How many pods."""


class Losses(Record):
    """Pods that find a node under one configuration, and none under the other."""

    pods: tuple[Loss, ...]
    reasons: tuple[LossReason, ...]
    """Number of pods by reason, most frequent first."""


CauseAndError = tuple[Cause, str]
"""The cause of a difference, and the error of the side that found no node."""


def losses(
    moved: Iterable[tuple[str, str]], why: Mapping[str, CauseAndError], loser: str, evicted: Mapping[str, str]
) -> Losses:
    """The pods that have a node under the other side and none under *loser*, with reasons; *moved*: the pods,
    with these nodes.

    *why*: the cause and error of the last decision on each pod in which the two differ; *evicted*: the pods
    that *loser* evicted, and for which pod each.
    """
    pods = []
    for pod, node in moved:
        reason = NO_ROOM
        text = ""
        if pod in evicted:
            reason = EVICTED
            text = f"evicted to make room for {evicted[pod]}"
        elif pod in why:
            cause, error = why[pod]
            text = error or cause.text
            reason = {"sampling": UNSEEN, "error": FAULT, "gated": GATES}.get(cause.kind, NO_ROOM)
            if cause.kind == "predicate" and cause.side == loser:
                reason = main_reason(cause.text.split("; "), error, cause.rule)
        pods.append(Loss(pod, node, reason, text))
    return Losses(
        tuple(pods),
        tuple(LossReason(*counted) for counted in Counter(loss.reason for loss in pods).most_common()),
    )


def main_reason(reasons: Iterable[str], error: str, rule: str | None = None) -> str:
    """The subject of the most frequent of *reasons*, which are why one node was rejected; *error* counts the
    nodes by reason.

    >>> main_reason(["Insufficient cpu", "Insufficient memory"], "0/9 nodes are available: 3 Insufficient cpu, 8 Insufficient memory.")
    'memory'
    >>> main_reason(["node(s) had taints that the pod didn't tolerate"], "")
    'taints'
    """
    counts = reasons_in(error)
    text = max(reasons, key=lambda reason: counts.get(reason, 0), default="")
    return about(text, rule)


class ComparedConfiguration(Record):
    """One configuration, with its pods and nodes in the end. In mode locked the nodes are the same for
    all."""

    name: str
    """a to h, as on the command line."""
    text: str
    """The configuration as given."""
    release: str
    summary: Summary
    fragmentation: Mapping[str, float]
    """Resource -> the share of free capacity on nodes where a pending pod does not fit."""
    nodes_by_use: Mapping[str, Annotated[list[Count], Meta(min_length=10, max_length=10)]]
    """Resource -> number of nodes by use, in tenths."""
    hosts: Mapping[str, str | None]
    """Pod -> its node in the end."""
    evicted: Mapping[str, str]
    """Evicted pod -> the pod that evicted it."""


class ComparedPod(Record):
    """The end of a pod under both configurations."""

    pod: str
    first: str | None
    second: str | None


ComparedPods = tuple[ComparedPod, ...]


class FirstDifference(Record):
    """The first cycle in which the two differ. In mode free all later differences can follow from it."""

    pod: str
    number: Count
    retry: bool
    first: str | None
    """The node that the first one chose."""
    second: str | None
    verdict: Verdict
    cause: Cause


class AgreementCounts(Record):
    """Counts of the decisions that both took."""

    decisions: Count
    same: Count
    errors: Count
    """Of the same: both ended in an error, for example of an extender, so they mean nothing."""
    equally_good: Count
    different: Count
    gated: Count
    equal_for_both: Count
    """Of the equally good: the second configuration, too, scores both nodes the same."""
    equal_for_second_alone: Count
    """Of the different: only the second configuration scores both nodes the same."""
    same_feasible: Count
    """Decisions for which the same nodes fit."""
    same_best: Count
    """Decisions for which the same nodes are best."""
    best_within: Count
    """Decisions for which all best nodes of the second are also best for the first."""


class CauseCount(Record):
    """The number of decisions with one verdict and one cause."""

    verdict: Verdict
    kind: CauseKind
    rule: str | None
    side: str | None
    decisions: Count


class ConfigurationPair(Record):
    """The first configuration and another one: where pods end, and how the decisions that both took agree."""

    first: str
    second: str
    alike: Count
    """Pods that end on the same node, or on none in both."""
    elsewhere: ComparedPods
    """Pods that end on another node."""
    first_alone: ComparedPods
    """Placed by the first alone."""
    second_alone: ComparedPods
    """Placed by the second alone."""
    gated: ComparedPods
    """Placed by one, not tried by the other."""
    lost: Losses
    """The pods of firstAlone: why the second one has no node for them."""
    gained: Losses
    """The pods of secondAlone: why the first one has no node for them."""
    first_difference: FirstDifference | None
    differing_decisions: Count
    agreement: AgreementCounts
    causes: tuple[CauseCount, ...]
    """The most frequent first."""


class ComparedDecision(Record):
    """The decision of one configuration."""

    host: str | None
    error: str | None
    """The scheduler's own message."""
    room_on: str | None
    """The node where it makes room by preemption."""
    victims: Names
    gated: bool
    """Whether the pod is not tried, because of its scheduling gates."""
    nodes: tuple[JudgedNode, ...]
    """Its judgement of each node in question."""


class DifferenceCause(Cause, kw_only=True):
    """The cause of a different decision, and the verdict on it."""

    verdict: Verdict


class DifferingCycle(Record):
    """A cycle in which not all decide the same."""

    pod: str
    number: Count
    """The number of the decision, from 0."""
    retry: bool
    """Whether this is another try of the pod, after it made room."""
    decisions: Mapping[str, ComparedDecision]
    """By configuration; one that did not try the pod again is missing."""
    causes: Mapping[str, DifferenceCause]
    """By configuration, for those that differ from the first."""


class ComparisonDocument(ResultDocument, kw_only=True):
    """The same pods with two or more configurations, each compared with the first one."""

    KIND = "Comparison"
    mode: Literal["locked", "free"]
    """locked: all decide in the same states, those of the first one; free: each has its own cluster."""
    same: bool
    """Whether all decisions are the same."""
    pods: Count
    """Pods that were to be scheduled."""
    decisions: Count
    """The number of decisions, including retries after a preemption."""
    configurations: Annotated[tuple[ComparedConfiguration, ...], Meta(min_length=1)]
    against: tuple[ConfigurationPair, ...]
    """Each other configuration compared with the first."""
    differences: tuple[DifferingCycle, ...]
    """Decisions that differ, in order."""


# --- how often two agree ------------------------------------------------------------------------------------


@attrs.define(eq=False, repr=False)
class Agreement:
    """The agreement of *second* with *first*, in counts."""

    first: Side
    second: Side
    counts: Counter[str] = attrs.Factory(Counter)
    """Cycles by verdict, and the other counts of :class:`AgreementCounts`, by field."""
    _version: tuple[int, int] | None = None
    _rows: Rows | None = None
    """intp[rows of the second side]: the first side's row of each node; None: both have the same. Computed
    again after nodes came or went."""

    def add(self, first: Decision, second: Decision) -> Literal["same"] | Verdict:
        """Count one cycle and return its verdict; call before the next cycle, as the details are needed."""
        first_best = best(first)
        second_best = best(second)
        counts = self.counts
        outcome: Literal["same"] | Verdict = "same"
        if first.is_gated != second.is_gated:
            outcome = "gated"
        elif decided(first) != decided(second):
            outcome = "equally good" if _includes(self.first, first_best, second.host) else "different"
            if _includes(self.second, second_best, first.host):
                counts["equal_for_both" if outcome == "equally good" else "equal_for_second_alone"] += 1
        counts[outcome] += 1
        fails = (
            first.host is None and first.error is not None and not first.is_fit_error and not first.is_gated
        )
        counts["errors"] += outcome == "same" and fails
        # The same nodes fit, or are best, in whatever order.
        first_fitting = first.details.feasible_rows
        second_fitting = self._rows_of_first(second.details.feasible_rows)
        counts["same_feasible"] += np.array_equal(first_fitting, second_fitting) or np.array_equal(
            self._mask_of(first_fitting), self._mask_of(second_fitting)
        )
        second_best = self._rows_of_first(second_best)
        are_same = np.array_equal(first_best, second_best) or np.array_equal(
            self._mask_of(first_best), self._mask_of(second_best)
        )
        counts["same_best"] += are_same
        counts["best_within"] += are_same or (
            bool(len(first_best)) == bool(len(second_best))
            and bool(self._mask_of(first_best)[second_best].all())
        )
        return outcome

    def _rows_of_first(self, rows: Rows) -> Rows:
        """intp[k]: the first side's rows for the second side's *rows*, -1 for nodes that the first does not
        have."""
        first_table = self.first.engine.table
        second_table = self.second.engine.table
        version = first_table.rows_version, second_table.rows_version
        if self._version != version:
            first_rows = np.array([first_table.row_of.get(name, -1) for name in second_table.names], np.intp)
            self._version = version
            self._rows = None if np.array_equal(first_rows, np.arange(len(first_rows))) else first_rows
        return rows if self._rows is None else self._rows.take(rows)

    def _mask_of(self, rows: Rows) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """bool[size + 1]: which rows of the first side are among *rows*; the last place is for nodes that it
        lacks."""
        is_marked = np.zeros(self.first.engine.table.size + 1, np.bool_)
        is_marked[rows] = True
        return is_marked

    def record(self) -> AgreementCounts:
        """The counts as a record."""
        counts = self.counts
        named = {
            name: counts[name]
            for name in AgreementCounts.__struct_fields__
            if name not in ("decisions", "equally_good")
        }
        return AgreementCounts(
            decisions=sum(counts[verdict] for verdict in VERDICTS),
            equally_good=counts["equally good"],
            **named,
        )


def _includes(side: Side, rows: Rows, host: str | None) -> bool:
    row = None if host is None else side.engine.row_of(host)
    return row is not None and bool((rows == row).any())


# --- the comparison -----------------------------------------------------------------------------------------


@attrs.define(eq=False, repr=False)
class Comparison:
    """A comparison of sides, each of them with the first."""

    mode: Mode
    sides: list[Side]
    texts: Mapping[str, str]
    """Name -> the configuration as given."""
    differences: list[DifferingCycle] = attrs.Factory(list)
    agreements: dict[str, Agreement] = attrs.field(init=False)
    cycles: int = 0

    def __attrs_post_init__(self) -> None:
        first, *others = self.sides
        self.agreements = {side.name: Agreement(first, side) for side in others}

    @property
    def same(self) -> bool:
        """Whether every decision is the same for all."""
        return not self.differences

    def add(self, step: SidesStep) -> None:
        """Record how the decisions of *step* agree with the first side's, while their details still exist."""
        first, *others = step.sides
        if (
            first is self.sides[0]
        ):  # else the first side does not retry this pod, and an earlier cycle has reported the difference
            first_decision = step.decisions[first.name]
            verdicts = dict[str, Verdict]()
            for side in others:
                verdict = self.agreements[side.name].add(first_decision, step.decisions[side.name])
                if verdict != "same":
                    verdicts[side.name] = verdict
            if verdicts:
                outcomes = {name: decided(decision) for name, decision in step.decisions.items()}
                nodes = nodes_of(*outcomes.values())
                views = {side.name: SideView(side, step.decisions[side.name], nodes) for side in step.sides}
                first_view = views[first.name]
                causes = {
                    name: DifferenceCause(*astuple(cause_of(first_view, views[name])), verdict=verdict)
                    for name, verdict in verdicts.items()
                }
                decisions = {
                    name: ComparedDecision(
                        host,
                        view.decision.error,
                        room,
                        victims,
                        view.decision.is_gated,
                        tuple(view.nodes.values()),
                    )
                    for (name, view), (host, room, victims) in zip(
                        views.items(), outcomes.values(), strict=True
                    )
                }
                for decision in step.decisions.values():
                    decision.details = NO_DETAILS
                self.differences.append(
                    DifferingCycle(first_view.decision.pod.key, self.cycles, step.is_retry, decisions, causes)
                )
        self.cycles += 1

    def document(self, warnings: tuple[InputWarning, ...] = ()) -> ComparisonDocument:
        """The comparison as a record."""
        configurations = []
        for side in self.sides:
            simulation = side.simulation
            engine = side.engine
            configurations.append(
                ComparedConfiguration(
                    side.name,
                    self.texts.get(side.name, ""),
                    engine.release.version,
                    summarise(simulation),
                    fragmentation(engine, simulation.scenario.pending),
                    nodes_by_use(engine),
                    {key: outcome.host for key, outcome in simulation.outcomes.items()},
                    dict(simulation.evicted),
                )
            )
        return ComparisonDocument(
            warnings=warnings,
            mode=self.mode,
            same=self.same,
            pods=len(self.sides[0].simulation.outcomes),
            decisions=self.cycles,
            configurations=tuple(configurations),
            against=tuple(map(self._against, self.sides[1:])),
            differences=tuple(self.differences),
        )

    def _against(self, side: Side) -> ConfigurationPair:
        """The comparison of *side* with the first one: where each pod ends, and how decisions agree."""
        leader = self.sides[0]
        name = side.name
        alike = 0
        gated = list[ComparedPod]()
        elsewhere = list[ComparedPod]()
        lost = list[ComparedPod]()
        gained = list[ComparedPod]()
        for key, outcome in leader.simulation.outcomes.items():
            side_outcome = side.simulation.outcomes.get(key)
            if side_outcome is None or outcome.host == side_outcome.host:
                alike += side_outcome is not None
            elif outcome.is_gated or side_outcome.is_gated:
                gated.append(ComparedPod(key, outcome.host, side_outcome.host))
            elif outcome.host is None:
                gained.append(ComparedPod(key, None, side_outcome.host))
            else:
                group = lost if side_outcome.host is None else elsewhere
                group.append(ComparedPod(key, outcome.host, side_outcome.host))
        differing = [cycle for cycle in self.differences if name in cycle.causes]
        causes = (cycle.causes[name] for cycle in differing)
        counts = Counter(
            (cause.verdict, cause.kind, cause.rule, cause.side if cause.kind != "score" else None)
            for cause in causes
        )

        first_difference = None
        if differing:  # in mode free all later differences may follow from it
            first_cycle = differing[0]
            cause = first_cycle.causes[name]
            why = Cause(cause.kind, cause.rule, cause.side, cause.node, cause.text)
            hosts = first_cycle.decisions[leader.name].host, first_cycle.decisions[name].host
            first_difference = FirstDifference(
                first_cycle.pod, first_cycle.number, first_cycle.retry, *hosts, cause.verdict, why
            )

        def losses_of(pods: Sequence[ComparedPod], loser: Side) -> Losses:
            why = {
                cycle.pod: (cycle.causes[name], cycle.decisions[loser.name].error or "")
                for cycle in differing
            }
            moved = ((pod.pod, pod.first or pod.second or "") for pod in pods)
            return losses(moved, why, loser.name, loser.simulation.evicted)

        return ConfigurationPair(
            first=leader.name,
            second=name,
            alike=alike,
            elsewhere=tuple(elsewhere),
            first_alone=tuple(lost),
            second_alone=tuple(gained),
            gated=tuple(gated),
            lost=losses_of(lost, side),
            gained=losses_of(gained, leader),
            first_difference=first_difference,
            differing_decisions=len(differing),
            agreement=self.agreements[name].record(),
            causes=tuple(CauseCount(*cause, cycles) for cause, cycles in counts.most_common()),
        )


def compare(
    scenario: Scenario,
    engines: Mapping[str, Engine],
    *,
    mode: Mode = "locked",
    order: str = "input",
    texts: Mapping[str, str] | None = None,
    observer: Observer = SILENT,
) -> Comparison:
    """Schedule the pending pods of *scenario* with each of *engines*, by name; they must be new. The first
    decides the order of pods.

    Raises :class:`~kubeclassic.exceptions.PolicyError` where a pod names a profile that one of them lacks,
    and :class:`~kubeclassic.exceptions.UnknownNameError` for another *mode*.
    """
    if mode not in MODES:
        raise UnknownNameError(f'mode: expected {" or ".join(MODES)}, got "{mode}"')
    for name, engine in engines.items():
        for pod in scenario.pending:
            if engine.algorithm_of(pod) is None:
                raise PolicyError(
                    f'{name}: got no profile "{pod.spec.scheduler_name}", which pod {pod.key} names'
                )
    sides = [
        Side(name, Simulation(scenario, engine, order, details=True)) for name, engine in engines.items()
    ]
    comparison = Comparison(mode, sides, texts or {})
    for step in observer.following(follow(sides, mode), len(scenario.pending)):
        comparison.add(step)
    return comparison


# --- The verdict, and the names of sides --------------------------------------------------------------------


def label(answer: ComparisonDocument, at: int) -> str:
    """The name of a configuration in sentences: its release, where all releases differ; else its name."""
    name = answer.configurations[at].name
    releases = [side.release for side in answer.configurations]
    if len(name) > 1:
        return f"the {name}"
    return releases[at] if len(set(releases)) == len(releases) else name


def side_name(answer: ComparisonDocument, at: int) -> str:
    """A configuration's name, with its release where all releases differ."""
    name = answer.configurations[at].name
    called = label(answer, at)
    return name if len(name) > 1 or name == called else f"{name} ({called})"


def verdict(answer: ComparisonDocument) -> str:
    """The outcome in one sentence: which pods lose their place, and why."""
    if answer.differences:
        return ". ".join([_against(answer, at) for at in range(len(answer.against))])
    if not answer.decisions:
        return NOTHING_TRIED
    all_of = f"All {answer.decisions:,} decisions are" if answer.decisions > 1 else "The only decision is"
    return f"{all_of} the same{in_error(answer.against[0].agreement)}"


def in_error(agreement: AgreementCounts) -> str:
    """The words on equal decisions that say nothing, as they ended in an error on both sides; empty if there
    are none."""
    of_them = " of them" if agreement.decisions > 1 else ""
    return f", but {agreement.errors:,}{of_them} ended in an error on both sides" if agreement.errors else ""


def _against(answer: ComparisonDocument, at: int) -> str:
    """The outcome of pair number *at*: one configuration beside the first."""
    pair = answer.against[at]
    lost = len(pair.lost.pods)
    gained = len(pair.gained.pods)
    first = label(answer, 0)
    second = label(answer, at + 1)
    if not lost and not gained:
        # No pod gains or loses a place: say how many decisions differ.
        agreement = pair.agreement
        moved = len(pair.elsewhere)
        gated = len(pair.gated)
        places = f"The same pods find a place under {first} and {second}"
        if gated:
            return f"{count_of(gated, 'pod is', 'pods are')} gated by {first} or {second}, and placed by the other one"
        if answer.mode != "locked":
            return f"{places}, {f'{moved:,} of them on another node' if moved else 'each on the same node'}"
        counted = ((agreement.different, "different"), (agreement.gated, "gated by one of them"))
        counts = [f"{count_of(count, 'is', 'are')} {text}" for count, text in counted if count]
        if counts:
            return f"{places}; of {agreement.decisions:,} decisions {' and '.join(counts)}"
        others = count_of(agreement.equally_good, "is equally good", "are equally good")
        return f"No decision is different under {second}; {others} for {first}"
    losing = count_of(lost, "loses its place", "lose theirs")
    gaining = count_of(gained, "gains one", "gain one")
    changes = f"{losing} ({reasons_of(pair.lost)}), {gaining}"
    if lost == gained:
        return f"As many pods find a place under {second}, but not the same ones: {changes}"
    word = "more" if gained > lost else "fewer"
    head = f"{count_of(abs(lost - gained), f'pod {word} finds a place', f'pods {word} find a place')} under {second}"
    if lost and gained:
        return f"{head}: {changes}"
    moved_pods = pair.gained if gained else pair.lost
    name = f", {moved_pods.pods[0].pod}" if len(moved_pods.pods) == 1 else ""
    return f"{head}{name}{f'; under {first} there is none' if gained else ''}: {reasons_of(moved_pods)}"


def reasons_of(group: Losses) -> str:
    """The reasons why pods have no place, in words."""
    return for_reasons({reason.reason: reason.pods for reason in group.reasons})
