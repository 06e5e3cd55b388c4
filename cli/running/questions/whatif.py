"""Runs ``kubeclassic explain --what-if``."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import attrs

from ....api.reading.notices import Notice, input_warnings
from ....simulation.explain.subject import find_subject
from ....simulation.simulate import Simulation
from ....simulation.whatif.whatif import ScheduledPod, WhatIf, what_if
from ...answering import DOCUMENT_FORMS, write_answer
from ...console.output import writing
from ...console.progress import telling
from ...declaring.options import ClusterChoice
from ...declaring.outputs import HTML, OptionsError
from ...engines.setup import Setup
from ...notices import write_unread
from ...opening import opened, tell
from ...report.questions.whatif import what_if_lines
from ...report.tables import width_of


@attrs.frozen
class WhatIfOptions:
    """What the command line wants to know, and how it is shown."""

    want: str | None = None
    namespace: str | None = None
    node: str | None = None
    every: bool = False
    alone: bool = False
    form: str = "table"
    output: str | None = None
    verbose: bool = False
    report: str | None = None

    def check(self) -> None:
        """Refuse what does not go together. Raises :class:`~...declaring.outputs.OptionsError`."""
        if self.node is not None:
            raise OptionsError(f"--node: got {self.node} with --what-if or --want, wanted --want {self.node} alone")
        if self.form == HTML or self.report is not None:
            given = "--report" if self.report is not None else "-o html"
            raise OptionsError(f"{given}: got it with --what-if or --want, wanted table, wide, json, yaml or csv, as these have no page")


def run(paths: tuple[Path, ...], name: str, setup: Setup, cluster: ClusterChoice, wanted: WhatIfOptions) -> None:
    """Find out what would help the pod called *name*, write it, and end the process."""
    wanted.check()
    given = opened(paths, cluster, setup)
    scenario = given.scenario
    subject = find_subject(scenario, name, wanted.namespace)
    tell(scenario, given.engine, wanted.verbose)
    asked = ScheduledPod(
        scenario, given.spec, subject.question(given.spec.scheduler_names), cluster.order, wanted.alone,
        wanted.want, wanted.every, not cluster.no_defaults,
    )  # fmt: skip
    with telling("trying changes") as telling_next:
        found = what_if(asked, subject.pod, Simulation(scenario, given.engine, cluster.order), telling_next)
    with writing(wanted.output) as stream:
        _write(found, wanted.form, stream, scenario.warnings)
    sys.exit(0 if found.is_yes else 1)


def _write(found: WhatIf, form: str, stream: IO[str], warnings: Sequence[Notice]) -> None:
    if form == "csv":
        _write_csv(found, stream)
    elif form in DOCUMENT_FORMS:
        write_answer(form, found.document(input_warnings(warnings)), stream)
    else:
        stream.writelines(f"{line}\n" for line in what_if_lines(found, width_of(stream), wide=form == "wide"))
        write_unread(warnings, stream, width_of(stream))


def _write_csv(found: WhatIf, stream: IO[str]) -> None:
    """One line a suggestion."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["change", "patch", "host", "kind", "disturbs", "victims", "verified", "evictedBy"])
    for one in found.suggestions:
        writer.writerow([one.change, ";".join(one.patch), one.host, one.kind, one.disturbs, ";".join(one.victims), "true", one.evicted_by])
