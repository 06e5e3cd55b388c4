"""What would help a pod, and why it needs help, on one page: the changes, those that disturb least first, and the whole explanation."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import groupby

from ....questions.explain import ExplainResult
from ....questions.whatif import GROUPS, WhatIfResult, is_edit
from ....simulation.whatif.change import Suggestion
from ..page.about import About
from ..page.document import Page, page_html
from ..page.markup import Markup, Text, code, counted, element, joined, named, sentence, spoken
from ..page.outcome import NextStep
from ..page.parts import Section, card, note, section, soft
from .explainpage import explanation_lead, explanation_sections


def whatif_html(found: WhatIfResult, about: About) -> str:
    """*found*, which has the explanation, as a page."""
    explained = found.explained
    if explained is None:
        raise ValueError("the pod was not explained")
    wanted = f" on {found.found.want}" if found.found.want else ""
    title = f"kubeclassic explain: {explained.decision.pod.key}{wanted}, what would help"
    sections = [*_helping(found), *explanation_sections(explained)]
    lead = explanation_lead(explained)
    return page_html(Page(title, _verdict(found, explained), about, sections, lead, steps=_next(found, about)))


def _verdict(found: WhatIfResult, explained: ExplainResult) -> Markup:
    """Why, and how many changes help."""
    if found.fits or found.found.explanation.missing or not found.suggestions:
        return spoken(found.view().verdict)
    count = len(found.suggestions)
    helps = counted(found.document, "suggestions.length"), " change helps." if count == 1 else " changes help."
    return sentence(spoken(explained.view().verdict), " ", *helps)


def _helping(found: WhatIfResult) -> Iterator[Section]:
    if found.fits or found.found.explanation.missing:
        return
    tried = counted(found.document, "tried")
    if not found.suggestions:
        yield section("What would help", note("No change helps, nor do two together: ", tried, " decisions were tried."))
        return
    cards, at = list[Markup](), 1
    for group, members in groupby(found.suggestions, key=lambda one: one.disturbs // 10):
        lines = list(members)
        cards.append(card(GROUPS[group].rstrip(":"), element("ol", *map(_change, lines), class_="helps", start=str(at))))
        at += len(lines)
    lead = "Those that disturb least first. Each was tried, as the cluster is when it is the pod's turn; one is enough."
    yield section("What would help", *cards, soft(tried, " decisions were tried."), lead=lead)


def _change(one: Suggestion) -> Markup:
    """One change: what it is, where the pod goes then, who has to leave, and how to try it."""
    told_of: list[Text] = [element("b", named(f"{one.change[0].upper()}{one.change[1:]}")), ": then it gets ", named(one.host)]
    if one.victims:
        told_of += ["; ", joined(map(named, one.victims)), " would have to leave"]
    if one.evicted_by is not None:
        told_of += [", until ", named(one.evicted_by), " takes its place"]
    how = (element("div", code(f"--set {shlex.quote(text)}") if is_edit(text) else named(text)) for text in one.patch)
    return element("li", sentence(*told_of), *how)


def _next(found: WhatIfResult, about: About) -> list[NextStep]:
    """How to try the first change on all pods."""
    first = next((one for one in found.suggestions if one.patch and all(map(is_edit, one.patch))), None)
    if first is None:
        return []
    edits = (word for text in first.patch for word in ("--set", text))
    return [NextStep("See what the first change does to all pods:", about.asking("simulate", *edits))]
