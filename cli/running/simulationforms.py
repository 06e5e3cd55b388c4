"""The forms in which ``simulate`` answers, and which records they show, in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any, TypeVar

import attrs

from ...api.meaning.labels import Matcher, SelectorError, everything, parse_selector
from ...api.objects import Node, Pod
from ...api.reading.notices import input_warnings
from ...api.record import UNSET, plain
from ...core.decision.decision import Decision
from ...core.decision.record import CycleRecord
from ...exceptions import UnknownNameError
from ...simulation.nodesbyuse import NodeRecord, NodeUse, NodeUses
from ...simulation.records import EvictionRecord, PodRecord, SimulationDocument, WholeSimulation
from ...simulation.scenario import Scenario
from ...simulation.simulate import Simulation
from ..answering import write_answer
from ..console.progress import following
from ..report.documents import fields_of, line_of, write_rows
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
    from ..report.placement.placementpage import PlacementBoard

Records = list[dict[str, Any]]
T = TypeVar("T")


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

    def sorted(self, records: list[T]) -> list[T]:
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
    _whole: WholeSimulation = attrs.field(init=False)
    _kept: list[CycleRecord] = attrs.field(factory=list)
    _uses: NodeUses | None = None

    def __attrs_post_init__(self) -> None:
        self._whole = WholeSimulation(self.simulation)

    def decisions(self) -> Iterator[Decision]:
        """The decisions on pods that are shown, as they are taken, under a progress bar."""
        if self.view.nodes or self.keeps or self.view.form == "wide":
            self._uses = NodeUses(self.simulation.engine)
        self.simulation.on_begin = self._begin
        for decision in self._followed():
            if self.view.shows(decision.pod):
                if self.keeps:
                    self._kept.append(decision.cycle(details=self.details))
                yield decision

    def _followed(self) -> Iterator[Decision]:
        """The decisions, with progress for who waits, where no lines of the answer run through it."""
        is_seen = self.view.form == "jsonl" and self.stream.isatty()
        return following(self.simulation.decisions(), len(self.simulation.scenario.pending), shown=not is_seen)

    def _begin(self) -> None:
        """Note how full the nodes are before the first cycle."""
        if self._uses is not None:
            self._uses.begin()
        self._whole.begin()
        if self.keeps:
            from ...simulation.nodesbyuse import pods_on

            self.pods_before = pods_on(self.simulation.engine, [use.node for use in self.uses()])

    def run(self) -> None:
        """Take all decisions."""
        for decision in self.decisions():
            if self.view.form == "wide":
                score = decision.scores.get(decision.host) if decision.host else None
                self.scores[decision.pod.key] = {"nodesThatFit": len(set(decision.feasible)), "score": score}

    def cycles(self) -> Iterator[CycleRecord]:
        """The decisions as data."""
        return (decision.cycle(details=self.details) for decision in self.decisions())

    def pods(self) -> list[PodRecord]:
        """What became of each pod that is shown."""
        outcomes = self.simulation.outcomes.values()
        return [PodRecord.of(self.simulation, outcome) for outcome in outcomes if self.view.shows(outcome.pod)]

    def evictions(self) -> list[EvictionRecord]:
        """Who had to leave, where the pod or the one that took its place is shown."""
        shown, outcomes = self.view.shows, self.simulation.outcomes
        evictions = self.simulation.evictions
        return [EvictionRecord.of(one) for one in evictions if shown(one.pod) or (one.by in outcomes and shown(outcomes[one.by].pod))]

    def nodes(self) -> list[NodeRecord]:
        """Each node that is shown, before and after."""
        return [use.record() for use in self.uses() if not self.view.nodes or self.view.matches(use.labels)]

    def uses(self) -> list[NodeUse]:
        """Each node, before and after, whether or not it is shown."""
        return [] if self._uses is None else self._uses.found()

    def listed(self) -> Records:
        """The records of forms with one list: nodes or pods."""
        self.run()
        if self.view.nodes:
            return self.view.sorted(plain(self.nodes()))
        return self.view.sorted([{**record, **self.scores.get(record["pod"], {})} for record in plain(self.pods())])

    def document(self) -> SimulationDocument:
        """Everything: final outcomes, evictions, cycles, the summary, and where asked for the nodes."""
        return self._document(list(self.cycles()), nodes=self.view.nodes)

    def page_record(self) -> dict[str, Any]:
        """As :meth:`document`, with the nodes, of what has run; with *keeps* alone."""
        found: dict[str, Any] = plain(self._document(self._kept, nodes=True))
        return found

    def standing(self) -> PlacementBoard:
        """All nodes with their pods, before and after; with *keeps* alone."""
        from ...simulation.nodesbyuse import pods_on
        from ..report.placement.placementpage import PlacementBoard

        uses = self.uses()
        return PlacementBoard(uses, self.pods_before, pods_on(self.simulation.engine, [use.node for use in uses]))

    def _document(self, cycles: list[CycleRecord], *, nodes: bool) -> SimulationDocument:
        pods, found = self.pods(), self.nodes() if nodes else UNSET
        if self.view.nodes:
            found = found if found is UNSET else self.view.sorted(found)
        else:
            pods = self.view.sorted(pods)
        warnings = input_warnings(self.simulation.scenario.warnings)
        return self._whole.document(pods=pods, evicted=self.evictions(), nodes=found, cycles=cycles, warnings=warnings)


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
        records = plain(answer.nodes())
    tables.append(table_of(node_columns(records, wide=answer.view.nodes), records, headers=answer.headers))
    write_tables(tables, answer.stream)


def _evictions(answer: SimulationRun) -> Iterator[TextTable]:
    records = plain(answer.evictions())
    if records:
        yield eviction_table(records, headers=answer.headers)


def _name(answer: SimulationRun) -> None:
    for record in answer.listed():
        if answer.view.nodes:
            answer.stream.write(f"{record['node']}\n")
        elif record["host"] is not None:
            answer.stream.write(f"{record['pod']} {record['host']}\n")


def _json(answer: SimulationRun) -> None:
    write_rows(fields_of(answer.document()), answer.stream)


def _jsonl(answer: SimulationRun) -> None:
    for cycle in answer.cycles():
        answer.stream.write(line_of(cycle) + "\n")


def _yaml(answer: SimulationRun) -> None:
    write_answer("yaml", answer.document(), answer.stream)


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
