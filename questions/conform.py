"""Do we decide as the original scheduler did?"""

from __future__ import annotations

import os
import signal
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import active_children
from pathlib import Path

import attrs

from ..api.view import DATA, TEXT, Column, Paragraph, Section, Table, View
from ..exceptions import ManifestError, UnknownNameError
from ..simulation.conform import USUAL, WITHOUT, ConformanceDocument, Family, FamilyReport, Manner, check_family, find_families
from ..simulation.input import SILENT, Observer, paths_of
from .result import Result

COUNTED = ("conforming", "families")
"""What progress says."""


@attrs.frozen(eq=False, repr=False)
class ConformResult(Result):
    """How many cases are identical, by family."""

    reports: tuple[FamilyReport, ...]
    show: int = 0
    """How many cases that differ text shows, field by field."""

    @property
    def document(self) -> ConformanceDocument:
        """The counts, of all families and of each."""
        families = tuple(report.counts for report in self.reports)
        return ConformanceDocument(
            cases=sum(counts.cases for counts in families), identical=sum(counts.identical for counts in families),
            left_out=sum(counts.left_out for counts in families), families=families,
        )  # fmt: skip

    @property
    def ok(self) -> bool:
        """Whether every case that was run is identical."""
        return not self.different

    @property
    def different(self) -> dict[str, list[str]]:
        """Case -> where it differs."""
        return {name: lines for report in self.reports for name, lines in report.different.items()}

    def view(self) -> View:
        found, different = self.document, self.different
        facts = {"families": len(self.reports), "cases": found.cases, "identical": found.identical, "different": len(different)}
        counts = f"{found.identical} identical, {found.left_out} left out, {found.cases - found.identical - found.left_out} different"
        lines = [f"{found.cases} cases: {counts}"]
        for name in list(different)[: self.show]:
            lines += ["", name, *(f"  {line}" for line in different[name])]
        verdict = f"{found.identical:,} of {found.cases:,} cases are identical."
        families, said = _families(self.reports), [Paragraph(line, wraps=False) for line in lines]
        return View(title=type(self).__name__, verdict=verdict, facts=facts, sections=[Section(parts=[families, *said])])


def _families(reports: Sequence[FamilyReport]) -> Table:
    """A row a family."""
    has_decisions, has_steps = any(one.counts.decisions for one in reports), any(one.counts.steps for one in reports)
    entries = "steps" if not has_decisions else "decisions or steps" if has_steps else "decisions"
    columns = [
        Column("release"), Column("family"), Column("cases", "count"), Column(entries, "count", forms=TEXT),
        Column("decisions", "count", forms=DATA), Column("steps", "count", forms=DATA), Column("identical", "count"),
        Column("left out", "count", field="leftOut"), Column("first difference", forms=TEXT),
    ]  # fmt: skip
    rows = []
    for report in reports:
        first, one = next((f"{name}: {lines[0]}" for name, lines in report.different.items()), ""), report.counts
        counts = [one.cases, one.decisions or one.steps, one.decisions, one.steps, one.identical, one.left_out]
        rows.append([one.release, one.family, *counts, first])
    return Table("families", columns, rows, noun="family", several="families")


def conform(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], *, families: Collection[str] | None = None,
    without: Collection[str] = (), details: bool = True, jobs: int = 1,
) -> ConformResult:  # fmt: skip
    """Run conformance cases and compare each answer with the original's.

    :param paths: files of cases, or directories of them.
    :param families: only these (a file's name before its first dot).
    :param without: leave out the cases that need ``policy``, ``preemption`` or ``events``.
    :param details: False: compare only what was decided: host, error, victims.
    :param jobs: how many families run at once.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input.
    """
    for name in without:
        if name not in WITHOUT:
            raise UnknownNameError(f'without: got "{name}", wanted {", ".join(WITHOUT)}')
    return ask(chosen_families([Path(path) for path in paths_of("paths", paths)], families), without, Manner(details=details), jobs)


def chosen_families(paths: Sequence[Path], names: Collection[str] | None) -> list[Family]:
    """The families in *paths* that have one of *names*. Raises :class:`~kubeclassic.exceptions.ManifestError` if there is none."""
    found = [family for family in find_families(paths) if names is None or family.name in names]
    if not found:
        raise ManifestError(f"no family {', '.join(names or ())} in {', '.join(map(str, paths))}")
    return found


def ask(
    families: Sequence[Family], without: Collection[str] = (), manner: Manner = USUAL, jobs: int = 1, observer: Observer = SILENT
) -> ConformResult:
    """Run the cases of *families*, *jobs* of them at once."""
    check, total = partial(check_family, without=tuple(without), manner=manner), len(families)
    if jobs == 1:
        return ConformResult(tuple(observer.following(map(check, families), total, *COUNTED)))
    with ProcessPoolExecutor(jobs, initializer=_end_quietly) as pool:
        try:
            return ConformResult(tuple(observer.following(pool.map(check, families), total, *COUNTED)))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # first: a pool that finds its workers gone complains of what is cancelled
            for process in active_children():
                process.terminate()
            raise


def _end_quietly() -> None:
    """Let a worker leave Ctrl-C to the main process, which then ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
