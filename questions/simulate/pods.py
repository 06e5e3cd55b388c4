"""The pods and evictions of a simulation, as data and in tables.

A column of ``simulate`` is a field of :class:`PodRecord` with its entry in :data:`POD_COLUMNS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import attrgetter

import attrs

from ...api.objects import json_names
from ...api.reading import ResultDocument
from ...api.record import UNSET, Count, Names, PodKey, Record, UnsetType, astuple, field
from ...api.view import Amount, Table, columns_of, kind_of
from ...core.decision import CycleRecord, reasons_in
from ...core.engine import Engine
from ...simulation.nodesbyuse import ALWAYS, NodeRecord, NodesByUse, Summary, Usage, titles_of
from ...simulation.reasons import leading
from ...simulation.simulate import Outcome, OutcomeWord, Simulation

MADE_ROOM = "makes room"
NO_NODE = "no node"
RESULTS = {"placed": "good", "waiting": "near", MADE_ROOM: "near", NO_NODE: "bad"}
SHOWN = 5
"""How many nodes the details of a pod name for each reason, and how many of the best."""


class PodRecord(Record):
    """A pod, and its outcome in the end."""

    pod: PodKey
    namespace: str
    name: str
    outcome: OutcomeWord
    """placed: it has a node in the end; evicted: it found a node and lost it; gated: not tried; waiting: it
    has a node, but Permit plugins have not allowed it yet."""
    host: str | None
    """The node that it has in the end."""
    error: str | None
    """Why it has no node, or waits: upstream's last message, or the pod that evicted it."""
    tries: Count
    """How often it was tried: more than 1 if it made room and was tried again."""
    nominated: str | None
    """The nominated node, for a pod without a node in the end."""
    victims: tuple[PodKey, ...]
    """The pods that were evicted for it."""
    evicted_by: PodKey | None
    """The pod that took its place."""
    evicted_from: str | None
    """The node that it lost."""
    replacement: PodKey | None
    """--reschedule-evicted: its replacement."""
    replaces: PodKey | None
    """--reschedule-evicted: the evicted pod that it replaces."""
    priority: int
    requests: Mapping[str, int]
    """Resource -> millicores of cpu, bytes of memory, ephemeral-storage and hugepages, else pieces; resources
    of which it requests none are absent. Below 0 where an amount is more than an int64, as for the
    scheduler."""

    @classmethod
    def of(cls, simulation: Simulation, outcome: Outcome) -> PodRecord:
        """The record of a pod of *simulation*."""
        pod = outcome.pod
        eviction = outcome.eviction
        engine = simulation.engine
        nominated = engine.nominations.node_of(pod) if outcome.host is None and eviction is None else ""
        evicted_by, evicted_from, replacement = (
            (None, None, None) if eviction is None else (eviction.by, eviction.node, eviction.replacement)
        )
        return cls(
            pod.key,
            pod.namespace,
            pod.name,
            outcome.word,
            outcome.host,
            outcome.error,
            outcome.tries,
            nominated or None,
            outcome.victims,
            evicted_by,
            evicted_from,
            replacement,
            outcome.replaces,
            pod.priority,
            {name: number for name, number in engine.template_of(pod).requests.items() if number},
        )

    @property
    def reason(self) -> str | None:
        """The reason why it has no node, in short: the one of most nodes, or that another pod took its
        place."""
        if self.outcome == "evicted":
            return "evicted to make room"
        return next(iter(reasons_in(self.error))) if self.error else None


class ScoredPod(PodRecord):
    """A pod and its outcome, with the columns of wide tables about its last cycle."""

    nodes_that_fit: int | None = None
    score: int | None = None
    """The score of the node that it got."""


OUTCOMES = {"placed": "good", "waiting": "near", "evicted": "near", "gated": "held", "unschedulable": "bad"}
POD_COLUMNS = columns_of(
    """
    pod | name
    outcome | tag | filter page
    node | host | seen data field=host
    reason || filter page
    priority | count | wide page
    requests || wide page
    decision | count | page
    nodes that fit | count | wide field=nodes_that_fit
    score | count | wide
    tries | count | wide
    nominated node | name | wide field=nominated
    namespace | name | filter page
    message || text data field=error
    """,
    OUTCOMES,
)
"""The columns of tables, named by a field of :class:`ScoredPod`, in their order: ``requests`` is a column for
each resource, ``decision`` the number of the pod's last one, and the message is in short tables where any pod
has one. CSV and custom columns have all fields as they are."""


