"""The lists of ``simulate``: the fields that they can be sorted by, and the forms that other commands do not have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import IO

import attrs

from ...api.record import as_document, plain, replace
from ...api.words import short_name
from ...exceptions import visible
from ...questions.simulate.ask import POD_COLUMNS, PodRecord, ScoredPod, SimulationResult
from ...simulation.nodesbyuse import NodeRecord
from .listing import Path, Sorting, plain_name, write_csv, write_rows


@attrs.frozen(repr=False)
class ListedRecords:
    """The order in which records are listed."""

    sorting: Sorting | None

    @classmethod
    def of(cls, form: str, sort_by: str | None, resources: list[str], *, nodes: bool) -> ListedRecords:
        """What options say; *resources*: those of the nodes.

        Raises :class:`~kubeclassic.exceptions.UnknownNameError` for unknown fields.
        """
        kind = ScoredPod if form == "wide" else PodRecord
        aliases = _node_aliases(resources) if nodes else _pod_aliases(kind, resources)
        fields = (NodeRecord if nodes else kind).__struct_encode_fields__
        return cls(None if sort_by is None else Sorting.parse(sort_by, fields, aliases))

    def sorted(self, found: SimulationResult) -> SimulationResult:
        """*found* with its records in order."""
        if self.sorting is None:
            return found
        if found.options.nodes:
            return attrs.evolve(found, shown_nodes=self.sorting.sorted(found.shown_nodes))
        return attrs.evolve(found, outcome=replace(found.outcome, pods=self.sorting.sorted(found.outcome.pods)))

    def forms(self, found: SimulationResult, *, headers: bool) -> Mapping[str, Callable[[IO[str]], None]]:
        """How *found* is written in forms of its own, as CSV of all fields, and as JSON with a line for each record."""
        listed = found.shown_nodes if found.options.nodes else found.outcome.pods
        return {
            "name": lambda stream: stream.writelines(map(_name_line, listed)),
            "csv": lambda stream: write_csv(plain(listed), stream, headers=headers),
            "json": lambda stream: write_rows(as_document(found.document), stream),
        }


def _name_line(record: NodeRecord | PodRecord) -> str:
    if isinstance(record, NodeRecord):
        return f"{visible(record.node)}\n"
    return "" if record.host is None else f"{visible(f'{record.pod} {record.host}')}\n"


def _pod_aliases(kind: type[PodRecord], resources: list[str]) -> dict[str, Path]:
    """The columns of pods by which ``--sort-by`` can sort -> their fields."""
    fields = dict(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))
    found: dict[str, Path] = {plain_name(name): (name,) for name in fields.values()}
    found |= {plain_name(column.title): (fields[name],) for name, column in POD_COLUMNS if name in fields}
    for resource in resources:
        found |= dict.fromkeys((plain_name(resource), plain_name(short_name(resource))), ("requests", resource))
    return found


def _node_aliases(resources: list[str]) -> dict[str, Path]:
    """The columns of nodes by which ``--sort-by`` can sort -> their fields."""
    found: dict[str, Path] = {"node": ("node",), "name": ("node",), "pods": ("pods", "after"), "max-pods": ("pods", "allocatable")}
    for resource in resources:
        for title in dict.fromkeys((plain_name(resource), plain_name(short_name(resource)))):
            found[title] = ("resources", resource, "allocatable")
            found |= {f"{title}-{word}": ("resources", resource, word) for word in ("requested", "free", "use")}
    return found
