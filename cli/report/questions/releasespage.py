"""One pod in two releases as a page: both decisions, what differs and why, and each node that differs."""

from __future__ import annotations

from collections.abc import Iterator

from ....questions.explainreleases import ExplainReleasesResult, place
from ..page.about import About
from ..page.document import Page, page_html
from ..page.markup import Text, counted, named, sentence, spoken
from ..page.parts import card, paragraph, section, soft
from ..page.tables import list_html, short_table


def releases_html(found: ExplainReleasesResult, about: About) -> str:
    """*found* as a page."""
    document, view = found.document, found.view()
    title = f"kubeclassic explain: {document.pod}" + "".join(f", {decision.release}" for decision in document.decisions)
    sections = [section("The two decisions", *_decisions(found), name="decisions")] if document.decisions else []
    if document.causes:
        lead = "Each difference with the change of a release that causes it; the newer release was tried without it."
        sections.append(section("What differs", card("", short_table(view.table("causes"))), lead=lead, name="causes"))
    if document.nodes:
        sections.append(section("Nodes that differ", list_html(view.table("nodes")), name="nodes-that-differ"))
    lead = sentence(soft("Both decide on the same state of the cluster, which the older release makes.")) if document.decisions else ""
    return page_html(Page(title, spoken(view.verdict), about, sections, lead=lead))


def _decisions(found: ExplainReleasesResult) -> Iterator[Text]:
    document = found.document
    for at, decision in enumerate(document.decisions):
        error = f" {decision.error}" if decision.error else ""
        head = (named(f"{decision.release} ({decision.like}), {decision.runs}: "), named(place(decision)), "; ")
        fit, every = counted(document, f"decisions.{at}.fit"), counted(document, "nodeCount")
        yield paragraph(*head, fit, " of ", every, " nodes fit.", named(error))
        if decision.other_patches:
            yield soft(named(f"{decision.other_patches}."))
    if found.why is not None:
        yield paragraph(named(f"{found.why}."))
