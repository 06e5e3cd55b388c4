"""What-if: the search for changes that help a pod, the question, and its view."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, groupby, islice, takewhile
from typing import Any

import attrs

from ...algorithmprovider.gates import keeps_priorities
from ...api.objects import Node, Pod
from ...api.record import UNSET, replace
from ...api.view import (
    BulletList,
    CodeText,
    Item,
    NextStep,
    Paragraph,
    Part,
    Section,
    Table,
    View,
    Words,
    block,
    on_page,
)
from ...api.words import count_of, listed, rounded
from ...core.decision import Decision
from ...core.run import Run
from ...framework.schedulerspec import SchedulerSpec
from ...simulation.edits import Edits, applied
from ...simulation.explain.explain import (
    Subject,
    begun_without_node,
    explain,
    find_subject,
    freed,
    missing_in,
)
from ...simulation.explain.values import Explanation, ExplanationDocument
from ...simulation.fieldchanges import EditError
from ...simulation.input import SILENT, Observer
from ...simulation.simulate import Scenario, Simulation
from ..asking import Input, Result, asked_by
from ..explain.ask import ExplainResult, whole_run, with_all_pods, with_its_end
from ..explain.ask import explain as explaining
from ..explain.closeup import close_up_sections, lead_told, paragraphs
from ..explain.options import WhatIfOptions
from ..explain.view import message_parts, of_workload, until, where_to
from .families import (
    FAMILIES,
    WANTED_FAMILIES,
    Family,
    corrected,
    dropped_gates,
    higher_priority,
    leaving,
    moved_or_deleted,
)
from .suggestion import (
    COSTLY,
    DISTURBS,
    Change,
    Effect,
    Helpful,
    Keeps,
    Suggestion,
    WhatIfContext,
    WhatIfDocument,
)

# --- the search: every family is tried, and results come in the order of how much they disturb --------------


Tell = Callable[[str], None]
FIRSTS = 4
"""How many changes of the pod are tried as the first one."""
SECONDS = 10
"""How many changes of a kind are tried after it."""
SHOWN = 3
"""How many suggestions of a kind there are, unless all are asked for."""
TRIALS = 100
"""How many changes of a kind are tried, unless all are asked for: those of the nodes that are the nearest to
fitting."""


# --- from the beginning -------------------------------------------------------------------------------------


@attrs.define(eq=False)
class Start:
    """A scheduler that knows the cluster, before any pod is tried: whatever is done then is taken back."""

    simulation: Simulation
    run: Run
    pods: Mapping[str, Sequence[Pod]]
    """Node -> its pods, in order."""
    pause: Callable[[], object]

    @classmethod
    def of(cls, simulation: Simulation, pod: Pod, pause: Callable[[], object] = SILENT.pause) -> Start:
        """A new *simulation*, without *pod* if it is on a node."""
        run = begun_without_node(simulation, pod)
        return cls(simulation, run, run.engine.pods_by_node(), pause)

    @contextmanager
    def trying(self) -> Iterator[Run]:
        """A context in which the run goes on."""
        self.run.take_ended()
        try:
            with self.run.savepoint():
                yield self.run
        finally:
            engine = self.run.engine
            feed = self.run.feed
            outer = engine.point
            engine.point = None  # all is as at the start then: there is nothing to undo
            for name, there in engine.pods_by_node().items():
                # Taking back leaves pods in another order than they came; of equal ones the first in order is
                # evicted.
                if [pod.key for pod in there] != [pod.key for pod in self.pods.get(name, ())]:
                    for pod in there:
                        feed.delete(pod)
                    feed.put_all(self.pods[name])
            engine.point = outer

    def whole(self, edits: Edits) -> Simulation:
        """All pods that wait, each at its turn, after *edits* that are made before anything runs. Raises
        :class:`EditError`."""
        given = self.simulation
        objects = (*given.scenario.objects, *given.scenario.pending)
        pairs, _ = edits.pairs(objects, priorities=keeps_priorities(given.engine.gates))
        there = []
        waiting = []
        for item in applied(objects, pairs):
            if isinstance(item, Pod) and not item.spec.node_name:
                waiting.append(item)
            else:
                there.append(item)
        scenario = attrs.evolve(given.scenario, objects=tuple(there), pending=tuple(waiting))
        with self.trying() as run, run.edited(pairs):
            simulation = Simulation(scenario, given.engine, given.order, run=run)
            for _ in simulation.decisions():
                self.pause()
        return simulation


# --- one pod ------------------------------------------------------------------------------------------------


@attrs.frozen
class ScheduledPod:
    """A pod in a scenario, how it is scheduled, and what is wanted for it."""

    scenario: Scenario
    spec: SchedulerSpec
    subject: Subject
    order: str = "input"
    alone: bool = False
    """The pods that come before are not scheduled first."""
    want: str | None = None
    every: bool = False
    """Nothing is left out: each change is tried, and all that help are listed."""
    defaults: bool = True
    observer: Observer = SILENT

    @contextmanager
    def turn(self, start: Start, pod: Pod) -> Iterator[WhatIfContext]:
        """A context at the moment when it is the turn of *pod*."""
        with start.trying() as run:
            others = (
                ()
                if self.alone or pod.spec.node_name
                else takewhile(lambda one: one.key != pod.key, start.simulation.pods())
            )
            for other in others:
                self.observer.pause()
                run.cycle(other)
            asked = freed(pod) if pod.spec.node_name else pod
            engine = run.engine
            there = {one.key: one for one in (*self.scenario.pending, asked, *engine.pods())}
            rest = (
                run.feed.listed(item) or item
                for item in self.scenario.objects
                if not isinstance(item, Node | Pod)
            )
            objects = (*engine.nodes(), *there.values(), *rest)
            priorities = keeps_priorities(engine.gates)
            yield WhatIfContext(
                run, asked, objects, self.defaults, priorities, self.want, pause=self.observer.pause
            )


Found = tuple[Explanation, tuple[Suggestion, ...], int]
"""The decision before any change, with a wanted node all about that one; what helps, and how many decisions
were asked for."""


def what_would_help(asked: ScheduledPod, simulation: Simulation, tell: Tell) -> Found:
    """The changes that would help the pod; *simulation* is a new one of *asked*. *tell* is called with each
    family of changes before it is tried.

    The observer learns of each change that helps as soon as it is found, before it is known what it does to
    the other pods. Raises :class:`~kubeclassic.exceptions.UnknownNameError` if there is no such node as the
    wanted one.
    """
    pod = asked.subject.pod
    question = asked.subject.question(asked.spec.scheduler_names)
    if question["ignored"] is not None:
        return Explanation.of(Decision(pod), simulation.engine.release.version, **question), (), 0
    start = Start.of(simulation, pod, asked.observer.pause)
    with asked.turn(start, pod) as context:
        explanation = explain(context.engine, context.pod, node=asked.want).told(**question)
        explanation = explanation.told(missing=missing_in(asked.scenario, explanation))
        host = explanation.decision.host
        if explanation.answer.missing or (host is not None and asked.want in (None, host)):
            return explanation, (), 0
        context.reports = explanation.answer.nodes
        found = list[Helpful]()
        # Pairs are made when all that help alone are found.
        singles = _suggestions(asked, context, explanation.answer, tell)
        for one in chain(singles, _pairs(context, found, tell)):
            asked.observer.found(one.suggestion)
            found.append(one)
    tell("the other pods")
    once = dict[frozenset[str], Helpful]()
    for one in sorted(found, key=lambda one: one.rank):
        once.setdefault(frozenset(one.suggestion.patch), one)
    seen = list(once.values())
    is_alone = all(other.key == pod.key for other in asked.scenario.pending)
    if seen and not (is_alone or asked.alone or pod.spec.node_name):
        before = start.whole(Edits())
        seen = sorted((_in_whole_run(asked, one, before, start) for one in seen), key=lambda one: one.rank)
    return explanation, tuple(one.suggestion for one in seen), context.tried


def _suggestions(
    asked: ScheduledPod, context: WhatIfContext, found: ExplanationDocument, tell: Tell
) -> Iterator[Helpful]:
    """The suggestions of each family, the smallest changes first."""
    most, trials = (None, None) if asked.every else (SHOWN, TRIALS)
    if found.gated:
        yield from smallest_first(context, dropped_gates, trials, most)
        return
    for word, family in (*(WANTED_FAMILIES if asked.want is not None else ()), *FAMILIES):
        tell(word)
        yield from smallest_first(context, family, trials, most)
    tell("other pods")
    others = (moved_or_deleted(context, *one, place) for place, one in enumerate(leaving(context)[:trials]))
    yield from islice((one for one in others if one is not None), most)
    if found.room is None or asked.want is not None:
        yield from smallest_first(context, higher_priority, trials, 1)


def smallest_first(
    context: WhatIfContext, family: Family, trials: int | None, most: int | None
) -> Iterator[Helpful]:
    """Up to *most* changes of a *family* that help, of its first ones as many as *trials* says."""
    changes = sorted(islice(family(context), trials), key=lambda change: (change.disturbs, change.size))
    return islice((one for change in changes if (one := context.helpful(change)) is not None), most)


# --- two changes together -----------------------------------------------------------------------------------


def _pairs(context: WhatIfContext, found: Sequence[Helpful], tell: Tell) -> Iterator[Helpful]:
    """Two changes together, where no single one helps, or where putting names right is not all."""
    families = [family for _, family in FAMILIES]
    wrong = [] if any(one.change.corrects for one in found) else list(islice(corrected(context), 1))
    of_the_pod = (
        (change for change in family(context) if change.disturbs < DISTURBS["uncordon"])
        for family in families
    )
    if found:
        firsts = wrong
    else:
        firsts = list(islice(chain.from_iterable(islice(changes, 1) for changes in of_the_pod), FIRSTS))
    if firsts:
        tell("two changes together")
    yield from islice(chain.from_iterable(together(context, first, families) for first in firsts), SHOWN)


def together(context: WhatIfContext, first: Change, families: Sequence[Family]) -> Iterator[Helpful]:
    """Pairs that help: *first*, which is about the pod itself, and the smallest second one of each of
    *families*."""
    helpful: list[Helpful] = []
    try:
        with context.after(*first.edits) as after:
            after.reports = explain(context.engine, after.pod, node=context.want).answer.nodes
            for family in families:
                helpful += smallest_first(after, family, SECONDS, 1)
    except EditError:
        return
    context.tried += after.tried
    for found in helpful:
        second = found.change
        kind = max(first.kind, second.kind, key=lambda kind: DISTURBS[kind])
        corrects = first.corrects and DISTURBS[kind] < DISTURBS["uncordon"]
        words = f"{first.words}; and {second.words}"
        edits = (*first.edits, *second.edits)
        both = attrs.evolve(second, kind=kind, words=words, edits=edits, corrects=corrects)
        yield Helpful.of(both, found.suggestion.host, found.suggestion.victims)


# --- all pods -----------------------------------------------------------------------------------------------


def _in_whole_run(asked: ScheduledPod, one: Helpful, before: Simulation, start: Start) -> Helpful:
    """The pods that make room or take the pod's place, the fates of the others, and how many pods of a
    workload find a node."""
    pod = asked.subject.pod
    simulation = start.whole(Edits.parse(one.change.edits, defaults=asked.defaults))
    outcomes = simulation.outcomes
    there = before.outcomes
    was_out, is_out = (
        # The pods without a node at the end, and whether each was evicted.
        {
            **dict.fromkeys(run.evicted, True),
            **{key: end.eviction is not None for key, end in run.outcomes.items() if end.host is None},
        }
        for run in (before, simulation)
    )
    owner = pod.controller
    own = {pod.key, *(key for key, end in there.items() if owner is not None and end.pod.controller == owner)}
    lost = [key for key in is_out if key not in was_out and key != pod.key]
    effect = Effect(
        len(there),
        sum(key not in is_out for key in there),
        sum(key not in was_out for key in there),
        tuple(key for key in lost if not is_out[key]),
        tuple(key for key in lost if is_out[key]),
        tuple(key for key in was_out if key not in is_out and key not in own),
    )
    after = outcomes[pod.key]
    suggestion = replace(one.suggestion, effect=effect)
    if after.eviction is not None:
        suggestion = replace(suggestion, evicted_by=after.eviction.by)
    elif after.host is None:
        earlier = takewhile(lambda key: key != pod.key, outcomes)
        took = (key for key in earlier if outcomes[key].host == suggestion.host != there[key].host)
        suggestion = replace(suggestion, taken_by=next(took, ""))
    elif asked.want is None:
        suggestion = replace(suggestion, host=after.host)
    if not asked.subject.waiting:
        return attrs.evolve(one, suggestion=suggestion)
    gone = {
        key
        for key, found in outcomes.items()
        if found.word not in ("placed", "waiting") and not found.has_successor
    }
    placed = len({other.key for other in asked.subject.pods} - gone)
    is_enough = placed == len(asked.subject.pods)
    return attrs.evolve(one, suggestion=replace(suggestion, placed=placed), is_enough=is_enough)


# --- the question -------------------------------------------------------------------------------------------


GROUPS = {
    1: "Change the pod:",
    2: "Change a node:",
    3: "Change other pods:",
    4: "Add a node:",
    COSTLY: "At a cost: other pods lose their nodes, or this pod does not keep its own:",
}
"""By the group of a suggestion."""


@attrs.frozen(eq=False, repr=False)
class WhatIfResult(Result):
    """The changes that would help a pod."""

    explanation: Explanation
    """The decision before any change; with a wanted node, all about that one."""
    want: str | None
    suggestions: tuple[Suggestion, ...]
    """The changes that help, those that disturb least first."""
    tried: int
    """How many decisions were tried."""
    explained: ExplainResult | None = None
    """Why, for a page."""

    @property
    def host(self) -> str | None:
        """The node that the pod gets without any change; None if it gets none."""
        return self.explanation.decision.host

    @property
    def fits(self) -> bool:
        """Whether the pod gets a node, or the wanted one, without any change."""
        return self.host is not None and self.want in (None, self.host)

    @property
    def ok(self) -> bool:
        """Whether the pod fits, or something helps, and all pods of its workload."""
        count = len(self.explanation.answer.workload_pods)
        fits = self.fits and not self.explanation.answer.evicted_by
        return fits or any(one.placed in (UNSET, count) for one in self.suggestions)

    @property
    def document(self) -> WhatIfDocument:
        answer = self.explanation.answer
        close = answer.close_up
        keeps = None
        if close is not None and not self.fits:
            short = tuple(room for room in close.room if room.missing and not close.fits)
            keeps = Keeps(close.fits, close.reasons, short, close.total, close.against, close.leads)
        own = dict[str, Any](warnings=self.told_warnings(), want=self.want, fits=self.fits, keeps=keeps)
        own |= {"tried": self.tried, "suggestions": self.suggestions}
        shared = {name: getattr(answer, name) for name in WhatIfDocument.__struct_fields__ if name not in own}
        return WhatIfDocument(**shared, **own)

    def _view(self) -> View:
        found = self.explanation.answer
        pod = found.pod
        count = len(self.suggestions)
        start = f"{pod} makes room on {found.room}; " if found.room else f"{pod} finds no node; "
        start = f"{pod} does not get {self.want}; " if self.want and self.host else start
        verdict = f"{start}{found.missing[0] if found.missing else 'no change helps, nor do two together.'}"
        lead: list[Part] = []
        for one in self.suggestions[:1]:
            others = f" {count - 1:,} more{helping(self.suggestions[1:])}" if count > 1 else ""
            verdict = f"{start}{one.change}: then it gets {outcome_of(one)}.{others}"
            lead.append(Words(*(Words(" " * bool(at), _how(text)) for at, text in enumerate(one.patch))))
        if self.explained is not None:
            view = self.explained.view()
            lead += [view.verdict, *view.lead]
        edits = [word for one in self.suggestions[:1] for text in one.patch for word in ("--set", text)]
        columns = "change; patch; host; kind; disturbs; victims; verified; evictedBy; effect"
        rows = [
            [
                one.change,
                one.patch,
                one.host,
                one.kind,
                one.disturbs,
                one.victims,
                one.verified,
                one.evicted_by,
                one.effect.words if one.effect else None,
            ]
            for one in self.suggestions
        ]
        table = Table("suggestions", columns, rows, noun="suggestion", forms="data csv")
        return View(
            verdict=f"The pod gets {self.host or ''} without any change{until(self.explanation.answer)}."
            if self.fits
            else verdict,
            facts={"pod": pod, "host": self.host, "want": self.want, "suggestions": count},
            lead=lead,
            main="suggestions",
            next=[NextStep("See what the first change does to all pods:", ("simulate", *edits))]
            if edits
            else [],
            sections=[*_parts(self), Section(parts=[table]), *self._page_sections()],
        )

    def _page_sections(self) -> Iterator[Section]:
        tried = f"{self.tried:,} decisions were tried."
        if self.suggestions:
            lead = "Least disturbing first. Each was tested when it is the pod's turn; one is enough."
            lists = []
            at = 1
            for group, members in groupby(self.suggestions, key=lambda one: one.group):
                items = [
                    Words(
                        f"{one.change[0].upper()}{one.change[1:]}: then it gets ",
                        outcome_of(one),
                        *(Words(" ", _how(text)) for text in one.patch),
                    )
                    for one in members
                ]
                lists.append(BulletList(items=items, title=GROUPS[group].rstrip(":"), start=at))
                at += len(items)
            yield Section("What would help", [*lists, *on_page(tried)], lead)
        elif not self.fits and not self.explanation.answer.missing:
            yield Section(
                "What would help", on_page(f"No change helps, nor do two together: {tried}", look="note")
            )
        if self.explained is not None:
            yield from (
                attrs.evolve(one, forms="page") for one in self.explained.sections() if "page" in one.forms
            )


# --- asking -------------------------------------------------------------------------------------------------


@asked_by(WhatIfOptions, "cluster", "pod", "scheduler", what_if=True)
def what_if(given: Input, options: WhatIfOptions, observer: Observer) -> WhatIfResult:
    """Find the smallest changes after which *pod* gets a node; each is tried, and those that disturb least
    come first.

    Where no single one is enough, two together are tried.

    They are tried at the moment when it is the pod's turn: what :func:`~kubeclassic.simulate` tries before it
    is scheduled first.

    >>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    >>> container = {"name": "web", "resources": {"requests": {"cpu": "6"}}}
    >>> found = what_if([node], {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [container]}})
    >>> found.suggestions[0].patch, found.suggestions[0].host
    (('pod default/web requests.cpu=4',), 'a')
    """
    subject = find_subject(given.scenario, options.name, options.namespace)
    observer.ready(given, subject.concerns)
    with observer.telling("trying changes") as tell:
        scenario, subject, alone = with_all_pods(given, subject, options.alone)
        asked = ScheduledPod(
            scenario,
            given.spec,
            subject,
            given.order,
            alone,
            options.want,
            options.every,
            given.defaults,
            observer,
        )
        explanation, suggestions, tried = what_would_help(
            asked, Simulation(scenario, given.engine, given.order), tell
        )
        if not alone:
            explanation = with_its_end(scenario, explanation, lambda: whole_run(given, scenario).finish())
    found = WhatIfResult(explanation, options.want, suggestions, tried, warnings=given.warnings)
    if not options.makes("page"):
        return found
    # Why, on a cluster that no change was tried on.
    fresh = attrs.evolve(given, engine=given.spec.engine(given.scenario.config_maps))
    why = attrs.evolve(options, what_if=False, want=None, node=options.want, every=False)
    return attrs.evolve(found, explained=explaining.ask(fresh, why, SILENT))


def explained_or_helped(
    given: Input, options: WhatIfOptions, observer: Observer
) -> ExplainResult | WhatIfResult:
    """The answer of the command: an explanation, or the changes that would help."""
    return (what_if if options.what_if or options.want is not None else explaining).ask(
        given, options, observer
    )


def helping(found: Sequence[Suggestion]) -> str:
    """The words after the number of the changes *found*."""
    costly = sum(one.is_costly for one in found)
    return f" change{' helps' if len(found) == 1 else 's help'}{f', {costly:,} at a cost' if costly else ''}."


# --- in words -----------------------------------------------------------------------------------------------


def _how(edit: str) -> CodeText:
    """The way to try a change."""
    return CodeText(f"--set {shlex.quote(edit)}")


def _parts(found: WhatIfResult) -> Iterator[Section]:
    """The answer in text: the decision, the obstacles on the wanted node, and the changes."""
    explained = found.explanation.answer
    close = explained.close_up
    first: list[Item] = [Paragraph(where_to(explained), wraps=False)]
    if explained.ignored is not None:
        yield block(*first, Paragraph(explained.not_scheduled, hanging=""))
        return
    first += paragraphs([of_workload(explained) if explained.workload_waiting else ""])
    first += message_parts(found.explanation.decision)
    if found.fits:
        yield block(
            *first,
            *paragraphs(
                [f"It gets {found.host} as it is{until(explained) or ', so nothing has to change'}."]
            ),
        )
        return
    absent = [f"{one.words}: {one.note}." for one in explained.causes if one.absent]
    yield block(*first, *paragraphs([*explained.missing, *absent]))
    if explained.missing:
        return
    if close is not None:
        lines = [f"{close.node} fits and is as good as {found.host}, which won the tie."]
        behind = [lead_told(lead) for lead in close.leads if lead.ahead < 0]
        if not close.fits:
            lines = [f"{close.node} does not fit: {'; '.join(close.reasons)}."]
            for room in close.room:
                if room.missing:
                    missing, needs, free = (
                        rounded(room.resource, number) for number in (room.missing, room.asked, room.free)
                    )
                    lines.append(f"  {missing} {room.resource} more would do (needs {needs}, free {free})")
        elif close.place is None:
            lines = [f"{close.node} fits, but the search had found enough nodes before it came there."]
        elif behind:
            lines = [f"{close.node} fits, but {found.host} is better by: {listed(behind)}."]
        yield block(*paragraphs(lines, "table"))
        yield from (attrs.evolve(part, forms="wide") for part in close_up_sections(explained, close))
    if not found.suggestions:
        yield block(
            *paragraphs([f"No change helps, nor do two together: {count_of(found.tried, 'decision')} tried."])
        )
        return
    told = list[Item]()
    number = 0
    for group, members in groupby(found.suggestions, key=lambda one: one.group):
        told.append(Paragraph(GROUPS[group], wraps=False))
        for one in members:
            number += 1
            line = f"{number:>3}. {one.change[0].upper()}{one.change[1:]} -> {outcome_of(one)}"
            told += [
                Paragraph(line, hanging="     "),
                *(Paragraph(f"     {_how(text)}", wraps=False) for text in one.patch),
            ]
    last = f"(each was tested when it is the pod's turn; {count_of(found.tried, 'decision')})"
    yield block(*told, Paragraph(last, wraps=False))


def outcome_of(one: Suggestion) -> str:
    """The node that the pod gets after a change, and what becomes of it and of others then."""
    told = [one.host]
    if one.victims and not one.effect:  # else the effect says what becomes of all pods
        told.append(f"; {listed(one.victims)} would have to leave")
    if one.evicted_by is not None:
        told.append(f", until {one.evicted_by} preempts it")
    if one.taken_by is not UNSET:
        told.append(f", but {one.taken_by or 'another pod'} would take the room first")
    if one.placed is not UNSET:
        told.append(
            f"; then {count_of(one.placed, 'pod')} of the workload {'finds' if one.placed == 1 else 'find'} a node"
        )
    return "".join(told) + (f"; {one.effect.words}" if one.effect else "")
