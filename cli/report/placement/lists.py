"""The long lists of a simulation's page: pods, nodes, evictions, cycles."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ....api.view import Column, Table, kind_of
from ....api.words import rounded, short_name
from ....simulation.records import reasons_in
from ..page.parts import BAD, GOOD, HELD, NEAR
from ..simulation import resources_of

Record = dict[str, Any]
OUTCOMES = {"placed": GOOD, "waiting": NEAR, "evicted": NEAR, "gated": HELD, "unschedulable": BAD}
MADE_ROOM, NO_NODE = "makes room", "no node"
RESULTS = {"placed": GOOD, "waiting": NEAR, MADE_ROOM: NEAR, NO_NODE: BAD}
SHOWN = 5
"""That many nodes stand in the details of a pod for each reason, and that many of the best."""


# --- pods -----------------------------------------------------------------------------------------------------------


def pod_table(record: Record) -> Table:
    """Every pod that was tried."""
    pods, last = record["pods"], last_cycles(record)
    resources = list(dict.fromkeys(name for pod in pods for name in pod["requests"]))
    columns = (
        Column("pod", "name"), Column("outcome", "tag", filter=True, colours=OUTCOMES), Column("node", "name"),
        Column("reason", filter=True), *(Column(short_name(name), kind_of(name)) for name in resources),
        Column("priority", "count"), Column("cycle", "count"), Column("namespace", "name", filter=True),
    )  # fmt: skip
    rows = [
        [
            pod["pod"], pod["outcome"], pod["host"], reason_of(pod), *(pod["requests"].get(name) for name in resources), pod["priority"],
            last.get(pod["pod"]), pod["namespace"],
        ]
        for pod in pods
    ]  # fmt: skip
    details = [_pod_details(pod, record["cycles"][last[pod["pod"]] - 1] if pod["pod"] in last else {}) for pod in pods]
    return Table("pods", columns, rows, noun="pod", details=details if any(details) else None)


def last_cycles(record: Record) -> dict[str, int]:
    """Pod -> the number of its last cycle; the first cycle is 1."""
    return {cycle["pod"]: at for at, cycle in enumerate(record["cycles"], 1)}


def reason_of(pod: Record) -> str | None:
    """Why it has no node: what most nodes have against it, or who took its place."""
    if pod["outcome"] == "evicted":
        return "evicted to make room"
    return next(iter(reasons_in(pod["error"]))) if pod["error"] else None


def _pod_details(pod: Record, cycle: Record) -> list[list[str]] | None:
    found = {
        "message": pod["error"], "evicted": ", ".join(pod["victims"]), "evicted by": pod["evictedBy"], "evicted from": pod["evictedFrom"],
        "replaced by": pod["replacement"], "takes the place of": pod["replaces"], "nominated for": pod["nominated"],
        "tries": str(pod["tries"]) if pod["tries"] > 1 else None, **_kept(cycle),
    }  # fmt: skip
    return [[name, text] for name, text in found.items() if text] or None


def _kept(cycle: Record) -> dict[str, str]:
    """What details of a cycle say of nodes: reasons with the nodes that have them, and the best scores."""
    found: dict[str, str] = {}
    against = Counter(reason for reasons in cycle.get("failed", {}).values() for reason in reasons)
    for reason, nodes in against.most_common():
        names = [name for name, reasons in cycle["failed"].items() if reason in reasons]
        found[reason] = f"{nodes:,} of {len(cycle['failed']):,} nodes turned down: {_some(names)}"
    if cycle.get("feasible"):
        found["nodes that fit"] = f"{len(set(cycle['feasible'])):,}: {_some(cycle['feasible'])}"
    for node, total in sorted(cycle.get("scores", {}).items(), key=lambda pair: -pair[1])[:SHOWN]:
        parts = ", ".join(f"{rule} {scores[node]}" for rule, scores in cycle["priorities"].items() if scores.get(node))
        found[f"score of {node}"] = f"{total:,}" + (f" (before weights: {parts})" if parts else "")
    return found


def _some(names: list[str]) -> str:
    shown = list(dict.fromkeys(names))
    return ", ".join(shown[:SHOWN]) + (", ..." if len(shown) > SHOWN else "")


# --- nodes ----------------------------------------------------------------------------------------------------------


def node_table(record: Record) -> Table:
    """Every node that is shown, with its use before and after."""
    nodes = record["nodes"]
    resources = resources_of(nodes, wide=False)
    columns = [Column("node", "name"), Column("pods before", "count"), Column("pods", "count")]
    for name in resources:
        columns += [Column(f"{short_name(name)} use before", "share"), Column(f"{short_name(name)} use", "share")]
        columns.append(Column(f"{short_name(name)} free", kind_of(name)))
    rows = [[node["node"], node["pods"]["before"], node["pods"]["after"], *_amounts(node, resources)] for node in nodes]
    details = [
        [[short_name(name), _in_words(name, amounts)] for name, amounts in node["resources"].items() if amounts["allocatable"]]
        + [["places for pods", f"{node['pods']['after']:,} of {node['pods']['allocatable']:,} taken"]]
        for node in nodes
    ]
    return Table("nodes", columns, rows, noun="node", details=details)


def _amounts(node: Record, resources: list[str]) -> list[Any]:
    return [node["resources"].get(name, {}).get(field) for name in resources for field in ("useBefore", "use", "free")]


def _in_words(name: str, amounts: Record) -> str:
    before, after, has = (rounded(name, amounts[field]) for field in ("requestedBefore", "requested", "allocatable"))
    unit = " cores" if name == "cpu" else ""
    return f"{after} of {has}{unit} requested" + (f", {before} before" if amounts["requestedBefore"] != amounts["requested"] else "")


# --- evictions and cycles -------------------------------------------------------------------------------------------


def eviction_list(record: Record) -> Table:
    """Who had to leave, in order."""
    again = any(one["replacement"] for one in record["evicted"])
    columns = (
        Column("pod that leaves", "name"), Column("for", "name", filter=True), Column("node", "name", filter=True),
        Column("priority", "count"), Column("owner", "name"), *([Column("replaced by", "name")] if again else []),
    )  # fmt: skip
    fields = ("pod", "by", "from", "priority", "owner", *(["replacement"] if again else []))
    return Table("evicted", columns, [[one[field] for field in fields] for one in record["evicted"]], noun="eviction")


def cycle_table(record: Record) -> Table:
    """Every cycle in order."""
    columns = (
        Column("cycle", "count"), Column("pod", "name"), Column("result", "tag", filter=True, colours=RESULTS), Column("node", "name"),
        Column("try", "tag", filter=True), Column("has to leave", "names"), Column("reason", filter=True),
    )  # fmt: skip
    rows = [[at, cycle["pod"], *_result(cycle)] for at, cycle in enumerate(record["cycles"], 1)]
    return Table("cycles", columns, rows, noun="cycle")


def _result(cycle: Record) -> list[Any]:
    plan = cycle["preemption"] or {}
    room = plan.get("node")
    result = "waiting" if cycle.get("waiting") else "placed" if cycle["host"] else MADE_ROOM if room else NO_NODE
    reason = next(iter(reasons_in(cycle["error"]))) if cycle["error"] else None
    return [result, cycle["host"] or room, "again" if cycle["retry"] else "first", plan.get("victims", []) if room else [], reason]
