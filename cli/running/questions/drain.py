"""What ``kubeclassic drain`` does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO, Any

import attrs
import click

from ....api.reading.notices import Notice, input_warnings
from ....simulation.drain.auto import ORDERS
from ....simulation.drain.plan import DrainPlan
from ....simulation.drain.question import DrainQuestion, matcher
from ....simulation.drain.rules import DrainFlags
from ....simulation.drain.standing import before_and_after
from ....simulation.drain.steadystate import engines_like, settle
from ....simulation.gcpause import settled as without_collection
from ...answering import DOCUMENT_FORMS, about, write_answer, write_page, write_report
from ...console.output import STANDARD, note, writing
from ...console.progress import counting, telling
from ...declaring.options import ClusterChoice
from ...declaring.outputs import HTML
from ...engines.setup import Setup
from ...notices import tell_unread
from ...opening import opened, tell
from ...report.listing import write_csv
from ...report.questions.drain import drain_tables, node_records, summary_text
from ...report.questions.drainpage import drain_html
from ...report.tables import width_of, write_tables

FLAGS = tuple(field.name for field in attrs.fields(DrainFlags) if field.name != "pod_selector")
"""Those of kubectl drain that are on or off."""


@attrs.frozen(kw_only=True)
class DrainOutput:
    """How the answer is written, and where."""

    form: str
    output: str | None
    report: str | None
    verbose: bool


def run(
    given: tuple[Path, ...], setup: Setup, cluster: ClusterChoice, wanted: DrainOutput, names: Sequence[str], pod_selector: str | None,
    **values: Any,
) -> int:  # fmt: skip
    """Ask, and write the answer; the exit status. *values*: the flags of kubectl drain, and what a Question has besides *names*."""
    paths, nodes = _paths_and_nodes(given)
    flags = DrainFlags(pod_selector=matcher("--pod-selector", pod_selector), **{name: values.pop(name) for name in FLAGS})
    asked = DrainQuestion(nodes=(*nodes, *names), mark="--", **values)
    found = opened(paths, cluster, setup)
    question = asked.checked(found.scenario.nodes)
    tell(found.scenario, found.engine, wanted.verbose)
    with without_collection():
        make_engine = engines_like(found.engine, found.spec, found.scenario)
        with telling("scheduling"):
            settled = settle(found.scenario, make_engine, found.spec.scheduler_names, cluster.order)
        with _progress(question, found.scenario.node_count) as on_node:
            plan = question.answer(settled, flags, on_node)

    def page() -> str:
        origin = about(found.scenario, [*paths, *cluster.pods], releases=[plan.answer.release], rules=found.rules)
        return drain_html(plan, settled.nodes, before_and_after(settled, plan), origin)

    with writing(wanted.output) as stream:
        _write(plan, wanted.form, stream, page, found.scenario.warnings)
    write_report(wanted.report, page)
    note(summary_text(plan.answer, width_of(sys.stderr)))
    tell_unread(found.scenario.warnings)
    return 0 if plan.answer.ok else 1


def _paths_and_nodes(given: tuple[Path, ...]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """What is there, and what must be the name of a node."""
    paths = tuple(path for path in given if str(path) == STANDARD or path.exists())
    if not paths:
        missing = f"{given[0]}: got neither a path that is there nor, without any, a cluster with a node of that name. " if given else ""
        raise click.UsageError(f"{missing}Missing argument 'PATHS...', or --kubeconfig FILE.")
    return paths, tuple(str(path) for path in given if path not in paths)


@contextmanager
def _progress(question: DrainQuestion, nodes: int) -> Iterator[Callable[[str], None]]:
    """A bar for searches of many nodes."""
    number = count(1)
    with counting(nodes * len(ORDERS) if question.auto else len(question.nodes), "emptying", "nodes") as tell_done:
        yield lambda node: tell_done(next(number), node)


# --- forms ----------------------------------------------------------------------------------------------------------


def _write(plan: DrainPlan, form: str, stream: IO[str], page: Callable[[], str], warnings: Sequence[Notice]) -> None:
    if form == HTML:
        write_page(page(), stream)
    elif form in DOCUMENT_FORMS:
        write_answer(form, plan.document(input_warnings(warnings)), stream)
    elif form == "csv":
        write_csv([{**record, "can": "true" if record["can"] else "false"} for record in node_records(plan)], stream)
    else:
        write_tables(drain_tables(plan, wide=form == "wide"), stream)
