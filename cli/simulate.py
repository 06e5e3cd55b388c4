"""``kubeclassic simulate``: records, one decision a line as it is taken, and the outcome on standard
error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import IO, Any

import attrs

from ..api.objects import Pod, json_names
from ..api.record import as_document, plain, replace
from ..core.pods import PODS
from ..exceptions import UnknownNameError, did_you_mean, visible
from ..questions.simulate.ask import SimulationResult, SimulationRun
from ..questions.simulate.pods import POD_COLUMNS, PodRecord, ScoredPod
from ..simulation.input import SILENT
from ..simulation.nodesbyuse import ALWAYS, NodeRecord, titles_of
from ..simulation.simulate import Scenario
from .answering import Console, answer, page_of, tell_unread, write_report
from .commands import Asking
from .console.output import note, note_lines, writing
from .report.tables import Sorting, plain_name, view_lines, width_of, write_csv, write_rows

# --- the fields that lists can be sorted by, and forms that other commands do not have ----------------------


def sorting_of(form: str, sort_by: str, scenario: Scenario, *, nodes: bool) -> Sorting:
    """The order in which records of *scenario* are listed, as options say it.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError` for unknown ones.
    """
    kind = NodeRecord if nodes else ScoredPod if form == "wide" else PodRecord
    fields = json_names(kind)
    # The columns by which ``--sort-by`` can sort -> their fields.
    paths = {
        "node": ("node",),
        "name": ("node",),
        "pods": ("pods", "after"),
        "max-pods": ("pods", "allocatable"),
    }
    if not nodes:
        paths = {plain_name(name): (name,) for name in fields.values()}
        columns = (column for column in POD_COLUMNS if column.name in fields)
        paths |= {plain_name(column.title): (fields[column.name],) for column in columns}
    on_nodes = dict.fromkeys(
        name for node in scenario.nodes for name, total in node.status.allocatable.items() if total
    )
    containers = (container for pod in scenario.pending for container in pod.spec.all_containers)
    requested = dict.fromkeys(ALWAYS)
    requested |= dict.fromkeys(name for container in containers for name in container.resources.requests)
    titles = titles_of([*on_nodes, *requested]) | titles_of(on_nodes if nodes else requested)
    titles.pop(PODS, None)
    # What is written as it is, by its full name, and by a short one that no other resource has.
    for called in (str, plain_name, lambda resource: plain_name(titles[resource])):
        for resource in titles:
            name = called(resource)
            path = ("resources", resource, "allocatable") if nodes else ("requests", resource)
            paths.setdefault(name, path)
            for word in ("requested", "free", "use") if nodes else ():
                paths.setdefault(f"{name}-{word}", ("resources", resource, word))
    sorting = Sorting.parse(sort_by, paths)
    field, *rest = sorting.path
    if field == "resources" and rest[0] not in on_nodes:
        raise UnknownNameError(
            f"--sort-by: expected a resource of some node, got {rest[0]}, which no node has"
        )
    return sorting


INNER = ("pods", "requests", "resources")
"""The fields of records with fields of their own, which make several columns of CSV."""


def forms_of(result: SimulationResult, *, headers: bool) -> Mapping[str, Callable[[IO[str]], None]]:
    """The forms of *result* alone: CSV of all fields, and JSON with a line for each record."""
    listed = result.shown_nodes if result.options.nodes else result.outcome.pods
    kind = NodeRecord if result.options.nodes else PodRecord
    # Without a row there are no resources either.
    columns = [name for name in kind.__struct_encode_fields__ if not listed and name not in INNER]

    def write_names(stream: IO[str]) -> None:
        for record in listed:
            name = (
                record.node
                if isinstance(record, NodeRecord)
                else record.host and f"{record.pod} {record.host}"
            )
            stream.write(f"{visible(name)}\n" if name else "")

    return {
        "name": write_names,
        "csv": lambda stream: write_csv(plain(listed), stream, headers=headers, first=columns),
        "json": lambda stream: write_rows(as_document(result.document), stream),
    }


# --- the command --------------------------------------------------------------------------------------------


KEEPS = {"json": "document", "yaml": "document", "html": "page"}
"""Form -> what a result keeps for it, where that has another name."""


def answered(asking: Asking) -> int:
    """Simulate, and print; the exit status."""
    inputs = asking.inputs
    output = asking.output
    options = asking.options
    asking = attrs.evolve(
        asking, options=attrs.evolve(options, forms={KEEPS.get(form, form) for form in options.forms})
    )
    sorting = None
    if options.sort_by is not None:
        sorting = sorting_of(output.form, options.sort_by, inputs.scenario, nodes=options.nodes)
    if output.form == "jsonl":
        # Simulate, and write each decision as it is taken; without progress where its lines are seen.
        run = SimulationRun(asking.inputs, asking.options)
        console = Console(asking.output.verbose)
        run.begin(console)
        with writing(asking.output.file) as stream:
            for decision in run.decisions(SILENT if stream.isatty() else console):
                stream.write(json.dumps(plain(decision.cycle(details=asking.options.details))) + "\n")
        result = run.result()
        write_report(output.report, lambda: page_of(result.view(), asking.about(result)))
    else:
        result = asking.answer()
        if sorting is not None and options.nodes:
            result = attrs.evolve(result, shown_nodes=sorting.sorted(result.shown_nodes))
        elif sorting is not None:
            outcome = replace(result.outcome, pods=sorting.sorted(result.outcome.pods))
            result = attrs.evolve(result, outcome=outcome)
        forms = forms_of(result, headers=not output.no_headers)
        answer(result, output, partial(asking.about, result), unread=False, forms=forms)
    if result.outcomes and not result.outcome.pods:
        note(
            f"no pod to show: {_why_none_shown(options, [outcome.pod for outcome in result.outcomes.values()])}"
        )
    for eviction in result.evictions if output.verbose else ():
        replaced = f"; its owner made {eviction.replacement} in its place" if eviction.replacement else ""
        note(f"evicted {eviction.pod} from {eviction.node} to make room for {eviction.by}{replaced}")
    note_lines(view_lines(result.in_short(), "table", width_of(sys.stderr)))
    tell_unread(inputs.scenario.warnings)
    return 0 if result.ok else 1


def _why_none_shown(options: Any, pods: Sequence[Pod]) -> str:
    """The reason why the lists have none of *pods*, which were tried."""
    namespaces = list(dict.fromkeys(pod.namespace for pod in pods))
    if options.namespace in (None, *namespaces):
        flags = [options.called(name) for name in ("namespace", "selector") if options.has(name)]
        return f"{' and '.join(flags)} choose{'s' * (len(flags) == 1)} none of those that were tried"
    hint = did_you_mean(options.namespace, namespaces)
    return f"-n: got {options.namespace}, but those that were tried are in {', '.join(namespaces[:5])}{', ...' * (len(namespaces) > 5)}{hint}"
