"""What-if: the question, and its view."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import attrs

from ...api.record import UNSET
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
from ...simulation.explain.explain import find_subject
from ...simulation.explain.values import Explanation
from ...simulation.simulate import Simulation
from ..asking import SILENT, Input, Observer, Result, asked_by
from ..explain.ask import ExplainResult, explain, whole_run, with_all_pods, with_its_end
from ..explain.closeup import close_up_sections, lead_told, paragraphs
from ..explain.options import WhatIfOptions
from ..explain.view import message_parts, of_workload, until, where_to
from .suggestion import COSTLY, Keeps, Suggestion, WhatIfDocument
from .whatif import ScheduledPod, what_would_help

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
    return attrs.evolve(found, explained=explain.ask(fresh, why, SILENT))


def explained_or_helped(
    given: Input, options: WhatIfOptions, observer: Observer
) -> ExplainResult | WhatIfResult:
    """The answer of the command: an explanation, or the changes that would help."""
    return (what_if if options.what_if or options.want is not None else explain).ask(given, options, observer)


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