class EvictionRecord(Record):
    """A pod that had to leave."""

    pod: PodKey
    by: PodKey
    """The pod for which it was evicted."""
    node: str = field(name="from")
    """The node."""
    priority: int
    owner: str | None
    """KIND/NAME of its controller; null for a bare pod, which does not come back."""
    replacement: PodKey | None
    """--reschedule-evicted: its replacement."""


class UnplacedPods(Record):
    """Pods that find no node."""

    reason: str
    pods: tuple[PodKey, ...]


class RefusedPod(Record):
    """A running pod that the scheduler would not put on its node now."""

    pod: PodKey
    node: str
    reasons: Names
    """Why, in the scheduler's words."""


class SimulationDocument(ResultDocument, kw_only=True):
    """The outcome of a simulation, also for -o yaml. -n and -l choose among pods, evicted and decisions (with
    --nodes, -l among nodes); the summary is of all."""

    KIND = "Simulation"
    release: str
    """The release that scheduled."""
    pods: Sequence[PodRecord]
    """An entry for each pod that was tried, with its final outcome."""
    evicted: Sequence[EvictionRecord]
    """The pods that had to leave, in order."""
    nodes: Sequence[NodeRecord] | UnsetType = UNSET
    """--nodes: each node before and after."""
    refused: Sequence[RefusedPod] | UnsetType = UNSET
    """--recheck: running pods that their nodes would reject now, before the first decision."""
    decisions: Sequence[CycleRecord] = ()
    """An entry for each decision, in order; a pod that makes room has several."""
    reasons: tuple[UnplacedPods, ...]
    """Pods without a node, by the reason that alone keeps them from most nodes, else by the most frequent
    reason."""
    nodes_by_use_before: NodesByUse
    resources_before: tuple[Usage, ...]
    """As resources of the summary, before the first decision."""
    nodes_by_use: NodesByUse
    summary: Summary


# --- why pods have no node ----------------------------------------------------------------------------------


def unplaced(outcomes: Iterable[Outcome], engine: Engine) -> tuple[UnplacedPods, ...]:
    """The pods that find no node, by their leading reason (see :func:`leading`), that of most pods first."""
    pods_by_reason = dict[str, list[str]]()
    alone_by_template = {}
    for outcome in outcomes:
        if outcome.word != "unschedulable":
            continue
        only: Mapping[str, int] = {}
        if (
            len(outcome.reasons) > 1
        ):  # the reasons that alone keep nodes from the pod; pods of one template share them
            template = engine.template_of(outcome.pod)
            if template not in alone_by_template:
                alone_by_template[template] = engine.only_reasons(outcome.pod)
            only = alone_by_template[template]
        pods_by_reason.setdefault(next(iter(leading(outcome.reasons, only)), ""), []).append(outcome.pod.key)
    return tuple(
        UnplacedPods(reason, tuple(pods))
        for reason, pods in sorted(pods_by_reason.items(), key=lambda pair: -len(pair[1]))
    )


# --- pods ---------------------------------------------------------------------------------------------------


