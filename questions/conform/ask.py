"""Conform: the question whether decisions equal those of the original scheduler."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import attrs

from ...api.reading import PathLike
from ...api.view import Paragraph, Section, Table, View
from ...exceptions import ManifestError, did_you_mean
from ...simulation.conform import (
    CaseSettings,
    ConformanceDocument,
    Family,
    FamilyReport,
    check_family,
    find_families,
)
from ...simulation.executors import executor_of, run_on
from ...simulation.input import paths_of
from ..asking import Observer, Result, asked_by
from .options import ConformOptions


@attrs.frozen(eq=False, repr=False)
class ConformResult(Result):
    """The number of identical cases, by family."""

    reports: tuple[FamilyReport, ...]
    show: int = 0
    """How many cases that differ text shows, field by field."""

    @property
    def document(self) -> ConformanceDocument:
        """The counts, of all families and of each."""
        families = tuple(report.counts for report in self.reports)
        return ConformanceDocument(
            cases=sum(counts.cases for counts in families),
            identical=sum(counts.identical for counts in families),
            families=families,
        )

    @property
    def ok(self) -> bool:
        """Whether every case that was run is identical."""
        return not self.different

    @property
    def different(self) -> dict[str, list[str]]:
        """Case -> where it differs."""
        return {name: lines for report in self.reports for name, lines in report.different.items()}

    def _view(self) -> View:
        document = self.document
        different = self.different
        # Cases of two families may have one name.
        count = document.cases - document.identical
        facts = {
            "families": len(self.reports),
            "cases": document.cases,
            "identical": document.identical,
            "different": count,
        }
        lines = [f"{document.cases} cases: {document.identical} identical, {count} different"]
        for name in list(different)[: self.show]:
            lines += ["", name, *(f"  {line}" for line in different[name])]
        verdict = f"{document.identical:,} of {document.cases:,} cases are identical."
        has_decisions = any(report.counts.decisions for report in self.reports)
        has_steps = any(report.counts.steps for report in self.reports)
        entries = "steps" if not has_decisions else "decisions or steps" if has_steps else "decisions"
        columns = f"""
            release
            family
            cases | count
            {entries} | count | text
            decisions | count | data
            steps | count | data
            identical | count
            first difference || text
        """
        rows = []
        for report in self.reports:
            first_difference = next((f"{name}: {lines[0]}" for name, lines in report.different.items()), "")
            tally = report.counts
            numbers = [
                tally.cases,
                tally.decisions or tally.steps,
                tally.decisions,
                tally.steps,
                tally.identical,
            ]
            rows.append([tally.release, tally.family, *numbers, first_difference])
        families = Table("families", columns, rows, noun="family", several="families")
        paragraphs = [Paragraph(line, wraps=False) for line in lines]
        return View(verdict=verdict, facts=facts, sections=[Section(parts=[families, *paragraphs])])


def families_in(paths: PathLike | Iterable[PathLike], options: ConformOptions) -> list[Family]:
    """The families in *paths* that are asked for. Raises :class:`~kubeclassic.exceptions.ManifestError` if
    one of them is not there."""
    places = paths_of("paths", paths)
    families = find_families([Path(path) for path in places])
    known = {family.name for family in families}
    missing = [name for name in options.families if name not in known]
    if missing or not families:
        hint = did_you_mean(missing[0], known) if missing else ""
        raise ManifestError(f"no family {', '.join(missing)} in {', '.join(map(str, places))}{hint}")
    return [family for family in families if not options.families or family.name in options.families]


@asked_by(ConformOptions, "paths", opens=families_in)
def conform(families: Sequence[Family], options: ConformOptions, observer: Observer) -> ConformResult:
    """Run conformance cases and compare each answer with the original's; *paths* are files of cases, or
    directories of them."""
    memory = 0 if options.no_memory else options.memory
    manner = CaseSettings(engine={} if memory is None else {"memory_bytes": memory}, details=options.details)
    check = partial(check_family, manner=manner)
    with executor_of(options.jobs) as executor:
        reports = run_on(executor, check, families)
        results = dict(observer.following(reports, len(families), "conforming", "families"))
    return ConformResult(tuple(results[at] for at in range(len(families))))
