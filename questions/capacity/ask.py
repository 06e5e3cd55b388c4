"""Capacity: the question, and its view."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import attrs

from ...api.controlplane import NewVolumes, admit, claims_of_volumes
from ...api.load import Loaded, load_documents
from ...api.meaning import zone_of
from ...api.objects import KubeObject, Node, PersistentVolumeClaim, Pod, of_kind
from ...api.reading import Document, Notice
from ...api.view import (
    Amount,
    BulletList,
    Column,
    MapSide,
    NodeMap,
    Paragraph,
    Section,
    Table,
    View,
    block,
    columns_of,
    kind_of,
    on_page,
)
from ...api.words import amount, count_of, listed, quoted, rounded, used_up
from ...core.pods import PODS
from ...simulation.edits import LIKE
from ...simulation.explain.explain import find_subject
from ...simulation.input import Part, parts_of
from ...simulation.nodesbyuse import UNITS, grouped, labels_of, pods_on, titles_of
from ...simulation.simulate import UNPLACED
from ..asking import Input, Observer, Result, asked_by, tell_left_out
from .answer import (
    CapacityDocument,
    CapacityQuestion,
    CopyCount,
    Counting,
    Headroom,
    PendingPods,
    PlacedTemplate,
    Stop,
    asked,
)
from .options import CapacityOptions
from .podtemplates import READ_KINDS

MOST_NODES = 20
"""How many nodes short text lists at most."""
TAKES = "takes copies"
"""The state of a node on the map."""


@attrs.frozen(eq=False, repr=False, slots=False)
class CapacityResult(Result):
    """The copies that fit, their nodes, and what stops the next one."""

    release: str
    counted: CopyCount
    cluster: tuple[Node, ...]
    """The nodes, in the order in which they were given."""
    pods_before: Sequence[Sequence[str]]
    """The pods of the cluster on each node."""
    pods_after: Sequence[Sequence[str]]
    """The same pods once all copies are placed; the copies are not listed."""
    excluded: tuple[str, ...]
    wanted: int | None
    """How many were asked for; None: as many as fit."""

    @property
    def ok(self) -> bool:
        """Whether as many fit as were asked for; without such a number, whether any fits."""
        return self.fits >= (self.wanted or 1)

    @property
    def fits(self) -> int:
        """The number of copies that fit, of all templates together."""
        return sum(self.templates.values())

    @property
    def templates(self) -> dict[str, int]:
        """Template -> how many copies of it fit."""
        return {placed.name: placed.fits for placed in self.counted.placed}

    @cached_property
    def nodes(self) -> dict[str, int]:
        """Node -> copies on it, for nodes that have any; most copies first."""
        total = Counter[str]()
        for placed in self.counted.placed:
            total.update(placed.nodes)
        return dict(total.most_common())

    @cached_property
    def zone_of(self) -> Mapping[str, str]:
        """Node -> its zone, empty where it has none."""
        return {node.name: zone_of(node.labels) for node in self.cluster}

    @property
    def zones(self) -> dict[str, int]:
        """Zone -> copies on its nodes; empty if no node has a zone."""
        counts = Counter(dict.fromkeys(filter(None, self.zone_of.values()), 0))
        for node, number in self.nodes.items() if counts else ():
            counts[self.zone_of.get(node, "")] += number
        return dict(counts)

    @property
    def stop(self) -> Stop:
        """The reason why no more copies fit."""
        return self.counted.stop

    @cached_property
    def titles(self) -> dict[str, str]:
        """Resource -> its title in tables and sentences."""
        requests = (name for placed in self.counted.placed for name in placed.requests)
        return titles_of([*self.counted.after.resources, *requests])

    @cached_property
    def headroom(self) -> tuple[Headroom, ...]:
        """A row for each resource: allocatable, requested before and after, and free after."""
        before = self.counted.before
        after = self.counted.after
        placed = self.counted.placed
        copies = before.copies(placed[0].requests, self.counted.barred) if len(placed) == 1 else {}
        requested = {name: sum(before.requested[at].tolist()) for at, name in enumerate(before.resources)}
        return tuple(
            Headroom(
                name,
                UNITS.get(name, "pieces"),
                sum(after.allocatable[at].tolist()),
                requested.get(name, 0),
                sum(after.requested[at].tolist()),
                sum(after.free[at].tolist()),
                copies.get(name),
            )
            for at, name in enumerate(after.resources)
        )

    @property
    def document(self) -> CapacityDocument:
        counted = self.counted
        return CapacityDocument(
            warnings=self.told_warnings(),
            release=self.release,
            fits=self.fits,
            wanted=self.wanted,
            templates=counted.placed,
            nodes=self.nodes,
            zones=self.zones,
            stop=counted.stop,
            headroom=self.headroom,
            excluded_nodes=self.excluded,
            pending=PendingPods(counted.pending, counted.still_waiting),
            evicted=counted.evicted,
        )

    def _view(self) -> View:
        return View(
            verdict=_verdict(self),
            facts={
                "release": self.release,
                "fits": self.fits,
                "nodes": len(self.nodes),
                "stop": self.stop.message,
            },
            sections=list(_sections(self)),
            main="nodes",
        )


# --- asking -------------------------------------------------------------------------------------------------


def loaded_of(where: str, part: Part, inputs: Input, observer: Observer) -> tuple[str, Loaded]:
    """A file, a manifest or an object as loaded, with words for its source: *where* unless it is a file."""
    if isinstance(part, str | os.PathLike):
        where = os.fspath(part)
        if where.startswith(LIKE):
            return where, Loaded((find_subject(inputs.scenario, where.removeprefix(LIKE)).pod,))
        loaded = inputs.load(part, READ_KINDS)
    elif isinstance(part, KubeObject):
        loaded = Loaded((part,))
    else:
        loaded = load_documents([Document(part, where)], defaults=inputs.defaults, raw_kinds=READ_KINDS)
    observer.noticed(loaded.warnings)
    return where, loaded


def question_of(inputs: Input, options: CapacityOptions, observer: Observer) -> CapacityQuestion:
    """The question about *inputs*. Raises :class:`~kubeclassic.exceptions.KubeclassicError` for options that
    make no question."""
    parts = enumerate(parts_of("pod", options.pod), 1)
    question = asked(
        inputs, options, [loaded_of(f"pod {number}", part, inputs, observer) for number, part in parts]
    )
    claims = [
        claim
        for template in question.templates
        for claim in (*template.claims, *claims_of_volumes(template.pod))
    ]
    if claims:
        volumes = NewVolumes.beside(question.objects)
        for claim in of_kind(PersistentVolumeClaim, admit(claims, question.objects).objects):
            volumes.of(claim)
        observer.noticed(Notice(f"PersistentVolumeClaim {key}", UNPLACED) for key in volumes.unplaced)
    return question


@asked_by(CapacityOptions, "cluster", "pod", "scheduler")
def capacity(inputs: Input, options: CapacityOptions, observer: Observer) -> CapacityResult:
    """Count how many more copies of *pod* fit into *cluster*, one by one as kube-scheduler would place them;
    the cluster does not change.

    Pending pods of the cluster are left out by default.

    >>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    >>> web = {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"resources": {"requests": {"cpu": "1500m"}}}]}}
    >>> capacity(node, web, "1.14")
    <CapacityResult: release 1.14, fits 2, nodes 1, stop 0/1 nodes are available: 1 Insufficient cpu.>
    """
    question = question_of(inputs, options, observer)
    inputs = inputs.with_pods(question.pods)
    # Warnings are about the copied pods; about everything if pending pods come first.
    observer.ready(inputs, None if options.pending_first else {f"Pod {pod.key}" for pod in question.pods})
    tell_left_out(inputs, options, observer)
    with observer.counting(question.limit, "counting", "copies") as progress:
        counted = Counting(question, inputs.engine, lambda done: progress(done, "")).count()
    nodes = question.scenario.nodes
    names = [node.name for node in nodes]
    node_by_pod = {pod.key: pod.spec.node_name for pod in question.scenario.objects if isinstance(pod, Pod)}
    after = pods_on(
        inputs.engine, names, keys={*node_by_pod, *(pod.key for pod in question.scenario.pending)}
    )
    placed = [
        (pod, node) for node, pods in zip(names, after, strict=True) for pod in pods if pod not in node_by_pod
    ]
    before = grouped([*node_by_pod.items(), *placed], names)
    return CapacityResult(
        inputs.release,
        counted,
        tuple(nodes),
        before,
        after,
        question.excluded,
        options.pods,
        warnings=inputs.warnings,
    )


# --- in words -----------------------------------------------------------------------------------------------


def _verdict(result: CapacityResult) -> str:
    """The count in one sentence, with what stops the next copy."""
    fits = result.fits
    requested = result.wanted
    suffix = f" of {' and '.join(map(quoted, result.templates))}"
    if requested is not None and fits >= requested:
        return f"All {requested:,} copies{suffix} fit." if requested > 1 else f"A copy{suffix} fits."
    # What stops the next copy, in a few words.
    stop = result.stop
    prefix = "then " if fits else ""
    if stop.kind == "LimitReached":
        why = ", as many as were to be counted"
    elif stop.shortages and sum(shortage.nodes for shortage in stop.shortages) >= len(result.nodes):
        first_shortage = stop.shortages[0]
        why = f"; {prefix}{result.titles[first_shortage.resource]}{used_up(first_shortage.resource)} on {count_of(first_shortage.nodes, 'node')}"
    elif stop.kind == "Unschedulable" and stop.reasons:
        reason, often = next(iter(stop.reasons.items()))
        why = f"; {prefix}{count_of(often, 'node turns it down: ', 'nodes turn it down: ')}{reason}"
    else:
        why = f"; {prefix}{'no node is left for it' if stop.kind == 'Unschedulable' else 'the API server refuses the next one'}"
    if requested is not None:
        return f"Only {fits:,} of the {requested:,} copies{suffix} fit{why}."
    if not fits:
        return f"No copy{suffix} fits{why}."
    return f"{count_of(fits, 'more copy', 'more copies')}{suffix}{' fit' + 's' * (fits == 1)}{why}."


def _paragraphs(result: CapacityResult) -> Iterator[Paragraph | str]:
    stop = result.stop
    counted = result.counted
    for placed in counted.placed:
        yield Paragraph(f"{placed.name} pod requirements: {_requests_text(placed)}", "wide")
    for placed in counted.placed:
        yield Paragraph(
            f"The cluster can schedule {placed.fits:,} instance(s) of the pod {quoted(placed.name)}.",
            hanging="",
        )
    yield ""
    yield f"Termination reason: {stop.kind}: {stop.message}"
    yield from _stop_lines(result)
    if counted.pending:
        rest = f"; {counted.still_waiting:,} found no node" if counted.still_waiting else ""
        yield f"{count_of(counted.pending, 'pod')} that were pending got a node before the copies{rest}"
    if counted.evicted:
        yield f"{count_of(len(counted.evicted), 'pod')} evicted to make room: {listed(list(counted.evicted))}"
    if result.excluded:
        yield f"Without {count_of(len(result.excluded), 'node')}: {listed(result.excluded)}"


def _sections(result: CapacityResult) -> Iterator[Section]:
    stop = result.stop
    counted = result.counted
    zones = result.zones
    yield block(*_paragraphs(result))
    rows = [[reason, nodes, nodes / max(stop.reasons.values())] for reason, nodes in stop.reasons.items()]
    table = "reason | name; nodes | count; | bar | near"
    reasons = Table("reasons", table, rows, forms="seen" if rows else "")
    several = on_page("A node can have several." if stop.reasons else "")
    lines = BulletList(items=list(_stop_lines(result)))
    yield Section("What stops the next copy", [*on_page(stop.message, look=""), lines, reasons, *several])
    lead = "Room for copies by it alone: how many would fit if no other resource counted, on nodes that take such pods."
    yield Section("What is left", [_headroom_table(result)], lead if len(counted.placed) == 1 else "")
    names = [node.name for node in result.cluster]
    copies = result.nodes
    states = [TAKES if name in copies else "" for name in names]
    words = [count_of(copies[name], "copy", "copies") if name in copies else "" for name in names]
    before = MapSide("before", counted.before.uses(names), result.pods_before)
    after = MapSide("with all copies", counted.after.uses(names), result.pods_after, states, words)
    nodes = NodeMap(names, [before, after], labels_of(result.cluster), {TAKES: "good"}, follows=True)
    rows = [[zone or None, copies, copies / max(1, *zones.values())] for zone, copies in zones.items()]
    table = "zone | name; copies | count; | bar | good"
    by_zone = Table("zones", table, rows, forms="seen" if rows else "", caption="Copies by zone")
    yield Section("Where the copies go", [nodes, by_zone])
    yield Section(parts=[_fullest_table(result)])
    yield Section("Every node", [_nodes_table(result)])
    pair = "pod that has to leave | name; the copy that takes its place | name"
    yield Section(
        "Evicted to make room",
        [Table("evicted", pair, list(counted.evicted.items()), noun="pod", forms="page")],
    )
    requested = (
        f"{template.name} ({template.kind} in namespace {template.namespace}): {_requests_text(template)}"
        for template in counted.placed
    )
    left_out = f"Left out: {', '.join(result.excluded)}" if result.excluded else ""
    yield Section("What a copy requests", [*on_page(*requested, look=""), *on_page(left_out, look="note")])


def _requests_text(placed: PlacedTemplate) -> str:
    """The requests of a copy, exact."""
    return ", ".join(f"{name}: {amount(name, total)}" for name, total in placed.requests.items()) or "nothing"


def _stop_lines(result: CapacityResult) -> Iterator[str]:
    """The resources that have run out, and free amounts that no copy can use."""
    stop = result.stop
    titles = result.titles
    for shortage in stop.shortages:
        names = listed(
            [*shortage.examples, *[""] * (shortage.nodes - len(shortage.examples))], len(shortage.examples)
        )
        rest = f"; {rounded(shortage.resource, shortage.left)} left there in all" if shortage.left else ""
        yield f"{titles[shortage.resource]}{used_up(shortage.resource)} on {count_of(shortage.nodes, 'node')}: {names}{rest}"
    stranded = "Stranded on nodes that lack something else"
    beyond = "Out of reach on nodes that reject the pod"
    for title, amounts in ((stranded, stop.stranded), (beyond, stop.out_of_reach)):
        parts = [
            f"{rounded(name, number)} {titles[name]}" for name, number in amounts.items() if name != PODS
        ]
        if parts:
            yield f"{title}: {', '.join(parts)}"


# --- tables -------------------------------------------------------------------------------------------------


def _headroom_table(result: CapacityResult) -> Table:
    """The rest of each resource; short text has only resources that copies or pods request."""
    columns = f"""
        resource | name | seen
        resource || data
        unit || data
        allocatable | amount
        requested before | amount | field=requestedBefore
        after | amount | field=requested
        | bar | good
        free | amount
        room for copies by it alone | count | field=copies data {"" if len(result.counted.placed) > 1 else "seen"}
    """
    rows = []
    for row in result.headroom:
        name = row.resource
        allocatable, before, after, free = (
            Amount(name, number)
            for number in (row.allocatable, row.requested_before, row.requested, row.free)
        )
        rows.append(
            [
                result.titles[name],
                name,
                row.unit,
                allocatable,
                before,
                after,
                row.requested / max(row.allocatable, 1),
                free,
                row.copies,
            ]
        )
    hidden = {at for at, row in enumerate(result.headroom) if not (row.requested or row.copies is not None)}
    return Table("headroom", columns, rows, forms="seen data", minor=hidden)


def _nodes_table(result: CapacityResult) -> Table:
    """Every node with what is free on it."""
    before = result.counted.before
    after = result.counted.after
    placed = result.counted.placed
    several = placed if len(placed) > 1 else ()
    asked_for = {PODS, *(name for template in placed for name in template.requests)}
    earlier = {name: before.free[at] for at, name in enumerate(before.resources)}
    zones = "" if result.zones else "wide data csv"
    columns = columns_of(f"node | name; zone | name | filter {zones}; copies | count")
    columns += [Column(template.name, "count", forms="page") for template in several]
    for name in after.resources:
        page = "page" if name in asked_for else "none"
        wide = "wide" if name in earlier and earlier[name].any() else "none"
        kind = kind_of(name)
        table = f"""
            {{short}} free before | {kind} | csv {page} field=resources.{{name}}.freeBefore
            {{short}} free | {kind} | {wide}
            {{short}} free after | {kind} | {page}
            {{name}} free | {kind} | data
            {{name}} free | {kind} | csv field=resources.{{name}}.free
        """
        columns += columns_of(table, short=result.titles[name], name=name)
    rows = []
    for at, name in enumerate(after.names):
        row = [
            name,
            result.zone_of.get(name) or None,
            result.nodes.get(name, 0),
            *(template.nodes.get(name, 0) for template in several),
        ]
        for place, resource in enumerate(after.resources):
            free = int(after.free[place, at])
            row += [int(earlier[resource][at]) if resource in earlier else 0, free, free, free, free]
        rows.append(row)
    return Table("nodes", columns, rows, noun="node", sort="-copies", forms="wide page data csv")


def _fullest_table(result: CapacityResult) -> Table:
    """The nodes with most copies."""
    several = result.counted.placed if len(result.counted.placed) > 1 else ()
    columns = [Column(name) for name in ("node", "zone", "copies", *(placed.name for placed in several))]
    rows = [
        [node, result.zone_of.get(node) or None, number, *(placed.nodes.get(node, 0) for placed in several)]
        for node, number in result.nodes.items()
    ]
    return Table(
        "fullest",
        columns,
        rows,
        noun="node with copies",
        several="nodes with copies",
        most=MOST_NODES,
        forms="table" if rows else "",
    )
