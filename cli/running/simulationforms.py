"""The forms in which ``simulate`` answers, and which records they show, in which order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any

import attrs

from ...api.meaning.labels import Matcher, SelectorError, everything
from ...api.meaning.selectortext import parse_selector
from ...api.objects import Node, Pod
from ...api.reading.notices import warning_records
from ...api.record import plain
from ...core.decision.decision import Decision
from ...exceptions import UnknownNameError
from ...simulation.nodesbyuse import NodeUse, NodeUses, nodes_by_use
from ...simulation.records import cycle_record, eviction_record, pod_record, unplaced_records
from ...simulation.scenario import Scenario
from ...simulation.simulate import Simulation
from ...simulation.summary import summarise, usages
from ..console.progress import following
from ..console.yamltext import write_yaml
from ..report.documents import document, write_rows
from ..report.listing import CUSTOM, ListColumn, Sorting, custom_columns, table_of, write_csv
from ..report.simulation import (
    NODE_FIELDS,
    POD_FIELDS,
    SCORE_FIELDS,
    eviction_table,
    node_aliases,
    node_columns,
    pod_aliases,
    pod_columns,
    wide_pod_columns,
)
from ..report.tables import TextTable, write_tables

if TYPE_CHECKING:
    from ..report.placement.page import PlacementBoard

Records = list[dict[str, Any]]


@attrs.frozen
class View:
    """Which records are shown: pods, or with *nodes* nodes; *namespace* and *matches* choose among them."""

    form: str
    nodes: bool = False
    namespace: str | None = None
    matches: Matcher = everything
    sorting: Sorting | None = None
    columns: tuple[ListColumn, ...] = ()
    """Those of ``custom-columns``."""

    @classmethod
    def of(cls, form: str, scenario: Scenario, *, nodes: bool, namespace: str | None, selector: str | None, sort_by: str | None) -> View:
        """The view that options describe. Raises :class:`~kubeclassic.exceptions.UnknownNameError` for unknown fields and columns."""
        found = (item for item in scenario.objects if isinstance(item, Node))
        resources = list(dict.fromkeys(name for node in found for name in node.status.allocatable if name != "pods"))
        fields = NODE_FIELDS if nodes else (*POD_FIELDS, *(SCORE_FIELDS if form == "wide" else ()))
        aliases = node_aliases(resources) if nodes else pod_aliases(resources)
        aliases = {name: path for name, path in aliases.items() if path[0] in fields}
        return cls(
            form=CUSTOM if form.startswith(CUSTOM) else form,
            nodes=nodes,
            namespace=namespace,
            matches=_matcher(selector),
            sorting=None if sort_by is None else Sorting.parse(sort_by, fields, aliases),
            columns=tuple(custom_columns(form, fields)) if form.startswith(CUSTOM) else (),
        )

    def shows(self, pod: Pod) -> bool:
        """Whether *pod* is shown."""
        return (self.namespace is None or pod.namespace == self.namespace) and (self.nodes or self.matches(pod.labels))

    def sorted(self, records: Records) -> Records:
        """*records* in the order that is asked for."""
        return records if self.sorting is None else self.sorting.sorted(records)


def _matcher(selector: str | None) -> Matcher:
    try:
        return parse_selector(selector or "")
    except SelectorError as error:
        raise UnknownNameError(f"-l: {error}") from None


@attrs.define(eq=False)
class SimulationRun:
    """Runs a simulation, and has its records for a form to write."""

    simulation: Simulation
    view: View
    stream: IO[str]
    details: bool = False
    headers: bool = True
    scores: dict[str, dict[str, int | None]] = attrs.field(factory=dict)
    """Pod -> the fields of its last cycle that ``wide`` adds."""
    keeps: bool = False
    """Whether a page is made of it besides: keeps the cycles, and which pods are on which node."""
    pods_before: list[list[str]] = attrs.field(factory=list)
    """With *keeps*: the pods on each node before the first cycle."""
    _kept: Records = attrs.field(factory=list)
    _uses: NodeUses | None = None
    _before: dict[str, Any] = attrs.field(factory=dict)

    def decisions(self) -> Iterator[Decision]:
        """The decisions on pods that are shown, as they are taken, under a progress bar."""
        if self.view.nodes or self.keeps or self.view.form == "wide":
            self._uses = NodeUses(self.simulation.engine)
        self.simulation.on_begin = self._begin
        for decision in self._followed():
            if self.view.shows(decision.pod):
                if self.keeps:
                    self._kept.append(cycle_record(decision, details=self.details))
                yield decision

    def _followed(self) -> Iterator[Decision]:
        """The decisions, with progress for who waits, where no lines of the answer run through it."""
        is_seen = self.view.form == "jsonl" and self.stream.isatty()
        return following(self.simulation.decisions(), len(self.simulation.scenario.pending), shown=not is_seen)

    def _begin(self) -> None:
        """Note how full the nodes are before the first cycle."""
        engine = self.simulation.engine
        if self._uses is not None:
            self._uses.begin()
        self._before = {"nodesByUseBefore": nodes_by_use(engine), "resourcesBefore": plain(list(usages(engine.table)))}
        if self.keeps:
            from ..report.questions.nodemap import pods_on

            self.pods_before = pods_on(engine, [use.node for use in self.uses()])

    def run(self) -> None:
        """Take all decisions."""
        for decision in self.decisions():
            if self.view.form == "wide":
                score = decision.scores.get(decision.host) if decision.host else None
                self.scores[decision.pod.key] = {"nodesThatFit": len(set(decision.feasible)), "score": score}

    def cycles(self) -> Iterator[dict[str, Any]]:
        """The decisions as plain data."""
        return (cycle_record(decision, details=self.details) for decision in self.decisions())

    def pods(self) -> Records:
        """What became of each pod."""
        outcomes = self.simulation.outcomes.values()
        found = [pod_record(self.simulation, outcome) for outcome in outcomes if self.view.shows(outcome.pod)]
        found = [{**record, **self.scores.get(record["pod"], {})} for record in found] if self.scores else found
        return found if self.view.nodes else self.view.sorted(found)

    def evictions(self) -> Records:
        """Who had to leave, where the pod or the one that took its place is shown."""
        shown, outcomes = self.view.shows, self.simulation.outcomes
        evictions = self.simulation.evictions
        return [eviction_record(one) for one in evictions if shown(one.pod) or (one.by in outcomes and shown(outcomes[one.by].pod))]

    def nodes(self) -> Records:
        """Each node, before and after."""
        if not self.view.nodes:
            return [use.record() for use in self.uses()]
        return self.view.sorted([use.record() for use in self.uses() if self.view.matches(use.labels)])

    def uses(self) -> list[NodeUse]:
        """Each node, before and after, whether or not it is shown."""
        return [] if self._uses is None else self._uses.found()

    def listed(self) -> Records:
        """The records of forms with one list: nodes or pods."""
        self.run()
        return self.nodes() if self.view.nodes else self.pods()

    def document(self) -> dict[str, Any]:
        """Everything: final outcomes, evictions, cycles, the summary, and where asked for the nodes."""
        return self._document(list(self.cycles()), nodes=self.view.nodes)

    def page_record(self) -> dict[str, Any]:
        """As :meth:`document`, with the nodes, of what has run; with *keeps* alone."""
        return self._document(self._kept, nodes=True)

    def standing(self) -> PlacementBoard:
        """All nodes with their pods, before and after; with *keeps* alone."""
        from ..report.placement.page import PlacementBoard
        from ..report.questions.nodemap import pods_on

        uses = self.uses()
        return PlacementBoard(uses, self.pods_before, pods_on(self.simulation.engine, [use.node for use in uses]))

    def _document(self, cycles: Records, *, nodes: bool) -> dict[str, Any]:
        engine, listed = self.simulation.engine, {"nodes": self.nodes()} if nodes else {}
        warnings = warning_records(self.simulation.scenario.warnings)
        found = {
            "warnings": warnings, "release": engine.release.version, "pods": self.pods(), "evicted": self.evictions(), **listed,
            "cycles": cycles,
        }  # fmt: skip
        whole = {"reasons": unplaced_records(self.simulation.outcomes.values()), **self._before, "nodesByUse": nodes_by_use(engine)}
        return document("Simulation", {**found, **whole, "summary": plain(summarise(self.simulation))})


# --- forms ----------------------------------------------------------------------------------------------------------


def _table(answer: SimulationRun) -> None:
    records = answer.listed()
    if answer.view.nodes:
        tables = [table_of(node_columns(records, wide=False), records, headers=answer.headers)]
    else:
        tables = [table_of(pod_columns(records), records, headers=answer.headers), *_evictions(answer)]
    write_tables(tables, answer.stream)


def _wide(answer: SimulationRun) -> None:
    records, tables = answer.listed(), list[TextTable]()
    if not answer.view.nodes:
        tables = [table_of(wide_pod_columns(records), records, headers=answer.headers), *_evictions(answer)]
        records = answer.nodes()
    tables.append(table_of(node_columns(records, wide=answer.view.nodes), records, headers=answer.headers))
    write_tables(tables, answer.stream)


def _evictions(answer: SimulationRun) -> Iterator[TextTable]:
    records = answer.evictions()
    if records:
        yield eviction_table(records, headers=answer.headers)


def _name(answer: SimulationRun) -> None:
    for record in answer.listed():
        if answer.view.nodes:
            answer.stream.write(f"{record['node']}\n")
        elif record["host"] is not None:
            answer.stream.write(f"{record['pod']} {record['host']}\n")


def _json(answer: SimulationRun) -> None:
    write_rows(answer.document(), answer.stream)


def _jsonl(answer: SimulationRun) -> None:
    for cycle in answer.cycles():
        answer.stream.write(json.dumps(cycle) + "\n")


def _yaml(answer: SimulationRun) -> None:
    write_yaml(answer.document(), answer.stream)


def _csv(answer: SimulationRun) -> None:
    write_csv(answer.listed(), answer.stream, headers=answer.headers)


def _custom(answer: SimulationRun) -> None:
    records = answer.listed()
    write_tables([table_of(answer.view.columns, records, headers=answer.headers)], answer.stream)


FORMS: dict[str, Callable[[SimulationRun], None]] = {
    "table": _table,
    "wide": _wide,
    "name": _name,
    "json": _json,
    "jsonl": _jsonl,
    "yaml": _yaml,
    "csv": _csv,
    CUSTOM: _custom,
}
