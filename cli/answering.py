"""The start and the end of all commands that schedule: reading input, and printing results as text, CSV,
documents for programs and pages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import attrs
import click

from .. import __version__
from ..api.objects import Node, Pod
from ..api.reading import Notice, in_groups, unread_sentences
from ..api.record import as_document
from ..api.words import count_doing, count_of
from ..core.engine import Engine
from ..framework.releases import find_any_release, is_auto
from ..questions.asking import Result
from ..questions.options import ClusterOptions, OptionsError
from ..simulation.input import ComparisonInput, Input, Observer, paths_among
from ..simulation.releasenotes import auto_notice, auto_reason
from ..simulation.simulate import Files, Scenario
from .console.output import note, one_line, warn, writing
from .console.progress import telling, working
from .declaring.commands import OUTPUTS, refuse_overwriting
from .declaring.flags import HTML, LIVE_PATH, SERVER_VERSION, Output, RulesText, environments_max_pd_vols
from .declaring.setup import NamedSetup, Setup, of_configuration
from .report.tables import indented, width_of, wrapped, write_csv, write_view

if TYPE_CHECKING:
    from ..live.client.api import Transport
    from ..live.client.http import Access
    from ..live.process.logs import Log
    from ..questions.compare.options import CompareOptions
    from ..questions.sweep.options import SweepOptions
    from ..questions.sweep.spec import Spec
    from ..questions.upgrade.options import UpgradeOptions

Paths = Sequence[Path]
NARROWEST = 40
"""Columns below which lines are not broken."""


def tell_notices(
    notices: Iterable[Notice], verbose: bool = False, concerns: Collection[str] | None = None
) -> None:
    """Print *notices* on standard error: one line for all that say the same, with their number; if *verbose*,
    a line for each.

    *concerns*: the objects that were asked about, kind and key; of those about others that are in a
    namespace, only the number is printed. On a terminal lines are broken between words, so that they fit.
    """
    every = list(notices)
    kept = every if concerns is None or verbose else [notice for notice in every if notice.bears_on(concerns)]
    lines = [str(notice) for notice in every] if verbose else in_groups(kept)
    for line in lines:
        tell_line("warning: " + one_line(line))
    if len(lines) < len(every):
        count = count_of(len(every), "warning")
        others = len(every) - len(kept)
        some = f", {others:,} of them about other objects" if others else ""
        note(
            f"(--verbose lists all {count}{some})"
            if kept
            else f"({count} about other objects: see --verbose)"
        )


def tell_unread(notices: Iterable[Notice]) -> None:
    """Say on standard error, with the outcome, what does not count in it."""
    for text in unread_sentences(notices):
        tell_line(f"{one_line(text)}.")


def tell_line(line: str) -> None:
    """Print *line* on standard error; on a terminal it is broken between words, so that it fits."""
    width = width_of(sys.stderr)
    for part in wrapped([line], width if width and width >= NARROWEST else None, "  "):
        note(part)


def write_yaml(document: Any, stream: IO[str]) -> None:
    """Write *document* as it is ordered; characters that *stream* lacks, or a terminal would obey, are
    escapes, which YAML reads."""
    from ..api.reading.formats.yamlvalues import yaml_text

    takes_all = (getattr(stream, "encoding", None) or "utf-8").lower().startswith("utf")
    text = yaml_text(document, allow_unicode=takes_all)
    if not text.replace("\n", "").isprintable():
        text = yaml_text(document)
    stream.write(text)


if TYPE_CHECKING:
    from ..api.view import Part, View
    from .report.page.document import About

Writer = Callable[[IO[str]], object]
DOCUMENT_FORMS = ("json", "yaml")


def answer(
    result: Result,
    output: Output,
    origin: Callable[[], About] | None = None,
    *,
    unread: bool = True,
    forms: Mapping[str, Writer] | None = None,
) -> int:
    """Write *result* in the form that *output* asks for, and its page where that is asked for; the exit
    status.

    *origin*: the origin of the page.

    *unread*: whether parts of the input that do not count are named, at the end of text, or on standard error
    beside CSV; *forms*: the writers of forms that this command alone has.
    """
    notices = [notice for group in result.warnings for notice in group.notices]
    with writing(output.file) as stream:
        if output.form == HTML and origin is not None:
            # A page is UTF-8 whatever the locale: it says so, and the digest of its script is of that.
            page = page_of(result.view(), origin())
            if (raw := getattr(stream, "buffer", None)) is None:
                stream.write(page)
            else:
                stream.flush()
                raw.write(page.encode("utf-8", "backslashreplace"))
        elif forms is not None and output.form in forms:
            forms[output.form](stream)
        elif output.form in DOCUMENT_FORMS:
            write_answer(output.form, result.document, stream)
        elif output.form == "csv":
            table = result.view().tables_of("csv")[0]
            write_csv(table.records("csv"), stream, headers=not output.no_headers, first=table.names("csv"))
            if unread:
                tell_unread(notices)
        else:
            write_view(result.view(), stream, wide=output.form == "wide", headers=not output.no_headers)
            # The text of an answer ends with what does not count in it.
            sentences = [f"{text}." for text in unread_sentences(notices)] if unread else []
            if sentences:
                stream.writelines(f"{line}\n" for line in ("", *wrapped(sentences, width_of(stream), "  ")))
    if origin is not None:
        write_report(output.report, lambda: page_of(result.view(), origin()))
    return 0 if result.ok else 1


def write_answer(form: str, document: Any, stream: IO[str]) -> None:
    """Write *document*, a record or plain data, in *form*, one of :data:`DOCUMENT_FORMS`."""
    data = document if isinstance(document, dict) else as_document(document)
    if form == "yaml":
        write_yaml(data, stream)
    else:
        stream.write(indented(data) + "\n")


def write_report(report: str | None, make: Callable[[], str]) -> None:
    """Write the page of *make* to the file *report*, whole or not at all; nothing where *report* is
    None.

    Raises :class:`~..console.output.OutputError`.
    """
    if report is not None:
        with writing(report) as stream:
            stream.write(make().rstrip("\n") + "\n")


def page_of(view: View, origin: About) -> str:
    """*view* as a page."""
    from .report.page.document import page_html  # the templates of pages, which few runs print

    return page_html(view, origin)


def about(
    scenario: Scenario | None,
    paths: Iterable[Path],
    *,
    files: Iterable[Path] = (),
    releases: Sequence[str] = (),
    rules: Sequence[Part] = (),
    warnings: Sequence[str] = (),
    unread: Sequence[str] = (),
    arguments: Sequence[str] | None = None,
) -> About:
    """The origin of a page about *scenario*, read from *paths*.

    *files*: others that were read; *releases*: the versions that decided; *rules*: the policy, the profile
    and options that choose rules, as given; *warnings*: besides those of the scenario; *unread*: what does
    not count, where there is no scenario; *arguments*: the words after the program's name, by default those
    of this process.
    """
    from .report.page.document import About, made_at

    unread_lines = [*unread]
    warning_lines = [*warnings]
    if scenario is not None:
        unread_lines = list(unread_sentences(scenario.warnings))
        warning_lines = [*in_groups(scenario.warnings), *warnings]
    inputs = dict.fromkeys(paths)
    context = click.get_current_context(silent=True)
    live = context and context.meta.get(LIVE_PATH)
    return About(
        inputs=[str(path) for path in inputs if path != live],
        files=[*["the live cluster"] * (live in inputs), *map(str, files)],
        counts="" if scenario is None else counts(scenario),
        unread=unread_lines,
        warnings=dict.fromkeys(warning_lines),
        releases=tuple(dict.fromkeys(releases)),
        rules=tuple(rules),
        version=__version__,
        date=made_at(),
        command=("kubeclassic", *(sys.argv[1:] if arguments is None else arguments)),
    )


def counts(scenario: Scenario) -> str:
    """Nodes, pods that run, and pods that wait.

    >>> counts(Scenario((), ()))
    '0 nodes, 0 pods run, 0 pods wait'
    """
    running = sum(1 for item in scenario.objects if isinstance(item, Pod))
    pods = count_doing(running, "pod", "run"), count_doing(len(scenario.pending), "pod", "wait")
    return ", ".join([count_of(scenario.node_count, "node"), *pods])


# --- from paths and options to a scheduler and the scenario that it is asked about --------------------------


def files_of(paths: Paths, options: ClusterOptions, *, keeps_manifests: bool = False) -> Files:
    """The contents of *paths* and ``--pods``, before a scheduler is chosen; *keeps_manifests* for
    extenders."""
    pods = paths_among("pods", options.waiting())
    with reading(paths):
        return Files.read(
            paths,
            pods,
            defaults=options.defaults,
            strict_fields=options.strict,
            keeps_manifests=keeps_manifests,
            edits=options.edits,
        )


def opened(paths: Paths, options: ClusterOptions, setup: Setup) -> Input:
    """Read *paths* and ``--pods``, and make the scheduler that *setup* asks for, with what the question
    changes of it.

    Raises :class:`~kubeclassic.exceptions.KubeclassicError` for bad input or options.
    """
    changes = options.changes()
    for name, value in changes.items():
        if value and not setup.get(name):
            raise OptionsError(f"{options.called(name)} cannot be combined with {setup.called(name)}")
    setup = setup.with_(**changes)
    setup.refuse_early()
    files = files_of(paths, options, keeps_manifests=setup.may_call_extenders)
    settled = setup.settled(files.nodes, version_read())
    spec = settled.spec
    with reading(paths):
        scenario = files.scenario(spec.scheduler_names, cron_jobs=options.cron_jobs, server=spec.server)
    tell_release(setup, settled, files.nodes)
    scenario = _with_server_notice(scenario, [settled.version] if is_auto(setup.release) else [])
    tell_edits(scenario)
    inputs = Input(
        scenario=scenario, spec=spec, order=options.order, defaults=options.defaults, strict=options.strict
    )
    return inputs.noted(setup.release)


def upgrading(paths: Paths, options: UpgradeOptions) -> Scenario:
    """Read *paths* and ``--pods`` for the scheduler of the first release."""
    from ..questions.upgrade.ask import first_scheduler

    files = files_of(paths, options)
    first = first_scheduler(options, [node.status.kubelet_version for node in files.nodes])
    scenario = files.scenario(first.scheduler_names, cron_jobs=options.cron_jobs, server=first.server)
    tell_edits(scenario)
    return scenario


@attrs.frozen(repr=False)
class Console(Observer):
    """An observer that prints oddities of the input, and progress, on standard error."""

    verbose: bool = False

    def ready(self, inputs: Input | ComparisonInput, concerns: Collection[str] | None = None) -> None:
        if isinstance(inputs, ComparisonInput):
            tell_notices(inputs.scenario.warnings, self.verbose, concerns)
        else:
            tell(inputs.scenario, inputs.engine, self.verbose, concerns)

    @contextmanager
    def counting(self, total: int | None, what: str, unit: str = "") -> Iterator[Callable[[int, str], None]]:
        with working(what, total, unit) as work:
            yield work.tell

    @contextmanager
    def working(self, what: str, unit: str) -> Iterator[Callable[[int, int], None]]:
        with working(what, unit=unit) as work:
            yield work.at

    def telling(self, what: str) -> AbstractContextManager[Callable[[str], None]]:
        return telling(what)

    def noticed(self, notices: Iterable[Notice]) -> None:
        tell_notices(notices)

    def remark(self, text: str) -> None:
        note(text)

    def doubt(self, text: str) -> None:
        warn(text)


def tell(scenario: Scenario, engine: Engine, verbose: bool, concerns: Collection[str] | None = None) -> None:
    """Warnings and, where asked for, what runs; *concerns*: as for :func:`~.answering.tell_notices`."""
    tell_notices(scenario.warnings, verbose, concerns)
    if not verbose:
        return
    waiting = count_doing(len(scenario.pending), "pod", "wait")
    note(f"release {engine.algorithm.release.version}, {count_of(scenario.node_count, 'node')}, {waiting}")
    for line in engine.describe():
        tell_line(line)
    for extender in engine.extenders:
        note(f"extender: {extender.url}{' (may fail)' if extender.is_ignorable else ''}")


def reading(paths: Iterable[Path]) -> AbstractContextManager[Callable[[str], None]]:
    """A context that says on standard error that *paths* are read."""
    return telling("reading", ", ".join(map(str, paths)))


def tell_edits(scenario: Scenario) -> None:
    """Say what each ``--set`` did; of one that changed nothing there is a warning."""
    for edited in scenario.edited:
        if edited.changed:
            note(str(edited))


def settled_for(setup: Setup, nodes: Sequence[Node]) -> Setup:
    """*setup* with the release of *nodes* in place of ``auto``, and a line that says so."""
    settled = setup.settled(nodes, version_read())
    tell_release(setup, settled, nodes)
    return settled


def tell_release(setup: Setup, settled: Setup, nodes: Sequence[Node], name: str = "") -> None:
    """Say which release of *nodes* is in place of ``auto``, of the configuration that option *name* gives."""
    if is_auto(setup.release):
        note(name + auto_reason(find_any_release(settled.version), nodes, version_read()))


async def settled_by_server(setup: Setup, transport: Transport, log: Log) -> Setup:
    """*setup* with the release of the API server behind *transport* in place of ``auto``, which is logged."""
    from ..live.snapshot import server_version

    if not is_auto(setup.release):
        return setup
    server = await server_version(transport)
    settled = setup.settled((), server)
    log.info(f"release {settled.version}: the API server runs {server or 'one that it does not name'}")
    return settled


async def release_of_server(setup: Setup, access: Access, log: Log) -> Setup:
    """As :func:`settled_by_server`, over a connection of its own."""
    from ..live.client.http import HttpTransport

    if not is_auto(setup.release):
        return setup
    async with HttpTransport(access) as transport:
        return await settled_by_server(setup, transport, log)


def version_read() -> str:
    """The version of the API server that was read, if its nodes say none; else empty."""
    context = click.get_current_context(silent=True)
    return "" if context is None else context.meta.get(SERVER_VERSION, "")


def _with_server_notice(scenario: Scenario, releases: Sequence[str]) -> Scenario:
    """*scenario* with a warning for each of *releases*, which ``auto`` took, that is not that of the API
    server."""
    notices = [
        notice
        for release in releases
        if version_read()
        for notice in auto_notice(find_any_release(release), (), version_read())
    ]
    return attrs.evolve(scenario, warnings=(*scenario.warnings, *notices)) if notices else scenario


def contestants(paths: Paths, options: CompareOptions) -> ComparisonInput:
    """As :func:`opened`, for several configurations; the first one says whose pods wait, and what admission
    does."""
    from ..questions.compare.options import NAMES

    limit = environments_max_pd_vols()
    setups = [
        NamedSetup.parse(name, text, limit) for name in NAMES if (text := getattr(options, name)) is not None
    ]
    may_call_extenders = False
    for named in setups:
        with of_configuration(named.name):
            may_call_extenders |= named.setup.may_call_extenders
    files = files_of(paths, options, keeps_manifests=may_call_extenders)
    settled = []
    by_nodes = {}
    for named in setups:
        with of_configuration(named.name):
            settled_setup = named.setup.settled(files.nodes, version_read())
            if is_auto(named.setup.release):
                settled_setup.check()
                by_nodes[named.name] = settled_setup.version
            settled_setup.refuse_early()
        settled.append(attrs.evolve(named, setup=settled_setup))
    spec = settled[0].setup.spec
    with reading(paths):
        scenario = files.scenario(spec.scheduler_names, cron_jobs=options.cron_jobs, server=spec.server)
    for original, named in zip(setups, settled, strict=True):
        tell_release(original.setup, named.setup, files.nodes, f"--{named.name}: ")
    scenario = _with_server_notice(scenario, list(by_nodes.values()))
    tell_edits(scenario)
    engines = {named.name: named.engine(scenario.config_maps) for named in settled}
    texts = {named.name: named.text for named in setups}
    releases = [named.setup.release for named in setups]
    return ComparisonInput.of(
        scenario,
        engines,
        texts,
        by_nodes=list(by_nodes),
        named=releases,
        order=options.order,
        strict=options.strict,
    )


def sweep_of(paths: Paths, options: SweepOptions) -> Spec:
    """The sweep in the file of *paths*, which is not to write over what its runs read."""
    from ..questions.sweep.spec import read_spec

    spec = read_spec(paths[0])
    rules = RulesText().files(options.rules)
    refuse_overwriting(click.get_current_context().meta[OUTPUTS], [*spec.files(), *rules])
    return spec


OPENERS: Mapping[str, Callable[[Paths, Any], Any]] = {
    "compare": contestants,
    "upgrade": upgrading,
    "sweep": sweep_of,
    "policycheck": lambda paths, options: paths[0],
    "replay": lambda paths, options: None,
    "conform": lambda paths, options: None,
}
"""Question -> the function that opens its input, where that is not :func:`opened`."""
