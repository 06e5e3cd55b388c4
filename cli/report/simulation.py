"""A simulation for people: where each pod went, who was evicted, how full the nodes are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...api.words import Figure, count_of, percent, rounded, short_name
from ...simulation.simulate import Eviction
from ...simulation.summary import Summary, Usage
from .listing import ListColumn, Path, Record, plain_name
from .prose import wrapped
from .tables import TextTable
from .text import NO_HOST, Cell

POD_FIELDS = (
    "pod", "namespace", "name", "outcome", "host", "error", "tries", "nominated", "victims", "evictedBy", "evictedFrom", "replacement",
    "replaces", "priority", "requests",
)  # fmt: skip
SCORE_FIELDS = ("nodesThatFit", "score")
"""What records of pods have too where decisions keep details."""
NODE_FIELDS = ("node", "pods", "resources")
ALWAYS = ("cpu", "memory")

# --- pods -----------------------------------------------------------------------------------------------------------


def pod_columns(records: Sequence[Record]) -> list[ListColumn]:
    """Each pod's node, and upstream's message where any pod has none, or waits there."""
    found = [ListColumn("pod", ("pod",)), ListColumn("node", ("host",), _host)]
    return [*found, ListColumn("message", ("error",))] if any(record["error"] for record in records) else found


def wide_pod_columns(records: Sequence[Record]) -> list[ListColumn]:
    """As :func:`pod_columns`, with requests, and how many nodes fitted and the score of the chosen one in the pod's last cycle."""
    asked = dict.fromkeys([*ALWAYS, *(name for record in records for name in record["requests"])])
    return [
        ListColumn("pod", ("pod",)),
        ListColumn("node", ("host",), _host),
        ListColumn("priority", ("priority",)),
        *(ListColumn(short_name(name), ("requests", name), _rounded(name)) for name in asked),
        ListColumn("nodes that fit", ("nodesThatFit",)),
        ListColumn("score", ("score",)),
        ListColumn("tries", ("tries",)),
        ListColumn("nominated node", ("nominated",)),
        ListColumn("message", ("error",)),
    ]


def pod_aliases(resources: Iterable[str] = ALWAYS) -> dict[str, Path]:
    """The columns of pods by which ``--sort-by`` can sort -> their fields."""
    found: dict[str, Path] = {plain_name(name): (name,) for name in (*POD_FIELDS, *SCORE_FIELDS)}
    found |= {"node": ("host",), "message": ("error",), "nominated-node": ("nominated",)}
    for resource in resources:
        found |= dict.fromkeys((plain_name(resource), plain_name(short_name(resource))), ("requests", resource))
    return found


def _host(host: str | None) -> str:
    return host or NO_HOST


def _rounded(resource: str) -> Callable[[int | None], Cell]:
    return lambda number: rounded(resource, number or 0)


# --- evictions ------------------------------------------------------------------------------------------------------


def eviction_table(records: Sequence[Record], *, headers: bool = True) -> TextTable:
    """Who had to leave, for whom, from where; and what came in its place, where something did."""
    fields = [("evicted", "pod"), ("by", "by"), ("from", "from"), ("priority", "priority"), ("owner", "owner")]
    if any(record["replacement"] for record in records):
        fields.append(("replaced by", "replacement"))
    return TextTable([header for header, _ in fields], [[record[field] for _, field in fields] for record in records], headers)


def eviction_line(eviction: Eviction) -> str:
    """An eviction in words."""
    again = f"; its owner made {eviction.replacement} in its place" if eviction.replacement else ""
    return f"evicted {eviction.pod.key} from {eviction.node} to make room for {eviction.by}{again}"


# --- nodes ----------------------------------------------------------------------------------------------------------


def node_columns(records: Sequence[Record], *, wide: bool) -> list[ListColumn]:
    """Each node's pods and, of each resource, what is requested and free, and its use, before and after.

    Resources that no pod requests are left out unless *wide*.
    """
    columns = [ListColumn("node", ("node",)), ListColumn("pods", ("pods", "after"), of_record=_pods)]
    columns += [ListColumn("max pods", ("pods", "allocatable"))] if wide else []
    for name in resources_of(records, wide=wide):
        title, path = short_name(name), ("resources", name)
        columns += [ListColumn(title, (*path, "allocatable"), _rounded(name))] if wide else []
        columns += [
            ListColumn(f"{title} requested", path, _rounded_if_there(name, "requested")),
            ListColumn(f"{title} free", path, _rounded_if_there(name, "free")),
            ListColumn(f"{title} use", path, _use),
        ]
    return columns


