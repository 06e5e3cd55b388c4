"""Runs ``kubeclassic explain``."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from ...api.reading.notices import Notice, input_warnings
from ...simulation.capacity.room import FreeRoom
from ...simulation.explain.ask import ask
from ...simulation.explain.explanation import Explanation
from ...simulation.explain.subject import find_subject
from ...simulation.nodesbyuse import pods_on
from ...simulation.simulate import Simulation
from ..answering import DOCUMENT_FORMS, about, write_answer, write_page, write_report
from ..console.output import writing
from ..console.progress import telling
from ..declaring.options import ClusterChoice
from ..declaring.outputs import HTML
from ..engines.setup import Setup
from ..notices import write_unread
from ..opening import opened, tell
from ..report.explain.closeup import close_up_lines
from ..report.explain.explainpage import explanation_html
from ..report.explain.explanation import explanation_lines
from ..report.explain.nodetable import ExplainedCluster
from ..report.tables import width_of


def run(
    paths: tuple[Path, ...], name: str, setup: Setup, cluster: ClusterChoice, *, namespace: str | None, node: str | None, every: bool,
    alone: bool, form: str, output: str | None, report: str | None, verbose: bool,
) -> None:  # fmt: skip
    """Explain the pod called *name*, write it in *form*, and end the process."""
    given = opened(paths, cluster, setup)
    scenario, engine = given.scenario, given.engine
    subject = find_subject(scenario, name, namespace)
    tell(scenario, engine, verbose)
    with telling("explaining", subject.pod.key):
        explanation = ask(Simulation(scenario, engine, cluster.order), subject, given.spec.scheduler_names, node=node, alone=alone)

    def page() -> str:
        origin = about(scenario, [*paths, *cluster.pods], releases=[explanation.release], rules=given.rules)
        names = [one.name for one in scenario.nodes]
        return explanation_html(explanation, ExplainedCluster(scenario.nodes, FreeRoom.of(engine), pods_on(engine, names)), origin)

    with writing(output) as stream:
        if form == HTML:
            write_page(page(), stream)
        else:
            _write(explanation, form, stream, every, scenario.warnings)
    write_report(report, page)
    sys.exit(0 if explanation.is_yes else 1)


# --- forms ----------------------------------------------------------------------------------------------------------


def _write(explanation: Explanation, form: str, stream: IO[str], every: bool, warnings: Sequence[Notice]) -> None:
    if form == "csv":
        _write_csv(explanation, stream)
    elif form in DOCUMENT_FORMS:
        write_answer(form, explanation.document(input_warnings(warnings)), stream)
    else:
        stream.writelines(f"{line}\n" for line in _lines(explanation, form, width_of(stream), every))
        write_unread(warnings, stream, width_of(stream))


def _lines(explanation: Explanation, form: str, width: int | None, every: bool) -> Iterator[str]:
    if explanation.close_up is not None:
        return close_up_lines(explanation, explanation.close_up, width)
    return explanation_lines(explanation, width, wide=form == "wide", every=every)


def _write_csv(explanation: Explanation, stream: IO[str]) -> None:
    """One line a node, or the one that was asked for: its part in the decision, and its score by each rule, with the weight."""
    rules = list(dict.fromkeys(rule for node in explanation.nodes for rule in node.scores))
    by = "plugins" if explanation.by_plugins else "predicates"
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["node", "fits", "visited", "total", by, "reasons", "obstacles", "short", *rules])
    for node in explanation.nodes:
        if explanation.close_up is None or explanation.close_up.node == node.name:
            short = ";".join(f"{lack.resource}={lack.missing}" for lack in node.shortages)
            scores = [node.scores[rule].total if rule in node.scores else None for rule in rules]
            row: list[Any] = [node.name, _word(node.fits), _word(node.visited), node.total, ";".join(node.rules), ";".join(node.reasons)]
            writer.writerow([*row, node.obstacles, short, *scores])


def _word(answer: bool) -> str:
    return "true" if answer else "false"
