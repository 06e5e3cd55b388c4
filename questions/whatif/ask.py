"""The search for changes that help a pod, the question, and its view."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, groupby, islice, takewhile
from typing import Any

import attrs

from ...algorithmprovider.gates import server_rules
from ...api.controlplane import target_node
from ...api.objects import KubeObject, Node, Pod, of_kind
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
from ...simulation.input import SILENT, Observer
from ...simulation.nodekinds import daemons_made
from ...simulation.simulate import Outcome, Scenario, Simulation
from ..asking import Input, Result, asked_by
from ..explain.ask import ExplainResult, whole_run, with_all_pods, with_its_end
from ..explain.ask import explain as explaining
from ..explain.closeup import close_up_sections, lead_text, paragraphs
from ..explain.options import WhatIfOptions
from ..explain.view import message_parts, of_workload, until, where_to
from .families import (
    FAMILIES,
    WANTED_FAMILIES,
    corrected,
    dropped_gates,
    higher_priority,
    leaving,
    moved_or_deleted,
    smallest_first,
    together,
)
from .suggestion import (
    COSTLY,
    DISTURBS,
    Effect,
    HelpfulChange,
    Obstacles,
    Suggestion,
    WhatIfContext,
    WhatIfDocument,
    enough_for_all,
)

# --- the search: every family is tried, and results come in the order of how much they disturb --------------


Tell = Callable[[str], None]
FIRSTS = 4
"""How many changes of the pod are tried at most as the first of two."""
SHOWN = 3
"""How many suggestions a family has at most, unless all are asked for."""
TRIALS = 100
"""How many changes of a family are tried at most, unless all are asked for; nodes nearest to fitting come
first."""
LARGER = 4
"""How many times a node is made larger, if others take the room that it was given."""


# --- from the beginning -------------------------------------------------------------------------------------


@attrs.define(eq=False)
class Start:
    """A scheduler that knows the cluster, before any pod is tried; all later steps are undone."""

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
        """A context in which the run goes on; its end undoes everything."""
        self.run.take_ended()
        try:
            with self.run.savepoint():
                yield self.run
        finally:
            engine = self.run.engine
            feed = self.run.feed
            outer = engine.point
            engine.point = None  # all is as at the start then: there is nothing to undo
            for name, pods in engine.pods_by_node().items():
                # Undoing leaves pods in another order than they came; of equal ones the first in order is
                # evicted.
                if [pod.key for pod in pods] != [pod.key for pod in self.pods.get(name, ())]:
                    for pod in pods:
                        feed.delete(pod)
                    feed.put_all(self.pods[name])
            engine.point = outer

    @contextmanager
    def whole(self, edits: Edits, but: Collection[str] = ()) -> Iterator[Simulation]:
        """A context in which all pending pods have had their turn after *edits*, which are made before
        anything runs, *but* not to some pods. Raises :class:`EditError`."""
        original = self.simulation
        objects = (*original.scenario.objects, *original.scenario.pending)
        server = server_rules(original.engine.release, original.engine.gates)
        pairs, _ = edits.pairs(
            objects, server=server, originals=dict(original.scenario.originals), jobs=original.scenario.jobs
        )
        pairs = [(old, new) for old, new in pairs if not (isinstance(old, Pod) and old.key in but)]
        after = applied(objects, pairs)
        made: Sequence[KubeObject] = ()
        if daemon_sets := original.scenario.daemon_sets:
            known = (*after, *original.scenario.set_aside)
            made = daemons_made(daemon_sets, pairs, known, defaults=edits.defaults, server=server)
            pairs = [*pairs, *((None, item) for item in made)]
        existing = list[KubeObject]()
        waiting = list[Pod]()
        for item in (*after, *made):
            if not isinstance(item, Pod) or item.spec.node_name:
                existing.append(item)
            elif item in made:
                waiting.insert(_place_of(item, waiting, after), item)
            else:
                waiting.append(item)
        scenario = attrs.evolve(original.scenario, objects=tuple(existing), pending=tuple(waiting))
        with self.trying() as run, run.edited(pairs):
            simulation = Simulation(scenario, original.engine, original.order, run=run)
            for _ in simulation.decisions():
                self.pause()
            yield simulation


def _place_of(pod: Pod, waiting: Sequence[Pod], objects: Sequence[KubeObject]) -> int:
    """The place of a new *pod* of a DaemonSet among the pods that wait: in the order of nodes."""
    order = {node.name: at for at, node in enumerate(of_kind(Node, objects))}
    siblings = [at for at, other in enumerate(waiting) if other.controller == pod.controller]
    place = order[target_node(pod) or ""]
    later = (at for at in siblings if order.get(target_node(waiting[at]) or "", -1) > place)
    return next(later, siblings[-1] + 1 if siblings else len(waiting))


# --- one pod ------------------------------------------------------------------------------------------------


@attrs.frozen
class ScheduledPod:
    """A pod in a scenario, the way it is scheduled, and the node that is wanted for it."""

    scenario: Scenario
    spec: SchedulerSpec
    subject: Subject
    order: str = "input"
    alone: bool = False
    """Whether the pods before it are not scheduled first."""
    want: str | None = None
    every: bool = False
    """Whether every change is tried, and all that help are listed."""
    defaults: bool = True
    observer: Observer = SILENT

    @contextmanager
    def turn(self, start: Start, pod: Pod) -> Iterator[WhatIfContext]:
        """A context at the turn of *pod*."""
        with start.trying() as run:
            earlier_pods = (
                ()
                if self.alone or pod.spec.node_name
                else takewhile(lambda waiting: waiting.key != pod.key, start.simulation.pods())
            )
            for earlier in earlier_pods:
                self.observer.pause()
                run.cycle(earlier)
            target = freed(pod) if pod.spec.node_name else pod
            engine = run.engine
            pods_by_key = {item.key: item for item in (*self.scenario.pending, target, *engine.pods())}
            rest = (
                run.feed.listed(item) or item
                for item in self.scenario.objects
                if not isinstance(item, Node | Pod)
            )
            objects = (*engine.nodes(), *pods_by_key.values(), *rest)
            server = server_rules(engine.release, engine.gates)
            yield WhatIfContext(
                run,
                target,
                objects,
                self.defaults,
                server,
                self.want,
                pause=self.observer.pause,
                originals=self.scenario.originals,
            )


HelpFound = tuple[Explanation, tuple[Suggestion, ...], int]
"""The explanation before any change, with a close-up of a wanted node; the suggestions; and how many
decisions were tried."""


def what_would_help(scheduled: ScheduledPod, simulation: Simulation, tell: Tell) -> HelpFound:
    """The changes that would help the pod; *simulation* is a new one of *scheduled*. *tell* is called with
    each family of changes before it is tried.

    The observer learns of each change that helps as soon as it is found, before its effect on the other pods
    is known. Raises :class:`~kubeclassic.exceptions.UnknownNameError` if the wanted node does not exist.
    """
    pod = scheduled.subject.pod
    question = scheduled.subject.question(scheduled.spec.scheduler_names)
    if question["ignored"] is not None:
        return Explanation.of(Decision(pod), simulation.engine.release.version, **question), (), 0
    start = Start.of(simulation, pod, scheduled.observer.pause)
    with scheduled.turn(start, pod) as context:
        explanation = explain(context.engine, context.pod, node=scheduled.want).with_fields(**question)
        explanation = explanation.with_fields(missing=missing_in(scheduled.scenario, explanation))
        host = explanation.decision.host
        if explanation.answer.missing or (host is not None and scheduled.want in (None, host)):
            return explanation, (), 0
        context.reports = explanation.answer.nodes
        helpful = list[HelpfulChange]()
        # Pairs are made when all that help alone are found.
        singles = _suggestions(scheduled, context, explanation.answer, tell)
        for candidate in chain(singles, _pairs(context, helpful, tell)):
            scheduled.observer.found(candidate.suggestion)
            helpful.append(candidate)
    tell("the other pods")
    by_patch = dict[frozenset[str], HelpfulChange]()
    for candidate in sorted(helpful, key=lambda candidate: candidate.rank):
        by_patch.setdefault(frozenset(candidate.suggestion.patch), candidate)
    distinct = list(by_patch.values())
    others = [waiting for waiting in scheduled.scenario.pending if waiting.key != pod.key]
    is_alone = not others and not scheduled.scenario.daemon_sets
    if distinct and not (is_alone or scheduled.alone or pod.spec.node_name):
        with start.whole(Edits()) as before:
            pass
        distinct = sorted(
            (_in_whole_run(scheduled, candidate, before, start) for candidate in distinct),
            key=lambda candidate: candidate.rank,
        )
    return explanation, tuple(candidate.suggestion for candidate in distinct), context.tried


def _suggestions(
    scheduled: ScheduledPod, context: WhatIfContext, answer: ExplanationDocument, tell: Tell
) -> Iterator[HelpfulChange]:
    """The suggestions of each family, the smallest changes first."""
    most, trials = (None, None) if scheduled.every else (SHOWN, TRIALS)
    if answer.gated:
        yield from smallest_first(context, dropped_gates, trials, most)
        return
    for word, family in (*(WANTED_FAMILIES if scheduled.want is not None else ()), *FAMILIES):
        tell(word)
        yield from smallest_first(context, family, trials, most)
    tell("other pods")
    moves = (moved_or_deleted(context, *pair, place) for place, pair in enumerate(leaving(context)[:trials]))
    yield from islice((move for move in moves if move is not None), most)
    if answer.room is None or scheduled.want is not None:
        yield from smallest_first(context, higher_priority, trials, 1)


# --- two changes together -----------------------------------------------------------------------------------


def _pairs(context: WhatIfContext, helpful: Sequence[HelpfulChange], tell: Tell) -> Iterator[HelpfulChange]:
    """Pairs of changes, if no single one helps; otherwise pairs with corrected names, if these alone do not
    help."""
    families = [family for _, family in FAMILIES]
    wrong = [] if any(helper.change.corrects for helper in helpful) else list(islice(corrected(context), 1))
    of_the_pod = (
        (change for change in family(context) if change.disturbs < DISTURBS["uncordon"])
        for family in families
    )
    if helpful:
        firsts = wrong
    else:
        firsts = list(islice(chain.from_iterable(islice(changes, 1) for changes in of_the_pod), FIRSTS))
    if firsts:
        tell("two changes together")
    yield from islice(chain.from_iterable(together(context, first, families) for first in firsts), SHOWN)


# --- all pods -----------------------------------------------------------------------------------------------


def _rolled_out(
    scheduled: ScheduledPod, helpful: HelpfulChange, start: Start, outcomes: Mapping[str, Outcome]
) -> HelpfulChange:
    """*helpful*, with replacements where pods of the controller that have a host by *outcomes* have none
    while those that run stay as they are."""
    owner = scheduled.subject.pod.controller
    everyone = (*scheduled.scenario.objects, *scheduled.scenario.pending)
    siblings = [pod for pod in of_kind(Pod, everyone) if pod.controller == owner]
    running = {pod.key for pod in siblings if pod.node_name}
    if owner is None or not running or not helpful.change.is_of_template:
        return helpful
    edits = Edits.parse(helpful.change.edits, defaults=scheduled.defaults)
    with start.whole(edits, running) as partly:
        fates = partly.outcomes
    waits = (fates[pod.key].host is None and outcomes[pod.key].host for pod in siblings if pod.key in fates)
    return helpful.with_replacements() if any(waits) else helpful


def _taker(key: str, host: str, before: Mapping[str, Outcome], outcomes: Mapping[str, Outcome]) -> str:
    """The pod before *key* that goes to *host* by *outcomes* alone; empty: there is none."""
    hosts = {name: end.host for name, end in before.items()}
    earlier = takewhile(lambda name: name != key, outcomes)
    return next((name for name in earlier if outcomes[name].host == host != hosts.get(name)), "")


def _in_whole_run(
    scheduled: ScheduledPod, helpful: HelpfulChange, before: Simulation, start: Start, trials: int = LARGER
) -> HelpfulChange:
    """*helpful* with its effect on all pods, each at its turn: the fates of the others, the pod that takes
    this one's place or room, and how many pods of a workload find a node.

    Where others would take the room of a larger node, one that is larger still is tried, *trials* times.
    """
    pod = scheduled.subject.pod
    owner = pod.controller
    node = before.engine.node(helpful.suggestion.host)
    more = None
    with start.whole(Edits.parse(helpful.change.edits, defaults=scheduled.defaults)) as simulation:
        outcomes = simulation.outcomes
        is_larger = helpful.change.kind == "allocatable" and len(helpful.change.edits) == 1
        if is_larger and node is not None and outcomes[pod.key].host is None:
            more = enough_for_all(node, simulation.engine, pod)
    if more is not None and trials:
        larger = HelpfulChange.of(more, helpful.suggestion.host)
        found = _in_whole_run(scheduled, larger, before, start, trials - 1)
        if not found.suggestion.is_costly:
            return found
    outcomes_before = before.outcomes
    helpful = _rolled_out(scheduled, helpful, start, outcomes)
    was_out, is_out = (
        # The pods without a node at the end, and whether each was evicted.
        {
            **dict.fromkeys(run.evicted, True),
            **{key: end.eviction is not None for key, end in run.outcomes.items() if end.host is None},
        }
        for run in (before, simulation)
    )
    siblings = {
        pod.key,
        *(key for key, end in outcomes_before.items() if owner is not None and end.pod.controller == owner),
    }
    # A pod that goes is out too, unless its replacement gets a node. A pod that was moved has no turn.
    there = {*outcomes, *(item.key for item in simulation.scenario.objects if isinstance(item, Pod))}
    replacements = {
        key: [
            name
            for name, made in outcomes.items()
            if name not in outcomes_before and made.pod.controller == end.pod.controller is not None
        ]
        for key, end in outcomes_before.items()
        if key not in there
    }
    is_out |= {key: False for key, names in replacements.items() if all(name in is_out for name in names)}
    displaced = [key for key in is_out if key not in was_out and key != pod.key and not replacements.get(key)]
    effect = Effect(
        len(outcomes_before),
        sum(key not in is_out for key in outcomes_before),
        sum(key not in was_out for key in outcomes_before),
        tuple(key for key in displaced if not is_out[key]),
        tuple(key for key in displaced if is_out[key]),
        tuple(key for key in was_out if key not in is_out and key not in siblings),
    )
    after = outcomes[pod.key]
    suggestion = replace(helpful.suggestion, effect=effect)
    if after.eviction is not None:
        suggestion = replace(suggestion, evicted_by=after.eviction.by)
    elif after.host is None or scheduled.want not in (None, after.host):
        taker = _taker(pod.key, suggestion.host, outcomes_before, outcomes)
        suggestion = replace(suggestion, taken_by=taker)
    elif scheduled.want is None:
        suggestion = replace(suggestion, host=after.host)
    if not scheduled.subject.waiting:
        return attrs.evolve(helpful, suggestion=suggestion)
    unplaced = {
        key
        for key, outcome in outcomes.items()
        if outcome.word not in ("placed", "waiting") and not outcome.has_successor
    }
    unplaced |= replacements.keys() & is_out.keys()
    placed = len({member.key for member in scheduled.subject.pods} - unplaced)
    is_enough = placed == len(scheduled.subject.pods)
    return attrs.evolve(helpful, suggestion=replace(suggestion, placed=placed), is_enough=is_enough)


# --- the question -------------------------------------------------------------------------------------------


GROUPS = {
    1: "Change the pod:",
    2: "Change a node:",
    3: "Change other pods:",
    4: "Add a node:",
    COSTLY: "At a cost: other pods lose their nodes, or this pod does not keep its own:",
}
"""Group of a suggestion -> its title."""


@attrs.frozen(eq=False, repr=False)
class WhatIfResult(Result):
    """The changes that would help a pod."""

    explanation: Explanation
    """The decision before any change; with a wanted node, a close-up of it."""
    want: str | None
    suggestions: tuple[Suggestion, ...]
    """The changes that help, those that disturb least first."""
    tried: int
    """How many decisions were tried."""
    explained: ExplainResult | None = None
    """The explanation, for a page."""

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
        """Whether the pod fits and stays, or a change helps, and helps all pods of its workload."""
        count = len(self.explanation.answer.workload_pods)
        fits = self.fits and not self.explanation.answer.evicted_by
        return fits or any(suggestion.placed in (UNSET, count) for suggestion in self.suggestions)

    @property
    def document(self) -> WhatIfDocument:
        answer = self.explanation.answer
        close = answer.close_up
        keeps = None
        if close is not None and not self.fits:
            short = tuple(room for room in close.room if room.missing and not close.fits)
            keeps = Obstacles(close.fits, close.reasons, short, close.total, close.against, close.leads)
        fields = dict[str, Any](warnings=self.told_warnings(), want=self.want, fits=self.fits, keeps=keeps)
        fields |= {"tried": self.tried, "suggestions": self.suggestions}
        shared = {
            name: getattr(answer, name) for name in WhatIfDocument.__struct_fields__ if name not in fields
        }
        return WhatIfDocument(**shared, **fields)

    def _view(self) -> View:
        answer = self.explanation.answer
        pod = answer.pod
        count = len(self.suggestions)
        start = f"{pod} makes room on {answer.room}; " if answer.room else f"{pod} finds no node; "
        start = f"{pod} does not get {self.want}; " if self.want and self.host else start
        verdict = f"{start}{answer.missing[0] if answer.missing else 'no change helps, nor do two together.'}"
        lead: list[Part] = []
        for suggestion in self.suggestions[:1]:
            others = f" {count - 1:,} more{helping(self.suggestions[1:])}" if count > 1 else ""
            verdict = f"{start}{suggestion.change}: then it gets {suggestion.outcome}.{others}"
            lead.append(
                Words(*(Words(" " * bool(at), _edit_text(text)) for at, text in enumerate(suggestion.patch)))
            )
        if self.explained is not None:
            view = self.explained.view()
            lead += [view.verdict, *view.lead]
        edits = [
            word
            for suggestion in self.suggestions[:1]
            for text in suggestion.patch
            for word in ("--set", text)
        ]
        columns = "change; patch; host; kind; disturbs; victims; verified; evictedBy; effect"
        rows = [
            [
                suggestion.change,
                suggestion.patch,
                suggestion.host,
                suggestion.kind,
                suggestion.disturbs,
                suggestion.victims,
                suggestion.verified,
                suggestion.evicted_by,
                suggestion.effect.words if suggestion.effect else None,
            ]
            for suggestion in self.suggestions
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
            sections=[*_text_sections(self), Section(parts=[table]), *self._page_sections()],
        )

    def _page_sections(self) -> Iterator[Section]:
        trials = f"{self.tried:,} decisions were tried."
        if self.suggestions:
            lead = "Least disturbing first. Each was tested when it is the pod's turn; one is enough."
            lists = []
            at = 1
            for group, members in groupby(self.suggestions, key=lambda suggestion: suggestion.group):
                items = [
                    Words(
                        f"{suggestion.change[0].upper()}{suggestion.change[1:]}: then it gets ",
                        suggestion.outcome,
                        *(Words(" ", _edit_text(text)) for text in suggestion.patch),
                    )
                    for suggestion in members
                ]
                lists.append(BulletList(items=items, title=GROUPS[group].rstrip(":"), start=at))
                at += len(items)
            yield Section("What would help", [*lists, *on_page(trials)], lead)
        elif not self.fits and not self.explanation.answer.missing:
            yield Section(
                "What would help", on_page(f"No change helps, nor do two together: {trials}", look="note")
            )
        if self.explained is not None:
            yield from (
                attrs.evolve(section, forms="page")
                for section in self.explained.sections()
                if "page" in section.forms
            )


# --- asking -------------------------------------------------------------------------------------------------


@asked_by(WhatIfOptions, "cluster", "pod", "scheduler", what_if=True)
def what_if(inputs: Input, options: WhatIfOptions, observer: Observer) -> WhatIfResult:
    """Find the smallest changes after which *pod* gets a node; each is tried, and those that disturb least
    come first.

    Where no single one is enough, two together are tried.

    They are tried when it is the pod's turn: pods that :func:`~kubeclassic.simulate` tries before it are
    scheduled first.

    >>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    >>> container = {"name": "web", "resources": {"requests": {"cpu": "6"}}}
    >>> result = what_if([node], {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [container]}})
    >>> result.suggestions[0].patch, result.suggestions[0].host
    (('pod default/web requests.cpu=4',), 'a')
    """
    subject = find_subject(inputs.scenario, options.name, options.namespace)
    observer.ready(inputs, subject.concerns)
    with observer.telling("trying changes") as tell:
        scenario, subject, alone = with_all_pods(inputs, subject, options.alone)
        scheduled = ScheduledPod(
            scenario,
            inputs.spec,
            subject,
            inputs.order,
            alone,
            options.want,
            options.every,
            inputs.defaults,
            observer,
        )
        explanation, suggestions, trials = what_would_help(
            scheduled, Simulation(scenario, inputs.engine, inputs.order), tell
        )
        if not alone:
            explanation = with_its_end(scenario, explanation, lambda: whole_run(inputs, scenario).finish())
    result = WhatIfResult(explanation, options.want, suggestions, trials, warnings=inputs.warnings)
    if not options.makes("page"):
        return result
    # Why, on a cluster that no change was tried on.
    fresh = attrs.evolve(inputs, engine=inputs.spec.engine(inputs.scenario.config_maps))
    explain_options = attrs.evolve(options, what_if=False, want=None, node=options.want, every=False)
    return attrs.evolve(result, explained=explaining.ask(fresh, explain_options, SILENT))


def explained_or_helped(
    inputs: Input, options: WhatIfOptions, observer: Observer
) -> ExplainResult | WhatIfResult:
    """The answer of the command: an explanation, or the changes that would help."""
    return (what_if if options.what_if or options.want is not None else explaining).ask(
        inputs, options, observer
    )


def helping(suggestions: Sequence[Suggestion]) -> str:
    """The words after the number of *suggestions*."""
    costly = sum(suggestion.is_costly for suggestion in suggestions)
    return f" change{' helps' if len(suggestions) == 1 else 's help'}{f', {costly:,} at a cost' if costly else ''}."


# --- in words -----------------------------------------------------------------------------------------------


def _edit_text(edit: str) -> CodeText:
    """The option that makes *edit*, as code."""
    return CodeText(f"--set {shlex.quote(edit)}")


def _text_sections(result: WhatIfResult) -> Iterator[Section]:
    """The answer in text: the decision, the obstacles on the wanted node, and the changes."""
    explained = result.explanation.answer
    close = explained.close_up
    opening: list[Item] = [Paragraph(where_to(explained), wraps=False)]
    if explained.ignored is not None:
        yield block(*opening, Paragraph(explained.not_scheduled, hanging=""))
        return
    opening += paragraphs([of_workload(explained) if explained.workload_waiting else ""])
    opening += message_parts(result.explanation.decision)
    if result.fits:
        yield block(
            *opening,
            *paragraphs(
                [f"It gets {result.host} as it is{until(explained) or ', so nothing has to change'}."]
            ),
        )
        return
    absent = [f"{cause.words}: {cause.note}." for cause in explained.causes if cause.absent]
    yield block(*opening, *paragraphs([*explained.missing, *absent]))
    if explained.missing:
        return
    if close is not None:
        lines = [f"{close.node} fits and is as good as {result.host}, which won the tie."]
        behind = [lead_text(lead) for lead in close.leads if lead.ahead < 0]
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
            lines = [f"{close.node} fits, but {result.host} is better by: {listed(behind)}."]
        yield block(*paragraphs(lines, "table"))
        yield from (attrs.evolve(part, forms="wide") for part in close_up_sections(explained, close))
    if not result.suggestions:
        yield block(
            *paragraphs(
                [f"No change helps, nor do two together: {count_of(result.tried, 'decision')} tried."]
            )
        )
        return
    items = list[Item]()
    number = 0
    for group, members in groupby(result.suggestions, key=lambda suggestion: suggestion.group):
        items.append(Paragraph(GROUPS[group], wraps=False))
        for suggestion in members:
            number += 1
            change = f"{suggestion.change[0].upper()}{suggestion.change[1:]}"
            items += [
                Paragraph(f"{number:>3}. {change} -> {suggestion.outcome}", hanging="     "),
                *(Paragraph(f"     {_edit_text(text)}", wraps=False) for text in suggestion.patch),
            ]
    last = f"(each was tested when it is the pod's turn; {count_of(result.tried, 'decision')})"
    yield block(*items, Paragraph(last, wraps=False))
