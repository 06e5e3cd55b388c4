"""``kubeclassic simulate``: records, one decision a line as it is taken, and the outcome on standard
error."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import attrs

from ..api.objects import Node, Pod
from ..api.record import plain
from ..exceptions import did_you_mean
from ..questions.simulate.ask import SimulationRun
from ..simulation.input import SILENT
from .answering import answer, page_of, tell_unread, write_report
from .commands import Asking
from .console.output import note, note_lines, writing
from .opening import Console
from .report.simulation import forms_of, listed_by, sorting_of
from .report.tables import view_lines, width_of

KEEPS = {"json": "document", "yaml": "document", "html": "page"}
"""Form -> what a result keeps for it, where that has another name."""


def answered(asking: Asking) -> int:
    """Simulate, and print; the exit status."""
    given = asking.given
    output = asking.output
    options = asking.options
    asking = attrs.evolve(
        asking, options=attrs.evolve(options, forms={KEEPS.get(form, form) for form in options.forms})
    )
    nodes = (item for item in given.scenario.objects if isinstance(item, Node))
    resources = list(
        dict.fromkeys(name for node in nodes for name in node.status.allocatable if name != "pods")
    )
    sorting = sorting_of(output.form, options.sort_by, resources, nodes=options.nodes)
    if output.form == "jsonl":
        # Simulate, and write each decision as it is taken; without progress where its lines are seen.
        run = SimulationRun(asking.given, asking.options)
        console = Console(asking.output.verbose)
        run.begin(console)
        with writing(asking.output.file) as stream:
            for decision in run.decisions(SILENT if stream.isatty() else console):
                stream.write(json.dumps(plain(decision.cycle(details=asking.options.details))) + "\n")
        found = run.result()
        write_report(output.report, lambda: page_of(found.view(), asking.about(found)))
    else:
        found = listed_by(sorting, asking.answer())
        forms = forms_of(found, headers=not output.no_headers)
        answer(found, output, partial(asking.about, found), unread=False, forms=forms)
    if found.outcomes and not found.outcome.pods:
        note(f"no pod to show: {_chooses_none(options, [one.pod for one in found.outcomes.values()])}")
    for one in found.evictions if output.verbose else ():
        again = f"; its owner made {one.replacement} in its place" if one.replacement else ""
        note(f"evicted {one.pod} from {one.node} to make room for {one.by}{again}")
    note_lines(view_lines(found.in_short(), "table", width_of(sys.stderr)))
    tell_unread(given.scenario.warnings)
    return 0 if found.ok else 1


def _chooses_none(options: Any, tried: Sequence[Pod]) -> str:
    """The reason why the lists have none of the pods that were *tried*."""
    there = list(dict.fromkeys(pod.namespace for pod in tried))
    if options.namespace in (None, *there):
        flags = [options.called(name) for name in ("namespace", "selector") if options.has(name)]
        return f"{' and '.join(flags)} choose{'s' * (len(flags) == 1)} none of those that were tried"
    near = did_you_mean(options.namespace, there)
    return f"-n: got {options.namespace}, but those that were tried are in {', '.join(there[:5])}{', ...' * (len(there) > 5)}{near}"