def resources_of(records: Sequence[Record], *, wide: bool = True) -> list[str]:
    """The resources of *records* of nodes; without *wide*, those that pods request, and cpu and memory."""
    found: dict[str, bool] = {}
    for record in records:
        for name, amounts in record["resources"].items():
            used = amounts["requested"] or amounts["requestedBefore"] or name in ALWAYS
            found[name] = found.get(name, False) or bool(used)
    return [name for name, used in found.items() if used or wide]


def node_aliases(resources: Iterable[str] = ALWAYS) -> dict[str, Path]:
    """The columns of nodes by which ``--sort-by`` can sort -> their fields."""
    found: dict[str, Path] = {"node": ("node",), "name": ("node",), "pods": ("pods", "after"), "max-pods": ("pods", "allocatable")}
    for resource in resources:
        for title in dict.fromkeys((plain_name(resource), plain_name(short_name(resource)))):
            found[title] = ("resources", resource, "allocatable")
            found |= {f"{title}-{word}": ("resources", resource, word) for word in ("requested", "free", "use")}
    return found


def _pods(record: Record) -> Cell:
    before, after = record["pods"]["before"], record["pods"]["after"]
    return Figure(f"{after:,}" if before == after else f"{before:,} -> {after:,}")


def _rounded_if_there(resource: str, field: str) -> Callable[[Mapping[str, Any] | None], Cell]:
    def cell(amounts: Mapping[str, Any] | None) -> Cell:
        has_any = amounts is not None and (amounts["allocatable"] or amounts["requested"])
        return rounded(resource, amounts[field]) if amounts is not None and has_any else None

    return cell


def _use(amounts: Mapping[str, Any] | None) -> Cell:
    if amounts is None or amounts["use"] is None:
        return None
    before, after = percent(amounts["useBefore"]), percent(amounts["use"])
    return after if before == after else Figure(f"{before} -> {after}")


# --- the summary ----------------------------------------------------------------------------------------------------


def summary_text(summary: Summary, width: int | None = None) -> str:
    """The counts in sentences, and a table of resources."""
    told = wrapped([*summary_lines(summary), *passed_over_text(summary.passed_over)], width, "  ")
    return "\n".join([*told, *_resource_table(summary).lines(width)])


def summary_lines(summary: Summary) -> list[str]:
    """The counts in sentences."""
    nodes = count_of(summary.nodes, "node")
    told = [f"{summary.placed:,} of {count_of(summary.pods, 'pod')} placed on {nodes}", f"{summary.unschedulable:,} unschedulable"]
    if summary.waiting:
        told.append(f"{summary.waiting:,} waiting for plugins that permit the binding")
    if summary.gated:
        told.append(f"{summary.gated:,} held back and not tried")
    lines = [", ".join(told) if summary.pods else f"no pod waits for a node; {nodes}"]
    if summary.evicted:
        lines.append(f"{count_of(summary.evicted, 'pod')} evicted to make room")
    if summary.replaced:
        lines[-1] += f"; their owners made {count_of(summary.replaced, 'new pod')}, tried after the others"
    return lines


def passed_over_text(passed_over: Mapping[str, int]) -> list[str]:
    """A line on what was ignored, if anything was."""
    told = ", ".join(f"{count} {why}" for why, count in passed_over.items())
    return [f"passed over: {told}"] if told else []


def _resource_table(summary: Summary) -> TextTable:
    headers = ["resource", "requested", "allocatable", "use", "emptiest node", "fullest node"]
    return TextTable(headers, [_usage_row(usage) for usage in summary.resources])


def _usage_row(usage: Usage) -> list[Cell]:
    sums = [rounded(usage.resource, usage.requested), rounded(usage.resource, usage.allocatable)]
    return [usage.resource, *sums, percent(usage.use), percent(usage.emptiest), percent(usage.fullest)]
