"""What ``kubeclassic capacity`` does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import attrs

from ....api.load import Loaded, load, load_documents
from ....api.objects import Pod
from ....api.reading.documents import Document
from ....api.reading.notices import Notice, input_warnings
from ....exceptions import KubeclassicError
from ....simulation.capacity.answer import CapacityAnswer
from ....simulation.capacity.curve import axes_of
from ....simulation.capacity.question import CapacityQuestion, asked, limit_of
from ....simulation.capacity.templates import READ_KINDS
from ....simulation.functions.capacitycurve import ANY_POD
from ....simulation.releasenotes import with_pod_notices
from ....simulation.scenario import Scenario
from ...console.output import note, writing
from ...console.progress import counting
from ...declaring.options import ClusterChoice
from ...declaring.reportoption import HTML
from ...engines.setup import Setup
from ...report.capacity.capacitypage import CapacityBoard, capacity_html
from ...report.capacity.capacitytext import write_text
from ...report.listing import write_csv
from ...report.questions.nodemap import grouped, pods_on
from ...report.tables import width_of
from ...report.words import count_doing
from ..cluster import Opened, checked_scenario, opened
from ..documents import DOCUMENT_FORMS, write_answer
from ..notices import tell_notices, write_unread
from ..reporting import about, write_page, write_report
from ..simulate import tell
from .capacitycurve import Forms, draw_curve
from .newnodes import NewNodes, add_nodes


class CapacityOptionError(KubeclassicError):
    """Options that do not go together."""


@attrs.frozen(kw_only=True)
class CapacityOptions:
    """What the command line asks for, and how it wants the answer."""

    templates: tuple[Path, ...]
    ratio: tuple[int, ...] | None = None
    wanted: int | None = None
    max_limit: int = 0
    exclude: tuple[str, ...] = ()
    pending_first: bool = False
    preempts: bool = False
    curve: tuple[str, ...] = ()
    plot: Path | None = None
    add_node: tuple[str, ...] = ()
    cost: tuple[str, ...] = ()
    most_nodes: int | None = None
    most_trials: int | None = None
    form: str = "table"
    no_headers: bool = False
    output: str | None = None
    report: str | None = None
    verbose: bool = False

    @property
    def limit(self) -> int | None:
        """After how many copies the count stops."""
        return limit_of(self.wanted, self.max_limit)

    def check(self) -> None:
        """Refuse what does not go together. Raises :class:`CapacityOptionError`."""
        if self.add_node or self.cost or self.most_nodes or self.most_trials:
            self._check_new_nodes()
        elif not self.curve and not self.templates:
            raise CapacityOptionError("--pod: got none, wanted a file with a Pod, a PodTemplate or a workload")
        if not self.curve and self.plot is not None:
            raise CapacityOptionError("--plot needs --curve")
        self.limit  # noqa: B018  # raises where both limits do not go together
        for flag, value in (("--pods", self.wanted), ("--ratio", self.ratio), ("a second --pod", len(self.templates) > 1)):
            if self.curve and value:
                raise CapacityOptionError(f"--curve cannot be combined with {flag}: it counts as many of each size as fit")

    def _check_new_nodes(self) -> None:
        beside = {"--cost": self.cost, "--most-nodes": self.most_nodes, "--most-trials": self.most_trials}
        for flag in (flag for flag, value in beside.items() if value):
            if not self.add_node:
                raise CapacityOptionError(f"{flag} needs --add-node")
        others = {"--curve": self.curve, "--plot": self.plot, "--max-limit": self.max_limit}
        for flag in (flag for flag, value in others.items() if value):
            raise CapacityOptionError(f"{flag} cannot be combined with --add-node")
        of_copies = {"--pods": self.wanted, "--ratio": self.ratio, "--pending-first": self.pending_first}
        for flag in (flag for flag, value in of_copies.items() if value):
            if not self.templates:
                raise CapacityOptionError(f"{flag} needs --pod: else new nodes are for the pods that wait")
        if self.templates and not self.wanted:
            raise CapacityOptionError("--pods: got none, wanted the number of copies that new nodes are for")


def run(paths: tuple[Path, ...], setup: Setup, cluster: ClusterChoice, wanted: CapacityOptions) -> int:
    """Count, and write the answer; the exit status."""
    wanted.check()
    if wanted.preempts and not setup.get("preemption"):
        raise CapacityOptionError("--preemption cannot be combined with --disable-preemption")
    axes = axes_of(wanted.curve)
    given = opened(paths, cluster, setup.with_(preemption=wanted.preempts))
    templates = list(_templates(wanted.templates, cluster, setup)) if wanted.templates or axes else []
    question = asked(
        given.scenario, templates, given.setup.spec, ratio=wanted.ratio, limit=wanted.limit,
        exclude=wanted.exclude, pending_first=wanted.pending_first, order=cluster.order, defaults=not cluster.no_defaults,
    )  # fmt: skip
    noted = with_pod_notices(given.scenario, [given.engine.algorithm], question.pods)
    given = attrs.evolve(given, scenario=checked_scenario(noted, cluster))
    _tell(given.scenario, given.engine, wanted)
    if wanted.add_node:
        return add_nodes([*paths, *wanted.templates], given, question, _new_nodes(wanted), cluster)
    if axes:
        return draw_curve([*paths, *wanted.templates], given, question, axes, _forms(wanted))
    return _count(paths, given, question, wanted)


def _new_nodes(wanted: CapacityOptions) -> NewNodes:
    return NewNodes(
        given=wanted.add_node, costs=wanted.cost, most_nodes=wanted.most_nodes, most_trials=wanted.most_trials,
        form=wanted.form, output=wanted.output, report=wanted.report,
        headers=not wanted.no_headers, wide=wanted.verbose,
    )  # fmt: skip


def _forms(wanted: CapacityOptions) -> Forms:
    return Forms(form=wanted.form, output=wanted.output, plot=wanted.plot, report=wanted.report, headers=not wanted.no_headers)


def _count(paths: Sequence[Path], given: Opened, question: CapacityQuestion, wanted: CapacityOptions) -> int:
    with counting(question.limit, "counting", "copies") as progress:
        counted = question.counting(given.engine, on_progress=lambda done: progress(done, "")).count()
    answer = CapacityAnswer.of(given.engine.release.version, counted, question, wanted.wanted)

    def page() -> str:
        origin = about(given.scenario, [*paths, *wanted.templates], releases=[answer.release], rules=given.setup.in_words())
        return capacity_html(answer, _standing(given, question), origin)

    with writing(wanted.output) as stream:
        _write(answer, wanted, stream, page, given.scenario.warnings)
    write_report(wanted.report, page)
    return 0 if answer.is_yes else 1


def _standing(given: Opened, question: CapacityQuestion) -> CapacityBoard:
    """The pods of the cluster where they are before and after the count."""
    scenario = question.scenario
    names = [node.name for node in scenario.nodes]
    there = {pod.key: pod.spec.node_name for pod in scenario.objects if isinstance(pod, Pod)}
    after = pods_on(given.engine, names, known={*there, *(pod.key for pod in scenario.pending)})
    placed = [(pod, node) for node, pods in zip(names, after, strict=True) for pod in pods if pod not in there]
    return CapacityBoard(scenario.nodes, grouped([*there.items(), *placed], names), after)


def _templates(paths: tuple[Path, ...], cluster: ClusterChoice, setup: Setup) -> Iterator[tuple[str, Loaded]]:
    defaults, keeps = not cluster.no_defaults, setup.may_call_extenders
    for path in paths:
        loaded = load(path, defaults=defaults, strict_fields=cluster.strict, raw_kinds=READ_KINDS, keeps_manifests=keeps)
        tell_notices(loaded.warnings)
        yield str(path), loaded
    if not paths:
        yield "--curve", load_documents([Document(ANY_POD, "--curve")])


def _tell(scenario: Scenario, engine: Any, wanted: CapacityOptions) -> None:
    tell(scenario, engine, wanted.verbose)
    if scenario.pending and wanted.templates and not wanted.pending_first:
        note(f"{count_doing(len(scenario.pending), 'pod', 'wait')} in the cluster, left out here: --pending-first places them first")


# --- forms ----------------------------------------------------------------------------------------------------------


def _write(answer: CapacityAnswer, wanted: CapacityOptions, stream: IO[str], page: Callable[[], str], warnings: Sequence[Notice]) -> None:
    if wanted.form == HTML:
        write_page(page(), stream)
    elif wanted.form in DOCUMENT_FORMS:
        write_answer(wanted.form, answer.document(input_warnings(warnings)), stream)
    elif wanted.form == "csv":
        write_csv(answer.node_rows(), stream, headers=not wanted.no_headers)
    else:
        write_text(answer, stream, wide=wanted.verbose or wanted.form == "wide", headers=not wanted.no_headers)
        write_unread(warnings, stream, width_of(stream))