def pod_table(
    document: SimulationDocument, cycles: Sequence[CycleRecord], forms: Collection[str], *, in_text: bool
) -> Table:
    """Every pod that was tried; *cycles*: for a page alone; *forms*: the forms that will be shown."""
    pods = document.pods
    reasons = {pod: group.reason for group in document.reasons for pod in group.pods}
    last = {cycle.pod: at for at, cycle in enumerate(cycles)}
    names = json_names(ScoredPod)
    columns = []
    cells = []
    requests = [*ALWAYS, *(resource for pod in pods for resource in pod.requests)]
    titles = titles_of(requests, [column.title for column in POD_COLUMNS])
    for column in POD_COLUMNS:
        name = column.name
        if set(column.forms).isdisjoint(forms):
            continue
        if name == "requests":
            for resource, title in titles.items():
                page = "page" if any(resource in pod.requests for pod in pods) else "none"
                table = f"{{name}} | amount | wide; {{name}} | {kind_of(resource)} | {page}"
                columns += columns_of(table, name=title)
                cells += [
                    [Amount(resource, pod.requests.get(resource, 0)) for pod in pods],
                    [pod.requests.get(resource) for pod in pods],
                ]
            continue
        if name == "error" and not any(pod.error for pod in pods):
            column = attrs.evolve(column, forms=[form for form in column.forms if form != "table"])
        columns.append(attrs.evolve(column, field=names.get(name, name)))
        if name == "decision":
            cells.append([last.get(pod.pod, -1) + 1 or None for pod in pods])
        elif name == "reason":
            cells.append([reasons.get(pod.pod) or pod.reason for pod in pods])
        else:
            cells.append(list(map(attrgetter(name), pods)))
    details = []
    for pod in pods if "page" in forms else ():
        texts = {
            "message": pod.error,
            "evicted": ", ".join(pod.victims),
            "evicted by": pod.evicted_by,
            "evicted from": pod.evicted_from,
            "replaced by": pod.replacement,
            "takes the place of": pod.replaces,
            "nominated for": pod.nominated,
            "tries": str(pod.tries) if pod.tries > 1 else None,
            **(_node_details(cycles[last[pod.pod]]) if pod.pod in last else {}),
        }
        details.append([[name, text] for name, text in texts.items() if text] or None)
    shown = f"{'text' if in_text else ''} page data"
    return Table(
        "pods",
        columns,
        list(zip(*cells, strict=True)),
        noun="pod",
        details=details if any(details) else None,
        forms=shown,
    )


def _node_details(cycle: CycleRecord) -> dict[str, str]:
    """The details of a cycle about nodes: reasons with the nodes that have them, and the best scores."""
    details = {}
    failed = cycle.failed or {}
    scores = cycle.scores or {}
    priorities = cycle.priorities or {}
    for reason, nodes in Counter(reason for reasons in failed.values() for reason in reasons).most_common():
        details[reason] = (
            f"{nodes:,} of {len(failed):,} nodes turned down: {_first_names([name for name, texts in failed.items() if reason in texts])}"
        )
    if cycle.feasible:
        details["nodes that fit"] = f"{len(set(cycle.feasible)):,}: {_first_names(cycle.feasible)}"
    for node, total in sorted(scores.items(), key=lambda pair: -pair[1])[:SHOWN]:
        parts = ", ".join(f"{rule} {score[node]}" for rule, score in priorities.items() if score.get(node))
        details[f"score of {node}"] = f"{total:,}" + (f" (before weights: {parts})" if parts else "")
    return details


def _first_names(names: Sequence[str]) -> str:
    shown = list(dict.fromkeys(names))
    return ", ".join(shown[:SHOWN]) + (", ..." if len(shown) > SHOWN else "")


# --- evictions and cycles -----------------------------------------------------------------------------------


def eviction_table(evicted: Sequence[EvictionRecord], *, in_text: bool) -> Table:
    """The evictions in order: for which pod, from which node, and the replacement if there is one."""
    is_replaced = any(eviction.replacement for eviction in evicted)
    columns = f"""
        evicted | name
        by | name | filter
        from | name | filter
        priority | count
        owner | name
        replaced by | name | {"seen" if is_replaced else "none"}
    """
    forms = (f"page {'text' if in_text else ''}") if evicted else ""
    return Table("evicted", columns, list(map(astuple, evicted)), noun="eviction", forms=forms)


def cycle_table(cycles: Sequence[CycleRecord]) -> Table:
    """Every cycle in order."""
    columns = columns_of(
        """
        decision | count
        pod | name
        result | tag | filter
        node | name
        try | tag | filter
        has to leave | names
        reason || filter
        """,
        RESULTS,
    )
    rows = []
    for at, cycle in enumerate(cycles, 1):
        room = None if cycle.preemption is None else cycle.preemption.node
        if cycle.waiting is True:
            result = "waiting"
        elif cycle.host:
            result = "placed"
        elif room:
            result = MADE_ROOM
        else:
            result = NO_NODE
        victims = list(cycle.preemption.victims) if cycle.preemption is not None and room else []
        reason = next(iter(reasons_in(cycle.error))) if cycle.error else None
        rows.append(
            [at, cycle.pod, result, cycle.host or room, "again" if cycle.retry else "first", victims, reason]
        )
    return Table("decisions", columns, rows, noun="decision", forms="page")
