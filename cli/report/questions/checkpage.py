"""What runs under a Policy or a KubeSchedulerConfiguration: the tables of text, and a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import attrs

from ....algorithmprovider.check import PolicyCheck, RunningPredicate
from ....algorithmprovider.extenders import ExtenderConfig
from ....api.record import as_document
from ....framework.config.fielderrors import ProfileFault
from ....framework.profilecheck import ProfileCheck
from ....framework.releases import find_any_release
from ..page.about import About
from ..page.document import Page, page_html
from ..page.markup import Markup, named, sentence
from ..page.parts import BAD, NEAR, SAME, bullets, card, facts, facts_of, paragraph, plain_table, section
from ..tables import TextTable, wrapped

Check: TypeAlias = "PolicyCheck | ProfileCheck"


@attrs.frozen
class CheckedTable:
    """Rows of what runs."""

    headers: Sequence[str]
    rows: Sequence[Sequence[object]]


def parts_of(report: Check, extenders: Sequence[ExtenderConfig] = ()) -> Iterator[str | CheckedTable]:
    """What runs, in tables and sentences; *extenders*: those of a Policy, in calling order."""
    if isinstance(report, ProfileCheck):
        for profile in report.profiles:
            yield f"pods of {profile.scheduler_name}"
            yield _running("Filter plugin", profile.filters) if profile.filters else "no Filter plugins"
            scores = [[found.name, found.weight] for found in profile.scores]
            yield CheckedTable(["Score plugin", "weight"], scores) if scores else "no Score plugins"
        yield from (f"extender {url}" for url in report.extenders)
        return
    is_classic = find_any_release(report.release).policies is None
    yield _running("predicate" if is_classic else "Filter plugin", report.predicates, report.never_run)
    priorities = [[found.name, found.weight] for found in report.priorities]
    yield CheckedTable(["priority" if is_classic else "Score plugin", "weight"], priorities) if priorities else "no priorities"
    if extenders:
        yield CheckedTable(["extender", "may be ignored"], [[one.name, "yes" if one.ignorable else "no"] for one in extenders])
    everything = "all predicates are checked" if report.check_all else "the first predicate that fails ends a node's check"
    yield f"{everything}; hardPodAffinitySymmetricWeight {report.hard_pod_affinity_weight}"


def _running(called: str, found: Sequence[RunningPredicate], never: Sequence[str] = ()) -> CheckedTable:
    rows: list[list[object]] = [[place, one.name, one.origin] for place, one in enumerate(found, 1)]
    return CheckedTable(["order", called, "from"], [*rows, *([None, name, "never runs"] for name in never)])


def check_text(report: Check, width: int | None, extenders: Sequence[ExtenderConfig] = ()) -> str:
    """What runs, as text."""
    parts = (wrapped([part], width) if isinstance(part, str) else [TextTable(part.headers, part.rows).text(width)]
             for part in parts_of(report, extenders))  # fmt: skip
    return "\n\n".join(line for lines in parts for line in lines)


def faults_of(report: Check) -> list[str]:
    """What the release refuses; what begins with blanks belongs to the one before. Empty if it starts."""
    if isinstance(report, ProfileCheck):
        return [_in_words(fault) for fault in report.faults]
    if report.refused is None:
        return []
    listed = len(report.faults) > 1 or any(fault.got for fault in report.faults)
    told = (": ".join(filter(None, [fault.where, fault.what])) + (f", got {fault.got}" if fault.got else "") for fault in report.faults)
    return [report.refused, *(f"  {text}" for text in told if listed)]


def _in_words(fault: ProfileFault) -> str:
    """Where, what, got and wanted, as far as there are such."""
    parts = [fault.what] + [f"got {fault.got}"] * (fault.got is not None and fault.got not in fault.what)
    parts += [f"wanted {fault.wanted}"] * (fault.wanted is not None)
    return f"{fault.where}: {', '.join(parts)}".removeprefix(": ")


# --- as a page ------------------------------------------------------------------------------------------------------


CARDS = (
    ("predicates.length", "rules turn nodes down", SAME), ("priorities.length", "rules score nodes", SAME),
    ("neverRun.length", "are accepted and never run", BAD), ("profiles.length", "profiles", SAME), ("extenders.length", "extenders", NEAR),
    ("faults.length", "faults", BAD),
)  # fmt: skip


def check_html(report: Check, about: About, extenders: Sequence[ExtenderConfig] = ()) -> str:
    """The *report* on the first input of *about* as a page."""
    faults, name = faults_of(report), named(about.inputs[0])
    verdict = sentence(named(report.release), " starts with ", name, ".")
    sections = [section("What to look at", bullets(map(named, report.warnings)))] if report.warnings else []
    if faults:
        verdict = sentence(named(report.release), " refuses ", name, ": ", named(faults[0]))
        sections.append(section("Why it is refused", bullets(map(named, faults))))
    else:
        sections.append(section("What runs", *map(_html, parts_of(report, extenders))))
    return page_html(Page("kubeclassic policy check", verdict, about, sections, _lead(report)))


def _lead(report: Check) -> Markup:
    """How much runs."""
    record = as_document(report)
    return facts(*facts_of(record, [shown for shown in CARDS if shown[0].partition(".")[0] in record], ()))


def _html(part: str | CheckedTable) -> Markup:
    return paragraph(named(part)) if isinstance(part, str) else card("", plain_table(part.headers, part.rows))
