"""``kubeclassic.conform``: run cases that the original scheduler answered."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from ...exceptions import ManifestError, UnknownNameError
from ..conform import WITHOUT, Family, FamilyReport, Manner, check_family, find_families
from .given import paths_of
from .results import Result, Table


@attrs.frozen(eq=False, repr=False)
class ConformResult(Result):
    """How many cases are identical, by family."""

    reports: tuple[FamilyReport, ...]

    @property
    def identical(self) -> bool:
        """Whether every case that was run is identical: what the command's exit status says."""
        return all(report.cases == report.identical + report.left_out for report in self.reports)

    @property
    def different(self) -> dict[str, list[str]]:
        """Case -> where it differs."""
        return {name: lines for report in self.reports for name, lines in report.different.items()}

    def record(self) -> dict[str, Any]:
        return {
            "cases": sum(report.cases for report in self.reports),
            "identical": sum(report.identical for report in self.reports),
            "leftOut": sum(report.left_out for report in self.reports),
            "families": [report.record() for report in self.reports],
        }

    def tables(self) -> Mapping[str, Table]:
        columns = ("release", "family", "cases", "cycles", "steps", "identical", "leftOut")
        return {"families": Table(columns, [report.record() for report in self.reports])}

    def facts(self) -> Mapping[str, object]:
        record = self.record()
        return {"families": len(self.reports), "cases": record["cases"], "identical": record["identical"], "different": len(self.different)}

    def verdict(self) -> str:
        record = self.record()
        return f"{record['identical']:,} of {record['cases']:,} cases are identical."


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
    found = [family for family in find_families([Path(path) for path in paths_of("paths", paths)]) if _wanted(family, families)]
    if not found:
        raise ManifestError(f"families: got none of {', '.join(families or ())} in {', '.join(paths_of('paths', paths))}")
    check = partial(check_family, without=tuple(without), manner=Manner(details=details))
    if jobs == 1:
        return ConformResult(tuple(map(check, found)))
    with ProcessPoolExecutor(jobs) as pool:
        return ConformResult(tuple(pool.map(check, found)))


def _wanted(family: Family, names: Collection[str] | None) -> bool:
    return names is None or family.name in names
