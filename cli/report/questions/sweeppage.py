"""A sweep as a page: which configuration is best in what, and every run."""

from __future__ import annotations

from ....api.words import brief
from ....questions.sweep import SweepResult, winners
from ..page.about import About
from ..page.document import Page, page_html
from ..page.markup import counted, named, number, spoken
from ..page.parts import BAD, card, fact, facts, facts_of, note, plain_table, section
from ..page.tables import list_html


def sweep_html(found: SweepResult, about: About) -> str:
    """*found* as a page."""
    record, view, bests, sections = found.record(), found.view(), found.bests, []
    if view.table("failed").rows:
        sections.append(section("Runs that failed", note("They are in no mean."), list_html(view.table("failed"))))
    if bests:
        rows = [[named(one.objective), brief(one.value), spoken(winners(one.names))] for one in bests]
        table = plain_table(["objective", "best", "of"], rows, "The best in each objective")
        sections.append(section("Which is best in what", card("", table), lead="Over several seeds it is the mean."))
    lead = facts(
        fact(counted(record, "runs.length"), "runs"), fact(number(len(found.compared)), "configurations"),
        fact(counted(record, "objectives.length"), "objectives"), *facts_of(record, (("failed", "runs failed", BAD),), ()),
    )  # fmt: skip
    sections.append(section("Every run", list_html(view.table("runs"))))
    return page_html(Page("kubeclassic sweep", spoken(view.verdict), about, sections, lead=lead))
