"""Capacity: the question, and its view."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import attrs

from ...api.load import Loaded, load_documents
from ...api.meaning import zone_of
from ...api.objects import KubeObject, Node, Pod
from ...api.reading import Document
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
from ...api.words import amount, count_of, listed, quoted, rounded, short_name, used_up
from ...core.pods import PODS
from ...simulation.edits import LIKE
from ...simulation.explain.explain import find_subject
from ...simulation.input import Part, parts_of
from ...simulation.nodesbyuse import UNITS, grouped, labels_of, pods_on
from ..asking import Input, Observer, Result, asked_by, tell_left_out
from .answer import (
    CapacityDocument,
    CapacityQuestion,
    Counted,
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
"""A node of the map."""


@attrs.frozen(eq=False, repr=False, slots=False)
class CapacityResult(Result):
    """The copies that fit, their nodes, and what stops the next one."""

    release: str
    counted: Counted
    cluster: tuple[Node, ...]
    """The nodes, in the order in which they were given."""
    pods_before: Sequence[Sequence[str]]
    """The pods of the cluster on each node."""
    pods_after: Sequence[Sequence[str]]
    """The same with all copies there, which do not count."""
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
        found = Counter(dict.fromkeys(filter(None, self.zone_of.values()), 0))
        for node, number in self.nodes.items() if found else ():
            found[self.zone_of.get(node, "")] += number
        return dict(found)

    @property
    def stop(self) -> Stop:
        """The reason why there are not more."""
        return self.counted.stop

    @cached_property
    def headroom(self) -> tuple[Headroom, ...]:
        """A row a resource: what nodes have of it, what pods request before and after, and what is free
        after."""
        before = self.counted.before
        after = self.counted.after
        placed = self.counted.placed
        copies = before.copies(placed[0].requests, self.counted.barred) if len(placed) == 1 else {}
        requested = {name: int(before.requested[at].sum()) for at, name in enumerate(before.resources)}
        return tuple(
            Headroom(
                name,
                UNITS.get(name, "pieces"),
                int(after.allocatable[at].sum()),
                requested.get(name, 0),
                int(after.requested[at].sum()),
                int(after.free[at].sum()),
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


def loaded_of(where: str, part: Part, given: Input, observer: Observer) -> tuple[str, Loaded]:
    """A file, a manifest or an object, with the words for where it is from: *where* unless it is a file."""
    if isinstance(part, str | os.PathLike):
        where = os.fspath(part)
        if where.startswith(LIKE):
            return where, Loaded((find_subject(given.scenario, where.removeprefix(LIKE)).pod,))
        found = given.load(part, READ_KINDS)
    elif isinstance(part, KubeObject):
        found = Loaded((part,))
    else:
        found = load_documents([Document(part, where)], defaults=given.defaults, raw_kinds=READ_KINDS)
    observer.noticed(found.warnings)
    return where, found


def question_of(given: Input, options: CapacityOptions, observer: Observer) -> CapacityQuestion:
    """The question to *given*. Raises :class:`~kubeclassic.exceptions.KubeclassicError` for what cannot be
    asked."""
    parts = enumerate(parts_of("pod", options.pod), 1)
    return asked(
        given, options, [loaded_of(f"pod {number}", part, given, observer) for number, part in parts]
    )


@asked_by(CapacityOptions, "cluster", "pod", "scheduler")
def capacity(given: Input, options: CapacityOptions, observer: Observer) -> CapacityResult:
    """Count how many more copies of *pod* fit into *cluster*, one by one as kube-scheduler would place them;
    the cluster does not change.

    Pods that wait in it are left out.

    >>> node = {"kind": "Node", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}
    >>> web = {"kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"resources": {"requests": {"cpu": "1500m"}}}]}}
    >>> capacity(node, web, "1.14")
    <CapacityResult: release 1.14, fits 2, nodes 1, stop 0/1 nodes are available: 1 Insufficient cpu.>
    """
    question = question_of(given, options, observer)
    given = given.with_pods(question.pods)
    # Warnings are told about the pods that are copied; about everything if those that wait come first.
    observer.ready(given, None if options.pending_first else {f"Pod {pod.key}" for pod in question.pods})
    tell_left_out(given, options, observer)
    with observer.counting(question.limit, "counting", "copies") as progress:
        counted = Counting(question, given.engine, lambda done: progress(done, "")).count()
    nodes = question.scenario.nodes
    names = [node.name for node in nodes]
    there = {pod.key: pod.spec.node_name for pod in question.scenario.objects if isinstance(pod, Pod)}
    after = pods_on(given.engine, names, known={*there, *(pod.key for pod in question.scenario.pending)})
    placed = [
        (pod, node) for node, pods in zip(names, after, strict=True) for pod in pods if pod not in there
    ]
    before = grouped([*there.items(), *placed], names)
    return CapacityResult(
        given.release,
        counted,
        tuple(nodes),
        before,
        after,
        question.excluded,
        options.pods,
        warnings=given.warnings,
    )


# --- in words -----------------------------------------------------------------------------------------------


def _verdict(found: CapacityResult) -> str:
    """The count in one sentence, with what stops the next copy."""
    fits = found.fits
    wanted = found.wanted
    of = f" of {' and '.join(map(quoted, found.templates))}"
    if wanted is not None and fits >= wanted:
        return f"All {wanted:,} copies{of} fit." if wanted > 1 else f"A copy{of} fits."
    # What stops the next copy, in a few words.
    stop = found.stop
    then = "then " if fits else ""
    if stop.kind == "LimitReached":
        why = ", as many as were to be counted"
    elif stop.shortages and sum(one.nodes for one in stop.shortages) >= len(found.nodes):
        first = stop.shortages[0]
        why = f"; {then}{short_name(first.resource)}{used_up(first.resource)} on {count_of(first.nodes, 'node')}"
    elif stop.kind == "Unschedulable" and stop.reasons:
        reason, often = next(iter(stop.reasons.items()))
        why = f"; {then}{count_of(often, 'node turns it down: ', 'nodes turn it down: ')}{reason}"
    else:
        why = f"; {then}{'no node is left for it' if stop.kind == 'Unschedulable' else 'the API server refuses the next one'}"
    if wanted is not None:
        return f"Only {fits:,} of the {wanted:,} copies{of} fit{why}."
    if not fits:
        return f"No copy{of} fits{why}."
    return f"{count_of(fits, 'more copy', 'more copies')}{of}{' fit' + 's' * (fits == 1)}{why}."


def _paragraphs(found: CapacityResult) -> Iterator[Paragraph | str]:
    stop = found.stop
    counted = found.counted
    for placed in counted.placed:
        yield Paragraph(f"{placed.name} pod requirements: {_requests(placed)}", "wide")
    for placed in counted.placed:
        yield Paragraph(
            f"The cluster can schedule {placed.fits:,} instance(s) of the pod {quoted(placed.name)}.",
            hanging="",
        )
    yield ""
    yield f"Termination reason: {stop.kind}: {stop.message}"
    yield from _stop_lines(stop)
    if counted.pending:
        left = f"; {counted.still_waiting:,} found no node" if counted.still_waiting else ""
        yield f"{count_of(counted.pending, 'pod')} that were pending got a node before the copies{left}"
    if counted.evicted:
        yield f"{count_of(len(counted.evicted), 'pod')} evicted to make room: {listed(list(counted.evicted))}"
    if found.excluded:
        yield f"Without {count_of(len(found.excluded), 'node')}: {listed(found.excluded)}"


def _sections(found: CapacityResult) -> Iterator[Section]:
    stop = found.stop
    counted = found.counted
    zones = found.zones
    yield block(*_paragraphs(found))
    rows = [[reason, nodes, nodes / max(stop.reasons.values())] for reason, nodes in stop.reasons.items()]
    table = "reason | name; nodes | count; | bar | near"
    reasons = Table("reasons", table, rows, forms="seen" if rows else "")
    several = on_page("A node can have several." if stop.reasons else "")
    lines = BulletList(items=list(_stop_lines(stop)))
    yield Section("What stops the next copy", [*on_page(stop.message, look=""), lines, reasons, *several])
    lead = "Room for copies by it alone: how many would fit if no other resource counted, on nodes that take such pods."
    yield Section("What is left", [_headroom(found)], lead if len(counted.placed) == 1 else "")
    names = [node.name for node in found.cluster]
    copies = found.nodes
    states = [TAKES if name in copies else "" for name in names]
    words = [count_of(copies[name], "copy", "copies") if name in copies else "" for name in names]
    before = MapSide("before", counted.before.uses(names), found.pods_before)
    after = MapSide("with all copies", counted.after.uses(names), found.pods_after, states, words)
    nodes = NodeMap(names, [before, after], labels_of(found.cluster), {TAKES: "good"}, follows=True)
    rows = [[zone or None, copies, copies / max(1, *zones.values())] for zone, copies in zones.items()]
    table = "zone | name; copies | count; | bar | good"
    by_zone = Table("zones", table, rows, forms="seen" if rows else "", caption="Copies by zone")
    yield Section("Where the copies go", [nodes, by_zone])
    yield Section(parts=[_fullest(found)])
    yield Section("Every node", [_nodes(found)])
    pair = "pod that has to leave | name; the copy that takes its place | name"
    yield Section(
        "Evicted to make room",
        [Table("evicted", pair, list(counted.evicted.items()), noun="pod", forms="page")],
    )
    requested = (
        f"{one.name} ({one.kind} in namespace {one.namespace}): {_requests(one)}" for one in counted.placed
    )
    left_out = f"Left out: {', '.join(found.excluded)}" if found.excluded else ""
    yield Section("What a copy requests", [*on_page(*requested, look=""), *on_page(left_out, look="note")])


def _requests(placed: PlacedTemplate) -> str:
    """The requests of a copy, exact."""
    return (
        ", ".join(f"{name}: {amount(name, number)}" for name, number in placed.requests.items()) or "nothing"
    )


def _stop_lines(stop: Stop) -> Iterator[str]:
    """The resource that has run out, and the parts of it that are free where no copy can use them."""
    for one in stop.shortages:
        names = listed([*one.examples, *[""] * (one.nodes - len(one.examples))], len(one.examples))
        left = f"; {rounded(one.resource, one.left)} left there in all" if one.left else ""
        yield f"{short_name(one.resource)}{used_up(one.resource)} on {count_of(one.nodes, 'node')}: {names}{left}"
    stranded = "Stranded on nodes that lack something else"
    beyond = "Out of reach on nodes that reject the pod"
    for what, amounts in ((stranded, stop.stranded), (beyond, stop.out_of_reach)):
        found = [
            f"{rounded(name, number)} {short_name(name)}" for name, number in amounts.items() if name != PODS
        ]
        if found:
            yield f"{what}: {', '.join(found)}"


# --- tables -------------------------------------------------------------------------------------------------


def _headroom(found: CapacityResult) -> Table:
    """The remainder of each resource; short text has only those that copies or pods request."""
    columns = f"""
        resource | name | seen
        resource || data
        unit || data
        allocatable | amount
        requested before | amount | field=requestedBefore
        after | amount | field=requested
        | bar | good
        free | amount
        room for copies by it alone | count | field=copies data {"" if len(found.counted.placed) > 1 else "seen"}
    """
    rows = []
    for one in found.headroom:
        name = one.resource
        has, before, after, free = (
            Amount(name, number)
            for number in (one.allocatable, one.requested_before, one.requested, one.free)
        )
        rows.append(
            [
                short_name(name),
                name,
                one.unit,
                has,
                before,
                after,
                one.requested / max(one.allocatable, 1),
                free,
                one.copies,
            ]
        )
    hidden = {at for at, one in enumerate(found.headroom) if not (one.requested or one.copies is not None)}
    return Table("headroom", columns, rows, forms="seen data", minor=hidden)


def _nodes(found: CapacityResult) -> Table:
    """Every node with what is free on it."""
    before = found.counted.before
    after = found.counted.after
    placed = found.counted.placed
    several = placed if len(placed) > 1 else ()
    asked_for = {PODS, *(name for one in placed for name in one.requests)}
    earlier = {name: before.free[at] for at, name in enumerate(before.resources)}
    zones = "" if found.zones else "wide data csv"
    columns = columns_of(f"node | name; zone | name | filter {zones}; copies | count")
    columns += [Column(one.name, "count", forms="page") for one in several]
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
        columns += columns_of(table, short=short_name(name), name=name)
    rows = []
    for at, name in enumerate(after.names):
        row = [
            name,
            found.zone_of.get(name) or None,
            found.nodes.get(name, 0),
            *(one.nodes.get(name, 0) for one in several),
        ]
        for place, resource in enumerate(after.resources):
            free = int(after.free[place, at])
            row += [int(earlier[resource][at]) if resource in earlier else 0, free, free, free, free]
        rows.append(row)
    return Table("nodes", columns, rows, noun="node", sort="-copies", forms="wide page data csv")


def _fullest(found: CapacityResult) -> Table:
    """The nodes with most copies."""
    several = found.counted.placed if len(found.counted.placed) > 1 else ()
    columns = [Column(name) for name in ("node", "zone", "copies", *(placed.name for placed in several))]
    rows = [
        [node, found.zone_of.get(node) or None, number, *(placed.nodes.get(node, 0) for placed in several)]
        for node, number in found.nodes.items()
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
