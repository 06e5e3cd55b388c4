"""``kubeclassic.conform``: run cases that the original scheduler answered."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import active_children
from pathlib import Path

import attrs

from ..api.view import View, table_of
from ..exceptions import ManifestError, UnknownNameError
from ..simulation.conform import USUAL, WITHOUT, ConformanceDocument, Family, FamilyReport, Manner, check_family, find_families
from ..simulation.input import paths_of
from .result import Result


@attrs.frozen(eq=False, repr=False)
class ConformResult(Result):
    """How many cases are identical, by family."""

    reports: tuple[FamilyReport, ...]

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
        found, columns = self.document, ("release", "family", "cases", "cycles", "steps", "identical", "leftOut")
        facts = {"families": len(self.reports), "cases": found.cases, "identical": found.identical, "different": len(self.different)}
        verdict = f"{found.identical:,} of {found.cases:,} cases are identical."
        families = table_of("families", self.record()["families"], columns)
        return View(title=type(self).__name__, verdict=verdict, facts=facts, tables=[families])



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
    return checked(chosen_families([Path(path) for path in paths_of("paths", paths)], families), without, Manner(details=details), jobs)


def chosen_families(paths: Sequence[Path], names: Collection[str] | None) -> list[Family]:
    """The families in *paths* that have one of *names*. Raises :class:`~kubeclassic.exceptions.ManifestError` if there is none."""
    found = [family for family in find_families(paths) if names is None or family.name in names]
    if not found:
        raise ManifestError(f"no family {', '.join(names or ())} in {', '.join(map(str, paths))}")
    return found


def _unfollowed(steps: Iterable[FamilyReport], total: int) -> Iterable[FamilyReport]:
    return steps


def checked(
    families: Sequence[Family],
    without: Collection[str] = (),
    manner: Manner = USUAL,
    jobs: int = 1,
    following: Callable[[Iterable[FamilyReport], int], Iterable[FamilyReport]] = _unfollowed,
) -> ConformResult:
    """Run the cases of *families*, *jobs* of them at once; *following* counts those that are done."""
    check = partial(check_family, without=tuple(without), manner=manner)
    if jobs == 1:
        return ConformResult(tuple(following(map(check, families), len(families))))
    with ProcessPoolExecutor(jobs, initializer=_end_quietly) as pool:
        try:
            return ConformResult(tuple(following(pool.map(check, families), len(families))))
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
