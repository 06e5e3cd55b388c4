"""The lists of ``simulate``: the fields that they can be sorted by, and the forms that other commands do not
have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import IO

import attrs

from ...api.objects import json_names
from ...api.record import as_document, plain, replace
from ...api.words import short_name
from ...exceptions import visible
from ...questions.simulate.ask import SimulationResult
from ...questions.simulate.pods import POD_COLUMNS, PodRecord, ScoredPod
from ...simulation.nodesbyuse import NodeRecord
from .listing import Sorting, plain_name, write_csv, write_rows


def sorting_of(form: str, sort_by: str | None, resources: list[str], *, nodes: bool) -> Sorting | None:
    """The order in which records are listed, as options say it; *resources*: those of the nodes.

    Raises :class:`~kubeclassic.exceptions.UnknownNameError` for unknown ones.
    """
    if sort_by is None:
        return None
    kind = NodeRecord if nodes else ScoredPod if form == "wide" else PodRecord
    fields = json_names(kind)
    # The columns by which ``--sort-by`` can sort -> their fields.
    found = {
        "node": ("node",),
        "name": ("node",),
        "pods": ("pods", "after"),
        "max-pods": ("pods", "allocatable"),
    }
    if not nodes:
        found = {plain_name(name): (name,) for name in fields.values()}
        columns = (one for one in POD_COLUMNS if one.name in fields)
        found |= {plain_name(column.title): (fields[column.name],) for column in columns}
    for resource in resources:
        for title in (plain_name(resource), plain_name(short_name(resource))):
            found[title] = ("resources", resource, "allocatable") if nodes else ("requests", resource)
            for word in ("requested", "free", "use") if nodes else ():
                found[f"{title}-{word}"] = ("resources", resource, word)
    return Sorting.parse(sort_by, found)


def listed_by(sorting: Sorting | None, found: SimulationResult) -> SimulationResult:
    """*found* with its records in order."""
    if sorting is None:
        return found
    if found.options.nodes:
        return attrs.evolve(found, shown_nodes=sorting.sorted(found.shown_nodes))
    return attrs.evolve(found, outcome=replace(found.outcome, pods=sorting.sorted(found.outcome.pods)))


def forms_of(found: SimulationResult, *, headers: bool) -> Mapping[str, Callable[[IO[str]], None]]:
    """The forms of *found* alone: CSV of all fields, and JSON with a line for each record."""
    listed = found.shown_nodes if found.options.nodes else found.outcome.pods

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
        "csv": lambda stream: write_csv(plain(listed), stream, headers=headers),
        "json": lambda stream: write_rows(as_document(found.document), stream),
    }
